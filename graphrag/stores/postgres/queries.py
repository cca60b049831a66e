"""The store's SQL, by name."""

from pathlib import Path

from graphrag.db.database import Connection, queries

QUERIES = queries(Path(__file__).with_name("postgres.sql"))


async def lock_owner(connection: Connection, owner_id: str) -> None:
    """Until the transaction ends: two at once would each find room for itself alone."""
    await connection.execute(QUERIES["lock_owner"], {"owner_id": owner_id})

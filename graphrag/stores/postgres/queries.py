"""The store's SQL, by name."""

from pathlib import Path

from graphrag.db.database import Connection, queries

QUERIES = queries(Path(__file__).with_name("postgres.sql"))


async def lock_owner(connection: Connection, owner_id: str) -> None:
    """Lock the owner until the transaction ends, so that two requests can't use the same last room of a quota."""
    await connection.execute(QUERIES["lock_owner"], {"owner_id": owner_id})

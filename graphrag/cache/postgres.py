"""A cache in PostgreSQL: shared by all processes, one owner's entries apart from another's."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from graphrag.db.database import Database, fetch, queries

QUERIES = queries(Path(__file__).with_name("cache.sql"))


class PostgresCache:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        async with self._database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["get_many"], {"owner_id": owner_id, "keys": list(keys)})
        return {row["key"]: row["value"] for row in rows}

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        """Store values, and delete the owner's expired entries."""
        given = {"owner_id": owner_id, "keys": list(values), "values": list(values.values()), "seconds": seconds}
        for statement in ("purge", "set_many"):  # each in a transaction of its own: together two writers could lock up
            async with self._database.transaction(owner_id) as connection:
                await connection.execute(QUERIES[statement], given)

    async def forget(self, owner_id: str, beginning: str) -> None:
        async with self._database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["forget"], {"owner_id": owner_id, "beginning": beginning})

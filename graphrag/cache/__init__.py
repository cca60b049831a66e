"""Caches shared by processes, in PostgreSQL or Redis, and the prefixes of their keys.

Erasure of a deleted document deletes the keys with these prefixes, so they stand below their users.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from graphrag.db.database import Database, fetch, queries

RELATIONS_PREFIX = "relations:"  # causal relations that a model found; the file's key follows
SITUATIONS_PREFIX = "situation:"  # contexts that a model wrote for chunks; the file's key follows
REFINEMENTS_PREFIX = "refinement:"  # question refinements by a model; a hash follows


QUERIES = queries(Path(__file__).with_name("cache.sql"))


class PostgresCache:
    """A cache in PostgreSQL, with the rows of each owner apart."""

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

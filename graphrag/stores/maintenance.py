"""The tables' upkeep: one process at a time, while searches and writers go on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphrag.database import Connection, Database
from graphrag.stores.queries import QUERIES, fetch

POLL_SECONDS = 0.5


@asynccontextmanager
async def maintenance(database: Database) -> AsyncIterator[Connection]:
    """As Database.maintenance, once nobody else is at it."""
    async with database.maintenance() as connection:
        # The lock is of other processes: no event of ours tells when it is free.
        while not (await fetch(connection, QUERIES["lock_maintenance"], {}))[0]["is_free"]:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
        try:
            yield connection
        finally:
            await connection.execute(QUERIES["unlock_maintenance"])

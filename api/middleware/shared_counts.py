"""Counts of rate limits that the processes of one service share."""

import sqlite3
import time
from pathlib import Path

from limits.aio.storage import MemoryStorage

MAKE = "CREATE TABLE IF NOT EXISTS counts (name TEXT PRIMARY KEY, count INTEGER, until REAL) WITHOUT ROWID"
FORGET = "DELETE FROM counts WHERE until < ?"
COUNT = """
INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET count = max(0, count + excluded.count)
RETURNING count
"""
BUSY_SECONDS = 1  # until another process has counted: a thousand times as long as that takes
FORGET_SECONDS = 60


class SharedCounts(MemoryStorage):
    """Counts in a file, which need not outlive the service: SQLite locks it for a count, about 50 µs."""

    STORAGE_SCHEME = ["causeway-file"]  # noqa: RUF012 - as the library declares it

    def __init__(self, path: Path) -> None:
        super().__init__(wrap_exceptions=True)
        self._counts = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", MAKE):
            self._counts.execute(statement)
        self._forget_at = 0.0

    @property
    def base_exceptions(self) -> type[Exception]:
        return sqlite3.Error

    async def incr(self, key: str, expiry: float, amount: int = 1) -> int:
        now = time.time()
        if now >= self._forget_at:
            self._counts.execute(FORGET, [now])
            self._forget_at = now + FORGET_SECONDS
        ((count,),) = self._counts.execute(COUNT, [key, amount, now + expiry]).fetchall()
        return int(count)

    async def decr(self, key: str, amount: int = 1) -> int:
        return await self.incr(key, 0, -amount)

    async def get(self, key: str) -> int:
        found = self._counts.execute("SELECT count FROM counts WHERE name = ?", [key]).fetchone()
        return int(found[0]) if found else 0

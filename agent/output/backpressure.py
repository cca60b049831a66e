"""Backpressure: an answer is written only so far ahead of the reader of its events."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

MAX_EVENTS_AHEAD = 16


class Backpressure:
    """Limit of the events that are written and not yet read; by default none, as in LangGraph Studio."""

    def __init__(self, max_ahead: int = sys.maxsize) -> None:
        self._max_ahead = max_ahead
        self._written = 0
        self._read = 0
        self._reading = asyncio.Event()

    def counted(self, write: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a writer that counts its events."""

        def write_counted(event: Any) -> None:
            self._written += 1
            write(event)

        return write_counted

    def count_read(self) -> None:
        self._read += 1
        self._reading.set()

    async def room(self) -> None:
        """Wait until all but the last few written events have been read.

        Raises CancelledError for a task that was cancelled before: a client's library may have lost the cancellation,
        and then nobody reads on.
        """
        while self._written - self._read > self._max_ahead:
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError
            self._reading.clear()
            await self._reading.wait()

"""How far a model is read ahead of whoever takes the answer's events: LangGraph's own queue has no end."""

import asyncio
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

MOST_AHEAD = 16  # events


class Pace:
    def __init__(self, most_ahead: int = MOST_AHEAD) -> None:
        self._most_ahead = most_ahead
        self._written = 0
        self._taken = 0
        self._taking = asyncio.Event()

    def counted(self, write: Callable[[Any], None]) -> Callable[[Any], None]:
        def write_counted(event: Any) -> None:
            self._written += 1
            write(event)

        return write_counted

    def took_one(self) -> None:
        self._taken += 1
        self._taking.set()

    async def room(self) -> None:
        """Returns when all but the last few of what was written have been taken.

        A task that was cancelled before is cancelled here: a client's library may have lost it, and nobody will ever
        take what is written.
        """
        while self._written - self._taken > self._most_ahead:
            if (task := asyncio.current_task()) and task.cancelling():
                raise asyncio.CancelledError
            self._taking.clear()
            await self._taking.wait()


_pace: ContextVar[Pace | None] = ContextVar("pace", default=None)


def keep_pace() -> Pace:
    """Of everything awaited from here on."""
    pace = Pace()
    _pace.set(pace)
    return pace


def kept_pace() -> Pace:
    """One without an end where nobody counts what is taken, as in LangGraph Studio."""
    return _pace.get() or Pace(sys.maxsize)

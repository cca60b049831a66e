"""Concurrency limit with a bounded first-in-first-out queue."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from graphrag.errors import ProviderError


@dataclass(slots=True)
class _WaitingLine:
    free: asyncio.Semaphore
    waiting: int = 0


class Turns:
    """A limit of concurrent calls for each event loop of the process."""

    def __init__(self, name: str, *, at_once: int, waiting: int, wait_seconds: float) -> None:
        self._name = name
        self._at_once = at_once
        self._most_waiting = waiting
        self._wait_seconds = wait_seconds
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _WaitingLine] = WeakKeyDictionary()

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Raises ProviderError where too many wait already, or the turn does not come in time."""
        line = self._line()
        await self._wait(line)
        try:
            yield
        finally:
            line.free.release()

    @asynccontextmanager
    async def take_patiently(self) -> AsyncIterator[None]:
        """Wait for a slot, however long the queue."""
        async with self._line().free:
            yield

    def _line(self) -> _WaitingLine:
        return self._lines.setdefault(asyncio.get_running_loop(), _WaitingLine(asyncio.Semaphore(self._at_once)))

    async def _wait(self, line: _WaitingLine) -> None:
        if line.free.locked() and line.waiting >= self._most_waiting:
            raise self._busy(f"{line.waiting} wait for it already")
        line.waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await line.free.acquire()
        except TimeoutError as exc:
            raise self._busy(f"no turn within {self._wait_seconds:g} s") from exc
        finally:
            line.waiting -= 1

    def _busy(self, why: str) -> ProviderError:
        return ProviderError(f"{self._name} is busy: {why}", reason="busy")

    @cached_property
    def half(self) -> "HalfTheTurns":
        """One for all that may wait: each with a half of its own, they would take all the turns."""
        return HalfTheTurns(self, at_once=max(1, self._at_once // 2))


class HalfTheTurns:
    """Never more than these of all the turns: for work that may wait, and must not make others wait."""

    def __init__(self, all_of_them: Turns, *, at_once: int) -> None:
        self._all = all_of_them
        self._half = Turns("", at_once=at_once, waiting=0, wait_seconds=0)

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        async with self._half.take_patiently(), self._all.take_patiently():
            yield

"""Concurrency limits with first-in-first-out queues: the plain one, and that of calls to one provider."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property, partial
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter

from graphrag.errors import ProviderError


class ConcurrencyLimit:
    """Limit of what each event loop of the process runs at once; the others wait in their order."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, CapacityLimiter] = WeakKeyDictionary()

    async def acquire(self, seconds: float | None = None) -> Callable[[], None]:
        """Wait for a slot, and return what releases it. Raises TimeoutError after so many seconds."""
        limiter, holder = self._limiter(), object()
        async with asyncio.timeout(seconds):
            await limiter.acquire_on_behalf_of(holder)
        return partial(limiter.release_on_behalf_of, holder)

    @property
    def running(self) -> int:
        return self._limiter().borrowed_tokens

    @property
    def waiting(self) -> int:
        return self._limiter().statistics().tasks_waiting

    def _limiter(self) -> CapacityLimiter:
        return self._limiters.setdefault(asyncio.get_running_loop(), CapacityLimiter(self.at_once))


class ProviderLimit:
    """Limit of the calls to one provider, of which a bounded number waits, for a bounded time."""

    def __init__(self, name: str, *, at_once: int, waiting: int, wait_seconds: float) -> None:
        self._name = name
        self._limit = ConcurrencyLimit(at_once)
        self._max_waiting = waiting
        self._wait_seconds = wait_seconds

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Raises ProviderError where too many wait already, or no slot is free in time."""
        limit = self._limit
        if limit.running >= limit.at_once and limit.waiting >= self._max_waiting:
            raise self._busy(f"{limit.waiting} calls wait already")
        try:
            release = await limit.acquire(self._wait_seconds)
        except TimeoutError as exc:
            raise self._busy(f"no call could begin within {self._wait_seconds:g} s") from exc
        try:
            yield
        finally:
            release()

    def _busy(self, why: str) -> ProviderError:
        return ProviderError(f"{self._name} is busy: {why}", reason="busy")

    @cached_property
    def background(self) -> "BackgroundLimit":
        """Limit of all background work together: with one each, they would take all slots."""
        return BackgroundLimit(self._limit)


class BackgroundLimit:
    """Half of a limit's slots, waited for as long as it takes: work in the background must not make people wait."""

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self._all = limit
        self._half = ConcurrencyLimit(max(1, limit.at_once // 2))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        async with _held(self._half), _held(self._all):
            yield


@asynccontextmanager
async def _held(limit: ConcurrencyLimit) -> AsyncIterator[None]:
    release = await limit.acquire()
    try:
        yield
    finally:
        release()

"""Admission control of one process: requests beyond its limit queue, are searched more simply, and at last refused."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from weakref import WeakValueDictionary

from anyio import CapacityLimiter

from graphrag.config.service import LoadLimits
from graphrag.errors import Overloaded
from graphrag.observability.metrics import LOAD_BEGUN, LOAD_LEVEL, LOAD_WAITING, LOAD_WORKING
from graphrag.observability.telemetry import log
from graphrag.resilience.deadline import seconds_left

SIMPLER_FROM, SIMPLEST_FROM = 0.1, 0.3  # of the longest wait
SHARE_OF_ONE = 0.75  # of the places, where there are several owners: one can't take all
LONGEST_RETRY_SECONDS = 60  # that anybody is told to wait
MOST_OF_DEADLINE = 0.5  # is waited for a place: the rest is for the work
WEIGHT_OF_LATEST = 0.1  # in the average time that a place is held


class Effort(IntEnum):
    """That is made for a search or an answer."""

    FULL = 0
    SIMPLER = 1
    SIMPLEST = 2
    NONE = 3  # it is refused


@dataclass(slots=True)
class Slot:
    """A slot of one request. It may be released early, as where an answer waits for a language model."""

    effort: Effort = Effort.FULL
    is_kept: bool = False
    _release: Callable[[], None] | None = field(default=None, repr=False)

    def leave(self) -> None:
        release, self._release = self._release, None
        if release:
            release()

    def keep(self) -> Callable[[], None]:
        """Keep the slot beyond its block, until the returned function is called."""
        self.is_kept = True
        return self.leave


@dataclass(frozen=True, slots=True)
class LoadState:
    effort: Effort  # that the next one gets
    working: int
    waiting: int
    wait_seconds: float  # until the next one's turn, about


@dataclass(slots=True, weakref_slot=True, eq=False)
class _OwnerQueue:
    """Queue of one owner, who has a share of all slots at most."""

    places: CapacityLimiter
    size: int
    appointed: float = 0.0  # when the last who was refused is to come back

    @property
    def waiting(self) -> int:
        return self.places.statistics().tasks_waiting


class AdmissionControl:
    """Admission control of one process: first come, first served; of several owners none has all slots."""

    def __init__(self, limits: LoadLimits, *, has_owners: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._size = limits.max_searches
        self._share = max(1, int(self._size * SHARE_OF_ONE)) if has_owners else self._size
        self._longest_wait = limits.load_queue_seconds
        self._all = _OwnerQueue(CapacityLimiter(self._size), self._size)
        self._lines: WeakValueDictionary[str, _OwnerQueue] = WeakValueDictionary()
        self._waiting = 0
        self._held_seconds = 0.0  # by one, in the average of the latest

    def state(self) -> LoadState:
        seconds = self._held_seconds * self._waiting / self._size
        return LoadState(self._effort(seconds), self._all.places.borrowed_tokens, self._waiting, seconds)

    @asynccontextmanager
    async def place(self, owner_id: str) -> AsyncIterator[Slot]:
        """Raises Overloaded where the turn would come, or comes, too late."""
        line = self._lines.setdefault(owner_id, _OwnerQueue(CapacityLimiter(self._share), self._share))
        patience = min(self._longest_wait, seconds_left() * MOST_OF_DEADLINE)
        if self._wait_seconds(line) > patience:
            raise self._overloaded(line)
        came = self._clock()
        release = await self._take(line, patience)
        # The line alone does not tell: where many are refused, it is short.
        waited = self._clock() - came
        effort = min(self._effort(max(waited, self._wait_seconds(line))), Effort.SIMPLEST)
        LOAD_BEGUN.labels(effort=effort.name.lower()).inc()
        if effort is not Effort.FULL:
            log.info("high load", effort=effort.name.lower(), waiting=self._waiting)
        place = Slot(effort, _release=release)
        try:
            yield place
        finally:
            if not place.is_kept:
                place.leave()

    async def _take(self, line: _OwnerQueue, patience: float) -> Callable[[], None]:
        """Gives what releases it. Raises Overloaded after so many seconds."""
        holder = object()
        self._count(waiting=+1)
        try:
            async with asyncio.timeout(patience):
                await line.places.acquire_on_behalf_of(holder)
                try:
                    await self._all.places.acquire_on_behalf_of(holder)
                except BaseException:
                    line.places.release_on_behalf_of(holder)
                    raise
        except TimeoutError as exc:
            raise self._overloaded(line) from exc
        finally:
            self._count(waiting=-1)
        began = self._clock()

        def release() -> None:
            self._all.places.release_on_behalf_of(holder)
            line.places.release_on_behalf_of(holder)
            held = self._clock() - began
            self._held_seconds += WEIGHT_OF_LATEST * (held - self._held_seconds) if self._held_seconds else held
            self._count()

        return release

    def _wait_seconds(self, line: _OwnerQueue) -> float:
        """Estimate the wait of a new request from those queued before it, the owner's and all."""
        return self._held_seconds * (line.waiting / line.size + self._all.waiting / self._all.size)

    def _effort(self, wait_seconds: float) -> Effort:
        shares = (SIMPLER_FROM, SIMPLEST_FROM, 1.0)
        return Effort(sum(wait_seconds > share * self._longest_wait for share in shares))

    def _overloaded(self, line: _OwnerQueue) -> Overloaded:
        LOAD_BEGUN.labels(effort="none").inc()
        now, turn = self._clock(), self._held_seconds / line.size
        latest = now + LONGEST_RETRY_SECONDS
        # One after the other at the rate of the work: all at once, most would be refused again.
        line.appointed = min(max(now + self._wait_seconds(line), line.appointed + turn), latest)
        seconds = max(1, math.ceil(line.appointed - now))
        log.warning("refused: high load", waiting=self._waiting, retry_after=seconds)
        return Overloaded(f"Too many questions at the same time: try again in {seconds} s.", retry_after=seconds)

    def _count(self, *, waiting: int = 0) -> None:
        self._waiting += waiting
        state = self.state()
        LOAD_WORKING.set(state.working)
        LOAD_WAITING.set(state.waiting)
        LOAD_LEVEL.set(state.effort)

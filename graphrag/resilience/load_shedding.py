"""Admission control of one process: requests beyond its limit queue, are searched more simply, and at last refused."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from weakref import WeakValueDictionary

from graphrag.config.service import LoadLimits
from graphrag.errors import Overloaded
from graphrag.observability.metrics import LOAD_BEGUN, LOAD_LEVEL, LOAD_WAITING, LOAD_WORKING
from graphrag.observability.telemetry import log
from graphrag.resilience.concurrency import LATELY_SECONDS, ConcurrencyLimit
from graphrag.resilience.deadline import seconds_left

SIMPLER_FROM, SIMPLEST_FROM = 0.1, 0.3  # of the longest wait
SHARE_OF_ONE = 0.75  # of the slots, where there are several owners: one can't take all
LONGEST_RETRY_SECONDS = 60  # in a Retry-After
MOST_OF_DEADLINE = 0.5  # is waited for a slot: the rest is for the work
WEIGHT_OF_LATEST = 0.1  # in the average time that a slot is held
PAUSE_PER_WORK, LONGEST_PAUSE_SECONDS = 2, 0.25  # of background work on the event loop of requests


class Effort(IntEnum):
    """The effort that load shedding allows for a search or an answer."""

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

    def release(self) -> None:
        release, self._release = self._release, None
        if release:
            release()

    def keep(self) -> Callable[[], None]:
        """Keep the slot beyond its block, until the returned function is called."""
        self.is_kept = True
        return self.release


@dataclass(frozen=True, slots=True)
class LoadState:
    effort: Effort  # that the next one gets
    working: int
    waiting: int
    wait_seconds: float  # of the next one, estimated


@dataclass(slots=True, weakref_slot=True, eq=False)
class _OwnerQueue:
    """Queue of one owner, who has a share of all slots at most."""

    limit: ConcurrencyLimit
    retry_at: float = 0.0  # of the last who was refused


class AdmissionControl:
    """Admission control of one process: owners take turns, and of several none has all slots."""

    def __init__(self, limits: LoadLimits, *, has_owners: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._size = limits.max_searches
        self._share = max(1, int(self._size * SHARE_OF_ONE)) if has_owners else self._size
        self._longest_wait = limits.load_queue_seconds
        self._all = ConcurrencyLimit(self._size)
        self._queues: WeakValueDictionary[str, _OwnerQueue] = WeakValueDictionary()
        self._waiting = 0
        self._held_seconds = 0.0  # by one, in the average of the latest
        self._latest = -math.inf  # when the latest request came

    def state(self) -> LoadState:
        seconds = self._held_seconds * self._waiting / self._size
        return LoadState(self._effort(seconds), self._all.running, self._waiting, seconds)

    @asynccontextmanager
    async def slot(self, owner_id: str) -> AsyncIterator[Slot]:
        """Raises Overloaded where a slot would be, or is, free too late."""
        queue = self._queues.setdefault(owner_id, _OwnerQueue(ConcurrencyLimit(self._share)))
        self._latest = self._clock()
        patience = min(self._longest_wait, seconds_left() * MOST_OF_DEADLINE)
        if self._wait_seconds(queue) > patience:
            raise self._overloaded(queue)
        came = self._clock()
        release = await self._acquire(queue, owner_id, patience)
        # The queue alone does not show it: where many are refused, it is short.
        waited = self._clock() - came
        effort = min(self._effort(max(waited, self._wait_seconds(queue))), Effort.SIMPLEST)
        LOAD_BEGUN.labels(effort=effort.name.lower()).inc()
        if effort is not Effort.FULL:
            log.info("high load", effort=effort.name.lower(), waiting=self._waiting)
        slot = Slot(effort, _release=release)
        try:
            yield slot
        finally:
            if not slot.is_kept:
                slot.release()

    async def give_way(self, worked_seconds: float) -> None:
        """Pause background work for longer than it has worked, if this process has answered requests lately."""
        if self._clock() - self._latest < LATELY_SECONDS:
            await asyncio.sleep(min(PAUSE_PER_WORK * worked_seconds, LONGEST_PAUSE_SECONDS))

    async def _acquire(self, queue: _OwnerQueue, owner_id: str, patience: float) -> Callable[[], None]:
        """Return what releases the slot. Raises Overloaded after so many seconds."""
        self._count(waiting=+1)
        try:
            async with asyncio.timeout(patience):
                release_share = await queue.limit.acquire(owner=owner_id)
                try:
                    release_slot = await self._all.acquire(owner=owner_id)
                except BaseException:
                    release_share()
                    raise
        except TimeoutError as exc:
            raise self._overloaded(queue) from exc
        finally:
            self._count(waiting=-1)
        began = self._clock()

        def release() -> None:
            release_slot()
            release_share()
            held = self._clock() - began
            self._held_seconds += WEIGHT_OF_LATEST * (held - self._held_seconds) if self._held_seconds else held
            self._count()

        return release

    def _wait_seconds(self, queue: _OwnerQueue) -> float:
        """Estimate the wait of the next request, by those before it in the owner's queue and in that of all."""
        limits = (queue.limit, self._all)
        return self._held_seconds * sum(limit.waiting / limit.at_once for limit in limits)

    def _effort(self, wait_seconds: float) -> Effort:
        shares = (SIMPLER_FROM, SIMPLEST_FROM, 1.0)
        return Effort(sum(wait_seconds > share * self._longest_wait for share in shares))

    def _overloaded(self, queue: _OwnerQueue) -> Overloaded:
        LOAD_BEGUN.labels(effort="none").inc()
        now, step = self._clock(), self._held_seconds / queue.limit.at_once
        latest = now + LONGEST_RETRY_SECONDS
        # One after the other at the rate of the work: all at once, most would be refused again.
        queue.retry_at = min(max(now + self._wait_seconds(queue), queue.retry_at + step), latest)
        seconds = max(1, math.ceil(queue.retry_at - now))
        log.warning("refused: high load", waiting=self._waiting, retry_after=seconds)
        return Overloaded(f"Too many questions at the same time: try again in {seconds} s.", retry_after=seconds)

    def _count(self, *, waiting: int = 0) -> None:
        self._waiting += waiting
        state = self.state()
        LOAD_WORKING.set(state.working)
        LOAD_WAITING.set(state.waiting)
        LOAD_LEVEL.set(state.effort)

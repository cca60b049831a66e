"""Concurrency limits whose slots owners take in turn: of anything, of an owner's requests, of calls to a provider."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from weakref import WeakKeyDictionary

from graphrag.errors import ProviderError, RateLimited
from graphrag.observability.request_context import current_record

RETRY_SECONDS = 1  # of a request beyond an owner's queue
LATELY_SECONDS = 2.0  # after a request of an owner, who is likely to ask again
BEGINNING_SECONDS = 0.25  # at most, of a request beside other owners', in which no other of its owner begins


class _Slots:
    """Slots of one event loop. A free one goes to the owner who holds the fewest; among these, owners take turns."""

    def __init__(self, count: int) -> None:
        self.free = count
        self.held: Counter[str] = Counter()
        self.waiting: dict[str, deque[asyncio.Future[None]]] = {}  # by owner, who is served next first

    async def take(self, owner: str) -> None:
        if self.free and not self.waiting:
            return self._give(owner)
        turn = asyncio.get_running_loop().create_future()
        self.waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # it came at the moment at which nobody wanted it any more
                self.release(owner)
            else:
                self._leave(owner, turn)
            raise

    def release(self, owner: str) -> None:
        self.free += 1
        self.held[owner] -= 1
        if not self.held[owner]:
            del self.held[owner]
        while self.free and self.waiting:
            following = min(self.waiting, key=self.held.__getitem__)
            turns = self.waiting.pop(following)
            turn = turns.popleft()
            if turns:
                self.waiting[following] = turns
            if not turn.cancelled():  # its task learns of it later in this round of the loop
                turn.set_result(None)
                self._give(following)

    def _give(self, owner: str) -> None:
        self.free -= 1
        self.held[owner] += 1

    def _leave(self, owner: str, turn: asyncio.Future[None]) -> None:
        turns = self.waiting.get(owner, deque())
        if turn in turns:  # unless it has been passed over
            turns.remove(turn)
            if not turns:
                del self.waiting[owner]


class ConcurrencyLimit:
    """Limit of what each event loop of the process runs at once. Owners take turns; an owner's own keep their order."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots] = WeakKeyDictionary()

    async def acquire(self, seconds: float | None = None, *, owner: str | None = None) -> Callable[[], None]:
        """Wait for a slot of the owner, or of the request's, and return what releases it.

        Raises TimeoutError after so many seconds.
        """
        slots, owner = self._slots(), _current_owner() if owner is None else owner
        async with asyncio.timeout(seconds):
            await slots.take(owner)
        return partial(slots.release, owner)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        release = await self.acquire()
        try:
            yield
        finally:
            release()

    @property
    def running(self) -> int:
        return self.at_once - self._slots().free

    @property
    def waiting(self) -> int:
        return sum(map(len, self._slots().waiting.values()))

    @property
    def waiting_of_owner(self) -> int:
        """Return how many of the request's owner wait."""
        return len(self._slots().waiting.get(_current_owner(), ()))

    def _slots(self) -> _Slots:
        return self._loops.setdefault(asyncio.get_running_loop(), _Slots(self.at_once))


class OwnerTurn:
    """A request's slots of its owner's."""

    def __init__(self) -> None:
        self.slots, self.beginning = ExitStack(), ExitStack()

    def stream(self) -> None:
        """Release what is not for the streams of events that the request goes on with."""
        self.slots.close()

    def end(self) -> None:
        self.slots.close()
        self.beginning.close()


@dataclass(frozen=True, slots=True)
class _OwnerSlots:
    at_once: ConcurrencyLimit
    beside_others: ConcurrencyLimit
    beginning: ConcurrencyLimit


class OwnerLimit:
    """Limit of what each owner has at once, a lower one while others ask too, and of what waits for it.

    While others ask, an owner's requests begin one after the other, each when the one before has ended or takes long:
    all that runs at once on one event loop slows everybody down.
    """

    def __init__(self, at_once: int, *, beside_others: int, waiting: int) -> None:
        self._at_once = at_once
        self._beside_others = beside_others
        self._waiting = waiting
        self._owners: dict[str, _OwnerSlots] = {}  # of those who have a slot
        self._asked: dict[str, float] = {}  # when each owner asked, the latest last

    async def acquire(self, owner: str) -> OwnerTurn:
        """Wait for a turn. Raises RateLimited where too many wait already."""
        new = _OwnerSlots(*map(ConcurrencyLimit, (self._at_once, self._beside_others, 1)))
        slots = self._owners.setdefault(owner, new)
        if slots.at_once.waiting >= self._waiting:
            raise RateLimited(
                f"{self._at_once + self._waiting} requests are in progress: wait for some.", retry_after=RETRY_SECONDS
            )
        is_alone = self._note(owner)

        def leave() -> None:
            if not slots.at_once.running and not slots.beginning.running:
                self._owners.pop(owner, None)

        turn = OwnerTurn()
        try:
            turn.slots.callback(leave)
            turn.slots.callback(await slots.at_once.acquire(owner=owner))
            if not is_alone:
                turn.slots.callback(await slots.beside_others.acquire(owner=owner))
                turn.beginning.callback(leave)
                turn.beginning.callback(await slots.beginning.acquire(owner=owner))
                timer = asyncio.get_running_loop().call_later(BEGINNING_SECONDS, turn.beginning.close)
                turn.beginning.callback(timer.cancel)
        except BaseException:
            turn.end()
            raise
        return turn

    def _note(self, owner: str) -> bool:
        """Note that the owner asks; return whether nobody else has asked lately."""
        now = time.monotonic()
        self._asked.pop(owner, None)
        self._asked = {of: at for of, at in self._asked.items() if now - at < LATELY_SECONDS}
        is_alone = not self._asked
        self._asked[owner] = now
        return is_alone


class ProviderLimit:
    """Limit of the calls to one provider, of which a bounded number of each owner waits, for a bounded time."""

    def __init__(self, name: str, *, at_once: int, waiting: int, wait_seconds: float) -> None:
        self._name = name
        self._limit = ConcurrencyLimit(at_once)
        self._max_waiting = waiting
        self._wait_seconds = wait_seconds

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Raises ProviderError where too many wait already, or no slot is free in time."""
        limit = self._limit
        if limit.running >= limit.at_once and limit.waiting_of_owner >= self._max_waiting:
            raise self._busy(f"{limit.waiting_of_owner} calls wait already")
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
        async with self._half.slot(), self._all.slot():
            yield


def _current_owner() -> str:
    """Return the pseudonym of the owner whose request or job this is; empty for commands and the service itself."""
    record = current_record()
    return record.identity.get("owner", "") if record else ""

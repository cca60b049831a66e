"""Slots that owners take in turn. The work is held by the tests: no time is measured."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import ProviderError, RateLimited
from graphrag.observability.request_context import begin_record
from graphrag.resilience.concurrency import ConcurrencyLimit, OwnerLimit, OwnerTurn, ProviderLimit

LONG = 60.0
# What comes: an owner who asks for a slot, or the end of the oldest who has one, or somebody who waits no longer.
EVENTS = st.lists(st.sampled_from(["a", "b", "c", "end", "give up"]), max_size=60)


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


class Crowd:
    """Those who ask for the slots of a limit."""

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self.limit = limit
        self.begun: list[tuple[str, int]] = []  # owner and number, in the order in which they got a slot
        self.ends: list[tuple[str, Callable[[], None]]] = []
        self.waiting: dict[tuple[str, int], asyncio.Task[None]] = {}
        self.asked: Counter[str] = Counter()

    async def ask(self, owner: str) -> None:
        self.asked[owner] += 1
        who = owner, self.asked[owner]

        async def take() -> None:
            release = await self.limit.acquire(LONG, owner=owner)
            del self.waiting[who]
            self.begun.append(who)
            self.ends.append((owner, release))

        self.waiting[who] = asyncio.create_task(take())
        await settle()

    async def end_oldest(self) -> None:
        if self.ends:
            self.ends.pop(0)[1]()
        await settle()

    async def give_up(self) -> None:
        if self.waiting:
            self.waiting.pop(next(iter(self.waiting))).cancel()
        await settle()

    async def disperse(self) -> None:
        """Nobody waits any longer: who did would fail after the test."""
        waiting = [*self.waiting.values()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    def held(self) -> Counter[str]:
        return Counter(owner for owner, _ in self.ends)


@given(EVENTS, st.integers(1, 3))
def test_slots_are_shared_by_turns(events: list[str], size: int) -> None:
    """R11.1, security 16: never more than there are, none idle while somebody waits, an owner's in their order, and
    a free one goes to an owner who has the fewest of those who wait.
    """

    async def run() -> None:
        crowd = Crowd(ConcurrencyLimit(size))
        for event in events:
            held, waited, begun = crowd.held(), {owner for owner, _ in crowd.waiting}, len(crowd.begun)
            match event:
                case "end":
                    if crowd.ends:
                        held[crowd.ends[0][0]] -= 1
                    await crowd.end_oldest()
                    for owner, _ in crowd.begun[begun:]:
                        assert held[owner] == min(held[each] for each in waited)
                case "give up":
                    await crowd.give_up()
                case owner:
                    await crowd.ask(owner)
            assert crowd.limit.running == len(crowd.ends) <= size
            assert crowd.limit.waiting == len(crowd.waiting)
            assert not crowd.waiting or len(crowd.ends) == size
        for owner in "abc":
            numbers = [number for name, number in crowd.begun if name == owner]
            assert numbers == sorted(numbers)
        while crowd.ends:
            await crowd.end_oldest()
        assert (crowd.limit.running, crowd.limit.waiting) == (0, 0)

    asyncio.run(run())


async def test_a_neighbour_comes_before_the_rest_of_a_flood() -> None:
    """Security 16: behind a hundred of another's, the first slot that becomes free is the neighbour's."""
    crowd = Crowd(ConcurrencyLimit(4))
    for _ in range(100):
        await crowd.ask("flood")
    await crowd.ask("neighbour")
    await crowd.end_oldest()
    assert crowd.begun[-1] == ("neighbour", 1)
    assert len(crowd.begun) == 5
    await crowd.disperse()


async def test_a_slot_that_comes_too_late_is_passed_on() -> None:
    """R11.1 Who is cancelled at the moment at which the slot comes does not keep it."""
    limit = ConcurrencyLimit(1)
    release = await limit.acquire(owner="a")
    late = asyncio.create_task(limit.acquire(owner="b"))
    following = asyncio.create_task(limit.acquire(owner="c"))
    await settle()
    release()
    late.cancel()
    (await following)()
    assert (limit.running, limit.waiting) == (0, 0)
    with pytest.raises(asyncio.CancelledError):
        await late


async def test_one_who_gave_up_at_that_moment_is_passed_over() -> None:
    """R11.1 The slot goes to the next one, of the same owner or another, and what releases it is no error."""
    limit = ConcurrencyLimit(1)
    release = await limit.acquire(owner="a")
    waiting = [asyncio.create_task(limit.acquire(owner=owner)) for owner in "bbcd"]
    await settle()
    for task in (waiting[0], waiting[2]):
        task.cancel()
    release()
    async with asyncio.timeout(LONG):
        (await waiting[3])()
        (await waiting[1])()
    assert [task.cancelled() for task in waiting] == [True, False, True, False]
    assert (limit.running, limit.waiting) == (0, 0)


async def test_one_who_waits_too_long_leaves_the_queue() -> None:
    """R11.1"""
    limit = ConcurrencyLimit(1)
    release = await limit.acquire(owner="a")
    with pytest.raises(TimeoutError):
        await limit.acquire(0.01, owner="b")
    assert limit.waiting == 0
    release()
    assert limit.running == 0


async def test_an_owner_has_so_many_in_progress() -> None:
    """Security 16: more of them wait, at last they are refused; others are not concerned, and nothing is left over."""
    limit = OwnerLimit(2, beside_others=2, waiting=1)
    with ExitStack() as stack:
        for _ in range(2):
            stack.callback((await limit.acquire("flood")).end)
        waiting = asyncio.create_task(limit.acquire("flood"))
        await settle()
        with pytest.raises(RateLimited) as refusal:
            await limit.acquire("flood")
        assert refusal.value.details["retry_after"] == 1
        (await limit.acquire("neighbour")).end()
        assert not waiting.done()
    (await waiting).end()
    assert limit._owners == {}


async def test_an_owner_has_fewer_in_progress_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 16: as soon as another owner asks; when nobody else has asked for a while, as many as before."""
    clock = iter(range(1_000_000))
    monkeypatch.setattr("graphrag.resilience.concurrency.LATELY_SECONDS", 100)
    monkeypatch.setattr("graphrag.resilience.concurrency.time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr("graphrag.resilience.concurrency.BEGINNING_SECONDS", 0.001)
    limit = OwnerLimit(8, beside_others=2, waiting=8)

    async def begin() -> list[OwnerTurn]:
        """As many as there may be."""
        acquiring = [asyncio.create_task(limit.acquire("flood")) for _ in range(8)]
        await asyncio.sleep(0.1)  # some begin after others
        begun = [task.result() for task in acquiring if task.done()]
        for task in acquiring:
            task.cancel()
        await asyncio.gather(*acquiring, return_exceptions=True)
        return begun

    counts = []
    for seconds, other in ((0, ""), (0, "neighbour"), (100, "")):
        for _ in range(seconds):
            next(clock)
        if other:
            (await limit.acquire(other)).end()
        begun = await begin()
        counts.append(len(begun))
        for turn in begun:
            turn.end()
    assert counts == [8, 2, 8]
    assert limit._owners == {}


async def test_requests_beside_others_begin_one_after_the_other() -> None:
    """Security 16: each when the one before has ended, also if that is a stream, or has taken long."""
    limit = OwnerLimit(8, beside_others=8, waiting=8)
    (await limit.acquire("neighbour")).end()
    first = await limit.acquire("flood")
    waiting = [asyncio.create_task(limit.acquire("flood")) for _ in range(2)]
    first.stream()
    await settle()
    assert not any(task.done() for task in waiting)
    first.end()
    second = await waiting[0]
    await settle()
    assert not waiting[1].done()
    (await waiting[1]).end()
    second.end()
    assert limit._owners == {}


async def test_a_full_queue_of_one_owner_is_no_other_owners() -> None:
    """Security 16: calls of a model that one owner has filled with calls still queue those of another."""
    limit = ProviderLimit("model", at_once=1, waiting=2, wait_seconds=LONG)

    async def call(owner: str) -> str:
        begin_record(owner=owner)
        async with limit.slot():
            await asyncio.sleep(0)
        return owner

    calls = [asyncio.create_task(call(owner)) for owner in ("flood",) * 4 + ("neighbour",)]
    told = await asyncio.gather(*calls, return_exceptions=True)
    assert told[:3] == ["flood"] * 3
    assert isinstance(told[3], ProviderError)
    assert told[4] == "neighbour"

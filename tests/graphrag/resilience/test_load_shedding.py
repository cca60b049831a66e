"""Places, the line for them, simpler searches, refusals. The work is held by the tests: no time is measured."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from graphrag.config.service import LoadLimits
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import Overloaded
from graphrag.resilience.deadline import deadline
from graphrag.resilience.load_shedding import LONGEST_PAUSE_SECONDS, AdmissionControl, Effort, Slot
from graphrag.retrieval.pipeline import simplified

PLACES = 4
LONG = 60.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def make_load(*, seconds: float = LONG, has_owners: bool = False, held_seconds: float = 0.0) -> AdmissionControl:
    """One that has seen places held so long, on average."""
    clock = Clock()
    limits = LoadLimits(max_searches=PLACES, load_queue_seconds=seconds)
    load = AdmissionControl(limits, has_owners=has_owners, clock=clock)
    async with load.slot("a"):
        clock.now += held_seconds
    return load


@asynccontextmanager
async def full(load: AdmissionControl, owner: str = "a", count: int = PLACES) -> AsyncIterator[list[Slot]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(load.slot(owner)) for _ in range(count)]


async def take(load: AdmissionControl, owner: str = "a") -> Effort:
    async with load.slot(owner) as slot:
        return slot.effort


async def wait_for(load: AdmissionControl, *owners: str) -> list[asyncio.Task[Effort]]:
    """Those who wait for a place now."""
    tasks = [asyncio.create_task(take(load, owner)) for owner in owners]
    for _ in range(5):
        await asyncio.sleep(0)
    return tasks


async def test_as_many_as_there_are_places_get_full_effort() -> None:
    """R11.1, 001.14.8 A few at the same time are never searched for more simply."""
    load = await make_load(held_seconds=LONG)
    async with full(load) as slots:
        assert [slot.effort for slot in slots] == [Effort.FULL] * PLACES
        assert (load.state().working, load.state().waiting) == (PLACES, 0)
    assert load.state().working == 0


async def test_those_who_wait_come_in_their_order() -> None:
    """R11.1"""
    load = await make_load()
    ended: list[int] = []

    async def work(number: int) -> None:
        async with load.slot("a"):
            ended.append(number)

    async with full(load, count=PLACES):
        working = [asyncio.create_task(work(number)) for number in range(9)]
        await asyncio.sleep(0.01)
        assert (ended, load.state().waiting) == ([], 9)
    await asyncio.gather(*working)
    assert ended == list(range(9))
    assert load.state().waiting == 0


@pytest.mark.parametrize(
    ("held_seconds", "effort"), [(1, Effort.FULL), (30, Effort.SIMPLER), (80, Effort.SIMPLEST), (200, Effort.NONE)]
)
async def test_the_longer_the_line_the_simpler_the_search(held_seconds: float, effort: Effort) -> None:
    """R11.1, 001.14.8 By how long the last of those who wait will wait; past the limit nobody joins them."""
    load = await make_load(held_seconds=held_seconds)
    async with full(load):
        waiting = await wait_for(load, "a", "a")
        assert load.state().effort is effort
        if effort is Effort.NONE:
            with pytest.raises(Overloaded) as refused:
                await take(load)
            assert refused.value.details == {"retry_after": 60}
    await asyncio.gather(*waiting)
    assert load.state().effort is Effort.FULL


async def test_who_has_waited_long_is_searched_for_simply() -> None:
    """001.14.8 Though nobody waits any more: those who would were refused."""
    clock = Clock()
    load = AdmissionControl(LoadLimits(max_searches=1, load_queue_seconds=LONG), has_owners=False, clock=clock)
    async with load.slot("a"):
        (waiting,) = await wait_for(load, "a")
        clock.now += LONG / 2
    assert await waiting is Effort.SIMPLEST
    assert await take(load) is Effort.FULL


async def test_who_does_not_get_a_turn_in_time_is_refused() -> None:
    """R11.1 Though the line looked short: the work takes longer than it did. The place is free for the next."""
    load = await make_load(seconds=0.05)
    async with full(load):
        with pytest.raises(Overloaded) as refused:
            await take(load)
        assert refused.value.details["retry_after"] >= 1
        assert load.state().waiting == 0
    assert await take(load) is Effort.FULL


async def test_the_refused_come_back_one_after_the_other() -> None:
    """R11.1 At the rate of the work: all at the same time, most would be refused again."""
    load = await make_load(seconds=20, held_seconds=44)
    told: list[int] = []
    async with full(load):
        waiting = await wait_for(load, "a", "a")
        for _ in range(4):
            with pytest.raises(Overloaded) as refused:
                await take(load)
            told.append(refused.value.details["retry_after"])
    await asyncio.gather(*waiting)
    assert told == [22, 33, 44, 55]


async def test_a_search_with_little_time_does_not_wait_it_away() -> None:
    """R11.1"""
    load = await make_load()
    async with full(load):
        with deadline(0.05), pytest.raises(Overloaded):
            await take(load)


async def test_who_would_wait_its_time_away_is_refused_at_once() -> None:
    """R11.1 Another one, who has more time, may still wait."""
    load = await make_load(held_seconds=LONG)
    async with full(load):
        waiting = await wait_for(load, "a", "a")
        with deadline(LONG / 2):
            refused = (await wait_for(load, "a"))[0]
        patient = (await wait_for(load, "a"))[0]
        assert isinstance(refused.exception() if refused.done() else None, Overloaded)
        assert not patient.done()
    await asyncio.gather(*waiting, patient)


async def test_one_who_leaves_the_line_leaves_no_trace() -> None:
    """R11.1 A client that goes while it waits."""
    load = await make_load(has_owners=True)
    async with full(load, count=3):  # all that one owner may have
        async with full(load, "b", count=1):
            gone, stays = await wait_for(load, "a", "b")
            gone.cancel()
            await asyncio.wait({gone})
            assert load.state().waiting == 1
        assert await stays is Effort.FULL
    assert (load.state().working, load.state().waiting) == (0, 0)


async def test_one_owner_does_not_take_all_places() -> None:
    """R11.1 Nor does the line of one make the others wait, or search more simply."""
    load = await make_load(has_owners=True, held_seconds=1.2 * LONG)
    async with full(load, count=3):
        waiting = await wait_for(load, "a", "a", "a")
        assert load.state().working == 3
        assert await take(load, "b") is Effort.FULL
        with pytest.raises(Overloaded):
            await take(load, "a")
    await asyncio.gather(*waiting)


async def test_a_place_is_left_once() -> None:
    """R11.1 Before the end, where the rest is waiting; or after it, where the work goes on elsewhere."""
    load = await make_load()
    async with load.slot("a") as slot:
        slot.release()
        assert load.state().working == 0
    async with load.slot("a") as slot:
        leave = slot.keep()
    assert load.state().working == 1
    leave()
    leave()
    assert load.state().working == 0


def test_what_is_left_out_first_is_what_costs_most() -> None:
    """001.14.8 The graph and half of the candidates; then all but the words. It is told."""
    config = RetrievalConfig()
    assert simplified(config, Effort.FULL) == (config, ())
    simpler, told = simplified(config, Effort.SIMPLER)
    assert (simpler.graph, simpler.candidates_per_leg, simpler.rerank, simpler.strategy) == (False, 25, True, "auto")
    assert told == ("graph", "load")
    simplest, told = simplified(config, Effort.SIMPLEST)
    assert (simplest.strategy, simplest.rerank, simplest.graph) == ("fulltext", False, False)
    assert told == ("graph", "rerank", "vector", "load")


def test_what_was_not_asked_for_is_not_told_to_be_left_out() -> None:
    """001.14.8 A search by meaning alone stays one; fewer candidates stay as few."""
    config = RetrievalConfig(strategy="semantic", rerank=False, graph=False, candidates_per_leg=10)
    simplest, told = simplified(config, Effort.SIMPLEST)
    assert (simplest.strategy, simplest.candidates_per_leg, told) == ("semantic", 10, ("load",))


async def test_background_work_pauses_while_people_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 16: for longer than it has worked, never for long, and not where nobody has asked for a while."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    clock = Clock()
    load = AdmissionControl(LoadLimits(), has_owners=True, clock=clock)
    monkeypatch.setattr("graphrag.resilience.load_shedding.asyncio.sleep", sleep)
    await load.give_way(0.05)
    async with load.slot("a"):
        pass
    for now, worked in ((0.0, 0.05), (1.9, 60.0), (2.0, 0.05)):
        clock.now = now
        await load.give_way(worked)
    assert pauses == [0.1, LONGEST_PAUSE_SECONDS]

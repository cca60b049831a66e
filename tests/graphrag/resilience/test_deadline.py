"""How much time is left, and what that makes of stages, calls and retries. Nothing is asserted of exact times."""

import asyncio
import math
from dataclasses import replace

import pytest

from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import OutOfTime
from graphrag.llm.guard import Guard, is_outage
from graphrag.resilience.circuit_breaker import CircuitBreaker
from graphrag.resilience.concurrency import ProviderLimit
from graphrag.resilience.deadline import deadline, demand, lacks_time, opening, seconds_left, within
from graphrag.resilience.retry import FOR_QUERIES, Patience, persevere
from graphrag.testing.in_memory_store import FailingEmbeddings

LONG = 60.0


class Calls:
    """Of something that is down for good."""

    count = 0

    async def fail(self) -> None:
        self.count += 1
        raise ConnectionError("down, on purpose")


class Silent(FailingEmbeddings):
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(LONG)
        raise AssertionError


def guard(*, failures: int = 1) -> Guard:
    breaker = CircuitBreaker("model", failures=failures, seconds=LONG, is_outage=is_outage)
    limit = ProviderLimit("model", at_once=1, waiting=9, wait_seconds=LONG)
    return Guard("model", limit, breaker, Patience(0, 0.1, 0.1), LONG, LONG, LONG)


async def test_without_a_deadline_there_is_all_the_time() -> None:
    """R11.1 Jobs and the command line."""
    assert seconds_left() == math.inf
    demand(1e9, stage="work")
    async with within("work"):
        assert seconds_left() == math.inf
    with opening(1):
        assert seconds_left() == math.inf
    assert lacks_time() == ()


def test_one_within_another_only_shortens() -> None:
    """R11.1"""
    with deadline(LONG):
        with deadline(2 * LONG):
            assert seconds_left() <= LONG
        with deadline(1):
            assert seconds_left() <= 1
        assert 1 < seconds_left() <= LONG
    assert seconds_left() == math.inf


def test_an_opening_begins_with_the_whole() -> None:
    """R11.1 What was waited before it counts."""
    with deadline(LONG), opening(1), opening(2):
        assert 0 < seconds_left() <= 1
    with deadline(LONG):
        with opening(0):
            assert seconds_left() == 0
        assert seconds_left() > 1


async def test_a_stage_leaves_some_time_to_the_next() -> None:
    """R11.1 Tasks that are begun in a stage have its time, too."""
    with deadline(LONG):
        async with within("first"):
            assert await asyncio.create_task(_left()) <= 0.75 * LONG
        assert seconds_left() > 0.75 * LONG
        async with within("last", share=1):
            assert seconds_left() > 0.75 * LONG


async def _left() -> float:
    return seconds_left()


async def test_what_takes_too_long_is_left_and_told() -> None:
    """R11.1 By whatever error of its own a stage then ends."""
    with deadline(0.2):
        with pytest.raises(OutOfTime) as late:
            async with within("slow"):
                await asyncio.sleep(LONG)
        assert late.value.details == {"stage": "slow"}
        assert lacks_time() == ("time",)
    assert lacks_time() == ()


async def test_nothing_is_begun_when_time_is_over() -> None:
    """R11.1"""
    with deadline(0), pytest.raises(OutOfTime):
        async with within("late"):
            raise AssertionError("begun")


async def test_a_timeout_of_its_own_stays_one() -> None:
    """R11.1 The model's slowness is not told as ours."""
    with deadline(LONG):
        with pytest.raises(TimeoutError):
            async with within("work"):
                raise TimeoutError("the model's own")
        assert lacks_time() == ()


async def test_no_retry_that_ends_too_late() -> None:
    """R11.1, 001.16.9 Three more calls with all the time; one alone where nobody would wait for the next."""
    patient, hurried = Calls(), Calls()
    quick = Patience(FOR_QUERIES.retries, 0.001, 0.001)
    with pytest.raises(ConnectionError):
        await persevere(patient.fail, quick)
    with deadline(0.001), pytest.raises(ConnectionError):
        await persevere(hurried.fail, Patience(FOR_QUERIES.retries, 10.0, 10.0))
    assert (patient.count, hurried.count) == (4, 1)


async def test_a_model_is_not_blamed_for_our_hurry() -> None:
    """R11.1, 001.16.8 The breaker stays closed, though one failure opens it; the turn is free again."""
    guarded = guard()
    with deadline(0.1), pytest.raises(OutOfTime):
        await guarded.call(lambda: asyncio.sleep(LONG))
    assert not guarded.breaker.is_open
    assert await guarded.call(lambda: asyncio.sleep(0, "well")) == "well"


async def test_a_model_that_is_silent_for_long_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, registry: EmbeddingRegistry
) -> None:
    """R11.1, 001.16.8 Else every question would lose most of its time to one that hangs."""
    monkeypatch.setattr("graphrag.resilience.circuit_breaker.FAIR_SECONDS", 0.05)
    judging = guard()
    with deadline(0.2), pytest.raises(OutOfTime):
        await judging.call(lambda: asyncio.sleep(LONG))
    assert judging.breaker.is_open
    breaker = guard().breaker
    asked = replace(registry.get(registry.default), embeddings=Silent(), breaker=breaker)
    with deadline(0.2), pytest.raises(OutOfTime):
        async with within("vector"):
            await asked.embed_queries(["?"])
    assert breaker.is_open


async def test_nobody_waits_for_a_turn_longer_than_there_is_time() -> None:
    """R11.1, 001.14.7"""
    guarded = guard()
    async with guarded.limit.slot():
        with deadline(0.1), pytest.raises(OutOfTime):
            await guarded.call(lambda: asyncio.sleep(0))

"""Experiments at the doors, however an answer ends: what was noted of it harms none."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from agent.context import Context
from agent.evaluation.experiments import in_experiment, read_report, start_experiment
from agent.output.events import Event, token_event
from graphrag.config.settings import Settings
from graphrag.errors import ExperimentNotFound, ProviderError
from graphrag.models import Collection
from graphrag.models.experiments import Experiment, SideCounts
from graphrag.services import Services, open_services

DONE: dict[str, Any] = {"citations": [], "found": True, "degraded": []}


@pytest.fixture
async def collection(services: Services, owner: str) -> Collection:
    return await services.collections.create(owner, "fábrica")


@pytest.fixture
async def running(services: Services, collection: Collection) -> Experiment:
    """Every answer is B's."""
    return await start_experiment(
        collection, services=services, name="", share=1, retrieval={"top_k": 3}, generation={"system_prompt": "Breve."}
    )


@pytest.fixture
def context(services: Services, collection: Collection) -> Context:
    return Context(services=services, owner_id=collection.owner_id, opened=collection)


async def side_b(services: Services, experiment: Experiment) -> SideCounts:
    return (await read_report(experiment, services=services)).sides["B"]


async def whole(asked: Context) -> AsyncGenerator[Event, None]:
    """An answer that tells what it is configured as."""
    assert asked.opened
    config, _ = asked.services.collections.retrieval_config(asked.opened, asked.retrieval)
    generation, _ = asked.services.collections.generation_config(asked.opened)
    yield token_event(f"{config.top_k} {generation.system_prompt}")
    marks = [{"status": "supported"}, {"status": "partly"}]
    yield {"event": "done", "data": DONE | {"degraded": ["rerank"], "citations": marks}}


async def failing(_: Context) -> AsyncGenerator[Event, None]:
    yield token_event("El horno")
    raise ProviderError("the model is gone")


async def read(events: AsyncGenerator[Event, None]) -> list[Event]:
    async with aclosing(events) as parts:
        return [event async for event in parts]


async def test_b_answers_with_its_configuration_and_the_answer_is_noted(
    services: Services, running: Experiment, context: Context
) -> None:
    """R10.4, R4.10"""
    words, done = await read(in_experiment(context, whole))
    assert (words["data"]["text"], done["data"]["variant"]) == ("3 Breve.", "B")
    found = await read_report(running, services=services)
    side = found.sides["B"]
    assert (side.answers, side.found, side.degraded, side.unfinished, side.failed) == (1, 1, 1, 0, 0)
    assert found.metrics["supported"].b == 0.5
    assert side.first_token_p50_ms is not None
    assert side.total_p50_ms is not None
    assert 0 < side.first_token_p50_ms <= side.total_p50_ms


async def test_an_answer_that_fails_has_found_nothing(
    services: Services, running: Experiment, context: Context
) -> None:
    """R10.4, R11.1 left out, a side that fails often would look better for it."""
    with pytest.raises(ProviderError, match="is gone"):
        await read(in_experiment(context, failing))
    found = await read_report(running, services=services)
    side = found.sides["B"]
    assert (side.answers, side.failed, side.found, side.unfinished, side.total_p50_ms) == (1, 1, 0, 0, None)
    assert (found.metrics["found"].b, found.metrics["failed"].b) == (0, 1)


async def test_who_leaves_is_counted_too(services: Services, running: Experiment, context: Context) -> None:
    """R10.4 or a side that is slow would lose those who did not wait, and seem no worse for it."""
    async with aclosing(in_experiment(context, whole)) as events:
        assert (await anext(events))["event"] == "token"
    side = await side_b(services, running)
    assert (side.answers, side.unfinished, side.found, side.failed) == (1, 1, 0, 0)


async def test_no_experiment_harms_an_answer(running: Experiment, context: Context, collection: Collection) -> None:
    """R11.1 without the database the collection answers as it is configured, and nothing is noted."""
    nowhere = open_services(Settings(database_url=SecretStr("postgresql://causeway@127.0.0.1:1/nothing")))
    asked = Context(services=nowhere, owner_id=collection.owner_id, opened=collection)
    words, done = await read(in_experiment(asked, whole))
    assert (words["data"]["text"], "variant" in done["data"]) == ("10 ", False)


async def test_one_that_is_deleted_meanwhile_takes_its_answer_along(
    services: Services, running: Experiment, context: Context
) -> None:
    """R10.4, R11.1"""
    async with aclosing(in_experiment(context, whole)) as events:
        await anext(events)
        await services.experiments.delete(running.owner_id, running.id)
        assert (await anext(events))["event"] == "done"
    with pytest.raises(ExperimentNotFound):
        await services.experiments.find(running.owner_id, running.id)


async def test_nobody_else_sees_it(services: Services, running: Experiment, context: Context) -> None:
    """security 4 another owner's is not there, for whatever is asked of it."""
    other = f"owner-{uuid4().hex}"
    for ask in (services.experiments.find, services.experiments.stop, services.experiments.delete):
        with pytest.raises(ExperimentNotFound):
            await ask(other, running.id)
    assert await services.experiments.list_all(other) == []
    assert await services.experiments.list_all(running.owner_id) == [running]

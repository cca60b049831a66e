"""An answer where a stage takes too long, or under high load. The slow parts are real; no time is measured."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from prometheus_client import REGISTRY
from pydantic import Field, SkipValidation

from agent.context import Context
from agent.graph import graph
from agent.messages import say
from agent.output.events import stream_answer
from graphrag.config.service import LoadLimits
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import OutOfTime
from graphrag.llm.chat_models import NamedModel
from graphrag.models import LOCAL_OWNER, Chunk, Collection, Hit, TransformedQuery
from graphrag.models.graph import CausalNeighbourhood
from graphrag.rerankers import FallbackReranker
from graphrag.rerankers.bundled import BundledReranker
from graphrag.resilience.deadline import deadline
from graphrag.resilience.load_shedding import AdmissionControl, Effort, Slot
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.services import Services
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import FailingEmbeddings, InMemoryStore
from tests.agent.library import ask, done, filenames, open_library, stages, with_parts

COST = "¿Cuánto costó la reparación del puente de Arenal?"
CAUSE = "¿Por qué se cerró el puente de Arenal?"
PREPARATION_SECONDS = 1.2
ANSWER_SECONDS = 60.0
HANGS = 3600.0
SIMPLEST = ("graph", "rerank", "vector", "load")  # what is left out then, and why


class SlowStore(InMemoryStore):
    slow: frozenset[str] = frozenset()

    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        await self._dawdle("fulltext")
        return await super().search_fulltext(collection, words, **options)

    async def read_chunks(
        self, collection: Collection, spans: Sequence[tuple[UUID, int, int]]
    ) -> dict[UUID, list[Chunk]]:
        await self._dawdle("expand")
        return await super().read_chunks(collection, spans)

    async def _dawdle(self, name: str) -> None:
        if name in self.slow:
            await asyncio.sleep(HANGS)


class SlowGraph(InMemoryGraph):
    async def find_causal_neighbourhood(self, *args: Any, **options: Any) -> CausalNeighbourhood:
        await asyncio.sleep(HANGS)
        raise AssertionError


class SlowEmbeddings(FailingEmbeddings):
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(HANGS)
        raise AssertionError


class SlowReranker:
    asked = 0

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        self.asked += 1
        await asyncio.sleep(HANGS)
        raise AssertionError


class AskedForNothing:
    async def refine(self, *args: Any, **options: Any) -> TransformedQuery:
        raise AssertionError("asked")


class WatchingModel(FakeListChatModel):
    """Notes how many work when it is asked."""

    load: SkipValidation[AdmissionControl]
    working: list[int] = Field(default_factory=list)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        self.working.append(self.load.state().working)
        async for chunk in super()._astream(*args, **kwargs):
            yield chunk


@pytest.fixture
def store() -> SlowStore:
    return SlowStore()


@pytest.fixture
async def library(registry: EmbeddingRegistry, store: SlowStore) -> Services:
    services = await open_library(registry, store=store, preparation_seconds=PREPARATION_SECONDS)
    await ask(services, COST)  # what is loaded at the first use takes no time of the tests'
    return services


def slow_embeddings(services: Services) -> Services:
    model = services.embeddings.models[services.embeddings.default]
    return with_parts(services, embeddings=EmbeddingRegistry([replace(model, embeddings=SlowEmbeddings())]))


async def answer(services: Services, question: str, **context: Any) -> dict[str, Any]:
    with deadline(ANSWER_SECONDS):
        return done(await ask(services, question, **context))


def check_left_out(told: dict[str, Any], *stages_left_out: str) -> None:
    """It is answered all the same, and both are told: what, and why."""
    assert told["found"] is True
    assert filenames(told["citations"])[0] == "puente.md"
    assert told["degraded"] == [*stages_left_out, "time"]
    assert told["degraded_messages"][-1] == say("degraded_time", "es")


async def test_in_time_nothing_is_left_out(library: Services) -> None:
    """R11.1 The control of the tests below."""
    told = await answer(library, COST)
    assert (told["degraded"], told["found"]) == ([], True)


async def test_a_slow_vector_leg_is_left_behind(library: Services) -> None:
    """R11.1, 001.16.1 What the words have found stands."""
    library = slow_embeddings(library)
    check_left_out(await answer(library, f"{COST} (1)"), "vector")


async def test_every_part_of_a_question_leaves_its_vector_leg_behind(library: Services) -> None:
    """R11.1, R6.1 They wait for the same call of the model: that one no longer does harms no other."""
    library = slow_embeddings(library)
    told = await answer(library, "¿Cuánto costó la reparación del puente y quién es el directeur de la bibliothèque?")
    assert {"vector", "time"} <= set(told["degraded"])
    assert {"puente.md", "bibliotheque.md"} <= set(filenames(told["sources"]))


async def test_a_slow_full_text_leg_is_left_behind(library: Services, store: SlowStore) -> None:
    """R11.1, 001.16.2"""
    store.slow = frozenset({"fulltext"})
    check_left_out(await answer(library, f"{COST} (2)", retrieval={"strategy": "hybrid"}), "fulltext")


async def test_a_slow_reranker_is_left_behind(library: Services) -> None:
    """R11.1, 001.16.3"""
    library = with_parts(library, reranker=SlowReranker())
    check_left_out(await answer(library, COST), "rerank")


async def test_a_slow_judge_leaves_time_to_the_next(library: Services) -> None:
    """R11.1, R5.2 The bundled reranker stands in for it: only that time lacked is told."""
    slow = SlowReranker()
    library = with_parts(library, reranker=FallbackReranker(slow, BundledReranker()))
    check_left_out(await answer(library, COST))
    assert slow.asked == 1


async def test_slow_causal_chains_are_left_behind(library: Services, store: SlowStore) -> None:
    """R11.1, R7.2"""
    library = with_parts(library, graph=SlowGraph(store))
    check_left_out(await answer(library, CAUSE), "traverse")


async def test_passages_that_can_not_grow_in_time_are_read_as_they_are(library: Services, store: SlowStore) -> None:
    """R11.1, 001.16.5"""
    store.slow = frozenset({"expand"})
    check_left_out(await answer(library, COST), "expand")


async def test_where_nothing_is_found_in_time_it_is_an_error(library: Services, store: SlowStore) -> None:
    """R11.1, 001.16.7 And no «the documents hold no answer»."""
    library = slow_embeddings(library)
    store.slow = frozenset({"fulltext"})
    with pytest.raises(OutOfTime):
        await answer(library, f"{COST} (3)")


async def test_who_has_no_deadline_waits(library: Services) -> None:
    """R11.1 Jobs and the command line: nothing is left out for lack of time, however long it takes."""
    library = with_parts(library, reranker=SlowReranker())
    asking = asyncio.create_task(ask(library, COST))
    await asyncio.wait({asking}, timeout=PREPARATION_SECONDS + 1)
    assert not asking.done()
    asking.cancel()
    await asyncio.wait({asking})


async def test_high_load_makes_a_search_simpler(library: Services) -> None:
    """001.14.8 No model, no graph, then full text alone; it is answered, and told."""
    slow = SlowReranker()
    library = with_parts(library, reranker=slow, refiner=AskedForNothing())
    simpler = await answer(library, CAUSE, slot=Slot(Effort.SIMPLER))
    simplest = await answer(library, CAUSE, slot=Slot(Effort.SIMPLEST))
    assert simpler["degraded"] == ["graph", "load", "traverse"]
    assert simplest["degraded"] == ["graph", "rerank", "vector", "load", "traverse"]
    assert say("degraded_load", "es") in simplest["degraded_messages"]
    assert filenames(simplest["citations"])[0] == "puente.md"
    assert slow.asked == 0
    assert "traverse" not in stages(await ask(library, CAUSE, slot=Slot(Effort.SIMPLER)))


async def test_high_load_makes_a_search_without_an_answer_simpler(library: Services) -> None:
    """001.14.8"""
    library = with_parts(library, reranker=SlowReranker())
    counted = [REGISTRY.get_sample_value("causeway_degraded_total", {"stage": name}) for name in SIMPLEST]
    found = await library.retrieval.find(SearchRequest(COST), LOCAL_OWNER, effort=Effort.SIMPLEST)
    assert found.failed == SIMPLEST
    for name, before in zip(SIMPLEST, counted, strict=True):
        assert REGISTRY.get_sample_value("causeway_degraded_total", {"stage": name}) == (before or 0) + 1
    assert found.strategy == "fulltext"
    assert found.hits[0].chunk.document.filename == "puente.md"


async def test_a_place_is_left_when_the_answer_begins(library: Services) -> None:
    """R11.1 From then on it is its model's pace, or its reader's."""
    load = AdmissionControl(LoadLimits(max_searches=1), has_owners=False)
    seen: list[tuple[str, int]] = []
    async with load.slot(LOCAL_OWNER) as slot:
        context = Context(services=library, slot=slot)
        async with aclosing(stream_answer(graph, [HumanMessage(COST)], context)) as events:
            async for event in events:
                seen.append((event["event"], load.state().working))
    assert seen[0] == ("status", 1)
    assert {working for name, working in seen if name == "token"} == {0}


async def test_who_waits_for_a_model_has_no_place(library: Services) -> None:
    """R11.1, 001.14.7 To wait is no work: it holds nobody up."""
    load = AdmissionControl(LoadLimits(max_searches=1), has_owners=False)
    model = WatchingModel(responses=["La reparación costó 9.240 euros [1]."], load=load)
    library = with_parts(library, chat_models=(NamedModel("scripted", model),))
    async with load.slot(LOCAL_OWNER) as slot:
        await ask(library, COST, slot=slot)
    assert model.working == [0]

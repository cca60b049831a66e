"""What a search has done so far, at every moment of it."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import DatabaseUnavailable
from graphrag.models import Collection, Hit, Intent, TransformedQuery
from graphrag.retrieval.hybrid import QueryCache
from graphrag.retrieval.query import STAGES, Leg, Trace
from graphrag.testing.in_memory_store import InMemoryStore
from tests.factories import make_hit, make_query
from tests.graphrag.retrieval.test_hybrid import Bench, make_bench

QUERY = TransformedQuery("¿Qué compresor falló?", "es", Intent.FACTUAL)


class NoVectors(InMemoryStore):
    async def search_vectors(self, collection: Collection, vector: Sequence[float], **options: Any) -> list[Hit]:
        raise DatabaseUnavailable("down, on purpose")


async def retrieve(bench: Bench, trace: Trace, cache: QueryCache | None = None, **config: Any) -> list[Hit]:
    found = await (cache or QueryCache(0)).retrieve(
        make_query(QUERY, bench.collection, model=bench.model, trace=trace, **config), store=bench.store
    )
    return found.hits


def test_at_first_everything_is_missing_that_is_wanted(registry: EmbeddingRegistry) -> None:
    """R9.2"""
    trace = Trace()
    assert trace.missing == list(STAGES)
    assert trace.hits == []
    collection = Collection(uuid4(), "me", "notes", "bundled")
    trace.begin(make_query(QUERY, collection, model=registry.get("bundled"), rerank=False, graph=False))
    trace.understand(QUERY)
    assert trace.missing == ["fulltext", "vector", "fusion"]


def test_a_leg_has_ended_when_all_its_searches_have() -> None:
    """R9.2 of two parts of a question, and where one of them needs another leg too."""
    trace = Trace()
    trace.choose("fulltext", "keywords", ["fulltext"], searches=2)
    first, second, third = make_hit("uno"), make_hit("dos"), make_hit("tres")
    trace.end_leg(Leg("fulltext", "a", (), [first]))
    assert trace.missing[1] == "fulltext"
    assert trace.hits == [first]
    trace.add_legs(["vector"], "fulltext alone found nothing")
    trace.end_leg(Leg("fulltext", "b", (), []))
    assert trace.missing[1:3] == ["vector", "fusion"]
    trace.end_leg(Leg("vector", "b", (), [second, first, third]))
    assert "vector" not in trace.missing
    assert [hit.chunk for hit in trace.hits] == [first.chunk, second.chunk, third.chunk]


def test_the_later_ranking_counts() -> None:
    """R9.2"""
    trace, fused, reranked, led = Trace(), [make_hit()], [make_hit()], [make_hit()]
    for hits, stage in ((fused, "fusion"), (reranked, "rerank"), (led, "graph")):
        trace.end(stage, hits)
        assert trace.hits == hits
    assert trace.missing == ["transform", "fulltext", "vector"]


async def test_what_failed_has_ended(registry: EmbeddingRegistry) -> None:
    """R4.1, R9.2 and says by its code how."""
    trace = Trace()
    bench = await make_bench(NoVectors(), registry.get("bundled"))
    hits = await retrieve(bench, trace, strategy="hybrid")
    assert {leg.name: leg.failure for leg in trace.legs} == {"fulltext": "", "vector": "database_unavailable"}
    assert trace.rankings == {"fusion": hits}
    assert trace.missing == ["transform", "rerank", "graph"]


@pytest.mark.parametrize("is_detailed", [True, False])
async def test_the_query_cache_saves_the_legs_unless_somebody_looks(
    registry: EmbeddingRegistry, is_detailed: bool
) -> None:
    """R4.9, R9.2 the result is the same."""
    bench, cache = await make_bench(InMemoryStore(), registry.get("bundled")), QueryCache(300)
    first, second = Trace(), Trace(is_detailed=is_detailed)
    hits = await retrieve(bench, first, cache)
    assert await retrieve(bench, second, cache) == hits
    assert bool(second.legs) == is_detailed
    assert second.missing == first.missing
    assert second.hits == hits

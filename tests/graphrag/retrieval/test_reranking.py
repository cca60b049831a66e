"""What is reranked, and what is left where the reranker fails."""

from collections.abc import Sequence

import pytest

from graphrag.config.settings import RetrievalConfig
from graphrag.models import Hit, Intent, TransformedQuery
from graphrag.protocols import Reranker
from graphrag.retrieval.query import Retrieval
from graphrag.testing.in_memory_store import InMemoryStore
from tests.factories import make_hit, make_pipeline, make_query

QUERY = TransformedQuery("¿Qué horno falló?", "es", Intent.FACTUAL)


class Reversing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        assert (query, language) == (QUERY.original, QUERY.language)
        return list(hits)[::-1][:top_k]


class Failing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise TimeoutError("down, on purpose")


async def rank(hits: Sequence[Hit], reranker: Reranker, config: RetrievalConfig) -> Retrieval:
    query = make_query(QUERY, hits[0].chunk.document, config=config)
    return await make_pipeline(InMemoryStore(), reranker=reranker).rerank(query, hits)


@pytest.mark.parametrize(
    ("candidates", "top_k", "expected"),
    [(4, 2, [3, 2, 1, 0, 4]), (2, 3, [2, 1, 0, 3, 4]), (9, 9, [4, 3, 2, 1, 0])],
)
async def test_candidates_are_judged_and_come_first(candidates: int, top_k: int, expected: list[int]) -> None:
    """R5.1, R4.10 never fewer are judged than are asked for."""
    hits = [make_hit() for _ in range(5)]
    config = RetrievalConfig(rerank_candidates=candidates, top_k=top_k)
    found = await rank(hits, Reversing(), config)
    assert found == Retrieval([hits[index] for index in expected])


async def test_a_failure_leaves_the_order_and_says_so() -> None:
    """R5.2, R11.1"""
    hits = [make_hit() for _ in range(5)]
    config = RetrievalConfig(rerank_candidates=4, top_k=2)
    assert await rank(hits, Failing(), config) == Retrieval(hits, ("rerank",))

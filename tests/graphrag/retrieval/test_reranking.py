"""What is reranked, and what is left where the reranker fails."""

from collections.abc import Sequence

import pytest

from graphrag.models import Hit, Intent, TransformedQuery
from graphrag.retrieval.hybrid import Retrieval
from graphrag.retrieval.reranking import rerank
from tests.factories import make_hit

QUERY = TransformedQuery("¿Qué horno falló?", "es", Intent.FACTUAL)


class Reversing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        assert (query, language) == (QUERY.original, QUERY.language)
        return list(hits)[::-1][:top_k]


class Failing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise TimeoutError("down, on purpose")


@pytest.mark.parametrize(
    ("candidates", "top_k", "expected"), [(4, 2, [3, 2]), (2, 3, [2, 1, 0]), (9, 9, [4, 3, 2, 1, 0])]
)
async def test_candidates_are_judged_and_the_best_kept(candidates: int, top_k: int, expected: list[int]) -> None:
    """R5.1, R4.10 never fewer are judged than are asked for."""
    hits = [make_hit() for _ in range(5)]
    found = await rerank(QUERY, hits, reranker=Reversing(), candidates=candidates, top_k=top_k)
    assert found == Retrieval([hits[index] for index in expected])


async def test_a_failure_leaves_the_order_and_says_so() -> None:
    """R5.2, R11.1"""
    hits = [make_hit() for _ in range(5)]
    assert await rerank(QUERY, hits, reranker=Failing(), candidates=4, top_k=2) == Retrieval(hits[:2], ("rerank",))

"""Rerankers that stand in for each other."""

from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from graphrag.models import Hit
from graphrag.rerankers import FallbackReranker
from tests.factories import make_hit

HITS = [make_hit("a", 0.9), make_hit("b", 0.5), make_hit("c", 0.1)]


class Reversing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        assert (query, language) == ("horno", "es")
        return list(hits)[::-1][:top_k]


class Failing:
    def __init__(self, cause: str = "down, on purpose") -> None:
        self.cause = cause

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise TimeoutError(self.cause)


class Unneeded:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise AssertionError("nobody was to ask this one")


async def rerank(*rerankers: Reversing | Failing | Unneeded) -> list[Hit]:
    return await FallbackReranker(*rerankers).rerank("horno", HITS, language="es", top_k=2)


async def test_the_first_that_answers_decides() -> None:
    """R5.1 The one after it is not asked."""
    assert await rerank(Reversing(), Unneeded()) == [HITS[2], HITS[1]]


async def test_the_next_one_stands_in() -> None:
    """R5.1, R11.1 And it is written down that it did."""
    with capture_logs() as logged:
        assert await rerank(Failing(), Failing(), Reversing()) == [HITS[2], HITS[1]]
    assert [(entry["log_level"], entry["reranker"]) for entry in logged] == [("warning", "Failing")] * 2


async def test_the_last_failure_is_told() -> None:
    """R5.2 What retrieves then keeps the order of the search."""
    with pytest.raises(TimeoutError, match="second"):
        await rerank(Failing("first"), Failing("second"))

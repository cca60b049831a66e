"""Rerankers that stand in for each other."""

from collections.abc import Sequence

from graphrag.deadline import within
from graphrag.models import Hit
from graphrag.protocols import Reranker
from graphrag.telemetry import count_fallback, log


class FallbackReranker:
    """The first of its rerankers that answers; what the last one raises is raised."""

    def __init__(self, *rerankers: Reranker) -> None:
        *self._first, self._last = rerankers

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        for reranker in self._first:
            try:
                async with within(type(reranker).__name__):
                    return await reranker.rerank(query, hits, language=language, top_k=top_k)
            except Exception as exc:  # a reranker may be anybody's
                log.warning("reranker failed, the next one judges", reranker=type(reranker).__name__, error=exc)
                count_fallback("reranker")
        return await self._last.rerank(query, hits, language=language, top_k=top_k)

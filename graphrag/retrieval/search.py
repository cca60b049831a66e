"""The whole of retrieval: a question in, hits out, with what was done to find them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.models import EVERYTHING, Collection, Filters, Hit, Strategy, TransformedQuery
from graphrag.protocols import ChunkStore, Reranker
from graphrag.retrieval import hybrid, reranking
from graphrag.retrieval.hybrid import Retrieval
from graphrag.retrieval.named_files import each_file_first
from graphrag.retrieval.query_cache import QueryCache
from graphrag.retrieval.query_transformation import transform
from graphrag.settings import RetrievalConfig


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: list[Hit]
    failed: tuple[str, ...]  # what was done without: fulltext, vector, rerank
    strategy: Strategy
    warnings: tuple[str, ...]
    config: RetrievalConfig


async def search(
    question: str,
    *,
    store: ChunkStore,
    collection: Collection,
    model: EmbeddingModel,
    reranker: Reranker,
    config: RetrievalConfig,
    filters: Filters = EVERYTHING,
    offset: int = 0,
    min_score: float = 0.0,
    cache: QueryCache | None = None,
) -> SearchResult:
    """`config.top_k` hits from `offset` on, of those that score `min_score` or more. Raises RetrievalUnavailable."""
    query = await asyncio.to_thread(transform, question)
    # No deeper than without an offset where that is deep enough: all pages are then cut from the same ranking.
    depth = max(config.candidates_per_leg, offset + config.top_k)
    retrieve = cache.retrieve if cache else hybrid.retrieve
    found = await retrieve(
        query,
        store=store,
        collection=collection,
        model=model,
        config=config.model_copy(update={"candidates_per_leg": depth}),
        filters=filters,
    )
    ranked = await rank(query, found.hits, files=found.files, reranker=reranker, config=config)
    hits = [hit for hit in ranked.hits if hit.score >= min_score]
    return SearchResult(
        hits[offset : offset + config.top_k], (*found.failed, *ranked.failed), found.strategy, found.warnings, config
    )


async def rank(
    query: TransformedQuery, hits: Sequence[Hit], *, files: Sequence[str], reranker: Reranker, config: RetrievalConfig
) -> Retrieval:
    """All the hits: first those that the reranker judged, in its order; of each of the files one at the very first."""
    if not config.rerank:
        return Retrieval(each_file_first(hits, files))
    judged = max(config.rerank_candidates, config.top_k)
    ranked = await reranking.rerank(query, hits[:judged], reranker=reranker)
    return Retrieval(each_file_first([*ranked.hits, *hits[judged:]], files), ranked.failed)

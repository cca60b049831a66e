"""The whole of retrieval: a question in, hits out, with what was done to find them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.deadline import lacks_time, within
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError
from graphrag.models import EVERYTHING, Collection, Filters, Hit, Strategy, TransformedQuery
from graphrag.protocols import ChunkStore, GraphStore, Reranker, Retriever
from graphrag.query_transformation.transformation import transform
from graphrag.retrieval import federated, reranking
from graphrag.retrieval.association import associate, leads_on
from graphrag.retrieval.hybrid import Retrieval
from graphrag.retrieval.named_files import each_file_first
from graphrag.retrieval.named_files import within as within_files
from graphrag.retrieval.query_cache import UNCACHED, QueryCache
from graphrag.retrieval.trace import Trace
from graphrag.settings import RetrievalConfig
from graphrag.telemetry import count_results, log, stage


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: list[Hit]
    failed: tuple[str, ...]  # what was done without: fulltext, vector, chunkenizer, rerank, graph; and why: time, load
    strategy: Strategy
    warnings: tuple[str, ...]
    config: RetrievalConfig


async def search(
    question: str,
    *,
    store: ChunkStore,
    graph: GraphStore,
    collection: Collection,
    model: EmbeddingModel,
    reranker: Reranker,
    config: RetrievalConfig,
    filters: Filters = EVERYTHING,
    offset: int = 0,
    min_score: float = 0.0,
    cache: QueryCache = UNCACHED,
    retriever: Retriever | None = None,
    trace: Trace | None = None,
) -> SearchResult:
    """`config.top_k` hits from `offset` on, of those that score `min_score` or more. Raises RetrievalUnavailable."""
    trace = trace or Trace()
    trace.begin(config, model.id)
    with stage("transform"):
        query = await asyncio.to_thread(transform, question)
    trace.understand(query)
    # No deeper than without an offset where that is deep enough: all pages are then cut from the same ranking.
    depth = max(config.candidates_per_leg, offset + config.top_k)
    found = await federated.retrieve(
        query,
        retriever=retriever,
        cache=cache,
        store=store,
        collection=collection,
        model=model,
        config=config.model_copy(update={"candidates_per_leg": depth}),
        filters=filters,
        trace=trace,
    )
    ranked = await rank(query, found.hits, files=found.files, reranker=reranker, config=config)
    trace.end("rerank", ranked.hits)
    scope = within_files(filters, found.files)
    led = await follow_names(query, ranked.hits, graph=graph, collection=collection, config=config, filters=scope)
    trace.end("graph", led.hits)
    hits = page(led.hits, config, offset=offset, min_score=min_score)
    failed = (*found.failed, *ranked.failed, *led.failed, *lacks_time())
    return SearchResult(hits, failed, found.strategy, found.warnings, config)


def page(hits: Sequence[Hit], config: RetrievalConfig, *, offset: int, min_score: float) -> list[Hit]:
    return [hit for hit in hits if hit.score >= min_score][offset : offset + config.top_k]


async def rank(
    query: TransformedQuery, hits: Sequence[Hit], *, files: Sequence[str], reranker: Reranker, config: RetrievalConfig
) -> Retrieval:
    """All the hits: first those that the reranker judged, in its order; of each of the files one at the very first."""
    if not config.rerank:
        return Retrieval(each_file_first(hits, files))
    judged = max(config.rerank_candidates, config.top_k)
    ranked = await reranking.rerank(query, hits[:judged], reranker=reranker)
    return Retrieval(each_file_first([*ranked.hits, *hits[judged:]], files), ranked.failed)


async def follow_names(
    query: TransformedQuery,
    hits: Sequence[Hit],
    *,
    graph: GraphStore,
    collection: Collection,
    config: RetrievalConfig,
    filters: Filters = EVERYTHING,
) -> Retrieval:
    """The ranked hits, and for a question that needs more than one of them what they lead to."""
    if not (config.graph and leads_on(query, hits)):
        return Retrieval(list(hits))
    try:
        with stage("associate"):
            async with within("graph"):
                led = await associate(query, hits, graph=graph, collection=collection, filters=filters)
        count_results("associate", len(led))
        return Retrieval(led)
    except CausewayError as exc:
        log.warning("graph failed, searched without", error=exc)
        return Retrieval(list(hits), ("graph",))

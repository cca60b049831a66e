"""The retrieval pipeline: from a question to ranked hits."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphrag.config.settings import RetrievalConfig
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError
from graphrag.models import EVERYTHING, Collection, Filters, Hit, Strategy, TransformedQuery
from graphrag.observability.telemetry import count_degraded, count_results, log, stage
from graphrag.protocols import ChunkStore, GraphStore, Reranker, Retriever
from graphrag.query_transformation.transformation import check_question, transform
from graphrag.rerankers.mmr import one_per_document_first
from graphrag.resilience.deadline import lacks_time, within
from graphrag.resilience.load_shedding import Effort
from graphrag.retrieval import federated
from graphrag.retrieval.graph_expansion import expand_by_graph, leads_on
from graphrag.retrieval.hybrid import Retrieval
from graphrag.retrieval.named_files import each_file_first
from graphrag.retrieval.named_files import within as within_files
from graphrag.retrieval.query_cache import UNCACHED, QueryCache
from graphrag.retrieval.trace import Trace
from graphrag.services import Services

FEWER_CANDIDATES = 25
HIGH_LOAD = "load"  # among the names of what was done without: why


def simplified(config: RetrievalConfig, effort: Effort) -> tuple[RetrievalConfig, tuple[str, ...]]:
    """And the names of what is left out; a search by meaning alone, where it was asked for, stays one."""
    if effort is Effort.FULL:
        return config, ()
    fewer = min(config.candidates_per_leg, FEWER_CANDIDATES)
    changes: dict[str, Any] = {
        "graph": False,
        "candidates_per_leg": fewer,
        "rerank_candidates": min(config.rerank_candidates, fewer),
    }
    left_out = ["graph"] if config.graph else []
    if effort is Effort.SIMPLEST:
        changes |= {"rerank": False}
        left_out += ["rerank"] if config.rerank else []
        if config.strategy in ("auto", "hybrid"):
            changes |= {"strategy": "fulltext"}
            left_out.append("vector")
    return config.model_copy(update=changes), (*left_out, HIGH_LOAD)


async def rerank(query: TransformedQuery, hits: Sequence[Hit], *, reranker: Reranker) -> Retrieval:
    """All that the reranker keeps of them, spread over their documents. Where it fails, the order stays."""
    with stage("rerank"):
        try:
            async with within("rerank"):
                ranked = await reranker.rerank(query.standalone, hits, language=query.language, top_k=len(hits))
            count_results("rerank", len(ranked))
            return Retrieval(one_per_document_first(ranked))
        except Exception as exc:  # a reranker may be anybody's
            log.warning("reranker failed, done without", error=exc)
            return Retrieval(list(hits), ("rerank",))


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
    ranked = await rerank(query, hits[:judged], reranker=reranker)
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
                led = await expand_by_graph(query, hits, graph=graph, collection=collection, filters=filters)
        count_results("associate", len(led))
        return Retrieval(led)
    except CausewayError as exc:
        log.warning("graph failed, searched without", error=exc)
        return Retrieval(list(hits), ("graph",))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    question: str
    collection: str | None = None  # its name; None: the default one
    overrides: Mapping[str, Any] = field(default_factory=dict)  # of RetrievalConfig: {"top_k": 5}
    filters: Filters = EVERYTHING
    offset: int = 0
    min_score: float = 0.0


async def find(
    request: SearchRequest,
    *,
    services: Services,
    owner_id: str,
    effort: Effort = Effort.FULL,
    trace: Trace | None = None,
) -> SearchResult:
    """With a warning for each value that is not used.

    Raises InvalidQuestion, CollectionNotFound, EmbeddingModelUnavailable, RetrievalUnavailable or OutOfTime.
    """
    question = check_question(request.question, max_chars=services.settings.max_question_chars)
    collection = await services.collection(owner_id, request.collection)
    config, ignored = services.retrieval_config(collection, request.overrides)
    config, left_out = simplified(config, effort)
    found = await search(
        question,
        store=services.store,
        graph=services.graph,
        collection=collection,
        model=await services.embedding_model(collection),
        reranker=services.reranker_of(collection, effort),
        config=config,
        filters=request.filters,
        offset=request.offset,
        min_score=request.min_score,
        cache=services.query_cache,
        retriever=services.retriever,
        trace=trace,
    )
    failed = (*found.failed, *left_out)
    count_degraded(failed)
    return replace(found, warnings=(*ignored, *found.warnings), failed=failed)

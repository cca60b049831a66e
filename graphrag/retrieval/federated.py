"""A collection and another service's documents, searched at once. That one may fail: what the collection has stands."""

import asyncio
from dataclasses import replace

from graphrag.config.settings import RetrievalConfig
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError
from graphrag.models import ELSEWHERE, EVERYTHING, UNDATED, Collection, Document, Filters, TransformedQuery
from graphrag.observability.telemetry import count_results, log, stage
from graphrag.protocols import ChunkStore, Retriever
from graphrag.resilience.cancellation import cancel_surely
from graphrag.resilience.deadline import within
from graphrag.retrieval.filters import lets_through
from graphrag.retrieval.hybrid import Retrieval, fuse_equally
from graphrag.retrieval.named_files import within as within_files
from graphrag.retrieval.query_cache import QueryCache
from graphrag.retrieval.trace import Leg, Trace


async def retrieve(
    query: TransformedQuery,
    *,
    retriever: Retriever | None,
    cache: QueryCache,
    store: ChunkStore,
    collection: Collection,
    model: EmbeddingModel,
    config: RetrievalConfig,
    filters: Filters = EVERYTHING,
    trace: Trace | None = None,
) -> Retrieval:
    """As `hybrid.retrieve`. The other service is asked whatever the strategy, and each time: when its documents change
    or go, nobody tells us.
    """
    trace = trace or Trace()
    here = cache.retrieve(
        query, store=store, collection=collection, model=model, config=config, filters=filters, trace=trace
    )
    if retriever is None or not config.chunkenizer:
        return await here
    asking = asyncio.create_task(_ask(query, retriever, config, trace))
    try:
        return _join(await here, await asking, filters, trace)
    finally:
        cancel_surely(asking)


async def _ask(query: TransformedQuery, retriever: Retriever, config: RetrievalConfig, trace: Trace) -> Retrieval:
    with stage(ELSEWHERE):
        legs = await asyncio.gather(*(_leg(text, retriever, config.candidates) for text in query.searches))
    for leg in legs:
        trace.end_leg(leg)
    found = fuse_equally([leg.hits for leg in legs if leg.hits])
    count_results(ELSEWHERE, len(found))
    return Retrieval(found, (ELSEWHERE,) if any(leg.failure for leg in legs) else ())


async def _leg(text: str, retriever: Retriever, limit: int) -> Leg:
    try:
        async with within(ELSEWHERE):
            return Leg(ELSEWHERE, text, (), await retriever.retrieve(text, limit=limit))
    except Exception as exc:  # a retriever may be anybody's
        code = exc.code if isinstance(exc, CausewayError) else CausewayError.code
        log.warning("another service failed, searched without", service=ELSEWHERE, error=exc)
        return Leg(ELSEWHERE, text, (), [], code)


def _join(here: Retrieval, elsewhere: Retrieval, filters: Filters, trace: Trace) -> Retrieval:
    """By ranks, both counting the same: no score of one says anything about the other's. A document that both have
    counts as ours.
    """
    scope = within_files(filters, here.files)
    ours = {hit.chunk.document.id for hit in here.hits}
    others = [
        hit for hit in elsewhere.hits if hit.chunk.document.id not in ours and _may_be_read(hit.chunk.document, scope)
    ]
    hits = fuse_equally([ranking for ranking in (here.hits, others) if ranking])
    trace.end("fusion", hits)
    there = {repr(hit.chunk.document.filename).lower() for hit in others}  # as a warning names a file that is not here
    warnings = [warning for warning in here.warnings if not any(name in warning.lower() for name in there)]
    return replace(here, hits=hits, failed=(*here.failed, *elsewhere.failed), warnings=tuple(warnings))


def _may_be_read(document: Document, filters: Filters) -> bool:
    is_dated = document.created_at != UNDATED
    return lets_through(filters, document) and (is_dated or not (filters.created_from or filters.created_until))

"""Search in a collection and in another service at once; where that service fails, the collection's hits remain."""

import asyncio
from dataclasses import replace

from graphrag.errors import CausewayError
from graphrag.models import ELSEWHERE, UNDATED, Document, Filters
from graphrag.observability.telemetry import count_results, log, stage
from graphrag.protocols import ChunkStore, Retriever
from graphrag.resilience.cancellation import cancel_surely
from graphrag.resilience.deadline import within
from graphrag.retrieval.filters import lets_through
from graphrag.retrieval.hybrid import QueryCache, fuse_equally
from graphrag.retrieval.query import Leg, Query, Retrieval


async def retrieve(query: Query, *, store: ChunkStore, cache: QueryCache, retriever: Retriever | None) -> Retrieval:
    """Search as `hybrid.retrieve` does, and another service beside it.

    That service is asked whatever the strategy, and each time: no event tells when its documents change.
    """
    here = cache.retrieve(query, store=store)
    if retriever is None or not query.config.chunkenizer:
        return await here
    asking = asyncio.create_task(_ask(query, retriever))
    try:
        return _join(query, await here, await asking)
    finally:
        cancel_surely(asking)


async def _ask(query: Query, retriever: Retriever) -> Retrieval:
    limit = query.config.candidates
    with stage(ELSEWHERE):
        legs = await asyncio.gather(*(_leg(text, retriever, limit) for text in query.transformed.searches))
    for leg in legs:
        query.trace.end_leg(leg)
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


def _join(query: Query, here: Retrieval, elsewhere: Retrieval) -> Retrieval:
    """Fuse by ranks with equal weights, as the scores of two services can't be compared.

    A document that both have counts as ours.
    """
    scope = query.within(here.files).filters
    ours = {hit.chunk.document.id for hit in here.hits}
    others = [
        hit for hit in elsewhere.hits if hit.chunk.document.id not in ours and _may_be_read(hit.chunk.document, scope)
    ]
    hits = fuse_equally([ranking for ranking in (here.hits, others) if ranking])
    query.trace.end("fusion", hits)
    there = {repr(hit.chunk.document.filename).lower() for hit in others}  # as a warning names a file that is not here
    warnings = [warning for warning in here.warnings if not any(name in warning.lower() for name in there)]
    return replace(here, hits=hits, failed=(*here.failed, *elsewhere.failed), warnings=tuple(warnings))


def _may_be_read(document: Document, filters: Filters) -> bool:
    is_dated = document.created_at != UNDATED
    return lets_through(filters, document) and (is_dated or not (filters.created_from or filters.created_until))

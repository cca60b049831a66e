"""Cache of recent search results, per process; a new revision of the collection invalidates them."""

import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import UTC, datetime

from cachetools import TTLCache

from graphrag.models import Hit
from graphrag.observability.telemetry import count_lookups, log
from graphrag.protocols import ChunkStore
from graphrag.retrieval import hybrid
from graphrag.retrieval.query import Query, Retrieval

MOST_HITS = 10_000  # in all results together: some 20 MB
LATER_STAGES = {
    "chunkenizer",
    "top_k",
    "candidates_per_leg",
    "rerank",
    "rerank_candidates",
    "window_sentences",
    "least_share",
    "parent_chars",
}


class QueryCache:
    """Results by owner and revision of the collection, which callers must have read just now."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_on = seconds > 0
        self._results: TTLCache[Hashable, Retrieval] = TTLCache(
            MOST_HITS, seconds, timer=clock, getsizeof=lambda result: 1 + len(result.hits)
        )

    async def retrieve(self, query: Query, *, store: ChunkStore) -> Retrieval:
        """Search as `hybrid.retrieve` does, or return what it found before.

        A degraded result isn't stored; a detailed trace is always searched anew.
        """
        key, trace = _key(query), query.trace
        known = self._results.get(key)
        if self._is_on:
            count_lookups("query", hits=int(known is not None), misses=int(known is None))
        if known is not None and not trace.is_detailed:
            log.info("search", cached=True, strategy=known.strategy)
            live = [hit for hit in known.hits if not _has_expired(hit)]
            trace.find(live, known.files)
            hybrid.count_found(result := replace(known, hits=live))
            return result
        found = await hybrid.retrieve(query, store=store)
        if self._is_on and not found.failed:
            self._results[key] = replace(found, hits=list(found.hits))
        return found


UNCACHED = QueryCache(0)


def _key(query: Query) -> Hashable:
    """Return all that a result depends on, without what only later stages read, so that chat and search share it."""
    collection, config = query.collection, query.config
    settings = (*config.model_dump(exclude=LATER_STAGES).values(), config.candidates)
    by_context = collection.ingestion_config.get("contextual_embeddings")  # which changes without a new revision
    asked = (query.transformed, query.filters, *settings)
    return collection.owner_id, collection.id, collection.revision, query.model.id, by_context, asked


def _has_expired(hit: Hit) -> bool:
    expires_at = hit.chunk.document.expires_at
    return expires_at is not None and expires_at <= datetime.now(UTC)

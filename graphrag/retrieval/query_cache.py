"""What was found a moment ago, kept in this process until the collection changes."""

import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import UTC, datetime

from cachetools import TTLCache

from graphrag.config.settings import RetrievalConfig
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.models import EVERYTHING, Collection, Filters, Hit, TransformedQuery
from graphrag.observability.telemetry import count_lookups, log
from graphrag.protocols import ChunkStore
from graphrag.retrieval import hybrid
from graphrag.retrieval.hybrid import Retrieval
from graphrag.retrieval.trace import Trace

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
    """A result is one owner's, and of one revision of the collection: whoever asks must have read that afresh."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_on = seconds > 0
        self._results: TTLCache[Hashable, Retrieval] = TTLCache(
            MOST_HITS, seconds, timer=clock, getsizeof=lambda result: 1 + len(result.hits)
        )

    async def retrieve(
        self,
        query: TransformedQuery,
        *,
        store: ChunkStore,
        collection: Collection,
        model: EmbeddingModel,
        config: RetrievalConfig,
        filters: Filters = EVERYTHING,
        trace: Trace | None = None,
    ) -> Retrieval:
        """As hybrid.retrieve. What failed in part is not kept; what is looked at in detail is found anew."""
        trace = trace or Trace()
        key = _key(query, collection, model, config, filters)
        known = self._results.get(key)
        if self._is_on:
            count_lookups("query", hits=int(known is not None), misses=int(known is None))
        if known is not None and not trace.is_detailed:
            log.info("search", cached=True, strategy=known.strategy)
            live = [hit for hit in known.hits if not _has_expired(hit)]
            trace.find(live, known.files)
            hybrid.count_found(result := replace(known, hits=live))
            return result
        found = await hybrid.retrieve(
            query, store=store, collection=collection, model=model, config=config, filters=filters, trace=trace
        )
        if self._is_on and not found.failed:
            self._results[key] = replace(found, hits=list(found.hits))
        return found


UNCACHED = QueryCache(0)


def _key(
    query: TransformedQuery, collection: Collection, model: EmbeddingModel, config: RetrievalConfig, filters: Filters
) -> Hashable:
    """All that a result depends on; what only later stages read is left out, so that chat and search share it."""
    asked = (query, filters, *config.model_dump(exclude=LATER_STAGES).values(), config.candidates)
    by_context = collection.ingestion_config.get("contextual_embeddings")  # which changes without a new revision
    return collection.owner_id, collection.id, collection.revision, model.id, by_context, asked


def _has_expired(hit: Hit) -> bool:
    expires_at = hit.chunk.document.expires_at
    return expires_at is not None and expires_at <= datetime.now(UTC)

"""A search as the doors ask for it: the one way from a question and an owner to hits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graphrag.load import Effort
from graphrag.models import EVERYTHING, Filters
from graphrag.query_transformation.checking import check_question
from graphrag.retrieval.search import SearchResult, search
from graphrag.retrieval.simplification import simplified
from graphrag.retrieval.trace import Trace
from graphrag.services import Services
from graphrag.telemetry import count_degraded


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

"""One query searched for as users do, and how its documents rank."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.models import Collection, Document
from graphrag.rehearsal import rehearsal
from graphrag.retrieval.search import SearchResult, search
from graphrag.services import Services
from graphrag.settings import RetrievalConfig

DEEPEST = 10  # the last place that a metric looks at
MOST_CHUNKS = 1000  # of RetrievalConfig.top_k
Name = Callable[[Document], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query found."""

    ranking: list[str]  # documents by their best chunk
    milliseconds: float
    failed: tuple[str, ...]


async def rank_documents(
    question: str,
    *,
    services: Services,
    collection: Collection,
    model: EmbeddingModel,
    config: RetrievalConfig,
    name: Name,
) -> Answer:
    """Documents may share the places of their chunks: then it is searched deeper, which nobody who asks waits for."""
    started = perf_counter()
    found = await _search(question, services=services, collection=collection, model=model, config=config)
    milliseconds = (perf_counter() - started) * 1000
    ranking = _documents(found, name)
    while len(ranking) < DEEPEST and len(found.hits) == config.top_k < MOST_CHUNKS:
        config = config.model_copy(update={"top_k": min(2 * config.top_k, MOST_CHUNKS)})
        deeper = await _search(question, services=services, collection=collection, model=model, config=config)
        ranking = list(dict.fromkeys([*ranking, *_documents(deeper, name)]))
        found = replace(deeper, failed=(*found.failed, *deeper.failed))
    return Answer(ranking, milliseconds, found.failed)


async def _search(
    question: str, *, services: Services, collection: Collection, model: EmbeddingModel, config: RetrievalConfig
) -> SearchResult:
    """Without the cache of results: it is the search that is measured."""
    with rehearsal():
        return await search(
            question,
            store=services.store,
            graph=services.graph,
            collection=collection,
            model=model,
            reranker=services.reranker_of(collection),
            config=config,
        )


def _documents(found: SearchResult, name: Name) -> list[str]:
    return list(dict.fromkeys(name(hit.chunk.document) for hit in found.hits))

"""Full text and vectors, searched at once and fused. Either may fail; the other's hits stand."""

import asyncio
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass

from graphrag import language as languages
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError, RetrievalUnavailable
from graphrag.models import EVERYTHING, Collection, Filters, Hit, TransformedQuery
from graphrag.protocols import ChunkStore
from graphrag.retrieval.fusion import reciprocal_rank_fusion, weighted_sum
from graphrag.settings import RetrievalConfig
from graphrag.telemetry import log, stage

_PHRASE = re.compile(r'"([^"]{2,})"|«([^»]{2,})»|“([^”]{2,})”')


@dataclass(frozen=True, slots=True)
class Retrieval:
    hits: list[Hit]
    failed: tuple[str, ...] = ()  # what was done without: fulltext, vector, rerank


async def retrieve(
    query: TransformedQuery,
    *,
    store: ChunkStore,
    collection: Collection,
    model: EmbeddingModel,
    config: RetrievalConfig,
    filters: Filters = EVERYTHING,
) -> Retrieval:
    """Candidates for the question and its sub-queries, best first. Raises RetrievalUnavailable where both legs fail."""
    limit = max(config.candidates_per_leg, config.top_k)
    embedding = asyncio.create_task(model.embed(query.searches))  # one call for all the parts
    weights = {"fulltext": 1 - model.fusion_weight, "vector": model.fusion_weight}
    found = await asyncio.gather(
        *(
            _search(
                {
                    "fulltext": _fulltext(text, query.language, store, collection, limit),
                    "vector": _vector(embedding, number, store, collection, limit),
                },
                weights=weights,
                limit=limit,
            )
            for number, text in enumerate(query.searches)
        )
    )
    failed = tuple(sorted({leg for retrieval in found for leg in retrieval.failed}))
    if len(found) == 1:
        return found[0]
    # Every part of the question counts the same: the first places of each come first.
    rankings = {str(number): retrieval.hits for number, retrieval in enumerate(found)}
    return Retrieval(reciprocal_rank_fusion(rankings, weights=dict.fromkeys(rankings, 1.0))[:limit], failed)


async def _search(legs: Mapping[str, Awaitable[list[Hit]]], *, weights: Mapping[str, float], limit: int) -> Retrieval:
    """Hits of one query, by the weighted sum of both legs; the weight belongs to the embedding model."""
    results = dict(zip(legs, await asyncio.gather(*legs.values(), return_exceptions=True), strict=True))
    rankings = {name: hits for name, hits in results.items() if isinstance(hits, list)}
    failures = {name: result for name, result in results.items() if isinstance(result, BaseException)}
    _raise_if_hopeless(failures, rankings)
    return Retrieval(weighted_sum(rankings, weights=weights)[:limit], tuple(failures))


def _raise_if_hopeless(failures: Mapping[str, BaseException], rankings: Mapping[str, Sequence[Hit]]) -> None:
    for name, failure in failures.items():
        if not isinstance(failure, CausewayError):
            raise failure
        log.warning("retrieval leg failed", leg=name, error=str(failure))
    if not rankings:
        causes = "; ".join(f"{name}: {failure}" for name, failure in failures.items())
        raise RetrievalUnavailable(f"No search is possible ({causes})") from next(iter(failures.values()))


async def _fulltext(text: str, language: str, store: ChunkStore, collection: Collection, limit: int) -> list[Hit]:
    phrases = ["".join(groups) for groups in _PHRASE.findall(text)]
    with stage("fulltext"):
        words = languages.content_words(text, language)
        return await store.search_fulltext(collection, words, phrases=phrases, limit=limit) if words else []


async def _vector(
    embedding: asyncio.Task[list[list[float]]], number: int, store: ChunkStore, collection: Collection, limit: int
) -> list[Hit]:
    with stage("vector"):
        vector = (await embedding)[number]
        return await store.search_vectors(collection, vector, limit=limit) if any(vector) else []

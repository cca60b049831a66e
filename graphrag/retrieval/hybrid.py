"""Full text and vectors, searched at once and fused. Either may fail; the other's hits stand."""

import asyncio
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass

from graphrag import language as languages
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError, RetrievalUnavailable
from graphrag.models import Collection, Hit, TransformedQuery
from graphrag.protocols import ChunkStore
from graphrag.retrieval.fusion import reciprocal_rank_fusion, weighted_sum
from graphrag.telemetry import log, stage

_PHRASE = re.compile(r'"([^"]{2,})"|«([^»]{2,})»|“([^”]{2,})”')


@dataclass(frozen=True, slots=True)
class Retrieval:
    hits: list[Hit]
    failed: tuple[str, ...] = ()  # the legs that are missing: fulltext, vector


async def retrieve(
    query: TransformedQuery, *, store: ChunkStore, collection: Collection, model: EmbeddingModel, limit: int
) -> Retrieval:
    """Candidates for the question and its sub-queries, best first. Raises RetrievalUnavailable where both legs fail."""
    found = await asyncio.gather(
        *(
            search(text, language=query.language, store=store, collection=collection, model=model, limit=limit)
            for text in query.searches
        )
    )
    failed = tuple(sorted({leg for retrieval in found for leg in retrieval.failed}))
    if len(found) == 1:
        return found[0]
    # Every part of the question counts the same: the first places of each come first.
    rankings = {str(number): retrieval.hits for number, retrieval in enumerate(found)}
    return Retrieval(reciprocal_rank_fusion(rankings, weights=dict.fromkeys(rankings, 1.0))[:limit], failed)


async def search(
    text: str, *, language: str, store: ChunkStore, collection: Collection, model: EmbeddingModel, limit: int
) -> Retrieval:
    """Hits of one query, by the weighted sum of both legs; the weight belongs to the embedding model."""
    legs: dict[str, Awaitable[list[Hit]]] = {
        "fulltext": _fulltext(text, language, store, collection, limit),
        "vector": _vector(text, store, collection, model, limit),
    }
    results = dict(zip(legs, await asyncio.gather(*legs.values(), return_exceptions=True), strict=True))
    rankings = {name: hits for name, hits in results.items() if isinstance(hits, list)}
    failures = {name: result for name, result in results.items() if isinstance(result, BaseException)}
    _raise_if_hopeless(failures, rankings)
    weights = {"fulltext": 1 - model.fusion_weight, "vector": model.fusion_weight}
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


async def _vector(text: str, store: ChunkStore, collection: Collection, model: EmbeddingModel, limit: int) -> list[Hit]:
    with stage("vector"):
        vector = (await model.embed([text]))[0]
        return await store.search_vectors(collection, vector, limit=limit) if any(vector) else []

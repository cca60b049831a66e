"""Diversity: a hit counts for less where its text was already said by one that is chosen."""

from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import OutOfTime, ProviderError
from graphrag.models import Hit
from graphrag.observability.telemetry import log
from graphrag.protocols import Reranker
from graphrag.resilience.deadline import within


def one_per_document_first(hits: Sequence[Hit]) -> list[Hit]:
    """All of them: each document's first, then the others, both in the order they came."""
    firsts: dict[UUID, Hit] = {}
    for hit in hits:
        firsts.setdefault(hit.chunk.document.id, hit)
    chosen = {hit.chunk.id for hit in firsts.values()}
    return [*firsts.values(), *(hit for hit in hits if hit.chunk.id not in chosen)]


class MMRReranker:
    """Any reranker with its order made diverse; `diversity` is from 0 (its own order) to 1 (only what is new)."""

    def __init__(self, reranker: Reranker, model: Callable[[], EmbeddingModel], *, diversity: float = 0.2) -> None:
        self._reranker = reranker
        self._model = model
        self._diversity = diversity

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        """Raises what the reranker raises; without vectors its order stands."""
        relevant = await self._reranker.rerank(query, hits, language=language, top_k=len(hits))
        if not relevant:
            return []
        try:
            async with within("diversity"):
                vectors = await self._model().embed([hit.chunk.content for hit in relevant])
        except (ProviderError, OutOfTime) as exc:
            log.warning("no vectors for diversity, order unchanged", error=exc)
            return relevant[:top_k]
        return mmr(relevant, vectors, diversity=self._diversity, top_k=top_k)


def mmr(hits: Sequence[Hit], vectors: Sequence[Sequence[float]], *, diversity: float, top_k: int) -> list[Hit]:
    """Hits, with the score that each was picked by."""
    picked = pick([hit.score for hit in hits], vectors, diversity=diversity, top_k=top_k)
    return [_scored(hits[index], score) for index, score in picked]


def pick(
    relevances: Sequence[float], vectors: Sequence[Sequence[float]], *, diversity: float, top_k: int
) -> list[tuple[int, float]]:
    """Pick indexes by maximal marginal relevance (Carbonell & Goldstein 1998), with their scores.

    Each pick is the best of those left by (1 - diversity) · its relevance + diversity · (1 - its similarity to the
    nearest one picked before). The scores are in [0, 1] and never rise from pick to pick: what is left only loses
    novelty.
    """
    order = sorted(range(len(vectors)), key=lambda index: -relevances[index])  # of equals the more relevant is picked
    relevance = np.array([relevances[index] for index in order])
    similarity = cosines([vectors[index] for index in order])
    nearest = np.zeros(len(order))
    left = np.ones(len(order), dtype=bool)
    picked = []
    for _ in order[:top_k]:
        scores = (1 - diversity) * relevance + diversity * (1 - nearest)
        best = int(np.argmax(np.where(left, scores, -1.0)))
        picked.append((order[best], float(scores[best])))
        left[best] = False
        nearest = np.maximum(nearest, similarity[best])
    return picked


def cosines(vectors: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Return the matrix of cosine similarities, from 0 to 1.

    A text without a known word has a zero vector and resembles nothing.
    """
    given = np.array(vectors, dtype=np.float64)
    lengths = np.linalg.norm(given, axis=-1, keepdims=True)
    unit = np.divide(given, lengths, out=np.zeros_like(given), where=lengths > 0)
    found: NDArray[np.float64] = unit @ unit.T
    return found.clip(0.0, 1.0)


def _scored(hit: Hit, score: float) -> Hit:
    return Hit(hit.chunk, score, {**hit.scores, "mmr": score})

"""From scores to hits: what the rerankers have in common."""

from collections.abc import Sequence

from graphrag.models import Hit


def with_text(hits: Sequence[Hit]) -> list[Hit]:
    """Those whose chunk holds more than white space."""
    return [hit for hit in hits if hit.chunk.content.strip()]


def ranked(hits: Sequence[Hit], scores: Sequence[float], *, top_k: int) -> list[Hit]:
    """The best first, ties in the order they came; scores of earlier stages stay beside "rerank"."""
    order = sorted(zip(hits, scores, strict=True), key=lambda pair: -pair[1])
    return [Hit(hit.chunk, score, {**hit.scores, "rerank": score}) for hit, score in order[:top_k]]

"""Stand-in."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import ProviderError


@dataclass(frozen=True, slots=True)
class FailedBatch:
    start: int
    end: int
    cause: str


async def embed_batches(
    texts: Sequence[str], model: EmbeddingModel, *, batch_size: int
) -> tuple[list[list[float] | None], list[FailedBatch]]:
    vectors: list[list[float] | None] = []
    failed = []
    for start in range(0, len(texts), batch_size):
        part = texts[start : start + batch_size]
        try:
            vectors += await model.embed(part)
        except ProviderError as exc:
            vectors += [None] * len(part)
            failed.append(FailedBatch(start, start + len(part), str(exc)))
    return vectors, failed

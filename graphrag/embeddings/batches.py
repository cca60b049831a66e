"""Many texts, batch by batch: a batch that fails stops no other."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import ProviderError
from graphrag.telemetry import log


@dataclass(frozen=True, slots=True)
class FailedBatch:
    indices: range  # of its texts among all
    cause: str


async def embed_batches(
    texts: Sequence[str], model: EmbeddingModel, *, batch_size: int = 100, max_concurrency: int = 4
) -> tuple[list[list[float] | None], list[FailedBatch]]:
    """A vector a text, in order, None for those of the failed batches, which are told."""
    batches = [range(start, min(start + batch_size, len(texts))) for start in range(0, len(texts), batch_size)]
    turns = asyncio.Semaphore(max_concurrency)

    async def embed(batch: range) -> list[list[float]] | FailedBatch:
        async with turns:
            try:
                return await model.embed([texts[index] for index in batch])
            except ProviderError as exc:
                log.warning("batch not embedded", model=model.id, texts=len(batch), error=exc)
                return FailedBatch(batch, str(exc))

    vectors: list[list[float] | None] = [None] * len(texts)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(embed(batch)) for batch in batches]
    results = [task.result() for task in tasks]
    for batch, result in zip(batches, results, strict=True):
        if not isinstance(result, FailedBatch):
            vectors[batch.start : batch.stop] = result
    return vectors, [result for result in results if isinstance(result, FailedBatch)]

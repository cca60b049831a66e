"""What a chat model would cost that looks for causal relations in files: they are read and chunked, and no more."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from graphrag.causal_graph.model_extraction import Estimate, ModelExtractor
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.pipeline import Pipeline, Prepared
from graphrag.ingestion.sources import read_file
from graphrag.models import Collection


async def estimate_relations(
    files: Sequence[Path],
    *,
    pipeline: Pipeline,
    extractor: ModelExtractor,
    collection: Collection,
    model: EmbeddingModel,
) -> Estimate:
    """Without what the model has said before. A file that can't be read costs nothing."""
    config = pipeline.settings.ingestion.overridden(collection.ingestion_config)[0]
    calls = tokens = 0
    for file in files:
        try:
            source = await asyncio.to_thread(read_file, file, max_bytes=pipeline.settings.max_file_bytes)
        except UnreadableDocument:
            continue
        prepared = await pipeline.read(source, collection, model, config)
        if isinstance(prepared, Prepared):
            cost = await extractor.estimate(prepared.chunks, owner_id=collection.owner_id)
            calls, tokens = calls + cost.calls, tokens + cost.tokens
    return Estimate(calls, tokens)

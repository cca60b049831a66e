"""Documents that are stored are chunked anew, one step after the other: ids and dates stay as they are."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.ingestion.library import Library
from graphrag.ingestion.loading import wait_for
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.sources import SourceText
from graphrag.ingestion_models import Ingestion, IngestionOutcome
from graphrag.models import Chunking, Collection, Document
from graphrag.telemetry import log

STEP_DOCUMENTS = 20
MOST_CHUNKS = 2**31 - 1  # the last index that the store knows


@dataclass(frozen=True, slots=True)
class Rechunking:
    library: Library
    pipeline: Pipeline
    collection: Collection
    model: EmbeddingModel

    async def rechunk(
        self, documents: Sequence[Document], *, chunking: Chunking
    ) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        """One outcome a document: from its file where that is kept, else from its stored text. Some worker must be at
        work. Raises DatabaseUnavailable, CollectionChanged.
        """
        for start in range(0, len(documents), STEP_DOCUMENTS):
            step = documents[start : start + STEP_DOCUMENTS]
            kept = {of.document_id for of in await self.library.ingestions.find(self.collection, [d.id for d in step])}
            texts = [await self._text(document, chunking) for document in step if document.id not in kept]
            for outcome in await self.pipeline.ingest(texts, collection=self.collection, model=self.model):
                yield outcome
            await self.library.restart(self.collection, [*kept], chunking=chunking)
            async for progress in wait_for(kept, library=self.library, collection=self.collection):
                yield progress
            log.info("documents chunked anew", done=start + len(step), total=len(documents), chunking=chunking)

    async def _text(self, document: Document, chunking: Chunking) -> SourceText:
        chunks = await self.library.store.read_chunks(self.collection, [(document.id, 0, MOST_CHUNKS)])
        return SourceText(
            document.source,
            "".join(chunk.content for chunk in chunks[document.id]),
            title=document.title,
            language=document.language,
            source_type=document.source_type,
            tags=document.tags,
            chunking=chunking,
            created_at=document.created_at,
            expires_at=document.expires_at,
            metadata=document.metadata,
        )

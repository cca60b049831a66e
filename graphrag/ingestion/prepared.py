"""A document's content before its embedding, and whoever prepares it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from uuid import UUID, uuid5

from graphrag.config.settings import IngestionConfig
from graphrag.embeddings.word_vectors import TokenModel
from graphrag.ingestion.chunking import ChunkSpan
from graphrag.ingestion.enrichment import Keyphrase
from graphrag.ingestion.sources import Source, document_id
from graphrag.models import Chunk, Chunking, Document
from graphrag.models.graph import ChunkGraph


@dataclass(frozen=True, slots=True)
class Preparation:
    """A document's content before its embedding: all but what its sender and its collection say of it."""

    text: str
    media_type: str
    language: str
    title: str
    chunking: Chunking  # the strategy that was taken
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    phrases: tuple[Keyphrase, ...] = ()  # of which keywords are chosen by meaning; empty: they are not
    spans: tuple[ChunkSpan, ...] = ()  # they tile the text
    graph: tuple[ChunkGraph, ...] = ()  # one a span
    tables: tuple[bytes, ...] = ()  # as `TypedTable.to_bytes` writes them
    metadata: Mapping[str, Any] = field(default_factory=dict)  # that the file says of itself

    def document(self, source: Source, collection_id: UUID, config: IngestionConfig) -> Document:
        now = datetime.now(UTC)
        lives = timedelta(hours=config.time_to_live_hours) if config.time_to_live_hours else None
        return Document(
            id=source.document or document_id(collection_id, source.source),
            collection_id=collection_id,
            source=source.source,
            filename=source.filename,
            media_type=self.media_type,
            content_hash=source.content_hash,
            language=self.language,
            title=self.title,
            created_at=source.created_at or now,
            source_type=source.source_type,
            processing_strategy=self.chunking,
            tags=source.tags,
            expires_at=source.expires_at or (now + lives if lives else None),
            byte_count=source.byte_count,
            authors=self.authors,
            keywords=self.keywords,
            warnings=self.warnings,
            metadata={**source.metadata, **self.metadata},
        )

    def chunks(self, document: Document) -> list[Chunk]:
        return [
            Chunk(
                id=uuid5(document.id, f"{document.content_hash}:{self.chunking}:{index}"),
                index=index,
                content=self.text[span.start : span.end],
                start_char=span.start,
                end_char=span.end,
                window_start=span.window_start,
                context=span.context,
                document=document,
                locations=span.locations,
                headers=span.headers,
                parent=span.parent,
            )
            for index, span in enumerate(self.spans)
        ]


class Preparer(Protocol):
    async def prepare(self, source: Source, *, config: IngestionConfig, model: TokenModel) -> Preparation:
        """Raises UnreadableDocument, whatever the source is: no file harms its caller."""
        ...

"""The nouns of ingestion: documents on their way in, and how far they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from graphrag.graph_models import ChunkGraph
from graphrag.models import Chunk, Document


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document ready to be stored: one vector a chunk, of the collection's embedding model."""

    document: Document
    chunks: Sequence[Chunk]
    vectors: Sequence[Sequence[float]]
    contextual_vectors: Sequence[Sequence[float]] | None = None  # of the chunks as a model situates them
    ticket: UUID | None = None  # of the ingestion that made it: it is stored only while that is the one wanted
    situations: Sequence[str | None] | None = None  # what the model said, kept to embed the chunks with another model
    graph: Sequence[ChunkGraph] = ()  # one a chunk; empty: the document adds nothing to the graph


class IngestionStatus(StrEnum):
    UPLOADED = "uploaded"
    PROCESSING = "processing"
    INDEXED = "indexed"
    UNCHANGED = "unchanged"  # only ever an outcome: nothing was to be done
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class IngestionOutcome:
    source: str
    status: IngestionStatus
    document_id: UUID | None = None
    chunks: int = 0
    cause: str = ""  # of an error
    reason: str = ""  # the error's code
    same_as: str | None = None  # the document that has the same content
    failed_chunks: tuple[UUID, ...] = ()  # those that the embedding model did not take
    expires_at: datetime | None = None

    @property
    def is_copy(self) -> bool:
        return self.same_as is not None


@dataclass(frozen=True, slots=True)
class Ingestion:
    """How far the last ingestion of a document's file is. The document stays as it was until that has ended well."""

    collection_id: UUID
    document_id: UUID
    ticket: UUID  # another one with every upload, retry and reindexing
    source: str
    filename: str
    content_hash: str
    byte_count: int
    options: Mapping[str, Any]  # SourceFile's: source_type, tags, chunking, expires_at
    status: IngestionStatus
    created_at: datetime
    updated_at: datetime
    stage: str = ""
    done: int = 0  # of `total` in this stage
    total: int = 0
    cause: str = ""  # of an error
    reason: str = ""
    failed_batches: Sequence[Mapping[str, Any]] = ()  # {"chunks": their ids, "cause"}

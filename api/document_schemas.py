"""What the HTTP API says of documents and collections."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from api.schemas import Text
from graphrag.ingestion_models import Ingestion, IngestionStatus
from graphrag.models import Chunking, Collection, Document


class Cause(BaseModel):
    code: str
    message: str


class DocumentOut(BaseModel):
    """A document, and how far its last ingestion is."""

    id: UUID
    collection: str
    filename: str
    source: str
    status: Literal["uploaded", "processing", "indexed", "error"]
    is_searchable: bool = Field(description="A version of it is found, also while a new one is on its way")
    stage: str = Field(default="", description="parse, contextualize, embed or store, while it is processed")
    done: int = Field(default=0, description="Of `total` in this stage")
    total: int = 0
    error: Cause | None = None
    failed_batches: list[dict[str, Any]] = []
    byte_count: int
    created_at: datetime
    updated_at: datetime
    title: str | None = None
    language: str | None = None
    media_type: str | None = None
    authors: list[str] = []
    keywords: list[str] = []
    tags: list[str] = []
    source_type: str | None = None
    processing_strategy: Chunking | None = None
    warnings: list[str] = Field(default=[], description="What could not be read of it")
    expires_at: datetime | None = None

    @classmethod
    def of(
        cls, collection: Collection, document: Document | None, ingestion: Ingestion | None, error: Cause | None
    ) -> "DocumentOut":
        stored = DOCUMENT_FIELDS if document else set()
        values = {name: getattr(document, name) for name in stored} | {
            "updated_at": getattr(document, "created_at", None)
        }
        if ingestion:
            values |= {name: getattr(ingestion, name) for name in INGESTION_FIELDS}
        return cls(
            id=ingestion.document_id if ingestion else values["id"],
            collection=collection.name,
            is_searchable=document is not None,
            error=error,
            **{"status": "indexed"} | {name: value for name, value in values.items() if name != "id"},
        )


class DocumentList(BaseModel):
    documents: list[DocumentOut]


class UploadOut(BaseModel):
    """What became of one file of an upload."""

    id: UUID | None
    filename: str
    status: IngestionStatus = Field(description="uploaded, unchanged or error")
    error: Cause | None = None
    same_as: str | None = Field(default=None, description="The document of the collection that has the same content")


class UploadList(BaseModel):
    documents: list[UploadOut]


class CollectionConfigIn(BaseModel):
    """Values of its own; what is left out of them is the service's. What is not given of the three stays as it is."""

    model_config = ConfigDict(extra="forbid")

    retrieval: dict[Text, Any] | None = None
    ingestion: dict[Text, Any] | None = None
    generation: dict[Text, Any] | None = None


class CollectionOut(BaseModel):
    id: UUID
    name: str
    embedding_model: str
    chunk_count: int
    retrieval: dict[str, Any]
    ingestion: dict[str, Any]
    generation: dict[str, Any]

    @classmethod
    def of(cls, collection: Collection) -> "CollectionOut":
        return cls(
            id=collection.id,
            name=collection.name,
            embedding_model=collection.embedding_model,
            chunk_count=collection.chunk_count,
            retrieval=dict(collection.config),
            ingestion=dict(collection.ingestion_config),
            generation=dict(collection.generation_config),
        )


class CollectionList(BaseModel):
    collections: list[CollectionOut]


DOCUMENT_FIELDS = set(DocumentOut.model_fields) & set(Document.__dataclass_fields__)
INGESTION_FIELDS = set(DocumentOut.model_fields) & set(Ingestion.__dataclass_fields__)

"""Schemas of collections and of the texts that are sent to one."""

import json
import math
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from api.errors import MOST_ERRORS
from api.schemas.documents import MOST_TAGS
from api.schemas.fields import Line, Page, Text
from graphrag.config.settings import GenerationConfig, IngestionConfig, RetrievalConfig
from graphrag.errors import InvalidDocuments
from graphrag.ingestion.service import invalid
from graphrag.ingestion.sources import SourceText
from graphrag.models import Collection

MOST_BYTES = 16_384
DEEPEST = 8


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    _check(values, DEEPEST)
    if len(json.dumps(values, ensure_ascii=False).encode()) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    return values


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise ValueError(f"it is deeper than {DEEPEST} levels")
    match value:
        case dict():
            for key, held in value.items():
                _check(key, depth)
                _check(held, depth - 1)
        case list():
            for held in value:
                _check(held, depth - 1)
        case str():
            _check_text(value)
        case float() if not math.isfinite(value):
            raise ValueError("it holds a number that JSON does not have")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise ValueError("it holds a text that is not valid Unicode") from exc
    if "\0" in text:
        raise ValueError("it holds a NUL character")


Metadata = Annotated[
    dict[str, Any],
    AfterValidator(_checked),
    Field(
        description=f"Whatever you know of it: any JSON of up to {MOST_BYTES} bytes and {DEEPEST} levels",
        examples=[{"author": "Lidia Forcén", "pages": [3, 4]}],
    ),
]
Options = Annotated[dict[str, Any], AfterValidator(_checked)]  # that a configuration checks further


MOST_TEXTS = 100
MOST_FACETS = 200
MOST_SOURCE_CHARS = 500
REQUIRED = "Documents array is required"
MODEL = "embedding_model"


class CollectionConfigIn(BaseModel):
    """Values of its own; what is left out of them is the service's. What is not given of the three stays as it is."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"retrieval": {"top_k": 5}, "ingestion": {"time_to_live_hours": 24}}]},
    )

    retrieval: Options | None = Field(default=None, description=", ".join(RetrievalConfig.model_fields))
    ingestion: Options | None = Field(default=None, description=", ".join(IngestionConfig.model_fields))
    generation: Options | None = Field(default=None, description=", ".join(GenerationConfig.model_fields))

    def check(self) -> None:
        """Raises InvalidSettings."""
        RetrievalConfig.checked(self.retrieval or {})
        IngestionConfig.checked(self.ingestion or {})
        GenerationConfig.checked(self.generation or {})


class CollectionIn(CollectionConfigIn):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "notas", "embedding_model": "bundled", "metadata": {"team": "calidad"}}]
        },
    )

    name: Text = Field(description="Up to 200 printable characters, without a slash")
    embedding_model: Text | None = Field(
        default=None, description="Required: the id of one that is loaded, as GET /health lists them"
    )
    metadata: Metadata = {}


class CollectionNameIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"name": "notas"}]})

    name: Text = Field(description="Up to 200 printable characters, without a slash")


class CollectionMetadataIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"metadata": {"team": "calidad"}}]})

    metadata: Metadata = Field(
        description="In place of those that it had. Its `embedding_model`, if it is given, is another one only where "
        "the collection has no chunks yet"
    )


class CollectionOut(BaseModel):
    id: UUID
    name: str
    embedding_model: str
    chunk_count: int
    metadata: dict[str, Any] = Field(description="Yours, and its `embedding_model`")
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
            metadata=dict(collection.metadata) | {MODEL: collection.embedding_model},
            retrieval=dict(collection.config),
            ingestion=dict(collection.ingestion_config),
            generation=dict(collection.generation_config),
        )


class CollectionList(Page):
    collections: list[CollectionOut]
    default: str = Field(description="The name of the one that is asked where none is named; it may not be there yet")


class FacetsOut(BaseModel):
    """Values that a collection's documents can be filtered by."""

    document_count: int = Field(description="Of those that a search can find")
    languages: list[str] = Field(description="ISO 639-1; und: not known")
    document_types: list[str] = Field(description="The endings of their names")
    tags: list[str] = Field(description=f"The first {MOST_FACETS} of the alphabet")
    filenames: list[str] = Field(description=f"The first {MOST_FACETS} of the alphabet")
    created_first: datetime | None = Field(description="When the oldest came; null where there is none")
    created_last: datetime | None


KNOWN_OF_TEXT = {"text", "source", "id", "title", "tags", "metadata"}


class TextIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Text = Field(min_length=1, pattern=r"^[^\x00]*$")
    source: Line | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_SOURCE_CHARS,
        validation_alias=AliasChoices("source", "id"),
        description="What you call it, also as `id`: a text of the same source is replaced. Without one, it is made "
        "from the text",
    )
    title: Line | None = Field(default=None, max_length=MOST_SOURCE_CHARS)
    tags: list[Line] = Field(default_factory=list, max_length=MOST_TAGS)
    metadata: Metadata = {}

    @model_validator(mode="before")
    @classmethod
    def _count_unknown(cls, values: Any) -> Any:
        """Report many unknown fields as one error: each of a hundred texts may have thousands."""
        unknown = values.keys() - KNOWN_OF_TEXT if isinstance(values, dict) else ()
        if len(unknown) > MOST_ERRORS:
            raise ValueError(f"{len(unknown):,} fields are unknown")
        return values

    def read(self) -> SourceText:
        source = self.source or f"text-{sha256(self.text.encode()).hexdigest()[:32]}"
        return SourceText(
            source, self.text, title=self.title, tags=tuple(self.tags), metadata=self.metadata, source_type="text"
        )


class TextsIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "documents": [
                        {
                            "text": "El horno H2 falló porque se rompió el retén de la puerta.",
                            "source": "parte-17",
                            "metadata": {"turno": "noche"},
                        }
                    ]
                }
            ]
        },
    )

    documents: list[TextIn] = Field(min_length=1, max_length=MOST_TEXTS)

    @model_validator(mode="wrap")
    @classmethod
    def _report_by_index(cls, values: Any, handler: ModelWrapValidatorHandler["TextsIn"]) -> "TextsIn":
        """Report an invalid text as a 400 with its index, as the contract of these texts has it."""
        try:
            return handler(values)
        except ValidationError as exc:
            raise _refusal(exc) from exc


def _refusal(error: ValidationError) -> InvalidDocuments:
    first = error.errors()[0]
    match first["loc"]:
        case ("documents", int(index), *path):
            field = ".".join(map(str, path))
            return invalid(index, f"{field}: {first['msg']}".removeprefix(": "), field=field)
        case ("documents",) if first["type"] == "too_long":
            message = f"Too many documents: at most {MOST_TEXTS} in one request."
            return InvalidDocuments(message, reason="too_many_documents", limit=MOST_TEXTS)
    problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
    return InvalidDocuments(REQUIRED, reason="documents_required", error=REQUIRED, problem=problem)

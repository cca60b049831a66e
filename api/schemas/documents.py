"""Schemas of documents and of views of their contents."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from api.errors import MESSAGES, localize, request_language
from api.schemas.fields import Line, Page, Text
from graphrag.config.settings import check_splitter
from graphrag.errors import InvalidSettings, MissingExtra
from graphrag.models import Chunking, Collection, Document
from graphrag.models.ingestion import CellsView, DocumentExcerpt, Ingestion, IngestionStatus, PageView
from graphrag.stores.postgres.catalog import Criteria

DocumentStatus = Literal["uploaded", "processing", "indexed", "error"]
MOST_DELETED = 1_000
MOST_FILENAME_CHARS = 255
MOST_TAGS = 50
FINAL = frozenset("unsupported encoding empty nested encrypted damaged unnamed name_too_long duplicate".split())
OPTIONS = ("tags", "source_type", "metadata")  # that are known of a file before it is read


def _installed(chunking: Chunking | None) -> Chunking | None:
    try:
        check_splitter(chunking)
    except MissingExtra as exc:
        raise InvalidSettings(str(exc), reason=str(exc)) from exc
    return chunking


GivenChunking = Annotated[Chunking | None, AfterValidator(_installed)]


class Cause(BaseModel):
    """The reason why a document could not be indexed, worded for a person."""

    code: str
    message: str
    is_final: bool = Field(description="Indexing the same file again does not help")

    @classmethod
    def of(cls, reason: str, request: Request, details: Mapping[str, Any] | None = None) -> "Cause | None":
        """Return the cause for a reason of an error or of the ingestion; None for an empty reason."""
        default = reason if details and reason in MESSAGES else "indexing_internal"
        message = localize(f"indexing_{reason}", details or {}, request_language(request), default=default)
        return cls(code=reason, message=message, is_final=reason in FINAL) if reason else None


class DocumentOut(BaseModel):
    """A document, and how far its last ingestion is."""

    id: UUID
    collection: str
    filename: str
    source: str
    copies: list[str] = Field(default=[], description="Sources of further files with the same content")
    status: DocumentStatus
    is_searchable: bool = Field(description="A version of it is found, also while a new one is on its way")
    stage: str = Field(default="", description="parse, contextualize, embed or store, while it is processed")
    done: int = Field(default=0, description="Of `total` in this stage")
    total: int = 0
    place: int | None = Field(default=None, description="In the queue, from 1, while it is uploaded; owners take turns")
    error: Cause | None = None
    failed_batches: list[dict[str, Any]] = []
    byte_count: int
    content_hash: str = Field(description="SHA-256 of the original")
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
    warnings: list[str] = Field(default=[], description="What could not be read of it, or not be done with it")
    expires_at: datetime | None = None
    metadata: dict[str, Any] = Field(default={}, description="What came with it")

    @classmethod
    def of(
        cls,
        collection: Collection,
        document: Document | None,
        ingestion: Ingestion | None,
        error: Cause | None,
        place: int | None,
    ) -> "DocumentOut":
        stored = DOCUMENT_FIELDS if document else set()
        values = {name: getattr(document, name) for name in stored} | {
            "updated_at": getattr(document, "created_at", None)
        }
        if ingestion and not document:
            values |= {name: ingestion.options[name] for name in OPTIONS if name in ingestion.options}
        if ingestion:
            values |= {name: getattr(ingestion, name) for name in INGESTION_FIELDS}
        return cls(
            id=ingestion.document_id if ingestion else values["id"],
            collection=collection.name,
            is_searchable=document is not None,
            error=error,
            place=place,
            **{"status": "indexed"} | {name: value for name, value in values.items() if name != "id"},
        )


class FileTypes(BaseModel):
    suffixes: list[str] = Field(
        description="Endings of file names, sorted. Files of other names are read if they are text"
    )


class QuestionOut(BaseModel):
    text: str
    quote: str = Field(description="Of the document, which answers it")


class QuestionList(BaseModel):
    language: str = Field(description="The document's")
    questions: list[QuestionOut] = Field(description="In the order of the text; empty where it tells no causes")


class DocumentList(Page):
    documents: list[DocumentOut]


class RestartedList(BaseModel):
    documents: list[DocumentOut] = Field(description="Without those that are under way already")


class UploadOut(BaseModel):
    """Outcome of one of the files, or texts, of an upload."""

    id: UUID | None = Field(description="null where it is not known yet: indexing is unavailable")
    filename: str
    status: IngestionStatus = Field(description="uploaded (a text: indexed at once), unchanged or error")
    error: Cause | None = None
    same_as: str | None = Field(default=None, description="The document of the collection that has the same content")


class UploadList(BaseModel):
    documents: list[UploadOut]
    indexing: Literal["available", "unavailable"] = Field(
        default="available", description="unavailable: the database is away; the files are indexed when it is back"
    )
    message: str | None = Field(default=None, description="The same in words")


class TextsOut(BaseModel):
    """Outcomes of texts that were sent together, in their order."""

    count: int = Field(description="Of those that are stored now")
    documents: list[UploadOut]


class DocumentFilterIn(BaseModel):
    """All that are given hold; of the tags any will do."""

    model_config = ConfigDict(extra="forbid")

    status: DocumentStatus | None = None
    filename: Line | None = Field(default=None, max_length=MOST_FILENAME_CHARS, description="Part of the file name")
    tags: list[Line] = Field(default_factory=list, max_length=MOST_TAGS)

    @property
    def criteria(self) -> Criteria:
        return Criteria(self.status, self.filename or None, tuple(self.tags))


class BulkDeletion(BaseModel):
    """Documents by their ids, in whatever collections; or those of one collection that a filter lets through."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"ids": ["6f1c1c1e-7a51-5d3c-8c55-0d8a3d2b9a10"]},
                {"collection": "notas", "filter": {"status": "error"}},
            ]
        },
    )

    ids: list[UUID] | None = Field(default=None, min_length=1, max_length=MOST_DELETED)
    collection: Text | None = None
    filter: DocumentFilterIn | None = Field(default=None, description="Of a collection's; without one, all of them")

    @model_validator(mode="after")
    def _one_kind(self) -> "BulkDeletion":
        if (self.ids is None) == (self.collection is None) or (self.ids and self.filter):
            raise ValueError("give either ids, or collection and, if you like, filter")
        return self


class BulkDeleted(BaseModel):
    deleted: list[UUID]
    not_found: list[UUID] = Field(description="Of the ids")
    has_more: bool = Field(
        default=False, description=f"At most {MOST_DELETED} are deleted by one request: send it again for the others"
    )


DOCUMENT_FIELDS = set(DocumentOut.model_fields) & set(Document.__dataclass_fields__)
INGESTION_FIELDS = set(DocumentOut.model_fields) & set(Ingestion.__dataclass_fields__)


class TextOut(BaseModel):
    """A stretch of a document's text. Offsets are characters of the whole text, as in citations."""

    document_id: UUID
    filename: str
    title: str
    media_type: str
    language: str
    content_hash: str = Field(description="SHA-256 of the file that was read: another version has another")
    content: str
    start_char: int = Field(description="Of `content`")
    end_char: int
    length: int = Field(description="Of the whole text")
    first_line: int = Field(description="The number, from 1, of the line in which `content` begins")
    page: int | None = Field(description="Or slide, from 1, of what was asked for")
    sheet: str | None
    cells: str | None = Field(description="C12, A2:F2")
    file: str | None = Field(default=None, description="Inside an archive or a message")
    recognized: bool = Field(
        default=False, description="Its text was recognised in a picture (OCR): it may hold errors"
    )
    html: str | None = Field(
        default=None, description="`content` as safe HTML, if asked for and Markdown; what was asked for is in `mark`"
    )

    @classmethod
    def of(cls, excerpt: DocumentExcerpt, html: str | None = None) -> "TextOut":
        document, location = excerpt.document, excerpt.location
        return cls(
            document_id=document.id,
            filename=document.filename,
            title=document.title,
            media_type=document.media_type,
            language=document.language,
            content_hash=document.content_hash,
            content=excerpt.content,
            start_char=excerpt.start_char,
            end_char=excerpt.end_char,
            length=excerpt.length,
            first_line=excerpt.first_line,
            page=location.page if location else None,
            sheet=(location and location.sheet) or None,
            cells=(location and location.cells) or None,
            file=(location and location.file) or None,
            recognized=location is not None and location.is_recognized,
            html=html,
        )


class BoxOut(BaseModel):
    """A rectangle in shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


class PageOut(BaseModel):
    page: int
    page_count: int
    width: float = Field(description="In points, 72 to an inch")
    height: float
    boxes: list[BoxOut] = Field(description="A line of the quote each; empty: it is not on this page")

    @classmethod
    def of(cls, page: int, view: PageView) -> "PageOut":
        boxes = [BoxOut(left=box.left, top=box.top, width=box.width, height=box.height) for box in view.boxes]
        return cls(page=page, page_count=view.page_count, width=view.width, height=view.height, boxes=boxes)


class SheetRowOut(BaseModel):
    number: int = Field(description="In its sheet, from 1")
    values: list[str] = Field(description="As in the document's text; at most as many as there are columns")


class CellsOut(BaseModel):
    columns: list[str] = Field(description="Their letters")
    headers: list[str]
    rows: list[SheetRowOut] = Field(description="Empty: the cells are in no table")

    @classmethod
    def of(cls, view: CellsView) -> "CellsOut":
        rows = [SheetRowOut(number=row.number, values=list(row.values)) for row in view.rows]
        return cls(columns=list(view.columns), headers=list(view.headers), rows=rows)

"""Collections, documents and chunks. Offsets are characters of the document's cleaned text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal
from uuid import UUID

Chunking = Literal[
    "auto",
    "sentence",
    "paragraph",
    "heading_section",
    "fixed_window",
    "semantic",
    "rows",
    "parent_child",
    "llama_index_sentence",
    "llama_index_semantic",
    "langchain_recursive",
    "none",
]
Cell = None | str | bool | int | float | datetime | date | time | timedelta
VectorKind = Literal["content", "contextual"]  # of a chunk as it stands, or with what a model says of where it stands
ELSEWHERE = "chunkenizer"  # source type of documents that another service has
UNDATED = datetime.fromtimestamp(0, UTC)  # of these, where it does not tell when they were made
LOCAL_OWNER = "local"  # the one owner where there is no authentication


@dataclass(frozen=True, slots=True)
class Collection:
    id: UUID
    owner_id: str
    name: str
    embedding_model: str
    chunk_count: int = 0
    revision: int = 0  # grows with every change of its documents
    config: Mapping[str, Any] = field(default_factory=dict)  # its own values of RetrievalConfig
    ingestion_config: Mapping[str, Any] = field(default_factory=dict)  # its own values of IngestionConfig
    has_contextual: bool = False  # every chunk of it has vectors of both kinds
    generation_config: Mapping[str, Any] = field(default_factory=dict)  # its own values of GenerationConfig
    metadata: Mapping[str, Any] = field(default_factory=dict)  # whatever its owner notes of it


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    start_char: int


@dataclass(frozen=True, slots=True)
class TemporalContext:
    """The period that a span of text is about, computed from its table."""

    date: date  # the period's first day, where it is longer
    period: Literal["day", "month", "quarter", "year"]
    change: float | None = None  # against the period before: .25 is a quarter more
    label: str = ""  # «+25 % frente al mes anterior», in the document's language


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The location of a span of text in its file."""

    start_char: int
    end_char: int
    page: int | None = None  # or slide, from 1
    sheet: str = ""
    cells: str = ""  # «A2:F2»
    temporal: TemporalContext | None = None
    file: str = ""  # inside an archive or a message
    is_recognized: bool = False  # by OCR: it may hold errors


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of the text, with the values that it was written from."""

    start_char: int
    end_char: int
    number: int  # in its sheet, from 1
    values: tuple[Cell, ...]  # as many as the table has columns, or fewer


@dataclass(frozen=True, slots=True)
class Table:
    """A spreadsheet's table; its rows' `values` and its `headers` begin at `first_column`, counted from 0."""

    sheet: str
    headers: tuple[str, ...]
    first_column: int
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A parser's result: the text, and the locations of headings, cells and pages in it."""

    text: str
    media_type: str
    headings: tuple[Heading, ...] = ()
    locations: tuple[SourceLocation, ...] = ()
    tables: tuple[Table, ...] = ()
    title: str = ""  # that the file gives itself
    authors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # that the file gives itself, as JSON values


@dataclass(frozen=True, slots=True)
class Document:
    """A document's text is not here: its chunks tile it."""

    id: UUID
    collection_id: UUID
    source: str  # where it came from, unique in a collection: a path, or the name it was uploaded under
    filename: str
    media_type: str
    content_hash: str  # SHA-256 of the original bytes
    language: str  # ISO 639-1, "und" when unknown
    title: str
    created_at: datetime
    source_type: str = "file"
    processing_strategy: str = "sentence"  # how it was chunked
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None  # from then on no search finds it
    byte_count: int = 0  # of the original
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # what could not be read of it, or not be done with it
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)  # the file's own, and what its sender knows

    @property
    def file_key(self) -> str:
        """Return the key of its file in the file storage and of cached results about its content."""
        return f"{self.collection_id}/{self.id}/{self.content_hash}"

    @property
    def is_elsewhere(self) -> bool:
        """Another service has it: of it there is nothing here but what was found."""
        return self.source_type == ELSEWHERE


@dataclass(frozen=True, slots=True)
class Chunk:
    """The span [start_char, end_char) of a document; a document's chunks are disjoint and tile it.

    `window_start` ≤ start_char: the embedding also sees this overlap with the chunk before.
    `context`: the title and the headings over the chunk, indexed with it.
    """

    id: UUID
    index: int
    content: str
    start_char: int
    end_char: int
    window_start: int
    context: str
    document: Document
    locations: tuple[SourceLocation, ...] = ()  # those that it holds a part of, with the document's offsets
    headers: tuple[str, ...] = ()  # of the table whose rows it holds
    parent: Span | None = None  # of a small chunk: the stretch that is read in its stead

    @property
    def level(self) -> Literal["STANDARD", "CHILD"]:
        """A parent has no row of its own: it is the stretch that its children name."""
        return "STANDARD" if self.parent is None else "CHILD"


MAX_OWNER_CHARS = 255


def is_owner_name(name: str) -> bool:
    """Keys, tokens and RAG_OWNER share one space of names: the same name is the same owner, whichever way it came."""
    return 0 < len(name) <= MAX_OWNER_CHARS and name.isprintable() and name == name.strip()

"""The nouns of ingestion: documents being ingested, views of a document, entries of an index, names of collections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from graphrag.errors import InvalidCollectionName
from graphrag.models.documents import Chunk, Document, SourceLocation, VectorKind
from graphrag.models.graph import ChunkGraph


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document ready to be stored: one vector a chunk, of the collection's embedding model."""

    document: Document
    chunks: Sequence[Chunk]
    vectors: Sequence[Sequence[float]]
    contextual_vectors: Sequence[Sequence[float]] | None = None  # of the chunks as a model situates them
    ticket: UUID | None = None  # of the ingestion that made it: it is stored only while that is the one wanted
    situations: Sequence[str | None] | None = None  # what the model said, kept to embed the chunks with another model
    tables: Sequence[bytes] = ()  # typed, as `TypedTable.to_bytes` writes them
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
    details: Mapping[str, Any] = field(default_factory=dict)  # of the error: what its message names
    same_as: str | None = None  # the document that has the same content
    renamed_from: str | None = None  # the document's source until now
    failed_chunks: tuple[UUID, ...] = ()  # those that the embedding model did not take
    expires_at: datetime | None = None

    @property
    def is_copy(self) -> bool:
        return self.same_as is not None


@dataclass(frozen=True, slots=True)
class Ingestion:
    """The progress of the last ingestion of a document's file.

    The document stays as it was until the ingestion has succeeded.
    """

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
    stalls: int = 0  # how often a worker died while it had it
    copies: Sequence[str] = ()  # sources of further files with the same content


@dataclass(frozen=True, slots=True)
class DocumentExcerpt:
    """[start_char, end_char) of a document's text."""

    document: Document
    content: str
    start_char: int
    end_char: int
    length: int  # of the whole text
    first_line: int  # the number, from 1, of the line in which it begins
    location: SourceLocation | None  # of what was asked for


@dataclass(frozen=True, slots=True)
class PageRequest:
    number: int  # from 1
    width: int = 0  # of the picture, in pixels; 0: none
    quote: str = ""
    kind: Literal["page"] = "page"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageView:
    """A page that the file does not have is 0 points wide."""

    page_count: int
    width: float = 0  # in points
    height: float = 0
    boxes: tuple[Box, ...] = ()  # of the quote's lines
    picture: bytes = b""  # PNG


@dataclass(frozen=True, slots=True)
class CellsRequest:
    sheet: str
    cells: str  # «A2:F2»
    around: int = 0  # rows, before and after
    kind: Literal["cells"] = "cells"


@dataclass(frozen=True, slots=True)
class SheetRow:
    number: int  # in its sheet, from 1
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellsView:
    """Rows of one table; all is empty where the cells are in none."""

    columns: tuple[str, ...]  # letters
    headers: tuple[str, ...]
    rows: tuple[SheetRow, ...]


NO_CELLS = CellsView((), (), ())


ViewRequest = PageRequest | CellsRequest
View = PageView | CellsView


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A chunk with one of its vectors. The same chunk with another text or of another kind has another id."""

    id: UUID
    chunk: Chunk  # with its document: owner's filters, expiry, citations
    vector: Sequence[float] | None  # of the collection's embedding model; None: it has no direction
    kinds: frozenset[VectorKind]  # of the searches that find it; both, where the chunk has not been situated


@dataclass(frozen=True, slots=True)
class Candidate:
    entry_id: UUID
    chunk_id: UUID
    score: float  # in [0, 1]; of vectors the cosine, not below 0


MOST_CHARS = 200


def checked_name(name: str) -> str:
    """Raises InvalidCollectionName: a slash parts the steps of a path; dots alone lead elsewhere."""
    is_step = "/" not in name and "\\" not in name and name not in (".", "..")
    if not name.strip() or name != name.strip() or not name.isprintable() or not is_step or len(name) > MOST_CHARS:
        raise InvalidCollectionName(
            f"{name[:MOST_CHARS]!r} is no name for a collection: it takes up to {MOST_CHARS} characters that can be "
            "printed, none of them a slash, and no space at either end.",
            name=name[:MOST_CHARS].encode(errors="replace").decode(),
            limit=MOST_CHARS,
        )
    return name

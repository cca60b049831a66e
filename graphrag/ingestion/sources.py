"""Sources of ingestion: files and texts, and the search for files in folders."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from uuid import UUID, uuid5

from pydantic import BaseModel

from graphrag.errors import QuotaExceeded, UnreadableDocument
from graphrag.models import Chunking
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that is in no file, with what its sender knows of it. Nothing in it is read as Markdown."""

    source: str  # unique in its collection, like a file's path
    text: str
    title: str | None = None  # None: made from the text
    language: str | None = None  # None: detected
    source_type: str = "text"
    tags: tuple[str, ...] = ()
    chunking: Chunking | None = None  # None: the collection's
    created_at: datetime | None = None  # None: now
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def filename(self) -> str:
        return self.source

    @property
    def data(self) -> bytes:
        """Its text as the sandbox reads it."""
        return self.text.encode(errors="surrogatepass")

    @property
    def ticket(self) -> None:
        """No ingestion is stored of it."""

    @property
    def document(self) -> None:
        """Its document's id is that of its source."""

    @property
    def content_hash(self) -> str:
        """Return the hash of a file that contains the text."""
        return hashlib.sha256(self.text.encode(errors="replace")).hexdigest()

    @property
    def byte_count(self) -> int:
        return len(self.text.encode(errors="replace"))


@dataclass(frozen=True, slots=True)
class SpooledFile:
    """The content of an open file, which is read when it is needed: all of an upload would need too much memory."""

    file: BinaryIO
    byte_count: int
    content_hash: str

    @classmethod
    def of(cls, file: BinaryIO) -> "SpooledFile":
        """Read the file once, piece by piece."""
        file.seek(0)
        content_hash = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type] # of typeshed's protocol
        return cls(file, file.tell(), content_hash)

    def read(self) -> bytes:
        self.file.seek(0)
        return self.file.read()


@dataclass(frozen=True, slots=True)
class SourceFile:
    source: str
    filename: str
    content: bytes | SpooledFile
    source_type: str = "file"
    tags: tuple[str, ...] = ()
    chunking: Chunking | None = None  # None: the collection's
    created_at: datetime | None = None
    expires_at: datetime | None = None  # None: the collection's time to live from now on
    ticket: UUID | None = None  # of its ingestion
    document: UUID | None = None  # the id; None: that of its source
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, ingestion: Ingestion, content: bytes | SpooledFile) -> "SourceFile":
        return cls(
            ingestion.source,
            ingestion.filename,
            content,
            **options_of(ingestion.options),
            created_at=ingestion.created_at,
            ticket=ingestion.ticket,
            document=ingestion.document_id,
        )

    def options(self) -> dict[str, Any]:
        """Return the sender's options as JSON values."""
        return _Options.model_validate(self, from_attributes=True).model_dump(mode="json")

    @property
    def data(self) -> bytes:
        return self.content.read() if isinstance(self.content, SpooledFile) else self.content

    async def read(self) -> bytes:
        return await asyncio.to_thread(lambda: self.data)

    @property
    def content_hash(self) -> str:
        if isinstance(self.content, SpooledFile):
            return self.content.content_hash
        return hashlib.sha256(self.content).hexdigest()

    @property
    def byte_count(self) -> int:
        return self.content.byte_count if isinstance(self.content, SpooledFile) else len(self.content)


Source = SourceFile | SourceText


class _Options(BaseModel):
    """The options of a source as stored with its ingestion."""

    source_type: str = "file"
    tags: tuple[str, ...] = ()
    chunking: Chunking | None = None
    expires_at: datetime | None = None
    metadata: dict[str, Any] = {}


def options_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a SourceFile from the stored result of its `options`."""
    return _Options.model_validate(stored).model_dump()


def document_id(collection_id: UUID, source: str) -> UUID:
    """Return the id of a new document. It keeps that id if its file is renamed: see Ingestions.find_sources."""
    return uuid5(collection_id, source)


def read_file(path: Path, *, max_bytes: int) -> SourceFile:
    """Raises UnreadableDocument."""
    try:
        if path.stat().st_size > max_bytes:
            raise too_large(max_bytes)
        return SourceFile(source_of(path), path.name, path.read_bytes())
    except OSError as exc:
        message = f"the file can't be read: {exc.strerror}"
        raise UnreadableDocument(message, reason="unreadable", cause=exc.strerror) from exc


T = TypeVar("T")


def batched(values: Iterable[T], size: Callable[[T], int], *, most: int, most_bytes: int) -> Iterator[list[T]]:
    """Yield batches of at most `most` values, and of `most_bytes` unless one alone is larger."""
    batch: list[T] = []
    total = 0
    for value in values:
        if batch and (len(batch) == most or total + size(value) > most_bytes):
            yield batch
            batch, total = [], 0
        batch.append(value)
        total += size(value)
    if batch:
        yield batch


def too_large(max_bytes: int) -> UnreadableDocument:
    return UnreadableDocument(f"the file is larger than {max_bytes:,} bytes (RAG_MAX_FILE_BYTES)", reason="too_large")


def duplicate_source() -> UnreadableDocument:
    return UnreadableDocument("another one of the same source came with it", reason="duplicate")


def cancelled() -> UnreadableDocument:
    return UnreadableDocument("it was cancelled, or a newer version came", reason="cancelled")


def refused(source: str, error: UnreadableDocument | QuotaExceeded) -> IngestionOutcome:
    reason = error.details.get("reason", error.code)
    return IngestionOutcome(source, IngestionStatus.ERROR, cause=str(error), reason=reason, details=error.details)


def source_of(path: Path) -> str:
    return os.path.abspath(path)  # not resolved: a link is what the person named


def find_files(paths: Iterable[Path]) -> list[Path]:
    """The files themselves and those in folders, at any depth, without hidden ones; sorted, each once.

    A path that does not exist stays in the list: reading it gives its error.
    """
    return sorted({file for path in paths for file in (_visible_files(path) if path.is_dir() else [path])})


def check_files(paths: Iterable[Path]) -> None:
    """Check that a file exists before a mistyped path creates a collection. Raises UnreadableDocument."""
    if not any(file.exists() for file in find_files(paths)):
        given = ", ".join(map(str, paths))
        raise UnreadableDocument(f"There is no file at {given}.", reason="no_file", paths=given)


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        is_dangling = path.is_symlink() and not path.exists()
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if (path.is_file() or is_dangling) and not is_hidden:
            yield path

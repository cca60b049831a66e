"""Sources of ingestion: files and texts, and the search for files in folders."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from pydantic import BaseModel

from graphrag.errors import UnreadableDocument
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
    def content_hash(self) -> str:
        """Return the hash of a file that contains the text."""
        return hashlib.sha256(self.text.encode(errors="replace")).hexdigest()

    @property
    def byte_count(self) -> int:
        return len(self.text.encode(errors="replace"))


@dataclass(frozen=True, slots=True)
class SourceFile:
    source: str
    filename: str
    data: bytes
    source_type: str = "file"
    tags: tuple[str, ...] = ()
    chunking: Chunking | None = None  # None: the collection's
    created_at: datetime | None = None
    expires_at: datetime | None = None  # None: the collection's time to live from now on
    ticket: UUID | None = None  # of its ingestion
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, ingestion: Ingestion, data: bytes) -> "SourceFile":
        return cls(
            ingestion.source,
            ingestion.filename,
            data,
            **options_of(ingestion.options),
            created_at=ingestion.created_at,
            ticket=ingestion.ticket,
        )

    def options(self) -> dict[str, Any]:
        """Return the sender's options as JSON values."""
        return _Options.model_validate(self, from_attributes=True).model_dump(mode="json")

    @property
    def content_hash(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def byte_count(self) -> int:
        return len(self.data)


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
    """The same for every version of a document, so that a new one takes the place of the old."""
    return uuid5(collection_id, source)


def read_file(path: Path, *, max_bytes: int) -> SourceFile:
    """Raises UnreadableDocument."""
    try:
        if path.stat().st_size > max_bytes:
            raise too_large(max_bytes)
        return SourceFile(source_of(path), path.name, path.read_bytes())
    except OSError as exc:
        raise UnreadableDocument(f"the file can't be read: {exc.strerror}", reason="unreadable") from exc


def too_large(max_bytes: int) -> UnreadableDocument:
    return UnreadableDocument(f"the file is larger than {max_bytes:,} bytes (RAG_MAX_FILE_BYTES)", reason="too_large")


def duplicate_source() -> UnreadableDocument:
    return UnreadableDocument("another one of the same source came with it", reason="duplicate")


def refused(source: str, error: UnreadableDocument) -> IngestionOutcome:
    return IngestionOutcome(source, IngestionStatus.ERROR, cause=str(error), reason=error.details["reason"])


def source_of(path: Path) -> str:
    return os.path.abspath(path)  # not resolved: a link is what the person named


def find_files(paths: Iterable[Path]) -> list[Path]:
    """The files themselves and those in folders, at any depth, without hidden ones; sorted, each once.

    A path that does not exist stays in the list: reading it gives its error.
    """
    return sorted({file for path in paths for file in (_visible_files(path) if path.is_dir() else [path])})


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        is_dangling = path.is_symlink() and not path.exists()
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if (path.is_file() or is_dangling) and not is_hidden:
            yield path

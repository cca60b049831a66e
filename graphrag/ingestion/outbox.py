"""Outbox of uploads that arrive while the database is away: each file's sender and target are stored beside it.

Later requests win: a new upload or a deletion of the document or its collection removes the stored upload.
"""

import hashlib
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from pydantic import BaseModel

from graphrag import models
from graphrag.db.database import Database
from graphrag.errors import FileUnavailable
from graphrag.ingestion.sources import SourceFile, document_id, options_of
from graphrag.protocols import FileStorage

FOLDER = "waiting"  # no collection's id
ALONE = "SELECT pg_advisory_xact_lock(hashtext('causeway waiting uploads'))"
MARK_CHARS = 32


class Note(BaseModel):
    """The first line of what is kept; the file follows."""

    owner_id: str
    collection: str
    source: str
    filename: str
    options: dict[str, Any]

    def key(self) -> str:
        """A new one; they are sorted as they came."""
        return f"{FOLDER}/{time.time_ns():020d}/{_mark(self.owner_id, self.collection)}-{uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Outbox:
    files: FileStorage
    database: Database

    async def keep(self, key: str, note: Note, data: bytes) -> None:
        """Raises FileUnavailable."""
        await self.files.put(key, note.model_dump_json().encode() + b"\n" + data)

    async def keys(self) -> list[str]:
        """The first that came is the first. Raises FileUnavailable."""
        return await self.files.list(FOLDER)

    async def read(self, key: str) -> tuple[Note, SourceFile] | None:
        """None where it is taken in or forgotten already. Raises FileUnavailable, ValidationError."""
        try:
            line, _, data = (await self.files.get(key)).partition(b"\n")
        except FileUnavailable as exc:
            if exc.details.get("reason") == "missing":
                return None
            raise
        note = Note.model_validate_json(line)
        return note, SourceFile(note.source, note.filename, data, **options_of(note.options))

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Lock the outbox, so that no other process delivers or removes an upload. Raises DatabaseUnavailable."""
        async with self.database.transaction("") as connection:
            await connection.execute(ALONE)
            yield

    async def forget(self, collection: models.Collection, documents: Collection[UUID] | None = None) -> None:
        """Remove stored uploads into the collection, or those that would become one of these documents.

        Raises DatabaseUnavailable or FileUnavailable.
        """
        mark = _mark(collection.owner_id, collection.name)
        keys = [key for key in await self.keys() if key.rpartition("/")[2].startswith(mark)]
        if not keys:
            return
        async with self.alone():
            for key in keys:
                if documents is None or await self._becomes(key, collection, documents):
                    await self.files.delete(key)

    async def _becomes(self, key: str, collection: models.Collection, documents: Collection[UUID]) -> bool:
        found = await self.read(key)
        return found is not None and document_id(collection.id, found[1].source) in documents


def _mark(owner_id: str, collection: str) -> str:
    return hashlib.sha256(f"{owner_id}\n{collection}".encode()).hexdigest()[:MARK_CHARS]

"""Uploads that come while the database is away: kept beside the files, and taken in when it is back."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pydantic import BaseModel

from graphrag.collection_names import checked_name
from graphrag.endings import end
from graphrag.errors import CausewayError, DatabaseUnavailable, FileUnavailable, IndexingUnavailable
from graphrag.ingestion.library import Library
from graphrag.ingestion.sources import SourceFile, options_of
from graphrag.models import Collection
from graphrag.telemetry import log

FOLDER = "waiting"  # no collection's id
AGAIN_SECONDS = 1


class _Note(BaseModel):
    """The first line of what is kept; the file follows."""

    owner_id: str
    collection: str | None
    source: str
    filename: str
    options: dict[str, Any]


@dataclass(slots=True)
class Spool:
    """One a process. What one leaves behind, the next that starts takes in; what came before is taken in before."""

    library: Library
    make_collection: Callable[[str, str | None], Awaitable[Collection]]
    most_bytes: int
    most_documents: int
    _bytes: int = field(default=0, init=False)
    _has_some: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def keep(self, owner_id: str, collection: str | None, sources: Sequence[SourceFile]) -> None:
        """Raises InvalidCollectionName, FileUnavailable; IndexingUnavailable where there is too much already."""
        if collection:
            checked_name(collection)
        size = sum(source.byte_count for source in sources)
        if self._bytes + size > self.most_bytes:
            raise IndexingUnavailable("The database is away, and no more is kept until it is back.")
        self._bytes += size
        for source in sources:
            note = _Note(
                owner_id=owner_id,
                collection=collection,
                source=source.source,
                filename=source.filename,
                options=source.options(),
            )
            key = f"{FOLDER}/{time.time_ns():020d}/{uuid4().hex}"
            await self.library.files.put(key, note.model_dump_json().encode() + b"\n" + source.data)
        self._has_some.set()

    @asynccontextmanager
    async def emptying(self) -> AsyncIterator[None]:
        """Meanwhile what is kept is taken in, whenever that can be."""
        self._has_some.set()  # by a process that was killed, perhaps
        task = asyncio.create_task(self._keep_emptying())
        try:
            yield
        finally:
            await end(task)

    async def _keep_emptying(self) -> None:
        while True:
            await self._has_some.wait()
            try:
                self._has_some.clear()
                await self._empty()
            except Exception as exc:
                self._has_some.set()
                if not isinstance(exc, DatabaseUnavailable):
                    log.warning("kept uploads are not taken in", error=exc)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _empty(self) -> None:
        """Raises DatabaseUnavailable and FileUnavailable: what is left is left as it is."""
        kept = await self.library.files.list(FOLDER)
        for key in kept:
            try:
                await self._take_in(await self.library.files.get(key))
            except (DatabaseUnavailable, FileUnavailable) as exc:
                if exc.details.get("reason") != "missing":  # another process was quicker
                    raise
            except CausewayError as exc:  # its owner's limits, which could not be looked up
                log.warning("a kept upload is refused", error=exc)
            await self.library.files.delete(key)
        if kept:
            log.info("kept uploads were taken in", count=len(kept))
        self._bytes = 0

    async def _take_in(self, kept: bytes) -> None:
        line, _, data = kept.partition(b"\n")
        note = _Note.model_validate_json(line)
        source = SourceFile(note.source, note.filename, data, **options_of(note.options))
        into = await self.make_collection(note.owner_id, note.collection)
        await self.library.add(into, [source], most_documents=self.most_documents)

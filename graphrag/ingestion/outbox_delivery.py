"""Uploads that come while the database is away: kept, and taken in when it is back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from graphrag.errors import CausewayError, DatabaseUnavailable, FileUnavailable, IndexingUnavailable
from graphrag.ingestion.outbox import Note
from graphrag.ingestion.service import DocumentService
from graphrag.ingestion.sources import SourceFile
from graphrag.models import Collection
from graphrag.models.ingestion import checked_name
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import end

AGAIN_SECONDS = 1


@dataclass(slots=True)
class OutboxDelivery:
    """One a process. What one leaves behind, the next that starts takes in."""

    library: DocumentService
    make_collection: Callable[[str, str | None], Awaitable[Collection]]
    default_collection: str
    most_bytes: int
    most_documents: int
    _sizes: dict[str, int] = field(default_factory=dict, init=False)  # bytes of what this process has kept, by key
    _has_some: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def keep(self, owner_id: str, collection: str | None, sources: Sequence[SourceFile]) -> None:
        """All or none. Raises InvalidCollectionName, FileUnavailable; IndexingUnavailable where too much is kept."""
        into = checked_name(collection or self.default_collection)
        size = sum(source.byte_count for source in sources)
        if sum(self._sizes.values()) + size > self.most_bytes:
            raise IndexingUnavailable("The database is away, and no more is kept until it is back.")
        notes = [_note(owner_id, into, source) for source in sources]
        kept = {note.key(): (note, source) for note, source in zip(notes, sources, strict=True)}
        self._sizes |= {key: source.byte_count for key, (_, source) in kept.items()}
        try:
            for key, (note, source) in kept.items():
                await self.library.waiting.keep(key, note, source.data)
        except BaseException:
            for key in kept:
                self._sizes.pop(key, None)
                with suppress(FileUnavailable):
                    await self.library.files.delete(key)
            raise
        self._has_some.set()

    @asynccontextmanager
    async def emptying(self) -> AsyncIterator[None]:
        """Deliver stored uploads in the background while the block runs."""
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
        await self.library.waiting.database.open()
        known, taken = set(self._sizes), 0
        keys = await self.library.waiting.keys()
        for key in known.difference(keys):  # another process was quicker
            self._sizes.pop(key, None)
        for key in keys:
            try:
                taken += await self._take_in(key)
            except (DatabaseUnavailable, FileUnavailable):
                raise
            except Exception as exc:  # what can't be read stays where it is, and in nobody's way
                log.warning("a kept upload is passed over", error=exc)
            self._sizes.pop(key, None)
        if taken:
            log.info("kept uploads were taken in", count=taken)

    async def _take_in(self, key: str) -> bool:
        async with self.library.waiting.alone():
            found = await self.library.waiting.read(key)
            if found is None:
                return False
            note, source = found
            try:
                into = await self.make_collection(note.owner_id, note.collection)
                await self.library.add(into, [source], most_documents=self.most_documents, has_waited=True)
            except (DatabaseUnavailable, FileUnavailable):
                raise
            except CausewayError as exc:  # its owner's limits, which could not be looked up
                log.warning("a kept upload is refused", error=exc)
            await self.library.files.delete(key)
        return True


def _note(owner_id: str, collection: str, source: SourceFile) -> Note:
    return Note(
        owner_id=owner_id,
        collection=collection,
        source=source.source,
        filename=source.filename,
        options=source.options(),
    )

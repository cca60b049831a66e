"""Outbox of uploads that arrive while the database is away: stored beside the files, delivered when it is back.

Each file's sender and target are stored with it. Later requests win: a new upload or a deletion of the document or its
collection removes the stored upload.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from pydantic import BaseModel

from graphrag import models
from graphrag.db.database import Database
from graphrag.errors import CausewayError, DatabaseUnavailable, FileUnavailable, IndexingUnavailable
from graphrag.ingestion.sources import SourceFile, document_id, options_of
from graphrag.models.ingestion import checked_name
from graphrag.observability.telemetry import log
from graphrag.protocols import FileStorage
from graphrag.resilience.cancellation import end

FOLDER = "waiting"  # no collection's id
LOCK = "SELECT pg_advisory_xact_lock(hashtext('causeway waiting uploads'))"
TARGET_CHARS = 32
RETRY_SECONDS = 1


class Envelope(BaseModel):
    """The first line of a stored upload; the file's bytes follow."""

    owner_id: str
    collection: str
    source: str
    filename: str
    options: dict[str, Any]
    content_hash: str = ""  # SHA-256 of the file; earlier versions wrote none

    def key(self, *, after: str = "") -> str:
        """Return a new key; keys are sorted by time. It comes after that of `after`, also where the clock went back."""
        latest = int(after.split("/")[1]) + 1 if after else 0
        target = _target(self.owner_id, self.collection)
        return f"{FOLDER}/{max(time.time_ns(), latest):020d}/{target}-{uuid4().hex}"


@dataclass(frozen=True, slots=True)
class Outbox:
    files: FileStorage
    database: Database

    async def put(self, key: str, envelope: Envelope, data: bytes) -> None:
        """Raises FileUnavailable."""
        await self.files.put(key, envelope.model_dump_json().encode() + b"\n" + data)

    async def keys(self) -> list[str]:
        """Return the keys of the stored uploads, oldest first. Raises FileUnavailable."""
        return await self.files.list(FOLDER)

    async def read(self, key: str) -> tuple[Envelope, SourceFile] | None:
        """Return an upload; None if it was delivered or removed already.

        Raises FileUnavailable; ValueError if it is damaged.
        """
        try:
            line, _, data = (await self.files.get(key)).partition(b"\n")
        except FileUnavailable as exc:
            if exc.details.get("reason") == "missing":
                return None
            raise
        envelope = Envelope.model_validate_json(line)
        source = SourceFile(envelope.source, envelope.filename, data, **options_of(envelope.options))
        if envelope.content_hash not in ("", await asyncio.to_thread(lambda: source.content_hash)):
            raise ValueError(f"the stored upload {key} is damaged")
        return envelope, source

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Lock the outbox, so that no other process delivers or removes an upload. Raises DatabaseUnavailable."""
        async with self.database.transaction("") as connection:
            await connection.execute(LOCK)
            yield

    async def remove(self, collection: models.Collection, documents: Collection[UUID] | None = None) -> None:
        """Remove stored uploads into the collection, or those that would become one of these documents.

        Raises DatabaseUnavailable or FileUnavailable.
        """
        target = _target(collection.owner_id, collection.name)
        keys = [key for key in await self.keys() if key.rpartition("/")[2].startswith(target)]
        if not keys:
            return
        async with self.locked():
            for key in keys:
                if documents is None or await self._becomes(key, collection, documents):
                    await self.files.delete(key)

    async def _becomes(self, key: str, collection: models.Collection, documents: Collection[UUID]) -> bool:
        try:
            found = await self.read(key)
        except ValueError:  # it is delivered to nobody
            return False
        return found is not None and document_id(collection.id, found[1].source) in documents


@dataclass(slots=True)
class OutboxDelivery:
    """Storage and delivery of uploads by one process; its successor delivers what it leaves behind."""

    outbox: Outbox
    add: Callable[..., Awaitable[object]]  # as DocumentService.add
    make_collection: Callable[[str, str | None], Awaitable[models.Collection]]
    default_collection: str
    most_bytes: int
    most_documents: int
    _sizes: dict[str, int] = field(default_factory=dict, init=False)  # bytes of this process's stored uploads, by key
    _has_some: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def store(self, owner_id: str, collection: str | None, sources: Sequence[SourceFile]) -> None:
        """Store all uploads or none.

        Raises InvalidCollectionName, FileUnavailable, or IndexingUnavailable if too much is stored already.
        """
        into = checked_name(collection or self.default_collection)
        size = sum(source.byte_count for source in sources)
        if sum(self._sizes.values()) + size > self.most_bytes:
            raise IndexingUnavailable("The database is away, and no more is kept until it is back.")
        envelopes = [_envelope(owner_id, into, source) for source in sources]
        latest = max(self._sizes, default="")
        uploads = {of.key(after=latest): (of, source) for of, source in zip(envelopes, sources, strict=True)}
        self._sizes |= {key: source.byte_count for key, (_, source) in uploads.items()}
        try:
            for key, (envelope, source) in uploads.items():
                await self.outbox.put(key, envelope, await source.read())
        except BaseException:
            for key in uploads:
                self._sizes.pop(key, None)
                with suppress(FileUnavailable):
                    await self.outbox.files.delete(key)
            raise
        self._has_some.set()

    @asynccontextmanager
    async def delivering(self) -> AsyncIterator[None]:
        """Deliver stored uploads in the background while the block runs."""
        self._has_some.set()  # by a process that was killed, perhaps
        task = asyncio.create_task(self._keep_delivering())
        try:
            yield
        finally:
            await end(task)

    async def _keep_delivering(self) -> None:
        while True:
            await self._has_some.wait()
            try:
                self._has_some.clear()
                await self.deliver()
            except Exception as exc:
                self._has_some.set()
                if not isinstance(exc, DatabaseUnavailable):
                    log.warning("outbox not delivered", error=exc)
            await asyncio.sleep(RETRY_SECONDS)

    async def deliver(self) -> None:
        """Add every stored upload to its collection; an unreadable one stays and delays no other.

        Raises DatabaseUnavailable or FileUnavailable; the rest then stays stored.
        """
        await self.outbox.database.open()
        known, delivered = set(self._sizes), 0
        keys = await self.outbox.keys()
        for key in known.difference(keys):  # another process was quicker
            self._sizes.pop(key, None)
        for key in keys:
            try:
                delivered += await self._deliver(key)
            except (DatabaseUnavailable, FileUnavailable):
                raise
            except Exception as exc:
                log.warning("unreadable upload left in the outbox", error=exc)
            self._sizes.pop(key, None)
        if delivered:
            log.info("outbox delivered", count=delivered)

    async def _deliver(self, key: str) -> bool:
        async with self.outbox.locked():
            found = await self.outbox.read(key)
            if found is None:
                return False
            envelope, source = found
            try:
                into = await self.make_collection(envelope.owner_id, envelope.collection)
                await self.add(into, [source], most_documents=self.most_documents, is_from_outbox=True)
            except (DatabaseUnavailable, FileUnavailable):
                raise
            except CausewayError as exc:  # its owner's limits, which could not be looked up
                log.warning("upload in the outbox refused", error=exc)
            await self.outbox.files.delete(key)
        return True


def _envelope(owner_id: str, collection: str, source: SourceFile) -> Envelope:
    return Envelope(
        owner_id=owner_id,
        collection=collection,
        source=source.source,
        filename=source.filename,
        options=source.options(),
        content_hash=source.content_hash,
    )


def _target(owner_id: str, collection: str) -> str:
    return hashlib.sha256(f"{owner_id}\n{collection}".encode()).hexdigest()[:TARGET_CHARS]

"""Progress of each document's ingestion, in PostgreSQL; a new one and its job are written in one transaction."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import CollectionNotFound, PreconditionFailed, QuotaExceeded
from graphrag.models import Collection
from graphrag.models.ingestion import Ingestion, IngestionStatus
from graphrag.stores.postgres.rows import QUERIES as SHARED
from graphrag.stores.postgres.rows import lock_owner

QUERIES = queries(Path(__file__).with_name("ingestions.sql"))
COLUMNS = [field.name for field in fields(Ingestion)]
Defer = Callable[[Connection, Collection, Sequence[Ingestion]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Ingestions:
    database: Database
    most_bytes: int | None = None  # of all files of an owner

    async def register(
        self,
        collection: Collection,
        new: Sequence[Ingestion],
        *,
        keep: Callable[[], Awaitable[None]],
        defer: Defer,
        most_documents: int | None = None,
        seen: Ingestion | None = None,
    ) -> None:
        """All of them or none; `keep` puts their files in place, which nobody tidies up meanwhile.

        Raises CollectionNotFound, and QuotaExceeded where the collection would have more documents than
        `most_documents`, or its owner more bytes than that one may: before a file is kept.
        """
        async with self.database.transaction(collection.owner_id) as connection:
            await lock_owner(connection, collection.owner_id)
            await _hold_collection(connection, collection)
            await _hold(connection, collection, seen)
            await self._check_bytes(connection, collection, new)
            await _check_room(connection, collection, [ingestion.document_id for ingestion in new], most_documents)
            await keep()
            async with connection.cursor() as cursor:
                await cursor.executemany(QUERIES["register"], [_row(collection, ingestion) for ingestion in new])
            await defer(connection, collection, new)

    async def _check_bytes(self, connection: Connection, collection: Collection, new: Sequence[Ingestion]) -> None:
        if self.most_bytes is None:
            return
        (row,) = await fetch(connection, QUERIES["count_bytes"], _key(collection, [of.document_id for of in new]))
        if row["bytes"] + sum(ingestion.byte_count for ingestion in new) > self.most_bytes:
            raise QuotaExceeded(
                f"The files of {collection.owner_id!r} would have more than {self.most_bytes} bytes "
                "(RAG_MAX_OWNER_BYTES): delete some.",
                reason="bytes",
                limit=self.most_bytes,
            )

    async def restart(
        self,
        collection: Collection,
        documents: Sequence[UUID],
        *,
        defer: Defer,
        seen: Ingestion | None = None,
        **options: Any,
    ) -> list[Ingestion]:
        """Restart the ingestions that are not under way; `options` replace their sender's."""
        async with self.database.transaction(collection.owner_id) as connection:
            await _hold(connection, collection, seen)
            values = _key(collection, documents) | {"options": Jsonb(options)}
            restarted = [read_ingestion(row) for row in await fetch(connection, QUERIES["restart"], values)]
            await defer(connection, collection, restarted)
        return restarted

    async def begin(self, collection: Collection, documents: Sequence[UUID]) -> list[Ingestion]:
        """Claim the ingestions that wait, or whose worker has died."""
        return await self._fetch("begin", collection, documents)

    async def report(self, collection: Collection, progress: Sequence[tuple[Ingestion, str, int, int]]) -> bool:
        """False where none of them is wanted any more."""
        ingestions, stages, done, total = [list(column) for column in zip(*progress, strict=True)]
        values = _key(collection, [ingestion.document_id for ingestion in ingestions]) | {
            "tickets": [ingestion.ticket for ingestion in ingestions],
            "stages": stages,
            "done": done,
            "total": total,
        }
        async with self.database.transaction(collection.owner_id) as connection:
            return (await connection.execute(QUERIES["report"], values)).rowcount > 0

    async def fail(
        self,
        collection: Collection,
        ingestions: Sequence[Ingestion],
        *,
        cause: str,
        reason: str,
        failed_batches: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        values = _key(collection, [ingestion.document_id for ingestion in ingestions]) | {
            "tickets": [ingestion.ticket for ingestion in ingestions],
            "cause": cause,
            "reason": reason,
            "failed_batches": Jsonb(list(failed_batches)),
        }
        async with self.database.transaction(collection.owner_id) as connection:
            await connection.execute(QUERIES["fail"], values)

    async def cancel(self, collection: Collection, documents: Sequence[UUID]) -> list[Ingestion]:
        """Cancel the ingestions under way and return them; their workers' results are discarded."""
        return await self._fetch("cancel", collection, documents)

    async def delete(
        self, collection: Collection, documents: Sequence[UUID], *, defer: Defer, seen: Ingestion | None = None
    ) -> list[UUID]:
        """Delete ingestions and documents, and return the ids of those that existed.

        The deferred job is queued in the same transaction.
        """
        async with self.database.transaction(collection.owner_id) as connection:
            await _hold(connection, collection, seen)
            found = [
                read_ingestion(row) for row in await fetch(connection, QUERIES["find"], _key(collection, documents))
            ]
            await connection.execute(QUERIES["delete"], _key(collection, documents))
            await defer(connection, collection, found)
        return [ingestion.document_id for ingestion in found]

    async def check_room(self, collection: Collection, documents: Sequence[UUID], most_documents: int) -> None:
        """Raise QuotaExceeded if the collection has no room for these besides its stored and pending documents."""
        async with self.database.transaction(collection.owner_id) as connection:
            await _check_room(connection, collection, documents, most_documents)

    async def find(self, collection: Collection, documents: Sequence[UUID]) -> list[Ingestion]:
        return await self._fetch("find", collection, documents)

    @asynccontextmanager
    async def tidying(self, collection: Collection, documents: Sequence[UUID]) -> AsyncIterator[dict[UUID, Ingestion]]:
        """Yield the ingestions that exist, by document; meanwhile the owner can't add files."""
        async with self.database.transaction(collection.owner_id) as connection:
            await lock_owner(connection, collection.owner_id)
            rows = await fetch(connection, QUERIES["find"], _key(collection, documents))
            yield {row["document_id"]: read_ingestion(row) for row in rows}

    async def find_states(self, collection: Collection, documents: Sequence[UUID]) -> dict[UUID, IngestionStatus]:
        """Return the status of each of these documents that exists."""
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_states"], _key(collection, documents))
        return {row["document_id"]: IngestionStatus(row["status"]) for row in rows}

    async def list_all(self, collection: Collection) -> list[Ingestion]:
        return await self._fetch("list", collection, [])

    async def locate(self, owner_id: str, documents: Sequence[UUID]) -> dict[UUID, UUID]:
        """Return the collection of each document, as document id → collection id."""
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["locate"], {"documents": [*documents]})
        return {row["document_id"]: row["collection_id"] for row in rows}

    async def find_expired(self, collection: Collection) -> list[UUID]:
        """The documents whose time has come, which no search finds any more."""
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_expired"], {"collection_id": collection.id})
        return [row["document_id"] for row in rows]

    async def find_waiting(self, collection: Collection, content_hashes: Sequence[str]) -> dict[str, Ingestion]:
        """Return the ingestions under way for these contents, as content hash → ingestion."""
        values = {"collection_id": collection.id, "hashes": [*content_hashes]}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_by_hash"], values)
        return {row["content_hash"]: read_ingestion(row) for row in rows}

    async def _fetch(self, statement: str, collection: Collection, documents: Sequence[UUID]) -> list[Ingestion]:
        async with self.database.transaction(collection.owner_id) as connection:
            return [
                read_ingestion(row) for row in await fetch(connection, QUERIES[statement], _key(collection, documents))
            ]


def _key(collection: Collection, documents: Sequence[UUID]) -> dict[str, Any]:
    return {"collection_id": collection.id, "documents": [*documents]}


async def _hold_collection(connection: Connection, collection: Collection) -> None:
    """Lock the collection against deletion until the transaction ends. Raises CollectionNotFound."""
    if not await fetch(connection, SHARED["share_collection"], {"collection_id": collection.id}):
        raise CollectionNotFound(f"There is no collection {collection.name!r}.", name=collection.name, known=[])


async def _hold(connection: Connection, collection: Collection, seen: Ingestion | None) -> None:
    """Lock a document against uploads, restarts and deletion until the transaction ends.

    Raises PreconditionFailed if its last ingestion is no longer the one in `seen`.
    """
    if seen is None:
        return
    rows = await fetch(connection, QUERIES["hold"], _key(collection, [seen.document_id]))
    if not rows or rows[0]["ticket"] != seen.ticket:
        raise PreconditionFailed(f"The document {seen.document_id} has changed meanwhile: read it again.", etag=None)


async def _check_room(
    connection: Connection, collection: Collection, documents: Sequence[UUID], most: int | None
) -> None:
    if most is None:
        return
    (row,) = await fetch(connection, QUERIES["count_documents"], _key(collection, documents))
    if row["documents"] + len(documents) > most:
        raise QuotaExceeded(
            f"The collection {collection.name!r} has {row['documents']} documents and may have {most} "
            "(RAG_MAX_DOCUMENTS): delete some, or use another collection.",
            collection=collection.name,
            limit=most,
        )


def _row(collection: Collection, ingestion: Ingestion) -> dict[str, Any]:
    values = {name: getattr(ingestion, name) for name in COLUMNS}
    return values | {"owner_id": collection.owner_id, "options": Jsonb(dict(ingestion.options))}


def read_ingestion(row: Mapping[str, Any]) -> Ingestion:
    return Ingestion(**{name: row[name] for name in COLUMNS} | {"status": IngestionStatus(row["status"])})

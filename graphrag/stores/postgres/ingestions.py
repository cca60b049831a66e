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
MOST_STALLS = 3
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
        keep: Callable[[Sequence[Ingestion]], Awaitable[None]],
        defer: Defer,
        most_documents: int | None = None,
        seen: Ingestion | None = None,
    ) -> dict[UUID, QuotaExceeded]:
        """Register those that the quotas have room for; return the others' documents, each with its error.

        `keep` puts the files of those registered in place, which nobody tidies up meanwhile. Raises CollectionNotFound.
        """
        async with self.database.transaction(collection.owner_id) as connection:
            await lock_owner(connection, collection.owner_id)
            await _hold_collection(connection, collection)
            await _hold(connection, collection, seen)
            refused = await _find_beyond_count(
                connection, collection, [ingestion.document_id for ingestion in new], most_documents
            )
            new = [ingestion for ingestion in new if ingestion.document_id not in refused]
            refused |= await self._find_beyond_bytes(connection, collection, new)
            new = [ingestion for ingestion in new if ingestion.document_id not in refused]
            await keep(new)
            async with connection.cursor() as cursor:
                await cursor.executemany(QUERIES["register"], [_row(collection, ingestion) for ingestion in new])
            await defer(connection, collection, new)
        return refused

    async def _find_beyond_bytes(
        self, connection: Connection, collection: Collection, new: Sequence[Ingestion]
    ) -> dict[UUID, QuotaExceeded]:
        """Return the fewest that must be refused, which are the largest."""
        if self.most_bytes is None:
            return {}
        (row,) = await fetch(connection, QUERIES["count_bytes"], _key(collection, [of.document_id for of in new]))
        error = QuotaExceeded(
            f"The files of {collection.owner_id!r} would have more than {self.most_bytes} bytes "
            "(RAG_MAX_OWNER_BYTES): delete some.",
            reason="bytes",
            limit=self.most_bytes,
        )
        growth = {of.document_id: of.byte_count - row["replaced"].get(str(of.document_id), 0) for of in new}
        used, refused = row["bytes"], {}
        for document in sorted(growth, key=growth.__getitem__):
            if growth[document] > 0 and used + growth[document] > self.most_bytes:
                refused[document] = error
            else:
                used += growth[document]
        return refused

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

    async def count_stall(self, connection: Connection, collection_id: UUID, documents: Sequence[UUID]) -> None:
        """Count that a worker died while it had these; one with which MOST_STALLS died is given up."""
        values = {"collection_id": collection_id, "documents": [*documents], "most": MOST_STALLS}
        await connection.execute(QUERIES["count_stall"], values)

    async def report(self, collection: Collection, progress: Sequence[tuple[Ingestion, str, int, int]]) -> set[UUID]:
        """Return the tickets of those that are still wanted."""
        ingestions, stages, done, total = [list(column) for column in zip(*progress, strict=True)]
        values = _key(collection, [ingestion.document_id for ingestion in ingestions]) | {
            "tickets": [ingestion.ticket for ingestion in ingestions],
            "stages": stages,
            "done": done,
            "total": total,
        }
        async with self.database.transaction(collection.owner_id) as connection:
            return {row["ticket"] for row in await fetch(connection, QUERIES["report"], values)}

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
            refused = await _find_beyond_count(connection, collection, documents, most_documents)
        if refused:
            raise next(iter(refused.values()))

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

    async def find_ended(self, collection: Collection, content_hashes: Sequence[str]) -> list[Ingestion]:
        """Return the indexed and the failed ingestions of these contents."""
        values = {"collection_id": collection.id, "hashes": [*content_hashes]}
        async with self.database.transaction(collection.owner_id) as connection:
            return [read_ingestion(row) for row in await fetch(connection, QUERIES["find_ended_by_hash"], values)]

    async def find_sources(
        self, collection: Collection, sources: Sequence[str], documents: Sequence[UUID] = ()
    ) -> dict[str, UUID]:
        """Return the documents that have one of the sources or ids, as source → document id."""
        values = _key(collection, documents) | {"sources": [*sources]}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_sources"], values)
        return {row["source"]: row["document_id"] for row in rows}

    async def rename(
        self, collection: Collection, ingestion: Ingestion, *, source: str, filename: str, titles: tuple[str, str]
    ) -> bool:
        """Rename a document whose ingestion has ended; False if it has changed meanwhile, or the source is another's.

        `titles`: the title of a document that has none of its own, before and after.
        """
        values = {
            "collection_id": collection.id,
            "document_id": ingestion.document_id,
            "ticket": ingestion.ticket,
            "source": source,
            "filename": filename,
            "old_title": titles[0],
            "title": titles[1],
        }
        async with self.database.transaction(collection.owner_id) as connection:
            return bool(await fetch(connection, QUERIES["rename"], values))

    async def set_copies(self, collection: Collection, originals: Mapping[str, UUID | None]) -> None:
        """Record each source as a copy of its original; None: it is no copy."""
        sources, documents = [*originals], [*originals.values()]
        async with self.database.transaction(collection.owner_id) as connection:
            await connection.execute(
                QUERIES["set_copies"], _key(collection, []) | {"sources": sources, "documents": documents}
            )

    async def list_copies(self, collection: Collection) -> list[str]:
        """Return the sources of all copies in the collection."""
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["list_copies"], {"collection_id": collection.id})
        return [row["source"] for row in rows]

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


async def _find_beyond_count(
    connection: Connection, collection: Collection, documents: Sequence[UUID], most: int | None
) -> dict[UUID, QuotaExceeded]:
    """Return the last of those that the collection does not have, if it would have more than `most` with them."""
    if most is None:
        return {}
    (row,) = await fetch(connection, QUERIES["count_documents"], _key(collection, documents))
    added = [document for document in documents if document not in row["replaced"]]
    error = QuotaExceeded(
        f"The collection {collection.name!r} has {row['documents']} documents and may have {most} "
        "(RAG_MAX_DOCUMENTS): delete some, or use another collection.",
        collection=collection.name,
        limit=most,
    )
    return dict.fromkeys(added[max(0, most - row["documents"]) :], error)


def _row(collection: Collection, ingestion: Ingestion) -> dict[str, Any]:
    values = {name: getattr(ingestion, name) for name in COLUMNS}
    return values | {"owner_id": collection.owner_id, "options": Jsonb(dict(ingestion.options))}


def read_ingestion(row: Mapping[str, Any]) -> Ingestion:
    return Ingestion(**{name: row[name] for name in COLUMNS} | {"status": IngestionStatus(row["status"])})

"""Chunks in PostgreSQL: BM25 and vectors in plain SQL (postgres.sql), behind row level security."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import UniqueViolation
from psycopg.types.json import Jsonb

from graphrag.config.settings import CollectionConfig, GenerationConfig, IngestionConfig, RetrievalConfig
from graphrag.db.database import Connection, Database, fetch
from graphrag.errors import CollectionChanged, CollectionExists, CollectionNotFound, QuotaExceeded
from graphrag.models import (
    EVERYTHING,
    Chunk,
    Collection,
    Document,
    Filters,
    FulltextRanking,
    Hit,
    Synonym,
    VectorKind,
)
from graphrag.models.ingestion import IndexedDocument
from graphrag.stores.postgres import search
from graphrag.stores.postgres.graph import delete_lone_entities, find_touched_entities, insert_graph
from graphrag.stores.postgres.rows import (
    QUERIES,
    lock_owner,
    read_chunk,
    read_document,
    to_chunk_rows,
    to_columns,
    to_document_row,
    to_embedding_rows,
)

POLL_SECONDS = 0.5


@asynccontextmanager
async def maintenance(database: Database) -> AsyncIterator[Connection]:
    """Open `Database.maintenance` and hold the maintenance lock, waiting until no other process has it."""
    while True:
        async with database.try_lock(QUERIES["lock_maintenance"], {}) as is_free:
            if is_free:
                async with database.maintenance() as connection:
                    yield connection
                return
        await asyncio.sleep(POLL_SECONDS)


class PostgresStore:
    def __init__(
        self,
        database: Database,
        *,
        fulltext_candidates: int,
        contextual: bool = False,
        most_collections: int | None = None,
    ) -> None:
        """Set the limits of searches and collections.

        `contextual` is the default for collections without their own choice of searching contextual vectors;
        `most_collections` is the limit of one owner.
        """
        self._database = database
        self._fulltext_candidates = fulltext_candidates
        self._contextual = contextual
        self._most_collections = most_collections

    async def list_collections(self, owner_id: str) -> list[Collection]:
        async with self._database.transaction(owner_id) as connection:
            return [Collection(*row.values()) for row in await fetch(connection, QUERIES["list_collections"], {})]

    async def create_collection(
        self, owner_id: str, name: str, *, embedding_model: str, is_new: bool = False
    ) -> Collection:
        async with self._database.transaction(owner_id) as connection:
            await self._check_count(connection, owner_id, name)
            made = await connection.execute(
                QUERIES["create_collection"],
                {"collection_id": uuid4(), "owner_id": owner_id, "name": name, "embedding_model": embedding_model},
            )
            if is_new and not made.rowcount:
                raise CollectionExists(f"There is a collection {name!r} already.", name=name)
            (row,) = await fetch(connection, QUERIES["find_collection"], {"name": name})
            return Collection(*row.values())

    async def _check_count(self, connection: Connection, owner_id: str, name: str) -> None:
        """One that is there already is no further one. Raises QuotaExceeded."""
        if (most := self._most_collections) is None:
            return
        await lock_owner(connection, owner_id)
        if await fetch(connection, QUERIES["find_collection"], {"name": name}):
            return
        (row,) = await fetch(connection, QUERIES["count_collections"], {})
        if row["collections"] >= most:
            raise QuotaExceeded(
                f"{owner_id!r} has {most} collections, the most that there may be (RAG_MAX_COLLECTIONS): delete one.",
                reason="collections",
                limit=most,
            )

    async def rename_collection(self, collection: Collection, name: str) -> Collection:
        """Rename a collection, also where its conversations name it."""
        values = {"collection_id": collection.id, "owner_id": collection.owner_id, "name": name}
        try:
            async with self._database.transaction(collection.owner_id) as connection:
                await connection.execute(QUERIES["rename_in_conversations"], values)
                rows = await fetch(connection, QUERIES["rename_collection"], values)
        except UniqueViolation as exc:
            raise CollectionExists(f"There is a collection {name!r} already.", name=name) from exc
        if not rows:
            raise _not_found(collection)
        return Collection(*rows[0].values())

    async def delete_collection(self, collection: Collection) -> bool:
        async with self._database.transaction(collection.owner_id) as connection:
            deleted = await connection.execute(QUERIES["delete_collection"], {"collection_id": collection.id})
            return deleted.rowcount > 0

    async def configure_collection(
        self,
        collection: Collection,
        config: Mapping[str, Any] | None = None,
        *,
        ingestion_config: Mapping[str, Any] | None = None,
        generation_config: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Collection:
        values = {
            "collection_id": collection.id,
            "config": _checked(RetrievalConfig, config),
            "ingestion_config": _checked(IngestionConfig, ingestion_config),
            "generation_config": _checked(GenerationConfig, generation_config),
            "metadata": None if metadata is None else Jsonb(dict(metadata)),
        }
        async with self._database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["configure_collection"], values)
        if not rows:
            raise _not_found(collection)
        return Collection(*rows[0].values())

    async def find_documents(
        self, collection: Collection, *, content_hashes: Sequence[str] = (), ids: Sequence[UUID] = ()
    ) -> list[Document]:
        values = {"collection_id": collection.id, "content_hashes": list(content_hashes), "documents": list(ids)}
        async with self._database.transaction(collection.owner_id) as connection:
            return [read_document(row) for row in await fetch(connection, QUERIES["find_documents"], values)]

    async def list_documents(self, collection: Collection) -> list[Document]:
        async with self._database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["list_documents"], {"collection_id": collection.id})
        return [read_document(row) for row in rows]

    async def find_filenames(self, collection: Collection, names: Sequence[str]) -> list[str]:
        values = {"collection_id": collection.id, "names": list(names)}
        rows = await self._database.read(collection, partial(fetch, statement=QUERIES["find_filenames"], values=values))
        return [row["filename"] for row in rows]

    async def find_spellings(self, collection: Collection, words: Sequence[str]) -> dict[str, str]:
        if not words:
            return {}
        return await self._database.read(collection, partial(search.find_spellings, collection=collection, words=words))

    async def put_documents(self, collection: Collection, documents: Sequence[IndexedDocument]) -> list[UUID]:
        async with self._database.transaction(collection.owner_id) as connection:
            has_contextual = await _lock_unchanged(connection, collection, documents)
            documents = await _wanted(connection, collection, documents)
            if not has_contextual and any(indexed.contextual_vectors is not None for indexed in documents):
                values = {"collection_id": collection.id, "model": collection.embedding_model}
                await connection.execute(QUERIES["begin_contextual"], values)
                has_contextual = True
            key = _key(collection, [indexed.document.id for indexed in documents])
            _, touched = await _remove(connection, key)
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    QUERIES["insert_document"], [key | to_document_row(indexed.document) for indexed in documents]
                )
                await cursor.executemany(
                    QUERIES["insert_table"],
                    [
                        key | {"document_id": indexed.document.id, "table_number": number, "content": content}
                        for indexed in documents
                        for number, content in enumerate(indexed.tables)
                    ],
                )
            for rows in to_columns(row for indexed in documents for row in to_chunk_rows(indexed)):
                await connection.execute(QUERIES["insert_chunks"], key | rows)
            vectors = (row for of in documents for row in to_embedding_rows(of, has_contextual=has_contextual))
            for rows in to_columns(vectors):
                await connection.execute(
                    QUERIES["insert_embeddings"], key | rows | {"model": collection.embedding_model}
                )
            await connection.execute(QUERIES["take_turn"], key)
            await connection.execute(QUERIES["add_statistics"], key)
            languages = sorted({indexed.document.language for indexed in documents})
            await insert_graph(connection, key, documents)
            await delete_lone_entities(connection, key, touched)
            await _refresh(connection, key, **await _measure(connection, key), languages=languages)
        return [indexed.document.id for indexed in documents]

    async def delete_document(self, collection: Collection, document_id: UUID) -> bool:
        return bool(await self.delete_documents(collection, [document_id]))

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> list[UUID]:
        async with self._database.transaction(collection.owner_id) as connection:
            key = _key(collection, documents)
            removed, touched = await _remove(connection, key)
            await delete_lone_entities(connection, key, touched)
            return removed

    async def optimize(self, collection: Collection) -> None:
        async with self._database.transaction(collection.owner_id) as connection:
            (size,) = await fetch(connection, QUERIES["measure_vectors"], {"collection_id": collection.id})
        async with maintenance(self._database) as connection:
            for statement in ("tidy_fulltext_index", "tell_planner", "tidy_graph"):
                await connection.execute(QUERIES[statement])
            if size["chunk_count"] > search.EXACT_CHUNKS and size["dimensions"] <= search.MOST_DIMENSIONS:
                kind = self._kind(replace(collection, has_contextual=size["has_contextual"]))
                model, dimensions = collection.embedding_model, size["dimensions"]
                await search.build_index(connection, collection.id, model, dimensions, kind=kind)

    async def search_fulltext(
        self,
        collection: Collection,
        words: Sequence[str],
        *,
        phrases: Sequence[str] = (),
        synonyms: Sequence[Synonym] = (),
        filters: Filters = EVERYTHING,
        ranking: FulltextRanking = "bm25",
        limit: int,
    ) -> list[Hit]:
        rows = await self._database.read(
            collection,
            partial(
                search.search_fulltext,
                collection=collection,
                words=words,
                phrases=phrases,
                synonyms=synonyms,
                filters=filters,
                ranking=ranking,
                candidates=self._fulltext_candidates,
                limit=limit,
            ),
        )
        return [Hit(read_chunk(row), row["score"], {"fulltext": row["score"]}) for row in rows]

    async def search_vectors(
        self, collection: Collection, vector: Sequence[float], *, filters: Filters = EVERYTHING, limit: int
    ) -> list[Hit]:
        rows = await self._database.read(
            collection,
            partial(
                search.search_vectors,
                collection=collection,
                vector=vector,
                kind=self._kind(collection),
                filters=filters,
                limit=limit,
            ),
        )
        return [Hit(read_chunk(row), row["score"], {"vector": row["score"]}) for row in rows]

    async def read_chunks(
        self, collection: Collection, spans: Sequence[tuple[UUID, int, int]]
    ) -> dict[UUID, list[Chunk]]:
        documents, first, last = [list(column) for column in zip(*spans, strict=True)] if spans else ([], [], [])
        values = {"collection_id": collection.id, "documents": documents, "first": first, "last": last}
        rows = await self._database.read(collection, partial(fetch, statement=QUERIES["read_chunks"], values=values))
        chunks: dict[UUID, dict[int, Chunk]] = {}
        for row in rows:
            chunks.setdefault(row["document_id"], {}).setdefault(row["chunk_index"], read_chunk(row))
        return {document: list(by_index.values()) for document, by_index in chunks.items()}

    async def read_tables(self, collection: Collection, documents: Sequence[UUID]) -> dict[UUID, list[bytes]]:
        values = {"collection_id": collection.id, "documents": list(documents)}
        rows = await self._database.read(
            collection, partial(fetch, statement=QUERIES["read_tables"], values=values, binary=True)
        )
        tables: dict[UUID, list[bytes]] = {}
        for row in rows:
            tables.setdefault(row["document_id"], []).append(row["content"])
        return tables

    def _kind(self, collection: Collection) -> VectorKind:
        wants_contextual = collection.ingestion_config.get("contextual_embeddings", self._contextual)
        return "contextual" if wants_contextual and collection.has_contextual else "content"


def _checked(kind: type[CollectionConfig], values: Mapping[str, Any] | None) -> Jsonb | None:
    return None if values is None else Jsonb(kind.checked(values))


def _key(collection: Collection, documents: Sequence[UUID]) -> dict[str, Any]:
    return {"collection_id": collection.id, "owner_id": collection.owner_id, "documents": list(documents)}


def _not_found(collection: Collection) -> CollectionNotFound:
    return CollectionNotFound(f"There is no collection {collection.name!r}.", name=collection.name, known=[])


async def _lock_unchanged(connection: Connection, collection: Collection, documents: Sequence[IndexedDocument]) -> bool:
    """Lock the collection against deletion and a change of model; return whether it has vectors of both kinds.

    The lock is held until the transaction ends. Raises CollectionNotFound or CollectionChanged.
    """
    # Their tickets keep two writers from the same document; the first vectors of a second kind concern all chunks.
    can_share = all(indexed.ticket and indexed.contextual_vectors is None for indexed in documents)
    lock = "share_collection" if can_share else "lock_collection"
    rows = await fetch(connection, QUERIES[lock], {"collection_id": collection.id})
    if not rows:
        raise _not_found(collection)
    if rows[0]["embedding_model"] != collection.embedding_model:
        raise CollectionChanged(
            f"The collection {collection.name!r} has moved from the embedding model {collection.embedding_model!r} to "
            f"{rows[0]['embedding_model']!r}: send the documents again.",
            name=collection.name,
            model=rows[0]["embedding_model"],
        )
    return bool(rows[0]["has_contextual"])


async def _wanted(
    connection: Connection, collection: Collection, documents: Sequence[IndexedDocument]
) -> list[IndexedDocument]:
    """Finish the ingestions and return their documents, without cancelled and superseded ones."""
    by_ticket = {indexed.ticket: len(indexed.chunks) for indexed in documents if indexed.ticket}
    values = {"collection_id": collection.id, "tickets": list(by_ticket), "chunks": list(by_ticket.values())}
    finished = {row["ticket"] for row in await fetch(connection, QUERIES["finish_ingestions"], values)}
    return [indexed for indexed in documents if indexed.ticket is None or indexed.ticket in finished]


async def _remove(connection: Connection, key: Mapping[str, Any]) -> tuple[list[UUID], list[UUID]]:
    """The documents that there were, and the entities that may have lost their last edge."""
    await connection.execute(QUERIES["prepare_writing"])
    if not await fetch(connection, QUERIES["find_stored"], key):
        return [], []
    await connection.execute(QUERIES["take_turn"], key)
    touched = await find_touched_entities(connection, key)
    await connection.execute(QUERIES["remove_statistics"], key)
    size = await _measure(connection, key)
    removed = [row["document_id"] for row in await fetch(connection, QUERIES["delete_documents"], key)]
    if removed:  # nobody else was quicker
        await _refresh(connection, key, chunks=-size["chunks"], chars=-size["chars"], languages=[])
    return removed, touched


async def _measure(connection: Connection, key: Mapping[str, Any]) -> dict[str, Any]:
    return (await fetch(connection, QUERIES["measure_documents"], key))[0]


async def _refresh(
    connection: Connection, key: Mapping[str, Any], *, chunks: int, chars: int, languages: Sequence[str]
) -> None:
    values = {**key, "chunks": chunks, "chars": chars, "languages": list(languages)}
    await connection.execute(QUERIES["refresh_collection"], values)

"""Chunks in PostgreSQL: BM25 and vectors in plain SQL (postgres.sql), behind row level security."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from pgvector import HalfVector

from graphrag.database import Connection, Database, queries
from graphrag.models import Chunk, Collection, Document, Hit

QUERIES = queries(Path(__file__).with_name("postgres.sql"))
EXACT_WEIGHT = 0.35  # of a word as written beside its stem; measured on development sets in three languages
BM25_CANDIDATES = 200


class PostgresStore:
    def __init__(self, database: Database, *, candidate_budget: int) -> None:
        self._database = database
        self._candidate_budget = candidate_budget

    async def list_collections(self, owner_id: str) -> list[Collection]:
        async with self._database.transaction(owner_id) as connection:
            return [_collection(row) for row in await _fetch(connection, "list_collections")]

    async def create_collection(self, owner_id: str, name: str, *, embedding_model: str) -> Collection:
        async with self._database.transaction(owner_id) as connection:
            await connection.execute(
                QUERIES["create_collection"],
                {"collection_id": uuid4(), "owner_id": owner_id, "name": name, "embedding_model": embedding_model},
            )
            return _collection((await _fetch(connection, "find_collection", name=name))[0])

    async def find_document(self, collection: Collection, *, content_hash: str) -> Document | None:
        async with self._database.transaction(collection.owner_id) as connection:
            rows = await _fetch(connection, "find_document", collection_id=collection.id, content_hash=content_hash)
        return _document(rows[0]) if rows else None

    async def list_documents(self, collection: Collection) -> list[Document]:
        async with self._database.transaction(collection.owner_id) as connection:
            return [_document(row) for row in await _fetch(connection, "list_documents", collection_id=collection.id)]

    async def put_document(
        self, collection: Collection, document: Document, chunks: Sequence[Chunk], vectors: Sequence[Sequence[float]]
    ) -> None:
        key = {"collection_id": collection.id, "owner_id": collection.owner_id, "document_id": document.id}
        async with self._database.transaction(collection.owner_id) as connection:
            await _remove(connection, key)
            await connection.execute(QUERIES["insert_document"], key | _document_values(document))
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    QUERIES["insert_chunk"], [key | _chunk_values(chunk, document.language) for chunk in chunks]
                )
                await cursor.executemany(
                    QUERIES["insert_embedding"],
                    [
                        key
                        | {
                            "chunk_id": chunk.id,
                            "model": collection.embedding_model,
                            "embedding": HalfVector(list(vector)),
                        }
                        for chunk, vector in zip(chunks, vectors, strict=True)
                    ],
                )
            await connection.execute(QUERIES["add_statistics"], key)
            await _refresh(connection, key, sign=+1)

    async def delete_document(self, collection: Collection, document_id: UUID) -> bool:
        key = {"collection_id": collection.id, "owner_id": collection.owner_id, "document_id": document_id}
        async with self._database.transaction(collection.owner_id) as connection:
            return await _remove(connection, key)

    async def search_fulltext(
        self, collection: Collection, words: Sequence[str], *, phrases: Sequence[str] = (), limit: int
    ) -> list[Hit]:
        async with self._database.transaction(collection.owner_id) as connection:
            rows = await _fetch(
                connection,
                "search_fulltext",
                collection_id=collection.id,
                words=" ".join(words),
                phrases=list(phrases),
                exact_weight=EXACT_WEIGHT,
                budget=self._candidate_budget,
                candidates=max(BM25_CANDIDATES, limit),
                limit=limit,
            )
        return [Hit(_chunk(row), row["score"], {"fulltext": row["score"]}) for row in rows]

    async def search_vectors(self, collection: Collection, vector: Sequence[float], *, limit: int) -> list[Hit]:
        async with self._database.transaction(collection.owner_id) as connection:
            rows = await _fetch(
                connection,
                "search_vectors",
                collection_id=collection.id,
                model=collection.embedding_model,
                vector=HalfVector(list(vector)),
                limit=limit,
            )
        return [Hit(_chunk(row), row["score"], {"vector": row["score"]}) for row in rows]

    async def read_chunks(
        self, collection: Collection, spans: Sequence[tuple[UUID, int, int]]
    ) -> dict[UUID, list[Chunk]]:
        documents, first, last = [list(column) for column in zip(*spans, strict=True)] if spans else ([], [], [])
        async with self._database.transaction(collection.owner_id) as connection:
            rows = await _fetch(
                connection, "read_chunks", collection_id=collection.id, documents=documents, first=first, last=last
            )
        chunks: dict[UUID, dict[int, Chunk]] = {}
        for row in rows:
            chunks.setdefault(row["document_id"], {}).setdefault(row["chunk_index"], _chunk(row))
        return {document: list(by_index.values()) for document, by_index in chunks.items()}


async def _fetch(connection: Connection, query: str, **values: Any) -> list[dict[str, Any]]:
    cursor = await connection.execute(QUERIES[query], values)
    return await cursor.fetchall()


async def _remove(connection: Connection, key: Mapping[str, Any]) -> bool:
    """Takes the collection's lock, which the transaction keeps."""
    await connection.execute(QUERIES["lock_collection"], key)
    await connection.execute(QUERIES["remove_statistics"], key)
    await _refresh(connection, key, sign=-1)
    return (await connection.execute(QUERIES["delete_document"], key)).rowcount > 0


async def _refresh(connection: Connection, key: Mapping[str, Any], *, sign: int) -> None:
    size = (await _fetch(connection, "measure_document", **key))[0]
    await connection.execute(
        QUERIES["refresh_collection"], {**key, "chunks": sign * size["chunks"], "chars": sign * size["chars"]}
    )


def _collection(row: Mapping[str, Any]) -> Collection:
    return Collection(row["collection_id"], row["owner_id"], row["name"], row["embedding_model"])


def _document(row: Mapping[str, Any]) -> Document:
    return Document(
        id=row["document_id"],
        collection_id=row["collection_id"],
        source=row["source"],
        filename=row["filename"],
        media_type=row["media_type"],
        content_hash=row["content_hash"],
        language=row["language"],
        title=row["title"],
        created_at=row["created_at"],
    )


def _document_values(document: Document) -> dict[str, Any]:
    return {
        "source": document.source,
        "filename": document.filename,
        "media_type": document.media_type,
        "content_hash": document.content_hash,
        "language": document.language,
        "title": document.title,
        "created_at": document.created_at,
    }


def _chunk(row: Mapping[str, Any]) -> Chunk:
    return Chunk(
        id=row["chunk_id"],
        index=row["chunk_index"],
        content=row["content"],
        start_char=row["start_char"],
        end_char=row["end_char"],
        window_start=row["window_start"],
        context=row["context"],
        document=_document(row),
    )


def _chunk_values(chunk: Chunk, language: str) -> dict[str, Any]:
    return {
        "chunk_id": chunk.id,
        "chunk_index": chunk.index,
        "content": chunk.content,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "window_start": chunk.window_start,
        "context": chunk.context,
        "language": language,
    }

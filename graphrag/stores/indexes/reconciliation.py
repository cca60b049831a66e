"""Entries of an index, and bringing it in step with PostgreSQL."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrag.db.database import Database, fetch, queries
from graphrag.models import Chunk, Collection, VectorKind
from graphrag.models.ingestion import IndexedDocument, IndexEntry
from graphrag.protocols import ChunkIndex
from graphrag.stores.postgres.rows import read_chunk

Version = tuple[bytes, int, datetime | None]  # of a chunk: its text's hash, where its overlap starts, its expiry
BOTH: frozenset[VectorKind] = frozenset({"content", "contextual"})
PLAIN: frozenset[VectorKind] = frozenset({"content"})
SITUATED: frozenset[VectorKind] = frozenset({"contextual"})


def entries_of(collection: Collection, indexed: IndexedDocument) -> Iterator[IndexEntry]:
    """Raises ValueError where there is not one vector a chunk."""
    contextual = indexed.contextual_vectors or indexed.vectors
    for chunk, plain, situated in zip(indexed.chunks, indexed.vectors, contextual, strict=True):
        yield from chunk_entries(collection, chunk, plain, situated)


def chunk_entries(collection: Collection, chunk: Chunk, plain: ArrayLike, situated: ArrayLike) -> Iterator[IndexEntry]:
    """One of both kinds, or one of each where the vectors differ, in the precision that PostgreSQL keeps."""
    vector, in_context = np.asarray(plain, np.float16), np.asarray(situated, np.float16)
    if np.array_equal(vector, in_context):
        yield _entry(collection, chunk, vector, BOTH)
    else:
        yield _entry(collection, chunk, vector, PLAIN)
        yield _entry(collection, chunk, in_context, SITUATED)


def entry_ids(collection: Collection, chunk: Chunk, kind: VectorKind) -> set[UUID]:
    """Return the ids of the entries by which a search of this kind may find the chunk's current version."""
    version = _version(chunk)
    return {_id(collection, chunk.id, version, kinds) for kinds in (BOTH, PLAIN, SITUATED) if kind in kinds}


def stored_entry_ids(collection: Collection, row: dict[str, Any]) -> list[UUID]:
    """Return the ids of the entries that belong to a row of `list_chunk_versions`."""
    kinds = (PLAIN, SITUATED) if row["is_situated"] else (BOTH,)
    version = (row["digest"], row["window_start"], row["expires_at"])
    return [_id(collection, row["chunk_id"], version, of) for of in kinds]


def _entry(
    collection: Collection, chunk: Chunk, vector: NDArray[np.float16], kinds: frozenset[VectorKind]
) -> IndexEntry:
    values: Sequence[float] | None = vector.tolist() if vector.any() else None
    return IndexEntry(_id(collection, chunk.id, _version(chunk), kinds), chunk, values, kinds)


def _version(chunk: Chunk) -> Version:
    """All that an entry is made from beside the model: ids of chunks come again when a document is chunked anew."""
    digest = sha256(f"{chunk.context}\n{chunk.content}".encode()).digest()
    return digest, chunk.window_start, chunk.document.expires_at


def _id(collection: Collection, chunk_id: UUID, version: Version, kinds: frozenset[VectorKind]) -> UUID:
    digest, window_start, expires_at = version
    until = expires_at.timestamp() if expires_at else ""
    of = f"{collection.owner_id} {collection.id} {collection.embedding_model} {sorted(kinds)}"
    return uuid5(chunk_id, f"{digest.hex()} {window_start} {until} {of}")


QUERIES = queries(Path(__file__).with_name("indexed.sql"))
BATCH = 500  # chunks whose vectors are read at once


@dataclass(frozen=True, slots=True)
class Reconciliation:
    database: Database
    index: ChunkIndex

    async def run(self, collection: Collection, documents: Sequence[UUID] | None = None) -> None:
        """Add missing entries and delete outdated ones: of these documents, or of all.

        Raises IndexUnavailable or DatabaseUnavailable.
        """
        indexed = await self.index.list_entries(collection, documents)
        wanted = await self._wanted(collection, documents)  # afterwards: what is stored meanwhile is not outdated
        await self._put(collection, [chunk for entry, chunk in wanted.items() if entry not in indexed])
        if outdated := indexed - wanted.keys():
            await self.index.delete(collection, [*outdated])
            # What a writer had put, but not stored yet, looked outdated: either it or we find it missing.
            indexed, wanted = (
                await self.index.list_entries(collection, documents),
                await self._wanted(collection, documents),
            )
            await self._put(collection, [chunk for entry, chunk in wanted.items() if entry not in indexed])

    async def _put(self, collection: Collection, chunks: Sequence[UUID]) -> None:
        for start in range(0, len(chunks), BATCH):
            entries = await self._read(collection, chunks[start : start + BATCH])
            await self.index.put(collection, entries)
            wanted = await self._wanted(collection, list({entry.chunk.document.id for entry in entries}))
            if gone := {entry.id for entry in entries} - wanted.keys():  # deleted after they were read
                await self.index.delete(collection, [*gone])

    async def _read(self, collection: Collection, chunks: Sequence[UUID]) -> list[IndexEntry]:
        values = {"collection_id": collection.id, "model": collection.embedding_model, "chunks": list(chunks)}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["read_chunk_vectors"], values)
        return [
            entry
            for row in rows
            for entry in chunk_entries(collection, read_chunk(row), row["plain"].to_numpy(), row["situated"].to_numpy())
        ]

    async def _wanted(self, collection: Collection, documents: Sequence[UUID] | None) -> dict[UUID, UUID]:
        """Return the entries that the index should have, as entry id → chunk id."""
        values = {"collection_id": collection.id, "model": collection.embedding_model, "documents": documents}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["list_chunk_versions"], values)
        return {entry: row["chunk_id"] for row in rows for entry in stored_entry_ids(collection, row)}

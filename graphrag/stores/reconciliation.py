"""An index is brought in step with what PostgreSQL holds: after a write, a restored backup, a change of model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from graphrag.database import Database, queries
from graphrag.index_models import IndexEntry
from graphrag.models import Collection
from graphrag.protocols import ChunkIndex
from graphrag.stores.index_entries import chunk_entries, stored_entry_ids
from graphrag.stores.queries import fetch
from graphrag.stores.rows import read_chunk

QUERIES = queries(Path(__file__).with_name("indexed.sql"))
BATCH = 500  # chunks whose vectors are read at once


@dataclass(frozen=True, slots=True)
class Reconciliation:
    database: Database
    index: ChunkIndex

    async def run(self, collection: Collection, documents: Sequence[UUID] | None = None) -> None:
        """Of these documents, or of all. Raises IndexUnavailable, DatabaseUnavailable."""
        held = await self.index.list_entries(collection, documents)
        wanted = await self._wanted(collection, documents)  # afterwards: what is stored meanwhile is not strange
        await self._put(collection, [chunk for entry, chunk in wanted.items() if entry not in held])
        if strange := held - wanted.keys():
            await self.index.delete(collection, [*strange])
            # What a writer had put, but not stored yet, looked strange: either it or we find it missing.
            held, wanted = (
                await self.index.list_entries(collection, documents),
                await self._wanted(collection, documents),
            )
            await self._put(collection, [chunk for entry, chunk in wanted.items() if entry not in held])

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
        """By the ids of the entries that there should be, their chunks."""
        values = {"collection_id": collection.id, "model": collection.embedding_model, "documents": documents}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["list_chunk_versions"], values)
        return {entry: row["chunk_id"] for row in rows for entry in stored_entry_ids(collection, row)}

"""The smallest ChunkIndex: in memory, for one process. What it takes to add another system."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from graphrag.index_models import Candidate, IndexEntry
from graphrag.language import fold, words
from graphrag.models import Collection, VectorKind
from graphrag.settings import Settings

Key = tuple[str, UUID]


class ToyIndex:
    name = "toy"
    ranks_words = True

    def __init__(self, _: Settings | None = None) -> None:
        self.entries: dict[Key, dict[UUID, tuple[str, IndexEntry]]] = defaultdict(dict)  # with their models

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def put(self, collection: Collection, entries: Sequence[IndexEntry]) -> None:
        self.entries[_key(collection)] |= {entry.id: (collection.embedding_model, entry) for entry in entries}

    async def delete(self, collection: Collection, entries: Sequence[UUID]) -> None:
        for entry in entries:
            self.entries[_key(collection)].pop(entry, None)

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> None:
        await self.delete(collection, [*await self.list_entries(collection, documents)])

    async def delete_collection(self, collection: Collection) -> None:
        self.entries.pop(_key(collection), None)

    async def delete_expired(self) -> None:
        for key, held in self.entries.items():
            self.entries[key] = {id: pair for id, pair in held.items() if not _is_expired(pair[1])}

    async def list_entries(self, collection: Collection, documents: Sequence[UUID] | None = None) -> set[UUID]:
        return {entry.id for _, entry in self.entries[_key(collection)].values() if _is_of(entry, documents)}

    async def search_vectors(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        kind: VectorKind,
        documents: Sequence[UUID] | None,
        limit: int,
    ) -> list[Candidate]:
        def cosine(entry: IndexEntry) -> float | None:
            return _cosine(vector, entry.vector) if entry.vector else None

        return self._best(collection, cosine, kind, documents, limit)

    async def search_words(
        self, collection: Collection, asked: Sequence[str], *, documents: Sequence[UUID] | None, limit: int
    ) -> list[Candidate]:
        """By the share of the words that it holds."""
        wanted = {fold(word) for word in asked}

        def share(entry: IndexEntry) -> float | None:
            text = f"{entry.chunk.context}\n{entry.chunk.content}"
            return len(wanted & {fold(word) for word in words(text)}) / len(wanted) or None

        return self._best(collection, share, "content", documents, limit)

    def _best(
        self,
        collection: Collection,
        score: Callable[[IndexEntry], float | None],
        kind: VectorKind,
        documents: Sequence[UUID] | None,
        limit: int,
    ) -> list[Candidate]:
        found = [
            Candidate(entry.id, entry.chunk.id, scored)
            for model, entry in self.entries[_key(collection)].values()
            if model == collection.embedding_model and kind in entry.kinds and _is_of(entry, documents)
            if not _is_expired(entry) and (scored := score(entry)) is not None
        ]
        return sorted(found, key=lambda candidate: -candidate.score)[:limit]


def _key(collection: Collection) -> Key:
    return collection.owner_id, collection.id


def _is_of(entry: IndexEntry, documents: Sequence[UUID] | None) -> bool:
    return documents is None or entry.chunk.document.id in documents


def _is_expired(entry: IndexEntry) -> bool:
    expires_at = entry.chunk.document.expires_at
    return expires_at is not None and expires_at <= datetime.now(UTC)


def _cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return max(0.0, sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b)))

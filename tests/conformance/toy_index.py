"""The smallest ChunkIndex: in memory, for one process."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from graphrag.config.settings import Settings
from graphrag.linguistics.language import fold, words
from graphrag.models import Collection, VectorKind
from graphrag.models.ingestion import Candidate, IndexEntry

Documents = Sequence[UUID] | None  # None: of all


class ToyIndex:
    name, ranks_words = "toy", True

    def __init__(self, _: Settings | None = None) -> None:  # by owner and collection: entries with their models
        self.entries: dict[tuple[str, UUID], dict[UUID, tuple[str, IndexEntry]]] = defaultdict(dict)

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def put(self, collection: Collection, entries: Sequence[IndexEntry]) -> None:
        known = self.entries[collection.owner_id, collection.id]
        known |= {entry.id: (collection.embedding_model, entry) for entry in entries}

    async def delete(self, collection: Collection, entries: Sequence[UUID]) -> None:
        for entry in entries:
            self.entries[collection.owner_id, collection.id].pop(entry, None)

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> None:
        await self.delete(collection, [*await self.list_entries(collection, documents)])

    async def delete_collection(self, collection: Collection) -> None:
        self.entries.pop((collection.owner_id, collection.id), None)

    async def delete_expired(self) -> None:
        for key, known in self.entries.items():
            self.entries[key] = {id: pair for id, pair in known.items() if not _is_expired(pair[1])}

    async def list_entries(self, collection: Collection, documents: Documents = None) -> set[UUID]:
        known = self.entries[collection.owner_id, collection.id].values()
        return {entry.id for _, entry in known if documents is None or entry.chunk.document.id in documents}

    async def search_vectors(
        self, collection: Collection, vector: Sequence[float], *, kind: VectorKind, documents: Documents, limit: int
    ) -> list[Candidate]:
        def cosine(entry: IndexEntry) -> float | None:
            lengths = np.linalg.norm(vector) * np.linalg.norm(entry.vector or 0)
            return max(0.0, float(np.dot(vector, entry.vector) / lengths)) if entry.vector else None

        return await self._best(collection, cosine, kind, documents, limit)

    async def search_words(
        self, collection: Collection, asked: Sequence[str], *, documents: Documents, limit: int
    ) -> list[Candidate]:
        def share(entry: IndexEntry) -> float | None:
            present = {fold(word) for word in words(f"{entry.chunk.context}\n{entry.chunk.content}")}
            return sum(fold(word) in present for word in asked) / len(asked) or None

        return await self._best(collection, share, "content", documents, limit)

    async def _best(
        self,
        collection: Collection,
        score: Callable[[IndexEntry], float | None],  # None: it is not found
        kind: VectorKind,
        documents: Documents,
        limit: int,
    ) -> list[Candidate]:
        among = await self.list_entries(collection, documents)
        found = [
            Candidate(entry.id, entry.chunk.id, scored)
            for model, entry in self.entries[collection.owner_id, collection.id].values()
            if entry.id in among and model == collection.embedding_model and kind in entry.kinds
            if not _is_expired(entry) and (scored := score(entry)) is not None
        ]
        return sorted(found, key=lambda candidate: -candidate.score)[:limit]


def _is_expired(entry: IndexEntry) -> bool:
    expires_at = entry.chunk.document.expires_at
    return expires_at is not None and expires_at <= datetime.now(UTC)

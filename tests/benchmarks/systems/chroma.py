"""Chroma: vectors alone, in a folder, in this process."""

import asyncio
from collections.abc import Mapping
from typing import Any, Self

import chromadb
from chromadb.config import Settings

from tests.benchmarks.systems.protocol import Batch, Search, Workplace, folder_bytes

# mypy: disable-error-code="import-not-found,import-untyped"
# The peers are in the extra `bench` alone.


class ChromaSystem:
    def __init__(self, client: Any, collection: Any, workplace: Workplace) -> None:
        self._client = client
        self._collection = collection
        self._workplace = workplace

    @classmethod
    async def open(cls, workplace: Workplace) -> Self:
        client = chromadb.PersistentClient(workplace.folder, settings=Settings(anonymized_telemetry=False))
        collection = client.create_collection(
            "passages", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        return cls(client, collection, workplace)

    @property
    def searches(self) -> Mapping[str, Search]:
        return {"": self._search}

    async def add(self, batch: Batch) -> None:
        size = self._client.get_max_batch_size()
        for start in range(0, len(batch.passages), size):
            part = slice(start, start + size)
            ids = [str(row) for row in batch.rows[part]]
            await asyncio.to_thread(
                self._collection.add, ids=ids, embeddings=batch.vectors[part], documents=batch.contents[part]
            )

    async def build_indexes(self) -> None:
        """Its index grows with every batch."""

    async def size_bytes(self) -> int:
        return folder_bytes(self._workplace.folder)

    async def close(self) -> None:
        self._client.close()

    async def _search(self, question: str, k: int) -> list[int]:
        vector = await self._workplace.embeddings.aembed_query(question)
        found = await asyncio.to_thread(self._collection.query, query_embeddings=[vector], n_results=k)
        return [int(row) for row in found["ids"][0]]

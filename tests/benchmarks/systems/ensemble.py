"""LangChain's EnsembleRetriever: BM25 in memory and vectors in PostgreSQL, each with half of the weight."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Self

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_postgres.v2.indexes import HNSWIndex
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.benchmarks.systems.databases import database_bytes
from tests.benchmarks.systems.pgvector_store import add_to_store, open_store, tidy
from tests.benchmarks.systems.protocol import Batch, Search, Workplace

# mypy: disable-error-code="import-not-found,import-untyped"
# The peers are in the extra `bench` alone.


EACH = 10  # as many as are asked for; with 50 of each, whose lower places agree by chance, it finds less
_WORD = re.compile(r"\w+")


class EnsembleSystem:
    """Its disk size is the vectors' alone: the BM25 index is in memory and is made anew at every start."""

    def __init__(self, store: Any, engine: AsyncEngine, workplace: Workplace) -> None:
        self._store = store
        self._engine = engine
        self._workplace = workplace
        self._documents: list[Document] = []
        self._retriever: Any = None

    @classmethod
    async def open(cls, workplace: Workplace) -> Self:
        engine, store = await open_store(workplace)
        return cls(store, engine, workplace)

    @property
    def searches(self) -> Mapping[str, Search]:
        return {"": self._search}

    async def add(self, batch: Batch) -> None:
        pairs = zip(batch.rows, batch.contents, strict=True)
        self._documents += [Document(content, metadata={"row": row}) for row, content in pairs]
        await add_to_store(self._store, batch)

    async def build_indexes(self) -> None:
        await self._store.aapply_vector_index(HNSWIndex())
        tidy(self._workplace.database)
        words = await asyncio.to_thread(
            BM25Retriever.from_documents, self._documents, preprocess_func=self._words, k=EACH
        )
        vectors = self._store.as_retriever(search_kwargs={"k": EACH})
        self._retriever = EnsembleRetriever(retrievers=[words, vectors], weights=[0.5, 0.5], id_key="row")

    async def size_bytes(self) -> int:
        return database_bytes(self._workplace.database)

    async def close(self) -> None:
        await self._engine.dispose()

    async def _search(self, question: str, k: int) -> list[int]:
        return [document.metadata["row"] for document in (await self._retriever.ainvoke(question))[:k]]

    def _words(self, text: str) -> list[str]:
        """In lower case, without punctuation: the default splits at spaces, and its documentation says to do better."""
        if self._retriever is None:
            self._workplace.check_deadline()
        return _WORD.findall(text.lower())

"""Causeway: hybrid search, with and without its reranker, and its full text alone."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Self
from uuid import UUID, uuid5

from pydantic import SecretStr

from graphrag.causal_graph.document_graph import chunk_graphs
from graphrag.config.settings import Settings
from graphrag.linguistics import language as languages
from graphrag.models import LOCAL_OWNER, Chunk, Collection, Document, Hit
from graphrag.models.graph import ChunkGraph
from graphrag.models.ingestion import IndexedDocument
from graphrag.query_transformation.transformation import transform
from graphrag.services import Services, open_services
from graphrag.stores.postgres.chunks import PostgresStore
from tests.benchmarks.corpus import Passage
from tests.benchmarks.systems.databases import database_bytes
from tests.benchmarks.systems.protocol import Batch, Search, Workplace

CREATED_AT = datetime(2026, 1, 1, tzinfo=UTC)
STORED_AT_ONCE = 500  # documents in a transaction
UNLIMITED = 1_000_000_000
REFERENCE_CANDIDATES = 5_000  # that exact BM25 orders; more would be read into memory for every question


class CausewaySystem:
    approximate = "full text"

    def __init__(self, services: Services, collection: Collection, url: str, *, has_graph: bool) -> None:
        self.services = services
        self.collection = collection
        self._url = url
        self._has_graph = has_graph

    @classmethod
    async def open(cls, workplace: Workplace, *, has_graph: bool = False) -> Self:
        """`has_graph`: names and causal relations of the texts are stored, too."""
        services = open_services(Settings.from_environment(database_url=SecretStr(workplace.database)))
        await services.open()
        collection = await services.store.create_collection(LOCAL_OWNER, "benchmark", embedding_model="bundled")
        return cls(services, collection, workplace.database, has_graph=has_graph)

    @property
    def searches(self) -> Mapping[str, Search]:
        return {"hybrid": self._hybrid, "hybrid + rerank": self._reranked, self.approximate: self._fulltext}

    async def add(self, batch: Batch) -> None:
        rows = zip(batch.rows, batch.passages, batch.vectors, strict=True)
        documents = []
        for name, group in groupby(rows, key=lambda row: row[1].document):
            numbers, passages, vectors = zip(*group, strict=True)
            document = self._document(name, passages[0])
            chunks = _chunks(document, numbers, passages)
            graph = self._graph(document, chunks) if self._has_graph else ()
            documents.append(IndexedDocument(document, chunks, vectors, graph=graph))
        for start in range(0, len(documents), STORED_AT_ONCE):
            await self.services.store.put_documents(self.collection, documents[start : start + STORED_AT_ONCE])

    async def build_indexes(self) -> None:
        await self.services.store.optimize(self.collection)
        # As read for a question: it knows how big it has become.
        self.collection = await self.services.collections.open(LOCAL_OWNER, self.collection.name)

    async def size_bytes(self) -> int:
        return database_bytes(self._url)

    async def exact(self, question: str, k: int) -> list[int]:
        """BM25 over all that match, not over the rarest words' matches alone."""
        store = PostgresStore(self.services.database, fulltext_candidates=UNLIMITED)
        hits = await store.search_fulltext(self.collection, _words(question), limit=REFERENCE_CANDIDATES)
        return _rows(hits[:k])

    async def close(self) -> None:
        await self.services.close()

    async def _hybrid(self, question: str, k: int) -> list[int]:
        return await self._search(question, k, rerank=False)

    async def _reranked(self, question: str, k: int) -> list[int]:
        return await self._search(question, k, rerank=True)

    async def _search(self, question: str, k: int, *, rerank: bool) -> list[int]:
        """Without the cache of results: it is the search that is measured."""
        choices = {"strategy": "hybrid", "top_k": k, "rerank": rerank}
        pipeline = self.services.retrieval.measured()
        transformed, _ = await pipeline.transform(question)
        query = await pipeline.plan(transformed, [self.collection], choices)
        return _rows((await pipeline.search(query)).hits)

    async def _fulltext(self, question: str, k: int) -> list[int]:
        return _rows(await self.services.store.search_fulltext(self.collection, _words(question), limit=k))

    def _graph(self, document: Document, chunks: Sequence[Chunk]) -> Sequence[ChunkGraph]:
        return chunk_graphs("".join(chunk.content for chunk in chunks), chunks, language=document.language)

    def _document(self, name: str, passage: Passage) -> Document:
        return Document(
            id=uuid5(self.collection.id, name),
            collection_id=self.collection.id,
            source=name,
            filename=name,
            media_type="text/plain",
            content_hash=name,
            language=passage.language,
            title=passage.title,
            created_at=CREATED_AT,
        )


def _chunks(document: Document, rows: Sequence[int], passages: Sequence[Passage]) -> list[Chunk]:
    chunks: list[Chunk] = []
    for index, (row, passage) in enumerate(zip(rows, passages, strict=True)):
        start = chunks[-1].end_char if chunks else 0
        end = start + len(passage.text)
        chunks.append(Chunk(UUID(int=row), index, passage.text, start, end, start, passage.title, document))
    return chunks


def _words(question: str) -> list[str]:
    query = transform(question)
    return languages.content_words(query.original, query.language)


def _rows(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk.id.int for hit in hits]

"""Stand-ins for tests and notebooks: a store in memory, and parts that fail on purpose."""

import math
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from uuid import UUID, uuid4

from langchain_core.embeddings import Embeddings

from graphrag.causal_graph.document_graph import assemble_mentions
from graphrag.config.settings import GenerationConfig, IngestionConfig, RetrievalConfig
from graphrag.errors import CollectionChanged, CollectionExists, CollectionNotFound
from graphrag.linguistics.language import fold, stem, stop_words
from graphrag.linguistics.language import words as words_of
from graphrag.linguistics.spelling import nearest_word
from graphrag.models import EVERYTHING, Chunk, Collection, Document, Filters, FulltextRanking, Hit, Synonym
from graphrag.models.ingestion import IndexedDocument
from graphrag.retrieval.filters import lets_through
from graphrag.stores.postgres.search import SYNONYM_WEIGHT

K1, B = 1.2, 0.75


@dataclass
class _Shelf:
    collection: Collection
    documents: dict[UUID, Document] = field(default_factory=dict)
    chunks: dict[UUID, list[Chunk]] = field(default_factory=dict)
    vectors: dict[UUID, Sequence[float]] = field(default_factory=dict)
    indexed: dict[UUID, IndexedDocument] = field(default_factory=dict)
    contextual: dict[UUID, Sequence[float]] = field(default_factory=dict)  # of the chunks that have been situated


class InMemoryStore:
    """A ChunkStore that keeps the promises of one, without speed."""

    def __init__(self, *, contextual: bool = False) -> None:
        self._contextual = contextual
        self._shelves: dict[UUID, _Shelf] = {}

    async def list_collections(self, owner_id: str) -> list[Collection]:
        owned = [shelf.collection for shelf in self._shelves.values() if shelf.collection.owner_id == owner_id]
        return sorted(owned, key=lambda collection: collection.name)

    async def create_collection(
        self, owner_id: str, name: str, *, embedding_model: str, is_new: bool = False
    ) -> Collection:
        for known in await self.list_collections(owner_id):
            if known.name == name and is_new:
                raise CollectionExists(f"There is a collection {name!r} already.", name=name)
            if known.name == name:
                return known
        collection = Collection(uuid4(), owner_id, name, embedding_model)
        self._shelves[collection.id] = _Shelf(collection)
        return collection

    async def rename_collection(self, collection: Collection, name: str) -> Collection:
        self._owned(collection)
        shelf = self._shelf(collection)
        if any(
            name == other.name
            for other in await self.list_collections(collection.owner_id)
            if other.id != collection.id
        ):
            raise CollectionExists(f"There is a collection {name!r} already.", name=name)
        shelf.collection = replace(shelf.collection, name=name)
        return shelf.collection

    async def delete_collection(self, collection: Collection) -> bool:
        is_mine = self._shelf(collection) is self._shelves.get(collection.id)
        return is_mine and self._shelves.pop(collection.id) is not None

    async def configure_collection(
        self,
        collection: Collection,
        config: Mapping[str, Any] | None = None,
        *,
        ingestion_config: Mapping[str, Any] | None = None,
        generation_config: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Collection:
        values: dict[str, Any] = {} if metadata is None else {"metadata": dict(metadata)}
        if config is not None:
            values["config"] = RetrievalConfig.checked(config)
        if ingestion_config is not None:
            values["ingestion_config"] = IngestionConfig.checked(ingestion_config)
        if generation_config is not None:
            values["generation_config"] = GenerationConfig.checked(generation_config)
        self._owned(collection)
        shelf = self._shelf(collection)
        shelf.collection = replace(shelf.collection, **values)
        return shelf.collection

    async def find_documents(
        self, collection: Collection, *, content_hashes: Sequence[str] = (), ids: Sequence[UUID] = ()
    ) -> list[Document]:
        live = self._live_documents(collection)
        return [document for document in live if document.content_hash in content_hashes or document.id in ids]

    async def list_documents(self, collection: Collection) -> list[Document]:
        documents = self._live_documents(collection)
        return sorted(documents, key=lambda document: (document.created_at, document.id))

    async def find_filenames(self, collection: Collection, names: Sequence[str]) -> list[str]:
        wanted = {fold(name) for name in names}
        known = {document.filename for document in self._live_documents(collection)}
        return sorted(name for name in known if fold(name) in wanted)

    async def find_spellings(self, collection: Collection, words: Sequence[str]) -> dict[str, str]:
        chunks = [chunk for indexed in self.indexed(collection) for chunk in indexed.chunks]
        held = [word for chunk in chunks for word in words_of(f"{chunk.context}\n{chunk.content}")]
        languages = {chunk.document.language for chunk in chunks}
        known = {form for word in held for form in (fold(word), *(stem(word, language) for language in languages))}
        missing = [word for word in words if known.isdisjoint({fold(word), *(stem(word, into) for into in languages)})]
        return {word: written for word in missing if (written := nearest_word(word, held))}

    async def put_documents(self, collection: Collection, documents: Sequence[IndexedDocument]) -> list[UUID]:
        """Store documents; every ticket is accepted, because this store has no ingestions."""
        if self._owned(collection).embedding_model != collection.embedding_model:
            raise CollectionChanged(f"The collection {collection.name!r} has moved to another embedding model.")
        embedded = [list(zip(indexed.chunks, indexed.vectors, strict=True)) for indexed in documents]
        for indexed in documents:
            assemble_mentions(indexed)  # or raises
        for indexed, pairs in zip(documents, embedded, strict=True):
            await self.delete_document(collection, indexed.document.id)
            shelf = self._shelf(collection)
            shelf.documents[indexed.document.id] = indexed.document
            shelf.chunks[indexed.document.id] = [replace(chunk, document=indexed.document) for chunk, _ in pairs]
            shelf.vectors.update({chunk.id: vector for chunk, vector in pairs})
            shelf.indexed[indexed.document.id] = indexed
            if indexed.contextual_vectors is not None:
                situated = zip(indexed.chunks, indexed.contextual_vectors, strict=True)
                shelf.contextual.update({chunk.id: vector for chunk, vector in situated})
                shelf.collection = replace(shelf.collection, has_contextual=True)
        self._changed(collection)
        return [indexed.document.id for indexed in documents]

    async def delete_document(self, collection: Collection, document_id: UUID) -> bool:
        shelf = self._shelf(collection)
        for chunk in shelf.chunks.pop(document_id, []):
            del shelf.vectors[chunk.id]
            shelf.contextual.pop(chunk.id, None)
        shelf.indexed.pop(document_id, None)
        self._changed(collection)
        return shelf.documents.pop(document_id, None) is not None

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> list[UUID]:
        return [document for document in dict.fromkeys(documents) if await self.delete_document(collection, document)]

    async def optimize(self, collection: Collection) -> None:
        """Do nothing: there is nothing to optimize."""

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
        """Always by BM25, over what the filters let through."""
        chunks = self._searchable(collection, filters)
        scores = _bm25(words, synonyms, chunks)
        found = [
            Hit(chunk, score, {"fulltext": score})
            for chunk, score in zip(chunks, scores, strict=True)
            if score and all(_holds_phrase(chunk, phrase) for phrase in phrases)
        ]
        return sorted(found, key=_order)[:limit]

    async def search_vectors(
        self, collection: Collection, vector: Sequence[float], *, filters: Filters = EVERYTHING, limit: int
    ) -> list[Hit]:
        shelf = self._shelf(collection)
        wants_contextual = collection.ingestion_config.get("contextual_embeddings", self._contextual)
        stored = {**shelf.vectors, **shelf.contextual} if wants_contextual else shelf.vectors
        similarities = [(chunk, _cosine(vector, stored[chunk.id])) for chunk in self._searchable(collection, filters)]
        found = [Hit(chunk, score, {"vector": score}) for chunk, score in similarities if score is not None]
        return sorted(found, key=_order)[:limit]

    async def read_chunks(
        self, collection: Collection, spans: Sequence[tuple[UUID, int, int]]
    ) -> dict[UUID, list[Chunk]]:
        wanted: dict[UUID, set[int]] = {}
        for document, first, last in spans:
            wanted.setdefault(document, set()).update(range(first, last + 1))
        stored = self._shelf(collection).chunks
        return {
            document.id: [chunk for chunk in stored[document.id] if chunk.index in wanted[document.id]]
            for document in self._live_documents(collection)
            if document.id in wanted
        }

    async def read_tables(self, collection: Collection, documents: Sequence[UUID]) -> dict[UUID, list[bytes]]:
        found = {indexed.document.id: list(indexed.tables) for indexed in self.indexed(collection)}
        return {document: tables for document, tables in found.items() if tables and document in documents}

    def indexed(self, collection: Collection, filters: Filters = EVERYTHING) -> list[IndexedDocument]:
        """Return the indexed documents from which a graph is built."""
        live = self._live_documents(collection)
        return [self._shelf(collection).indexed[document.id] for document in live if lets_through(filters, document)]

    def _searchable(self, collection: Collection, filters: Filters) -> list[Chunk]:
        documents = [document for document in self._live_documents(collection) if lets_through(filters, document)]
        return [chunk for document in documents for chunk in self._shelf(collection).chunks[document.id]]

    def _live_documents(self, collection: Collection) -> list[Document]:
        return [document for document in self._shelf(collection).documents.values() if not _is_expired(document)]

    def _changed(self, collection: Collection) -> None:
        shelf = self._shelf(collection)
        shelf.collection = replace(
            shelf.collection,
            revision=shelf.collection.revision + 1,
            chunk_count=sum(map(len, shelf.chunks.values())),
        )

    def _owned(self, collection: Collection) -> Collection:
        """Return the collection's current state."""
        shelf = self._shelves.get(collection.id)
        if shelf is None or shelf.collection.owner_id != collection.owner_id:
            raise CollectionNotFound(f"There is no collection {collection.name!r}.", name=collection.name, known=[])
        return shelf.collection

    def _shelf(self, collection: Collection) -> _Shelf:
        """Another owner's collection is empty."""
        shelf = self._shelves.get(collection.id)
        return shelf if shelf and shelf.collection.owner_id == collection.owner_id else _Shelf(collection)


class InMemoryCache:
    """A Cache of one process."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], tuple[bytes, float]] = {}

    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        stored = {key: self._entries[owner_id, key] for key in keys if (owner_id, key) in self._entries}
        return {key: value for key, (value, until) in stored.items() if until > time.monotonic()}

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        until = time.monotonic() + seconds
        self._entries |= {(owner_id, key): (value, until) for key, value in values.items()}

    async def forget(self, owner_id: str, beginning: str) -> None:
        for owner, key in list(self._entries):
            if owner == owner_id and key.startswith(beginning):
                del self._entries[owner, key]


class FailingEmbeddings(Embeddings):
    """An embedding model that is down."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("the embedding model is down, on purpose")

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def _is_expired(document: Document) -> bool:
    return document.expires_at is not None and document.expires_at <= datetime.now(UTC)


def _terms(text: str, language: str) -> list[str]:
    found = chain.from_iterable((word, *(word.split("_") if "_" in word else ())) for word in words_of(text))
    return [stem(word, language) for word in found if fold(word) not in stop_words(language)]


def _chunk_terms(chunk: Chunk) -> Counter[str]:
    return Counter(_terms(f"{chunk.context}\n{chunk.context}\n{chunk.content}", chunk.document.language))


def _bm25(query: Sequence[str], synonyms: Sequence[Synonym], chunks: Sequence[Chunk]) -> list[float]:
    counts = [_chunk_terms(chunk) for chunk in chunks]
    languages = {chunk.document.language for chunk in chunks}
    terms = {stem(each.word, each.language): SYNONYM_WEIGHT for each in synonyms if each.language in languages}
    terms |= {stem(word, language): 1.0 for word in query for language in languages}
    frequency = {term: n for term in terms if (n := sum(term in count for count in counts))}
    idf = {term: terms[term] * math.log(1 + (len(chunks) - n + 0.5) / (n + 0.5)) for term, n in frequency.items()}
    average = sum(len(chunk.content) for chunk in chunks) / len(chunks) if chunks else 1.0
    most = sum(idf.values()) * (K1 + 1) or 1.0
    return [
        sum(
            idf[term] * count[term] * (K1 + 1) / (count[term] + K1 * (1 - B + B * len(chunk.content) / average))
            for term in idf
        )
        / most
        for chunk, count in zip(chunks, counts, strict=True)
    ]


def _holds_phrase(chunk: Chunk, phrase: str) -> bool:
    flat = " ".join(re.findall(r"\w+", fold(f"{chunk.context}\n{chunk.content}")))
    wanted = " ".join(re.findall(r"\w+", fold(phrase)))
    return f" {wanted} " in f" {flat} "


def _cosine(a: Sequence[float], b: Sequence[float]) -> float | None:
    """None where one of them has no direction."""
    lengths = math.hypot(*a) * math.hypot(*b)
    return max(0.0, sum(x * y for x, y in zip(a, b, strict=True)) / lengths) if lengths else None


def _order(hit: Hit) -> tuple[float, float, str]:
    return (-hit.score, -hit.chunk.document.created_at.timestamp(), str(hit.chunk.id))

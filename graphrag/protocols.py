"""Every plug on one page. Implementations don't inherit from these; conformance suites hold them to the promises."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from uuid import UUID

from graphrag.models import (
    EVERYTHING,
    Chunk,
    Collection,
    Direction,
    Document,
    Filters,
    FulltextRanking,
    Hit,
    Synonym,
    VectorKind,
)
from graphrag.models.graph import CausalEdge, CausalNeighbourhood, MentionEdge
from graphrag.models.ingestion import Candidate, IndexedDocument, IndexEntry

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")
NOTHING: Mapping[UUID, float] = MappingProxyType({})


class ChunkStore(Protocol):
    """Keeps documents as chunks with their vectors, and finds them again, for one owner at a time.

    A collection is the key to its owner's rows: nothing of another owner is ever read or changed.
    """

    async def list_collections(self, owner_id: str) -> list[Collection]:
        """List the owner's collections by name."""
        ...

    async def create_collection(
        self, owner_id: str, name: str, *, embedding_model: str, is_new: bool = False
    ) -> Collection:
        """The one of that name, made where there is none. Raises CollectionExists where it is to be new and is not."""
        ...

    async def rename_collection(self, collection: Collection, name: str) -> Collection:
        """Raises CollectionExists where another one has the name, or CollectionNotFound."""
        ...

    async def delete_collection(self, collection: Collection) -> bool:
        """Delete a collection with its content; return False if it doesn't exist."""
        ...

    async def configure_collection(
        self,
        collection: Collection,
        config: Mapping[str, Any] | None = None,
        *,
        ingestion_config: Mapping[str, Any] | None = None,
        generation_config: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Collection:
        """Replace the collection's settings and metadata and return the collection.

        None leaves them. Raises InvalidSettings, or CollectionNotFound if the owner has no such collection.
        """
        ...

    async def find_documents(
        self, collection: Collection, *, content_hashes: Sequence[str] = (), ids: Sequence[UUID] = ()
    ) -> list[Document]:
        """Return the documents with any of the ids or contents."""
        ...

    async def list_documents(self, collection: Collection) -> list[Document]: ...

    async def find_filenames(self, collection: Collection, names: Sequence[str]) -> list[str]:
        """Return the documents' file names that equal one of `names`, whatever the case and accents."""
        ...

    async def find_spellings(self, collection: Collection, words: Sequence[str]) -> dict[str, str]:
        """Return, for each word that no chunk holds in any form, the nearest word of a chunk, as it is written there.

        Nothing for a word that none is near to, as `graphrag.linguistics.spelling.nearest_word` says.
        """
        ...

    async def put_documents(self, collection: Collection, documents: Sequence[IndexedDocument]) -> list[UUID]:
        """Store all documents or none; those with the same id are replaced at the same instant.

        Returns the ids of the stored ones: a document whose ticket is no longer wanted is left out.

        Raises CollectionNotFound, or CollectionChanged if the collection has another embedding model by now.
        """
        ...

    async def delete_document(self, collection: Collection, document_id: UUID) -> bool:
        """False where there was none."""
        ...

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> list[UUID]:
        """All of them at once: those that there were."""
        ...

    async def optimize(self, collection: Collection) -> None:
        """Make searches fast after a load; searches and writers continue meanwhile."""
        ...

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
        """Chunks that hold any of the words and all of the phrases, best first; scores in [0, 1].

        A synonym, in chunks of its language, counts less than the word that it stands for.
        """
        ...

    async def search_vectors(
        self, collection: Collection, vector: Sequence[float], *, filters: Filters = EVERYTHING, limit: int
    ) -> list[Hit]:
        """The nearest chunks, `limit` of them where there are so many; the score is the cosine, not below 0.

        By their vectors in context where the collection's contextual_embeddings are on; a chunk that has none, by its
        plain one.
        """
        ...

    async def read_chunks(
        self, collection: Collection, spans: Sequence[tuple[UUID, int, int]]
    ) -> dict[UUID, list[Chunk]]:
        """Chunks by document, in order, for spans of (document id, first index, last index); overlaps come once."""
        ...

    async def read_tables(self, collection: Collection, documents: Sequence[UUID]) -> dict[UUID, list[bytes]]:
        """The typed tables of documents as they were put, in order, for those that have any."""
        ...


async def read_from_each(
    collections: Sequence[Collection], read: Callable[[Collection], Awaitable[Mapping[KeyT, ValueT]]]
) -> dict[KeyT, ValueT]:
    """Return what the collections hold of documents, together; a document is in one of them."""
    found = await asyncio.gather(*map(read, collections))
    return {key: value for part in found for key, value in part.items()}


class ChunkIndex(Protocol):
    """Another system that finds chunks by their vectors, and maybe by words, for one owner at a time.

    What it finds is read in PostgreSQL (`stores.indexed.IndexedStore`): one that is behind finds less, never what is
    gone. Entries are searched with their embedding model, listed and deleted with any. Each raises IndexUnavailable.
    """

    name: str  # in messages, logs and RAG_INDEX
    ranks_words: bool  # whether it has a `search_words`; PostgreSQL's is used where not

    async def open(self) -> None:
        """Makes what it needs there; safe to do again. Raises InvalidSettings or MissingExtra, too."""
        ...

    async def close(self) -> None: ...

    async def put(self, collection: Collection, entries: Sequence[IndexEntry]) -> None:
        """All of them, in place of those with the same id. Raises IndexUnavailable where one was not taken."""
        ...

    async def delete(self, collection: Collection, entries: Sequence[UUID]) -> None:
        """Delete entries by id; missing ones are ignored."""
        ...

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> None: ...

    async def delete_collection(self, collection: Collection) -> None: ...

    async def delete_expired(self) -> None:
        """Delete the expired entries of all owners."""
        ...

    async def list_entries(self, collection: Collection, documents: Sequence[UUID] | None = None) -> set[UUID]:
        """The ids, of these documents, or of all. One without a vector may be left out."""
        ...

    async def search_vectors(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        kind: VectorKind,
        documents: Sequence[UUID] | None,
        limit: int,
    ) -> list[Candidate]:
        """The nearest entries of this kind that have not expired, best first: of these documents, or of all."""
        ...

    async def search_words(
        self, collection: Collection, words: Sequence[str], *, documents: Sequence[UUID] | None, limit: int
    ) -> list[Candidate]:
        """Return candidates of kind "content" by the index's own ranking, best first.

        Unknown words may match similar ones.
        """
        ...


class Retriever(Protocol):
    """Another service that finds passages of documents which are not here: `Document.is_elsewhere`."""

    async def retrieve(self, question: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits, best first. Raises ProviderError or OutOfTime."""
        ...


class GraphStore(Protocol):
    """Reads the graph that a ChunkStore keeps with its documents, for one owner at a time.

    Expired documents are not in it, nor are those that the filters leave out.
    """

    async def find_causal_neighbourhood(
        self,
        collection: Collection,
        words: Sequence[str],
        *,
        near: Mapping[UUID, float] = NOTHING,
        direction: Direction | None,
        depth: int = 3,
        width: int = 50,
        filters: Filters = EVERYTHING,
    ) -> CausalNeighbourhood:
        """Return causes, effects or both (`direction` None) of the entities that the words name, nearest first.

        `words` are `concepts.concept_words`; only relations stated as facts count. `near` gives chunks about the
        question, as a search by vectors finds them, with a confidence in (0, 1]: their causes and effects are starts
        too, and those elsewhere in their documents with half the confidence.

        A walk has at most `depth` edges, each from the end of the last or from an entity that means nearly the same;
        each step keeps the `width` best by start, confidences and similarities.
        """
        ...

    async def find_mention_neighbourhood(
        self,
        collection: Collection,
        chunks: Sequence[UUID],
        keys: Sequence[str],
        *,
        steps: int = 2,
        width: int = 500,
        filters: Filters = EVERYTHING,
    ) -> list[MentionEdge]:
        """Return the edges between chunks that share names, up to `steps` names away from `chunks` and `keys`.

        Each step keeps the `width` chunks that share the most and the rarest names. The edges are the names that two of
        all these chunks share, or that are among the keys. Names in more than 100 chunks make no edges.
        """
        ...

    async def find_titles(
        self, collection: Collection, keys: Sequence[str], *, filters: Filters = EVERYTHING
    ) -> dict[str, list[UUID]]:
        """Return the keys that are titles, as key → the first chunk of each document with that title."""
        ...

    async def read_hits(
        self, collection: Collection, chunks: Sequence[UUID], *, filters: Filters = EVERYTHING
    ) -> list[Hit]:
        """Return these chunks in this order, each with a score of 0; missing ones are left out."""
        ...

    async def list_causal_edges(
        self, collection: Collection, *, entity: str | None = None, limit: int = 200
    ) -> list[CausalEdge]:
        """List causal relations, whether stated as facts or not, with the highest confidence first.

        With `entity`, those within two edges of the entities that contain its words, nearest first.
        """
        ...


class Reranker(Protocol):
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        """The `top_k` hits that answer the query best, best first; scores in [0, 1], those of earlier stages kept."""
        ...


class Cache(Protocol):
    """Bytes by key, each owner's apart, until their time is over."""

    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the stored values of these keys."""
        ...

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        """Values that are there already are replaced."""
        ...

    async def forget(self, owner_id: str, beginning: str) -> None:
        """All whose keys begin so."""
        ...


class FileStorage(Protocol):
    """The original files of documents, by keys of our own making: "collection/document/content", in ids and hashes.

    Any other key raises ValueError. A storage that can't be reached raises FileUnavailable.
    """

    async def put(self, key: str, data: bytes) -> None:
        """Whole or not at all, in place of what was there."""
        ...

    async def get(self, key: str) -> bytes:
        """Raises FileUnavailable where there is none, too: `details["reason"]` tells."""
        ...

    async def delete(self, prefix: str) -> None:
        """The file of that key, or all of a document's or a collection's; that there are none is fine."""
        ...

    async def list(self, prefix: str) -> list[str]:
        """The keys of a document's or a collection's files, sorted."""
        ...

"""Vectors in Chroma: in a folder of ours, or in a server. Needs the extra chroma.

Each of our collections has one of Chroma's for each embedding model, which is found by its name: a filter by owner and
collection among 10,000 others' entries takes 70 ms where a search takes 10.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5

import fasteners

from graphrag.config.settings import Settings
from graphrag.errors import IndexUnavailable, InvalidSettings, MissingExtra, install_command
from graphrag.models import Collection, VectorKind
from graphrag.models.ingestion import Candidate, IndexEntry
from graphrag.stores.indexes import slices

PREFIX = "causeway-"
# ef_search as PostgreSQL's: stores.vectors.EF_SEARCH. With Chroma's own other values, now and then a graph of 240
# neighbours leaves some of them out of reach.
HNSW = {"space": "cosine", "ef_search": 200, "ef_construction": 200, "max_neighbors": 32}
BATCH = 500  # entries, which a busy machine takes well within the time for a call
PORTS = {"http": 8000, "https": 443}


class ChromaIndex:
    name = "chroma"
    ranks_words = False

    def __init__(self, settings: Settings) -> None:
        """Raises InvalidSettings or MissingExtra."""
        try:
            import chromadb
        except ImportError as exc:
            raise MissingExtra.of("RAG_INDEX=chroma", install_command("chroma")) from exc
        self._chromadb = chromadb
        self._server = _address(settings.storage.index_url) if settings.storage.index_url else None
        self._key = settings.storage.index_api_key
        self._seconds = settings.storage.index_timeout_seconds
        self._folder = settings.storage.home / "chroma"
        self._lock = fasteners.InterProcessLock(self._folder / "in-use.lock")
        self._client: Any = None

    async def open(self) -> None:
        if self._client is None:
            self._client = await (self._connect() if self._server else self._open_folder())

    async def close(self) -> None:
        if self._client is None:
            return
        if self._server:
            await self._client._server.__aexit__(None, None, None)  # its one way to close the connections
        else:
            await asyncio.to_thread(self._client.close)
            self._lock.release()
        self._client = None

    async def put(self, collection: Collection, entries: Sequence[IndexEntry]) -> None:
        shelf = await self._call(
            self._client.get_or_create_collection,
            _name(collection),
            metadata={"embedding_model": collection.embedding_model},
            configuration={"hnsw": HNSW},
            embedding_function=None,  # else one that downloads its model
        )
        for batch in slices([entry for entry in entries if entry.vector], BATCH):
            await self._call(
                shelf.upsert,
                ids=[str(entry.id) for entry in batch],
                embeddings=[list(entry.vector or ()) for entry in batch],
                documents=[entry.chunk.content for entry in batch],
                metadatas=[_metadata(collection, entry) for entry in batch],
            )

    async def delete(self, collection: Collection, entries: Sequence[UUID]) -> None:
        for shelf in await self._shelves(collection):
            for batch in slices(entries, BATCH):
                await self._call(shelf.delete, ids=list(map(str, batch)))

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> None:
        for shelf in await self._shelves(collection):
            for batch in slices(documents, BATCH):
                await self._call(shelf.delete, where=_of(batch))

    async def delete_collection(self, collection: Collection) -> None:
        for shelf in await self._shelves(collection):
            await self._call(self._client.delete_collection, shelf.name)

    async def delete_expired(self) -> None:
        for shelf in await self._shelves():
            await self._call(shelf.delete, where={"expires_at": {"$lte": _now()}})

    async def list_entries(self, collection: Collection, documents: Sequence[UUID] | None = None) -> set[UUID]:
        found: set[UUID] = set()
        for shelf in await self._shelves(collection):
            for where in [None] if documents is None else map(_of, slices(documents, BATCH)):
                listed = await self._call(shelf.get, where=where, include=[])
                found.update(map(UUID, listed["ids"]))
        return found

    async def search_vectors(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        kind: VectorKind,
        documents: Sequence[UUID] | None,
        limit: int,
    ) -> list[Candidate]:
        """Return the nearest candidates that have not expired.

        A filter that nearly all entries pass takes six times as long as the search: so the few expired ones are removed
        afterwards, and the kind is filtered only in collections with two.
        """
        shelf = await self._find(collection)
        if shelf is None:
            return []
        where = _all(
            *([{str(kind): True}] if collection.has_contextual else []),
            *([_of(documents)] if documents is not None else []),
        )
        asked = limit
        while True:
            found = await self._call(
                shelf.query,
                query_embeddings=[list(vector)],
                n_results=asked,
                where=where,
                include=["metadatas", "distances"],
            )
            rows = list(zip(found["ids"][0], found["metadatas"][0], found["distances"][0], strict=True))
            live = [row for row in rows if row[1].get("expires_at", float("inf")) > _now()]
            if len(live) >= limit or len(rows) < asked:
                return [
                    Candidate(UUID(of), UUID(metadata["chunk"]), max(0.0, 1 - far))
                    for of, metadata, far in live[:limit]
                ]
            asked *= 2

    async def search_words(
        self, collection: Collection, words: Sequence[str], *, documents: Sequence[UUID] | None, limit: int
    ) -> list[Candidate]:
        """Return nothing, because Chroma doesn't rank by words."""
        return []

    async def _connect(self) -> Any:
        assert self._server
        settings = self._chromadb.config.Settings(anonymized_telemetry=False, chroma_server_ssl_verify=True)
        headers = {"X-Chroma-Token": self._key.get_secret_value()} if self._key else None
        return await self._call(self._chromadb.AsyncHttpClient, **self._server, headers=headers, settings=settings)

    async def _open_folder(self) -> Any:
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._lock.acquire(blocking=False):  # what another process adds would never be found by this one
            raise IndexUnavailable(
                f"Chroma's folder {self._folder} is another process's. For several, run `chroma run --path "
                f"{self._folder}` and set RAG_INDEX_URL.",
                index=self.name,
            )
        settings = self._chromadb.config.Settings(anonymized_telemetry=False)
        return await self._call(self._chromadb.PersistentClient, str(self._folder), settings=settings)

    async def _find(self, collection: Collection) -> Any | None:
        try:
            return await self._call(self._client.get_collection, _name(collection), embedding_function=None)
        except IndexUnavailable as exc:
            if isinstance(exc.__cause__, self._chromadb.errors.NotFoundError):
                return None
            raise

    async def _shelves(self, collection: Collection | None = None) -> list[Any]:
        """Chroma's collections of this one, whatever their embedding models, or of all."""
        listed = await self._call(self._client.list_collections)
        return [shelf for shelf in listed if shelf.name.startswith(_prefix(collection) if collection else PREFIX)]

    async def _call(self, verb: Callable[..., Any], /, *values: Any, **named: Any) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                if self._server:
                    return await verb(*values, **named)
                return await asyncio.to_thread(verb, *values, **named)
        except Exception as exc:  # of what it has no name for, its client makes an Exception
            raise IndexUnavailable(
                f"Chroma does not do what it is asked: {exc!r}. Check RAG_INDEX_URL and the server.", index=self.name
            ) from exc


def _address(url: str) -> dict[str, Any]:
    """Raises InvalidSettings."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port or PORTS[parts.scheme]
    except (KeyError, ValueError):
        host, port = None, 0
    if not host:
        raise InvalidSettings("RAG_INDEX_URL is no address of a Chroma server: use http://HOST:PORT.")
    return {"host": host, "port": port, "ssl": parts.scheme == "https"}


def _prefix(collection: Collection) -> str:
    """Return the prefix of a collection's names in Chroma: the owner is part of it, so owners never share a name."""
    return f"{PREFIX}{uuid5(collection.id, collection.owner_id).hex}-"


def _name(collection: Collection) -> str:
    return _prefix(collection) + sha256(collection.embedding_model.encode()).hexdigest()[:16]


def _metadata(collection: Collection, entry: IndexEntry) -> dict[str, str | float | bool]:
    document = entry.chunk.document
    metadata: dict[str, str | float | bool] = {
        "chunk": str(entry.chunk.id),
        "document": str(document.id),
        "collection": str(collection.id),
        "owner": collection.owner_id,
        **dict.fromkeys(entry.kinds, True),
    }
    return metadata | ({"expires_at": document.expires_at.timestamp()} if document.expires_at else {})


def _of(documents: Sequence[UUID]) -> dict[str, Any]:
    return {"document": {"$in": list(map(str, documents))}}


def _all(*conditions: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return {"$and": list(conditions)} if len(conditions) > 1 else next(iter(conditions), None)


def _now() -> float:
    return datetime.now(UTC).timestamp()

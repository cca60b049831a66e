"""Vectors and words in Milvus: in a folder of ours (Milvus Lite), in a server or a cluster. Needs the extra milvus.

Each embedding model has a collection of Milvus's for all owners, with the owner as partition key.
"""

import asyncio
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_fixed

from graphrag.config.settings import Settings
from graphrag.errors import IndexUnavailable, InvalidSettings, MissingExtra, install_command
from graphrag.linguistics.language import STEMMERS, fold, stem, words
from graphrag.models import Chunk, Collection, VectorKind
from graphrag.models.ingestion import Candidate, IndexEntry
from graphrag.stores.indexes import slices
from graphrag.stores.postgres.search import EF_SEARCH

T = TypeVar("T")
PREFIX = "causeway_"
CONSISTENCY = "Strong"  # whoever reads sees what anyone has written before
HNSW = {"M": 32, "efConstruction": 200}
BM25 = {"bm25_k1": 1.2, "bm25_b": 0.75}  # as PostgreSQL's
BATCH = 500  # entries or ids in one call
MOST_HITS = 16_384  # of one search
MOST_BYTES = 65_535  # of a text
NEVER = 253_402_300_799  # the last second of the year 9999
# Else a server that is back is tried two minutes later: gRPC waits longer each time, and new connections wait, too.
CHANNEL = {"grpc.use_local_subchannel_pool": 1, "grpc.max_reconnect_backoff_ms": 1_000}
COLLECTION_NOT_FOUND = 100  # pymilvus.exceptions.ErrorCode


class MilvusIndex:
    name = "milvus"
    ranks_words = True

    def __init__(self, settings: Settings) -> None:
        """Raises InvalidSettings or MissingExtra."""
        try:
            import pymilvus
        except ImportError as exc:
            raise MissingExtra.of("RAG_INDEX=milvus", install_command("milvus")) from exc
        for logger in ("pymilvus", "grpc._server"):  # which log what they raise or answer, with tracebacks
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        self._pymilvus = pymilvus
        self._url = settings.storage.index_url
        if self._url:
            _check_address(self._url)
        self._folder = settings.storage.home / "milvus"
        self._file = str(self._folder / "lite.db")
        self._key = settings.storage.index_api_key
        self._seconds = settings.storage.index_timeout_seconds
        self._client: Any = None
        self._dimensions: dict[str, int] = {}  # of the collections that are loaded

    async def open(self) -> None:
        if self._client is None:
            self._client = await self._call(asyncio.to_thread, self._connect, self._pymilvus.AsyncMilvusClient)
        await self._list_names()

    async def close(self) -> None:
        if self._client is None:
            return
        with suppress(TimeoutError):  # a channel that does not end goes with the process
            async with asyncio.timeout(self._seconds):
                await self._client.close()
        if not self._url:
            from milvus_lite import server_manager_instance

            await asyncio.to_thread(server_manager_instance.release_server, self._file)
        self._client = None
        self._dimensions.clear()

    async def put(self, collection: Collection, entries: Sequence[IndexEntry]) -> None:
        for batch in slices([entry for entry in entries if entry.vector], BATCH):
            name = await self._make(collection.embedding_model, len(batch[0].vector or ()))
            rows = [_row(collection, entry) for entry in batch]
            if await self._call(self._client.upsert, name, rows) is None:
                raise self._unavailable(f"its collection {name} is gone")

    async def delete(self, collection: Collection, entries: Sequence[UUID]) -> None:
        await self._delete(*_among(collection, "id", entries))

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> None:
        await self._delete(*_among(collection, "document", documents))

    async def delete_collection(self, collection: Collection) -> None:
        await self._delete(_belonging_to(collection))

    async def delete_expired(self) -> None:
        await self._delete(f"expires_at <= {int(time.time())}")

    async def list_entries(self, collection: Collection, documents: Sequence[UUID] | None = None) -> set[UUID]:
        filters = [_belonging_to(collection)] if documents is None else _among(collection, "document", documents)
        found: set[UUID] = set()
        for name in await self._list_names():
            for filter in filters:
                rows = await self._call(
                    self._client.query, name, filter=filter, output_fields=["id"], consistency_level=CONSISTENCY
                )
                found.update(UUID(row["id"]) for row in rows or ())
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
        await self._find(collection.embedding_model, len(vector))
        parameters = {"metric_type": "COSINE", "params": {"ef": max(EF_SEARCH, limit)}}
        hits = await self._search(
            collection, "embedding", list(vector), parameters, kind=kind, documents=documents, limit=limit
        )
        return [_candidate(hit, max(0.0, min(1.0, hit["distance"]))) for hit in hits]

    async def search_words(
        self, collection: Collection, words: Sequence[str], *, documents: Sequence[UUID] | None, limit: int
    ) -> list[Candidate]:
        """Rank by BM25 over the words' stems.

        Scores are brought into [0, 1] as Milvus's own WeightedRanker does it; Milvus Lite's are negative.
        """
        hits = await self._search(
            collection,
            "lexemes",
            _query_text(words),
            {"metric_type": "BM25"},
            kind="content",
            documents=documents,
            limit=limit,
        )
        return [_candidate(hit, 2 / math.pi * math.atan(abs(hit["distance"]))) for hit in hits]

    async def _search(
        self,
        collection: Collection,
        field: str,
        query: list[float] | str,
        parameters: dict[str, Any],
        *,
        kind: VectorKind,
        documents: Sequence[UUID] | None,
        limit: int,
    ) -> list[dict[str, Any]]:
        name = _name(collection.embedding_model)
        if await self._load(name) is None or documents == []:
            return []
        conditions = [_belonging_to(collection), f"{kind} == true", f"expires_at > {int(time.time())}"]
        conditions += [] if documents is None else [f"document in {_listed(documents)}"]
        found = await self._call(
            self._client.search,
            name,
            data=[query],
            anns_field=field,
            filter=" and ".join(conditions),
            limit=min(limit, MOST_HITS),
            search_params=parameters,
            output_fields=["chunk"],
            consistency_level=CONSISTENCY,
        )
        return list(found[0]) if found else []

    async def _make(self, model: str, dimensions: int) -> str:
        """Return the name of the model's collection, which is created where it is missing."""
        if not await self._find(model, dimensions):
            await self._try_to_create(model, dimensions)
        return _name(model)

    @retry(
        retry=retry_if_exception_type(IndexUnavailable), stop=stop_after_attempt(4), wait=wait_fixed(0.5), reraise=True
    )
    async def _try_to_create(self, model: str, dimensions: int) -> None:
        """Create the model's collection; where that fails because another process does it, find it soon after."""
        if not await self._find(model, dimensions):
            await self._call(asyncio.to_thread, self._create, model, dimensions)

    def _create(self, model: str, dimensions: int, *, timeout: float) -> None:
        """Create the model's collection: by the other client, because Milvus Lite can't create indexes for this one."""
        kinds = self._pymilvus.DataType
        schema = self._client.create_schema(description=f"Chunks with vectors of {model}")
        schema.add_field("id", kinds.VARCHAR, is_primary=True, max_length=36)
        schema.add_field("owner", kinds.VARCHAR, is_partition_key=True, max_length=64)
        for field in ("collection", "document", "chunk"):
            schema.add_field(field, kinds.VARCHAR, max_length=36)
        schema.add_field("content", kinds.BOOL)
        schema.add_field("contextual", kinds.BOOL)
        schema.add_field("expires_at", kinds.INT64)
        schema.add_field("embedding", kinds.FLOAT_VECTOR, dim=dimensions)
        analyzer = {"tokenizer": "standard"}  # of stems: they are made here, as PostgreSQL has them
        schema.add_field("text", kinds.VARCHAR, max_length=MOST_BYTES, enable_analyzer=True, analyzer_params=analyzer)
        schema.add_field("lexemes", kinds.SPARSE_FLOAT_VECTOR)
        bm25 = self._pymilvus.FunctionType.BM25
        schema.add_function(
            self._pymilvus.Function("bm25", bm25, input_field_names=["text"], output_field_names=["lexemes"])
        )
        indexes = self._client.prepare_index_params()
        indexes.add_index("embedding", index_type="HNSW", metric_type="COSINE", params=HNSW)
        indexes.add_index("lexemes", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=BM25)
        with closing(self._connect(self._pymilvus.MilvusClient, timeout=timeout)) as client:
            client.create_collection(
                _name(model),
                schema=schema,
                index_params=indexes,
                consistency_level=CONSISTENCY,
                timeout=timeout,
            )

    async def _find(self, model: str, dimensions: int) -> bool:
        """Return whether the model has a collection.

        Raises IndexUnavailable where its vectors have other dimensions.
        """
        name = _name(model)
        known = await self._load(name)
        if known not in (None, dimensions):
            del self._dimensions[name]  # it may have been made anew
            known = await self._load(name)
        if known not in (None, dimensions):
            raise IndexUnavailable(
                f"Milvus's collection {name} has vectors of {known} dimensions, the embedding model {model} makes "
                f"{dimensions}. Drop that collection in Milvus, then run `causeway optimize`.",
                index=self.name,
            )
        return known is not None

    async def _load(self, name: str) -> int | None:
        """Return the dimensions of a collection that is loaded from then on; None where there is none."""
        if name not in self._dimensions:
            described = await self._call(self._client.describe_collection, name)
            if described is None:
                return None
            await self._call(self._client.load_collection, name)
            (field,) = (field for field in described["fields"] if field["name"] == "embedding")
            self._dimensions[name] = int(field["params"]["dim"])
        return self._dimensions[name]

    async def _list_names(self) -> list[str]:
        """List the collections of all models; all are loaded."""
        names = [name for name in await self._call(self._client.list_collections) or () if name.startswith(PREFIX)]
        return [name for name in names if await self._load(name) is not None]

    async def _delete(self, *filters: str) -> None:
        for name in await self._list_names():
            for filter in filters:
                await self._call(self._client.delete, name, filter=filter)

    def _connect(self, client: Callable[..., T], *, timeout: float) -> T:
        """Start Milvus Lite where there is no address."""
        if not self._url:
            self._folder.mkdir(parents=True, exist_ok=True)
        key = self._key.get_secret_value() if self._key else ""
        return client(self._url or self._file, token=key, timeout=timeout, dedicated=True, grpc_options=CHANNEL)

    async def _call(self, verb: Callable[..., Awaitable[T]], /, *values: Any, **named: Any) -> T | None:
        """Return the answer; None where the collection is missing. Raises IndexUnavailable."""
        try:
            async with asyncio.timeout(self._seconds):
                return await verb(*values, **named, timeout=self._seconds)
        except Exception as exc:  # of gRPC, of the client and of asyncio
            if getattr(exc, "code", None) == COLLECTION_NOT_FOUND:
                self._dimensions.clear()
                return None
            raise self._unavailable(getattr(exc, "message", "") or repr(exc)) from exc

    def _unavailable(self, cause: str) -> IndexUnavailable:
        if self._url:
            advice = "Check RAG_INDEX_URL and the server."
        else:
            advice = (
                f"{self._file} belongs to one process at a time. For several, run `milvus-lite server --data-dir "
                f"{self._file}` and set RAG_INDEX_URL."
            )
        return IndexUnavailable(f"Milvus does not do what it is asked: {cause}. {advice}", index=self.name)


def _check_address(url: str) -> None:
    """Raises InvalidSettings."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidSettings("RAG_INDEX_URL is no address of a Milvus server: use http://HOST:19530.")


def _name(model: str) -> str:
    return PREFIX + sha256(model.encode()).hexdigest()[:16]


def _owner(collection: Collection) -> str:
    """Return a hash of the owner: no name can break out of a filter."""
    return sha256(collection.owner_id.encode(errors="surrogatepass")).hexdigest()


def _belonging_to(collection: Collection) -> str:
    return f'owner == "{_owner(collection)}" and collection == "{collection.id}"'


def _among(collection: Collection, field: str, ids: Sequence[UUID]) -> list[str]:
    return [f"{_belonging_to(collection)} and {field} in {_listed(batch)}" for batch in slices(ids, BATCH)]


def _listed(ids: Sequence[UUID]) -> str:
    return json.dumps(list(map(str, ids)))


def _row(collection: Collection, entry: IndexEntry) -> dict[str, Any]:
    chunk, expires_at = entry.chunk, entry.chunk.document.expires_at
    return {
        "id": str(entry.id),
        "owner": _owner(collection),
        "collection": str(collection.id),
        "document": str(chunk.document.id),
        "chunk": str(chunk.id),
        "content": "content" in entry.kinds,
        "contextual": "contextual" in entry.kinds,
        "expires_at": math.ceil(expires_at.timestamp()) if expires_at else NEVER,
        "embedding": list(entry.vector or ()),
        "text": _text(chunk),
    }


def _text(chunk: Chunk) -> str:
    """Return the stems of a chunk's words, in the language of its document."""
    stems = [stem(word, chunk.document.language) for word in words(f"{chunk.context}\n{chunk.content}")]
    return " ".join(stems).encode()[:MOST_BYTES].decode(errors="ignore")


def _query_text(asked: Sequence[str]) -> str:
    """Return the stems that the words may have in a chunk, whatever its language."""
    return " ".join(
        dict.fromkeys(form for word in asked for form in (fold(word), *(stem(word, of) for of in STEMMERS)))
    )


def _candidate(hit: dict[str, Any], score: float) -> Candidate:
    return Candidate(UUID(hit["id"]), UUID(hit["entity"]["chunk"]), score)

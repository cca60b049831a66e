"""Chunks in Typesense. Needs the extra typesense."""

import hashlib
import json
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

import httpx

from graphrag.config.settings import Settings
from graphrag.errors import IndexUnavailable, InvalidSettings, MissingExtra, install_command
from graphrag.models import Collection, SourceLocation, VectorKind
from graphrag.models.ingestion import Candidate, IndexEntry
from graphrag.observability.telemetry import log
from graphrag.resilience.retry import in_time
from graphrag.stores.indexes import slices

if TYPE_CHECKING:
    from typesense import AsyncClient


NAMED = 80  # ids in the address of one request: about 3,000 characters
Score = Callable[[Mapping[str, Any]], float]
CHUNKS = "document_chunks"
NEVER = 253_402_300_799  # the last second of the year 9999: what documents are sorted by, none may lack
FIELDS: list[dict[str, Any]] = [
    {"name": "chunk_id", "type": "string"},
    {"name": "user_id", "type": "string", "facet": True},
    {"name": "collection_id", "type": "string", "facet": True},
    {"name": "file_id", "type": "string", "facet": True},
    {"name": "kinds", "type": "string[]", "facet": True},
    {"name": "content", "type": "string"},
    {"name": "context", "type": "string"},
    # Indexed, the first chunk's page and cells would tell what all others' have to be.
    {"name": "metadata", "type": "object", "optional": True, "index": False},
    {"name": "document_expires_at", "type": "int64"},
]


def schema_of(name: str, model: str, dimensions: int) -> dict[str, Any]:
    vector = {"name": "embedding", "type": "float[]", "num_dim": dimensions, "vec_dist": "cosine", "optional": True}
    return {
        "name": name,
        "fields": [*FIELDS, vector],
        "default_sorting_field": "document_expires_at",
        "enable_nested_fields": True,
        "metadata": {"embedding_model": model},
    }


def collection_names(model: str) -> tuple[str, str]:
    """Return the names of the collections that may hold the model's chunks; the second if another model has one."""
    return CHUNKS, f"{CHUNKS}_{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def embedding_model(schema: Mapping[str, Any]) -> str | None:
    model = schema.get("metadata", {}).get("embedding_model")
    return model if isinstance(model, str) else None


def belonging_to(collection: Collection) -> str:
    return f"user_id:={_user(collection)} && collection_id:={collection.id}"


def to_document(collection: Collection, entry: IndexEntry) -> dict[str, Any]:
    chunk = entry.chunk
    expires_at = chunk.document.expires_at
    document = {
        "id": str(entry.id),
        "chunk_id": str(chunk.id),
        "user_id": _user(collection),
        "collection_id": str(collection.id),
        "file_id": str(chunk.document.id),
        "kinds": sorted(entry.kinds),
        "content": chunk.content,
        "context": chunk.context,
        "metadata": {
            "filename": chunk.document.filename,
            "language": chunk.document.language,
            "headings": chunk.context,
            "places": [_location(location) for location in chunk.locations],
        },
        "document_expires_at": math.ceil(expires_at.timestamp()) if expires_at else NEVER,
    }
    return document if entry.vector is None else document | {"embedding": [float(number) for number in entry.vector]}


def _user(collection: Collection) -> str:
    """Return a hash of the owner.

    Typesense's filters compare words and not characters, so Ana, ana and a.n.a would be one owner; and no name can
    break out of a filter.
    """
    return hashlib.sha256(collection.owner_id.encode(errors="surrogatepass")).hexdigest()


def _location(location: SourceLocation) -> dict[str, Any]:
    return {name: value for name, value in asdict(location).items() if name in ("page", "sheet", "cells") and value}


def read_candidates(answer: Any, score: Score) -> list[Candidate]:
    """Raise TypesenseClientError, as the client does, where a single search of the request failed."""
    from typesense.exceptions import TypesenseClientError

    failed = next((result for result in answer["results"] if "error" in result), None)
    if failed:
        raise TypesenseClientError(failed.get("code"), failed["error"])
    hits = [hit for result in answer["results"] for hit in result["hits"]]
    return [
        Candidate(UUID(hit["document"]["id"]), UUID(hit["document"]["chunk_id"]), min(1.0, max(0.0, score(hit))))
        for hit in hits
    ]


def nearness(hit: Mapping[str, Any]) -> float:
    return 1.0 - float(hit["vector_distance"])


def read_causes(results: Any, count: int) -> list[str]:
    """Return, for each of `count` chunks, why the server refused it; "" if it was accepted."""
    if len(results) != count:
        raise ValueError(f"{len(results)} results of {count} chunks")
    return ["" if result["success"] else str(result["error"]) for result in results]


def read_ids(exported: Any) -> set[UUID]:
    return {UUID(json.loads(line)["id"]) for line in exported.splitlines()}


def read_names(schemas: Any) -> list[str]:
    """Return the names of the collections that Causeway made."""
    names = [schema["name"] for schema in schemas if embedding_model(schema)]
    return [name for name in names if re.fullmatch(rf"{CHUNKS}(_[0-9a-f]{{8}})?", name)]


def among(collection: Collection, field: str, ids: Sequence[UUID]) -> list[str]:
    """Filters for them all, none of which is too long for an address."""
    slices = [ids[start : start + NAMED] for start in range(0, len(ids), NAMED)]
    return [f"{belonging_to(collection)} && {field}:=[{listed(some)}]" for some in slices]


def listed(ids: Sequence[UUID]) -> str:
    return ",".join(map(str, ids))


T = TypeVar("T")
Schema = Mapping[str, Any]
IMPORTED = 100  # chunks at once
PAGE = 250  # hits of one search at most
SEARCHES = 50  # in one request at most, where the server is not told otherwise
COMPARED = 10_000  # vectors that a filter leaves: no more than these are all compared, where their graph may miss some
TOKEN = 1 << 59  # text_match counts the words that were found from this bit on; below are typos, nearness and fields
MOST_TOKENS = 15  # that it can count
WHOLE = 1 + 1 / 128  # what one word is worth at most, with what the bits below add to it
RETRIES, WAIT_SECONDS = 2, 0.1
FORBIDDEN, MISSING, EXISTS = (401, 403), 404, 409
PLAIN = {"prefix": False, "highlight_fields": "none", "highlight_full_fields": "none"}  # nobody is still typing


class TypesenseIndex:
    """A collection of Typesense's an embedding model. `document_chunks` is that of the first model."""

    name = "typesense"
    ranks_words = True

    def __init__(self, settings: Settings) -> None:
        """Raises MissingExtra or InvalidSettings."""
        self._client, self._address = _connect(settings)
        self._timeout_seconds = settings.storage.index_timeout_seconds
        self._names: dict[str, str] = {}  # of Typesense's collections, by embedding model

    async def open(self) -> None:
        await self._list_names()

    async def close(self) -> None:
        await self._client.api_call.aclose()

    async def put(self, collection: Collection, entries: Sequence[IndexEntry]) -> None:
        """A batch that fails stops no other. Nothing is put before the first vector, which tells the dimensions."""
        model = collection.embedding_model
        dimensions = next((len(entry.vector) for entry in entries if entry.vector is not None), None)
        name = await self._find(model) or (await self._make(model, dimensions) if dimensions else None)
        if name is None:
            return
        refused: list[UUID] = []
        for batch in slices(entries, IMPORTED):
            refused += await self._import(name, collection, batch)
        if refused:
            raise self._unavailable(f"it did not take {len(refused)} of {len(entries)} chunks", chunks=refused)

    async def delete(self, collection: Collection, entries: Sequence[UUID]) -> None:
        await self._delete(*among(collection, "id", entries))

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> None:
        await self._delete(*among(collection, "file_id", documents))

    async def delete_collection(self, collection: Collection) -> None:
        await self._delete(belonging_to(collection))

    async def delete_expired(self) -> None:
        await self._delete(f"document_expires_at:<={int(time.time())}")

    async def list_entries(self, collection: Collection, documents: Sequence[UUID] | None = None) -> set[UUID]:
        filters = [belonging_to(collection)] if documents is None else among(collection, "file_id", documents)
        found: set[UUID] = set()
        for name in await self._list_names():
            for filter_by in filters:
                exported = self._client.collections[name].documents.export(
                    {"filter_by": filter_by, "include_fields": "id"}
                )
                found |= await self._ask(exported, read_ids) or set()
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
        numbers = ",".join(str(float(number)) for number in vector)
        near = {"q": "*", "vector_query": f"embedding:([{numbers}], k:{limit}, flat_search_cutoff:{COMPARED})"}
        return await self._search(collection, [near], nearness, kind=kind, documents=documents, limit=limit)

    async def search_words(
        self, collection: Collection, words: Sequence[str], *, documents: Sequence[UUID] | None, limit: int
    ) -> list[Candidate]:
        """The score is text_match as a share of what a chunk with all the words, as they are written, would get.

        Typesense leaves out words from the end until it finds enough: for a chunk with another one of them it is asked
        for each alone, too.
        """
        # A minus sign before a word, and quotes around some, mean something to Typesense.
        words = [word for word in dict.fromkeys(re.sub(r'^\W+|"', "", written) for written in words) if word]
        text = " ".join(words)
        common = {"query_by": "content,context", "drop_tokens_threshold": limit, **PLAIN}
        texts = [text, *words[: SEARCHES - 1]] if len(words) > 1 else words
        searches = [{"q": each, **common} for each in texts]
        most = TOKEN * WHOLE * min(len(text.split()), MOST_TOKENS)
        return await self._search(
            collection, searches, lambda hit: hit["text_match"] / most, kind="content", documents=documents, limit=limit
        )

    async def _search(
        self,
        collection: Collection,
        queries: Sequence[Mapping[str, Any]],
        score: Score,
        *,
        kind: VectorKind,
        documents: Sequence[UUID] | None,
        limit: int,
    ) -> list[Candidate]:
        """The best of them all, by entry."""
        name = await self._find(collection.embedding_model)
        if name is None or (documents is not None and not documents):
            return []
        conditions = [belonging_to(collection), f"kinds:={kind}", f"document_expires_at:>{int(time.time())}"]
        conditions += [] if documents is None else [f"file_id:=[{listed(documents)}]"]
        common = {"collection": name, "filter_by": " && ".join(conditions), "include_fields": "id,chunk_id"}
        pages = [{"page": 1 + start // PAGE, "per_page": min(PAGE, limit)} for start in range(0, limit, PAGE)]
        best: dict[UUID, Candidate] = {}
        for searches in slices([{**common, **query, **page} for query in queries for page in pages], SEARCHES):
            # By POST: the address has no room for a vector.
            asked = self._client.multi_search.perform(cast(Any, {"searches": searches}))
            for candidate in await self._ask(asked, lambda answer: read_candidates(answer, score)) or []:
                if candidate.score >= best.get(candidate.entry_id, candidate).score:
                    best[candidate.entry_id] = candidate
        return sorted(best.values(), key=lambda candidate: -candidate.score)[:limit]

    async def _import(self, name: str, collection: Collection, entries: Sequence[IndexEntry]) -> list[UUID]:
        """The chunks that it did not take."""
        documents = [to_document(collection, entry) for entry in entries]
        sent = self._client.collections[name].documents.import_(documents, {"action": "upsert"})
        try:
            causes = await self._ask(sent, lambda results: read_causes(results, len(entries)))
        except IndexUnavailable as exc:
            causes = [str(exc)] * len(entries)
        causes = causes or ["its collection is gone"] * len(entries)
        refused = [(entry.chunk, cause) for entry, cause in zip(entries, causes, strict=True) if cause]
        if refused:
            chunk_ids = [str(chunk.id) for chunk, _ in refused]
            file_ids = sorted({str(chunk.document.id) for chunk, _ in refused})
            why = sorted({cause for _, cause in refused})
            log.error("chunks not indexed", index=self.name, causes=why, chunk_ids=chunk_ids, file_ids=file_ids)
        return [chunk.id for chunk, _ in refused]

    async def _make(self, model: str, dimensions: int) -> str:
        for name in collection_names(model):
            made = self._client.collections.create(cast(Any, schema_of(name, model, dimensions)))
            await self._ask(made, dict, none_for=EXISTS)  # another model's, or another process was faster
            if found := await self._find(model):
                return found
        raise self._unavailable(f"its collection {name} is another one's")

    async def _retrieve(self, name: str) -> Schema | None:
        return await self._ask(self._client.collections[name].retrieve(), dict)

    async def _find(self, model: str) -> str | None:
        """The name of the model's collection."""
        if model not in self._names:
            for name in collection_names(model):
                if embedding_model(await self._retrieve(name) or {}) == model:
                    self._names[model] = name
                    break
        return self._names.get(model)

    async def _list_names(self) -> list[str]:
        """List the names of the collections of all models."""
        return await self._ask(self._client.collections.retrieve(), read_names) or []

    async def _delete(self, *filters: str) -> None:
        for name in await self._list_names():
            for filter_by in filters:
                await self._ask(self._client.collections[name].documents.delete({"filter_by": filter_by}), dict)

    async def _ask(self, answer: Awaitable[Any], read: Callable[[Any], T], *, none_for: int = MISSING) -> T | None:
        """Return the answer as parsed by `read`, or None for the status `none_for`. Raises IndexUnavailable."""
        from typesense.exceptions import TypesenseClientError

        try:
            return read(await in_time(answer, self._timeout_seconds))
        except TypesenseClientError as exc:
            if exc.errno == none_for:
                self._names.clear()  # what it does not know it may have lost
                return None
            if exc.errno in FORBIDDEN:
                raise self._unavailable("it refuses the key of RAG_INDEX_API_KEY") from exc
            raise self._unavailable(": ".join(map(str, exc.args))) from exc
        except (httpx.HTTPError, OSError) as exc:
            raise self._unavailable(repr(exc)) from exc
        except (ValueError, LookupError, TypeError, AttributeError) as exc:  # of reading: it may be anything
            raise self._unavailable(f"it says what Typesense does not: {exc!r}") from exc

    def _unavailable(self, cause: str, **details: Any) -> IndexUnavailable:
        message = f"Typesense at {self._address} can't be used: {cause}. Check RAG_INDEX_URL and the server."
        return IndexUnavailable(message, index=self.name, **details)


def _connect(settings: Settings) -> tuple["AsyncClient", str]:
    """Return a client and the server's address, which contains no secret."""
    try:
        from typesense import AsyncClient
    except ImportError as exc:
        raise MissingExtra.of("RAG_INDEX=typesense", install_command("typesense")) from exc
    if settings.storage.index_api_key is None:
        raise InvalidSettings("RAG_INDEX=typesense needs RAG_INDEX_API_KEY: a key that may read and write.")
    try:
        url = httpx.URL(settings.storage.index_url or "")
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidSettings("RAG_INDEX=typesense needs RAG_INDEX_URL, as http://HOST:8108.")
    port = url.port or (443 if url.scheme == "https" else 80)
    client = AsyncClient(
        {
            "nodes": [{"host": url.host, "port": port, "path": url.path.rstrip("/"), "protocol": url.scheme}],
            "api_key": settings.storage.index_api_key.get_secret_value(),
            "connection_timeout_seconds": settings.storage.index_timeout_seconds,
            "num_retries": RETRIES,
            "retry_interval_seconds": WAIT_SECONDS,
            "verify": url.scheme == "https",  # the certificates take 25 ms to read
        }
    )
    return client, f"{url.host}:{port}"

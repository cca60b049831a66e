"""The only list of implementations: settings in, everything a request needs out."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import urlsplit

from graphrag import language
from graphrag.authentication.authentication import Authentication, open_authentication
from graphrag.breaker import BreakerState
from graphrag.chat_models import beginning_with
from graphrag.collection_names import checked_name
from graphrag.errors import CollectionNotFound, IndexUnavailable, InvalidSettings
from graphrag.evaluation_models import canonical_hash
from graphrag.files.opening import open_files
from graphrag.guarded_chat_model import GuardedChatModel
from graphrag.ingestion.library import Library
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.queue import Queue
from graphrag.ingestion.spool import Spool
from graphrag.ingestion.waiting import Waiting
from graphrag.ingestion.workshop import Workshop
from graphrag.load import Load
from graphrag.models import Collection
from graphrag.opened_models import OpenedModels
from graphrag.owner_marks import OwnerMarks
from graphrag.parsers.isolation import IsolatedParser
from graphrag.protocols import ChunkIndex, ChunkStore, FileStorage
from graphrag.records import identify
from graphrag.retention import Retention
from graphrag.retrieval.chunkenizer import Chunkenizer, open_chunkenizer
from graphrag.retrieval.query_cache import QueryCache
from graphrag.settings import RetrievalConfig, Settings
from graphrag.stores.chroma import ChromaIndex
from graphrag.stores.erasure import Erasure
from graphrag.stores.indexed import IndexedStore
from graphrag.stores.ingestions import Ingestions
from graphrag.stores.postgres import PostgresStore
from graphrag.stores.typesense import TypesenseIndex
from graphrag.telemetry import log
from graphrag.viewing import Viewing

DEFAULT_COLLECTION = "default"
HASH_CHARS = 12  # of a configuration's hash in logs
INDEXES: dict[str, Callable[[Settings], ChunkIndex]] = {  # by RAG_INDEX
    "chroma": ChromaIndex,
    "typesense": TypesenseIndex,
}


@dataclass(frozen=True)
class Services(OpenedModels):
    """Made cheaply; the database and the models open themselves at their first use, or all at once in `open`."""

    async def open(self, *, awaits_database: bool = False) -> None:
        """`awaits_database`: one that is away is no error, and opens itself when it is there.

        Raises InvalidSettings, MissingExtra or DatabaseUnavailable.
        """
        await self.authentication.open()
        opening = self.database.open_or_await() if awaits_database else self.database.open()
        loading = (lambda: self.embeddings, lambda: self.name_recognizer, language.load)
        await asyncio.gather(opening, *map(asyncio.to_thread, loading))
        _ = self.chat_models
        _ = self.judge_model
        _ = self.files
        _ = self.reranker
        _ = self.cache
        _ = self.relation_extractor
        _ = self.retriever
        if self.cross_encoder:
            await self.cross_encoder.open()
        if self.indexed_store:
            await self._open_index(self.indexed_store)

    async def _open_index(self, store: IndexedStore) -> None:
        """One that is away is no error: PostgreSQL searches until it is there."""
        try:
            await store.open()
        except IndexUnavailable as exc:
            address = urlsplit(self.settings.index_url or "").netloc.rpartition("@")[2]  # without a password
            log.warning("the index is waited for", index=self.settings.index, address=address, error=exc)

    def breakers(self) -> list[BreakerState]:
        """Of all that is left alone while it fails."""
        models = {named.name: named.model for named in (*self.chat_models, self.judge_model) if named}
        guarded = [model for model in models.values() if isinstance(model, GuardedChatModel)]
        embedding = [model.breaker for model in self.embeddings.models.values() if model.breaker]
        cache = [self.redis_cache.breaker] if self.redis_cache else []
        index = [self.indexed_store.breaker] if self.indexed_store else []
        elsewhere = [self.retriever.breaker] if self.retriever else []
        watched = [*(model.guard.breaker for model in guarded), *embedding, *cache, *index, *elsewhere]
        return [self.database.state, *(state for breaker in watched for state in breaker.states())]

    async def close(self) -> None:
        if "parser" in self.__dict__:
            await asyncio.to_thread(self.parser.close)
        if "authentication" in self.__dict__:
            await self.authentication.close()
        await self.database.close()
        if self.redis_cache:
            await self.redis_cache.close()
        if "indexed_store" in self.__dict__ and self.indexed_store:
            await self.indexed_store.close()
        if "retriever" in self.__dict__ and self.retriever:
            await self.retriever.close()

    @cached_property
    def store(self) -> ChunkStore:
        """Raises InvalidSettings or MissingExtra."""
        return self.indexed_store or PostgresStore(self.database, **self._store_options)

    @cached_property
    def indexed_store(self) -> IndexedStore | None:
        """None where PostgreSQL searches alone. Raises InvalidSettings or MissingExtra."""
        index = open_index(self.settings)
        return IndexedStore(self.database, index, **self._store_options) if index else None

    @property
    def _store_options(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "fulltext_candidates": settings.fulltext_candidates,
            "contextual": settings.contextual_embeddings,
            "most_collections": settings.max_collections,
        }

    @cached_property
    def authentication(self) -> Authentication:
        """Raises InvalidSettings."""
        return open_authentication(self.settings, self.database)

    @cached_property
    def owner_marks(self) -> OwnerMarks:
        return OwnerMarks(self.settings)

    @cached_property
    def files(self) -> FileStorage:
        """Raises InvalidSettings or MissingExtra."""
        return open_files(self.settings)

    @cached_property
    def load(self) -> Load:
        return Load(self.settings, has_owners=self.settings.auth != "none")

    @cached_property
    def query_cache(self) -> QueryCache:
        return QueryCache(self.settings.query_cache_seconds)

    @cached_property
    def retriever(self) -> Chunkenizer | None:
        """Raises InvalidSettings."""
        return open_chunkenizer(self.settings)

    @cached_property
    def parser(self) -> IsolatedParser:
        return IsolatedParser(self.settings.parsing)

    @cached_property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            self.store,
            self.settings,
            self.parser,
            self.cache,
            embed_meaning=lambda texts: self.bundled_embeddings.embed_documents(list(texts)),
            chat_model=self.background_chat_model if self.settings.chat_model else None,
            relation_extractor=self.relation_extractor,
            name_recognizer=self.name_recognizer,
            may_read=self.may_read,
        )

    @cached_property
    def library(self) -> Library:
        queue = Queue(self.database, concurrency=self.settings.worker_jobs, mark_owner=self.owner_marks.of)
        ingestions = Ingestions(self.database, self.settings.max_owner_bytes)
        erasure = Erasure(self.database, self.cache)
        waiting = Waiting(self.files, self.database)
        return Library(self.store, ingestions, self.files, queue, self.settings.max_file_bytes, erasure, waiting)

    @cached_property
    def viewing(self) -> Viewing:
        return Viewing(self.files, self.parser)

    @cached_property
    def spool(self) -> Spool:
        settings = self.settings
        default = settings.collection or DEFAULT_COLLECTION
        return Spool(self.library, self.make_collection, default, settings.waiting_bytes, settings.max_documents)

    @cached_property
    def workshop(self) -> Workshop:
        return Workshop(self.library, self.pipeline, self, self.retention)

    @cached_property
    def retention(self) -> Retention:
        return Retention(self.conversations, self.library.queue, self.settings.conversation_days)

    async def collection(self, owner_id: str, name: str | None) -> Collection:
        """The named one, else the default one, which is made where there is none at all and another service has
        documents, too. Raises CollectionNotFound.
        """
        by_name = {collection.name: collection for collection in await self.store.list_collections(owner_id)}
        wanted = name or self.default_collection(list(by_name))
        if wanted in by_name:
            return by_name[wanted]
        if self.retriever and not name and not by_name:
            return await self.make_collection(owner_id, None)
        names = ", ".join(by_name) or "none yet: run `causeway ingest PATH`"
        raise CollectionNotFound(
            f"There is no collection {wanted!r}. Known: {names}.", name=wanted, known=list(by_name)
        )

    def default_collection(self, known: Sequence[str]) -> str:
        """The name of the one that is asked where none is named: RAG_COLLECTION, else «default», else the only one."""
        if self.settings.collection is None and DEFAULT_COLLECTION not in known and len(known) == 1:
            return known[0]
        return self.settings.collection or DEFAULT_COLLECTION

    def retrieval_config(
        self, collection: Collection, overrides: Mapping[str, Any], *, top_k: int | None = None
    ) -> tuple[RetrievalConfig, list[str]]:
        """The service's values, then the collection's, then the request's. One that is not valid is passed over, with a
        warning. `top_k` stands in for the service's own.
        """
        config, ignored = self._overridden(collection, overrides, top_k=top_k)
        identify(collection=str(collection.id), config=self._hash(collection, config)[:HASH_CHARS])
        log.info("retrieval configuration", **config.model_dump())
        if ignored:
            log.warning("retrieval configuration", ignored=len(ignored))
        return config, ignored

    def answer_hash(self, collection: Collection) -> str:
        """The same for all answers that are made in the same way; logs tell how it begins."""
        config, _ = self._overridden(collection, {}, top_k=self.settings.chat_top_k)
        return self._hash(collection, config)

    def _overridden(
        self, collection: Collection, overrides: Mapping[str, Any], *, top_k: int | None
    ) -> tuple[RetrievalConfig, list[str]]:
        config = self.settings.retrieval.model_copy(update={"top_k": top_k} if top_k else {})
        config, of_collection = config.overridden(collection.config)
        config, of_request = config.overridden(overrides)
        return config, [*of_collection, *of_request]

    def _hash(self, collection: Collection, config: RetrievalConfig) -> str:
        """Of all that has a say in an answer, but for the documents."""
        generation, _ = self.generation_config(collection)
        model = beginning_with(generation.chat_model, self.chat_models)[0][0].name
        return canonical_hash(
            {
                "retrieval": config.model_dump(mode="json"),
                "generation": {"chat_model": model, "system_prompt": generation.system_prompt},
                "embedding_model": collection.embedding_model,
            }
        )

    async def make_collection(self, owner_id: str, name: str | None) -> Collection:
        """The named one, made where there is none. Raises InvalidCollectionName."""
        registry = await asyncio.to_thread(lambda: self.embeddings)
        wanted = checked_name(name or self.settings.collection or DEFAULT_COLLECTION)
        return await self.store.create_collection(owner_id, wanted, embedding_model=registry.default)


def open_index(settings: Settings) -> ChunkIndex | None:
    """None where PostgreSQL searches alone. Raises InvalidSettings or MissingExtra."""
    name = settings.index
    if name is not None and name not in INDEXES:
        raise InvalidSettings(f"RAG_INDEX is {name!r}. Known: {', '.join(INDEXES)}; unset: PostgreSQL searches.")
    return INDEXES[name](settings) if name else None


@lru_cache(maxsize=1)
def shared_services() -> Services:
    """One per process, for a graph that nobody handed its services: LangGraph Studio."""
    return Services(Settings.from_environment())

"""The only list of implementations: settings in, everything a request needs out."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.language_models import BaseChatModel

from graphrag import language
from graphrag.authentication.authentication import Authentication, open_authentication
from graphrag.breaker import BreakerState
from graphrag.causal_graph.model_extraction import ModelExtractor
from graphrag.chat_models import EXTRACTIVE, NamedModel, beginning_with, open_chat_model, open_fallbacks
from graphrag.collection_names import checked_name
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.cached import cached
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry, load_registry
from graphrag.errors import CollectionNotFound, InvalidSettings
from graphrag.evaluation_models import canonical_hash
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.files.opening import open_files
from graphrag.guarded_chat_model import GuardedChatModel
from graphrag.ingestion.library import Library
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.queue import Queue
from graphrag.ingestion.spool import Spool
from graphrag.ingestion.workshop import Workshop
from graphrag.load import Effort, Load
from graphrag.models import Collection
from graphrag.owner_marks import OwnerMarks
from graphrag.parsers.isolation import IsolatedParser
from graphrag.protocols import FileStorage, Reranker
from graphrag.query_transformation.refinement import Refiner
from graphrag.records import identify
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.rerankers.opening import join_judges, open_cross_encoder, open_judges
from graphrag.retention import Retention
from graphrag.retrieval.query_cache import QueryCache
from graphrag.settings import GenerationConfig, RetrievalConfig
from graphrag.stores.erasure import Erasure
from graphrag.stores.ingestions import Ingestions
from graphrag.stores.opened import Stores
from graphrag.telemetry import log

DEFAULT_COLLECTION = "default"
HASH_CHARS = 12  # of a configuration's hash in logs


@dataclass(frozen=True)
class Services(Stores):
    """Made cheaply; the database and the models open themselves at their first use, or all at once in `open`."""

    async def open(self, *, awaits_database: bool = False) -> None:
        """`awaits_database`: one that is away is no error, and opens itself when it is there.

        Raises InvalidSettings, MissingExtra or DatabaseUnavailable.
        """
        await self.authentication.open()
        opening = self.database.open_or_await() if awaits_database else self.database.open()
        await asyncio.gather(opening, asyncio.to_thread(lambda: self.embeddings), asyncio.to_thread(language.load))
        _ = self.chat_models
        _ = self.judge_model
        _ = self.files
        _ = self.reranker
        _ = self.cache
        _ = self.relation_extractor
        if self.cross_encoder:
            await self.cross_encoder.open()

    def breakers(self) -> list[BreakerState]:
        """Of all that is left alone while it fails."""
        guarded = [named.model for named in self.chat_models if isinstance(named.model, GuardedChatModel)]
        embedding = [model.breaker for model in self.embeddings.models.values() if model.breaker]
        cache = [self.redis_cache.breaker] if self.redis_cache else []
        watched = [*(model.guard.breaker for model in guarded), *embedding, *cache]
        return [self.database.state, *(state for breaker in watched for state in breaker.states())]

    async def close(self) -> None:
        if "parser" in self.__dict__:
            await asyncio.to_thread(self.parser.close)
        if "authentication" in self.__dict__:
            await self.authentication.close()
        await self.database.close()
        if self.redis_cache:
            await self.redis_cache.close()

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
    def embeddings(self) -> EmbeddingRegistry:
        return load_registry(self.settings.embeddings_config)

    @cached_property
    def load(self) -> Load:
        return Load(self.settings, has_owners=self.settings.auth != "none")

    @cached_property
    def query_cache(self) -> QueryCache:
        return QueryCache(self.settings.query_cache_seconds)

    @cached_property
    def reranker(self) -> Reranker:
        """Where a model judges, the ones after it stand in when it fails. Raises InvalidSettings."""
        judges = open_judges(
            self.settings,
            cross_encoder=self.cross_encoder,
            chat_model=lambda: self._within(self.settings.chat_first_token_seconds, purpose="reranking"),
        )
        return join_judges(judges, self.settings, self.embeddings)

    @cached_property
    def _local_reranker(self) -> Reranker:
        return join_judges(open_judges(self.settings, cross_encoder=self.cross_encoder), self.settings, self.embeddings)

    def reranker_of(self, collection: Collection, effort: Effort = Effort.FULL) -> Reranker:
        """Under high load the bundled one, which needs nothing."""
        if effort is not Effort.FULL:
            return self._bundled_reranker
        return self.reranker if self.may_read(collection) else self._local_reranker

    @cached_property
    def _bundled_reranker(self) -> Reranker:
        return BundledReranker()

    @cached_property
    def cross_encoder(self) -> CrossEncoderReranker | None:
        """Raises InvalidSettings."""
        return open_cross_encoder(self.settings)

    @cached_property
    def chat_model(self) -> BaseChatModel:
        return open_chat_model(self.settings) if self.settings.chat_model else self.extractive_chat_model

    @cached_property
    def chat_models(self) -> tuple[NamedModel, ...]:
        """In the order in which they are asked for an answer; the last one needs nothing. Raises InvalidSettings."""
        first = NamedModel(self.settings.chat_model or EXTRACTIVE, self.chat_model)
        quoting = NamedModel(EXTRACTIVE, self.extractive_chat_model)
        fallbacks = [*open_fallbacks(self.settings), quoting]
        return (first,) if first.model is quoting.model else (first, *fallbacks)

    @cached_property
    def judge_model(self) -> NamedModel | None:
        """That judges answers in evaluations; None: there is none. Raises InvalidSettings."""
        name = self.settings.judge_model or self.settings.chat_model
        if name is None:
            return None
        known = {named.name: named for named in self.chat_models}
        return known.get(name) or NamedModel(name, open_chat_model(self.settings, name, variable="RAG_JUDGE_MODEL"))

    @cached_property
    def extractive_chat_model(self) -> ExtractiveChatModel:
        return ExtractiveChatModel()

    @cached_property
    def refiner(self) -> Refiner | None:
        """None where no model is to refine what the rules understand of a question."""
        if not (self.settings.chat_model and self.settings.query_refinement):
            return None
        seconds = self.settings.transform_timeout_seconds
        model = self._within(seconds, purpose="refining")
        # The guard comes first: it learns of the slowness. The other limit is for who waits for a turn.
        return Refiner(model, cache=self.cache, timeout_seconds=seconds + 0.2)

    def _within(self, seconds: float, *, purpose: str) -> BaseChatModel:
        model = self.chat_model
        return model.within(seconds, purpose=purpose) if isinstance(model, GuardedChatModel) else model

    @cached_property
    def background_chat_model(self) -> BaseChatModel:
        """The chat model as documents are ingested with it."""
        model = self.chat_model
        return model.in_background() if isinstance(model, GuardedChatModel) else model

    @cached_property
    def parser(self) -> IsolatedParser:
        return IsolatedParser(self.settings.parsing)

    @cached_property
    def bundled_embeddings(self) -> BundledEmbeddings:
        return BundledEmbeddings()

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
            may_read=self.may_read,
        )

    @cached_property
    def relation_extractor(self) -> ModelExtractor | None:
        """One a process: its budget is the run's. Raises InvalidSettings."""
        if not self.settings.graph_max_calls:
            return None
        if not self.settings.chat_model:
            raise InvalidSettings("RAG_GRAPH_MAX_CALLS needs RAG_CHAT_MODEL: the model that finds relations.")
        return ModelExtractor(self.background_chat_model, self.cache, self.settings.graph_max_calls)

    @cached_property
    def library(self) -> Library:
        queue = Queue(self.database, concurrency=self.settings.worker_jobs, mark_owner=self.owner_marks.of)
        ingestions = Ingestions(self.database, self.settings.max_owner_bytes)
        erasure = Erasure(self.database, self.cache)
        return Library(self.store, ingestions, self.files, queue, self.settings.max_file_bytes, erasure)

    @cached_property
    def spool(self) -> Spool:
        settings = self.settings
        return Spool(self.library, self.make_collection, settings.waiting_bytes, settings.max_documents)

    @cached_property
    def workshop(self) -> Workshop:
        return Workshop(self.library, self.pipeline, self, self.retention)

    @cached_property
    def retention(self) -> Retention:
        return Retention(self.conversations, self.library.queue, self.settings.conversation_days)

    async def embedding_model(self, collection: Collection) -> EmbeddingModel:
        """Raises EmbeddingModelUnavailable."""
        registry = await asyncio.to_thread(lambda: self.embeddings)
        return cached(registry.get(collection.embedding_model), cache=self.cache, owner_id=collection.owner_id)

    async def collection(self, owner_id: str, name: str | None) -> Collection:
        """The named one; else RAG_COLLECTION, else «default», else the only one there is. Raises CollectionNotFound."""
        wanted = name or self.settings.collection
        known = await self.store.list_collections(owner_id)
        by_name = {collection.name: collection for collection in known}
        if wanted is None and DEFAULT_COLLECTION not in by_name and len(known) == 1:
            return known[0]
        try:
            return by_name[wanted or DEFAULT_COLLECTION]
        except KeyError:
            names = ", ".join(by_name) or "none yet: run `causeway ingest PATH`"
            raise CollectionNotFound(
                f"There is no collection {wanted or DEFAULT_COLLECTION!r}. Known: {names}.",
                name=wanted or DEFAULT_COLLECTION,
                known=list(by_name),
            ) from None

    def retrieval_config(
        self, collection: Collection, overrides: Mapping[str, Any], *, top_k: int | None = None
    ) -> tuple[RetrievalConfig, list[str]]:
        """The service's values, then the collection's, then the request's. One that is not valid is passed over, with a
        warning. `top_k` stands in for the service's own.
        """
        config = self.settings.retrieval.model_copy(update={"top_k": top_k} if top_k else {})
        config, of_collection = config.overridden(collection.config)
        config, of_request = config.overridden(overrides)
        ignored = [*of_collection, *of_request]
        identify(collection=str(collection.id), config=self._config_hash(collection, config))
        log.info("retrieval configuration", **config.model_dump())
        if ignored:
            log.warning("retrieval configuration", ignored=len(ignored))
        return config, ignored

    def _config_hash(self, collection: Collection, config: RetrievalConfig) -> str:
        """The same for all requests that are answered in the same way."""
        generation, _ = self.generation_config(collection)
        parts = {"retrieval": config, "generation": generation}
        told = {name: part.model_dump(mode="json") for name, part in parts.items()}
        return canonical_hash({**told, "embedding_model": collection.embedding_model})[:HASH_CHARS]

    def may_read(self, collection: Collection) -> bool:
        """Whether the service's chat model is given the collection's questions and documents for all that is not the
        answer: not where the collection has another model of its own.
        """
        config, _ = self.generation_config(collection)
        return beginning_with(config.chat_model, self.chat_models)[0][0] is self.chat_models[0]

    def generation_config(self, collection: Collection | None) -> tuple[GenerationConfig, list[str]]:
        """The service's values, then the collection's; one that is not valid is passed over, with a warning."""
        return self.settings.generation.overridden(collection.generation_config if collection else {})

    async def make_collection(self, owner_id: str, name: str | None) -> Collection:
        """The named one, made where there is none. Raises InvalidCollectionName."""
        registry = await asyncio.to_thread(lambda: self.embeddings)
        wanted = checked_name(name or self.settings.collection or DEFAULT_COLLECTION)
        return await self.store.create_collection(owner_id, wanted, embedding_model=registry.default)

"""The only list of implementations: settings in, everything a request needs out."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel

from graphrag.authentication.authentication import Authentication, open_authentication
from graphrag.cache.postgres import PostgresCache
from graphrag.cache.redis import RedisCache
from graphrag.causal_graph.model_extraction import ModelExtractor
from graphrag.config.settings import GenerationConfig, RetrievalConfig, Settings
from graphrag.db.database import Database
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry, cached, load_registry
from graphrag.errors import CollectionNotFound, IndexUnavailable, InvalidSettings
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.file_storage.opening import open_files
from graphrag.ingestion.outbox import Outbox
from graphrag.ingestion.outbox_delivery import OutboxDelivery
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.queue import Queue
from graphrag.ingestion.service import DocumentService
from graphrag.ingestion.worker import Jobs, Retention
from graphrag.linguistics import language
from graphrag.linguistics.spacy_pipelines import SpacyRecognizer, open_recognizer
from graphrag.llm.chat_models import EXTRACTIVE, NamedModel, beginning_with, open_chat_model, open_fallbacks
from graphrag.llm.resilient_chat_model import ResilientChatModel, in_background
from graphrag.models import Collection
from graphrag.models.evaluation import canonical_hash
from graphrag.models.ingestion import checked_name
from graphrag.observability.pseudonyms import Pseudonyms
from graphrag.observability.request_context import identify
from graphrag.observability.telemetry import log
from graphrag.parsers.isolation import DocumentViewer, IsolatedParser
from graphrag.protocols import Cache, ChunkIndex, ChunkStore, FileStorage, GraphStore, Reranker
from graphrag.query_transformation.refinement import Refiner
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.rerankers.opening import join_judges, open_cross_encoder, open_judges
from graphrag.resilience.circuit_breaker import BreakerState
from graphrag.resilience.load_shedding import AdmissionControl, Effort
from graphrag.retrieval.chunkenizer import Chunkenizer, open_chunkenizer
from graphrag.retrieval.query_cache import QueryCache
from graphrag.stores.indexes.chroma import ChromaIndex
from graphrag.stores.indexes.indexed_store import IndexedStore
from graphrag.stores.indexes.typesense import TypesenseIndex
from graphrag.stores.postgres.catalog import Catalog
from graphrag.stores.postgres.chunks import PostgresStore
from graphrag.stores.postgres.conversations import Conversations
from graphrag.stores.postgres.erasure import Erasure
from graphrag.stores.postgres.evaluations import EvaluationStore
from graphrag.stores.postgres.experiments import ExperimentStore
from graphrag.stores.postgres.feedback import FeedbackStore
from graphrag.stores.postgres.golden import GoldenStore
from graphrag.stores.postgres.graph import PostgresGraph
from graphrag.stores.postgres.ingestions import Ingestions
from graphrag.stores.postgres.proposals import ProposalStore
from graphrag.stores.postgres.schedules import ScheduleStore
from graphrag.stores.postgres.streams import StreamStore


@dataclass(frozen=True)
class Stores:
    """Made cheaply; the database opens itself at its first use."""

    settings: Settings

    @cached_property
    def database(self) -> Database:
        return Database(self.settings)

    @cached_property
    def graph(self) -> GraphStore:
        return PostgresGraph(self.database)

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog(self.database)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.database)

    @cached_property
    def feedback(self) -> FeedbackStore:
        return FeedbackStore(self.database)

    @cached_property
    def golden(self) -> GoldenStore:
        return GoldenStore(self.database)

    @cached_property
    def proposals(self) -> ProposalStore:
        return ProposalStore(self.database)

    @cached_property
    def evaluations(self) -> EvaluationStore:
        return EvaluationStore(self.database)

    @cached_property
    def experiments(self) -> ExperimentStore:
        return ExperimentStore(self.database)

    @cached_property
    def schedules(self) -> ScheduleStore:
        return ScheduleStore(self.database, self.settings.max_schedules)

    @cached_property
    def streams(self) -> StreamStore:
        return StreamStore(self.database)

    @cached_property
    def cache(self) -> Cache:
        return self.redis_cache or PostgresCache(self.database)

    @cached_property
    def redis_cache(self) -> RedisCache | None:
        """Raises InvalidSettings or MissingExtra."""
        return RedisCache(self.settings.redis_url.get_secret_value()) if self.settings.redis_url else None


@dataclass(frozen=True)
class OpenedModels(Stores):
    """Each opens itself at its first use."""

    @cached_property
    def embeddings(self) -> EmbeddingRegistry:
        return load_registry(self.settings.embeddings_config)

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
        return model.within(seconds, purpose=purpose) if isinstance(model, ResilientChatModel) else model

    @cached_property
    def background_chat_models(self) -> tuple[NamedModel, ...]:
        """As documents are ingested and evaluations answered with them: people's calls come first."""
        return tuple(NamedModel(named.name, in_background(named.model)) for named in self.chat_models)

    @property
    def background_chat_model(self) -> BaseChatModel:
        return self.background_chat_models[0].model

    @cached_property
    def bundled_embeddings(self) -> BundledEmbeddings:
        return BundledEmbeddings()

    @cached_property
    def relation_extractor(self) -> ModelExtractor | None:
        """One a process: its budget is the run's. Raises InvalidSettings."""
        if not self.settings.graph_max_calls:
            return None
        if not self.settings.chat_model:
            raise InvalidSettings("RAG_GRAPH_MAX_CALLS needs RAG_CHAT_MODEL: the model that finds relations.")
        return ModelExtractor(self.background_chat_model, self.cache, self.settings.graph_max_calls)

    @cached_property
    def name_recognizer(self) -> SpacyRecognizer | None:
        """None: rules alone find names. Raises MissingExtra or InvalidSettings."""
        return open_recognizer(self.settings.spacy_pipelines)

    @property
    def name_pipelines(self) -> tuple[str, ...]:
        return self.name_recognizer.pipelines if self.name_recognizer else ()

    async def embedding_model(self, collection: Collection) -> EmbeddingModel:
        """Raises EmbeddingModelUnavailable."""
        registry = await asyncio.to_thread(lambda: self.embeddings)
        return cached(registry.get(collection.embedding_model), cache=self.cache, owner_id=collection.owner_id)

    def may_read(self, collection: Collection) -> bool:
        """Whether the service's chat model is given the collection's questions and documents for all that is not the
        answer: not where the collection has another model of its own.
        """
        config, _ = self.generation_config(collection)
        return beginning_with(config.chat_model, self.chat_models)[0][0] is self.chat_models[0]

    def generation_config(self, collection: Collection | None) -> tuple[GenerationConfig, list[str]]:
        """The service's values, then the collection's; one that is not valid is passed over, with a warning."""
        return self.settings.generation.overridden(collection.generation_config if collection else {})


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
        guarded = [model for model in models.values() if isinstance(model, ResilientChatModel)]
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
    def owner_marks(self) -> Pseudonyms:
        return Pseudonyms(self.settings)

    @cached_property
    def files(self) -> FileStorage:
        """Raises InvalidSettings or MissingExtra."""
        return open_files(self.settings)

    @cached_property
    def load(self) -> AdmissionControl:
        return AdmissionControl(self.settings, has_owners=self.settings.auth != "none")

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
    def library(self) -> DocumentService:
        queue = Queue(self.database, concurrency=self.settings.worker_jobs, mark_owner=self.owner_marks.of)
        ingestions = Ingestions(self.database, self.settings.max_owner_bytes)
        erasure = Erasure(self.database, self.cache)
        waiting = Outbox(self.files, self.database)
        return DocumentService(
            self.store, ingestions, self.files, queue, self.settings.max_file_bytes, erasure, waiting
        )

    @cached_property
    def viewing(self) -> DocumentViewer:
        return DocumentViewer(self.files, self.parser)

    @cached_property
    def spool(self) -> OutboxDelivery:
        settings = self.settings
        default = settings.collection or DEFAULT_COLLECTION
        return OutboxDelivery(
            self.library, self.make_collection, default, settings.waiting_bytes, settings.max_documents
        )

    @cached_property
    def workshop(self) -> Jobs:
        return Jobs(self.library, self.pipeline, self, self.retention)

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

"""The only list of implementations: settings in, everything that a request needs out."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from pydantic_core import CoreSchema, core_schema

from graphrag.authentication import Authentication, open_authentication
from graphrag.cache import PostgresCache
from graphrag.cache.redis import RedisCache
from graphrag.causal_graph.model_extraction import ModelExtractor
from graphrag.config.settings import Settings
from graphrag.db.database import Database
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.e5 import open_tokenizer
from graphrag.embeddings.reader import open_reader
from graphrag.embeddings.registry import EmbeddingRegistry, load_models
from graphrag.embeddings.word_vectors import WordVectors
from graphrag.errors import IndexUnavailable, InvalidSettings
from graphrag.extractive_answers import short_answers
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.file_storage import open_files
from graphrag.ingestion.isolation import DocumentViewer, Sandbox
from graphrag.ingestion.outbox import Outbox, OutboxDelivery
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.queue import Queue
from graphrag.ingestion.service import DocumentService
from graphrag.ingestion.worker import Jobs, Retention
from graphrag.linguistics import language, lexicon
from graphrag.linguistics.spacy_pipelines import SpacyRecognizer, open_recognizer
from graphrag.llm.chat_models import EXTRACTIVE, NamedModel, open_chat_model, open_fallbacks
from graphrag.llm.model_choice import ModelChoice
from graphrag.llm.resilient_chat_model import ResilientChatModel, in_background
from graphrag.observability.pseudonyms import Pseudonyms
from graphrag.observability.telemetry import log
from graphrag.protocols import Cache, ChunkIndex, ChunkStore, FileStorage, GraphStore
from graphrag.query_transformation import tasks
from graphrag.query_transformation.phrases import load_question_grammars
from graphrag.query_transformation.refinement import Refiner
from graphrag.rerankers import Rerankers, open_cross_encoder, open_rerankers
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.resilience.circuit_breaker import BreakerState
from graphrag.resilience.load_shedding import AdmissionControl
from graphrag.retrieval.chunkenizer import Chunkenizer, open_chunkenizer
from graphrag.retrieval.collections import DEFAULT_COLLECTION, Collections
from graphrag.retrieval.hybrid import QueryCache
from graphrag.retrieval.pipeline import RetrievalPipeline
from graphrag.stores.indexes.chroma import ChromaIndex
from graphrag.stores.indexes.indexed_store import IndexedStore
from graphrag.stores.indexes.milvus import MilvusIndex
from graphrag.stores.indexes.typesense import TypesenseIndex
from graphrag.stores.postgres.catalog import Catalog
from graphrag.stores.postgres.chunks import PostgresStore
from graphrag.stores.postgres.conversations import Conversations
from graphrag.stores.postgres.erasure import Erasure
from graphrag.stores.postgres.evaluations import EvaluationStore
from graphrag.stores.postgres.feedback import FeedbackStore
from graphrag.stores.postgres.golden import GoldenStore
from graphrag.stores.postgres.graph import PostgresGraph
from graphrag.stores.postgres.ingestions import Ingestions
from graphrag.stores.postgres.proposals import ProposalStore
from graphrag.stores.postgres.schedules import ScheduleStore
from graphrag.stores.postgres.streams import StreamStore
from graphrag.table_queries.planner import TablePlanner

T = TypeVar("T")
TABLES = (lexicon.load, load_question_grammars, tasks.load, short_answers.load)  # for questions; no thread is begun
OWNER_BYTES, OWNER_COLLECTIONS = 10_000_000_000, 100  # quotas, where it is known who asks
INDEXES: dict[str, Callable[[Settings], ChunkIndex]] = {  # by RAG_INDEX
    "chroma": ChromaIndex,
    "milvus": MilvusIndex,
    "typesense": TypesenseIndex,
}


@dataclass(eq=False, kw_only=True)
class Services:
    """Every part of the service, made by `open_services`; `open` connects them and loads the models."""

    settings: Settings

    # PostgreSQL and what is stored in it.
    database: Database
    catalog: Catalog
    conversations: Conversations
    feedback: FeedbackStore
    golden: GoldenStore
    proposals: ProposalStore
    evaluations: EvaluationStore
    schedules: ScheduleStore
    streams: StreamStore
    graph: GraphStore
    store: ChunkStore
    index: IndexedStore | None  # the store, where a search index stands beside PostgreSQL
    cache: Cache
    redis: RedisCache | None

    # Models.
    embeddings: EmbeddingRegistry
    bundled_embeddings: BundledEmbeddings
    rerankers: Rerankers
    cross_encoder: CrossEncoderReranker | None
    chat_models: tuple[NamedModel, ...]  # in the order in which they are asked for an answer; the last needs nothing
    background_chat_models: tuple[NamedModel, ...]  # the same for ingestion and evaluation: people's calls come first
    model_choice: ModelChoice  # of a person on the page, whose model is asked before these
    judge_model: NamedModel | None  # of answers in evaluations
    name_recognizer: SpacyRecognizer | None  # None: rules alone find names

    # Documents on their way in, and questions on their way out.
    files: FileStorage
    sandbox: Sandbox
    ingestion: Pipeline
    documents: DocumentService
    document_viewer: DocumentViewer
    outbox: OutboxDelivery
    jobs: Jobs
    retriever: Chunkenizer | None  # of another service's documents
    collections: Collections
    retrieval: RetrievalPipeline

    # Who may ask, and how much at once.
    authentication: Authentication
    admission: AdmissionControl
    pseudonyms: Pseudonyms

    async def open(self, *, awaits_database: bool = False, answers: bool = True) -> None:
        """Connect to the database and load the models.

        `awaits_database`: start without a database that is away; it connects when it is back. `answers`: read what only
        questions need, one to two seconds; without it, start what prepares documents meanwhile. Raises InvalidSettings,
        MissingExtra or DatabaseUnavailable.
        """
        if not answers:
            self.sandbox.server.start()
        await self.authentication.open()
        opening = self.database.open_or_await() if awaits_database else self.database.open()
        for_questions = (*TABLES, open_reader, self.embeddings.load_for_questions, self.model_choice.load)
        loading = (self.embeddings.load, language.load, *(for_questions if answers else ()))
        await asyncio.gather(opening, *map(asyncio.to_thread, loading))
        if self.cross_encoder:
            await self.cross_encoder.open()
        if self.index:
            await self._connect_index(self.index)

    async def _connect_index(self, index: IndexedStore) -> None:
        """Open the search index; until one that is away is back, PostgreSQL searches."""
        try:
            await index.open()
        except IndexUnavailable as exc:
            address = urlsplit(self.settings.storage.index_url or "").netloc.rpartition("@")[2]  # without a password
            log.warning("search index unavailable", index=self.settings.storage.index, address=address, error=exc)

    async def close(self) -> None:
        self.sandbox.close()
        await self.authentication.close()
        await self.database.close()
        for part in (self.redis, self.index, self.retriever):
            if part:
                await part.close()

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        """Accept instances as they are: pydantic would copy a dataclass field by field."""
        return core_schema.is_instance_schema(cls)

    @property
    def owner(self) -> str:
        """Owner of the command line, and of every request where nobody authenticates."""
        return self.settings.authentication.owner

    @property
    def name_pipelines(self) -> tuple[str, ...]:
        return self.name_recognizer.pipelines if self.name_recognizer else ()

    def breakers(self) -> list[BreakerState]:
        """Return the state of every circuit breaker."""
        asked = (*self.model_choice.before(self.chat_models), self.judge_model)
        models = {named.name: named.model for named in asked if named}
        resilient = [model for model in models.values() if isinstance(model, ResilientChatModel)]
        embedding = [model.breaker for model in self.embeddings.models.values() if model.breaker]
        others = [part.breaker for part in (self.redis, self.index, self.retriever) if part]
        watched = [*(model.guard.breaker for model in resilient), *embedding, *others]
        databases = [self.database, *self.database.standbys]
        return [*(each.state for each in databases), *(state for breaker in watched for state in breaker.states())]


def open_services(settings: Settings, **given: Any) -> Services:
    """Return the services that the settings ask for. Nothing is connected or loaded yet.

    `given`: parts to use instead of those that the settings name, by their field; what depends on them gets them too.
    Raises InvalidSettings or MissingExtra.
    """

    def part(name: str, make: Callable[[], T]) -> T:
        made: T = given[name] if name in given else make()
        return made

    database = part("database", lambda: Database(settings))
    redis = RedisCache(settings.storage.redis_url.get_secret_value()) if settings.storage.redis_url else None
    cache: Cache = part("cache", lambda: redis or PostgresCache(database))
    files = part("files", lambda: open_files(settings))
    sandbox = part("sandbox", lambda: Sandbox(settings.ingestion_limits.parsing))
    pseudonyms = Pseudonyms(settings)

    index = None if "store" in given else _open_index(settings, database)
    store: ChunkStore = part("store", lambda: index or PostgresStore(database, **_store_options(settings)))
    graph: GraphStore = part("graph", lambda: PostgresGraph(database))

    bundled = BundledEmbeddings()
    embeddings = part("embeddings", lambda: EmbeddingRegistry(lambda: load_models(settings.storage.embeddings_config)))
    chat_models: tuple[NamedModel, ...] = part("chat_models", lambda: _open_chat_models(settings))
    background = tuple(NamedModel(named.name, in_background(named.model)) for named in chat_models)
    name_recognizer = part("name_recognizer", lambda: open_recognizer(settings.ingestion_limits.spacy_pipelines))

    retriever = part("retriever", lambda: open_chunkenizer(settings.search))
    collections = Collections(settings, store, embeddings, chat_models, cache, retriever is not None)
    cross_encoder = part("cross_encoder", lambda: open_cross_encoder(settings))
    chat_model = chat_models[0].model if settings.generation.chat_model else None
    rerankers = open_rerankers(settings, cross_encoder, embeddings, chat_model, collections.may_read)
    if reranker := given.get("reranker"):
        rerankers = replace(rerankers, best=reranker, local=reranker)
    retrieval = RetrievalPipeline(
        collections,
        store,
        graph,
        rerankers.choose,
        cache=QueryCache(settings.search.query_cache_seconds),
        retriever=retriever,
        refiner=part("refiner", lambda: _open_refiner(settings, chat_models, cache)),
        planner=part("planner", lambda: _open_planner(settings, chat_models)),
    )

    background_model = background[0].model
    ingestion = part(
        "ingestion",
        lambda: Pipeline(
            store,
            settings,
            part("preparer", lambda: sandbox),
            cache,
            chat_model=background_model if settings.generation.chat_model else None,
            relation_extractor=_open_relation_extractor(settings, background_model, cache),
            name_recognizer=name_recognizer,
            may_read=collections.may_read,
        ),
    )
    queue = Queue(database, concurrency=settings.ingestion_limits.worker_jobs, mark_owner=pseudonyms.of)
    documents = DocumentService(
        store,
        Ingestions(database, _quota(settings, settings.access.max_owner_bytes, OWNER_BYTES)),
        files,
        queue,
        settings.ingestion_limits.max_file_bytes,
        Erasure(database, cache),
        Outbox(files, database),
    )
    outbox = OutboxDelivery(
        documents.outbox,
        documents.add,
        collections.create,
        settings.storage.collection or DEFAULT_COLLECTION,
        settings.database.waiting_bytes,
        settings.ingestion_limits.max_documents,
    )
    conversations = Conversations(database)
    retention = part("retention", lambda: Retention(conversations, queue, settings.chat.conversation_days))
    return Services(
        settings=settings,
        database=database,
        catalog=Catalog(database),
        conversations=conversations,
        feedback=FeedbackStore(database),
        golden=GoldenStore(database),
        proposals=ProposalStore(database),
        evaluations=EvaluationStore(database),
        schedules=ScheduleStore(database, settings.access.max_schedules),
        streams=StreamStore(database),
        graph=graph,
        store=store,
        index=index,
        cache=cache,
        redis=redis,
        embeddings=embeddings,
        bundled_embeddings=bundled,
        rerankers=rerankers,
        cross_encoder=cross_encoder,
        chat_models=chat_models,
        background_chat_models=background,
        model_choice=ModelChoice(settings),
        judge_model=_open_judge(settings, chat_models),
        name_recognizer=name_recognizer,
        files=files,
        sandbox=sandbox,
        ingestion=ingestion,
        documents=documents,
        document_viewer=DocumentViewer(files, sandbox),
        outbox=outbox,
        jobs=Jobs(documents, ingestion, collections, retention),
        retriever=retriever,
        collections=collections,
        retrieval=retrieval,
        authentication=part(
            "authentication", lambda: open_authentication(settings.authentication, settings.storage.home, database)
        ),
        admission=AdmissionControl(settings.load, has_owners=settings.authentication.auth != "none"),
        pseudonyms=pseudonyms,
    )


def _open_index(settings: Settings, database: Database) -> IndexedStore | None:
    index = open_index(settings)
    return IndexedStore(database, index, **_store_options(settings)) if index else None


def open_index(settings: Settings) -> ChunkIndex | None:
    """Return the search index beside PostgreSQL, if the settings name one. Raises InvalidSettings or MissingExtra."""
    name = settings.storage.index
    if name is not None and name not in INDEXES:
        raise InvalidSettings(f"RAG_INDEX is {name!r}. Known: {', '.join(INDEXES)}; unset: PostgreSQL searches.")
    return INDEXES[name](settings) if name else None


def _store_options(settings: Settings) -> dict[str, Any]:
    return {
        "fulltext_candidates": settings.search.fulltext_candidates,
        "contextual": settings.ingestion.contextual_embeddings,
        "most_collections": _quota(settings, settings.access.max_collections, OWNER_COLLECTIONS),
    }


def _quota(settings: Settings, given: int | None, default: int) -> int | None:
    """Return a limit of an owner: the given one, or with authentication the default; None: no limit."""
    is_default = given is None and settings.authentication.auth != "none"
    return (default if is_default else given) or None


def _open_chat_models(settings: Settings) -> tuple[NamedModel, ...]:
    extractive, fallbacks = NamedModel(EXTRACTIVE, ExtractiveChatModel()), list(open_fallbacks(settings))
    if not settings.generation.chat_model:
        return (extractive,)
    return (NamedModel(settings.generation.chat_model, open_chat_model(settings)), *fallbacks, extractive)


def _open_judge(settings: Settings, chat_models: tuple[NamedModel, ...]) -> NamedModel | None:
    name = settings.evaluation.judge_model or settings.generation.chat_model
    if name is None:
        return None
    known = {named.name: named for named in chat_models}
    return known.get(name) or NamedModel(name, open_chat_model(settings, name, variable="RAG_JUDGE_MODEL"))


def _open_refiner(settings: Settings, chat_models: tuple[NamedModel, ...], cache: Cache) -> Refiner | None:
    if not (settings.generation.chat_model and settings.search.query_refinement):
        return None
    model, seconds = _model_before_search(settings, chat_models, purpose="refining")
    return Refiner(model, cache=cache, timeout_seconds=seconds)


def _open_planner(settings: Settings, chat_models: tuple[NamedModel, ...]) -> TablePlanner | None:
    if not settings.generation.chat_model:
        return None
    model, seconds = _model_before_search(settings, chat_models, purpose="planning")
    return TablePlanner(model, timeout_seconds=seconds)


def _model_before_search(
    settings: Settings, chat_models: tuple[NamedModel, ...], *, purpose: str
) -> tuple[BaseChatModel, float]:
    """Return the model that helps before an answer is written, and for how long it is waited for, in seconds.

    The model's own limit comes first: its circuit breaker learns of the slowness. The other one is for the queue.
    """
    seconds, model = settings.search.transform_timeout_seconds, chat_models[0].model
    if isinstance(model, ResilientChatModel):
        model = model.within(seconds, purpose=purpose)
    return model, seconds + 0.2


def _open_relation_extractor(settings: Settings, chat_model: BaseChatModel, cache: Cache) -> ModelExtractor | None:
    """Return the extractor, one per process as its budget is the run's. Raises InvalidSettings."""
    if not settings.ingestion_limits.graph_max_calls:
        return None
    if not settings.generation.chat_model:
        raise InvalidSettings("RAG_GRAPH_MAX_CALLS needs RAG_CHAT_MODEL: the model that finds relations.")
    return ModelExtractor(chat_model, cache, settings.ingestion_limits.graph_max_calls)


def load_tables() -> None:
    """Read what forked processes share, as far as that begins no thread: models do, and a fork has none of them."""
    for load in (language.load, *TABLES, open_tokenizer, WordVectors().load_for_questions):
        load()


@lru_cache(maxsize=1)
def shared_services() -> Services:
    """Return the services of a graph that was given none, as in LangGraph Studio: one per process."""
    return open_services(Settings.from_environment())

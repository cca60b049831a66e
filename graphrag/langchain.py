"""Collections for LangChain code: a retriever over the whole search, and a PGVectorStore over the vectors alone."""

import asyncio
import atexit
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from functools import cache
from threading import Thread
from typing import Any, TypeVar

import psycopg
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import Field, SecretStr

from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.identity import BEGAN, IDENTIFY, proof
from graphrag.db.migrate import APPLICATION_ROLE, SETTINGS
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import MissingExtra, install_command
from graphrag.models import EVERYTHING, Filters, Hit
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.services import Services, open_services

T = TypeVar("T")


class CausewayRetriever(BaseRetriever):
    """Finds chunks as `causeway search` does. Raises CausewayError.

    `ainvoke` runs in the caller's loop; `invoke` in one of its own, so that it may be called where a loop runs already.
    """

    services: Services
    collection: str | None = None  # its name; None: the default one
    owner_id: str | None = None  # None: RAG_OWNER
    overrides: Mapping[str, Any] = Field(default_factory=dict)  # of RetrievalConfig: {"top_k": 5}
    filters: Filters = EVERYTHING

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self._find(query, self.services)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        background = _background(self.services)
        return background.run(self._find(query, background.services))

    async def _find(self, query: str, services: Services) -> list[Document]:
        request = SearchRequest(query, (self.collection,), self.overrides, self.filters)
        found = await services.retrieval.find(request, self.owner_id or services.owner)
        return [to_document(hit) for hit in found.hits]


def to_document(hit: Hit) -> Document:
    chunk, document = hit.chunk, hit.chunk.document
    return Document(
        id=str(chunk.id),
        page_content=chunk.content,
        metadata={
            "chunk_id": str(chunk.id),
            "document_id": str(document.id),
            "chunk_index": chunk.index,
            "score": hit.score,
            "scores": dict(hit.scores),
            "created_at": document.created_at.isoformat(),
            "source": document.source,
            "filename": document.filename,
            "title": document.title,
            "language": document.language,
            "media_type": document.media_type,
            "source_type": document.source_type,
            "tags": list(document.tags),
            "context": chunk.context,
            "start_char": chunk.start_char,
            "end_char": chunk.end_char,
        },
    )


async def open_vector_store(
    services: Services, *, collection: str | None = None, owner_id: str | None = None
) -> VectorStore:
    """The collection's chunks as langchain-postgres' PGVectorStore, to be read, as long as the services are open.

    Every vector is compared, whatever the collection's size; filters are on the metadata. Raises MissingExtra,
    CollectionNotFound, DatabaseUnavailable.
    """
    try:
        from langchain_postgres import PGEngine, PGVectorStore
        from sqlalchemy.pool import NullPool
    except ModuleNotFoundError as exc:
        command = f"{install_command('langchain')} && pip install --no-deps langchain-postgres"
        raise MissingExtra.of("PGVectorStore", command) from exc
    found = await services.collections.open(owner_id or services.owner, collection)
    model = await services.collections.embedding_model(found)
    address = await services.database.address()

    async def connect() -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(address, prepare_threshold=None)

    # A connection a query: nobody could close a pool of the store's.
    key = services.database.identity_key

    def prove(connection: Any, *_: object) -> None:
        """Begin a query's transaction as the owner, who sees no rows but of this collection."""
        cursor = connection.cursor()
        cursor.execute(f"{SETTINGS}; SET LOCAL timezone = 'UTC'; SET LOCAL ROLE {APPLICATION_ROLE}")
        cursor.execute("SELECT set_config('app.collection_id', %s, true)", [str(found.id)])
        cursor.execute(BEGAN)
        (began,) = cursor.fetchone()
        cursor.execute(IDENTIFY, [found.owner_id, proof(key, found.owner_id, bytes(began))])
        cursor.close()

    engine = PGEngine.from_connection_string(
        "postgresql+psycopg://", async_creator=connect, poolclass=NullPool, pool_events=[(prove, "checkout")]
    )
    store: VectorStore = await PGVectorStore.create(
        engine,
        LoopFree(model.embeddings),
        "langchain_chunks",
        schema_name="causeway",
        id_column="id",
        metadata_json_column="metadata",
    )
    return store


class LoopFree(Embeddings):
    """A model's blocking side, called in a thread: its asynchronous client may belong to another loop."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embeddings.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._embeddings.embed_query(text)


class _Background:
    """A loop in a thread of its own, and services for it: a pool of connections belongs to one loop."""

    def __init__(self, services: Services) -> None:
        settings = services.settings
        self._embedded = None if settings.storage.database_url else EmbeddedPostgres(settings.storage.home)
        if self._embedded:
            settings = settings.changed(database_url=SecretStr(self._embedded.start()))
        # What is expensive to load is loaded once.
        models = services.embeddings.models.values()
        embeddings = EmbeddingRegistry([replace(model, embeddings=LoopFree(model.embeddings)) for model in models])
        self.services = open_services(settings, embeddings=embeddings, cross_encoder=services.cross_encoder)
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="causeway-retriever", daemon=True).start()
        atexit.register(self._close)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _close(self) -> None:
        self.run(self.services.close())
        # Here: the services would stop it in a thread, and at Python's end their loop can start none.
        if self._embedded:
            self._embedded.stop()


@cache
def _background(services: Services) -> _Background:
    """One for all services of the same settings, which are equal."""
    return _Background(services)

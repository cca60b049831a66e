"""Causeway inside a Python program, without a server: documents in, searches and answers out."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.output.events import Event, last_of, stream_answer
from graphrag.config.settings import Settings, check_splitter
from graphrag.ingestion.bulk import Loading
from graphrag.ingestion.sources import check_files, find_files
from graphrag.models import Chunking, Hit
from graphrag.models.ingestion import IngestionOutcome
from graphrag.observability.telemetry import configure_log_lines
from graphrag.query_transformation.transformation import check_question
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.services import Services, open_services


@dataclass(frozen=True, slots=True)
class CausewayAnswer:
    """An answer with its verified citations; `details` are the fields of the HTTP API's answer, as JSON values."""

    text: str  # Markdown, with marks [1]
    found: bool  # False: the documents hold no answer
    citations: list[dict[str, Any]]  # one a mark, in the order of the marks
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Causeway:
    """One collection, over open services: that of a name, or the default one. The owner is RAG_OWNER."""

    services: Services
    collection: str | None = None

    async def ingest(self, *paths: str | Path, chunking: Chunking | None = None) -> list[IngestionOutcome]:
        """Index files and folders, and return an outcome for each file; unchanged ones are skipped.

        The collection is created if there is none. Raises UnreadableDocument where no file is, MissingExtra,
        DatabaseUnavailable or FileUnavailable.
        """
        check_splitter(chunking)
        given = [Path(path) for path in paths]
        await asyncio.to_thread(check_files, given)
        files = await asyncio.to_thread(find_files, given)
        collection = await self.services.collections.create(self.services.owner, self.collection)
        loading = Loading(self.services.documents, collection, chunking, [path for path in given if path.is_dir()])
        async with self.services.documents.queue.working(self.services.jobs):
            return [step async for step in loading.load(files) if isinstance(step, IngestionOutcome)]

    async def search(
        self,
        question: str,
        *,
        filters: Mapping[str, Any] | None = None,
        collections: Sequence[str] = (),
        **overrides: Any,
    ) -> list[Hit]:
        """Return the chunks that match, best first.

        `filters`: {"language": "en"}; `collections`: several, in place of this one; `overrides` of RetrievalConfig:
        top_k=5. Raises InvalidQuestion, InvalidFilter, CollectionNotFound, EmbeddingModelUnavailable or
        RetrievalUnavailable.
        """
        names = tuple(collections) or (self.collection,)
        request = SearchRequest(question, names, overrides, parse_filters(filters or {}))
        return (await self.services.retrieval.find(request, self.services.owner)).hits

    async def ask(
        self, question: str, *, filters: Mapping[str, Any] | None = None, collections: Sequence[str] = ()
    ) -> CausewayAnswer:
        """Answer a question from the documents. Raises what `stream` raises."""
        done = await last_of(self.stream(question, filters=filters, collections=collections))
        return CausewayAnswer(done["answer"], done["found"], done["citations"], done)

    async def stream(
        self, question: str, *, filters: Mapping[str, Any] | None = None, collections: Sequence[str] = ()
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of an answer: status, sources, token, citation, done; closing it stops the model's work.

        `collections`: several, in place of this one. Raises InvalidQuestion, InvalidFilter, CollectionNotFound or
        ModelUnavailable.
        """
        check_question(question, max_chars=self.services.settings.search.max_question_chars)
        parse_filters(filters or {})
        owner = self.services.owner
        opened = await self.services.collections.open_all(owner, collections or [self.collection])
        context = Context(
            filters=dict(filters or {}),
            owner_id=owner,
            opened=opened,
            services=self.services,
        )
        async with aclosing(stream_answer(graph, [HumanMessage(question)], context)) as events:
            async for event in events:
                yield event


@asynccontextmanager
async def open_causeway(collection: str | None = None, **settings: Any) -> AsyncIterator[Causeway]:
    """Open a collection with the settings of the environment; `settings`, by name, outrank them: chat_model=….

    PostgreSQL is the embedded one, which stops at the end, unless DATABASE_URL or `database_url` names another. Raises
    InvalidSettings, MissingExtra or DatabaseUnavailable.
    """
    read = Settings.from_environment(**settings)
    if not structlog.is_configured():
        configure_log_lines(read.observability.log_level)
    services = open_services(read)
    try:
        await services.open()
        yield Causeway(services, collection)
    finally:
        await services.close()

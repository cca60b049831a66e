"""A few short documents in a store in memory, and how to ask them; for the tests of the graph."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage

from agent.context import Context
from agent.graph import graph as answering
from agent.output.events import Event, stream_answer
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.ingestion.preparation import InProcessPreparer
from graphrag.ingestion.sources import SourceFile
from graphrag.llm.chat_models import EXTRACTIVE, NamedModel
from graphrag.models import LOCAL_OWNER
from graphrag.protocols import GraphStore
from graphrag.services import Services, open_services
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import InMemoryStore

DOCUMENTS = {
    "puente.md": "# Informe del puente\n\nEl puente de Arenal se cerró el 3 de mayo de 2024. El cierre del puente de "
    "Arenal se debió a que la riada dañó dos pilares. La reparación costó 9.240 euros.\n",
    "bibliotheque.md": "# La bibliothèque\n\nLa bibliothèque municipale ouvre à neuf heures. Elle compte 12 000 livres."
    " Le directeur de la bibliothèque est Paul Lemaire.\n",
    "boiler.md": "# Boiler manual\n\nThe boiler must be serviced every twelve months. The pressure should stay at 1.5 "
    "bar. Call the fitter when the red lamp blinks.\n",
}


async def open_library(
    registry: EmbeddingRegistry,
    documents: Mapping[str, str] = DOCUMENTS,
    *,
    store: InMemoryStore,
    graph: GraphStore | None = None,
    **settings: Any,
) -> Services:
    opened = Settings.from_environment(**settings)
    parts = {"store": store, "graph": graph or InMemoryGraph(store), "embeddings": registry}
    services = open_services(opened, preparer=InProcessPreparer(opened.ingestion_limits.parsing), **parts)
    collection = await services.collections.create(LOCAL_OWNER, None)
    model = await services.collections.embedding_model(collection)
    files = [SourceFile(name, name, text.encode()) for name, text in documents.items()]
    await services.ingestion.ingest(files, collection=collection, model=model)
    return services


SHARED = ("database", "store", "graph", "embeddings", "sandbox", "cache", "files", "retriever", "name_recognizer")


def with_parts(services: Services, *, chat_model: BaseChatModel | None = None, **parts: Any) -> Services:
    """Services over the same stores, with other implementations of some parts."""
    if chat_model:
        first = NamedModel(services.settings.generation.chat_model or EXTRACTIVE, chat_model)
        parts["chat_models"] = (first, NamedModel(EXTRACTIVE, ExtractiveChatModel()))
    return open_services(services.settings, **{name: getattr(services, name) for name in SHARED} | parts)


async def ask(services: Services, question: str | Sequence[AnyMessage], **context: Any) -> list[Event]:
    messages = [HumanMessage(question)] if isinstance(question, str) else question
    async with aclosing(stream_answer(answering, messages, Context(services=services, **context))) as events:
        return [event async for event in events]


def data_of(events: Sequence[Event], name: str) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["event"] == name]


def stages(events: Sequence[Event]) -> list[str]:
    return [data["stage"] for data in data_of(events, "status")]


def tokens(events: Sequence[Event]) -> list[str]:
    return [data["text"] for data in data_of(events, "token")]


def done(events: Sequence[Event]) -> dict[str, Any]:
    (data,) = data_of(events, "done")
    return data


def filenames(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    return [source["filename"] for source in sources]

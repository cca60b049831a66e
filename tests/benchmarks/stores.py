"""The same documents through every store: what each finds beside PostgreSQL, how long it takes, how long to fill it.

python -m tests.benchmarks.stores [--data DIR …] [--stores postgres,chroma,milvus,…] [--queries N]

DIR holds a dataset in BEIR's format; without one the demo documents are asked their golden questions. Typesense is the
tests' contract server, which compares all vectors in Python: its times are no Typesense's.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch
from uuid import UUID

from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from agent.evaluation.golden_run import DEEPEST, rank_documents
from agent.evaluation.metrics import mean, measure
from agent.evaluation.retrieval_run import read_dataset
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.ingestion.sources import SourceFile, SourceText
from graphrag.models import LOCAL_OWNER, Collection, Hit
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, open_services
from graphrag.stores.indexes.indexed_store import IndexedStore
from tests.benchmarks.datasets import DEMO, GOLDEN, Question
from tests.benchmarks.measuring import percentile
from tests.benchmarks.systems.databases import fresh_database, running_postgres
from tests.chroma_server import run_chroma_server
from tests.milvus_server import run_milvus_server
from tests.typesense_server import KEY, TypesenseServer

NEWEST = datetime(2026, 1, 1, tzinfo=UTC)  # ties go to the more recent document: the same one in every store
AT_ONCE = 500  # documents in a transaction
SAME = UUID(int=1)
FIRST = 5
PATIENCE = 60  # seconds: no store is left out because the machine is busy
POSTGRES, MILVUS, TYPESENSE = "postgres", "milvus", "typesense"
HYBRID, VECTORS, OWN_WORDS = "hybrid", "vectors", "hybrid, its own words"
READINGS: Mapping[str, Mapping[str, Any]] = {
    HYBRID: {"strategy": "hybrid"},
    VECTORS: {"strategy": "semantic", "rerank": False},
}


@dataclass(frozen=True, slots=True)
class Material:
    name: str
    sources: Sequence[SourceText | SourceFile]
    questions: Sequence[Question]


@dataclass
class Shelf:
    """A store with the documents in it."""

    services: Services
    collection: Collection
    model: EmbeddingModel
    seconds: float  # that it took to fill it


@dataclass
class Reading:
    """What was found on a shelf, question by question."""

    shelf: Shelf
    overrides: Mapping[str, Any]  # of the service's RetrievalConfig
    rankings: list[list[str]] = field(default_factory=list)  # the ten best documents' names
    milliseconds: list[float] = field(default_factory=list)
    fallbacks: int = 0  # searches that PostgreSQL did in the index's place, which say nothing of the index

    async def ask(self, question: str) -> None:
        services = self.shelf.services
        search = IndexedStore._search

        async def counted(*values: Any, **named: Any) -> list[Hit] | None:
            hits = await search(*values, **named)
            self.fallbacks += hits is None
            return hits

        with patch.object(IndexedStore, "_search", counted):
            answer = await rank_documents(
                question,
                pipeline=services.retrieval.measured(),
                collection=self.shelf.collection,
                config=services.settings.retrieval.model_copy(update=self.overrides),
                name=lambda document: document.source,
            )
        assert not answer.failed
        self.rankings.append(answer.ranking[:DEEPEST])
        self.milliseconds.append(answer.milliseconds)

    def same(self, other: "Reading") -> dict[str, float]:
        """The shares of the questions for which both found the same ten documents, and the same five in one order."""
        pairs = list(zip(self.rankings, other.rankings, strict=True))
        return {
            "ten": statistics.fmean(set(ours) == set(theirs) for ours, theirs in pairs),
            "five": statistics.fmean(ours[:FIRST] == theirs[:FIRST] for ours, theirs in pairs),
        }

    def quality(self, questions: Sequence[Question]) -> dict[str, float]:
        """Of the questions that have an answer, as evaluations measure it."""
        asked = [(ranking, each) for ranking, each in zip(self.rankings, questions, strict=True) if each.relevant]
        return mean([measure(ranking, dict.fromkeys(each.relevant, 1)) for ranking, each in asked])


@contextmanager
def _chroma_server() -> Iterator[dict[str, Any]]:
    with run_chroma_server() as url:
        yield {"index": "chroma", "index_url": url}


@contextmanager
def _milvus_server() -> Iterator[dict[str, Any]]:
    with run_milvus_server() as url:
        yield {"index": "milvus", "index_url": url}


@contextmanager
def _typesense() -> Iterator[dict[str, Any]]:
    with TypesenseServer() as server:
        yield {"index": "typesense", "index_url": server.url, "index_api_key": SecretStr(KEY)}


STORES: Mapping[str, Callable[[], AbstractContextManager[dict[str, Any]]]] = {
    POSTGRES: lambda: nullcontext({}),
    "chroma": lambda: nullcontext({"index": "chroma"}),
    "chroma-server": _chroma_server,
    MILVUS: lambda: nullcontext({"index": "milvus"}),
    "milvus-server": _milvus_server,
    TYPESENSE: _typesense,
}


def demo() -> Material:
    paths = sorted(DEMO.iterdir())
    files = [
        SourceFile(path.name, path.name, path.read_bytes(), created_at=_created(number))
        for number, path in enumerate(paths)
    ]
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return Material("demo", files, [Question(case["query"], frozenset(case["relevant_documents"])) for case in cases])


def beir(folder: Path) -> Material:
    read = read_dataset(folder)
    texts = [
        SourceText(document.id, document.text, document.title, document.language, created_at=_created(number))
        for number, document in enumerate(read.documents)
    ]
    return Material(read.name, texts, [Question(query.text, frozenset(query.relevance)) for query in read.queries])


@asynccontextmanager
async def filled(store: str, material: Material, server: str, model_id: str) -> AsyncIterator[Shelf]:
    with (
        tempfile.TemporaryDirectory() as home,
        STORES[store]() as chosen,
        fresh_database(server, f"stores_{store.replace('-', '_')}") as database,
    ):
        services = open_services(
            Settings.from_environment(
                home=Path(home), database_url=SecretStr(database), index_timeout_seconds=PATIENCE, **chosen
            )
        )
        await services.open()
        try:
            collection = await _collection(services, model_id)
            model = await services.collections.embedding_model(collection)
            await services.ingestion.ingest(material.sources[:1], collection=collection, model=model)  # starts parsers
            started = perf_counter()
            for start in range(0, len(material.sources), AT_ONCE):
                batch = material.sources[start : start + AT_ONCE]
                outcomes = await services.ingestion.ingest(batch, collection=collection, model=model)
                assert not [outcome.cause for outcome in outcomes if outcome.cause]
            await services.store.optimize(collection)
            yield Shelf(
                services, await services.collections.open(LOCAL_OWNER, "benchmark"), model, perf_counter() - started
            )
        finally:
            await services.close()


async def _collection(services: Services, model: str) -> Collection:
    """With the same id in each store, and so documents and chunks: what is equally good goes by their ids."""
    made = await services.store.create_collection(LOCAL_OWNER, "benchmark", embedding_model=model)
    async with services.database.transaction(LOCAL_OWNER) as connection:
        await connection.execute("UPDATE collections SET collection_id = %s WHERE collection_id = %s", [SAME, made.id])
    return replace(made, id=SAME)


async def compare(
    material: Material, stores: Sequence[str], server: str, *, model: str = "bundled"
) -> dict[tuple[str, str], Reading]:
    """By store and reading. Each question is put to one after the other, so that all meet the same machine.

    `model`: whose vectors; those of `bundled` are told apart in half precision too, which PostgreSQL keeps.
    """
    async with AsyncExitStack() as stack:
        shelves = {store: await stack.enter_async_context(filled(store, material, server, model)) for store in stores}
        readings = {(store, name): Reading(shelves[store], READINGS[name]) for name in READINGS for store in stores}
        own_words = {**READINGS[HYBRID], "fulltext_ranking": "index"}
        for store in (MILVUS, TYPESENSE):
            if store in shelves:
                readings[store, OWN_WORDS] = Reading(shelves[store], own_words)
        for reading in readings.values():
            await Reading(reading.shelf, reading.overrides).ask(material.questions[0].text)  # what is slow but once
        for question in material.questions:
            for reading in readings.values():
                await reading.ask(question.text)
        return readings


def _created(number: int) -> datetime:
    return NEWEST - timedelta(seconds=number)


def table_of(material: Material, readings: Mapping[tuple[str, str], Reading]) -> Table:
    """Times as ratios to PostgreSQL's, which is the first."""
    title = f"{material.name}: {len(material.sources)} documents, {len(material.questions)} questions"
    places = ["same ten", "same five", "hit@10", "mrr@10"]
    times = ["p50 ms", "p95 ms", "× PostgreSQL's p50", "filled in s"]
    table = Table("store", "search", *places, *times, "fallbacks", title=title)
    for (store, name), reading in readings.items():
        base = readings[POSTGRES, HYBRID if name == OWN_WORDS else name]
        same, quality, shelf = reading.same(base), reading.quality(material.questions), reading.shelf
        p50, p95 = (percentile(reading.milliseconds, share) for share in (0.5, 0.95))
        figures = [same["ten"], same["five"], quality["hit@10"], quality["mrr@10"]]
        took = [p50, p95, p50 / percentile(base.milliseconds, 0.5), shelf.seconds]
        table.add_row(store, name, *map("{:.3f}".format, figures), *map("{:.1f}".format, took), str(reading.fallbacks))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", default=[])
    parser.add_argument("--stores", type=lambda text: text.split(","), default=list(STORES))
    parser.add_argument("--queries", type=int, default=sys.maxsize)
    chosen = parser.parse_args()
    configure_logging("ERROR")
    with running_postgres() as server:
        for material in map(beir, chosen.data) if chosen.data else [demo()]:
            asked = replace(material, questions=material.questions[: chosen.queries])
            stores = list(dict.fromkeys([POSTGRES, *chosen.stores]))  # the one that all are compared with
            Console(width=180).print(table_of(asked, asyncio.run(compare(asked, stores, server))))


if __name__ == "__main__":
    main()

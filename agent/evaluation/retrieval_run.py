"""One run of retrieval over a dataset: its documents loaded into a collection, every query searched and judged."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any

from agent.evaluation.dataset import CorpusDocument, Dataset, InvalidDataset, Query
from agent.evaluation.metrics import mean, measure, percentiles
from agent.evaluation.ranking import rank_documents
from agent.evaluation.summary import count_failed
from graphrag.errors import ProviderError
from graphrag.ingestion.cleaning import holds_words
from graphrag.ingestion.sources import SourceText
from graphrag.ingestion_models import IngestionStatus
from graphrag.models import Collection, Document
from graphrag.services import Services
from graphrag.settings import RetrievalConfig

BATCH = 500  # documents a transaction
# Documents of a corpus have no date, and ties go to the more recent one: here to the first, in every run alike.
NEWEST = datetime(2000, 1, 1, tzinfo=UTC)
Advance = Callable[[int], None]  # told how many more are done


@dataclass(frozen=True, slots=True)
class Load:
    """What is in the collection, and how long it took; no time where it was there already."""

    collection: Collection
    seconds: float = 0.0
    skipped: tuple[str, ...] = ()  # documents without a word, which no search could find


@dataclass(frozen=True, slots=True)
class Report:
    dataset: Dataset
    queries: int
    config: RetrievalConfig
    load: Load
    metrics: Mapping[str, float]
    latency_ms: Mapping[str, float]
    degraded: Mapping[str, int] = field(default_factory=dict)  # stage → queries that were searched without it

    def as_json(self) -> dict[str, Any]:
        collection = self.load.collection
        return {
            "dataset": self.dataset.name,
            "documents": len(self.dataset.documents),
            "queries": self.queries,
            "config": {**self.config.model_dump(), "embedding_model": collection.embedding_model},
            "metrics": dict(self.metrics),
            "latency_ms": dict(self.latency_ms),
            "ingest": {
                "seconds": round(self.load.seconds, 3),
                "chunks": collection.chunk_count,
                "skipped": len(self.load.skipped),
            },
            "degraded": dict(self.degraded),
        }


@asynccontextmanager
async def loaded(
    dataset: Dataset, *, services: Services, name: str, embedding_model: str | None, keep: bool, advance: Advance
) -> AsyncIterator[Load]:
    """The dataset in a collection of that name, which is removed at the end unless it was there before or is kept.

    Raises InvalidDataset where the collection holds anything else.
    """
    found = await _find(services, name)
    if found is not None and found.chunk_count:
        await _check_same(dataset, found, services, embedding_model)
        yield Load(found)
        return
    wanted = services.embeddings.get(embedding_model or services.embeddings.default)
    collection = found or await services.store.create_collection(
        services.settings.owner, name, embedding_model=wanted.id
    )
    try:
        yield await _load(dataset, services=services, collection=collection, advance=advance)
    finally:
        if found is None and not keep:
            await services.store.delete_collection(collection)


async def run_queries(
    dataset: Dataset,
    queries: Sequence[Query],
    *,
    services: Services,
    load: Load,
    config: RetrievalConfig,
    advance: Advance,
) -> Report:
    """One query after the other, as one person would ask them: the latencies are those of an idle machine."""
    model = await services.embedding_model(load.collection)
    answers = []
    for query in queries:
        answers.append(
            await rank_documents(
                query.text, services=services, collection=load.collection, model=model, config=config, name=_source
            )
        )
        advance(1)
    return Report(
        dataset=dataset,
        queries=len(queries),
        config=config,
        load=load,
        metrics=mean(
            [measure(answer.ranking, query.relevance) for answer, query in zip(answers, queries, strict=True)]
        ),
        latency_ms=percentiles([answer.milliseconds for answer in answers]),
        degraded=count_failed(answer.failed for answer in answers),
    )


def _source(document: Document) -> str:
    return document.source


async def _find(services: Services, name: str) -> Collection | None:
    collections = await services.store.list_collections(services.settings.owner)
    return next((collection for collection in collections if collection.name == name), None)


async def _load(dataset: Dataset, *, services: Services, collection: Collection, advance: Advance) -> Load:
    started = perf_counter()
    model = await services.embedding_model(collection)
    texts = [_source_text(document, number) for number, document in enumerate(dataset.documents)]
    skipped: list[str] = []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        outcomes = await services.pipeline.ingest(batch, collection=collection, model=model)
        if failed := next((outcome for outcome in outcomes if outcome.failed_chunks), None):
            raise ProviderError(failed.cause)
        skipped += [outcome.source for outcome in outcomes if outcome.status is IngestionStatus.ERROR]
        advance(len(batch))
    await services.store.optimize(collection)
    counted = await _find(services, collection.name)
    assert counted is not None
    return Load(counted, perf_counter() - started, tuple(skipped))


def _source_text(document: CorpusDocument, number: int) -> SourceText:
    return SourceText(
        source=document.id,
        text=_text(document),
        title=document.title,
        language=document.language,
        created_at=NEWEST - timedelta(seconds=number),
    )


def _text(document: CorpusDocument) -> str:
    return document.text if document.text.strip() else document.title


async def _check_same(
    dataset: Dataset, collection: Collection, services: Services, embedding_model: str | None
) -> None:
    if embedding_model not in (None, collection.embedding_model):
        raise InvalidDataset(
            f"Collection {collection.name!r} has the embedding model {collection.embedding_model!r}: give another name."
        )
    stored = await services.store.list_documents(collection)
    held = {(document.source, document.title, document.content_hash) for document in stored}
    texts = [_source_text(document, number) for number, document in enumerate(dataset.documents)]
    given = {(text.source, text.title, text.content_hash) for text in texts if holds_words(text.text)}
    if held != given:
        raise InvalidDataset(
            f"Collection {collection.name!r} does not hold the documents of {dataset.name}: {len(given - held)} of"
            f" {len(given)} are missing or differ, {len(held - given)} are others. Give another name."
        )

"""A run of retrieval over a dataset in BEIR's format."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from agent.evaluation.comparison import count_failed
from agent.evaluation.golden_run import rank_documents
from agent.evaluation.metrics import mean, measure, percentiles
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import CausewayError, ProviderError
from graphrag.ingestion.sources import SourceText
from graphrag.models import Collection, Document
from graphrag.models.ingestion import IngestionStatus
from graphrag.parsers.text import clean, holds_words
from graphrag.services import Services

QRELS = ("qrels.tsv", "qrels/test.tsv")


class InvalidDataset(CausewayError):
    """The message begins with the file, and the line where there is one."""

    code: ClassVar[str] = "invalid_dataset"


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    id: str
    title: str
    text: str
    language: str | None = None  # ISO 639-1; None: not said


@dataclass(frozen=True, slots=True)
class DatasetQuery:
    id: str
    text: str
    relevance: Mapping[str, int]  # document → its grade, above 0


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    documents: tuple[CorpusDocument, ...]
    queries: tuple[DatasetQuery, ...]  # those with a relevant document, in the file's order


def read_dataset(folder: Path) -> Dataset:
    """Raises InvalidDataset."""
    documents = tuple(_read_corpus(folder / "corpus.jsonl"))
    judgements = _read_qrels(_find_qrels(folder), {document.id for document in documents})
    queries = tuple(
        DatasetQuery(query_id, text, judgements[query_id])
        for query_id, text in _read_queries(folder / "queries.jsonl")
        if query_id in judgements
    )
    if not queries:
        raise InvalidDataset(f"{folder}: no query of queries.jsonl has a relevant document in {' or '.join(QRELS)}.")
    return Dataset(folder.resolve().name, documents, queries)


def _find_qrels(folder: Path) -> Path:
    return next((folder / name for name in QRELS if (folder / name).is_file()), folder / QRELS[0])


def _read_corpus(path: Path) -> Iterator[CorpusDocument]:
    for where, record in _records(path):
        language = _document_text(record, "lang", where, default="").split("-")[0].lower()
        title = " ".join(clean(_document_text(record, "title", where, default="")).split())
        yield CorpusDocument(_id(record, where), title, _document_text(record, "text", where), language or None)


def _read_queries(path: Path) -> Iterator[tuple[str, str]]:
    for where, record in _records(path):
        text = clean(_document_text(record, "text", where))
        if not text:
            raise InvalidDataset(f'{where}: "text" is empty.')
        yield _id(record, where), text


def _read_qrels(path: Path, documents: set[str]) -> dict[str, dict[str, int]]:
    """Return query → document → grade above 0. Raises InvalidDataset for a document that isn't in the corpus."""
    judgements: dict[str, dict[str, int]] = {}
    judged: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 1 and cells[0] == "query-id":
            continue
        where = f"{path}, line {number}"
        query, document, grade = _judgement(cells, where)
        if judged.setdefault((query, document), grade) != grade:
            raise InvalidDataset(f"{where}: document {document!r} has two grades for query {query!r}.")
        if grade > 0:
            if document not in documents:
                raise InvalidDataset(f"{where}: document {document!r} is not in corpus.jsonl.")
            judgements.setdefault(query, {})[document] = grade
    return judgements


def _judgement(cells: list[str], where: str) -> tuple[str, str, int]:
    try:
        query, document, grade = cells
        return query, document, int(grade)
    except ValueError:
        raise InvalidDataset(
            f"{where}: not «query id, document id, relevance» with tabs between them and a whole number at the end."
        ) from None


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each with its place. No two have the same id."""
    lines: dict[str, int] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise InvalidDataset(f"{where}: not JSON ({exc}).") from None
        if not isinstance(record, dict):
            raise InvalidDataset(f"{where}: not a JSON object.")
        first = lines.setdefault(_id(record, where), number)
        if first != number:
            raise InvalidDataset(f"{where}: the id of line {first} again.")
        yield where, record


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of each line that is not blank."""
    try:
        with path.open("rb") as file:  # as bytes, so that an error of encoding has its line
            for number, line in enumerate(file, 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as exc:
        raise InvalidDataset(f"{path}, line {number}: not UTF-8 ({exc.reason}).") from None
    except OSError as exc:
        raise InvalidDataset(
            f"{path}: {exc.strerror}. A dataset has corpus.jsonl, queries.jsonl and {' or '.join(QRELS)}."
        ) from None


def _id(record: Mapping[str, Any], where: str) -> str:
    value = record.get("_id", record.get("id"))
    text = str(value).strip() if isinstance(value, str | int) else ""
    if not text or not text.isprintable():
        raise InvalidDataset(f'{where}: "_id" (or "id") is missing or not plain text.')
    return text


def _document_text(record: Mapping[str, Any], field: str, where: str, *, default: str | None = None) -> str:
    value = record.get(field)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise InvalidDataset(f'{where}: "{field}" is missing or not a text.')
    return value


BATCH = 500  # documents a transaction
# Documents of a corpus have no date, and ties go to the more recent one: here to the first, in every run alike.
NEWEST = datetime(2000, 1, 1, tzinfo=UTC)
Advance = Callable[[int], None]  # told how many more are done


@dataclass(frozen=True, slots=True)
class LoadedDataset:
    """A dataset in its collection, and how long loading took; 0 where it was there already."""

    collection: Collection
    seconds: float = 0.0
    skipped: tuple[str, ...] = ()  # documents without a word, which no search could find


@dataclass(frozen=True, slots=True)
class Report:
    dataset: Dataset
    queries: int
    config: RetrievalConfig
    load: LoadedDataset
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
) -> AsyncIterator[LoadedDataset]:
    """The dataset in a collection of that name, which is removed at the end unless it was there before or is kept.

    Raises InvalidDataset where the collection holds anything else.
    """
    found = await _find(services, name)
    if found is not None and found.chunk_count:
        await _check_same(dataset, found, services, embedding_model)
        yield LoadedDataset(found)
        return
    wanted = services.embeddings.get(embedding_model or services.embeddings.default)
    collection = found or await services.store.create_collection(services.owner, name, embedding_model=wanted.id)
    try:
        yield await _load(dataset, services=services, collection=collection, advance=advance)
    finally:
        if found is None and not keep:
            await services.store.delete_collection(collection)


async def run_queries(
    dataset: Dataset,
    queries: Sequence[DatasetQuery],
    *,
    services: Services,
    load: LoadedDataset,
    config: RetrievalConfig,
    advance: Advance,
) -> Report:
    """One query after the other, as one person would ask them: the latencies are those of an idle machine."""
    answers, pipeline = [], services.retrieval.measured()
    for query in queries:
        answers.append(
            await rank_documents(query.text, pipeline=pipeline, collection=load.collection, config=config, name=_source)
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
    collections = await services.store.list_collections(services.owner)
    return next((collection for collection in collections if collection.name == name), None)


async def _load(dataset: Dataset, *, services: Services, collection: Collection, advance: Advance) -> LoadedDataset:
    started = perf_counter()
    model = await services.collections.embedding_model(collection)
    texts = [_source_text(document, number) for number, document in enumerate(dataset.documents)]
    skipped: list[str] = []
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        outcomes = await services.ingestion.ingest(batch, collection=collection, model=model)
        if failed := next((outcome for outcome in outcomes if outcome.failed_chunks), None):
            raise ProviderError(failed.cause)
        skipped += [outcome.source for outcome in outcomes if outcome.status is IngestionStatus.ERROR]
        advance(len(batch))
    await services.store.optimize(collection)
    counted = await _find(services, collection.name)
    assert counted is not None
    return LoadedDataset(counted, perf_counter() - started, tuple(skipped))


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

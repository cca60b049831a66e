"""Datasets in BEIR's format: corpus.jsonl, queries.jsonl, and judgements in qrels.tsv or qrels/test.tsv."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from graphrag.errors import CausewayError
from graphrag.ingestion.cleaning import clean

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
class Query:
    id: str
    text: str
    relevance: Mapping[str, int]  # document → its grade, above 0


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    documents: tuple[CorpusDocument, ...]
    queries: tuple[Query, ...]  # those with a relevant document, in the file's order


def read_dataset(folder: Path) -> Dataset:
    """Raises InvalidDataset."""
    documents = tuple(_read_corpus(folder / "corpus.jsonl"))
    judgements = _read_qrels(_find_qrels(folder), {document.id for document in documents})
    queries = tuple(
        Query(query_id, text, judgements[query_id])
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
        language = _text(record, "lang", where, default="").split("-")[0].lower()
        title = " ".join(clean(_text(record, "title", where, default="")).split())
        yield CorpusDocument(_id(record, where), title, _text(record, "text", where), language or None)


def _read_queries(path: Path) -> Iterator[tuple[str, str]]:
    for where, record in _records(path):
        text = clean(_text(record, "text", where))
        if not text:
            raise InvalidDataset(f'{where}: "text" is empty.')
        yield _id(record, where), text


def _read_qrels(path: Path, documents: set[str]) -> dict[str, dict[str, int]]:
    """Query → document → grade above 0. A document that nobody could find would only spoil the numbers: an error."""
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


def _text(record: Mapping[str, Any], field: str, where: str, *, default: str | None = None) -> str:
    value = record.get(field)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise InvalidDataset(f'{where}: "{field}" is missing or not a text.')
    return value

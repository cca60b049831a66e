"""Folders in BEIR's format, good and bad."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.evaluation.retrieval_run import CorpusDocument, DatasetQuery, InvalidDataset, read_dataset

CORPUS = [{"id": "d1", "title": "Horno", "text": "El horno H2."}, {"id": "d2", "title": "", "text": "La cisterna."}]
QUERIES = [{"id": "q1", "text": "¿Qué horno?"}, {"id": "q2", "text": "¿Qué cisterna?"}]
QRELS = "q1\td1\t1\nq2\td2\t2\n"


def write_dataset(folder: Path, files: Mapping[str, object]) -> Path:
    """Text as it is, records as JSON lines."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif isinstance(content, list):
            path.write_text("".join(json.dumps(record) + "\n" for record in content), encoding="utf-8")
    return folder


def dataset_with(folder: Path, **changed: object) -> Path:
    """A good one of two documents and two queries, but for what is changed; None leaves a file out."""
    files = {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS} | changed
    names = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.tsv"}
    return write_dataset(folder, {names[key]: content for key, content in files.items()})


def test_folder_is_read(tmp_path: Path) -> None:
    """R10.6."""
    dataset = read_dataset(dataset_with(tmp_path / "almacén"))
    assert dataset.name == "almacén"
    assert dataset.documents == (
        CorpusDocument("d1", "Horno", "El horno H2."),
        CorpusDocument("d2", "", "La cisterna."),
    )
    assert dataset.queries == (
        DatasetQuery("q1", "¿Qué horno?", {"d1": 1}),
        DatasetQuery("q2", "¿Qué cisterna?", {"d2": 2}),
    )


def test_folder_as_beir_publishes_it_is_read(tmp_path: Path) -> None:
    """R10.6 `_id`, a header, judgements in qrels/test.tsv, numbers as ids, Windows' line ends, a byte order mark."""
    corpus = b'\xef\xbb\xbf{"_id": 7, "title": null, "text": "A\\u2028B", "metadata": {}, "lang": "en-GB"}\r\n\r\n'
    queries = '{"_id": "q1", "text": "A?", "metadata": {}}\n{"_id": "q2", "text": "train only"}\n'
    files = {
        "corpus.jsonl": corpus,
        "queries.jsonl": queries,
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\r\nq1\t7\t1\r\n",
        "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq2\t7\t1\n",
    }
    dataset = read_dataset(write_dataset(tmp_path, files))
    assert dataset.documents == (CorpusDocument("7", "", "A\u2028B", "en"),)
    assert dataset.queries == (DatasetQuery("q1", "A?", {"7": 1}),)


def test_queries_that_nothing_answers_are_left_out(tmp_path: Path) -> None:
    """R10.2 without a judgement, or with none above 0; a grade of 0 is not relevant."""
    queries = [*QUERIES, {"id": "q3", "text": "Nadie la juzgó."}]
    dataset = read_dataset(
        dataset_with(tmp_path, queries=queries, qrels="q1\td1\t0\nq1\td2\t-1\nq2\td2\t1\nq2\td1\t0\n")
    )
    assert dataset.queries == (DatasetQuery("q2", "¿Qué cisterna?", {"d2": 1}),)


def test_judgements_of_queries_that_are_not_asked_do_not_matter(tmp_path: Path) -> None:
    """R10.6 a part of a dataset's queries may be taken out."""
    dataset = read_dataset(dataset_with(tmp_path, queries=QUERIES[1:]))
    assert [query.id for query in dataset.queries] == ["q2"]


BAD: dict[str, tuple[dict[str, object], str]] = {
    "no corpus": ({"corpus": None}, "corpus.jsonl: No such file or directory. A dataset has corpus.jsonl,"),
    "no queries": ({"queries": None}, "queries.jsonl: No such file or directory."),
    "no judgements": ({"qrels": None}, "qrels.tsv: No such file or directory."),
    "not JSON": ({"corpus": '{"id": "d1", "text": ""}\n\n{"id": \n'}, "corpus.jsonl, line 3: not JSON (Expecting"),
    "no object": ({"queries": '["q1"]\n'}, "queries.jsonl, line 1: not a JSON object."),
    "no id": ({"corpus": [*CORPUS, {"text": "a"}]}, 'corpus.jsonl, line 3: "_id" (or "id") is missing'),
    "odd id": ({"corpus": [{"id": "a\0b", "text": "a"}]}, 'line 1: "_id" (or "id") is missing or not plain'),
    "no text": ({"corpus": [{"id": "d1", "title": "a"}]}, 'corpus.jsonl, line 1: "text" is missing or not a text.'),
    "text is a number": ({"queries": [{"id": "q1", "text": 7}]}, 'queries.jsonl, line 1: "text" is missing'),
    "empty query": ({"queries": [{"id": "q1", "text": " "}]}, 'queries.jsonl, line 1: "text" is empty.'),
    "title is a list": ({"corpus": [{"id": "d1", "title": [], "text": ""}]}, 'line 1: "title" is missing or not'),
    "same document twice": ({"corpus": [*CORPUS, CORPUS[0]]}, "corpus.jsonl, line 3: the id of line 1 again."),
    "same query twice": ({"queries": [*QUERIES, QUERIES[1]]}, "queries.jsonl, line 3: the id of line 2 again."),
    "not UTF-8": ({"corpus": b'{"id": "d1", "text": "a"}\n{"id": "d2", "text": "\xe9"}\n'}, "line 2: not UTF-8"),
    "two columns": ({"qrels": "q1\td1\n"}, "qrels.tsv, line 1: not «query id, document id, relevance»"),
    "header in the middle": ({"qrels": "q1\td1\t1\nquery-id\tcorpus-id\tscore\n"}, "qrels.tsv, line 2: not «query id"),
    "spaces for tabs": ({"qrels": "q1 d1 1\n"}, "qrels.tsv, line 1: not «query id, document id, relevance» with tabs"),
    "grade is no number": ({"qrels": "q1\td1\t1\n\nq2\td2\tyes\n"}, "qrels.tsv, line 3: not «query id"),
    "unknown document": ({"qrels": "q1\td9\t1\n"}, "qrels.tsv, line 1: document 'd9' is not in corpus.jsonl."),
    "two grades": ({"qrels": "q1\td1\t1\nq1\td1\t0\n"}, "line 2: document 'd1' has two grades for query 'q1'."),
    "nothing judged": ({"qrels": "q9\td1\t1\n"}, "no query of queries.jsonl has a relevant document"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_named_with_its_file(tmp_path: Path, name: str) -> None:
    """R10.6, R10.1 relevant documents must exist."""
    changed, told = BAD[name]
    with pytest.raises(InvalidDataset) as caught:
        read_dataset(dataset_with(tmp_path, **changed))
    assert told in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))

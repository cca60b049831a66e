"""The measure of answers: what counts as held, which questions are asked, which documents are left out."""

import json
from pathlib import Path

import pytest

from agent.evaluation.retrieval_run import CorpusDocument, Dataset, DatasetQuery, InvalidDataset
from tests.benchmarks.answering import Outcome, holds, read_answers, row, spread, without_some


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("El acuerdo se firmó en «Málaga».", ["malaga"], True),
        ("Costó 1.250 euros.", ["250"], False),
        ("Costó 1.250 euros.", ["1.250 euros"], True),
        ("In the 18th century", ["19th", "18TH CENTURY"], True),
        ("partida", ["art"], False),
        ("anything", ["…"], False),
    ],
)
def test_answer_is_held_as_whole_words(text: str, answers: list[str], expected: bool) -> None:
    """R10.6 whatever the case, accents and punctuation."""
    assert holds(text, answers) is expected


def test_questions_are_evenly_spaced() -> None:
    queries = [DatasetQuery(str(number), "?", {"d": 1}) for number in range(10)]
    assert [query.id for query in spread(queries, 4)] == ["0", "2", "5", "7"]
    assert spread(queries, 100) == queries


def test_what_is_left_out_answers_the_questions_that_are_kept() -> None:
    documents = tuple(CorpusDocument(str(number), "", "text") for number in range(6))
    queries = (
        DatasetQuery("of a kept one", "?", {"0": 1}),
        DatasetQuery("of a removed one", "?", {"2": 1}),
        DatasetQuery("of both", "?", {"2": 1, "3": 1}),
    )
    lacking = without_some(Dataset("made", documents, queries))
    assert [document.id for document in lacking.documents] == ["0", "1", "3", "4"]
    assert [query.id for query in lacking.queries] == ["of a removed one"]


def test_answers_are_read_by_their_question(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "text": "?", "answer": ["1"]},
        {"_id": 7, "text": "?", "answer": ["2"]},
        {"id": "b", "text": "?"},
    ]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert read_answers(tmp_path) == {"a": ["1"], "7": ["2"]}
    (tmp_path / "queries.jsonl").write_text(json.dumps(lines[2]), encoding="utf-8")
    with pytest.raises(InvalidDataset, match="answer"):
        read_answers(tmp_path)


def test_shares_are_of_all_that_were_asked() -> None:
    """A refused question is an answer that lacks everything."""
    right = Outcome("?", ["1"], "1 [1]", is_refused=False, is_first=True, is_held=True, is_cited=True, is_read=True)
    refused = Outcome("?", ["1"], "…", is_refused=True)
    assert row("made", [right, refused], [refused]) == [
        "made", "2", "0.500", "0.500", "0.500", "0.500", "0.500", "1", "1.000",
    ]  # fmt: skip

"""What the benchmark of chunking reports: tokens found, read and wanted."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.embeddings.bundled import BundledEmbeddings
from tests.benchmarks.chunking import WINDOW, WINDOW_OVERLAP, Texts, compare, load, load_demo, union

MODEL = BundledEmbeddings()
TEXTS = Texts({"a": "one two three four five six seven eight nine ten", "b": "one " * 1_000})
stretches = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 40), st.integers(1, 9)).map(lambda s: (s[0], s[1], s[1] + s[2]))
)


def span(words: str, text: str = "a") -> tuple[str, int, int]:
    start = TEXTS.texts[text].index(words)
    return text, start, start + len(words) + 1


def test_recall_precision_and_overlap_are_of_tokens() -> None:
    """R2.4: found 2 of the 4 that answer, in the 5 that were read."""
    score = compare([span("three four"), span("nine ten")], [span("two three four"), ("b", 0, 8)], TEXTS)
    assert [score.recall, score.precision] == pytest.approx([2 / 4, 2 / 5])
    assert [score.iou, score.tokens] == pytest.approx([2 / (4 + 5 - 2), 5])


def test_what_is_read_twice_is_found_once() -> None:
    """R2.4: it counts twice against precision, as overlapping windows are both handed over."""
    score = compare([span("three four")], [span("two three four"), span("three four five")], TEXTS)
    assert [score.recall, score.precision] == pytest.approx([1, 2 / 6])


def test_nothing_read_is_nothing_found() -> None:
    score = compare([span("three four")], [], TEXTS)
    assert (score.recall, score.precision, score.iou, score.tokens) == (0.0, 0.0, 0.0, 0)


def test_windows_overlap_by_half_and_reach_the_end() -> None:
    windows = TEXTS.windows("b")
    assert (windows[0].start, windows[-1].end) == (0, len(TEXTS.texts["b"]))
    assert {TEXTS.tokens([("b", window.start, window.end)]) for window in windows[:-1]} == {WINDOW}
    overlaps = {TEXTS.tokens([("b", after.start, before.end)]) for before, after in pairwise(windows)}
    assert overlaps == {WINDOW_OVERLAP}
    assert [(window.start, window.end) for window in TEXTS.windows("a")] == [(0, len(TEXTS.texts["a"]))]


@given(stretches)
def test_a_union_holds_each_character_once(given: list[tuple[str, int, int]]) -> None:
    def characters(parts: list[tuple[str, int, int]]) -> list[tuple[str, int]]:
        return [(name, place) for name, start, end in parts for place in range(start, end)]

    assert sorted(characters(union(given))) == sorted(set(characters(given)))


def test_questions_are_read_with_their_texts(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Se paró el horno.", encoding="utf-8")
    row = {"id": "1", "corpus": "a", "text": "¿Qué se paró?", "spans": [[8, 16]], "contents": ["el horno"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row), encoding="utf-8")
    texts, [question] = load(tmp_path)
    [(name, start, end)] = question.answer
    assert texts[name][start:end] == "el horno"


def test_without_data_the_demo_documents_answer() -> None:
    """R2.4 Each golden question that has its words in a sentence: in that sentence, of the right document."""
    texts, questions = load_demo()
    assert len(questions) > 20
    for question in questions:
        assert all(0 <= start < end <= len(texts[name]) for name, start, end in question.answer)
    [cut] = [question for question in questions if "presupuesto de repuestos" in question.text]
    assert ["41.000" in texts[name][start:end] for name, start, end in cut.answer] == [True]

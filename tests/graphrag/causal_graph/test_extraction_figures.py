"""How many of the relations that people marked the rules find, and how many of those found people marked too."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphrag.causal_graph.extraction import extract_relations
from graphrag.linguistics.language import content_words, fold
from graphrag.models import Span
from graphrag.models.graph import CausalRelation, Polarity

FILES = sorted(Path(__file__).with_name("sentences").glob("*.jsonl"))  # es.development.jsonl: language, part
SAME = 0.5  # F1 of the words of two spans


@dataclass
class Figures:
    found: int = 0  # as facts
    right: int = 0
    turned_round: int = 0
    gold: int = 0  # facts
    recovered: int = 0


def overlap(one: str, other: str, language: str) -> float:
    """F1 of the content words."""
    words = Counter(map(fold, content_words(one, language)))
    others = Counter(map(fold, content_words(other, language)))
    return 2 * (words & others).total() / (words.total() + others.total()) if words and others else 0.0


def is_same(cause: str, effect: str, gold: dict[str, str], language: str) -> bool:
    return overlap(cause, gold["cause"], language) >= SAME and overlap(effect, gold["effect"], language) >= SAME


def count(figures: Figures, case: dict[str, Any], relations: list[CausalRelation], language: str) -> None:
    """Each marked relation is found once at most; found with another polarity it is not found."""

    def text_of(span: Span) -> str:
        text: str = case["text"]
        return text[span.start : span.end]

    waiting = list(case["relations"])
    figures.gold += sum(gold["polarity"] == "fact" for gold in waiting)
    for relation in relations:
        if relation.polarity is not Polarity.FACT:
            continue
        figures.found += 1
        cause, effect = text_of(relation.cause), text_of(relation.effect)
        match = next((gold for gold in waiting if is_same(cause, effect, gold, language)), None)
        if match is None:
            figures.turned_round += any(is_same(effect, cause, gold, language) for gold in waiting)
            continue
        waiting.remove(match)
        if match["polarity"] == "fact":
            figures.right += 1
            figures.recovered += 1


def measure(file: Path) -> Figures:
    language = file.name.partition(".")[0]
    figures = Figures()
    for line in file.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        count(figures, case, extract_relations(case["text"], language=language), language)
    return figures


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_relations_are_those_that_people_mark(file: Path) -> None:
    """R7.1: found facts right in 85 %, marked facts found in 70 %, cause and effect not exchanged in 90 %."""
    figures = measure(file)
    assert figures.gold > 40
    assert figures.right / figures.found >= 0.85, figures
    assert figures.recovered / figures.gold >= 0.70, figures
    assert figures.turned_round / figures.found <= 0.10, figures


def test_every_language_has_sentences() -> None:
    """R7.1."""
    assert {file.name.partition(".")[0] for file in FILES} == {"es", "fr", "en"}


def test_marked_spans_are_in_their_texts() -> None:
    """R7.1: the measure is sound."""
    for file in FILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            spans = [relation[end] for relation in case["relations"] for end in ("cause", "effect")]
            assert all(span in case["text"] for span in spans), case["id"]


def test_a_negated_relation_found_as_a_fact_is_wrong() -> None:
    """R7.1: the measure is strict."""
    text = "La helada provocó la avería."
    gold = [{"cause": "La helada", "effect": "la avería", "type": "CAUSES", "polarity": "negated"}]
    figures = Figures()
    count(figures, {"text": text, "relations": gold}, extract_relations(text, language="es"), "es")
    assert figures == Figures(found=1, right=0, turned_round=0, gold=0, recovered=0)

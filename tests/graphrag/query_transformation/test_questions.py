"""How well the rules understand questions that people ask: sets of them by language, with what each asks for."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphrag.linguistics.language import fold, stem, stop_words, words
from graphrag.models import TransformedQuery
from graphrag.query_transformation.transformation import transform

SETS = sorted((Path(__file__).parent / "questions").glob("*.jsonl"))
LEAST_INTENT, LEAST_DIRECTION, LEAST_DECOMPOSITION = 0.93, 0.90, 0.85
# They set things against each other and describe none: the bags are compared without them.
COMPARING = {
    "en": "compare compares compared comparing comparison contrast difference differences differ differs different"
    " versus vs more most less least better best worse worst than between",
    "es": "compara compárame comparar comparado comparación diferencia diferencias diferencian distingue distinguen"
    " versus vs más menos mejor peor mayor menor frente entre",
    "fr": "compare comparer comparé comparaison différence différences diffère diffèrent distingue distinguent"
    " versus vs plus moins mieux meilleur meilleure pire entre",
}


@dataclass(frozen=True, slots=True)
class Figures:
    language: float
    intent: float
    direction: float
    decomposition: float


def bag(text: str, language: str) -> Counter[str]:
    """The folded stems of the words that carry meaning."""
    empty = stop_words(language) | {fold(word) for word in COMPARING[language].split()}
    content = [word for word in words(text) if fold(word) not in empty and not (len(word) == 1 and word.isalpha())]
    return Counter(stem(word, language) for word in content)


def measure(rows: Sequence[dict[str, Any]], language: str) -> Figures:
    pairs = [(row, transform(row["question"])) for row in rows]
    causal = [(row, query) for row, query in pairs if row["intent"] == "causal"]
    return Figures(
        language=share([query.language == language for _, query in pairs]),
        intent=share([query.intent == row["intent"] for row, query in pairs]),
        direction=share([query.direction == row["direction"] for row, query in causal]),
        decomposition=share([is_decomposed(row, query, language) for row, query in pairs]),
    )


def is_decomposed(row: dict[str, Any], query: TransformedQuery, language: str) -> bool:
    return [bag(part, language) for part in query.sub_queries] == [bag(part, language) for part in row["sub_questions"]]


def share(right: Sequence[bool]) -> float:
    return sum(right) / len(right)


@pytest.mark.parametrize("path", SETS, ids=[path.stem for path in SETS])
def test_questions_are_understood(path: Path) -> None:
    """R6.1, R6.2 Intent, direction and parts of what people ask, by rules, in each language."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    figures = measure(rows, path.name.partition(".")[0])
    assert figures.language >= LEAST_INTENT, figures
    assert figures.intent >= LEAST_INTENT, figures
    assert figures.direction >= LEAST_DIRECTION, figures
    assert figures.decomposition >= LEAST_DECOMPOSITION, figures


def test_there_is_a_set_for_each_language() -> None:
    """R6.2"""
    assert {path.name.partition(".")[0] for path in SETS} >= {"en", "es", "fr"}

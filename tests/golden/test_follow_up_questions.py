"""How well follow-up questions are turned into questions that stand alone, in three languages."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphrag.linguistics.language import fold, words
from graphrag.query_transformation.follow_ups import Exchange
from graphrag.query_transformation.transformation import transform

ROWS = [json.loads(line) for line in (Path(__file__).parent / "follow_ups.jsonl").read_text("utf-8").splitlines()]
LEAST_RIGHT = 0.85


def stand_alone(row: dict[str, Any]) -> str:
    """Return the question that is searched for after the row's conversation."""
    return transform(row["question"], [Exchange(**exchange) for exchange in row["earlier"]]).standalone


def is_right(row: dict[str, Any], told: str) -> bool:
    """Return whether the question holds the words that it needs and lacks those that it must not have."""
    folded = " ".join(fold(word) for word in words(told))

    def is_held(phrase: str) -> bool:
        return f" {' '.join(fold(word) for word in words(phrase))} " in f" {folded} "

    is_unchanged = not row["stands_alone"] or told == row["question"]
    return is_unchanged and all(map(is_held, row["holds"])) and not any(map(is_held, row["lacks"]))


@pytest.mark.parametrize("language", ["es", "fr", "en"])
def test_follow_ups_stand_alone(language: str) -> None:
    """R6.3 Over subjects that the rules were not written for."""
    kept = [row for row in ROWS if row["kept"] and row["language"] == language]
    told = [stand_alone(row) for row in kept]
    right = [is_right(row, text) for row, text in zip(kept, told, strict=True)]
    wrong = [text for text, correct in zip(told, right, strict=True) if not correct]
    assert sum(right) / len(right) >= LEAST_RIGHT, wrong

"""Statements beside their passages, true ones and ones with one fact changed: which of them verification tells."""

from collections import Counter
from typing import Any

import pytest

from agent.verification.support import Support
from tests.agent.verification.passages import check, is_doubted, read_pairs

SETS = {name: read_pairs(name) for name in ("pairs.jsonl", "pairs_2.jsonl")}  # by two authors
PAIRS = [pair for pairs in SETS.values() for pair in pairs]
LEAST_CAUGHT = 0.9  # of the corrupted ones of a set
LEAST_BY_KIND = {
    "number": 0.9,
    "date": 0.95,
    "unit": 0.95,
    "direction": 0.85,
    "negation": 0.85,
    "role": 0.8,
    "name": 0.7,
}
LEAST_OF_OTHERS = 0.85  # of each kind of the second set
MOST_FALSE_ALARMS = 0.05  # of the true ones


@pytest.fixture(scope="module")
def doubted() -> dict[str, bool]:
    return {pair["id"]: is_doubted(pair) for pair in PAIRS}


def shares(pairs: list[dict[str, Any]], doubted: dict[str, bool], field: str) -> dict[str, float]:
    asked = [pair for pair in pairs if pair["label"] == "corrupted"]
    counts = Counter(pair[field] for pair in asked)
    caught = Counter(pair[field] for pair in asked if doubted[pair["id"]])
    return {value: caught[value] / count for value, count in counts.items()}


def test_the_pairs_are_sound() -> None:
    """R8.4 Both labels, three languages, and a passage in another language for some of each."""
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS) >= 400
    for label in ("true", "corrupted"):
        of_label = [pair for pair in PAIRS if pair["label"] == label]
        assert {pair["language"] for pair in of_label} == {"es", "fr", "en"}
        assert sum(pair["language"] != pair["passage_language"] for pair in of_label) >= 10


@pytest.mark.parametrize("name", SETS)
def test_changed_facts_are_caught(doubted: dict[str, bool], name: str) -> None:
    """R8.4 Numbers, names, dates, units, denials, directions and roles: most of all."""
    corrupted = [pair["id"] for pair in SETS[name] if pair["label"] == "corrupted"]
    assert sum(doubted[pair] for pair in corrupted) / len(corrupted) >= LEAST_CAUGHT


def test_every_kind_of_change_is_caught(doubted: dict[str, bool]) -> None:
    """R8.4 None of the kinds is left out."""
    by_kind = shares(SETS["pairs.jsonl"], doubted, "kind")
    assert all(by_kind[kind] >= least for kind, least in LEAST_BY_KIND.items()), by_kind
    others = shares(SETS["pairs_2.jsonl"], doubted, "kind")
    assert all(others[kind] >= LEAST_OF_OTHERS for kind in LEAST_BY_KIND), others


@pytest.mark.parametrize("name", SETS)
def test_true_statements_are_not_doubted(doubted: dict[str, bool], name: str) -> None:
    """R8.4 Verbatim or in other words, joined, computed or translated."""
    true = [pair["id"] for pair in SETS[name] if pair["label"] == "true"]
    alarms = [pair for pair in true if doubted[pair]]
    assert len(alarms) <= MOST_FALSE_ALARMS * len(true), alarms


@pytest.mark.parametrize(
    ("statement", "is_carried"),
    [
        ("Aliens have landed in Bristol.", False),
        ("The king of Spain has bought the bakery.", False),
        ("Hannah Thorley writes from the office in Bristol.", True),
    ],
)
def test_one_word_in_common_carries_nothing_across_languages(statement: str, is_carried: bool) -> None:
    """R8.4 A name alone says what a passage in another language is about, not that it says the same."""
    passage = "Hannah Thorley, de la oficina de Bristol, escribe que en España llovió el lunes."
    assert (check(statement, passage).status is Support.SUPPORTED) is is_carried

"""Plans by their probability, for questions that the rules do not understand whole."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.table_queries.plans import run_plan
from graphrag.table_queries.reading import read_plan
from graphrag.table_queries.scoring import MOST_ROWS, likely_plan, plan_weights, probability, score_plans
from tests.graphrag.table_queries.books import INVOICES, STOCK, read_sheet

RACES: Sequence[Sequence[Any]] = [
    ["Year", "Winner", "Country", "Laps"],
    [2001, "Ana Ruiz", "Spain", 50],
    [2002, "Jo Kane", "Ireland", 61],
    [2003, "Eva Sol", "Spain", 58],
    [2004, "Luc Roy", "France", 44],
    [2005, "Tim Orr", "Ireland", 47],
    [2006, "Ida Lund", "Norway", 52],
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who was the last winner listed?", "Ida Lund"),
        ("what is the first country on the list?", "Spain"),
    ],
)
def test_what_the_rules_refuse_has_a_likely_plan(question: str, expected: str) -> None:
    """R8.3 The order of rows."""
    table = read_sheet(RACES, language="en")
    assert read_plan(question, table, language="en") is None
    found = likely_plan(question, table, language="en")
    assert found is not None
    assert found.result.values[0][0] == expected


@pytest.mark.parametrize(
    "question",
    [
        "Why did they choose this colour for the hall?",
        "What share of the budget went to the museum in Lyon last winter?",
        "Who drives the red van on Sundays and how many keys are there?",
        "How many items did each supplier deliver?",
    ],
)
def test_what_is_about_something_else_has_no_likely_plan(question: str) -> None:
    """R8.5 Words that nothing explains, two questions, a share or a value for each that no plan gives."""
    assert likely_plan(question, read_sheet(STOCK, language="en"), language="en") is None


def test_long_tables_are_left_to_the_rules() -> None:
    """R11.1 Each plan is run: a table of many rows would take its time."""
    rows: Sequence[Sequence[Any]] = [["Code", "Amount"], *([f"C-{n}", n] for n in range(MOST_ROWS + 1))]
    assert score_plans("which code is last?", read_sheet(rows), language="en", weights={}) == []


@given(
    st.sampled_from(
        ["¿Qué cliente debe más?", "next invoice after F-103?", "total of the last one", "Quel est le premier ?"]
    )
)
def test_plans_give_what_they_say_and_their_probability_is_one(question: str) -> None:
    """R8.3 The best first; each result is its plan's."""
    table = read_sheet(INVOICES)
    plans = score_plans(question, table, language="en", weights=plan_weights())
    assert [each.score for each in plans] == sorted((each.score for each in plans), reverse=True)
    assert 0 < probability(plans) <= 1 + 1e-9
    assert all(run_plan(table, each.plan) == each.result for each in plans[:50])

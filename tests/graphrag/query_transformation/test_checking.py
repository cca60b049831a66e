"""Which texts are questions."""

import pytest

from graphrag.errors import InvalidQuestion
from graphrag.query_transformation.transformation import check_question


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("x" * 11, "too_long"),
        ("¿por\x00qué?", "control_characters"),
        ("a\x1b[2J", "control_characters"),
        ("a\x7fb", "control_characters"),
    ],
)
def test_a_question_that_is_refused_says_why(text: str, reason: str) -> None:
    """R6.1"""
    with pytest.raises(InvalidQuestion) as caught:
        check_question(text, max_chars=10)
    assert caught.value.details["reason"] == reason
    assert str(caught.value)


@pytest.mark.parametrize(
    ("text", "question"),
    [("  ¿y H2?\n", "¿y H2?"), ("x" * 10, "x" * 10), (f"  {'x' * 10}  ", "x" * 10), ("a\n\tb", "a\n\tb"), ("?", "?")],
)
def test_any_other_question_is_let_through(text: str, question: str) -> None:
    assert check_question(text, max_chars=10) == question


def test_a_question_that_is_too_long_is_told_the_limit() -> None:
    with pytest.raises(InvalidQuestion, match="at most 10") as caught:
        check_question("x" * 11, max_chars=10)
    assert caught.value.details["limit"] == 10

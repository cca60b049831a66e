"""What a text takes of a model's context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.token_counting import count_tokens


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("La reparación costó 9.240 euros.", 8, 20),
        ("La réparation a coûté 9 240 euros.", 8, 20),
        ("The repair cost 9,240 euros.", 7, 16),
        ("palabra " * 1_000, 1_000, 5_000),
    ],
)
def test_tokens_are_counted(text: str, least: int, most: int) -> None:
    """R8.2 A word has one or a few, with its punctuation."""
    assert least <= count_tokens(text) <= most


@given(st.text(), st.text())
def test_a_longer_text_has_no_fewer(one: str, other: str) -> None:
    """R8.2 What was cut to a budget and joined by spaces stays in it; a budget is never met by an empty count."""
    assert count_tokens(f"{one} {other}") == (count_tokens(one) or 1) + (count_tokens(other) or 1)
    assert count_tokens(one) >= len(one.split())

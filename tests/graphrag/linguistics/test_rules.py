"""R7.1 Tables of words and patterns: fragments, and errors in their shape."""

import pytest
from pydantic import ValidationError

from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordSet, expand


class SampleRules(Rules):
    words: WordSet
    pattern: Pattern
    alternatives: AnyCase


def test_fragments_stand_in_their_places() -> None:
    """R7.1"""
    table = expand(
        {
            "not_after": {"NOT_A_NOUN": "the a"},
            "fragments": {"VERB": "caus(?:e|ed)", "SPACED": r"{VERB}\s+by"},
            "words": "este, lo que",
            "pattern": "{NOT_A_NOUN}{VERB}|\nled{1,2}",
            "alternatives": ["{SPACED}", "due"],
        }
    )
    rules = SampleRules.model_validate(table)
    assert rules.words == {"este", "lo que"}
    assert rules.pattern.search("it caused it")
    assert not rules.pattern.search("the cause")
    assert rules.pattern.fullmatch("ledd")
    assert rules.alternatives.search("Caused  BY")
    assert rules.alternatives.search("DUE")


@pytest.mark.parametrize(
    "table",
    [
        {"words": "a b", "pattern": "a", "alternatives": "b", "word": "a"},
        {"words": "a b", "alternatives": "b"},
    ],
    ids=["unknown entry", "missing entry"],
)
def test_a_table_of_another_shape_is_an_error(table: dict[str, str]) -> None:
    """R7.1"""
    with pytest.raises(ValidationError):
        SampleRules.model_validate(table)

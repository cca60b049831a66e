"""R7.1 Reading only the words that a cue begins with finds all cues."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.grammar import read_causal_grammar
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.prefix_index import LETTERS, beginnings

TEXTS = [
    path.read_text("utf-8")
    for path in sorted(Path(__file__).parents[1].joinpath("causal_graph", "sentences").glob("*.jsonl"))
]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("porque", {"porqu"}),
        ("d(?:ebido|ado) a", {"debid", "dado "}),
        (r"(?:la )?causa", {"la ca", "causa"}),
        ("as?", {"as", "a"}),
        (r"a\w+", {"a"}),
        (r"(?:\w+ )?cause", {"", "cause"}),
        (r"(?=x)", {""}),
        ("[ab]c", {"ac", "bc"}),
        ("(?:ab)+", {"ab"}),
    ],
)
def test_beginnings_of_a_pattern(pattern: str, expected: set[str]) -> None:
    """R7.1"""
    assert beginnings(pattern) == expected


@given(st.from_regex(r"(?:d(?:e|a)b?ido a|por (?:lo que|eso)|[ck]ausa(?:r|ndo)?|as+ez)", fullmatch=True))
def test_every_match_begins_so(text: str) -> None:
    """R7.1"""
    known = beginnings(r"(?:d(?:e|a)b?ido a|por (?:lo que|eso)|[ck]ausa(?:r|ndo)?|as+ez)")
    assert any(text[:length] in known for length in range(LETTERS + 1))


@pytest.mark.parametrize("language", sorted(ANSWER_LANGUAGES))
def test_the_quick_way_finds_what_the_slow_one_does(language: str) -> None:
    """R7.1 in sentences of all three languages, which are full of cues."""
    grammar = read_causal_grammar(language)
    for text in map(normalize, TEXTS):
        for line in re.finditer(r"[^\n]+", text):
            slow = list(grammar.search.finditer(text, *line.span()))
            quick = list(grammar.find_cues(text, *line.span()))
            assert [(match.span(), match.lastgroup) for match in quick] == [
                (match.span(), match.lastgroup) for match in slow
            ]

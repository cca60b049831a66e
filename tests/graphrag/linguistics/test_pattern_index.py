"""R7.1 Reading only the words that a cue begins with finds all cues."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.grammar import read_causal_grammar
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.rules import PatternIndex, loosened

TEXTS = [
    path.read_text("utf-8")
    for path in sorted(Path(__file__).parents[1].joinpath("causal_graph", "sentences").glob("*.jsonl"))
]
PATTERNS = [
    "porque",
    "d(?:ebido|ado) a",
    r"(?:la )?causa",
    r"(?<=[,;]\s)pues(?! bien)",
    r"a\w+s\b",
    r"as(?=\s+the)",
    r"(?<=,\s)(?=y'\ben)\w+",
]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("porqu", {0}),
        ("p", {0, 3}),
        ("debid", {1}),
        ("la ca", {2}),
        ("pues ", {3}),
        ("as th", {5}),
        ("y'en", {6}),
        ("y'", {6}),
        ("y es", set()),
        ("x", set()),
        ("", set(range(len(PATTERNS)))),
    ],
)
def test_patterns_that_may_begin_so(letters: str, expected: set[int]) -> None:
    """R7.1"""
    assert set(PatternIndex(PATTERNS).candidates(letters)) == expected


@pytest.mark.parametrize(
    ("pattern", "relaxed"),
    [
        (r"\bcaus(?!a\b)(?:a|e)\b", "caus(?:a|e)"),
        (r"(?<=[,;(]\s)so(?=,?\s+(?!that\b|(?:a|b)))x", r"so(?=,?\s+)x"),
        (r"a\((?!b)[)(?=]c(?<!d)", r"a\([)(?=]c"),
        ("", ""),
    ],
)
def test_what_limits_a_match_is_left_out(pattern: str, relaxed: str) -> None:
    """R7.1"""
    assert loosened(pattern) == relaxed


@given(st.from_regex(r"(?:d(?:e|a)b?ido a|por (?:lo que|eso)|[ck]ausa(?:r|ndo)?|as+ez)", fullmatch=True))
def test_no_match_is_missed(text: str) -> None:
    """R7.1"""
    index = PatternIndex([r"(?:d(?:e|a)b?ido a|por (?:lo que|eso)|[ck]ausa(?:r|ndo)?|as+ez)", "zzz"])
    assert all(0 in index.candidates(text[:length]) for length in range(len(text) + 1))


@pytest.mark.parametrize("language", sorted(ANSWER_LANGUAGES))
def test_the_quick_way_finds_what_the_slow_one_does(language: str) -> None:
    """R7.1 in sentences of all three languages, which are full of cues."""
    grammar = read_causal_grammar(language)
    alternatives = "|".join(f"(?P<c{number}>{cue.pattern})" for number, cue in enumerate(grammar.cues))
    together = re.compile(rf"(?<![\w-])(?:{alternatives})(?:(?<!\w)|(?!\w))")
    for text in map(normalize, TEXTS):
        for line in re.finditer(r"[^\n]+", text):
            slow = list(together.finditer(text, *line.span()))
            quick = list(grammar.find_cues(text, *line.span()))
            assert [(match.span(), cue) for cue, match in quick] == [
                (match.span(), grammar.cues[int((match.lastgroup or "")[1:])]) for match in slow
            ]

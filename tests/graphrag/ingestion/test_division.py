"""Pieces of a text by every strategy, and which strategy suits which text."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.chunking import chunk, division
from graphrag.ingestion.chunking.division import (
    DIVISIONS,
    Divide,
    by_headings,
    by_meaning,
    by_paragraphs,
    by_rows,
    by_words,
)
from graphrag.models import Chunking, ParsedText
from graphrag.parsers.parsing import parse

PIECES = [
    "El horno se paró. ",
    "¿Por qué? ",
    "日本語。",
    "קמח. ",
    "\n\n## Causa\n\n",
    "# Título\n",
    "\n\n",
    "- uno\n",
    "x" * 30,
    "👩‍🔧",
]
markdown = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=20)
    .map("".join)
    .filter(lambda text: any(map(str.isalnum, text)))
)


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[float(text.lower().count(letter)) for letter in "aeiou"] for text in texts]


EVERY_DIVISION: dict[Chunking, Divide] = {**DIVISIONS, "semantic": partial(by_meaning, embed=embed)}
each_division = pytest.mark.parametrize("divide", EVERY_DIVISION.values(), ids=list(EVERY_DIVISION))


def read(text: str, filename: str = "a.md") -> ParsedText:
    return parse(text.encode(), filename=filename, limits=ParsingLimits())


def contents(parsed: ParsedText, divide: Divide, max_tokens: int = 100) -> list[str]:
    """Chunks of at most so many words."""
    spans = chunk(
        parsed,
        title="T",
        count_tokens=lambda texts: [len(text.split()) for text in texts],
        max_tokens=max_tokens,
        overlap_tokens=0,
        divide=divide,
    )
    return [parsed.text[span.start : span.end].strip() for span in spans]


@each_division
@given(text=markdown, max_tokens=st.integers(1, 60))
def test_chunks_tile_the_text_by_every_strategy(divide: Divide, text: str, max_tokens: int) -> None:
    """R2.1, R2.3 P2 P3"""
    parsed = read(text)
    seen = divide(parsed)
    assert "".join(parsed.text[span.start : span.end] for span in seen.pieces) == parsed.text
    assert seen.breaks <= {span.start for span in seen.pieces}
    spans = chunk(
        parsed,
        title="T",
        count_tokens=lambda texts: [len(text) for text in texts],
        max_tokens=max_tokens,
        overlap_tokens=0,
        divide=divide,
    )
    assert (spans[0].start, spans[-1].end) == (0, len(parsed.text))
    assert all(before.end == after.start for before, after in pairwise(spans))
    assert all(0 < span.end - span.start <= max_tokens for span in spans)


def test_paragraphs_stay_whole() -> None:
    """R2.1"""
    parsed = read("Uno dos. Tres.\n\nCuatro cinco seis.\n\nSiete.")
    assert contents(parsed, by_paragraphs, 4) == ["Uno dos. Tres.", "Cuatro cinco seis.\n\nSiete."]


def test_sections_begin_chunks_and_take_their_headings_with_them() -> None:
    """R2.1"""
    parsed = read("# Horno\n\n## Paro\n\nSe paró.\n\n## Causa\n\nFaltó gas.")
    assert contents(parsed, by_headings) == ["# Horno\n\n## Paro\n\nSe paró.", "## Causa\n\nFaltó gas."]


def test_windows_have_a_fixed_length() -> None:
    """R2.1"""
    assert contents(read("Uno. Dos tres cuatro. Cinco."), by_words, 2) == ["Uno. Dos", "tres cuatro.", "Cinco."]


def test_a_change_of_subject_begins_a_chunk() -> None:
    """R2.1"""
    text = "Aa a. A aa. Aaa. Aa. Oo oo. O o. Ooo. Oo."
    assert contents(read(text), partial(by_meaning, embed=embed)) == ["Aa a. A aa. Aaa. Aa.", "Oo oo. O o. Ooo. Oo."]


def test_rows_stay_whole_and_tables_apart() -> None:
    """R1.5"""
    parsed = read("fecha,kg\n2024-01-01,5\n2024-02-01,7\n", "ventas.csv")
    assert contents(parsed, by_rows, 5) == ["fecha: 2024-01-01; kg: 5", "fecha: 2024-02-01; kg: 7"]


@pytest.mark.parametrize(
    ("text", "filename", "expected"),
    [
        ("fecha,kg\n2024-01-01,5\n", "a.csv", "rows"),
        ("".join(f"## Parte {n}\n\n{'Se paró el horno. ' * 20}\n\n" for n in range(4)), "a.md", "heading_section"),
        ("Un parte.\n\nOtro parte.\n\nY otro.", "a.txt", "paragraph"),
        ("Se paró el horno. " * 200, "a.txt", "sentence"),
    ],
)
def test_strategy_follows_the_text(text: str, filename: str, expected: str) -> None:
    """R2.1 auto: the same for the same text."""
    assert division.choose(read(text, filename)) == expected

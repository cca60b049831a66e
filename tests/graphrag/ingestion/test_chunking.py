"""Chunks: whole sentences packed up to a number of tokens."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.chunking import ChunkSpan
from graphrag.ingestion.chunking import chunk as chunk_text
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Heading, ParsedText
from graphrag.parsers.parsing import parse

PIECES = [
    *[
        "El horno se paró. ",
        "¿Por qué? ",
        "Faltó gas, según el parte; la válvula: cerrada. ",
        "Sr. Gil. ",
        "12.000 kg. ",
    ],
    *[
        "# Título\n",
        "\n\n## Causa\n\n",
        "- uno\n",
        "| a | b |\n",
        "\n",
        "  ",
        "日本語。",
        "👩‍🔧",
        "x" * 30,
        "palabra " * 12,
    ],
]
texts = st.one_of(st.text(min_size=1, max_size=150), st.lists(st.sampled_from(PIECES), min_size=1).map("".join))


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def chunk(text: str, *, max_tokens: int, overlap_tokens: int = 0, title: str = "T") -> list[ChunkSpan]:
    """By words, and with the headings of Markdown."""
    return chunk_text(
        parse(text.encode(), filename="a.md", limits=ParsingLimits()),
        title=title,
        count_tokens=count_words,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
    )


def contents(text: str, *, max_tokens: int) -> list[str]:
    return [text[span.start : span.end].strip() for span in chunk(text, max_tokens=max_tokens)]


@given(texts, st.integers(1, 40), st.integers(0, 20))
def test_chunks_tile_the_text(text: str, max_tokens: int, overlap_tokens: int) -> None:
    """R2.3 P2 P3: at least one chunk; cores in order, disjoint, their union the whole text; each within max_tokens,
    and so is its overlap within overlap_tokens."""
    chunks = chunk_text(
        ParsedText(text, "text/plain"),
        title="T",
        count_tokens=count_characters,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
    )
    assert chunks
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text)
    assert all(before.end == after.start for before, after in pairwise(chunks))
    assert all(span.start < span.end for span in chunks)
    assert all(span.end - span.start <= max_tokens for span in chunks)
    assert all(0 <= span.window_start <= span.start for span in chunks)
    assert all(span.start - span.window_start <= overlap_tokens for span in chunks)


def test_white_space_stays_with_the_clause_before_it() -> None:
    """R2.2 Also behind the comma of Chinese and Japanese, which mostly has none."""
    for comma in ",、":
        text = f"一{comma} 0"
        chunks = chunk_text(
            ParsedText(text, "text/plain"), title="T", count_tokens=count_words, max_tokens=1, overlap_tokens=0
        )
        assert [text[span.start : span.end] for span in chunks] == [f"一{comma} ", "0"]


@given(texts, st.integers(1, 20))
@example("#\r。0 | 0", 1)
def test_no_chunk_is_cut_where_a_word_could_be_kept_whole(text: str, max_tokens: int) -> None:
    """R2.2: counted in words, every cut is at white space, between sentences, or behind a clause where a script has no
    white space there.
    """
    chunks = chunk_text(
        ParsedText(text, "text/plain"), title="T", count_tokens=count_words, max_tokens=max_tokens, overlap_tokens=0
    )
    sentence_ends = {span.end for span in split_sentences(text)}
    assert all(count_words([text[span.start : span.end]])[0] <= max_tokens for span in chunks)
    assert all(
        span.end in sentence_ends or text[span.end - 1].isspace() or text[span.end - 1] in "、，；：" for span in chunks
    )


@given(texts, st.integers(1, 60), st.integers(0, 30))
def test_sentences_that_fit_are_never_cut(text: str, max_tokens: int, overlap_tokens: int) -> None:
    """R2.2: no chunk and no overlap begins inside a sentence that fits."""
    sentences = split_sentences(text)
    assume(all(span.end - span.start <= max_tokens for span in sentences))
    chunks = chunk_text(
        ParsedText(text, "text/plain"),
        title="T",
        count_tokens=count_characters,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
    )
    starts = {span.start for span in sentences}
    assert {chunk.start for chunk in chunks} | {chunk.window_start for chunk in chunks} <= starts


def test_sentences_are_packed_while_they_fit() -> None:
    """R2.2"""
    text = "Uno dos tres. Cuatro cinco. Seis. Siete ocho nueve."
    assert contents(text, max_tokens=6) == ["Uno dos tres. Cuatro cinco. Seis.", "Siete ocho nueve."]
    assert contents(text, max_tokens=5) == ["Uno dos tres. Cuatro cinco.", "Seis. Siete ocho nueve."]
    assert contents(text, max_tokens=100) == [text]


def test_a_long_sentence_is_cut_at_its_clauses() -> None:
    """R2.2"""
    text = "Uno dos, tres cuatro; cinco seis: siete ocho nueve."
    assert contents(text, max_tokens=4) == ["Uno dos, tres cuatro;", "cinco seis:", "siete ocho nueve."]


def test_a_long_clause_is_cut_between_words() -> None:
    """R2.2"""
    text = "Uno dos tres cuatro cinco seis, siete."
    assert contents(text, max_tokens=4) == ["Uno dos tres cuatro", "cinco seis, siete."]


def test_a_long_word_is_cut_anywhere() -> None:
    """R2.2"""
    text = "a " + "x" * 25
    chunks = chunk_text(
        ParsedText(text, "text/plain"), title="T", count_tokens=count_characters, max_tokens=10, overlap_tokens=0
    )
    assert len(chunks) == 4
    assert all(span.end - span.start <= 10 for span in chunks)


@pytest.mark.parametrize("character", ["e\u0301", "👩‍🔧", "❤️"])
def test_what_is_seen_as_one_character_is_not_cut(character: str) -> None:
    """R2.2: as long as a chunk holds it."""
    text = "x" + character * 40
    spans = chunk_text(
        ParsedText(text, "text/plain"), title="T", count_tokens=count_characters, max_tokens=7, overlap_tokens=0
    )
    assert all((span.start - 1) % len(character) == 0 for span in spans[1:])
    assert all(span.end - span.start <= 7 for span in spans)


def test_sentences_around_a_long_one_stay_whole() -> None:
    """R2.2"""
    text = "Antes va esta. Uno dos tres, cuatro cinco, seis siete. Luego va otra."
    found = contents(text, max_tokens=4)
    assert found == ["Antes va esta.", "Uno dos tres,", "cuatro cinco, seis siete.", "Luego va otra."]


@pytest.mark.parametrize(("overlap", "seen"), [(0, ""), (2, ""), (3, "Cinco seis siete."), (6, "Cinco seis siete.")])
def test_the_overlap_is_whole_sentences_of_what_comes_before(overlap: int, seen: str) -> None:
    """R2.2"""
    text = "Uno dos tres cuatro. Cinco seis siete. Ocho nueve diez."
    first, second = chunk(text, max_tokens=7, overlap_tokens=overlap)
    assert first.window_start == 0
    assert text[second.window_start : second.start].strip() == seen


@pytest.mark.parametrize(
    ("section", "max_tokens"),
    [
        ("## Causa\n\nCuatro cinco seis siete.", 6),
        ("# Parte\n\n## Causa\n\nCuatro cinco seis.", 7),
        ("Causa\n-----\n\nCuatro cinco seis siete.", 6),
    ],
    ids=["one", "one under another", "underlined"],
)
def test_a_heading_stays_with_what_follows(section: str, max_tokens: int) -> None:
    """R1.3"""
    assert contents(f"Uno dos tres.\n\n{section}", max_tokens=max_tokens) == ["Uno dos tres.", section]


def test_a_heading_that_does_not_fit_with_what_follows_is_still_kept() -> None:
    """R2.3"""
    text = "Uno dos.\n\n## Causa\n\nTres cuatro cinco."
    assert contents(text, max_tokens=4) == ["Uno dos.\n\n## Causa", "Tres cuatro cinco."]
    assert contents(text, max_tokens=3) == ["Uno dos.", "## Causa", "Tres cuatro cinco."]


def test_the_context_is_the_title_and_the_headings_above() -> None:
    """R1.3"""
    text = "Uno.\n\n# Parte\n\nDos.\n\n## Causa\n\nTres.\n\n## Efecto\n\nCuatro.\n\n# Fin\n\nCinco."
    assert [span.context for span in chunk(text, max_tokens=3, title="Informe")] == [
        "Informe",
        "Informe › Parte",
        "Informe › Parte › Causa",
        "Informe › Parte › Efecto",
        "Informe › Fin",
    ]


def test_the_context_does_not_repeat_the_title() -> None:
    """R1.3"""
    text = "# Informe\n\nUno.\n\n## Causa\n\nDos."
    assert [span.context for span in chunk(text, max_tokens=3, title="Informe")] == ["Informe", "Informe › Causa"]


def test_a_heading_in_mid_chunk_is_the_context_of_the_next() -> None:
    """R1.3"""
    parsed = ParsedText("Uno dos. Tres. Cuatro cinco.", "text/markdown", (Heading(1, "H", 9),))
    chunks = chunk_text(parsed, title="T", count_tokens=count_words, max_tokens=3, overlap_tokens=0)
    assert [span.context for span in chunks] == ["T", "T › H"]

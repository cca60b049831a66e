"""Whole documents as chunks, by every strategy: laws over texts of many scripts."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import PACKAGES, IngestionConfig, ParsingLimits
from graphrag.ingestion.chunking import Chunked, ChunkSpan, chunk_document
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Chunking, Heading, ParsedText, SourceLocation, Span, Table, TableRow
from graphrag.parsers.parsing import parse
from graphrag.parsers.text import clean

STRATEGIES = [pytest.param(name, marks=[pytest.mark.slow] if name in PACKAGES else []) for name in get_args(Chunking)]
BY_SENTENCES = ("sentence", "heading_section", "semantic", "parent_child")  # these keep whole what fits
PIECES = [
    *["El horno se paró. ", "¿Por qué? ", "Faltó gas, según el parte; la válvula: cerrada. ", "Sr. Gil. "],
    *["12.000 kg. ", "Le four s'est arrêté… ", "«Où ? » ", "x" * 30, "palabra " * 12, "\u00a0"],
    *["Печь остановилась. ", "توقف الفرن. لماذا؟ ", "炉が止まった。", "日" * 40, "원인은 가스다. "],
    *["e\u0301\u0323 ", "👩‍🔧", "👍🏽 ", "नमस्ते ", "ᾳ\u0301"],
    *["# Título\n\n", "\n\n## Causa\n\n", "- uno\n", "| a | b |\n", "\n", "\n\n", "  "],
]
texts = (
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=150),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join),
    )
    .map(clean)
    .filter(lambda text: any(map(str.isalnum, text)))
)
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(text.lower().count(letter)) for letter in "aeiou"] for text in texts]


def chunked(
    parsed: ParsedText,
    strategy: str = "auto",
    *,
    title: str = "T",
    embed: Callable[[list[str]], list[list[float]]] | None = embed,
    **knobs: Any,
) -> Chunked:
    """Counted in characters."""
    config = IngestionConfig.model_validate({"chunking": strategy, **knobs})
    return chunk_document(parsed, title=title, config=config, count_tokens=count_characters, embed=embed)


def read(text: str, filename: str = "a.md") -> ParsedText:
    return parse(text.encode(), filename=filename, limits=ParsingLimits())


@st.composite
def parsed_texts(draw: st.DrawFn) -> ParsedText:
    """Texts with headings, pages and tables, wherever these may stand."""
    text = draw(texts)
    offsets = st.integers(0, len(text) - 1)
    headings = [Heading(draw(st.integers(1, 3)), "H", start) for start in sorted(draw(st.sets(offsets, max_size=4)))]
    stretches = list(pairwise(sorted({0, *draw(st.sets(offsets, max_size=5)), len(text)})))
    locations = [SourceLocation(start, end, page=number) for number, (start, end) in enumerate(stretches, start=1)]
    tables = [
        Table("S", (f"columna {number}",), 0, (TableRow(start, end, 1, ()),))
        for number, (start, end) in enumerate(draw(st.lists(st.sampled_from(stretches), max_size=2, unique=True)))
    ]
    tables.sort(key=lambda table: table.rows[0].start_char)
    return ParsedText(text, "text/plain", tuple(headings), tuple(locations), tuple(tables))


@each_strategy
@given(
    parsed=parsed_texts(), tokens=st.integers(16, 60), overlap=st.integers(0, 30), parent_chars=st.integers(200, 400)
)
def test_chunks_tile_a_document(
    strategy: str, parsed: ParsedText, tokens: int, overlap: int, parent_chars: int
) -> None:
    """R2.1 R2.3 P2 P3: by every strategy at least one chunk; in order, disjoint, their union the whole text; of at most
    so many tokens, the overlap with the one before not counted; the same every time."""
    knobs: dict[str, Any] = {"chunk_tokens": tokens, "child_tokens": tokens, "chunk_overlap_tokens": overlap}
    found = chunked(parsed, strategy, parent_child_chars=parent_chars, **knobs)
    spans = found.spans
    assert found.strategy in ((strategy,) if strategy in PACKAGES else set(get_args(Chunking)) - {"auto"})
    assert (spans[0].start, spans[-1].end) == (0, len(parsed.text))
    assert all(before.end == after.start for before, after in pairwise(spans))
    assert all(span.start < span.end for span in spans)
    assert all(0 <= span.start - span.window_start <= overlap for span in spans)
    assert strategy == "none" or all(span.end - span.start <= tokens for span in spans)
    assert all((span.parent is not None) == (strategy == "parent_child") for span in spans)
    assert chunked(parsed, strategy, parent_child_chars=parent_chars, **knobs) == found


@each_strategy
@given(parsed=parsed_texts(), tokens=st.integers(16, 200))
def test_chunks_know_where_they_stand(strategy: str, parsed: ParsedText, tokens: int) -> None:
    """R1.5 R8.3: the locations that a chunk holds a part of, and none else."""
    for span in chunked(parsed, strategy, chunk_tokens=tokens, child_tokens=tokens).spans:
        assert span.locations == tuple(
            p for p in parsed.locations if p.start_char < span.end and p.end_char > span.start
        )
        tables = {
            table.headers
            for table in parsed.tables
            if table.rows[0].start_char < span.end and table.rows[-1].end_char > span.start
        }
        assert span.headers == (tables.pop() if len(tables) == 1 else ())


@pytest.mark.parametrize("strategy", BY_SENTENCES)
@given(text=texts, tokens=st.integers(16, 80), overlap=st.integers(0, 30))
def test_sentences_that_fit_stay_whole(strategy: str, text: str, tokens: int, overlap: int) -> None:
    """R2.2: also where their neighbours do not fit; neither chunk nor overlap begins inside one."""
    knobs: dict[str, Any] = {"chunk_tokens": tokens, "child_tokens": tokens, "chunk_overlap_tokens": overlap}
    cuts = {cut for span in chunked(read(text), strategy, **knobs).spans for cut in (span.start, span.window_start)}
    kept = [sentence for sentence in split_sentences(read(text).text) if sentence.end - sentence.start <= tokens]
    assert not [sentence for sentence in kept if any(sentence.start < cut < sentence.end for cut in cuts)]


@given(parsed_texts(), st.integers(16, 60), st.integers(200, 400))
def test_parents_tile_a_document(parsed: ParsedText, tokens: int, parent_chars: int) -> None:
    """R2.5: parents are runs of whole children, in order, disjoint, their union the text, none longer than wanted."""
    spans = chunked(parsed, "parent_child", child_tokens=tokens, parent_child_chars=parent_chars).spans
    parents = list(dict.fromkeys(parent_of(span) for span in spans))
    assert (parents[0].start, parents[-1].end) == (0, len(parsed.text))
    assert all(before.end == after.start for before, after in pairwise(parents))
    assert all(parent.end - parent.start <= parent_chars for parent in parents)
    assert all(parent_of(span).start <= span.start < span.end <= parent_of(span).end for span in spans)


def parent_of(span: ChunkSpan) -> Span:
    assert span.parent
    return span.parent


def test_a_section_has_parents_of_its_own() -> None:
    """R2.5: about equally long ones; only a short section is read with the one that follows."""
    sentence = "El horno se paró porque faltaba gas en la línea. "
    text = f"# Parte\n\n## Causa\n\n{sentence * 10}\n\n## Nota\n\nNada.\n\n## Efecto\n\n{sentence * 5}"
    parsed = read(text)
    spans = chunked(parsed, "parent_child", child_tokens=110, parent_child_chars=400).spans
    parents = list(dict.fromkeys(parent_of(span) for span in spans))
    contents = [parsed.text[parent.start : parent.end].strip() for parent in parents]
    assert [content.partition("\n")[0][:20] for content in contents] == ["# Parte", sentence[:20], "## Nota"]
    assert [content.count(sentence.strip()) for content in contents] == [5, 5, 5]
    assert contents[2].startswith("## Nota\n\nNada.\n\n## Efecto")


@pytest.mark.parametrize(
    ("strategy", "text", "filename", "taken"),
    [
        ("auto", "fecha,kg\n2024-01-01,5\n2024-02-01,7\n", "a.csv", "rows"),
        ("auto", "Se paró el horno. " * 200, "a.txt", "sentence"),
        ("rows", "fecha,kg\n2024-01-01,5\n2024-02-01,7\n", "a.csv", "rows"),
        ("rows", "Se paró el horno.", "a.txt", "sentence"),
        ("semantic", "Se paró el horno.", "a.txt", "semantic"),
        ("none", "Se paró el horno. " * 200, "a.txt", "none"),
    ],
)
def test_the_strategy_that_was_taken_is_told(strategy: str, text: str, filename: str, taken: str) -> None:
    """R2.1"""
    assert chunked(read(text, filename), strategy).strategy == taken


def test_without_a_model_no_chunks_by_meaning() -> None:
    """R2.1 R11.1: sentences instead, and it says so."""
    parsed = read("Aa a. A aa. Aaa. Aa. Oo oo. O o. Ooo. Oo.")
    without = chunked(parsed, "semantic", embed=None)
    assert without == chunked(parsed, "sentence")
    assert without.strategy == "sentence"
    assert len(without.spans) < len(chunked(parsed, "semantic").spans)


def test_a_document_without_chunks_is_one() -> None:
    """R4.11"""
    parsed = read("# Horno\n\n" + "Se paró el horno. " * 2_000)
    assert chunked(parsed, "none", title="Informe").spans == [ChunkSpan(0, len(parsed.text), 0, "Informe")]


def test_tables_carry_their_headers_sheet_and_cells() -> None:
    """R1.5: each table in chunks of its own, whose context is the file's title."""
    parsed = read("fecha,kg\n2024-01-01,5\n2024-02-01,7\n2024-03-01,9\n", "ventas.csv")
    spans = chunked(parsed, title="ventas", chunk_tokens=60).spans
    assert [span.headers for span in spans] == [("fecha", "kg")] * 2
    assert [[location.cells for location in span.locations] for span in spans] == [["A2:B2", "A3:B3"], ["A4:B4"]]
    assert [span.context for span in spans] == ["ventas", "ventas"]


def sheets() -> ParsedText:
    """Two sheets, the second with a line over its table and one below it."""
    lines = ["Norte", "mes: 1; kg: 5", "mes: 2; kg: 6", "Sur", "En kilos", "mes: 1; t: 7", "Sin revisar"]
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    ends = [start + len(line) for start, line in zip(starts, lines, strict=True)]
    rows = {number: TableRow(starts[number], ends[number], number, ()) for number in (1, 2, 5)}
    return ParsedText(
        "\n".join(lines),
        "text/csv",
        headings=(Heading(1, "Norte", starts[0]), Heading(1, "Sur", starts[3])),
        locations=tuple(
            SourceLocation(starts[n], ends[n], sheet="Norte" if n < 3 else "Sur", cells=f"A{n}")
            for n in (1, 2, 4, 5, 6)
        ),
        tables=(Table("Norte", ("mes", "kg"), 0, (rows[1], rows[2])), Table("Sur", ("mes", "t"), 0, (rows[5],))),
    )


def test_a_sheet_begins_with_its_name_and_what_stands_over_its_table() -> None:
    """R1.5"""
    parsed = sheets()
    spans = chunked(parsed, title="ventas").spans
    assert [parsed.text[span.start : span.end].strip() for span in spans] == [
        "Norte\nmes: 1; kg: 5\nmes: 2; kg: 6",
        "Sur\nEn kilos\nmes: 1; t: 7\nSin revisar",
    ]
    assert [span.context for span in spans] == ["ventas › Norte", "ventas › Sur"]
    assert [span.headers for span in spans] == [("mes", "kg"), ("mes", "t")]


def test_what_begins_a_section_does_not_overlap_the_one_before() -> None:
    """R2.2: its subject is another."""
    text = "".join(f"## Parte {n}\n\n{'Se paró el horno por la noche. ' * 10}\n\n" for n in range(3))
    parsed = read(text)
    spans = chunked(parsed, "heading_section", chunk_tokens=100, chunk_overlap_tokens=40).spans
    starts = {heading.start_char for heading in parsed.headings}
    assert {span.start - span.window_start for span in spans if span.start in starts} == {0}
    assert {span.start - span.window_start for span in spans if span.start not in starts} == {31}

"""Where a quote stands in its file: the one cell, the row, the rows, the page."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.linguistics.periods import of_month
from graphrag.models import SourceLocation, TemporalContext
from graphrag.parsers.source_locations import (
    cell_range,
    cite_location,
    corners,
    describe_location,
    letters,
    named_cells,
    overlapping,
    split_rows,
    union,
)
from tests.factories import make_chunk

HEADERS = ("Pedido", "Proveedor", "Palés")
ROWS = ("Pedido: E-1; Proveedor: Molinos; Palés: 24", "Pedido: E-2; Palés: 18")
TEXT = "\n".join(ROWS)
START = 100  # of the text in its document
SECOND = START + len(ROWS[0]) + 1
PLACES = (
    SourceLocation(START, START + len(ROWS[0]), sheet="Hoja", cells="B2:D2"),
    SourceLocation(SECOND, SECOND + len(ROWS[1]), sheet="Hoja", cells="B3:D3"),
)


def cite(quote: str, *, headers: tuple[str, ...] = HEADERS) -> SourceLocation:
    start = START + TEXT.index(quote)
    location = cite_location(PLACES, start, start + len(quote), text=TEXT, text_start=START, headers=headers)
    assert location
    return location


def test_a_cell_is_cited_where_the_quote_is_of_one() -> None:
    """R8.3 «cellule C12»."""
    assert cite("Molinos").cells == "C2"
    assert cite("Palés: 24").cells == "D2"
    assert cite("E-1").cells == "B2"


def test_a_row_is_cited_where_the_quote_is_of_several_cells() -> None:
    """R8.3"""
    assert cite(ROWS[0]).cells == "B2:D2"
    assert cite("E-1; Proveedor").cells == "B2:D2"


def test_rows_are_cited_together() -> None:
    """R8.3"""
    assert cite("Palés: 24\nPedido").cells == "B2:D3"


def test_a_cell_that_is_not_certain_is_not_cited() -> None:
    """R8.3 Without headers, or where a cell of the row is empty, the row is all that is known."""
    assert cite("Molinos", headers=()).cells == "B2:D2"
    assert cite("Molinos", headers=("Otra", "Cosa")).cells == "B2:D2"


def test_an_empty_cell_moves_no_other() -> None:
    """R8.3 What stands after it keeps its own column."""
    assert cite("Palés: 18").cells == "D3"


def test_a_page_is_cited() -> None:
    """R8.3 The page that a quote begins on."""
    pages = (SourceLocation(0, 10, page=1), SourceLocation(10, 20, page=2))
    location = cite_location(pages, 12, 15, text="x" * 20, text_start=0)
    assert location
    assert (location.page, location.cells) == (2, "")
    across = cite_location(pages, 8, 15, text="x" * 20, text_start=0)
    assert across
    assert across.page == 1


def test_where_nothing_is_known_nothing_is_cited() -> None:
    """R8.3"""
    assert cite_location((), 0, 5, text="texto", text_start=0) is None
    assert cite_location(PLACES, 0, 5, text="texto", text_start=0) is None


def test_a_time_is_cited_if_all_the_rows_are_of_it() -> None:
    """R8.6"""
    day = of_month(2025, 12).first_day
    assert day
    december, november = TemporalContext(day, "month"), TemporalContext(day.replace(month=11), "month")
    same = (SourceLocation(0, 5, cells="A1", temporal=december), SourceLocation(5, 9, cells="A2", temporal=december))
    other = (same[0], SourceLocation(5, 9, cells="A2", temporal=november))
    cited = [cite_location(locations, 0, 9, text="x" * 9, text_start=0) for locations in (same, other)]
    assert [location and location.temporal for location in cited] == [december, None]


def test_named_cells_of_a_row() -> None:
    """R1.5 «Header: value; Header: value» back to its cells, also where a value holds a semicolon."""
    line = "Nota: a; b; Palés: 3"
    assert [(number, value) for number, _, value in named_cells(line, ("Nota", "Otra", "Palés"))] == [
        (0, "a; b"),
        (2, "3"),
    ]
    assert named_cells("sin nombre", ("Nota",)) == []


@pytest.mark.parametrize(("column", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")])
def test_columns_have_names(column: int, name: str) -> None:
    """R1.5"""
    assert letters(column) == name


@given(st.integers(0, 20_000), st.integers(1, 10**6), st.integers(0, 50), st.integers(0, 50))
def test_ranges_are_read_as_they_are_written(column: int, row: int, width: int, height: int) -> None:
    """R1.5"""
    first, last = (column, row), (column + width, row + height)
    assert corners(cell_range(first, last)) == (first, last)
    assert union([cell_range(first, first), cell_range(last, last)]) == cell_range(first, last)


def test_the_union_of_nothing_is_nothing() -> None:
    """R1.5"""
    assert union(["", ""]) == ""


def test_overlapping_places_come_once_and_in_order() -> None:
    """R8.3 A location that two chunks share is one."""
    assert overlapping([PLACES[1], *PLACES], START, SECOND + 1) == PLACES
    assert overlapping(PLACES, START, SECOND) == PLACES[:1]


@settings(deadline=None)
@given(
    st.lists(st.text("abc.;: X\n", min_size=1, max_size=30), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.integers(0, 40),
)
def test_rows_and_sentences_tile_the_text(lines: list[str], are_rows: list[bool], start: int) -> None:
    """R1.5 For any text, and locations that begin before it."""
    text, locations = "", [SourceLocation(max(0, start - 5), start, cells="A1:B1")]
    for line, is_row in zip(lines, are_rows, strict=False):
        if is_row:
            locations.append(SourceLocation(start + len(text), start + len(text) + len(line), cells="A2:B2"))
        text += f"{line}\n"
    spans = split_rows(text, locations, start=start)
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == len(text)
    begun = {span.start for span in spans}
    assert {location.start_char - start for location in locations[1:]} <= begun


def test_a_row_is_one_sentence_whatever_it_holds() -> None:
    """R8.3 Its quote is the whole row."""
    text = "Nota: Llegó tarde. Sin daños; Palés: 3\nnota: otra. Fin"
    locations = [SourceLocation(0, 38, cells="A2:B2"), SourceLocation(39, len(text), cells="A3:B3")]
    assert [text[span.start : span.end].strip() for span in split_rows(text, locations)] == text.split("\n")


def test_a_chunk_of_rows_says_where_it_stands() -> None:
    """R1.5 sheet_name, cell_ref, headers, temporal_context."""
    december = TemporalContext(date(2025, 12, 1), "month", 0.25, "+25 % frente al mes anterior")
    locations = (replace(PLACES[0], temporal=december), replace(PLACES[1], temporal=december))
    chunk = make_chunk(TEXT, start_char=START, locations=locations, headers=HEADERS)
    assert describe_location(chunk) == {
        "page": None,
        "sheet_name": "Hoja",
        "cell_ref": "B2:D3",
        "file": None,
        "is_recognized": False,
        "headers": list(HEADERS),
        "temporal_context": {
            "date": "2025-12-01", "period": "month", "change": 0.25, "label": "+25 % frente al mes anterior",
        },
    }  # fmt: skip
    nowhere = describe_location(make_chunk("Sin lugar."))
    assert (nowhere.pop("headers"), set(nowhere.values())) == ([], {None})

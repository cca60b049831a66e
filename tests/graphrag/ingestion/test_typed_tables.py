"""Tables of documents with typed columns, as they are stored."""

from datetime import date
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.tables.columns import Role
from graphrag.ingestion.tables.typed_tables import TypedTable, typed_tables
from graphrag.models import Cell, ParsedText, Table, TableRow
from graphrag.parsers.parsing import parse
from graphrag.parsers.spreadsheet import written
from tests.factories import make_document
from tests.graphrag.table_queries.books import INVOICES, SALES, read_book, read_sheet


def test_a_table_has_typed_columns() -> None:
    """R1.5 Its total is no row; each row knows its place in the text and its cells."""
    table = read_sheet(INVOICES)
    assert len(table) == 8
    kinds = [column.role or ("time" if column.is_time else "text") for column in table.columns]
    assert kinds == ["text", "text", "time", "time", Role.AMOUNT, "text"]
    assert table.columns[4].numbers[0] == 1200.5
    assert table.cells(7) == ("F-108", "Óptica Lledó", "2025-03-28", "2025-04-28", "2100", "Pagada")
    _, chunks, _ = read_book({"Hoja": INVOICES})
    chunk = chunks[table.chunks[7]]
    text = chunk.content[table.starts[7] - chunk.start_char : table.ends[7] - chunk.start_char]
    assert text.startswith("Nº factura: F-108")


def test_months_as_columns_become_rows_and_groups_are_filled_down() -> None:
    """R1.5 A total beside them is left out."""
    table = read_sheet(SALES, language="fr")
    assert table.headers == ("Rayon", "Produit", "Mois", "Valeur")
    assert len(table) == 12
    assert set(table.columns[0].values) == {"Pains", "Gâteaux"}
    assert table.columns[3].numbers.sum() == 670
    assert table.columns[2].is_time


def test_sheets_of_one_shape_are_one_table() -> None:
    """R1.5 With their names as a column."""
    heads = ["Fecha", "Gasto (€)"]
    sheets: dict[str, list[list[Any]]] = {
        "Norte": [heads, ["2025-01-03", 10], ["2025-01-09", 20]],
        "Sur": [heads, ["2025-02-01", 30], ["2025-02-02", 5]],
    }
    _, _, (table,) = read_book(sheets)
    assert table.headers == ("Fecha", "Gasto (€)", "Hoja")
    assert [table.columns[2].cell(row) for row in range(4)] == ["Norte", "Norte", "Sur", "Sur"]


def test_sheets_that_are_called_after_months_are_these_months() -> None:
    """R1.5 001 Abbreviated too: the column is one of time."""
    heads = ["Gasto", "Importe"]
    sheets: dict[str, list[list[Any]]] = {
        "Ene": [heads, ["Luz", 10], ["Agua", 20]],
        "Feb": [heads, ["Luz", 30], ["Agua", 5]],
    }
    _, _, (table,) = read_book(sheets)
    assert (table.headers, table.columns[2].is_time) == (("Gasto", "Importe", "Mes"), True)
    assert [table.columns[2].cell(row) for row in range(4)] == ["enero", "enero", "febrero", "febrero"]


def test_one_text_in_two_spellings_is_one_value() -> None:
    """R1.5 «sí» is «Sí», as it is written first."""
    table = read_sheet([["Socio", "Pagado"], ["Ana", "Sí"], ["Leo", "sí"], ["Eva", "No"]], language="es")
    assert list(table.columns[1].values) == ["Sí", "No"]


def test_columns_that_are_numbered_become_rows() -> None:
    """R1.5 Weeks, and years."""
    weeks = read_sheet([["Name", "Week 1", "Week 2", "Week 3"], ["Ann", 3, 4, 5], ["Bo", 1, None, 2]], language="en")
    assert weeks.headers == ("Name", "Week", "Value")
    assert [weeks.cells(row) for row in (3, 4)] == [("Bo", "Week 1", "1"), ("Bo", "Week 3", "2")]
    years = read_sheet([["Parcelle", 2021, 2022, 2023], ["A", 2010, 1980, 2500], ["B", 7, 8, 9]], language="fr")
    assert years.headers == ("Parcelle", "Année", "Valeur")


def test_two_values_a_month_say_what_each_is() -> None:
    """R1.5 Headers of two rows, budget and actual over the quarters."""
    heads = ["Dept", "Budget / Q1", "Budget / Q2", "Actual / Q1", "Actual / Q2"]
    table = read_sheet([heads, ["Art", 10, 20, 11, 19], ["Law", 5, 6, 7, 8]], language="en")
    assert table.headers == ("Dept", "Type", "Month", "Value")
    assert table.cells(2) == ("Art", "Actual", "Q1", "11")


def test_tables_of_markdown_are_tables() -> None:
    """R1.5 Those of one shape under several headings are one, with the section as a column; bars elsewhere are text."""
    text = """# Nord

Ventes en euros

| Mois | Ventes |
|---|---:|
| janvier | 1 200,50 |
| février | 900 |

# Sud

a | b

| Mois | Ventes |
|---|---:|
| janvier | 300 |
| février | 1 000 |
| **Total** | **3 400,50** |
"""
    parsed = parse(text.encode(), filename="ventes.md", limits=ParsingLimits())
    (table,) = typed_tables(parsed, make_document(language="fr"), [0, parsed.text.index("# Sud")])
    assert table.headers == ("Mois", "Ventes", "Section")
    assert table.columns[1].numbers.tolist() == [1200.5, 900, 300, 1000]
    assert [table.columns[2].cell(row) for row in range(4)] == ["Nord", "Nord", "Sud", "Sud"]
    assert table.chunks.tolist() == [0, 0, 1, 1]
    assert parsed.text[table.starts[2] : table.ends[2]] == "| janvier | 300 |"
    assert "Ventes en euros" in table.about


def test_tables_of_a_thousand_columns_are_text_alone() -> None:
    """R11.1 What nobody can put a question to is not kept twice."""
    wide: list[list[Any]] = [[f"C{number}" for number in range(1_000)], list(range(1_000)), list(range(1_000))]
    assert read_book({"Hoja": wide})[2] == []


CELLS = st.one_of(
    st.none(),
    st.integers(-(10**9), 10**9),
    st.dates(date(1990, 1, 1)),
    st.sampled_from(["Sí", "no", "12,5 %", "é|", " "]),
)


def _spelling(text: str) -> str:
    return " ".join(text.split()).casefold() or text


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2, max_size=12))
def test_what_is_stored_is_what_is_read(rows: list[tuple[Cell, ...]]) -> None:
    """R1.5 Of whatever cells: each column is numbers, days or texts, and each cell is as it or an equal is written."""
    lines = tuple(TableRow(number, number + 1, number + 2, row) for number, row in enumerate(rows))
    parsed = ParsedText("x" * len(rows), "text/csv", tables=(Table("", ("A", "B", "C"), 0, lines),))
    for table in typed_tables(parsed, make_document(language="es"), [0]):
        read = TypedTable.from_bytes(table.to_bytes())
        assert (read.headers, read.about, len(read)) == (table.headers, table.about, len(table))
        for column, stored in zip(read.columns, table.columns, strict=True):
            assert column.is_time + column.is_text + (column.role is not None) == 1
            assert np.array_equal(column.numbers, stored.numbers, equal_nan=True)
            assert [column.cell(row) for row in range(len(read))] == [stored.cell(row) for row in range(len(read))]
            assert (column.codes < len(column.texts)).all()
        shown = {tuple(map(_spelling, read.cells(row))) for row in range(len(read))}
        wanted = {tuple("" if cell is None else _spelling(written(cell)) for cell in row) for row in rows}
        assert {cells[1:3] for cells in shown} <= {cells[1:3] for cells in wanted}

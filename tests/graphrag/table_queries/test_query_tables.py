"""Whole tables from the chunks of a document."""

from typing import Any

from graphrag.ingestion.tables.columns import Role
from graphrag.table_queries.tables import read_tables
from tests.graphrag.table_queries.books import INVOICES, SALES, read_book, read_sheet


def test_chunks_make_one_table_of_typed_columns() -> None:
    """R1.5 Its total is no row; each row knows its place in the text and its cells."""
    table = read_sheet(INVOICES)
    assert len(table.rows) == 8
    kinds = [column.role or ("time" if column.is_time else "text") for column in table.columns]
    assert kinds == ["text", "text", "time", "time", Role.AMOUNT, "text"]
    assert table.columns[4].numbers[0] == 1200.5
    assert table.rows[7].text.startswith("Nº factura: F-108")
    assert table.rows[7].locations[0].cells == "A9:F9"


def test_months_as_columns_become_rows_and_groups_are_filled_down() -> None:
    """R1.5 A total beside them is left out."""
    table = read_sheet(SALES, language="fr")
    assert table.headers == ("Rayon", "Produit", "Mois", "Valeur")
    assert len(table.rows) == 12
    assert {row.cells[0] for row in table.rows} == {"Pains", "Gâteaux"}
    assert sum(value or 0 for value in table.columns[3].numbers) == 670
    assert table.columns[2].is_time


def test_sheets_of_one_shape_are_one_table() -> None:
    """R1.5 With their names as a column."""
    heads = ["Fecha", "Gasto (€)"]
    sheets: dict[str, list[list[Any]]] = {
        "Enero": [heads, ["2025-01-03", 10], ["2025-01-09", 20]],
        "Febrero": [heads, ["2025-02-01", 30], ["2025-02-02", 5]],
    }
    (table,) = read_tables(*read_book(sheets))
    assert table.headers == ("Fecha", "Gasto (€)", "Hoja")
    assert [row.cells[2] for row in table.rows] == ["Enero", "Enero", "Febrero", "Febrero"]


def test_columns_that_are_numbered_become_rows() -> None:
    """R1.5 Weeks, and years."""
    weeks = read_sheet([["Name", "Week 1", "Week 2", "Week 3"], ["Ann", 3, 4, 5], ["Bo", 1, None, 2]], language="en")
    assert weeks.headers == ("Name", "Week", "Value")
    assert [row.cells for row in weeks.rows][3:] == [("Bo", "Week 1", "1"), ("Bo", "Week 3", "2")]
    years = read_sheet([["Parcelle", 2021, 2022, 2023], ["A", 2010, 1980, 2500], ["B", 7, 8, 9]], language="fr")
    assert years.headers == ("Parcelle", "Année", "Valeur")

"""Questions that one table alone does not answer: its rows name those of another."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.table_queries.answers import best_plan
from graphrag.table_queries.joins import join_tables
from tests.factories import make_document
from tests.graphrag.table_queries.books import read_book, read_sheet

Rows = Sequence[Sequence[Any]]
CLIENTS: Rows = [
    ["Cliente", "Ciudad", "Sector"],
    ["Óptica Lledó", "Vigo", "óptica"],
    ["Bar Miño", "Lugo", "hostelería"],
    ["Taller Sanz", "Vigo", "automoción"],
]
ORDERS: Rows = [
    ["Pedido", "Cliente", "Importe (€)", "Fecha"],
    ["P-01", "Óptica Lledó", 120, "2025-01-10"],
    ["P-02", "Bar Miño", 80, "2025-01-12"],
    ["P-03", "Óptica Lledó", 60, "2025-02-03"],
    ["P-04", "Taller Sanz", 200, "2025-02-20"],
    ["P-05", "Bar Miño", 45, "2025-03-01"],
]


def ask(question: str, language: str = "es") -> list[tuple[str, float]] | None:
    document = make_document(filename="ventas.xlsx", title="ventas", language="es")
    tables = [(document, table.to_bytes()) for table in read_book({"Clientes": CLIENTS, "Pedidos": ORDERS})[2]]
    found = best_plan(question, tables, language=language)
    return list(found.result.values) if found else None


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("¿Cuál es el importe total de los pedidos de Vigo?", "es", [("", 380)]),
        ("¿Cuántos pedidos hay de Lugo?", "es", [("", 2)]),
        ("Importe total por ciudad", "es", [("Vigo", 380), ("Lugo", 125)]),
        ("What is the total amount for Vigo in February 2025?", "en", [("", 260)]),
        ("¿Qué ciudad tiene más importe?", "es", [("Vigo", 380)]),
        ("¿Qué importe suman los pedidos de Ourense?", "es", None),  # nobody is from there
    ],
)
def test_rows_are_asked_with_those_they_name(
    question: str, language: str, expected: list[tuple[str, float]] | None
) -> None:
    """R8.3 A condition, or what is asked for each, is of the other table."""
    assert ask(question, language) == expected


def test_one_table_that_answers_is_not_joined() -> None:
    """R8.3"""
    assert ask("¿Cuántos clientes hay en Vigo?") == [("", 2)]


def test_numbers_that_happen_to_be_alike_join_nothing() -> None:
    """R8.3 The amounts of one table are no rows of another."""
    numbered = read_sheet([["Id", "Nombre"], [1, "Ana"], [2, "Leo"], [3, "Eva"]])
    counted = read_sheet([["Cosa", "Unidades"], ["pan", 1], ["pan", 2], ["sal", 3], ["sal", 3]])
    assert not list(join_tables([numbered, counted]))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 99)), min_size=5, max_size=30))
def test_a_join_keeps_each_row_once(rows: list[tuple[str, int]]) -> None:
    """R8.3 Whatever the rows name: as many of them, each with the cell of the one it names, or none."""
    named = {"a": "north", "b": "south", "c": "north"}  # nobody is d
    one = read_sheet([["Person", "Region"], *map(list, named.items())], language="en")
    many = read_sheet([["Order", "Person", "Amount"], *[[f"O{n}", who, paid] for n, (who, paid) in enumerate(rows)]])
    for number, _, joined in join_tables([one, many]):
        assert number == 1
        assert len(joined) == len(many)
        cells = [joined.columns[joined.headers.index("Region")].cell(row) for row in range(len(joined))]
        assert cells == [named.get(who, "") for who, _ in rows]

"""Questions as plans: what is counted, summed, filtered and compared, and what is refused."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphrag.table_queries.plans import Aggregate, QueryResult, run_plan
from graphrag.table_queries.reading import read_plan
from tests.graphrag.table_queries.books import INVOICES, SALES, STOCK, read_sheet

Rows = Sequence[Sequence[Any]]


def ask(question: str, rows: Rows, language: str) -> tuple[Aggregate, QueryResult] | None:
    table = read_sheet(rows, language=language)
    read = read_plan(question, table, language=language)
    result = run_plan(table, read.plan) if read else None
    return (read.plan.aggregate, result) if read and result else None


def numbers(question: str, rows: Rows, language: str) -> list[float]:
    found = ask(question, rows, language)
    return [value for _, value in found[1].values] if found else []


def labels(question: str, rows: Rows, language: str) -> list[str]:
    found = ask(question, rows, language)
    return [label for label, _ in found[1].values] if found else []


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("¿Cuánto nos debe Óptica Lledó?", "es", INVOICES, 1290),
        ("¿Cuántas facturas están pendientes?", "es", INVOICES, 4),
        ("¿Cuántas facturas de Talleres Gómez hay?", "es", INVOICES, 3),
        ("¿Cuál es el importe medio de las facturas de Panadería Sol?", "es", INVOICES, 77.63),
        ("¿Cuánto facturamos en febrero?", "es", INVOICES, 1520.25),
        ("¿Qué porcentaje del importe total sigue sin pagar?", "es", INVOICES, 31.26),
        ("¿Cuántas facturas pasan de 900 €?", "es", INVOICES, 3),
        ("How many items have a stock of 12 or more?", "en", STOCK, 3),
        ("How many items are fragile?", "en", STOCK, 2),
        ("How many items are below the minimum?", "en", STOCK, 2),
        ("Combien a-t-on vendu de gâteaux en février ?", "fr", SALES, 100),
        ("Quelle part des ventes vient des pains, en pourcentage ?", "fr", SALES, 64.93),
    ],
)
def test_rows_are_counted_and_summed(question: str, language: str, rows: Rows, expected: float) -> None:
    """R8.3 In three languages, with conditions on states, names, dates and numbers."""
    assert numbers(question, rows, language) == [pytest.approx(expected, abs=0.006)]


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("¿Qué cliente nos debe más dinero?", "es", INVOICES, ["Óptica Lledó"]),
        ("¿Qué facturas están pendientes?", "es", INVOICES, ["F-102", "F-103", "F-105", "F-107"]),
        ("¿Cuándo vence la F-106?", "es", INVOICES, ["2025-04-05"]),
        ("¿Cuál es la factura de mayor importe?", "es", INVOICES, ["F-108"]),
        ("¿Qué facturas vencen antes del 1 de marzo de 2025?", "es", INVOICES, ["F-101", "F-102"]),
        ("Which items are below the minimum?", "en", STOCK, ["Glass jar", "Mirror"]),
        ("Which item is the most expensive?", "en", STOCK, ["Mirror"]),
        ("Quels sont les deux produits les plus vendus ?", "fr", SALES, ["Baguette", "Flan"]),
        ("Quel mois a été le meilleur ?", "fr", SALES, ["Février"]),
    ],
)
def test_rows_and_groups_are_named(question: str, language: str, rows: Rows, expected: list[str]) -> None:
    """R8.3 The rows that meet a condition, the cell of one, the group or the row that has most."""
    assert labels(question, rows, language) == expected


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("¿Facturamos más en febrero que en marzo?", "es", INVOICES, 1264.75),
        ("Quel est l'écart entre la baguette et le flan en janvier ?", "fr", SALES, 40),
        ("How much more does an oak board cost than a glass jar?", "en", STOCK, 12.8),
    ],
)
def test_two_groups_are_compared(question: str, language: str, rows: Rows, expected: float) -> None:
    """R8.3 Periods, and values of a column."""
    found = ask(question, rows, language)
    assert found is not None
    (_, greater), (_, less) = found[1].values
    assert (found[0], round(greater - less, 2)) == (Aggregate.DIFFERENCE, expected)


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("¿Cuánto nos debe Ferretería Ruiz?", "es", INVOICES),  # nobody of that name
        ("¿Cuántas facturas están anuladas?", "es", INVOICES),  # no such state
        ("¿Cuántas páginas tiene la F-106?", "es", INVOICES),  # no such column
        ("¿Cuánto subieron las ventas en marzo?", "es", INVOICES),  # against another month
        ("¿Qué mes tuvo más pedidos?", "es", [["Mes", "Ventas"], ["enero", 3], ["febrero", 5]]),  # no such number
        ("¿Qué mes tuvo más ventas en Francia?", "es", [["Mes", "Ventas"], ["enero", 3], ["febrero", 5]]),
        ("¿Qué clientes deben dinero y cuánto debe cada uno?", "es", INVOICES),  # two questions
        ("How much do we still owe?", "en", STOCK),  # no debt in it
        ("Which item comes after the hinge?", "en", STOCK),  # the order of rows
        ("How many items were sold to the IT department?", "en", STOCK),
        ("¿Por qué se retrasó el pago?", "es", INVOICES),
    ],
)
def test_what_is_not_understood_gives_no_number(question: str, language: str, rows: Rows) -> None:
    """R8.5 A wrong sum is worse than none."""
    assert ask(question, rows, language) is None


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("¿Cuánto facturamos por cliente?", "es", INVOICES,
         {"Óptica Lledó": 3390, "Talleres Gómez": 2260.5, "Panadería Sol": 155.25}),
        ("¿Cuántas facturas hay pendientes por cliente?", "es", INVOICES,
         {"Óptica Lledó": 2, "Talleres Gómez": 1, "Panadería Sol": 1}),
        ("¿Cuánto facturamos cada mes?", "es", INVOICES, {"2025-01": 1500.5, "2025-02": 1520.25, "2025-03": 2785}),
        ("Combien a-t-on vendu par rayon ?", "fr", SALES, {"Pains": 435, "Gâteaux": 235}),
    ],
)  # fmt: skip
def test_each_value_of_a_column_has_its_own(
    question: str, language: str, rows: Rows, expected: dict[str, float]
) -> None:
    """R8.3 Sums and counts by customer, by month; rows of no such value are in none."""
    found = ask(question, rows, language)
    assert found is not None
    assert {label: round(value, 2) for label, value in found[1].values} == expected


MARKS: Rows = [
    ["Form", "Pupil", "Maths", "Returned on"],
    ["10A", "Ann", 90, "2025-05-02"],
    ["10A", "Bo", 40, None],
    ["10B", "Cy", 70, "2025-05-04"],
    ["10B", "Di", 80, None],
]
BUDGET: Rows = [
    ["Poste", "Budget / T1", "Budget / T2", "Réel / T1", "Réel / T2"],
    ["Costumes", 100, 120, 90, 130],
    ["Transport", 50, 60, 55, 58],
]


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("How many candidates in 10A have no return date?", "en", MARKS, [1]),  # a noun for what the rows are
        ("Combien de postes ?", "fr", BUDGET, [2]),  # which are rows several times
        ("Quel est le budget des costumes ?", "fr", BUDGET, [220]),
        ("Combien pour les costumes ?", "fr", BUDGET, []),  # budget and actual are no sum
    ],
)
def test_rows_that_stand_for_something_else(question: str, language: str, rows: Rows, expected: list[float]) -> None:
    """R8.3, R8.5"""
    assert numbers(question, rows, language) == expected


def test_groups_are_compared_by_their_means() -> None:
    """R8.3"""
    assert labels("Which form has the best average in maths?", MARKS, "en") == ["10B"]


def test_a_year_in_a_header_is_no_date() -> None:
    """R8.3 «2025 (kWh)» beside «2024 (kWh)»."""
    rows: Rows = [["Mois", "2024 (kWh)", "2025 (kWh)"], ["juin", 412, 523], ["juillet", 446, 589]]
    assert labels("Quel mois a le plus de kWh en 2025 ?", rows, "fr") == ["juillet"]
    assert numbers("Quel est le total en kWh pour 2024 ?", rows, "fr") == [858]


def test_spending_is_kept_as_negative_numbers() -> None:
    """R8.3 «¿Cuánto gastamos?» leaves income out, and is told as a positive number."""
    rows: Rows = [
        ["Fecha", "Categoría", "Importe"],
        ["2025-03-01", "Alquiler", -700],
        ["2025-03-02", "Nómina", 1500],
        ["2025-03-08", "Comida", -120.5],
        ["2025-04-02", "Comida", -80],
    ]
    assert numbers("¿Cuánto gastamos en marzo?", rows, "es") == [820.5]
    assert labels("¿En qué categoría gastamos más dinero?", rows, "es") == ["Alquiler"]


@given(st.lists(st.tuples(st.sampled_from(["Norte", "Sur", "Este"]), st.integers(1, 9_999)), min_size=3, max_size=25))
def test_sums_are_those_of_the_rows(sales: list[tuple[str, int]]) -> None:
    """R8.3 Whatever the table holds: sum, count, share of a group."""
    held = [amount for zone, amount in sales if zone == "Norte"]
    assume(0 < len(held) < len(sales))
    made = ([f"P-{number}", *sale] for number, sale in enumerate(sales, start=1))
    rows: Rows = [["Pedido", "Zona", "Ventas (€)"], *made]
    assert numbers("¿Cuánto vendimos en la zona Norte?", rows, "es") == [sum(held)]
    assert numbers("¿Cuántos pedidos hay de la zona Norte?", rows, "es") == [len(held)]

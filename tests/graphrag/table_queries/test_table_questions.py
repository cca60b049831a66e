"""Questions as plans: what is counted, summed, filtered and compared, and what is refused."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.table_queries.plans import Aggregate, QueryResult, describe_filter, run_plan
from graphrag.table_queries.reading import read_plan
from tests.graphrag.table_queries.books import INVOICES, SALES, STOCK, read_book, read_sheet

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


TASKS: Rows = [
    ["Task", "Owner", "Phase", "Due", "Status", "Est. hours", "Actual hours", "Discount"],
    ["Audit", "Tom", "Design", "2025-03-10", "Done", 20, 23, None],
    ["Layout", None, "Design", "2025-05-12", "In progress", 12, 9, "10 %"],
    ["Search", None, "Build", "2025-06-20", "Not started", 8, 2, None],
    ["Forms", "Ada", "Build", "2025-07-04", "In progress", 16, 30, "25 %"],
]
SHOP: Rows = [
    ["Artículo", "Existencias", "Precio coste", "Base imponible", "Total", "Cobrada"],
    ["Taladro", 4, 50, 200, 242, "Sí"],
    ["Sierra", 0, 30, 100, 121, "No"],
    ["Lija", 100, 0.5, 40, 48.4, "sí"],
]
VISITS: Rows = [
    ["Date", "Place", "Paid in", "Amount"],
    ["2025-01-10", "Cork", "Cash", 12],
    ["2025-02-03", "Galway", "Transfer", 30],
    ["2025-05-20", "Cork", "Cash", 40],
]


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("Which tasks have nobody assigned?", "en", TASKS, ["Layout", "Search"]),
        ("Which tasks are overdue as of 30 June 2025?", "en", TASKS, ["Layout", "Search"]),
        ("¿Qué tareas no tienen responsable?", "es", TASKS, ["Layout", "Search"]),  # in another language than the table
        ("Which task went most over its estimate?", "en", TASKS, ["Forms"]),
        ("Which items are out of stock?", "en", SHOP, ["Sierra"]),
        ("Which month had the highest total?", "en", VISITS, ["2025-05"]),
        ("When was the last visit to Cork?", "en", VISITS, ["2025-05-20"]),
        ("¿Qué lugares pagaron en efectivo?", "es", VISITS, ["Cork"]),  # «Cash»
        ("Did Cork or Galway bring in more money?", "en", VISITS, ["Cork", "Galway"]),
    ],
)
def test_what_a_question_says_in_other_words(question: str, language: str, rows: Rows, expected: list[str]) -> None:
    """R8.3 By meaning, in another language; what lacks something, what is late, what there is none of."""
    assert labels(question, rows, language) == expected


@pytest.mark.parametrize(
    ("question", "language", "rows", "expected"),
    [
        ("By how many hours did the audit go over its estimate?", "en", TASKS, [3]),
        ("What percentage of the tasks got a discount?", "en", TASKS, [50]),
        ("¿Cuánto valen todas las existencias a precio de coste?", "es", SHOP, [250]),
        ("¿Cuánto nos queda por cobrar en total, IVA incluido?", "es", SHOP, [121]),
        ("¿Cuánto hemos facturado sin IVA?", "es", SHOP, [340]),
        ("How often did we go to Cork?", "en", VISITS, [2]),
    ],
)
def test_values_of_two_columns_and_of_taxes(question: str, language: str, rows: Rows, expected: list[float]) -> None:
    """R8.3 By how much one column is above another, what a stock is worth, amounts with tax and without."""
    assert numbers(question, rows, language) == expected


REPAIRS: Rows = [
    ["Nº OT", "Entrada", "Cliente", "Mec.", "Matls €", "M.O. (€)", "Entregada", "Beca (S/N)"],
    ["OT-1", "2025-01-10", "Ana Ruiz", "Quim", 10, 40, "2025-01-14", "S"],
    ["OT-2", "2025-01-12", "Leo Paz", "Sara", 60, 12.5, "2025-01-20", "N"],
    ["OT-3", "2025-02-03", "Ana Ruiz", "Quim", None, 55, None, "N"],
]


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("¿Cuánto suma la mano de obra?", "es", [107.5]),
        ("Total materials for Sara, please", "en", [60]),
        ("¿Cuánto suman materiales + mano de obra?", "es", [177.5]),
        ("¿Cuántos días tardan de media en entregarse?", "es", [6]),
        ("cuántas órdenes siguen sin entregar", "es", [1]),
        ("¿Qué porcentaje tiene beca?", "es", [pytest.approx(100 / 3)]),
        ("Combien de fois Quim a réparé ?", "fr", [2]),
        ("all but Quim: how many jobs?", "en", [1]),
    ],
)
def test_headers_are_abbreviations_and_columns_are_added(question: str, language: str, expected: list[float]) -> None:
    """R8.3 «M.O.» is «mano de obra», "Matls" materials; a missing number is none to add; days between two columns."""
    assert numbers(question, REPAIRS, language) == expected


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("La OT más cara, materiales y mano de obra", "es", ["OT-2"]),
        ("Désglose de mano de obra por mecánico, porfa", "es", ["Quim", "Sara"]),
        ("¿Cuál es la media de materiales y mano de obra?", "es", []),  # of each, or of both
    ],
)
def test_what_abbreviated_tables_name(question: str, language: str, expected: list[str]) -> None:
    """R8.3"""
    assert labels(question, REPAIRS, language) == expected


VANS: Rows = [
    ["Job", "F. aviso", "Chofer", "Ref.", "Salida", "Peso nac (kg)", "Km"],
    *[
        [
            1190 + n,
            f"2025-0{1 + n // 4}-{3 + n:02}",
            driver,
            f"R-{n}",
            f"2025-0{1 + n // 4}-{4 + n:02}",
            2 + n / 8,
            30 + 7 * n,
        ]
        for n, driver in enumerate(["Eva", "Iker", "Eva", "Iker", "Eva", "Noa", "Noa", "Eva"])
    ],
]


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("what % of the jobs are Eva's", "en", [50]),  # rows, not the sum of their numbers
        ("¿Cuántos nacieron en febrero de 2025?", "es", [4]),  # not their weight
        ("Media de km por chofer", "es", [44, 52.75, 68.5]),
        ("Media de km por job en enero de 2025", "es", [40.5]),  # each job is a row
    ],
)
def test_numbers_that_are_not_what_is_counted(question: str, language: str, expected: list[float]) -> None:
    """R8.3"""
    assert sorted(numbers(question, VANS, language)) == sorted(expected)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("¿Cuántos km ha hecho cada camioneta?", "es"),  # of which there is no column
        ("Km au total par ville", "fr"),
        ("À quelle heure est la salida R-3 ?", "fr"),  # a day has none
        ("What year was Eva born?", "en"),
        ("¿En qué meses no salió Eva?", "es"),
        ("¿Con qué ruedas salió el R-3?", "es"),  # of one row, not which rows
    ],
)
def test_what_no_column_tells_is_not_answered_by_another(question: str, language: str) -> None:
    """R8.3"""
    assert ask(question, VANS, language) is None


def test_means_are_compared_where_a_mean_is_asked_for() -> None:
    """R8.3"""
    assert numbers("¿Cuál es la diferencia de km de media entre Eva e Iker?", VANS, "es") == [52.75, 44]


JOBS: Rows = [
    ["Job", "Date", "Customer", "Crew", "Hrs", "Parts (£)"],
    ["J-1", "2025-03-04", "Hill Farm", "North", 3, 20],
    ["J-2", "2025-03-19", "The Crown", "South", 5, 75.5],
    ["J-3", "2025-04-02", "Hill Farm", "North", 2, 0],
    ["J-4", "2025-05-06", "Mill House", "North", 4, 31],
    ["J-5", "2025-05-14", "The Crown", "South", 1, 12],
    ["J-6", "2025-05-27", "Hill Farm", "North", 6, 8],
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which month had the most jobs?", [("2025-05", 3)]),
        ("Jobs by crew, please", [("North", 4), ("South", 2)]),
        ("How many jobs does each crew have?", [("North", 4), ("South", 2)]),
        ("Total hours in May?", [("", 11)]),
        ("What is the mean of the hours of jobs of more than 3 hours?", [("", 5)]),
    ],
)
def test_what_rows_are_is_counted_by_month_and_by_group(question: str, expected: list[tuple[str, float]]) -> None:
    """R8.3 Though the table has several columns of numbers; "Hrs" are hours."""
    found = ask(question, JOBS, "en")
    assert found
    assert list(found[1].values) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which customers did we visit between 1 and 15 May?", ["Mill House", "The Crown"]),
        ("Which customers did we visit in Q2?", ["Hill Farm", "Mill House", "The Crown"]),
    ],
)
def test_days_are_looked_for_among_days(question: str, expected: list[str]) -> None:
    """R8.3 Not among the periods that sheets are called after, unless these lie within what is asked for."""
    _, _, (table,) = read_book({"Q1": JOBS[:3], "Q2": [JOBS[0], *JOBS[3:]]}, language="en")
    read = read_plan(question, TypedTable.from_bytes(table.to_bytes()), language="en")
    assert read
    assert (result := run_plan(TypedTable.from_bytes(table.to_bytes()), read.plan))
    assert sorted(label for label, _ in result.values) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total of the hours, except for the Crown?", [("", 15)]),
        ("Which month had the most hours, excluding Mill House?", [("2025-03", 8)]),
        ("How many jobs did crews other than North do?", [("", 2)]),
    ],
)
def test_a_value_that_is_left_out_is_a_condition(question: str, expected: list[tuple[str, float]]) -> None:
    """R8.3 Right after the words that leave it out; else nothing is computed."""
    found = ask(question, JOBS, "en")
    assert found
    assert list(found[1].values) == expected
    assert ask("What is the total of the hours, except for travel?", JOBS, "en") is None


def test_prices_of_a_unit_are_not_summed_up() -> None:
    """R8.5 What a stock costs is no sum of its prices."""
    assert ask("What is the total of the unit prices?", STOCK, "en") is None


def test_an_open_span_of_days_is_told_by_its_one_day() -> None:
    """R8.3 Not with the last day that a calendar has."""
    read = read_plan("How many jobs since April 2025?", table := read_sheet(JOBS, language="en"), language="en")
    assert read
    assert [describe_filter(table, each) for each in read.plan.filters] == ["Date ≥ 2025-04-01"]


def test_rows_that_a_day_is_called_after_are_not_days() -> None:
    """R8.3 «avisos» are rows, though «F. aviso» is a day; who drove furthest is a name, not a distance."""
    assert labels("Los tres avisos con más km", VANS, "es") == ["R-7", "R-6", "R-5"]
    assert labels("¿Qué chofer hizo la salida con más km?", VANS, "es") == ["Eva"]


def test_quarters_under_years_are_periods() -> None:
    """R1.5 Headers of two rows, the year over its quarters."""
    rows: Rows = [
        ["Activité", 2023, None, 2024, None],
        [None, "T1", "T2", "T1", "T2"],
        ["Aquagym", 10, 20, 30, 50],
        ["Plongée", 5, 6, 7, 8],
    ]
    assert numbers("Combien pour l'aquagym en 2024 ?", rows, "fr") == [80]
    assert labels("Quel trimestre de 2023 a eu le plus grand total ?", rows, "fr") == ["T2 2023"]


def test_a_denial_that_is_of_no_condition_gives_no_number() -> None:
    """R8.5 «sin» of something that the table does not have."""
    assert ask("¿Cuánto hemos facturado sin contar los portes?", SHOP, "es") is None


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

"""What changed row by row in a list: periods against the one before, a column against another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.table_queries.answers import best_plan, write_answer
from graphrag.table_queries.plans import Aggregate, Grain, PeriodChange, TablePlan, run_plan
from tests.graphrag.table_queries.books import read_book, read_sheet

VALUES = (900, 1200, 1100, 700, 950, 950)
HEADERS = {
    "es": ("Mes", "Ventas (€)", "Presupuesto (€)"),
    "fr": ("Mois", "Ventes (€)", "Budget (€)"),
    "en": ("Month", "Sales (€)", "Budget (€)"),
}
PRODUCTS = {
    "es": ("Producto", "Presupuesto (€)", "Gasto (€)"),
    "fr": ("Article", "Budget (€)", "Dépenses (€)"),
    "en": ("Product", "Budget (€)", "Spent (€)"),
}
SPENT = (("Harina", 100, 120), ("Leche", 200, 150), ("Azúcar", 80, 95), ("Sal", 10, 10))


def months(language: str, values: Sequence[float] = VALUES) -> list[list[Any]]:
    rows = [[f"2025-{month:02}-01", value, 1000] for month, value in enumerate(values, start=1)]
    return [list(HEADERS[language]), *rows]


def products(language: str) -> list[list[Any]]:
    return [list(PRODUCTS[language]), *map(list, SPENT)]


def answer(question: str, rows: list[list[Any]], language: str) -> str | None:
    """The value alone, in the answer's first line."""
    document, chunks, tables = read_book({"Hoja": rows}, language=language)
    found = best_plan(question, [(document, table.to_bytes()) for table in tables], language=language)
    computed = write_answer(found, chunks, language=language) if found else None
    return computed.text.splitlines()[0].partition(" — ")[0].strip("*") if computed else None


FALLS: Mapping[str, str] = {
    "es": "Marzo de 2025: -100 €; Abril de 2025: -400 €",
    "fr": "Mars 2025 : -100 €; Avril 2025 : -400 €",
    "en": "March 2025: -€100; April 2025: -€400",
}


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("es", "¿En qué meses bajaron las ventas respecto al mes anterior?"),
        ("es", "¿Qué meses bajaron las ventas?"),
        ("fr", "Quels mois les ventes ont-elles baissé par rapport au mois précédent ?"),
        ("en", "Which months did sales drop against the month before?"),
        ("en", "In which months did sales fall compared to the previous month?"),
    ],
)
def test_the_months_that_fell_are_listed_with_their_change(language: str, question: str) -> None:
    """R8.3 Each against the month before; one that stays as it was neither rises nor falls."""
    assert answer(question, months(language), language) == FALLS[language]


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿En qué meses subieron las ventas?", "Febrero de 2025: +300 €; Mayo de 2025: +250 €"),
        ("en", "Which months from March to May did sales go down?", "March 2025: -€100; April 2025: -€400"),
        ("fr", "En quels mois les ventes ont-elles augmenté à partir de mars 2025 ?", "Mai 2025 : +250 €"),
        (
            "en",
            "Month on month change in sales from March to May",
            "March 2025: -€100; April 2025: -€400; May 2025: +€250",
        ),
        ("en", "Quarterly change in sales as a percentage", "Q2 2025: -18.75%"),
        ("en", "In which months did sales grow?", "February 2025: +€300; May 2025: +€250"),
        (
            "fr",
            "De combien les ventes ont-elles changé chaque mois ?",
            "Février 2025 : +300 €; Mars 2025 : -100 €; Avril 2025 : -400 €; Mai 2025 : +250 €; Juin 2025 : 0 €",
        ),
        (
            "en",
            "By how much did sales change each month?",
            "February 2025: +€300; March 2025: -€100; April 2025: -€400; May 2025: +€250; June 2025: €0",
        ),
        (
            "es",
            "¿Cuánto varían las ventas de un mes a otro?",
            "Febrero de 2025: +300 €; Marzo de 2025: -100 €; Abril de 2025: -400 €; Mayo de 2025: +250 €; "
            "Junio de 2025: 0 €",
        ),
    ],
)
def test_rises_and_all_changes(language: str, question: str, expected: str) -> None:
    """R8.3 With their signs, in the order of time."""
    assert answer(question, months(language), language) == expected


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Qué mes tuvo la mayor caída de ventas?", "Abril de 2025: -400 €"),
        ("es", "¿En qué mes subieron más las ventas?", "Febrero de 2025: +300 €"),
        ("fr", "Quel mois a connu la plus forte baisse des ventes ?", "Avril 2025 : -400 €"),
        ("en", "Which month did sales drop the most?", "April 2025: -€400"),
        ("en", "Which month saw the biggest increase in sales?", "February 2025: +€300"),
    ],
)
def test_the_greatest_change_is_found(language: str, question: str, expected: str) -> None:
    """R8.3 Of those that rose, or fell, with its amount."""
    assert answer(question, months(language), language) == expected


def test_of_two_that_are_equal_none_is_the_greatest() -> None:
    """R8.3"""
    assert answer("Which month did sales drop the most?", months("en", (900, 800, 700)), "en") is None


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿En qué porcentaje subieron las ventas de enero a febrero de 2025?", "+33,33 %"),
        ("es", "¿Cuál fue la variación porcentual de las ventas entre marzo y abril?", "-36,36 %"),
        ("es", "¿Cuál fue la tasa de crecimiento de las ventas entre enero y febrero?", "+33,33 %"),
        ("es", "¿En qué porcentaje subieron las ventas en febrero respecto a enero?", "+33,33 %"),
        ("fr", "De quel pourcentage les ventes ont-elles augmenté entre janvier et février ?", "+33,33 %"),
        ("fr", "Quel est le taux de croissance des ventes de janvier à février ?", "+33,33 %"),
        ("en", "By what percentage did sales grow from January to February?", "+33.33%"),
        ("en", "What was the percentage change in sales from January to June?", "+5.56%"),
        (
            "en",
            "By what percentage did sales change each month?",
            "February 2025: +33.33%; March 2025: -8.33%; April 2025: -36.36%; May 2025: +35.71%; June 2025: 0%",
        ),
    ],
)
def test_changes_in_percent_are_of_what_was_before(language: str, question: str, expected: str) -> None:
    """R8.3 The earlier period is the whole, in whatever order the question names them."""
    assert answer(question, months(language), language) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("By what percentage did the amount rise from 2023 to 2024?", "+50%"),
        ("By what percentage did the amount of Nube rise from 2023 to 2024?", "+100%"),
        ("Amount of Nube in 2024 vs 2023, growth in percent", "+100%"),
        ("What is the difference in amount between 2023 and 2024?", "€200"),
        ("Which client's amount rose the most between the first quarter of 2023 and the first quarter of 2024?", None),
        ("How much did the amount rise from 2023 to 2024?", "+€200"),
        ("How much did the amount of Nube fall from 2024 to 2023?", "+€100"),
        ("By what percentage is the amount of Nube higher than the amount of Arce?", None),  # of which?
        ("By what percentage did the number of clients rise from 2023 to 2024?", None),  # of rows?
    ],
)
def test_years_are_compared(question: str, expected: str | None) -> None:
    """R8.3 Between two years, and not over both of them."""
    rows = [
        ["2023-02-01", "Nube", 100],
        ["2023-07-01", "Arce", 300],
        ["2024-03-01", "Nube", 200],
        ["2024-09-01", "Arce", 400],
    ]
    assert answer(question, [["Date", "Client", "Amount (€)"], *rows], "en") == expected


def test_nothing_has_no_percentage() -> None:
    """R8.3 A change from nothing is none of so many per cent."""
    question = "By what percentage did sales grow from January to February?"
    assert answer(question, months("en", (0, 800, 700)), "en") is None
    assert answer("By what percentage did sales change each month?", months("en", (0, 800, 700)), "en") is None


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Qué productos superaron su presupuesto?", "Harina, Azúcar"),
        ("es", "¿En cuánto superó cada producto su presupuesto?", "Harina: 20 €; Azúcar: 15 €"),
        ("es", "¿Qué productos superaron su presupuesto y en cuánto?", "Harina: 20 €; Azúcar: 15 €"),
        ("fr", "Quels articles ont dépassé leur budget ?", "Harina, Azúcar"),
        ("fr", "De combien chaque article a-t-il dépassé son budget ?", "Harina : 20 €; Azúcar : 15 €"),
        ("en", "Which products went over budget?", "Harina, Azúcar"),
        ("en", "By how much did each product exceed its budget?", "Harina: €20; Azúcar: €15"),
        ("en", "Which products went over budget and by how much?", "Harina: €20; Azúcar: €15"),
        ("en", "Which products went over budget and how much did we spend?", None),
    ],
)
def test_a_column_is_compared_with_another_row_by_row(language: str, question: str, expected: str | None) -> None:
    """R8.3 Which rows are above, and by how much each."""
    assert answer(question, products(language), language) == expected


def test_months_are_compared_with_their_budget() -> None:
    """R8.3 Where each row is a month of its own."""
    question = "In which months did sales exceed the budget?"
    assert answer(question, months("en"), "en") == "February 2025, March 2025"
    assert answer(question, [*months("en"), ["2025-03-20", 1300, 1000]], "en") is None


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("es", "¿Qué meses cambiaron las ventas?"),  # how?
        ("es", "¿En qué meses subieron o bajaron las ventas?"),
        ("en", "How much did each month change?"),  # which column?
        ("en", "What percentage did sales grow?"),  # from when?
        ("fr", "De quel pourcentage les ventes ont-elles augmenté à Lyon par rapport à Nice ?"),
        ("es", "¿Cuánto variaron las unidades vendidas entre enero y febrero?"),  # of money
        ("fr", "De combien chaque rayon a-t-il baissé ?"),
        ("es", "¿Cuánto hemos vendido por producto y por mes?"),
        ("en", "In which months did sales fall and how much did we budget?"),
    ],
)
def test_what_is_not_understood_whole_gets_no_number(language: str, question: str) -> None:
    """R8.3 A wrong value is worse than none."""
    assert answer(question, months(language), language) is None


def test_a_missing_month_has_no_change() -> None:
    """R8.3 The month before is not the row before."""
    rows = months("en")
    assert answer("In which months did sales grow?", rows[:3] + rows[4:], "en") is None
    assert answer("In which months did sales grow?", [*rows[:3], [rows[3][0], None, 1000], *rows[4:]], "en") is None


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=12))
def test_changes_add_up(values: list[int]) -> None:
    """R8.3 All of them to the last value less the first; rises and falls are all that are not zero."""
    table = read_sheet(months("en", values), language="en")
    each = TablePlan(Aggregate.SUM, column=1, per=0, grain=Grain.MONTH, change=PeriodChange.EACH)
    results = {change: run_plan(table, replace(each, change=change)) for change in PeriodChange}
    changes = {change: result.values if result else () for change, result in results.items()}
    assert sum(value for _, value in changes[PeriodChange.EACH]) == values[-1] - values[0]
    moved = {*changes[PeriodChange.RISE], *changes[PeriodChange.FALL]}
    assert moved == {(label, value) for label, value in changes[PeriodChange.EACH] if value}
    assert all(value > 0 for _, value in changes[PeriodChange.RISE])
    assert all(value < 0 for _, value in changes[PeriodChange.FALL])

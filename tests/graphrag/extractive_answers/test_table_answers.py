"""The highest, the lowest, the sum and the mean of a column that an excerpt holds whole."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.table_answers import answer_from_table
from graphrag.linguistics.numbers import read_quantities, write_number
from graphrag.models import Span

FRENCH = """L'été a été chaud.

| Mois | 2024 (kWh) | 2025 (kWh) |
|---|---|---|
| Juin | 41 200 | 52 300 |
| Juillet | 44 600 | 58 900 |
| Août | 45 200 | 60 400 |
| Total | 131 000 | 171 600 |

D'où vient la hausse ?
"""
PALLETS = [("Molinos", 24), ("Montbrune", 18), ("Molinos", 22), ("Castelmaur", 40)]


def sheet(headers: tuple[str, ...], rows: list[tuple[object, ...]], *, end: str = "Por producto\n") -> Excerpt:
    """Rows as a spreadsheet's are read, under a line of their own."""
    text, lines = "Ventas de 2025\n", [Span(0, 14)]
    for row in rows:
        line = "; ".join(f"{header}: {cell}" for header, cell in zip(headers, row, strict=True))
        lines.append(Span(len(text), len(text) + len(line)))
        text += f"{line}\n"
    if end:
        lines.append(Span(len(text), len(text) + len(end) - 1))
    return Excerpt(1, "Ventas", text + end, "es", 0, tuple(lines), headers)


def sales(values: list[int], *, end: str = "Por producto\n") -> Excerpt:
    rows = [(f"2025-{number:02}-01", value) for number, value in enumerate(values, start=1)]
    return sheet(("Mes", "Ventas (€)"), list(rows), end=end)


def answer(question: str, excerpt: Excerpt, *, language: str) -> str | None:
    found = answer_from_table(question, [excerpt], language=language)
    return found.text if found else None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("¿Qué mes tuvo más ventas en 2025?",
         "Febrero de 2025: 1.200 € (el máximo de «Ventas (€)») — Mes: 2025-02-01; Ventas (€): 1200."),
        ("¿Cuál fue el mes con menos ventas?",
         "Enero de 2025: 900 € (el mínimo de «Ventas (€)») — Mes: 2025-01-01; Ventas (€): 900."),
        ("¿Cuánto fueron las ventas en total?", "Ventas (€): 900 + 1.200 + 950 = 3.050 €."),
        ("¿Cuál fue la media de ventas?", "Ventas (€): (900 + 1.200 + 950) / 3 = 1.016,67 €."),
    ],
)  # fmt: skip
def test_a_column_is_reckoned_with_the_cells_that_it_is_of(question: str, expected: str) -> None:
    """R8.6 Numbers as the question's language writes them, and what they are computed of."""
    assert answer(question, sales([900, 1200, 950]), language="es") == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("En quel mois l'entrepôt a-t-il consommé le plus de kWh en 2025 ?",
         "Août : 60 400 kWh (le maximum de « 2025 (kWh) ») — Mois: Août; 2024 (kWh): 45 200; 2025 (kWh): 60 400."),
        ("Quel est le total en kWh pour 2024 ?",
         "2024 (kWh) : 41 200 + 44 600 + 45 200 = 131 000 kWh — "
         "Mois: Total; 2024 (kWh): 131 000; 2025 (kWh): 171 600."),
    ],
)  # fmt: skip
def test_a_markdown_table_is_read_like_a_sheet(question: str, expected: str) -> None:
    """R8.6 Its row of totals is no month, and is quoted where it agrees."""
    assert answer(question, Excerpt(1, "Énergie", FRENCH, "fr"), language="fr") == expected


def test_rows_of_one_name_are_taken_together() -> None:
    """R8.6 The supplier with most pallets is not the one with the largest order."""
    said = answer("Which supplier sent the most pallets?", sheet(("Supplier", "Pallets"), [*PALLETS]), language="en")
    assert said == "Molinos: 24 + 22 = 46 (the maximum of “Pallets”)."


def test_braces_in_a_cell_are_text() -> None:
    """R8.6"""
    rows: list[tuple[object, ...]] = [("{0}", 3), ("{x}", 5)]
    said = answer("¿Qué producto tuvo más ventas?", sheet(("Producto", "Ventas {y}"), rows), language="es")
    assert said == "{x}: 5 (el máximo de «Ventas {y}») — Producto: {x}; Ventas {y}: 5."


def test_years_are_labels_and_not_amounts() -> None:
    """R8.6"""
    years: list[tuple[object, ...]] = [(2023, 1950), (2024, 1990)]
    said = answer("¿Qué año tuvo más ventas?", sheet(("Año", "Ventas"), years), language="es")
    assert said == "2024: 1.990 (el máximo de «Ventas») — Año: 2024; Ventas: 1990."


@pytest.mark.parametrize(
    "question",
    [
        "¿Qué mes tuvo más ventas en 2019?",
        "¿Qué mes tuvo más ventas en Francia?",
        "¿Cuánto fueron las ventas en total en enero?",
        "¿En qué meses las ventas fueron más de 1000 euros?",
        "¿Qué mes tuvo más pedidos?",
        "¿Cuánto fueron las ventas?",
        "¿Por qué tuvo más ventas ese mes?",
    ],
)
def test_what_is_asked_of_something_else_is_not_reckoned(question: str) -> None:
    """R8.6, R8.4 A year, a place, a month or a column that is not the table's, or no question of a whole column."""
    assert answer(question, sales([900, 1200, 950]), language="es") is None


def test_two_months_with_the_highest_sales_are_none() -> None:
    """R8.6 Only what is unambiguous."""
    assert answer("¿Qué mes tuvo más ventas?", sales([900, 1200, 1200]), language="es") is None


def test_a_table_that_the_excerpt_may_cut_is_not_reckoned() -> None:
    """R8.4 A row that is not seen may have the highest value."""
    question = "¿Qué mes tuvo más ventas?"
    assert answer(question, sales([900, 1200], end=""), language="es") is None
    cut = FRENCH.partition("| Total")[0]
    assert answer("Quel mois a le plus de kWh en 2025 ?", Excerpt(1, "Énergie", cut, "fr"), language="fr") is None


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=12, unique=True))
def test_the_reckoned_is_right(values: list[int]) -> None:
    """R8.6 For whatever numbers: the terms are the column's and their sum is what is said."""
    total = answer("¿Cuánto fueron las ventas en total?", sales(values), language="es")
    assert total == f"Ventas (€): {' + '.join(write_number(value, 'es') for value in values)} = " + (
        f"{write_number(fsum(values), 'es')} €."
    )
    most = answer("¿Qué mes tuvo más ventas?", sales(values), language="es")
    assert most is not None
    assert max(values) in [quantity.low for quantity in read_quantities(most.partition(" (el ")[0], "es")]

"""Amounts of several currencies are not added; nothing is divided by zero; what a table lacks is told."""

from collections.abc import Sequence
from typing import Any

import pytest

from graphrag.table_queries.answers import ComputedAnswer, best_plan, explain_no_plan, write_answer
from tests.graphrag.table_queries.books import read_book, read_sheet

HEADERS = {
    "es": ("Factura", "Cliente", "Importe", "Moneda", "Uds"),
    "fr": ("Facture", "Client", "Montant", "Devise", "Qté"),
    "en": ("Invoice", "Client", "Amount", "Currency", "Qty"),
}
BESIDE = (("F-1", "Ana", 100, "EUR", 1), ("F-2", "Bob", 50, "USD", 2), ("F-3", "Ana", 200, "EUR", 3))
WITHIN = (("Factura", "Importe"), ("F-1", "100 €"), ("F-2", "$50"), ("F-3", "200 €"), ("F-4", "£20"), ("F-5", "$7"))


def beside(language: str) -> list[Sequence[Any]]:
    return [HEADERS[language], *BESIDE]


def answer(question: str, rows: Sequence[Sequence[Any]], language: str) -> ComputedAnswer | None:
    document, chunks, tables = read_book({"Hoja": rows}, language=language)
    found = best_plan(question, [(document, table.to_bytes()) for table in tables], language=language)
    return write_answer(found, chunks, language=language) if found else None


def told(question: str, rows: Sequence[Sequence[Any]], language: str) -> str | None:
    computed = answer(question, rows, language)
    return computed.text.partition(" — ")[0].strip("*") if computed else None


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Cuánto suma el importe?", "EUR: 300; USD: 50"),
        ("es", "¿Cuál es el importe medio?", "EUR: 150; USD: 50"),
        ("es", "¿Cuánto suma el importe de Ana?", "300"),
        ("fr", "Quel est le montant total ?", "EUR : 300; USD : 50"),
        ("fr", "Quel est le montant total en EUR ?", "300"),
        ("en", "What is the total amount?", "EUR: 300; USD: 50"),
        ("en", "What is the total amount in USD?", "50"),
        ("en", "What is the total qty?", "6"),
    ],
)
def test_a_sum_is_given_by_currency(language: str, question: str, expected: str) -> None:
    """R8.3 Where a column says each row's; of rows of one currency it is one number, and so are numbers of pieces."""
    assert told(question, beside(language), language) == expected


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("es", "¿Qué cliente tiene el mayor importe?"),
        ("fr", "Quel est le montant total par client ?"),
        ("en", "Which client has the highest amount?"),
        ("en", "What percentage of the amount is Ana's?"),
    ],
)
def test_currencies_are_not_compared(language: str, question: str) -> None:
    """R8.3 A wrong value is worse than none."""
    assert told(question, beside(language), language) is None


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "es",
            "«Importe» tiene importes en varias monedas (€, $, £), que no se suman ni se comparan: pregunte por una.",
        ),
        (
            "fr",
            "« Importe » contient des montants en plusieurs monnaies (€, $, £), qui ne s'additionnent ni ne se "
            "comparent : demandez-en une.",
        ),
        (
            "en",
            "“Importe” has amounts in several currencies (€, $, £), which are neither added nor compared: ask for one.",
        ),
    ],
)
def test_amounts_that_write_their_currencies_are_refused(language: str, expected: str) -> None:
    """R8.3 With the reason, in the language of the question."""
    questions = {"es": "¿Cuánto suman los importes?", "fr": "Combien font les importes ?", "en": "What is the total?"}
    assert answer(questions[language], WITHIN, language) is None
    assert explain_no_plan(read_sheet(WITHIN), language) == expected


def test_the_columns_are_told_where_one_is_asked_for_that_is_not_there() -> None:
    """R8.3 Nor is the mean of another column given, though "age" may be a verb."""
    rows = [("Invoice", "Client", "Amount (€)"), ("F-1", "Ana", 100), ("F-2", "Bob", 50), ("F-3", "Eva", 70)]
    for question in ("What is the average age of the clients?", "What is the total weight?", "What is the total VAT?"):
        assert answer(question, rows, "en") is None
    assert explain_no_plan(read_sheet(rows, language="en"), "en") == (
        "The table has these columns: Invoice, Client, Amount (€)."
    )


def test_nothing_is_divided_by_zero() -> None:
    """R8.3 A share of nothing is none; growth is told as a difference, so that it may start at zero."""
    rows = [("Mes", "Ventas (€)"), ("2025-01-01", 0), ("2025-02-01", 0), ("2025-03-01", 40)]
    assert answer("¿En qué meses subieron las ventas?", rows, "es") is not None
    products = [("Producto", "Ventas (€)"), ("Pan", 0), ("Sal", 0), ("Té", 0)]
    assert answer("¿Qué porcentaje de las ventas es de Pan?", products, "es") is None

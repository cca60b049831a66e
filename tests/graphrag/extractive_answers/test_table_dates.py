"""What is late in a table, on a given day."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers.table_answers import Late, asks_what_is_late, late_rows, say_late

TODAY = date(2026, 2, 1)
SPANISH = ["Pedido", "Fecha prevista", "Fecha de entrega", "Estado"]


def late(headers: Sequence[str], *rows: Sequence[str], language: str = "es") -> list[Late]:
    cells = [{number: value for number, value in enumerate(row) if value} for row in rows]
    return late_rows(headers, cells, today=TODAY, language=language)


def test_due_and_open_is_late_and_so_is_delivered_after() -> None:
    """R8.6 The open ones first; computed with the current date."""
    found = late(
        SPANISH,
        ["E-1", "2026-01-10", "2026-01-10", "Entregado"],
        ["E-2", "2026-01-10", "2026-01-16", "Entregado"],
        ["E-3", "2026-01-20", "", "Pendiente"],
        ["E-4", "2026-02-01", "", "Pendiente"],
        ["E-5", "2026-03-01", "", "Pendiente"],
        ["E-6", "2026-01-05", "", "Anulado"],
        ["E-7", "", "", "Pendiente"],
    )
    assert found == [
        Late(2, date(2026, 1, 20), None, 12),
        Late(1, date(2026, 1, 10), date(2026, 1, 16), 6),
    ]


@pytest.mark.parametrize(
    ("headers", "row", "language"),
    [
        (["Commande", "Date prévue", "Date de livraison", "État"], ["1", "2026-01-20", "", "En attente"], "fr"),
        (["Order", "Due date", "Delivered on"], ["1", "2026-01-20", ""], "en"),
        (["Tarea", "Fecha límite", "Estado"], ["1", "2026-01-20", "En curso"], "es"),
        (["Facture", "Échéance", "Payée le"], ["1", "20/01/2026", ""], "fr"),
        (["Pedido", "Fecha de entrega", "Estado"], ["1", "20/01/2026", "No entregado"], "es"),
        (["Task", "Deadline", "Status"], ["1", "20 January 2026", "not done"], "en"),
        (["Pedido", "Entrega prevista", "Entrega real"], ["1", "20 de enero de 2026", ""], "es"),
    ],
)
def test_columns_are_known_by_their_headers(headers: list[str], row: list[str], language: str) -> None:
    """R8.6 Deliveries, tasks and payments, in three languages."""
    assert late(headers, row, language=language) == [Late(0, date(2026, 1, 20), None, 12)]


@pytest.mark.parametrize(
    "state", ["Entregado", "Recibida", "Livrée", "Terminé", "Delivered", "Closed", "Payée", "Done"]
)
def test_what_is_done_is_not_late(state: str) -> None:
    """R8.6 A state says it where no date does."""
    assert late(["Pedido", "Fecha prevista", "Estado"], ["E-1", "2026-01-01", state]) == []


def test_what_the_table_does_not_say_is_not_claimed() -> None:
    """R8.6 Without a column for what is done nothing is late; nor where its cell can't be read."""
    assert late(["Pedido", "Fecha prevista"], ["E-1", "2026-01-01"]) == []
    assert late(["Pedido", "Cantidad"], ["E-1", "3"]) == []
    assert late(SPANISH, ["E-1", "2026-01-01", "mañana", "Pendiente"]) == []
    assert late(SPANISH, ["E-1", "pronto", "", "Pendiente"]) == []


@given(st.dates(date(2020, 1, 1), date(2030, 1, 1)), st.none() | st.dates(date(2020, 1, 1), date(2030, 1, 1)))
def test_days_are_counted(due: date, done: date | None) -> None:
    """R8.6 For any two dates."""
    found = late(SPANISH, ["E-1", due.isoformat(), done.isoformat() if done else "", ""])
    until = done or TODAY
    assert [row.days for row in found] == ([(until - due).days] if until - due > timedelta() else [])


@pytest.mark.parametrize(
    "question",
    [
        "Quelles livraisons sont en retard ?",
        "¿Qué entregas llevan retraso?",
        "¿Hay pedidos atrasados?",
        "Which deliveries are late?",
        "Are the deliveries late?",
        "¿Cuáles son las facturas vencidas?",
        "How many tasks are overdue?",
    ],
)
def test_what_is_late_is_asked(question: str) -> None:
    """R8.6"""
    assert asks_what_is_late(question)


@pytest.mark.parametrize(
    "question",
    [
        "Why did the Christmas tins reach Bristol so late?",
        "¿Por qué se retrasó la entrega?",
        "Pourquoi le beurre est-il arrivé en retard ?",
        "¿Cuál fue la causa del retraso?",
        "¿Cuándo llega la mantequilla?",
        "What did the later review find?",
    ],
)
def test_other_questions_are_not_for_what_is_late(question: str) -> None:
    """R8.6 Why something was late is in the prose."""
    assert not asks_what_is_late(question)


@pytest.mark.parametrize(
    ("language", "open_row", "done_row"),
    [
        ("es", "sin hacer: 12 días de retraso el 1 de febrero de 2026", "hecho con 1 día de retraso"),
        ("fr", "pas encore fait : 12 jours de retard le 1 février 2026", "fait avec 1 jour de retard"),
        ("en", "still open: 12 days late on 1 February 2026", "done 1 day late"),
    ],
)
def test_how_late_is_said(language: str, open_row: str, done_row: str) -> None:
    """R8.6 In the language of the question."""
    day = date(2026, 1, 20)
    assert say_late(Late(0, day, None, 12), today=TODAY, language=language) == open_row
    assert say_late(Late(0, day, day + timedelta(1), 1), today=TODAY, language=language) == done_row

"""A told date against today's: only where a question asks for it."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers.direct_answers import read_relative, say_relative
from graphrag.extractive_answers.statements import ExtractedStatement
from graphrag.linguistics.periods import name, of_day

TODAY = date(2026, 11, 22)


def said(question: str, sentence: str, *, language: str, around: str = "") -> str | None:
    asked = read_relative(question)
    assert asked, question
    return say_relative(
        asked, ExtractedStatement(sentence, 1, language, 1.0), around=around, today=TODAY, language=language
    )


@pytest.mark.parametrize(
    ("language", "question", "sentence", "expected"),
    [
        ("en", "How long ago was the recall?", "On 16 April 2025 Brisalba recalled it.",
         "1 year and 7 months (585 days) ago, as of 22 November 2026"),
        ("es", "¿Hace cuánto se paró el horno?", "El horno se paró el 10 de noviembre de 2026.",
         "hace 12 días, a 22 de noviembre de 2026"),
        ("fr", "Dans combien de temps aura lieu l'audit ?", "L'audit aura lieu le 13 décembre 2026.",
         "dans 21 jours, au 22 novembre 2026"),
        ("es", "¿Cuánto falta para la auditoría?", "La auditoría será el 23 de noviembre de 2026.",
         "dentro de 1 día, a 22 de noviembre de 2026"),
        ("en", "How many weeks until the visit?", "The visit is on 12 March 2027.",
         "in 15 weeks and 5 days, as of 22 November 2026"),
        ("es", "¿Cuántos días han pasado desde el cierre?", "El cierre fue el 1 de enero de 2026.",
         "hace 325 días, a 22 de noviembre de 2026"),
        ("fr", "Depuis combien de temps est-il client ?", "Il est notre client depuis 2016.",
         "depuis 10 ans, au 22 novembre 2026"),
        ("fr", "Quel âge a Claire ?", "Claire est née le 23 novembre 1984.", "41 ans, au 22 novembre 2026"),
        ("en", "Has the certificate expired?", "The certificate expires on 30 April 2026.",
         "expired 6 months (206 days) ago, as of 22 November 2026"),
        ("es", "¿Sigue vigente el contrato?", "El contrato vence el 1 de diciembre de 2026.",
         "vence dentro de 9 días, a 22 de noviembre de 2026"),
        ("fr", "Le contrat est-il encore valable ?", "Le contrat prend fin le 21 novembre 2026.",
         "expiré depuis 1 jour, au 22 novembre 2026"),
        ("en", "How long ago did it close?", "It closed on 22 November 2026.", "today"),
    ],
)  # fmt: skip
def test_a_date_is_told_against_today(language: str, question: str, sentence: str, expected: str) -> None:
    """R8.6 In the language of the question, as exactly as the date is told, with the day that it was computed on."""
    assert said(question, sentence, language=language) == expected


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("¿Sigue vigente el contrato?", "El contrato se firmó el 1 de julio de 2024."),
        ("¿Hace cuánto cerró?", "Cerró el 1 de julio de 2024 y volvió a cerrar el 3 de mayo de 2025."),
        ("¿Hace cuánto cerró?", "Cerró por la riada."),
        ("¿Hace cuánto cerró?", "Cerró el 1 de julio."),
    ],
)
def test_what_no_one_date_answers_is_not_computed(question: str, sentence: str) -> None:
    """R8.6 A contract's signature is not its end; of two dates either could be meant."""
    assert said(question, sentence, language="es", around="Acta de 2024 y 2025") is None


def test_a_year_that_the_document_alone_names_completes_a_date() -> None:
    """R8.6"""
    assert said("¿Hace cuánto cerró?", "Cerró el 12 de noviembre.", language="es", around="Acta de 2026") == (
        "hace 10 días, a 22 de noviembre de 2026"
    )


@pytest.mark.parametrize(
    "question",
    [
        "¿Cuándo se paró el horno?", "¿Cuánto costó la reparación?", "¿Qué contrato firmó Ana?", "Quand a-t-il fermé ?",
        "Combien de palettes reste-t-il à livrer à Lyon ?", "When did it close?", "How many boxes are left?",
        "Is the valve still open?", "How long is the hose?",
    ],
)  # fmt: skip
def test_other_questions_are_not_about_today(question: str) -> None:
    """R8.6 Only where relative time is asked for."""
    assert read_relative(question) is None


@given(st.integers(-4000, 4000), st.sampled_from(["es", "fr", "en"]))
def test_days_are_counted_right(days: int, language: str) -> None:
    """R8.6 Asked for in days, they lead from the told day to today."""
    question = {"es": "¿Cuántos días faltan?", "fr": "Dans combien de jours ?", "en": "In how many days is it?"}[
        language
    ]
    day = TODAY + timedelta(days)
    text = said(question, f"X {name(of_day(day), language)}.", language=language)
    assert text
    digits = "".join(filter(str.isdigit, text.partition(",")[0] if language != "en" else text.rpartition(", ")[0]))
    assert days == 0 or int(digits) == abs(days)

"""Files that a question names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.retrieval.named_files import MOST_NAMES, candidate_names, choose_named, each_file_first
from tests.factories import make_document, make_hit

KNOWN = ["production.xlsx", "inventaire.csv", "Informe anual 2024.pdf", "2024.pdf", "Catálogo.md", "acta(2).docx"]


def choose(question: str) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    named = choose_named(candidate_names(question), KNOWN)
    return named.files, named.missing, named.without(question)


@pytest.mark.parametrize(
    ("question", "files", "rest"),
    [
        (
            "Compare les stocks entre production.xlsx et inventaire.csv",
            ("production.xlsx", "inventaire.csv"),
            "Compare les stocks entre et",
        ),
        ("Quel stock dans PRODUCTION.XLSX ?", ("production.xlsx",), "Quel stock dans ?"),
        ("¿Qué ventas hay en Informe anual 2024.pdf?", ("Informe anual 2024.pdf",), "¿Qué ventas hay en ?"),
        ("¿Qué ventas hay en «informe anual 2024.pdf»?", ("Informe anual 2024.pdf",), "¿Qué ventas hay en ?"),
        ("ventas de 2024.pdf", ("2024.pdf",), "ventas de"),
        ('What is "« CATÁLOGO.md »" about', ("Catálogo.md",), 'What is " " about'),
        ("precios del catalogo.md", ("Catálogo.md",), "precios del"),
        ("precios: Cata\u0301logo.md", ("Catálogo.md",), "precios:"),
        ("production.xlsx, inventaire.csv", ("production.xlsx", "inventaire.csv"), "production.xlsx, inventaire.csv"),
        ("production.xlsx", ("production.xlsx",), "production.xlsx"),
        ("ventas (ver production.xlsx)", ("production.xlsx",), "ventas (ver )"),
        ("ventas (production.xlsx)", ("production.xlsx",), "ventas ( )"),
        ("ventas de acta(2).docx", ("acta(2).docx",), "ventas de"),
        ("ventas de docs/production.xlsx", ("production.xlsx",), "ventas de docs/"),
        ("de 2024.pdf a informe anual 2024.pdf", ("2024.pdf", "Informe anual 2024.pdf"), "de a"),
        ("production.xlsx y otra vez production.xlsx: ventas", ("production.xlsx",), "y otra vez : ventas"),
    ],
)
def test_named_files_are_found_and_taken_out_of_the_words(question: str, files: tuple[str, ...], rest: str) -> None:
    """R4.5 with spaces, in quotes, in any case, with accents or without."""
    found, missing, text = choose(question)
    assert (found, missing) == (files, ())
    assert text == rest


@pytest.mark.parametrize(
    ("question", "missing", "rest"),
    [
        ("¿Qué dice nóminas.pdf?", ("nóminas.pdf",), "¿Qué dice nóminas.pdf?"),
        ("¿Qué dice «nóminas de marzo.pdf»?", ("nóminas de marzo.pdf",), "¿Qué dice nóminas de marzo.pdf?"),
    ],
)
def test_a_file_that_is_not_there_stays_a_word(question: str, missing: tuple[str, ...], rest: str) -> None:
    """R4.5 in quotes too: as a phrase it would hide every document."""
    assert choose(question) == ((), missing, rest)


@pytest.mark.parametrize(
    "question",
    [
        "¿Cuánto costó el horno?",
        "La versión 2.5 del horno",
        "Escriba a ventas@dorada.example o vaya a dorada.com",
        "El formato .pdf",
        "node.js y la sección 3.a",
        "",
    ],
)
def test_a_question_without_a_file_names_none(question: str) -> None:
    assert candidate_names(question) == []


@given(st.text(alphabet=st.sampled_from('ab .,«»"“”pdf?\n(é\0'), max_size=80))
def test_any_text_can_be_looked_through(question: str) -> None:
    """Security 10: no more names than can be looked up, and nothing is lost but names."""
    candidates = candidate_names(question)
    assert len(candidates) <= MOST_NAMES
    named = choose_named(candidates, [names[0] for names in candidates])
    assert len(named.files) <= len(candidates)
    assert set(named.without(question)) <= set(question) | {" "}


def test_many_names_are_bounded() -> None:
    """Security 10."""
    question = " ".join(f"palabra{number} otra archivo{number}.pdf" for number in range(500))
    assert len(candidate_names(question)) == MOST_NAMES


def test_each_file_comes_first_once() -> None:
    """R8.7"""
    one, two = make_document(filename="a.md"), make_document(filename="b.md")
    hits = [make_hit(document=one, score=score / 10) for score in (9, 8, 7)] + [make_hit(document=two, score=0.1)]
    assert each_file_first(hits, ["a.md", "b.md"]) == [hits[0], hits[3], hits[1], hits[2]]
    assert each_file_first(hits, ["a.md"]) == hits
    assert each_file_first(hits, ["a.md", "c.md"]) == hits

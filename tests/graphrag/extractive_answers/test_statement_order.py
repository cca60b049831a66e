"""In which order statements read well."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.extractive_answers.composition import arrange
from graphrag.extractive_answers.statements import Excerpt, ExtractedStatement, opened, points_back

TEXT = (
    "El puente se cerró en mayo. La riada dañó dos pilares. Esto obligó a desviar el tráfico. "
    "El desvío añadió doce kilómetros. La obra acabó en otoño.\n"
)
SENTENCES = [f"{text.strip()}." for text in TEXT.split(".") if text.strip()]
BRIDGE = Excerpt(1, "Puente", TEXT, "es")
OTHER = Excerpt(2, "Presupuesto", "La obra costó mucho dinero. El seguro pagó la mitad.", "es")


def statement(text: str, number: int = 1, *, language: str = "es", is_row: bool = False) -> ExtractedStatement:
    return ExtractedStatement(text, number, language, 1.0, is_row)


def order(*statements: ExtractedStatement) -> list[str]:
    return [each.text for each in arrange(statements, [BRIDGE, OTHER])]


def test_the_best_is_first_and_its_document_goes_on() -> None:
    """R8.8 The others of a document as it has them, whatever their scores."""
    best, late, early = (statement(SENTENCES[index]) for index in (1, 4, 0))
    assert order(best, late, early) == [SENTENCES[1], SENTENCES[0], SENTENCES[4]]


def test_documents_are_not_mixed() -> None:
    """R8.7"""
    other = statement("La obra costó mucho dinero.", 2)
    assert order(statement(SENTENCES[4]), other, statement(SENTENCES[3])) == [SENTENCES[4], SENTENCES[3], other.text]


def test_what_points_back_follows_what_it_points_to() -> None:
    """R8.8 «Esto obligó…» is not understood alone."""
    assert order(statement(SENTENCES[0]), statement(SENTENCES[2])) == [SENTENCES[0], SENTENCES[1], SENTENCES[2]]


def test_what_answers_is_said_at_once() -> None:
    """R8.8 Nothing is put before the first."""
    assert order(statement(SENTENCES[2])) == [SENTENCES[2]]


def test_a_paragraph_before_is_not_pointed_back_to() -> None:
    """R8.8 Nor is a heading."""
    excerpt = Excerpt(1, "Puente", "# Riada\n\nEsto obligó a desviar el tráfico.\n\nEl puente abrió.", "es")
    given = [statement("El puente abrió."), statement("Esto obligó a desviar el tráfico.")]
    assert [each.text for each in arrange(given, [excerpt])] == [each.text for each in given]


def test_what_another_language_says_too_is_said_once() -> None:
    """R8.8 The same numbers and dates of the same names."""
    spanish = statement("El 3 de mayo de 2025 Brisalba pagó 1.250 euros.")
    french = statement("Le 3 mai 2025, Brisalba a payé 1 250 euros.", 2, language="fr")
    assert order(spanish, french) == [spanish.text]
    other = statement("Le 3 mai 2025, Brisalba a payé 1 300 euros.", 2, language="fr")
    assert order(spanish, other) == [spanish.text, other.text]


def test_rows_stay_as_they_are() -> None:
    """R8.6 What is late is listed with the open ones first."""
    rows = [statement(text, is_row=True) for text in ("Pedido: E-2", "Pedido: E-1")]
    assert order(*rows) == ["Pedido: E-2", "Pedido: E-1"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fuite du joint.", "Fuite du joint."),
        ("élargir la route.", "Élargir la route."),
        ("iPhone prices fell.", "iPhone prices fell."),
    ],
)
def test_an_item_of_a_list_reads_as_a_sentence(text: str, shown: str) -> None:
    """R8.9 In capitals, unless it begins with a name that has none."""
    assert opened(text) == shown


@pytest.mark.parametrize("text", [
    "Por eso, abrió.", "Sin embargo, cerró.", "Eso provocó daños.", "Cela a duré.", "C'est pourquoi il ferme.",
    "Elle compte 12 000 livres.", "However, it closed.", "It was closed.", "As a result, it closed.",
])  # fmt: skip
def test_what_points_back(text: str) -> None:
    """R8.8 In three languages."""
    assert points_back(text)


@pytest.mark.parametrize(
    "text", ["El puente cerró.", "Estación cerrada.", "Ellison llegó.", "Le pont a fermé.", "Itinerary: Leeds."]
)
def test_what_stands_alone(text: str) -> None:
    """R8.8"""
    assert not points_back(text)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5))
def test_nothing_is_lost_or_told_twice(texts: list[str]) -> None:
    """R8.8 The first stays first; what is added is of the document."""
    arranged = order(*map(statement, texts))
    assert arranged[0] == texts[0]
    assert set(texts) <= set(arranged) <= set(SENTENCES)
    assert len(arranged) == len(set(arranged))

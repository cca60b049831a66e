"""Keywords: the document's own phrases."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphrag.ingestion.enrichment import MOST, keywords
from graphrag.models import Heading, ParsedText

WORDS = "horno Hornos plan de acción la l' 2024 H2 ISO 9001 à jour . \n 日本語".split(" ")
SPANISH = """El plan de acción del horno H2 se aprobó el martes. El horno H2 se había parado tres veces en marzo.
El plan de acción prevé una revisión del compresor, y otra revisión del compresor en mayo. Hay 12 hornos H2."""
FRENCH = """La mise à jour du logiciel a échoué. L'équipe a annoncé une mise à jour. Le chef d'équipe relance la mise
à jour. Un chef d'équipe est venu. Le groupe froid, le groupe froid encore, a tenu."""
ENGLISH = """The line of credit was renewed. Our bank wants a new line of credit. Cold rooms failed: two cold rooms and
one cold room of the Leeds warehouse, certified ISO 9001. The ISO 9001 audit came on Monday."""


def of(text: str, language: str) -> tuple[str, ...]:
    return keywords(ParsedText(text, "text/plain"), language)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        (SPANISH, "es", ["plan de acción", "horno H2", "revisión del compresor"]),
        (FRENCH, "fr", ["mise à jour", "chef d'équipe", "groupe froid"]),
        (ENGLISH, "en", ["line of credit", "cold rooms", "ISO 9001"]),
    ],
    ids=["es", "fr", "en"],
)
def test_phrases_are_joined_by_the_small_words_of_their_language(text: str, language: str, expected: list[str]) -> None:
    """R1.3: what comes more than once comes first, singular or plural."""
    assert set(of(text, language)[:3]) == set(expected)


def test_no_keyword_repeats_another() -> None:
    """R1.3: «horno» is in «horno H2»."""
    found = [set(word.lower().split()) for word in of(SPANISH, "es")]
    assert not [one for one in found for other in found if one is not other and one <= other]


def test_what_stands_in_a_heading_counts_more() -> None:
    """R1.3"""
    text = "Humedad\n\nLa presión, la presión, la presión. La humedad."
    plain, headed = of(text, "es"), keywords(ParsedText(text, "text/plain", (Heading(1, "Humedad", 0),)), "es")
    assert (plain[0], headed[0]) == ("presión", "humedad")


@pytest.mark.parametrize(
    "text", ["12 34,5 2024", "2024-01-01\n2024-01-02", "de la que los", "lunes, martes; enero", "—", ""]
)
def test_a_text_of_numbers_and_small_words_has_none(text: str) -> None:
    """R1.3"""
    assert of(text, "es") == ()


def test_addresses_and_tags_are_none() -> None:
    """R1.3"""
    text = 'horno <a href="https://example.org/horno-viejo">roto</a> https://example.org/foro www.example.org/foro'
    assert of(text, "es") == ("horno", "roto")


@example("A0 0000 A00 0000", "es")
@given(
    st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)),
    st.sampled_from(["es", "fr", "en", "de", "und", "xx"]),
)
def test_keywords_are_phrases_of_the_text(text: str, language: str) -> None:
    """R1.3: at most ten, each once, with a letter, as the text writes them but for a first capital; always the same."""
    found = of(text, language)
    flat = re.sub(r"\s", " ", text)
    assert len(found) <= MOST
    assert len({word.lower() for word in found}) == len(found)
    assert all(any(map(str.isalpha, word)) for word in found)
    assert all(word in flat or word[1:] in flat for word in found)
    assert of(text, language) == found

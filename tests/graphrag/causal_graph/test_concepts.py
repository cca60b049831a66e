"""When two causes or effects are the same thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.concepts import concept_key, concept_words, similarity

WORDS = st.lists(
    st.sampled_from("presion air compresor C3 C2 A-2517 Lindazo cay caid pressur lot 2025 x".split()), max_size=6
)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("es", "La avería del compresor", "las averías de los compresores"),
        ("es", "LA AVERIA DEL COMPRESOR", "la avería del compresor"),
        ("fr", "L'arrêt de la chaudière", "les arrêts des chaudières"),
        ("en", "The delayed shipments", "delayed shipment"),
    ],
)
def test_forms_of_one_thing_have_one_key(language: str, one: str, other: str) -> None:
    """R7.1: case, accents, articles and endings do not count."""
    assert concept_key(one, language) == concept_key(other, language) != ""


def test_names_and_codes_stay_whole() -> None:
    """R7.1: a stem of a name is no name."""
    words = concept_words("la retirada del lote A-2517 pedido por Lindazo al compresor C3", "es")
    assert {"A-2517", "Lindazo", "C3"} <= set(words)


def test_order_is_kept() -> None:
    """R7.1."""
    assert concept_words("humo en la cocina", "es") == tuple(reversed(concept_words("cocina con humo", "es")))


def test_function_words_alone_are_kept() -> None:
    """R7.1: a cause is never nothing; marks alone are."""
    assert concept_key("esto", "es") == "esto"
    assert concept_words("…", "es") == ()


def of(text: str, language: str) -> tuple[str, ...]:
    return concept_words(text, language)


def test_restated_in_one_language() -> None:
    """R7.1: a clause and the noun that takes it up."""
    same = similarity(of("la presión de aire cayó", "es"), of("la caída de la presión del aire", "es"))
    other = similarity(of("la presión de aire cayó", "es"), of("la subida del precio del trigo", "es"))
    assert same > 0.7 > 0.2 > other


@pytest.mark.parametrize(
    ("one", "language", "other", "other_language"),
    [
        ("la presión del aire", "es", "the air pressure", "en"),
        ("el compresor C3", "es", "le compresseur C3", "fr"),
        ("la pression d'air", "fr", "the air pressure", "en"),
        ("la producción", "es", "la production", "fr"),
    ],
)
def test_restated_in_another_language(one: str, language: str, other: str, other_language: str) -> None:
    """R7.1: codes, names and cognates join languages."""
    assert similarity(of(one, language), of(other, other_language)) > 0.5


def test_another_code_is_another_thing() -> None:
    """R7.1: codes count more than the words beside them."""
    c3, c2 = of("avería del compresor C3", "es"), of("avería del compresor C2", "es")
    assert similarity(c3, c2) < similarity(c3, of("compresor C3 averiado", "es"))
    assert similarity(of("el horno H1", "es"), of("el horno H2", "es")) < 0.5


def test_one_common_word_is_no_restatement() -> None:
    """R7.1: «la retirada» of what?"""
    assert similarity(of("la retirada", "es"), of("la retirada del lote de galletas", "es")) < 0.6


@given(WORDS, WORDS)
def test_similarity_is_symmetric_and_in_range(one: list[str], other: list[str]) -> None:
    """R7.1."""
    assert similarity(one, other) == pytest.approx(similarity(other, one))
    assert 0 <= similarity(one, other) <= 1


@given(st.text(min_size=1), st.sampled_from(["es", "fr", "en"]))
def test_equal_concepts_are_the_same(text: str, language: str) -> None:
    """R7.1: 1 for equal ones, 0 for none."""
    words = concept_words(text, language)
    assert similarity(words, words) == (pytest.approx(1.0) if words else 0.0)
    assert concept_key(text, language) == " ".join(concept_key(text, language).split(" "))

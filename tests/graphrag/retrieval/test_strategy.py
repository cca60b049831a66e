"""Which search suits a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.retrieval.hybrid import choose_strategy, find_synonyms, joined_words, quoted_phrases

LONG = {
    "es": "explica cómo el deterioro gradual del equipo afecta la calidad final del producto durante el invierno",
    "fr": "décris comment la lente dégradation des vieilles machines nuit finalement à la qualité du pain en hiver",
    "en": "describe how the slow decay of ageing equipment eventually harms product quality during long winter months",
}


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("A-2517", "es"),
        ("lote A-2517", "es"),
        ("retirada lote A-2517", "es"),
        ("almendra amarga", "es"),
        ("panne du four", "fr"),
        ("butter delivery", "en"),
        ("«plus de polivalencia»", "es"),
        ("¿Qué es el «plus de polivalencia»?", "es"),
        ("Que dit le contrat de « force majeure » ?", "fr"),
        ('What does "best before" mean in the contract?', "en"),
    ],
)
@pytest.mark.parametrize("strong", [True, False])
def test_quoted_terms_and_short_keywords_are_searched_by_their_words(
    question: str, language: str, strong: bool
) -> None:
    """R4.4"""
    assert choose_strategy(question, language, model_is_strong=strong)[0] == "fulltext"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("¿Qué le pasó al horno?", "es"),
        ("que paso con el horno", "es"),
        ("¿Almendra amarga?", "es"),
        ("Pourquoi le four", "fr"),
        ("why butter late", "en"),
        ("¿Cuánto cobra de más al mes quien está habilitado en varias líneas?", "es"),
        ("retirada lote galletas almendra", "es"),
        ("", "es"),
    ],
)
def test_a_question_is_searched_both_ways(question: str, language: str) -> None:
    """R4.4"""
    assert choose_strategy(question, language, model_is_strong=True)[0] == "hybrid"


@pytest.mark.parametrize("language", LONG)
def test_a_long_question_about_meaning_goes_to_vectors_that_can_be_trusted(language: str) -> None:
    """R4.4, R10.5 with weak vectors it would find less than both legs together."""
    assert choose_strategy(LONG[language], language, model_is_strong=True)[0] == "semantic"
    assert choose_strategy(LONG[language], language, model_is_strong=False)[0] == "hybrid"


@pytest.mark.parametrize("addition", [" en la línea L4", " en 2025", " según Lidia Forcén"])
def test_names_and_numbers_need_their_words(addition: str) -> None:
    """R4.4 not purely semantic."""
    assert choose_strategy(LONG["es"] + addition, "es", model_is_strong=True)[0] == "hybrid"


@given(question=st.text(max_size=80), language=st.sampled_from(["es", "fr", "en", "und"]))
def test_any_text_has_a_strategy_and_weak_vectors_are_never_alone(question: str, language: str) -> None:
    """R4.4, security 10."""
    assert choose_strategy(question, language, model_is_strong=False)[0] in {"fulltext", "hybrid"}


def test_phrases_stand_in_any_quotes() -> None:
    """R4.3"""
    text = """the "first one", « la deuxième », “el tercero”, 'none', "x" and "half"""
    assert quoted_phrases(text) == ["first one", "la deuxième", "el tercero"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Was INV/2025/0042 paid on 12/03/2026?", ["INV/2025/0042", "12/03/2026"]),
        ("¿Quién escribió desde ana.lopez@example.org?", ["ana.lopez@example.org"]),
        ("Depuis quand la version v2.3.1 est-elle installée ?", ["v2.3.1"]),
        ("How much is E-108, or 12.000 in all?", []),
    ],
)
def test_words_joined_by_signs_are_searched_for_as_written(text: str, expected: list[str]) -> None:
    """R4.3"""
    assert joined_words(text) == expected


def test_synonyms_are_searched_for_in_every_language() -> None:
    """R4.3 With the number of the word that they stand for."""
    found = find_synonyms(["pedido", "E-108"], "es")
    assert {(each.language, each.word) for each in found} >= {("fr", "commande"), ("en", "order")}
    assert {each.number for each in found} == {0}

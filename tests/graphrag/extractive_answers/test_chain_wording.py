"""A causal chain in the documents' own words."""

import pytest

from graphrag.extractive_answers.chain_wording import word_chain
from graphrag.extractive_answers.statements import Chain, ChainLink, Excerpt, ExtractedStatement
from graphrag.models import Direction

SEAL = "El retén del eje estaba gastado y por eso el compresor perdió presión."
VALVE = "La falta de presión dejó abierta la válvula."
BISCUITS = "Las galletas salieron crudas."
TEXT = f"# Diario\n\n1. {SEAL}\n2. {VALVE}\n\n{BISCUITS} Nadie lo vio."
EXCERPT = Excerpt(1, "Diario", TEXT, "es", start_char=100)


def link(sentence: str) -> ChainLink:
    start = TEXT.index(sentence)
    (place,) = [index for index, span in enumerate(EXCERPT.sentences) if span.start <= start < span.end]
    return ChainLink(1, place, place)


def told(*sentences: str, language: str = "es", direction: Direction | None = "effects") -> list[str]:
    chain = Chain("", 0.9, tuple(map(link, sentences)))
    worded = word_chain([chain], [], [EXCERPT], language=language, direction=direction, is_answered=False)
    return [statement.text for statement in worded]


def test_effects_are_told_from_cause_to_effect() -> None:
    """R7.2 A link that names its cause needs no word of ours; a number of a list is not said."""
    assert told(SEAL, VALVE) == [SEAL, VALVE]


def test_of_what_comes_closest_only_the_best_finds_a_chain() -> None:
    """R7.2 A doubtful chain does not answer because one of the passages that come closest states its link."""
    chain = Chain("", 0.4, (link(SEAL),))
    best, other = (ExtractedStatement(text, 1, "es", 1.0) for text in (BISCUITS, SEAL))
    assert word_chain([chain], [best, other], [EXCERPT], language="es", is_answered=False) == []
    assert word_chain([chain], [other, best], [EXCERPT], language="es", is_answered=False)


@pytest.mark.parametrize("direction", ["causes", None])
def test_a_cause_is_told_before_what_led_to_it(direction: Direction | None) -> None:
    """R7.2 The link that answers comes first."""
    assert told(SEAL, VALVE, direction=direction) == [VALVE, f"Lo que llevó a ello: {SEAL}"]


@pytest.mark.parametrize(
    ("language", "opening"), [("es", "Por eso: "), ("fr", "C'est pourquoi : "), ("en", "As a result: ")]
)
def test_a_link_that_names_no_cause_is_joined(language: str, opening: str) -> None:
    """R7.2 In the language of the question; the quote stays as it is."""
    assert told(VALVE, BISCUITS, language=language) == [VALVE, f"{opening}{BISCUITS}"]


def test_a_sentence_that_states_two_links_is_told_once() -> None:
    """R7.2"""
    assert told(SEAL, SEAL, VALVE) == [SEAL, VALVE]


@pytest.mark.parametrize(("number", "score"), [(1, 0.2), (2, 0.9)])
def test_a_chain_is_not_told_where_something_else_answers(number: int, score: float) -> None:
    """R7.2 Unless it is sure, and of the same document."""
    statement = ExtractedStatement("Nadie lo vio.", number, "es", 1.0)
    chain = Chain("", score, (link(SEAL), link(VALVE)))
    worded = word_chain([chain], [statement], [EXCERPT], language="es")
    assert worded == []


def test_a_chain_is_told_where_its_link_is_the_best_statement() -> None:
    """R7.2 Though not sure by itself: two ways led to it."""
    statement = ExtractedStatement(VALVE, 1, "es", 1.0)
    chain = Chain("", 0.2, (link(SEAL), link(VALVE)))
    worded = word_chain([chain], [statement], [EXCERPT], language="es")
    assert [each.text for each in worded] == [VALVE, f"Lo que llevó a ello: {SEAL}"]


@pytest.mark.parametrize(("direction", "is_told"), [("effects", False), ("causes", True), (None, True)])
def test_the_direction_says_which_link_answers(direction: Direction | None, is_told: bool) -> None:
    """R7.2 The effect is in the first link, the cause in the last one."""
    statement = ExtractedStatement(VALVE, 1, "es", 1.0)
    chain = Chain("", 0.2, (link(SEAL), link(VALVE)))
    worded = word_chain([chain], [statement], [EXCERPT], language="es", direction=direction)
    assert bool(worded) is is_told

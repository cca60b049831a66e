"""Which questions go on with a conversation, and what is searched for then."""

import pytest

from graphrag.query_transformation.follow_ups import (
    FIRST,
    FOLLOW_UP,
    MOST_TOPIC_WORDS,
    STANDALONE,
    Exchange,
    topic_words,
)
from graphrag.query_transformation.phrases import read_question_grammar
from graphrag.query_transformation.transformation import transform

CONVERSATIONS = {
    "es": [
        ("¿Cuánto costó la reparación del puente de Arenal?", ""),
        ("¿y quién la pagó?", "quién pagó la reparación del puente de Arenal"),
        ("¿y en 2024?", "quién pagó la reparación del puente de Arenal en 2024"),
        ("¿por qué?", "por qué pagó la reparación del puente de Arenal en 2024"),
        ("¿Quién dirige la biblioteca municipal?", ""),
        ("¿Cuándo se inauguró?", "Cuándo se inauguró la biblioteca municipal"),
    ],
    "fr": [
        ("Qui a écrit le rapport sur la fusion Opale ?", ""),
        ("Quand a-t-il été envoyé ?", "Quand le rapport sur la fusion Opale a été envoyé"),
        ("et pourquoi ?", "pourquoi le rapport sur la fusion Opale a été envoyé"),
        ("Combien de livres compte la bibliothèque de Tours ?", ""),
        ("Et celle de Niort ?", "Combien de livres compte la bibliothèque de Niort"),
    ],
    "en": [
        ("What does the Silver plan cost?", ""),
        ("what about the Gold plan?", "What does the Gold plan cost"),
        ("who approved it?", "who approved the Gold plan"),
        ("When does it expire?", "When does the Gold plan expire"),
        ("Who chairs the audit committee?", ""),
        ("Is it true that the committee never met?", ""),
    ],
}


@pytest.mark.parametrize("language", CONVERSATIONS)
def test_a_follow_up_is_told_with_the_topic(language: str) -> None:
    """R6.3 The first message raw; what leaves its subject out, with it; what names a subject of its own, raw."""
    earlier: list[Exchange] = []
    for question, told in CONVERSATIONS[language]:
        query = transform(question, earlier)
        assert query.search_text == told
        assert query.searches[0] == (told or question)
        assert (query.original, query.language) == (question, language)
        assert query.strategy == (FIRST if not earlier else FOLLOW_UP if told else STANDALONE)
        earlier.append(Exchange(question))


@pytest.mark.parametrize(
    ("before", "question", "named"),
    [
        ("¿Cuánto costó el tejado de la escuela Miró?", "¿y el segundo?", "Miró"),
        ("What did Ana Ruiz say about the roof?", "what about the second one?", "Ana"),
        ("Que dit le bail de Lyon ?", "et le dernier ?", "Lyon"),
        ("boiler pressure Harlow", "why?", "Harlow"),
    ],
)
def test_what_no_rule_resolves_is_searched_with_the_topics_words(before: str, question: str, named: str) -> None:
    """R6.3 Topic accumulation."""
    query = transform(question, [Exchange(before)])
    assert query.strategy == FOLLOW_UP
    assert named in query.standalone


@pytest.mark.parametrize(
    "question",
    [
        "¿Quién dirige Acme?",
        "¿Cuándo se firmó el contrato de Lugo?",
        "Qui a signé le rapport Azur ?",
        "When did the committee publish its report?",
        "What is the notice period in the Sutter contract?",
        "Is it possible to cancel the gym membership?",
        "horno H2",
        "presión de la caldera",
    ],
)
def test_a_question_with_a_subject_of_its_own_is_searched_raw(question: str) -> None:
    """R6.3 The topic before would lead it astray."""
    query = transform(question, [Exchange("¿Cuánto costó la reparación del puente de Arenal?")])
    assert (query.search_text, query.strategy) == ("", STANDALONE)


def test_the_intent_is_that_of_the_whole_question() -> None:
    """R6.3 «¿por qué?» asks for the cause of what was spoken of."""
    query = transform("¿y por qué?", [Exchange("¿Cuándo se cerró el puente de Arenal?")])
    assert (query.intent, query.direction, query.entities) == ("causal", "causes", ("Arenal",))


@pytest.mark.parametrize(
    ("question", "language"), [("why?", "en"), ("¿y H2?", "es"), ("et pourquoi ?", "fr"), ("2024?", "es")]
)
def test_a_few_words_are_in_the_conversations_language(question: str, language: str) -> None:
    """R6.2 Unless they are words of another."""
    assert transform(question, [Exchange("¿Quién firmó el acta del horno?")]).language == language


def test_the_topic_is_bounded_and_begins_with_what_was_last() -> None:
    """R6.3 Names first, then words, then the titles that were cited."""
    earlier = [
        Exchange("¿Qué dice el contrato de Zamora?", cited=("Contrato antiguo",)),
        Exchange("¿Cuánto costó el puente de Arenal?", cited=("Informe del puente",)),
    ]
    assert topic_words(earlier, read_question_grammar("es"))[:5] == ["Arenal", "costó", "puente", "Informe", "Zamora"]
    assert (
        len(topic_words([Exchange(" ".join(f"palabra{n}" for n in range(50)))], read_question_grammar("es")))
        == MOST_TOPIC_WORDS
    )

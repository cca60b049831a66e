"""Which questions go on with a conversation, and what is searched for then."""

import time

import pytest

from graphrag.query_transformation.follow_ups import (
    FIRST,
    FOLLOW_UP,
    MOST_TOPIC_WORDS,
    STANDALONE,
    Exchange,
)
from graphrag.query_transformation.transformation import transform

MOST_SECONDS = 2
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


def test_the_topic_is_bounded_and_names_what_was_cited() -> None:
    """R6.3 A question that names nothing is about what its answer cites."""
    query = transform("¿y el otro?", [Exchange("¿Qué costó 9.240 euros?", cited=("Puente de Arenal",))])
    assert "Puente de Arenal" in query.standalone
    long = Exchange(" ".join(f"palabra{n}" for n in range(200)))
    assert len(transform("explícamelo mejor", [long]).standalone.split()) <= MOST_TOPIC_WORDS + 2


@pytest.mark.parametrize(
    ("question", "answer", "follow_up", "told"),
    [
        (
            "¿Quién dirige la planta?",
            "**Teresa Abadía** — La dirige Teresa Abadía. [1]",
            "¿desde cuándo?",
            "desde cuándo Teresa Abadía dirige la planta",
        ),
        ("Who founded Sol Trust?", "Pilar Roca in 1988.", "where was she born?", "where was Pilar Roca born"),
        ("Qui a écrit la charte ?", "C'est Odile Prat.", "qui est-ce ?", "qui est-ce Odile Prat"),
        (
            "Pourquoi le pont a-t-il fermé ?",
            "À cause d'une fissure dans une pile.",
            "quand a-t-on découvert la fissure ?",
            "quand a-t-on découvert la fissure dans une pile",
        ),
        (
            "Which hotels do you recommend?",
            "- The Lake Hotel [1]\n- The Bellevue [2]",
            "how much is the second one?",
            "how much is The Bellevue (hotels do you recommend)",
        ),
    ],
)
def test_answers_are_spoken_of(question: str, answer: str, follow_up: str, told: str) -> None:
    """R6.3 Names, things and lists of the last answer are what a follow-up may go on with."""
    assert transform(follow_up, [Exchange(question, answer=answer)]).standalone == told


@pytest.mark.parametrize(
    ("question", "fragment", "told"),
    [
        ("¿Cuánto vendió Lugo en abril de 2024?", "¿y en mayo?", "Cuánto vendió Lugo en mayo de 2024"),
        ("¿Cuánto vendió Lugo en abril de 2024?", "¿y en 2025?", "Cuánto vendió Lugo en abril de 2025"),
        ("¿Cuánto vendió la tienda de Lugo?", "¿y la de Vigo?", "Cuánto vendió la tienda de Vigo"),
        ("Peut-on fumer sur la terrasse ?", "et dans le jardin ?", "Peut-on fumer dans le jardin"),
        ("Who won the 2019 race?", "and in 2020?", "Who won the 2020 race"),
        ("What does error E14 mean?", "and E15?", "What does error E15 mean"),
        ("How long is the warranty on the Kestrel mower?", "and at work?", None),
    ],
)
def test_a_fragment_takes_the_place_of_its_kind(question: str, fragment: str, told: str | None) -> None:
    """R6.3 A month for a month, a place for a place, a name for a name; what has no counterpart is added."""
    added = f"{question.rstrip(' ?')} at work"
    assert transform(fragment, [Exchange(question)]).standalone == (told or added)


def test_small_talk_is_no_topic() -> None:
    """R6.3 Thanks and greetings neither go on with a conversation nor interrupt one."""
    asked = [Exchange("Who designed the Skerry lighthouse?", answer="Robert Dunn."), Exchange("thanks a lot!")]
    assert "Skerry lighthouse" in transform("when was it built?", asked).standalone
    assert transform("muchas gracias", asked).strategy == STANDALONE
    assert transform("why?", [Exchange("hello")]).strategy == STANDALONE


def test_a_conversation_may_change_its_language() -> None:
    """R6.3 The question before is read in its own language."""
    before = Exchange("Who runs the Oslo office?", answer="Berit Lund runs it.")
    assert transform("¿desde cuándo?", [before]).standalone == "desde cuándo Berit Lund runs the Oslo office"


@pytest.mark.parametrize("text", ["a" * 200_000, "el segundo de los dos y " * 20_000, "¿y " * 50_000, "A1 " * 50_000])
def test_hostile_conversations_take_linear_time(text: str) -> None:
    """R6.2 Within 300 ms, whatever was asked and answered."""
    earlier = [Exchange(text, answer=text), Exchange("Who runs it?", answer=text)]
    started = time.thread_time()
    for question in (text, "¿y el segundo?", "why?", "and Toulouse?"):
        transform(question, earlier)
    assert time.thread_time() - started < MOST_SECONDS

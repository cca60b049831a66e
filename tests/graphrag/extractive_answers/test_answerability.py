"""Whether what answers best is told as an answer, as what comes closest to one, or not at all."""

import pytest

from graphrag.extractive_answers import extraction
from graphrag.extractive_answers.answerability import is_short_answer_sure, judge
from graphrag.extractive_answers.extraction import MAX_CLOSEST, ExtractedAnswer, extract_answer
from graphrag.extractive_answers.short_answers import AnswerKind
from graphrag.extractive_answers.statements import Excerpt

QUESTION = "¿Qué taller de Huesca atiende por la tarde?"
NEAR, ANSWERING = "El taller de Huesca reparó una bomba vieja.", "El taller Lidón de Huesca atiende por la tarde."


def extract(text: str, *, question: str = QUESTION, score: float = 0.5, number: int = 1) -> ExtractedAnswer:
    return extract_answer(question, [Excerpt(number, "Informe", text, "es", score=score)], language="es")


def test_the_surer_an_answer_the_more_of_it_is_told() -> None:
    """R8.5: of what is about other things, what is about the same things, and what answers, each is surer."""
    found = [extract(text) for text in ("Los patos migran en otoño.", NEAR, ANSWERING)]
    assert [each.outcome for each in found] == ["none", "closest", "answered"]
    assert [bool(each.statements) for each in found] == [False, True, True]
    probabilities = [each.probability for each in found]
    assert probabilities == sorted(probabilities)


def test_the_better_a_passage_was_judged_the_surer_is_its_answer() -> None:
    """R8.5."""
    by_score = [extract(NEAR, score=score).probability for score in (0.01, 0.22, 0.9)]
    assert by_score == sorted(set(by_score))


def test_what_comes_closest_is_marked_in_its_passage() -> None:
    """R8.5, R8.8 In bold, between the sentences beside it, each sentence once."""
    text = f"La feria abre en mayo. {NEAR} Nadie fue a verla. El puente se pintó de azul. Hubo lluvia toda la semana."
    found = extract(text)
    assert found.outcome == "closest"
    assert len(found.statements) <= MAX_CLOSEST
    first = found.statements[0].text
    assert f"**{NEAR}**" in first
    assert "Nadie fue a verla." in first
    told = " ".join(each.text.replace("**", "") for each in found.statements)
    assert all(told.count(sentence.strip(". ")) <= 1 for sentence in text.split(". "))


def test_without_the_reader_only_passages_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.5 Where its weights are not installed, nothing is known surely."""
    monkeypatch.setattr(extraction, "open_reader", lambda: None)
    found = extract(ANSWERING)
    assert found.outcome == "closest"
    assert ANSWERING in found.statements[0].text
    assert found.probability == 0


def test_a_short_answer_is_only_as_sure_as_its_sentence() -> None:
    """R8.5 The words of an unsure sentence, however well they fit, are no short answer."""
    told = [
        is_short_answer_sure(AnswerKind.PERSON, 0.95, sentence=sentence, is_across=False, is_row=False)
        for sentence in (0.3, 0.95)
    ]
    assert told == [False, True]


def test_an_impossible_answer_is_none() -> None:
    """R8.5."""
    assert [judge(probability) for probability in (0.0, 0.4, 1.0)] == ["none", "closest", "answered"]

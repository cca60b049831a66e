"""What one answer's figures are, by hand; and what they are not where there is nothing to measure."""

import asyncio
import gc
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar
from uuid import UUID

import pytest

from agent.evaluation.answer_metrics import (
    ANSWER_METRICS,
    AnswerJudge,
    GivenAnswer,
    count_statements,
    judge_answer,
    measure_answer,
    stated_in,
)
from agent.evaluation.judges import EstimatingJudge
from agent.messages import say
from agent.verification.checking import verify
from graphrag.errors import ProviderError
from graphrag.models import Passage
from tests.agent.verification.passages import make_passage

OVEN = "El horno H2 falló porque se rompió el retén de la puerta. La pieza costó 185 euros."
BRIDGE = "El puente de Arenal se cerró el 3 de mayo de 2024."
QUESTION = "¿Por qué falló el horno H2?"
REFUSAL = say("not_found", "es")


class Verdicts:
    """A judge of given verdicts, None for none; it keeps what it was asked."""

    suffix: ClassVar[str] = ""

    def __init__(self, faithfulness: float | None = None, relevance: float | None = None) -> None:
        self._values = faithfulness, relevance
        self.asked: list[str] = []

    async def faithfulness(self, statements: Sequence[str], passages: Sequence[Passage]) -> float:
        return self._told("faithfulness", self._values[0])

    async def relevance(self, answer: str, *, question: str, expected: str, passages: Sequence[Passage]) -> float:
        return self._told("relevance", self._values[1])

    def _told(self, name: str, value: float | None) -> float:
        self.asked.append(name)
        if value is None:
            raise ProviderError("no verdict")
        return value


def given(answer: str, *contents: str) -> GivenAnswer:
    passages = tuple(map(make_passage, contents))
    verification = verify(answer, passages)
    return GivenAnswer(verification, passages, answer == REFUSAL, "extractive", (), 12.0, 3.0)


def ids(answer: GivenAnswer) -> list[UUID]:
    return [passage.document.id for passage in answer.passages]


async def judged(
    answer: GivenAnswer, judge: AnswerJudge, *, expected: str = "", is_answerable: bool = True
) -> tuple[dict[str, float], tuple[str, ...]]:
    return await judge_answer(answer, judge, question=QUESTION, expected=expected, is_answerable=is_answerable)


def test_citations_are_counted_by_what_they_carry() -> None:
    """R10.3 precision of what is cited, recall of what is stated; a mark that carries nothing counts against it."""
    answer = given(
        "El horno H2 falló porque se rompió el retén de la puerta [1][2]. La pieza costó 815 euros [1].", OVEN, BRIDGE
    )
    metrics = measure_answer(answer, relevant=ids(answer)[:1])
    assert metrics == {
        "citation_precision": pytest.approx(1 / 3),
        "citation_recall": 1 / 2,
        "cited_relevant": 1.0,
        "conciseness": 1.0,
        "answered": 1.0,
    }
    assert sum(count_statements(answer.verification).values()) == 2
    assert measure_answer(answer, relevant=[UUID(int=9)])["cited_relevant"] == 0


def test_what_is_right_but_not_cited_is_no_recall() -> None:
    """R10.3 a passage that carries it unsaid is no citation; precision is not defined."""
    answer = given("El horno H2 falló porque se rompió el retén de la puerta.", OVEN)
    assert answer.verification.statements[0].citations[0].implied
    metrics = measure_answer(answer, relevant=ids(answer))
    assert metrics == {"citation_recall": 0.0, "cited_relevant": 0.0, "conciseness": 1.0, "answered": 1.0}


def test_wording_is_measured_by_its_length_and_its_short_answer() -> None:
    """R10.3 SQuAD's F1 of the bold text that opens the answer; from 35 words on an answer is too long."""
    short, long = (
        given("**815 euros** — La pieza costó 815 euros [1].", BRIDGE),
        given(f"{'muy ' * 70}caro [1].", BRIDGE),
    )
    assert measure_answer(short, relevant=ids(short), expected="Costó 815 euros.")["short_answer"] == pytest.approx(0.8)
    assert measure_answer(long, relevant=ids(long), expected="815 euros")["short_answer"] == 0.0
    assert measure_answer(long, relevant=ids(long))["conciseness"] == pytest.approx(35 / 71)


def test_refusals_are_right_or_wrong_by_the_case() -> None:
    """R10.3 a refusal states and cites nothing; of a question without an answer it is what is wanted."""
    refusal, answer = given(REFUSAL), given("Se rompió el retén de la puerta [1].", OVEN)
    assert measure_answer(refusal, relevant=()) == {"refused_rightly": 1.0}
    assert measure_answer(answer, relevant=())["refused_rightly"] == 0.0
    assert measure_answer(refusal, relevant=[UUID(int=1)]) == {"cited_relevant": 0.0, "answered": 0.0}


async def test_a_judge_is_asked_for_both_values() -> None:
    """R10.3 of an answer that states something to a question that has an answer."""
    judge = Verdicts(0.5, 0.75)
    metrics, unjudged = await judged(given("Se rompió el retén de la puerta [1].", OVEN), judge, expected="El retén.")
    assert (metrics, unjudged) == ({"faithfulness": 0.5, "answer_relevance": 0.75}, ())
    assert judge.asked == ["faithfulness", "relevance"]


@pytest.mark.parametrize("answer", [REFUSAL, "", " "], ids=["refusal", "empty", "blank"])
async def test_an_answer_that_says_nothing_needs_no_judge(answer: str) -> None:
    """R10.3 edge case: its faithfulness is not defined, its relevance 0, or not defined where nothing is relevant."""
    judge = Verdicts(1, 1)
    assert await judged(given(answer, OVEN), judge) == ({"answer_relevance": 0.0}, ())
    assert await judged(given(answer, OVEN), judge, is_answerable=False) == ({}, ())
    assert judge.asked == []


async def test_without_a_context_nothing_is_supported() -> None:
    """R10.3 edge case: what a model says of itself, without a passage; its relevance is judged all the same."""
    metrics, unjudged = await judged(given("El horno falló por una huelga."), Verdicts(1, 0.25))
    assert (metrics, unjudged) == ({"faithfulness": 0.0, "answer_relevance": 0.25}, ())


async def test_what_is_unjudged_is_no_zero() -> None:
    """R10.3 a judge that says nothing usable: the metric is not there, and counted as unjudged."""
    answer = given("Se rompió el retén de la puerta [1].", OVEN)
    assert await judged(answer, Verdicts(None, 1)) == ({"answer_relevance": 1.0}, ("faithfulness",))
    assert await judged(answer, Verdicts(1, None)) == ({"faithfulness": 1.0}, ("answer_relevance",))
    assert await judged(answer, Verdicts()) == ({}, ("faithfulness", "answer_relevance"))


async def test_a_run_that_is_stopped_asks_nothing_more() -> None:
    """R10.4, security 17: no second question of the judge is begun, and left."""

    class Stopped(Verdicts):
        async def faithfulness(self, statements: Sequence[str], passages: Sequence[Passage]) -> float:
            raise asyncio.CancelledError

    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        with pytest.raises(asyncio.CancelledError):
            await judged(given("Se rompió el retén de la puerta [1].", OVEN), Stopped())
        gc.collect()
    assert not [of for of in left if "never awaited" in str(of.message)]


def test_what_is_stated_is_without_marks_headings_and_greetings() -> None:
    """R10.3 what is not said of the documents is no statement."""
    answer = "¡Hola! Esto es lo que dicen:\n\n## Causas\n\nSe rompió el retén [1]. La pieza costó 185 euros [1]."
    assert stated_in(answer) == ("Se rompió el retén.", "La pieza costó 185 euros.")


async def test_an_estimate_bears_its_name() -> None:
    """R10.3 by words and meaning; under no metric's name of a judge, with an expected answer or without one."""
    right = given("El horno H2 se paró porque se rompió el retén de su puerta [1].", OVEN, BRIDGE)
    wrong = given("El puente se cerró el 8 de junio de 2021 [2].", OVEN, BRIDGE)
    for expected in ("", "Se rompió el retén de la puerta."):
        best, _ = await judged(right, EstimatingJudge(), expected=expected)
        worst, _ = await judged(wrong, EstimatingJudge(), expected=expected)
        assert set(best) == set(worst) == {"faithfulness_estimate", "answer_relevance_estimate"} <= set(ANSWER_METRICS)
        assert best["faithfulness_estimate"] == 1.0 > worst["faithfulness_estimate"]
        assert 1 >= best["answer_relevance_estimate"] > worst["answer_relevance_estimate"] + 0.2 >= 0.2


async def test_an_estimate_of_a_blank_context_is_zero() -> None:
    """R10.3 edge case: passages without a sentence support nothing."""
    answer = replace(given("Se rompió el retén de la puerta."), passages=(make_passage("  "),))
    metrics, _ = await judged(answer, EstimatingJudge())
    assert metrics["faithfulness_estimate"] == 0.0

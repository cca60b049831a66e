"""Questions with judged answers over the demo documents, asked as people ask them; no model is there."""

import re
import statistics
from collections.abc import Sequence

import pytest

from tests.benchmarks.judged import GOLDEN, Judged, ask, judge, read_cases
from tests.conftest import Server

# Of 160 questions; measured were .39, .31, .07, and 27 words of the answers.
LEAST_GOOD, LEAST_HELPFUL, MOST_WRONG, MOST_MEDIAN_WORDS = 0.37, 0.68, 0.09, 36


@pytest.fixture(scope="module")
def answers(demo_server: Server) -> list[Judged]:
    with demo_server.client() as client:
        return [judge(case, ask(client, case, "demo")) for case in read_cases(GOLDEN / "demo.jsonl")]


def of_kind(answers: Sequence[Judged], *kinds: str) -> list[Judged]:
    return [each for each in answers if each.case.kind in kinds]


def test_answers_are_as_good_as_they_were(answers: list[Judged]) -> None:
    """R8.1, R8.5 A good one holds what it must, not what it must not, and is no longer than is sensible; what is unsure
    is shown among the passages that come closest.
    """
    good = [each.case.id for each in answers if each.verdict == "good"]
    wrong = [each.case.id for each in answers if each.verdict == "wrong"]
    helpful = [each.case.id for each in answers if each.verdict in ("good", "acceptable")]
    assert len(good) / len(answers) >= LEAST_GOOD, good
    assert len(helpful) / len(answers) >= LEAST_HELPFUL, helpful
    assert len(wrong) / len(answers) <= MOST_WRONG, wrong
    assert statistics.median(each.words for each in answers if each.outcome == "answered") <= MOST_MEDIAN_WORDS


def test_small_talk_and_the_catalogue_are_answered(answers: list[Judged]) -> None:
    """R6.1."""
    assert [each.case.id for each in of_kind(answers, "about") if each.verdict != "good"] == []
    assert [each.case.id for each in of_kind(answers, "small_talk") if each.verdict in ("wrong", "refused")] == []


def test_questions_are_not_taken_for_small_talk(answers: list[Judged]) -> None:
    """R6.1 What is asked of the documents is searched for: it has sources, or says that nothing was found."""
    asked = of_kind(answers, "look_up", "list", "why", "yes_no", "compare", "define", "procedure", "unanswerable")
    assert [each.case.id for each in asked if each.outcome == "answered" and not re.search(r"\[\d", each.answer)] == []

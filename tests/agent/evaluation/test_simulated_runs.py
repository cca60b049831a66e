"""What is said of differences, tried on simulated runs where the truth is known."""

import pytest

from tests.benchmarks.significance import QUESTIONS, coverage, false_positives, power

RUNS = 1_000
FEW_RUNS = 200
KINDS = ("hit@10", "mrr@10", "ndcg@10", "faithfulness")


def test_equal_runs_are_seldom_told_apart() -> None:
    """R10.4 in 200 runs, up to three standard errors over the 5 % that are allowed."""
    assert max(false_positives(FEW_RUNS, QUESTIONS[0]).values()) <= 0.096


@pytest.mark.slow
@pytest.mark.parametrize("questions", QUESTIONS)
def test_equal_runs_are_told_apart_by_chance_alone(questions: int) -> None:
    """R10.4 in 1,000 runs, of each metric and of several corrected together; and the test does find things."""
    rates = false_positives(RUNS, questions)
    assert max(rates.values()) <= 0.06, rates
    assert rates["ndcg@10"] >= 0.03, rates


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    """R10.4 95 % of them; in 100 runs of four metrics, three standard errors of each less."""
    assert min(coverage(100, 100).values()) >= 0.95 - 0.066


@pytest.mark.slow
def test_as_many_questions_as_recommended_find_the_difference() -> None:
    """R10.4 a planted gain of .05; with 500 runs of each metric, two standard errors less of one alone."""
    found = {kind: power(500, kind=kind).found for kind in KINDS}
    assert sum(found.values()) / len(found) >= 0.80, found
    assert min(found.values()) >= 0.80 - 0.036, found

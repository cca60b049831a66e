"""Effects of two runs: against scipy's own tests, by hand, and at the edges."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from agent.evaluation.significance import Effect, Verdict, holm, paired

UNKNOWN = Effect(None, None, None, 1.0, 0, None, 0.05, None)


def of_wins(wins: int, losses: int, ties: int = 0) -> Effect:
    before = [0.0] * wins + [1.0] * (losses + ties)
    after = [1.0] * wins + [0.0] * losses + [1.0] * ties
    return paired(before, after)


@pytest.mark.parametrize(("wins", "losses"), [(6, 0), (5, 0), (9, 2), (30, 12), (60, 61), (200, 150)])
def test_hits_won_and_lost_are_judged_as_by_the_sign_test(wins: int, losses: int) -> None:
    """R10.4 McNemar's exact test says the same of hits; ties do not count in it."""
    exact = stats.binomtest(wins, wins + losses).pvalue
    for ties in (0, 40):
        assert of_wins(wins, losses, ties).p_value == pytest.approx(exact, abs=0.02 if wins + losses > 12 else 1e-12)


def test_graded_differences_are_judged_as_by_scipy() -> None:
    """R10.4 all flips of few differences; very many of many."""
    random = np.random.default_rng(3)
    for size, tolerance in ((10, 1e-12), (80, 0.02)):
        before, after = random.random(size), random.random(size) + 0.1
        same = stats.permutation_test(
            (after - before,), np.mean, permutation_type="samples", n_resamples=20_000, rng=random
        )
        assert paired(list(before), list(after)).p_value == pytest.approx(same.pvalue, abs=tolerance)


def test_interval_is_that_of_the_mean() -> None:
    """R10.4 as Student's, where the values are many and even."""
    random = np.random.default_rng(5)
    before = random.random(400)
    after = before + random.normal(0.03, 0.2, 400)
    differences = after - before
    expected = stats.t.interval(0.95, 399, loc=differences.mean(), scale=stats.sem(differences))
    effect = paired(list(before), list(after))
    assert effect.difference == pytest.approx(differences.mean())
    assert (effect.low, effect.high) == pytest.approx(expected, abs=0.002)


def test_the_same_values_have_the_same_effect() -> None:
    """R10.4 whatever order the questions come in; and p does not depend on which run is called the first."""
    random = np.random.default_rng(7)
    before, after = random.random(60), random.random(60)
    order = random.permutation(60)
    effect = paired(list(before), list(after))
    assert effect == paired(list(before), list(after))
    assert paired(list(before[order]), list(after[order])).p_value == effect.p_value
    assert paired(list(after), list(before)).p_value == effect.p_value


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], {"difference": None, "n": 0, "needed_for_smallest": None}),
        ([0.0], [1.0], {"difference": 1.0, "n": 1, "p_value": 1.0, "low": None, "needed": None}),
        ([0.0, 0.0], [1.0, 0.5], {"difference": 0.75, "n": 2, "p_value": 0.5, "low": 0.5, "high": 1.0}),
        ([0.5] * 40, [0.5] * 40, {"difference": 0.0, "p_value": 1.0, "low": None, "high": None, "needed": None}),
        ([0.5] * 5, [0.75] * 5, {"difference": 0.25, "p_value": 1 / 16, "low": None, "needed": 10}),
        ([0.1] * 40, [0.2] * 40, {"difference": pytest.approx(0.1), "p_value": 1 / 5000, "low": None, "needed": 6}),
    ],
)
def test_edges_of_pairs(before: list[float], after: list[float], expected: dict[str, Any]) -> None:
    """R10.2, R10.4 none, one, two; all alike; all moved by the same."""
    effect = paired(before, after)
    assert {name: getattr(effect, name) for name in expected} == expected


def test_one_question_that_moves_among_many_is_nothing() -> None:
    """R10.4 edge: its interval begins where there is no difference."""
    effect = of_wins(1, 0, 49)
    assert (effect.p_value, effect.low) == (1.0, 0.0)
    assert effect.high == pytest.approx(0.1, abs=0.05)
    assert effect.verdict() == "too_few_questions"


def test_pairs_are_of_the_same_questions() -> None:
    """R10.4"""
    with pytest.raises(ValueError, match="zip"):
        paired([1.0, 0.0], [1.0])


def test_needed_questions_are_those_of_the_tables() -> None:
    """R10.4 Connor 1987: 20 % of the questions moved, 5 points more of them won: 626 without its correction."""
    pairs = of_wins(125, 75, 800)
    assert pairs.difference == pytest.approx(0.05)
    assert pairs.needed == pytest.approx((626**0.5 + (626 + 80) ** 0.5) ** 2 / 4, abs=2)
    assert pairs.needed == pytest.approx(pairs.needed_for_smallest or 0, abs=1)


def test_a_smaller_effect_needs_more() -> None:
    """R10.4"""
    before, after = [0.0, 1.0, 0.5, 0.2] * 20, [0.1, 0.9, 0.8, 0.3] * 20
    needed = [paired(before, after, smallest=smallest).needed_for_smallest or 0 for smallest in (0.2, 0.1, 0.05, 0.01)]
    assert needed == sorted(needed)
    assert needed[-1] > 20 * needed[0]


@pytest.mark.parametrize(
    ("effect", "corrected", "verdict"),
    [
        (of_wins(40, 10), None, "better"),
        (of_wins(10, 40), None, "worse"),
        (of_wins(40, 10), 0.06, "too_few_questions"),
        (of_wins(10, 9, 30), None, "too_few_questions"),
        (of_wins(10, 9, 981), None, "no_difference_shown"),
        (paired([0.5] * 40, [0.5] * 40), None, "too_few_questions"),
        (paired([0.5] * 400, [0.5] * 400), None, "no_difference_shown"),
        (UNKNOWN, None, "too_few_questions"),
    ],
)
def test_verdicts_are_those_of_p_and_interval(effect: Effect, corrected: float | None, verdict: Verdict) -> None:
    """R10.4 without significance it counts whether the interval leaves room for the smallest effect of interest."""
    assert effect.verdict(corrected) == verdict


def test_several_metrics_are_corrected_together() -> None:
    """R10.4 Holm's procedure by hand; ties and the order of the names are kept."""
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert list(holm({"b": 0.5, "a": 0.1})) == ["b", "a"]
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}

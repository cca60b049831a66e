"""The estimate of faithfulness against a person's labels, on the half that nothing of it was chosen by."""

import pytest

from agent.evaluation.judges import SUPPORTED_FROM
from tests.benchmarks.estimate import FAITHFUL, Scored, accuracy, auc, best_threshold, kappa, score_half

pytestmark = pytest.mark.slow
LEAST_AUC, LEAST_ACCURACY, LEAST_KAPPA = 0.8, 0.72, 0.45  # measured: .83, .76, .53


@pytest.fixture(scope="module")
def held_out() -> list[Scored]:
    return score_half("held_out")


def test_the_set_is_large_and_even(held_out: list[Scored]) -> None:
    """R10.3 more than a hundred answers, about half of them faithful, in three languages."""
    assert len(held_out) >= 100
    assert 0.4 <= sum(each.is_faithful for each in held_out) / len(held_out) <= 0.6
    assert {each.language for each in held_out} == {"es", "fr", "en"}


def test_it_agrees_with_the_labels_as_far_as_is_told(held_out: list[Scored]) -> None:
    """R10.3 a declared estimate: much better than chance, and no judge."""
    assert auc(held_out) >= LEAST_AUC
    assert accuracy(held_out) >= LEAST_ACCURACY
    assert kappa(held_out) >= LEAST_KAPPA


def test_a_quotation_is_supported_and_another_number_is_not(held_out: list[Scored]) -> None:
    """R10.3 what it is best at."""
    for kind in ("extractive", "number"):
        of = [each for each in held_out if each.kind == kind]
        assert sum(each.is_right for each in of) >= 0.9 * len(of)
        assert {each.is_faithful for each in of} == {kind in FAITHFUL}


def test_the_threshold_is_the_tuning_halfs() -> None:
    """R10.3 chosen by the other half alone."""
    assert best_threshold(score_half("tuning")) == pytest.approx(SUPPORTED_FROM, abs=0.02)

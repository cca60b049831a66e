"""A run held to a baseline, by hand."""

from dataclasses import replace
from uuid import UUID

import pytest

from agent.evaluation.comparison import summarise
from agent.evaluation.gate import Baseline, BaselineQuestion, MetricCheck, NotComparable, hold
from graphrag.models.evaluation import CaseResult
from tests.agent.evaluation.test_summary import A, B, result, skipped


def questions(*ranks: int) -> list[CaseResult]:
    """q0, q1 …, each with the rank of its document."""
    others = [UUID(int=100 + number) for number in range(10)]
    return [result((A,), (*others[: rank - 1], A), query=f"q{number}") for number, rank in enumerate(ranks)]


def kept(results: list[CaseResult], *, cases: bool = True) -> Baseline:
    return Baseline(
        summarise(results), tuple(BaselineQuestion(of.query, of.metrics) for of in results) if cases else None
    )


def held(results: list[CaseResult], baseline: Baseline, metric: str = "mrr@10", max_drop: float = 0.02) -> MetricCheck:
    (found,) = hold(results, baseline, metrics=[metric], max_drop=max_drop)
    return found


def test_a_drop_of_the_mean_is_told_with_the_questions_that_fell() -> None:
    """R10.4 from 1 to 1/2 and 1/4 in two of four questions; the deepest fall first."""
    found = held(questions(1, 4, 2, 1), kept(questions(1, 1, 1, 2)))
    assert (found.before, found.after, found.dropped) == (0.875, 0.6875, True)
    assert found.fallen == ("q1", "q2")
    assert found.effect is not None
    assert (found.effect.n, found.effect.p_value) == (4, 0.75)


@pytest.mark.parametrize(("max_drop", "dropped"), [(0.25, False), (0.2, True), (0.0, True)])
def test_so_much_is_let_pass(max_drop: float, dropped: bool) -> None:
    """R10.4 exactly as much as is allowed is allowed; with and without values by question."""
    for cases in (True, False):
        found = held(questions(1, 2), kept(questions(1, 1), cases=cases), max_drop=max_drop)
        assert found.dropped is dropped
        assert (found.effect is not None) is cases


def test_what_is_better_or_the_same_holds() -> None:
    """R10.4 even where nothing may drop, and where single questions fall."""
    for now in (questions(2, 1), questions(1, 2), questions(1, 1)):
        assert not held(now, kept(questions(2, 1)), max_drop=0).dropped


def test_only_the_baselines_questions_count() -> None:
    """R10.4 a new question that is not found is no drop; the same one in other marks is the same."""
    now = [*questions(1, 1), result((A,), (B,), query="new")]
    now[0] = replace(now[0], query="¿Q0?")
    assert held(now, kept(questions(1, 1))).after == 1


@pytest.mark.parametrize("now", [questions(1), [], [questions(1)[0], skipped(query="q1")]])
@pytest.mark.parametrize("cases", [True, False])
def test_a_run_that_lacks_questions_is_not_compared(now: list[CaseResult], cases: bool) -> None:
    """R10.4 what was not asked could not drop; a case may have been deleted, or skipped."""
    with pytest.raises(NotComparable, match=r"eep a new baseline\."):
        held(now, kept(questions(1, 1), cases=cases))


def test_means_of_other_groups_are_not_compared() -> None:
    """R10.4 as many questions, but of another category: they are others."""
    now = [replace(of, category="causal") for of in questions(1, 1)]
    with pytest.raises(NotComparable, match="same questions"):
        held(now, kept(questions(1, 1), cases=False))


def test_means_over_other_questions_are_not_compared() -> None:
    """R10.4 as many questions, of which fewer have the metric: a mean that holds would hide those that lost it."""
    cited = [replace(of, metrics={**of.metrics, "citation_precision": 1.0}) for of in questions(1, 1)]
    with pytest.raises(NotComparable, match=r"of 2 questions .* of 1 of .*eval export"):
        held([cited[0], questions(1, 1)[1]], kept(cited, cases=False), metric="citation_precision")


@pytest.mark.parametrize("cases", [True, False])
def test_an_unknown_metric_is_named(cases: bool) -> None:
    """R10.4, R9.5 with those that there are."""
    with pytest.raises(NotComparable, match=r"no hit@7.*hit@1,.*ndcg@10"):
        held(questions(1), kept(questions(1), cases=cases), metric="hit@7")
    with pytest.raises(NotComparable, match=r"No question was measured"):
        held([], kept([], cases=cases))

"""Two runs side by side, computed by hand."""

from datetime import UTC, datetime
from math import log
from typing import Any
from uuid import uuid4

import pytest

from agent.evaluation.comparison import Comparison, compare
from graphrag.models.evaluation import CaseResult, EvaluationRun, RunStatus
from tests.agent.evaluation.test_summary import A, B, C, result, skipped

Sides = tuple[list[CaseResult], list[CaseResult]]
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def run(**fields: Any) -> EvaluationRun:
    values: dict[str, Any] = {
        "id": uuid4(), "owner_id": "o", "collection_id": uuid4(), "collection": "c", "name": "", "version": None,
        "status": RunStatus.DONE, "golden_hash": "g", "config": {"rerank": True}, "embedding_model": "bundled",
        "config_hash": "h", "warnings": (), "done": 1, "total": 1, "summary": {}, "reason": "", "cause": "",
        "ticket": uuid4(), "created_at": NOW, "started_at": NOW, "finished_at": NOW,
    }  # fmt: skip
    return EvaluationRun(**values | fields)


def sides(baseline: list[CaseResult], candidate: list[CaseResult], metric: str = "mrr@10") -> Comparison:
    return compare(run(), run(), of_baseline=baseline, of_candidate=candidate, metric=metric)


def test_differences_wins_and_losses_are_those_computed_by_hand() -> None:
    """R10.4 q1 rises from second to first, q2 falls from first to third, q3 stays."""
    found = sides(
        [
            result((A,), (B, A), 10, query="q1"),
            result((A,), (A,), 20, query="q2"),
            result((C,), (B, C), 30, query="q3"),
        ],
        [
            result((A,), (A, B), 5, query="q1"),
            result((A,), (B, C, A), 5, query="q2"),
            result((C,), (B, C), 5, query="q3"),
        ],
    )
    assert (found.cases, found.won, found.lost, found.tied) == (3, 1, 1, 1)
    value = found.metrics["mrr@10"]
    assert (value.baseline, value.candidate) == pytest.approx(((1 / 2 + 1 + 1 / 2) / 3, (1 + 1 / 3 + 1 / 2) / 3))
    assert value.difference == pytest.approx(-1 / 18)
    assert found.metrics["hit@1"].difference == 0
    assert (found.latency_ms["p50"].baseline, found.latency_ms["p50"].difference) == (20, -15)
    # The greatest change first: by 2/3, then by 1/2.
    assert [(case.baseline.query, case.outcome, case.baseline.rank, case.candidate.rank) for case in found.changed] == [
        ("q2", "lost", 1, 3),
        ("q1", "won", 2, 1),
    ]


def test_the_metric_that_is_asked_for_decides() -> None:
    """R10.4 by hit@10 nothing has changed where by MRR something has."""
    before, after = [result((A,), (B, A), query="q")], [result((A,), (A,), query="q")]
    assert sides(before, after).won == 1
    by_hit = sides(before, after, "hit@10")
    assert (by_hit.won, by_hit.lost, by_hit.tied, by_hit.changed) == (0, 0, 1, ())


def test_only_what_both_have_measured_is_compared() -> None:
    """R10.4 a case that one of them skipped, or does not have, is counted and left out of all means."""
    found = sides(
        [result((A,), (A,), query="both"), result((A,), (B,), query="only"), result((A,), (A,), query="gone")],
        [result((A,), (A,), query="¿BOTH?"), skipped(query="gone"), result((B,), (B,), query="new")],
    )
    assert (found.cases, found.only_baseline, found.only_candidate) == (1, 2, 1)
    assert found.metrics["mrr@10"].baseline == 1


def test_runs_without_a_common_case_have_no_differences() -> None:
    """R10.4 edge case; cases without a relevant document are not compared either."""
    found = sides([result((), (A,), query="q")], [result((), (A,), query="q")])
    assert (found.cases, found.metrics, found.latency_ms, found.changed) == (0, {}, {}, ())


def moved(count: int, *, before: dict[str, float], after: dict[str, float], **fields: Any) -> Sides:
    queries = [f"{fields.get('category', 'factual')} {number}" for number in range(count)]
    sides = [[result((A,), (A,), query=query, metrics=of, **fields) for query in queries] for of in (before, after)]
    return sides[0], sides[1]


def test_metrics_are_corrected_together() -> None:
    """R10.4, 001.9.9: of two metrics the one that moves has twice its own p-value, and is a verdict still."""
    found = sides(*moved(8, before={"hit@1": 0, "mrr@10": 1}, after={"hit@1": 1, "mrr@10": 1}), metric="hit@1")
    rise, same = found.metrics["hit@1"], found.metrics["mrr@10"]
    assert (rise.effect.p_value, rise.corrected, rise.verdict) == (2 / 256, 4 / 256, "better")
    assert (same.effect.p_value, same.corrected, same.verdict) == (1, 1, "too_few_questions")


def test_a_metric_is_compared_where_both_runs_have_it() -> None:
    """R10.3, R10.4 one of answers, which some cases lack, and one that one run alone has measured."""
    before, after = moved(6, before={"a": 1}, after={"a": 0.5, "b": 1})
    more = moved(4, before={"a": 1, "f": 0.5}, after={"a": 1, "f": 1}, category="causal")
    found = sides(before + more[0], after + more[1], "f")
    assert list(found.metrics) == ["a", "f"]
    assert found.metrics["a"].effect.n == 10
    assert found.metrics["a"].candidate == pytest.approx(0.7)
    assert (found.metrics["f"].effect.n, found.metrics["f"].baseline) == (4, 0.5)
    assert (found.cases, found.won, found.lost, found.tied) == (10, 4, 0, 0)
    assert sides(before, after, "other").metrics.keys() == {"a"}


def test_categories_of_enough_questions_are_compared() -> None:
    """R10.2, R10.4 by the metric that decides, corrected together."""
    falling = moved(6, before={"m": 1}, after={"m": 0}, category="temporal")
    same = moved(6, before={"m": 1}, after={"m": 1}, category="causal")
    few = moved(4, before={"m": 1}, after={"m": 0})
    found = sides(falling[0] + same[0] + few[0], falling[1] + same[1] + few[1], "m")
    assert list(found.by_category) == ["causal", "temporal"]
    fall = found.by_category["temporal"]
    assert (fall.difference, fall.effect.p_value, fall.corrected) == (-1, 2 / 64, 4 / 64)
    assert found.metrics["m"].verdict == "worse"


def test_searches_are_timed_as_ratios() -> None:
    """R10.4 half as long is half as long, of quick searches and of slow ones."""
    times = (4.0, 8.0, 100.0, 12.0, 900.0, 30.0)
    before = [result((A,), (A,), of, query=str(of)) for of in times]
    after = [result((A,), (A,), of / 2, query=str(of)) for of in times]
    speed = sides(before, after).speed
    assert speed.difference == pytest.approx(log(2))
    assert (speed.n, speed.p_value, speed.verdict()) == (6, 2 / 64, "better")
    unknown = [result((A,), (A,), None, query=str(of)) for of in times]
    found = sides(before, unknown)
    assert (found.speed.difference, found.latency_ms) == (None, {})


def test_what_differs_in_the_configuration_is_told() -> None:
    """R10.4, R4.10"""
    found = compare(
        run(),
        run(config={"rerank": False}, embedding_model="other"),
        of_baseline=[],
        of_candidate=[],
        metric="mrr@10",
    )
    assert found.config == {"embedding_model": ("bundled", "other"), "rerank": (True, False)}

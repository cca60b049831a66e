"""What results come to, computed by hand."""

from math import log2
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evaluation.comparison import summarise
from agent.evaluation.metrics import METRICS, first_rank, measure
from graphrag.models.evaluation import CaseResult, CaseStatus

A, B, C = (UUID(int=number) for number in (1, 2, 3))


def result(
    relevant: tuple[UUID, ...], ranking: tuple[UUID, ...], milliseconds: float | None = 10, **fields: Any
) -> CaseResult:
    relevance = {str(document): 1 for document in relevant}
    names = [str(document) for document in ranking]
    values: dict[str, Any] = {
        "position": 0,
        "case_id": uuid4(),
        "query": "¿?",
        "category": "factual",
        "difficulty": "easy",
        "relevant_document_ids": relevant,
        "status": CaseStatus.MEASURED,
        "retrieved_document_ids": ranking,
        "rank": first_rank(names, relevance),
        "metrics": measure(names, relevance) if relevant else {},
        "milliseconds": milliseconds,
    }
    return CaseResult(**values | fields)


def skipped(**fields: Any) -> CaseResult:
    return result((A,), (), status=CaseStatus.SKIPPED, metrics={}, milliseconds=None, **fields)


def test_means_are_those_computed_by_hand() -> None:
    """R10.2 A first, B second, C not found at all."""
    summary = summarise(
        [
            result((A,), (A, B), 10),
            result((B,), (A, B), 20, category="causal"),
            result((A, C), (B, B), 30, category="causal", difficulty="hard"),
        ]
    )
    assert summary["cases"] == 3
    assert summary["metrics"]["hit@1"] == pytest.approx(1 / 3)
    assert summary["metrics"]["hit@3"] == summary["metrics"]["hit@10"] == pytest.approx(2 / 3)
    assert summary["metrics"]["mrr@10"] == pytest.approx((1 + 1 / 2) / 3)
    assert summary["metrics"]["ndcg@10"] == pytest.approx((1 + 1 / log2(3)) / 3)
    assert summary["metrics"]["precision@5"] == pytest.approx((1 / 5 + 1 / 5) / 3)
    assert summary["latency_ms"] == {"p50": 20, "p95": 30, "p99": 30}
    assert {name: group["cases"] for name, group in summary["by_category"].items()} == {"causal": 2, "factual": 1}
    assert summary["by_category"]["causal"]["metrics"]["mrr@10"] == pytest.approx(1 / 4)
    assert {name: group["cases"] for name, group in summary["by_difficulty"].items()} == {"easy": 2, "hard": 1}
    assert summary["by_difficulty"]["easy"]["metrics"]["hit@1"] == pytest.approx(1 / 2)


def test_skipped_and_unanswerable_cases_spoil_no_mean() -> None:
    """R10.2 edge cases: the one was not searched for, the other has nothing to find; its latency counts."""
    summary = summarise([result((A,), (A,), 10), result((), (A,), 90, category="temporal"), skipped(category="causal")])
    assert (summary["cases"], summary["skipped"], summary["unanswerable"]) == (1, 1, 1)
    assert summary["metrics"]["mrr@10"] == 1
    assert summary["latency_ms"]["p99"] == 90
    assert summary["by_category"]["temporal"] == {"cases": 0, "metrics": {}, "defined": {}}
    assert "causal" not in summary["by_category"]


def test_without_a_measured_case_there_are_no_figures() -> None:
    """R10.2 edge case: none, rather than zeros that nobody measured."""
    for results in ([], [skipped()]):
        summary = summarise(results)
        assert (summary["cases"], summary["metrics"], summary["latency_ms"]) == (0, {}, {})
        assert summary["by_category"] == summary["by_difficulty"] == {}


def test_stages_that_were_done_without_are_counted() -> None:
    """R11.1, R10.4"""
    results = [result((A,), (A,), failed=("vector", "rerank")), result((B,), (A,), failed=("vector",))]
    assert summarise(results)["degraded"] == {"rerank": 1, "vector": 2}


def test_a_metric_is_of_the_cases_that_it_is_defined_for() -> None:
    """R10.3 what is not defined for a case spoils no mean; how many cases each is of stands beside it."""
    cases = [
        result((A,), (A,), metrics={"hit@1": 1.0, "faithfulness": 0.5}, answer_milliseconds=20, chat_model="x"),
        result((B,), (A,), metrics={"hit@1": 0.0}, answer_milliseconds=10, unjudged=("faithfulness",)),
        result((), (A,), metrics={"refused_rightly": 1.0}, answer_milliseconds=30, statements={"supported": 2}),
        result((C,), (A,), metrics={"hit@1": 0.0}, answer_failed=("generate",)),
    ]
    summary = summarise(cases)
    assert summary["metrics"] == {"hit@1": 1 / 3, "faithfulness": 0.5, "refused_rightly": 1.0}
    assert summary["defined"] == {"hit@1": 3, "faithfulness": 1, "refused_rightly": 1}
    assert (summary["cases"], summary["unanswerable"]) == (3, 1)
    assert summary["answers"] == {
        "answered": 3,
        "latency_ms": {"p50": 20, "p95": 30, "p99": 30},
        "first_token_ms": {},
        "chat_models": {"x": 1},
        "statements": {"supported": 2},
        "unjudged": {"faithfulness": 1},
        "degraded": {"generate": 1},
    }
    assert summarise([result((A,), (A,))])["answers"] is None


def test_first_rank_counts_from_one() -> None:
    """R10.2 documents that come twice count once; one that is beyond the tenth place is found all the same."""
    assert first_rank(["x", "x", "a"], {"a": 1}) == 2
    assert first_rank([*map(str, range(20)), "a"], {"a": 1}) == 21
    assert first_rank(["a"], {"a": 0}) is None
    assert first_rank([], {"a": 1}) is None


documents = st.sampled_from([A, B, C, *(UUID(int=number) for number in range(10, 24))])
cases = st.builds(
    result,
    st.lists(documents, max_size=4, unique=True).map(tuple),
    st.lists(documents, max_size=15, unique=True).map(tuple),
    st.floats(0.1, 1000),
    category=st.sampled_from(["factual", "causal", "temporal", "multi_part"]),
    difficulty=st.sampled_from(["easy", "medium", "hard"]),
)


@given(st.lists(cases, max_size=12))
def test_groups_come_to_the_whole(results: list[CaseResult]) -> None:
    """P10, R10.2 values in [0, 1]; weighted by their cases, the groups' means are the mean of all."""
    summary = summarise(results)
    for groups in (summary["by_category"], summary["by_difficulty"]):
        assert sum(group["cases"] for group in groups.values()) == summary["cases"]
        for name, value in summary["metrics"].items():
            assert 0 <= value <= 1
            parts = sum(group["cases"] * group["metrics"].get(name, 0) for group in groups.values())
            assert parts / summary["cases"] == pytest.approx(value)
    assert set(summary["metrics"]) in (set(), set(METRICS))

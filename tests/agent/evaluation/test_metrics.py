"""Metrics of one ranking: values computed by hand, and what holds for every ranking."""

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.evaluation.metrics import (
    METRICS,
    all_found,
    hit,
    mean,
    measure,
    ndcg,
    percentile,
    precision,
    recall,
    reciprocal_rank,
)

RANKING = ["a", "b", "c", "d", "e"]
documents = st.sampled_from([f"d{number}" for number in range(15)])
rankings = st.lists(documents, max_size=25)
judgements = st.dictionaries(documents, st.integers(-1, 3), max_size=12)


def test_each_metric_is_what_its_definition_says() -> None:
    """R10.2 by hand: c (grade 1) is third, e (grade 3) fifth, x (grade 2) is not found; b was judged wrong."""
    relevance = {"c": 1, "e": 3, "x": 2, "b": 0}
    assert [hit(RANKING, relevance, k=k) for k in (1, 2, 3, 10)] == [0, 0, 1, 1]
    assert [recall(RANKING, relevance, k=k) for k in (2, 3, 5, 10)] == [0, 1 / 3, 2 / 3, 2 / 3]
    assert [precision(RANKING, relevance, k=k) for k in (1, 3, 5)] == [0, 1 / 3, 2 / 5]
    assert reciprocal_rank(RANKING, relevance, k=10) == 1 / 3
    assert reciprocal_rank(RANKING, relevance, k=2) == 0
    assert all_found(RANKING, relevance, k=10) == 0
    assert all_found([*RANKING, "x"], relevance, k=10) == 1
    assert all_found([*RANKING, "x"], relevance, k=5) == 0
    gained = 1 / log2(4) + 3 / log2(6)
    best = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert ndcg(RANKING, relevance, k=10) == pytest.approx(gained / best)
    assert ndcg(RANKING, relevance, k=10) == pytest.approx(0.3487, abs=1e-4)


def test_best_gain_is_that_of_the_first_k() -> None:
    """R10.2 with more relevant documents than places, a full hand is still 1."""
    relevance = dict.fromkeys("abcdefgh", 1)
    assert ndcg(list("abc"), relevance, k=3) == 1
    assert recall(list("abc"), relevance, k=3) == 3 / 8


def test_without_relevant_documents_nothing_can_be_found() -> None:
    """R10.2 edge case: a judgement of «not relevant» is none."""
    for relevance in ({}, {"a": 0, "b": -1}):
        assert set(measure(RANKING, relevance).values()) == {0.0}


def test_empty_result_scores_nothing() -> None:
    """R10.2 edge case."""
    assert set(measure([], {"a": 1}).values()) == {0.0}


def test_fewer_documents_than_k_are_not_made_up_for() -> None:
    """R10.2 edge case: precision counts the empty places."""
    assert precision(["a"], {"a": 1}, k=5) == 1 / 5
    assert (hit(["a"], {"a": 1}, k=5), recall(["a"], {"a": 1}, k=5), ndcg(["a"], {"a": 1}, k=5)) == (1, 1, 1)


def test_a_document_counts_once_where_it_comes_first() -> None:
    """R10.2 edge case: two chunks of one document are one document, and take one place."""
    ranking = ["a", "a", "b", "a", "b", "c"]
    assert measure(ranking, {"b": 2, "c": 1}) == measure(["a", "b", "c"], {"b": 2, "c": 1})
    assert recall(ranking, {"b": 1, "c": 1}, k=2) == 1 / 2


@settings(deadline=None)
@given(rankings, judgements)
def test_metrics_lie_between_0_and_1(ranking: list[str], relevance: dict[str, int]) -> None:
    """P10."""
    assert all(0 <= value <= 1 for value in measure(ranking, relevance).values())


@settings(deadline=None)
@given(rankings, judgements, st.integers(1, 20))
def test_more_places_never_find_less(ranking: list[str], relevance: dict[str, int], k: int) -> None:
    """P10 hit, recall, all and reciprocal rank grow with k; a hit is a rank, and all found is a hit."""
    for metric in (hit, recall, all_found, reciprocal_rank):
        assert metric(ranking, relevance, k=k) <= metric(ranking, relevance, k=k + 1)
    found = hit(ranking, relevance, k=k)
    assert (found == 1) == (reciprocal_rank(ranking, relevance, k=k) >= 1 / k)
    assert (found == 1) == (recall(ranking, relevance, k=k) > 0) == (ndcg(ranking, relevance, k=k) > 0)
    assert all_found(ranking, relevance, k=k) <= found


@settings(deadline=None)
@given(judgements.filter(lambda grades: any(grade > 0 for grade in grades.values())), st.randoms())
def test_no_order_beats_the_order_of_grades(relevance: dict[str, int], random: object) -> None:
    """P10 nDCG is 1 for it and for none better."""
    best = sorted(relevance, key=lambda document: -relevance[document])
    shuffled = list(best)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis' own, which it can shrink
    assert ndcg(best, relevance, k=10) == pytest.approx(1)
    assert ndcg(shuffled, relevance, k=10) <= 1 + 1e-12


@settings(deadline=None)
@given(rankings, judgements)
def test_documents_after_the_tenth_change_nothing(ranking: list[str], relevance: dict[str, int]) -> None:
    """R10.2 the cut-offs are those of the names."""
    first = list(dict.fromkeys(ranking))[:10]
    assert measure(first, relevance) == measure(ranking, relevance)


def test_cut_offs_are_those_of_the_names() -> None:
    """R10.2 Hit@1/3/5/10, recall, precision, MRR, nDCG@10, all@10."""
    ranking = [f"d{rank}" for rank in range(1, 12)]
    names = (
        "hit@1 hit@3 hit@5 hit@10 recall@2 recall@5 recall@10 precision@5 precision@10 mrr@10 ndcg@10 all@10".split()
    )
    assert set(METRICS) >= set(names)
    for name, metric in METRICS.items():
        k = int(name.split("@")[1])
        assert metric(ranking, {f"d{k}": 1}) > 0, name
        assert metric(ranking, {f"d{k + 1}": 1}) == 0, name


def test_mean_is_taken_over_the_queries() -> None:
    """R10.2."""
    assert mean([{"hit@1": 1.0, "mrr@10": 0.5}, {"hit@1": 0.0, "mrr@10": 0.25}]) == {"hit@1": 0.5, "mrr@10": 0.375}


def test_percentiles_are_values_that_occurred() -> None:
    """R10.2 nearest rank."""
    values = [float(number) for number in range(200, 0, -1)]
    assert [percentile(values, percent) for percent in (50, 95, 99)] == [100, 190, 198]
    assert [percentile([7.0], percent) for percent in (50, 95, 99)] == [7, 7, 7]
    assert [percentile([1.0, 9.0], percent) for percent in (50, 95, 99)] == [1, 9, 9]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_percentiles_are_in_order(values: list[float]) -> None:
    """P10 p50 ≤ p95 ≤ p99."""
    p50, p95, p99 = (percentile(values, percent) for percent in (50, 95, 99))
    assert min(values) <= p50 <= p95 <= p99 <= max(values)

"""Ranking metrics of one query: pure functions of document ids and their grades of relevance.

For all of them: a document that comes twice counts where it comes first; grades above 0 are relevant; missing documents
are as good as wrong ones; where nothing is relevant, nothing can be found and the value is 0.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil, log2
from statistics import fmean

Relevance = Mapping[str, int]  # document → grade


def hit(ranking: Sequence[str], relevance: Relevance, *, k: int) -> float:
    """1 where any relevant document is among the first k."""
    return float(any(_found(ranking, relevance, k)))


def recall(ranking: Sequence[str], relevance: Relevance, *, k: int) -> float:
    """The share of the relevant documents that is among the first k."""
    relevant = _count(relevance)
    return sum(_found(ranking, relevance, k)) / relevant if relevant else 0.0


def precision(ranking: Sequence[str], relevance: Relevance, *, k: int) -> float:
    """The share of the first k places that relevant documents have."""
    return sum(_found(ranking, relevance, k)) / k


def all_found(ranking: Sequence[str], relevance: Relevance, *, k: int) -> float:
    """1 where every relevant document is among the first k."""
    return float(recall(ranking, relevance, k=k) == 1)


def reciprocal_rank(ranking: Sequence[str], relevance: Relevance, *, k: int) -> float:
    """1 / the rank of the first relevant document, 0 where that is beyond k."""
    return next((1 / rank for rank, found in enumerate(_found(ranking, relevance, k), 1) if found), 0.0)


def first_rank(ranking: Sequence[str], relevance: Relevance) -> int | None:
    """Return the rank of the first relevant document, from 1; None where there is none."""
    found = _found(ranking, relevance, len(ranking))
    return found.index(True) + 1 if True in found else None


def ndcg(ranking: Sequence[str], relevance: Relevance, *, k: int) -> float:
    """Järvelin & Kekäläinen 2002, with the grade itself as the gain, like trec_eval and BEIR."""
    best = _discounted(sorted(relevance.values(), reverse=True)[:k])
    return _discounted([relevance.get(document, 0) for document in _first(ranking, k)]) / best if best else 0.0


METRICS: dict[str, Callable[[Sequence[str], Relevance], float]] = {
    **{f"hit@{k}": partial(hit, k=k) for k in (1, 3, 5, 10)},
    **{f"recall@{k}": partial(recall, k=k) for k in (2, 5, 10)},
    **{f"precision@{k}": partial(precision, k=k) for k in (1, 5, 10)},
    "mrr@10": partial(reciprocal_rank, k=10),
    "ndcg@10": partial(ndcg, k=10),
    "all@10": partial(all_found, k=10),
}


def measure(ranking: Sequence[str], relevance: Relevance) -> dict[str, float]:
    return {name: metric(ranking, relevance) for name, metric in METRICS.items()}


def mean(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric, over the queries that it is defined for."""
    names = dict.fromkeys(name for value in values for name in value)
    return {name: fmean(value[name] for value in values if name in value) for name in names}


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least so many percent of them do not exceed (nearest rank); of one or more."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99 to two decimals; none of no value."""
    return {f"p{percent}": round(percentile(values, percent), 2) for percent in (50, 95, 99)} if values else {}


def _first(ranking: Sequence[str], k: int) -> list[str]:
    return list(dict.fromkeys(ranking))[:k]


def _found(ranking: Sequence[str], relevance: Relevance, k: int) -> list[bool]:
    return [relevance.get(document, 0) > 0 for document in _first(ranking, k)]


def _count(relevance: Relevance) -> int:
    return sum(grade > 0 for grade in relevance.values())


def _discounted(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / log2(rank + 1) for rank, grade in enumerate(grades, 1))

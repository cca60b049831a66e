"""The figures of a report, computed from a run's cases: whatever metrics these have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import get_args

import numpy as np

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import DECIDING
from agent.evaluation.metrics import METRICS
from graphrag.evaluation_models import CaseResult, CaseStatus, Category, Difficulty

ORDER = {"retrieval": tuple(METRICS), "answers": tuple(ANSWER_METRICS)}  # within a group of metrics
HEADLINES = ("hit@10", DECIDING, "mrr@10", "faithfulness", "faithfulness_estimate", "citation_recall")
JUDGED_BY = (DECIDING, "faithfulness", "faithfulness_estimate", "refused_rightly", "answered")
MOST_BINS = 15


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean, over the cases that have the metric."""

    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class Group:
    name: str  # "all", or of a category or a difficulty
    cases: int
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True)
class Bin:
    low: float
    high: float
    count: int


def order_metrics(names: Iterable[str]) -> dict[str, list[str]]:
    """By group; metrics that nobody has told us of come last."""
    left = set(names)
    found = {group: [name for name in known if name in left] for group, known in ORDER.items()}
    found["others"] = sorted(left.difference(*ORDER.values()))
    return {group: known for group, known in found.items() if known}


def group_cases(results: Sequence[CaseResult]) -> list[Group]:
    """All that were measured, then by category, then by difficulty."""
    measured = [result for result in results if result.status is CaseStatus.MEASURED]
    groups = [_group("all", measured)]
    groups += [_group(name, [of for of in measured if of.category == name]) for name in get_args(Category)]
    groups += [_group(name, [of for of in measured if of.difficulty == name]) for name in get_args(Difficulty)]
    return [group for group in groups if group.cases or group.name == "all"]


def find_worst(results: Sequence[CaseResult], *, limit: int) -> list[CaseResult]:
    """By the least of the metrics that a case is judged by. One that lacks nothing is none of them."""
    rated = [(_rate(result), result) for result in results]
    lacking = [pair for pair in rated if pair[0] < 1]
    return [result for _, result in sorted(lacking, key=lambda pair: (pair[0], pair[1].position))[:limit]]


def distribute(values: Sequence[float]) -> list[Bin]:
    """Over bins of the same width; none of no value."""
    if not values:
        return []
    edges = np.histogram_bin_edges(values, bins="auto")
    counts, edges = np.histogram(values, bins=min(len(edges) - 1, MOST_BINS))
    return [
        Bin(float(low), float(high), int(count)) for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _group(name: str, results: Sequence[CaseResult]) -> Group:
    names = {name: None for result in results for name in result.metrics}
    values = {name: [of.metrics[name] for of in results if name in of.metrics] for name in names}
    return Group(name, len(results), {name: Figure(fmean(known), len(known)) for name, known in values.items()})


def _rate(result: CaseResult) -> float:
    return min((result.metrics[name] for name in JUDGED_BY if name in result.metrics), default=1.0)

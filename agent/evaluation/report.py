"""A run's report: what it tells, and its figures."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import get_args
from uuid import UUID

import numpy as np

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import DECIDING, Comparison, check_done, compare
from agent.evaluation.metrics import METRICS
from agent.evaluation.trend import TrendPoint, read_trend
from graphrag.errors import EvaluationNotFound
from graphrag.models.evaluation import CaseResult, CaseStatus, Category, Difficulty, EvaluationRun
from graphrag.services import Services
from graphrag.stores.postgres.evaluations import EvaluationStore

MAX_POINTS = 30  # of the trend


@dataclass(frozen=True, slots=True)
class RunReport:
    run: EvaluationRun
    results: Sequence[CaseResult]
    names: Mapping[UUID, str]  # of the documents that the results name, those that are still there
    trend: Sequence[TrendPoint]  # up to this run, the latest first
    baseline: EvaluationRun | None
    comparison: Comparison | None


async def read_report(services: Services, owner_id: str, run_id: UUID, *, baseline_id: UUID | None = None) -> RunReport:
    """Compared with the run before it, where no other is asked for.

    Raises EvaluationNotFound, EvaluationUnfinished or CollectionNotFound.
    """
    evaluations = services.evaluations
    run = await _find_done(evaluations, owner_id, run_id)
    results = await evaluations.read_results(run)
    trend = await read_trend(evaluations, owner_id, run.collection_id, limit=MAX_POINTS, until=run)
    baseline = trend[1].run if len(trend) > 1 else None
    if baseline_id:
        baseline = await _find_done(evaluations, owner_id, baseline_id)
    return RunReport(
        run=run,
        results=results,
        names=await _names(services, run, results),
        trend=trend,
        baseline=baseline,
        comparison=await _compare(services, baseline, run, results) if baseline else None,
    )


async def find_latest(services: Services, owner_id: str, collection: str | None) -> EvaluationRun:
    """The last run of a collection that is done. Raises CollectionNotFound or EvaluationNotFound."""
    asked = await services.collections.open(owner_id, collection)
    trend = await read_trend(services.evaluations, owner_id, asked.id, limit=1)
    if not trend:
        raise EvaluationNotFound(
            f"The collection {asked.name!r} has no evaluation that is done: run `causeway eval run`.", run="latest"
        )
    return trend[0].run


async def _find_done(evaluations: EvaluationStore, owner_id: str, run_id: UUID) -> EvaluationRun:
    run = await evaluations.find(owner_id, run_id)
    check_done(run)
    return run


async def _compare(
    services: Services, baseline: EvaluationRun, run: EvaluationRun, results: Sequence[CaseResult]
) -> Comparison:
    before = await services.evaluations.read_results(baseline)
    return await asyncio.to_thread(compare, baseline, run, of_baseline=before, of_candidate=results, metric=DECIDING)


async def _names(services: Services, run: EvaluationRun, results: Sequence[CaseResult]) -> dict[UUID, str]:
    collection = await services.collections.open(run.owner_id, run.collection)
    named = {
        document for result in results for document in (*result.relevant_document_ids, *result.retrieved_document_ids)
    }
    found = await services.store.find_documents(collection, ids=sorted(named))
    return {document.id: document.filename for document in found}


ORDER = {"retrieval": tuple(METRICS), "answers": tuple(ANSWER_METRICS)}  # within a group of metrics
HEADLINES = ("hit@10", DECIDING, "mrr@10", "faithfulness", "faithfulness_estimate", "citation_recall")
JUDGED_BY = (DECIDING, "faithfulness", "faithfulness_estimate", "refused_rightly", "answered")
MAX_BINS = 15


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
    """Return the metrics by group; unknown ones come last."""
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
    """Return the cases with the lowest judged metric; a case with full marks is never among them."""
    rated = [(_rate(result), result) for result in results]
    lacking = [pair for pair in rated if pair[0] < 1]
    return [result for _, result in sorted(lacking, key=lambda pair: (pair[0], pair[1].position))[:limit]]


def distribute(values: Sequence[float]) -> list[Bin]:
    """Return a histogram with bins of the same width; empty without values."""
    if not values:
        return []
    edges = np.histogram_bin_edges(values, bins="auto")
    counts, edges = np.histogram(values, bins=min(len(edges) - 1, MAX_BINS))
    return [
        Bin(float(low), float(high), int(count)) for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def _group(name: str, results: Sequence[CaseResult]) -> Group:
    names = {name: None for result in results for name in result.metrics}
    values = {name: [of.metrics[name] for of in results if name in of.metrics] for name in names}
    return Group(name, len(results), {name: Figure(fmean(known), len(known)) for name, known in values.items()})


def _rate(result: CaseResult) -> float:
    return min((result.metrics[name] for name in JUDGED_BY if name in result.metrics), default=1.0)

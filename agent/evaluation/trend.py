"""A collection's runs in a row, each against the one before it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from agent.evaluation.comparison import DECIDING, Pair
from agent.evaluation.significance import Effect, holm, paired
from graphrag.models.evaluation import CaseResult, EvaluationRun, RunStatus
from graphrag.stores.postgres.evaluations import EvaluationStore

# One of searching, and of answers the one of them that a run has: with each more, a true decline is harder to show.
WATCHED = (DECIDING, "faithfulness", "faithfulness_estimate")
CHANGES = "changes"  # in a run's summary


@dataclass(frozen=True, slots=True)
class RunChange:
    """Change of a metric, over the questions that the run before has measured, too."""

    baseline: UUID  # the run before
    metric: str
    difference: float
    low: float | None  # of the 95 % confidence interval
    high: float | None
    p_value: float  # as one of several metrics'
    n: int  # questions
    verdict: str

    def __str__(self) -> str:
        return (
            f"{self.metric} is {self.verdict} than in the run before, {self.baseline}: {self.difference:+.3f} over"
            f" {self.n} questions, p = {self.p_value:.3f}"
        )


KEPT = TypeAdapter(tuple[RunChange, ...])


@dataclass(frozen=True, slots=True)
class TrendPoint:
    run: EvaluationRun  # that is done
    has_same_cases: bool  # as the latest of the trend
    changes: tuple[RunChange, ...]  # none where nothing before it has the same questions

    @property
    def summary(self) -> Mapping[str, Any]:
        return self.run.summary or {}

    @property
    def metrics(self) -> Mapping[str, float]:
        metrics: Mapping[str, float] = self.summary["metrics"]
        return metrics

    @property
    def is_worse(self) -> bool:
        return any(change.verdict == "worse" for change in self.changes)


async def read_trend(
    evaluations: EvaluationStore,
    owner_id: str,
    collection_id: UUID,
    *,
    limit: int,
    until: EvaluationRun | None = None,
) -> list[TrendPoint]:
    """The latest first; `until`: that one and those before it."""
    runs = [until] if until else []
    runs += await evaluations.list_all(
        owner_id,
        collection_id=collection_id,
        status=RunStatus.DONE,
        limit=limit - len(runs),
        after=(until.created_at, until.id) if until else None,
    )
    return [
        TrendPoint(
            run,
            run.golden_hash == runs[0].golden_hash,
            KEPT.validate_python((run.summary or {}).get(CHANGES, ())),
        )
        for run in runs
    ]


async def find_changes(
    evaluations: EvaluationStore, run: EvaluationRun, results: Sequence[CaseResult]
) -> list[RunChange]:
    """Return the changes against the last run that had finished before this one was ordered."""
    before = await evaluations.list_all(
        run.owner_id,
        collection_id=run.collection_id,
        status=RunStatus.DONE,
        limit=1,
        after=(run.created_at, run.id),
    )
    if not before:
        return []
    earlier = {result.key: result for result in await evaluations.read_results(before[0])}
    pairs = [(earlier[result.key], result) for result in results if result.key in earlier]
    return await asyncio.to_thread(_changes, before[0].id, pairs)


def as_summary(changes: Sequence[RunChange]) -> dict[str, Any]:
    """Return the changes as a run's summary stores them."""
    return {CHANGES: KEPT.dump_python(tuple(changes), mode="json")}


def warnings_of(changes: Sequence[RunChange]) -> list[str]:
    return [str(change) for change in changes if change.verdict == "worse"]


def _changes(baseline: UUID, pairs: Sequence[Pair]) -> list[RunChange]:
    effects = {name: effect for name in WATCHED if (effect := _effect(name, pairs)).n}
    corrected = holm({name: effect.p_value for name, effect in effects.items()})
    return [_change(baseline, name, effect, corrected[name]) for name, effect in effects.items()]


def _effect(name: str, pairs: Sequence[Pair]) -> Effect:
    metrics = [(old.metrics, new.metrics) for old, new in pairs]
    both = [(old[name], new[name]) for old, new in metrics if name in old and name in new]
    return paired([old for old, _ in both], [new for _, new in both])


def _change(baseline: UUID, metric: str, effect: Effect, p_value: float) -> RunChange:
    assert effect.difference is not None
    return RunChange(
        baseline=baseline,
        metric=metric,
        difference=effect.difference,
        low=effect.low,
        high=effect.high,
        p_value=p_value,
        n=effect.n,
        verdict=effect.verdict(p_value),
    )

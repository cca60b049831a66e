"""Two runs side by side, over the questions that both have measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from agent.evaluation.metrics import mean
from agent.evaluation.summary import latencies
from graphrag.errors import EvaluationUnfinished
from graphrag.evaluation_models import CaseResult, EvaluationRun, RunStatus
from graphrag.stores.evaluations import EvaluationStore

Outcome = Literal["won", "lost"]
DECIDING = "ndcg@10"  # the metric that a case is won by, where no other is asked for
EPSILON = 1e-9  # sums of the same parts in another order are the same


@dataclass(frozen=True, slots=True)
class Difference:
    baseline: float
    candidate: float

    @property
    def difference(self) -> float:
        return self.candidate - self.baseline


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """By `value`, the metric that decides."""

    baseline: CaseResult
    candidate: CaseResult
    value: Difference

    @property
    def outcome(self) -> Outcome:
        return "won" if self.value.difference > 0 else "lost"


@dataclass(frozen=True, slots=True)
class Comparison:
    metric: str  # that decides which of the two a case is won by
    cases: int  # that both have measured
    only_baseline: int
    only_candidate: int
    metrics: Mapping[str, Difference]
    latency_ms: Mapping[str, Difference]
    won: int  # by the candidate
    lost: int
    tied: int
    changed: tuple[ChangedCase, ...]  # the greatest changes first
    config: Mapping[str, tuple[Any, Any]]  # what differs: that of the baseline, that of the candidate


async def compare_runs(
    evaluations: EvaluationStore, owner_id: str, baseline: UUID, candidate: UUID, *, metric: str = DECIDING
) -> Comparison:
    """Raises EvaluationNotFound or EvaluationUnfinished."""
    runs = [await evaluations.find(owner_id, run_id) for run_id in (baseline, candidate)]
    for run in runs:
        if run.status is not RunStatus.DONE:
            told = f"The evaluation {run.id} has no figures: its status is {run.status.value!r}."
            raise EvaluationUnfinished(told, run=str(run.id), status=run.status.value)
    before, after = [await evaluations.read_results(run) for run in runs]
    return compare(*runs, of_baseline=before, of_candidate=after, metric=metric)


def compare(
    baseline: EvaluationRun,
    candidate: EvaluationRun,
    *,
    of_baseline: Sequence[CaseResult],
    of_candidate: Sequence[CaseResult],
    metric: str,
) -> Comparison:
    """Questions are the same where their words are: the runs may be of two collections."""
    before, after = _judged(of_baseline, metric), _judged(of_candidate, metric)
    shared = [key for key in before if key in after]
    pairs = [
        ChangedCase(before[key], after[key], Difference(before[key].metrics[metric], after[key].metrics[metric]))
        for key in shared
    ]
    changed = [pair for pair in pairs if abs(pair.value.difference) > EPSILON]
    won = sum(pair.outcome == "won" for pair in changed)
    return Comparison(
        metric=metric,
        cases=len(shared),
        only_baseline=len(before) - len(shared),
        only_candidate=len(after) - len(shared),
        metrics=_metrics(pairs),
        latency_ms=_latencies(pairs),
        won=won,
        lost=len(changed) - won,
        tied=len(pairs) - len(changed),
        changed=tuple(sorted(changed, key=lambda pair: (-abs(pair.value.difference), pair.baseline.query))),
        config=_differing(baseline, candidate),
    )


def _judged(results: Sequence[CaseResult], metric: str) -> dict[str, CaseResult]:
    return {result.key: result for result in results if metric in result.metrics}


def _metrics(pairs: Sequence[ChangedCase]) -> dict[str, Difference]:
    if not pairs:
        return {}
    before = mean([pair.baseline.metrics for pair in pairs])
    after = mean([pair.candidate.metrics for pair in pairs])
    return {name: Difference(before[name], after[name]) for name in before if name in after}


def _latencies(pairs: Sequence[ChangedCase]) -> dict[str, Difference]:
    before = latencies([pair.baseline for pair in pairs])
    after = latencies([pair.candidate for pair in pairs])
    return {name: Difference(before[name], after[name]) for name in before}


def _differing(baseline: EvaluationRun, candidate: EvaluationRun) -> dict[str, tuple[Any, Any]]:
    before, after = _choices(baseline), _choices(candidate)
    names = sorted(before.keys() | after.keys())
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _choices(run: EvaluationRun) -> dict[str, Any]:
    return {**run.config, "embedding_model": run.embedding_model, "golden_hash": run.golden_hash}

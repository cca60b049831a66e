"""Summaries of runs, and two runs side by side."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import log
from statistics import fmean
from typing import Any, Literal
from uuid import UUID

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.metrics import METRICS, mean, percentiles
from agent.evaluation.significance import EPSILON, SMALLEST, Effect, Verdict, holm, paired
from graphrag.errors import EvaluationUnfinished
from graphrag.models.evaluation import CaseResult, CaseStatus, EvaluationRun, RunStatus
from graphrag.stores.postgres.evaluations import EvaluationStore


def summarise(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Average each metric over the cases that it is defined for; a group without such cases lacks it.

    Latencies are of all searched and all answered cases.
    """
    measured = [result for result in results if result.status is CaseStatus.MEASURED]
    return {
        **_group(measured),
        "skipped": sum(result.status is CaseStatus.SKIPPED for result in results),
        "unanswerable": sum(not result.relevant_document_ids for result in measured),
        "latency_ms": latencies(measured),
        "by_category": _groups("category", measured),
        "by_difficulty": _groups("difficulty", measured),
        "degraded": count_failed(result.failed for result in measured),
        "answers": _answers(measured),
    }


def latencies(results: Sequence[CaseResult]) -> dict[str, float]:
    return percentiles([result.milliseconds for result in results if result.milliseconds is not None])


def count_failed(failed: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return the number of searches that each stage was degraded in."""
    return dict(sorted(Counter(chain.from_iterable(map(set, failed))).items()))


def _groups(field: str, results: Sequence[CaseResult]) -> dict[str, dict[str, Any]]:
    names = sorted({getattr(result, field) for result in results})
    return {name: _group([of for of in results if getattr(of, field) == name]) for name in names}


def _group(results: Sequence[CaseResult]) -> dict[str, Any]:
    metrics = [result.metrics for result in results]
    return {
        "cases": sum(bool(result.relevant_document_ids) for result in results),
        "metrics": mean(metrics),
        "defined": dict(Counter(chain.from_iterable(metrics))),
    }


def _answers(results: Sequence[CaseResult]) -> dict[str, Any] | None:
    """None of a run that does not answer."""
    answered = [result for result in results if result.answer_milliseconds is not None]
    failed = count_failed(result.answer_failed for result in results)
    if not answered and not failed:
        return None
    first = [of.first_token_milliseconds for of in answered if of.first_token_milliseconds is not None]
    statements: Counter[str] = sum((Counter(of.statements) for of in answered), Counter())
    return {
        "answered": len(answered),
        "latency_ms": percentiles([of.answer_milliseconds for of in answered if of.answer_milliseconds is not None]),
        "first_token_ms": percentiles(first),
        "chat_models": dict(Counter(of.chat_model for of in answered if of.chat_model)),
        "statements": dict(sorted(statements.items())),
        "unjudged": dict(sorted(Counter(chain.from_iterable(of.unjudged for of in answered)).items())),
        "degraded": failed,
    }


Outcome = Literal["won", "lost"]
Pair = tuple[CaseResult, CaseResult]  # of one question
COMPARED = (*METRICS, *ANSWER_METRICS)
DECIDING = "ndcg@10"  # the metric that a case is won by, where no other is asked for
MIN_OF_CATEGORY = 5  # questions
SMALLEST_SPEEDUP = log(1.1)  # of interest
SHORTEST_MS = 0.001  # that is measured


@dataclass(frozen=True, slots=True)
class Difference:
    baseline: float
    candidate: float

    @property
    def difference(self) -> float:
        return self.candidate - self.baseline


@dataclass(frozen=True, slots=True)
class Change(Difference):
    """Change of a metric's mean, over the questions that have it in both runs."""

    effect: Effect
    corrected: float  # its p-value as one of several

    @property
    def verdict(self) -> Verdict:
        return self.effect.verdict(self.corrected)


@dataclass(frozen=True, slots=True)
class ChangedCase:
    """A case whose `value`, the deciding metric, differs between two runs."""

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
    metrics: Mapping[str, Change]  # corrected together
    by_category: Mapping[str, Change]  # of the metric that decides, where the questions are enough; corrected together
    latency_ms: Mapping[str, Difference]
    # Of ln(baseline / candidate): its mean is that of the ratios, whatever a question takes, and more is quicker.
    speed: Effect
    won: int  # by the candidate
    lost: int
    tied: int
    changed: tuple[ChangedCase, ...]  # the greatest changes first
    config: Mapping[str, tuple[Any, Any]]  # what differs: that of the baseline, that of the candidate


async def compare_runs(
    evaluations: EvaluationStore,
    owner_id: str,
    baseline: UUID,
    candidate: UUID,
    *,
    metric: str = DECIDING,
    smallest: float = SMALLEST,
) -> Comparison:
    """Raises EvaluationNotFound or EvaluationUnfinished."""
    runs = [await evaluations.find(owner_id, run_id) for run_id in (baseline, candidate)]
    for run in runs:
        check_done(run)
    before, after = [await evaluations.read_results(run) for run in runs]
    compared = partial(compare, *runs, of_baseline=before, of_candidate=after, metric=metric, smallest=smallest)
    return await asyncio.to_thread(compared)  # a second of resampling, where the questions are very many


def check_done(run: EvaluationRun) -> None:
    """Raises EvaluationUnfinished."""
    if run.status is not RunStatus.DONE:
        told = f"The evaluation {run.id} has no figures: its status is {run.status.value!r}."
        raise EvaluationUnfinished(told, run=str(run.id), status=run.status.value)


def compare(
    baseline: EvaluationRun,
    candidate: EvaluationRun,
    *,
    of_baseline: Sequence[CaseResult],
    of_candidate: Sequence[CaseResult],
    metric: str,
    smallest: float = SMALLEST,
) -> Comparison:
    """Compare two runs over the questions with the same words, possibly of two collections.

    `smallest` is the difference of interest.
    """
    before, after = _judged(of_baseline), _judged(of_candidate)
    pairs = [(before[key], after[key]) for key in before if key in after]
    timed = [pair for pair in pairs if all(result.milliseconds is not None for result in pair)]
    cases = [ChangedCase(*pair, _difference(pair, metric)) for pair in pairs if _has(pair, metric)]
    changed = [case for case in cases if abs(case.value.difference) > EPSILON]
    won = sum(case.outcome == "won" for case in changed)
    return Comparison(
        metric=metric,
        cases=len(pairs),
        only_baseline=len(before) - len(pairs),
        only_candidate=len(after) - len(pairs),
        metrics=_metrics(pairs, smallest),
        by_category=_categories(pairs, metric, smallest),
        latency_ms=_latencies(timed),
        speed=_speed(timed),
        won=won,
        lost=len(changed) - won,
        tied=len(cases) - len(changed),
        changed=tuple(sorted(changed, key=lambda case: (-abs(case.value.difference), case.baseline.query))),
        config=_differing(baseline, candidate),
    )


def _judged(results: Sequence[CaseResult]) -> dict[str, CaseResult]:
    return {result.key: result for result in results if result.metrics}


def _has(pair: Pair, metric: str) -> bool:
    return all(metric in result.metrics for result in pair)


def _difference(pair: Pair, metric: str) -> Difference:
    before, after = pair
    return Difference(before.metrics[metric], after.metrics[metric])


def _metrics(pairs: Sequence[Pair], smallest: float) -> dict[str, Change]:
    names = dict.fromkeys(name for pair in pairs for name in pair[0].metrics if name in pair[1].metrics)
    return _changes({name: [_difference(pair, name) for pair in pairs if _has(pair, name)] for name in names}, smallest)


def _categories(pairs: Sequence[Pair], metric: str, smallest: float) -> dict[str, Change]:
    groups: dict[str, list[Difference]] = {}
    for pair in pairs:
        if _has(pair, metric):
            groups.setdefault(pair[0].category, []).append(_difference(pair, metric))
    enough = {name: groups[name] for name in sorted(groups) if len(groups[name]) >= MIN_OF_CATEGORY}
    return _changes(enough, smallest)


def _changes(differences: Mapping[str, Sequence[Difference]], smallest: float) -> dict[str, Change]:
    sides = {name: ([of.baseline for of in each], [of.candidate for of in each]) for name, each in differences.items()}
    effects = {name: paired(*side, smallest=smallest) for name, side in sides.items()}
    corrected = holm({name: effect.p_value for name, effect in effects.items()})
    return {
        name: Change(fmean(before), fmean(after), effects[name], corrected[name])
        for name, (before, after) in sides.items()
    }


def _latencies(timed: Sequence[Pair]) -> dict[str, Difference]:
    before, after = [latencies(side) for side in _sides(timed)]
    return {name: Difference(before[name], after[name]) for name in before}


def _speed(timed: Sequence[Pair]) -> Effect:
    before, after = [[-log(max(of.milliseconds or 0, SHORTEST_MS)) for of in side] for side in _sides(timed)]
    return paired(before, after, smallest=SMALLEST_SPEEDUP)


def _sides(pairs: Sequence[Pair]) -> tuple[list[CaseResult], list[CaseResult]]:
    return [before for before, _ in pairs], [after for _, after in pairs]


def _differing(baseline: EvaluationRun, candidate: EvaluationRun) -> dict[str, tuple[Any, Any]]:
    before, after = _choices(baseline), _choices(candidate)
    names = sorted(before.keys() | after.keys())
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _choices(run: EvaluationRun) -> dict[str, Any]:
    return {**run.config, "embedding_model": run.embedding_model, "golden_hash": run.golden_hash}

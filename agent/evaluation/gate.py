"""Quality gate: fails a run that is worse than a baseline by more than the allowed difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

from agent.evaluation.comparison import summarise
from agent.evaluation.significance import EPSILON, Effect, paired
from graphrag.errors import CausewayError
from graphrag.models.evaluation import CaseResult, query_key

GROUPS = ("by_category", "by_difficulty")


class NotComparable(CausewayError):
    """The runs can't be compared; the message says why, and what to do."""

    code: ClassVar[str] = "not_comparable"


@dataclass(frozen=True, slots=True)
class BaselineQuestion:
    query: str
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A run's summary, and where they were kept its values by question."""

    summary: Mapping[str, Any]
    questions: tuple[BaselineQuestion, ...] | None


@dataclass(frozen=True, slots=True)
class MetricCheck:
    metric: str
    before: float
    after: float
    max_drop: float
    effect: Effect | None = None  # None: the baseline has no values by question
    fallen: tuple[str, ...] = ()  # questions, the deepest fall first

    @property
    def dropped(self) -> bool:
        return self.before - self.after > self.max_drop + EPSILON


def check_metrics(baseline: Baseline, metrics: Sequence[str]) -> None:
    """Check the metrics' names before a long run. Raises NotComparable."""
    if baseline.questions is None:
        known = set(baseline.summary["metrics"])
    else:
        known = {name for of in baseline.questions for name in of.metrics}
    for metric in metrics:
        if metric not in known:
            raise _unknown(metric, known)


def hold(
    results: Sequence[CaseResult], baseline: Baseline, *, metrics: Sequence[str], max_drop: float
) -> list[MetricCheck]:
    """Check each metric, by its mean over the baseline's questions; other questions of the run do not count.

    Raises NotComparable where the run lacks some of the baseline's.
    """
    check_metrics(baseline, metrics)
    if baseline.questions is None:
        return _hold_means(baseline.summary, summarise(results), metrics, max_drop)
    return [_hold_questions(baseline.questions, results, metric, max_drop) for metric in metrics]


def _hold_questions(
    questions: Sequence[BaselineQuestion], results: Sequence[CaseResult], metric: str, max_drop: float
) -> MetricCheck:
    asked = {query_key(of.query): of for of in questions if metric in of.metrics}
    measured = {result.key: result.metrics[metric] for result in results if metric in result.metrics}
    if missing := [of.query for key, of in asked.items() if key not in measured]:
        raise NotComparable(
            f"The run has no {metric} of {len(missing)} of the baseline's {len(asked)} questions, such as"
            f" {missing[0]!r}: keep a new baseline."
        )
    before, after = [of.metrics[metric] for of in asked.values()], [measured[key] for key in asked]
    falls = sorted((new - old, of.query) for old, new, of in zip(before, after, asked.values(), strict=True))
    fallen = tuple(query for difference, query in falls if difference < -EPSILON)
    return MetricCheck(metric, fmean(before), fmean(after), max_drop, paired(before, after), fallen)


def _hold_means(
    before: Mapping[str, Any], after: Mapping[str, Any], metrics: Sequence[str], max_drop: float
) -> list[MetricCheck]:
    if (asked := _cases(before)) != (measured := _cases(after)):
        raise NotComparable(
            f"The baseline is not of the same questions: it has {asked['cases']} with an answer, the run"
            f" {measured['cases']}, or others by category and difficulty. Keep a new baseline."
        )
    known = before["metrics"].keys() & after["metrics"].keys()
    for metric in metrics:
        if metric not in known:
            raise _unknown(metric, known)
        defined = _defined(before, metric), _defined(after, metric)
        if defined[0] != defined[1]:
            raise NotComparable(
                f"{metric} is of {defined[0]} questions of the baseline, and of {defined[1]} of the run: by means alone"
                " nobody can tell whether it fell. Keep a baseline with its questions, by `eval export`."
            )
    return [MetricCheck(metric, before["metrics"][metric], after["metrics"][metric], max_drop) for metric in metrics]


def _cases(summary: Mapping[str, Any]) -> dict[str, int]:
    groups = {name: of["cases"] for by in GROUPS for name, of in summary[by].items() if of["cases"]}
    return {"cases": summary["cases"], **groups}


def _defined(summary: Mapping[str, Any], metric: str) -> int:
    """Return the number of cases that define the metric: in a run from before the answers, all of them."""
    count: int = summary.get("defined", {}).get(metric, summary["cases"])
    return count


def _unknown(metric: str, known: set[str]) -> NotComparable:
    told = f"Known: {', '.join(sorted(known))}." if known else "No question was measured."
    return NotComparable(f"There is no {metric} to compare. {told}")

"""What a run's results come to: all together, by category and by difficulty."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from agent.evaluation.metrics import mean, percentiles
from graphrag.evaluation_models import CaseResult, CaseStatus


def summarise(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Metrics are those of the cases with a relevant document; a group without one has none. Latencies are of all that
    were searched for.
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
    }


def latencies(results: Sequence[CaseResult]) -> dict[str, float]:
    return percentiles([result.milliseconds for result in results if result.milliseconds is not None])


def count_failed(failed: Iterable[Iterable[str]]) -> dict[str, int]:
    """Of each search the stages that it did without: by stage, how many searches."""
    return dict(sorted(Counter(chain.from_iterable(map(set, failed))).items()))


def _groups(field: str, results: Sequence[CaseResult]) -> dict[str, dict[str, Any]]:
    names = sorted({getattr(result, field) for result in results})
    return {name: _group([of for of in results if getattr(of, field) == name]) for name in names}


def _group(results: Sequence[CaseResult]) -> dict[str, Any]:
    judged = [result.metrics for result in results if result.metrics]
    return {"cases": len(judged), "metrics": mean(judged) if judged else {}}

"""What a run's results come to: all together, by category and by difficulty."""

from collections.abc import Sequence
from typing import Any

from agent.evaluation.metrics import mean, percentile
from graphrag.evaluation_models import CaseResult, CaseStatus

PERCENTS = (50, 95, 99)


def summarise(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Metrics are those of the cases with a relevant document; a group without one has none. Latencies are of all that
    were searched for.
    """
    measured = [result for result in results if result.status is CaseStatus.MEASURED]
    stages = sorted({stage for result in measured for stage in result.failed})
    return {
        **_group(measured),
        "skipped": sum(result.status is CaseStatus.SKIPPED for result in results),
        "unanswerable": sum(not result.relevant_document_ids for result in measured),
        "latency_ms": latencies(measured),
        "by_category": {name: _group([of for of in measured if of.category == name]) for name in _categories(measured)},
        "by_difficulty": {
            name: _group([of for of in measured if of.difficulty == name]) for name in _difficulties(measured)
        },
        "degraded": {stage: sum(stage in result.failed for result in measured) for stage in stages},
    }


def latencies(results: Sequence[CaseResult]) -> dict[str, float]:
    times = [result.milliseconds for result in results if result.milliseconds is not None]
    return {f"p{percent}": round(percentile(times, percent), 2) for percent in PERCENTS} if times else {}


def _group(results: Sequence[CaseResult]) -> dict[str, Any]:
    judged = [result.metrics for result in results if result.metrics]
    return {"cases": len(judged), "metrics": mean(judged) if judged else {}}


def _categories(results: Sequence[CaseResult]) -> list[str]:
    return sorted({result.category for result in results})


def _difficulties(results: Sequence[CaseResult]) -> list[str]:
    return sorted({result.difficulty for result in results})

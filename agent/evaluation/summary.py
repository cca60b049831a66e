"""What a run's results come to: all together, by category and by difficulty."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from agent.evaluation.metrics import mean, percentiles
from graphrag.evaluation_models import CaseResult, CaseStatus


def summarise(results: Sequence[CaseResult]) -> dict[str, Any]:
    """Each metric over the cases that it is defined for; a group without one has none. Latencies are of all that were
    searched for, and of all that were answered.
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
    """Of each search the stages that it did without: by stage, how many searches."""
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

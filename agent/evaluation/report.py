"""All that a report of a run tells, read from the stores."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agent.evaluation.comparison import DECIDING, Comparison, check_done, compare
from agent.evaluation.trend import TrendPoint, read_trend
from graphrag.evaluation_errors import EvaluationNotFound
from graphrag.evaluation_models import CaseResult, EvaluationRun
from graphrag.services import Services
from graphrag.stores.evaluations import EvaluationStore

MOST_POINTS = 30  # of the trend


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
    trend = await read_trend(evaluations, owner_id, run.collection_id, limit=MOST_POINTS, until=run)
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
    asked = await services.collection(owner_id, collection)
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
    collection = await services.collection(run.owner_id, run.collection)
    named = {
        document for result in results for document in (*result.relevant_document_ids, *result.retrieved_document_ids)
    }
    found = await services.store.find_documents(collection, ids=sorted(named))
    return {document.id: document.filename for document in found}

"""Evaluations over golden cases, and their schedules."""

import asyncio
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from agent.evaluation.comparison import COMPARED, DECIDING, compare_runs
from agent.evaluation.golden_run import add_schedule, order_run
from agent.evaluation.report import read_report
from agent.evaluation.report_page import write_page
from agent.evaluation.significance import SMALLEST
from agent.evaluation.trend import read_trend
from api.dependencies import CollectionFilter, CollectionQuery, OwnerDep, ServicesDep, WriterDep
from api.errors import request_language
from api.middleware.json_bodies import JsonRoute
from api.schemas.evaluations import (
    CaseResultList,
    CaseResultOut,
    ComparisonOut,
    EvaluationIn,
    EvaluationList,
    EvaluationOut,
    RetrievalMetrics,
    ScheduleIn,
    ScheduleList,
    ScheduleOut,
)
from api.schemas.fields import Cursor, Limit, cut, errors, read_cursor
from graphrag.models.evaluation import RunStatus

Metric = Annotated[
    str,
    Query(
        pattern=f"^({'|'.join(COMPARED)})$",
        description=f"Metric that decides which run wins a case: {', '.join(COMPARED)}",
    ),
]
Smallest = Annotated[
    float, Query(gt=0, le=1, description="Smallest difference of interest, for the number of questions needed.")
]
Place = Annotated[int, Field(ge=0, le=2**31 - 1)]
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; sandbox"
router = APIRouter(route_class=JsonRoute, tags=["evaluations"], responses=errors(400, 404))


@router.post("/evaluations", status_code=202, summary="Measure the golden cases", responses=errors(409))
@router.post(
    "/retrieve/evaluate",
    status_code=202,
    operation_id="start_retrieval_evaluation",
    summary="The same as POST /evaluations",
    responses=errors(409),
)
async def start_evaluation(body: EvaluationIn, services: ServicesDep, owner: WriterDep) -> EvaluationOut:
    run = await order_run(
        await services.collections.open(owner, body.collection),
        services=services,
        name=body.name,
        **body.choices(),
    )
    return EvaluationOut.of(run)


@router.get("/evaluations", summary="List your evaluations, the latest first")
async def list_evaluations(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionFilter = None,
    status: RunStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> EvaluationList:
    after = read_cursor(cursor, tuple[datetime, UUID])
    of = (await services.collections.open(owner, collection)).id if collection else None
    found = await services.evaluations.list_all(owner, collection_id=of, status=status, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda run: (run.created_at, run.id))
    return EvaluationList(evaluations=[EvaluationOut.of(run) for run in page], next_cursor=following)


@router.get(
    "/evaluations/compare",
    summary="Compare two evaluations over the questions that both measured",
    responses=errors(409),
)
async def compare_evaluations(
    baseline: UUID,
    candidate: UUID,
    services: ServicesDep,
    owner: OwnerDep,
    metric: Metric = DECIDING,
    smallest: Smallest = SMALLEST,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ComparisonOut:
    (after,) = read_cursor(cursor, tuple[Place]) or (0,)
    found = await compare_runs(services.evaluations, owner, baseline, candidate, metric=metric, smallest=smallest)
    places = range(after, len(found.changed))
    page, following = cut(places[: limit + 1], limit, lambda place: (place + 1,))
    return ComparisonOut.of(found, [found.changed[place] for place in page], following)


@router.get("/evaluations/{evaluation_id:uuid}", summary="Get an evaluation: its progress, then its metrics")
async def get_evaluation(evaluation_id: UUID, services: ServicesDep, owner: OwnerDep) -> EvaluationOut:
    return EvaluationOut.of(await services.evaluations.find(owner, evaluation_id))


@router.get("/evaluations/{evaluation_id:uuid}/results", summary="List the results of an evaluation by case")
async def list_evaluation_results(
    evaluation_id: UUID, services: ServicesDep, owner: OwnerDep, limit: Limit = 50, cursor: Cursor = None
) -> CaseResultList:
    (after,) = read_cursor(cursor, tuple[Place]) or (-1,)
    run = await services.evaluations.find(owner, evaluation_id)
    found = await services.evaluations.read_results(run, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda result: (result.position,))
    return CaseResultList(results=[CaseResultOut.of(result) for result in page], next_cursor=following)


@router.get(
    "/evaluations/{evaluation_id:uuid}/report",
    summary="Get an evaluation as a self-contained HTML page, in the language of Accept-Language",
    response_class=Response,  # whose errors are JSON
    responses=errors(409) | {200: {"content": {"text/html": {}}}},
)
async def get_evaluation_report(
    evaluation_id: UUID,
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    baseline: Annotated[UUID | None, Query(description="Default: the previous evaluation")] = None,
) -> HTMLResponse:
    found = await read_report(services, owner, evaluation_id, baseline_id=baseline)
    page = await asyncio.to_thread(write_page, found, request_language(request))
    return HTMLResponse(page.encode(errors="replace"), headers={"Content-Security-Policy": PAGE_POLICY})


@router.post("/evaluations/{evaluation_id:uuid}/cancel", summary="Cancel an evaluation; a finished one is unchanged")
async def cancel_evaluation(evaluation_id: UUID, services: ServicesDep, owner: WriterDep) -> EvaluationOut:
    return EvaluationOut.of(await services.evaluations.cancel(owner, evaluation_id))


@router.delete("/evaluations/{evaluation_id:uuid}", status_code=204, summary="Delete an evaluation with its results")
async def delete_evaluation(evaluation_id: UUID, services: ServicesDep, owner: WriterDep) -> None:
    await services.evaluations.delete(owner, evaluation_id)


@router.get("/retrieve/metrics", summary="Get the latest metrics of a collection")
async def get_retrieval_metrics(
    services: ServicesDep, owner: OwnerDep, collection: CollectionQuery = None, limit: Limit = 10
) -> RetrievalMetrics:
    asked = await services.collections.open(owner, collection)
    trend = await read_trend(services.evaluations, owner, asked.id, limit=limit)
    return RetrievalMetrics.of(asked.name, trend)


schedules_router = APIRouter(
    route_class=JsonRoute, prefix="/evaluations/schedules", tags=["evaluations"], responses=errors(400, 404)
)


@schedules_router.post("", status_code=201, summary="Order an evaluation by the clock", responses=errors(409))
async def create_schedule(body: ScheduleIn, services: ServicesDep, owner: WriterDep) -> ScheduleOut:
    collection = await services.collections.open(owner, body.collection)
    schedule = await add_schedule(collection, body.timetable, services=services, name=body.name, choices=body.choices())
    return ScheduleOut.of(schedule)


@schedules_router.get("", summary="List your evaluation schedules, oldest first")
async def list_schedules(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionFilter = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ScheduleList:
    after = read_cursor(cursor, tuple[datetime, UUID])
    of = (await services.collections.open(owner, collection)).id if collection else None
    found = await services.schedules.list_all(owner, collection_id=of, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda schedule: (schedule.created_at, schedule.id))
    return ScheduleList(schedules=[ScheduleOut.of(schedule) for schedule in page], next_cursor=following)


@schedules_router.delete(
    "/{schedule_id:uuid}", status_code=204, summary="Delete a schedule; the evaluations that it ordered stay"
)
async def delete_schedule(schedule_id: UUID, services: ServicesDep, owner: WriterDep) -> None:
    await services.schedules.delete(owner, schedule_id)

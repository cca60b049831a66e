"""Experiments: a share of a collection's conversations is answered by configuration B, and both sides are compared."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from agent.evaluation.experiments import read_report, start_experiment
from api.dependencies import OwnerDep, ServicesDep, WriterDep
from api.schemas.experiments import ExperimentIn, ExperimentList, ExperimentOut, ExperimentReportOut
from api.schemas.fields import errors
from api.schemas.pagination import Cursor, Limit, cut, read_cursor
from graphrag.models.experiments import ExperimentStatus

AnyCollection = Annotated[str | None, Query(description="Without one, those of all collections")]
router = APIRouter(prefix="/experiments", tags=["experiments"], responses=errors(400, 404))


@router.post(
    "",
    status_code=201,
    summary="Answer a share of a collection's conversations with another configuration",
    description="A conversation stays on its side to its end. Answers of the chat, of OpenAI's API and of MCP take "
    "part, but for requests with values of their own in `retrieval` or `top_k`; `variant` says which side answered. "
    "Without a conversation that is kept, each request is drawn for itself. Searches take no part.",
    responses=errors(409),
)
async def start(body: ExperimentIn, services: ServicesDep, owner: WriterDep) -> ExperimentOut:
    experiment = await start_experiment(
        await services.collections.open(owner, body.collection),
        services=services,
        name=body.name,
        share=body.share,
        retrieval=body.retrieval,
        generation=body.generation,
    )
    return ExperimentOut.of(experiment)


@router.get("", summary="Your experiments, the latest first")
async def list_experiments(
    services: ServicesDep,
    owner: OwnerDep,
    collection: AnyCollection = None,
    status: ExperimentStatus | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ExperimentList:
    after = read_cursor(cursor, tuple[datetime, UUID])
    of = (await services.collections.open(owner, collection)).id if collection else None
    found = await services.experiments.list_all(owner, collection_id=of, status=status, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda experiment: (experiment.started_at, experiment.id))
    return ExperimentList(experiments=[ExperimentOut.of(each) for each in page], next_cursor=following)


@router.get("/{experiment_id:uuid}", summary="An experiment: both sides, compared by metrics and by feedback")
async def read(experiment_id: UUID, services: ServicesDep, owner: OwnerDep) -> ExperimentReportOut:
    experiment = await services.experiments.find(owner, experiment_id)
    return ExperimentReportOut.of_report(experiment, await read_report(experiment, services=services))


@router.post("/{experiment_id:uuid}/stop", summary="End an experiment; its figures stay, and take in later feedback")
async def stop(experiment_id: UUID, services: ServicesDep, owner: WriterDep) -> ExperimentOut:
    return ExperimentOut.of(await services.experiments.stop(owner, experiment_id))


@router.delete("/{experiment_id:uuid}", status_code=204, summary="Delete an experiment with its figures")
async def delete(experiment_id: UUID, services: ServicesDep, owner: WriterDep) -> None:
    await services.experiments.delete(owner, experiment_id)

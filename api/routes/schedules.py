"""Evaluations that the clock orders."""

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter

from agent.evaluation.scheduled_run import add_schedule
from api.dependencies import CollectionFilter, OwnerDep, ServicesDep, WriterDep
from api.pagination import Cursor, Limit, cut, read_cursor
from api.schedule_schemas import ScheduleIn, ScheduleList, ScheduleOut
from api.schemas import errors

router = APIRouter(prefix="/evaluations/schedules", tags=["evaluations"], responses=errors(400, 404))


@router.post("", status_code=201, summary="Order an evaluation by the clock", responses=errors(409))
async def add(body: ScheduleIn, services: ServicesDep, owner: WriterDep) -> ScheduleOut:
    collection = await services.collection(owner, body.collection)
    schedule = await add_schedule(collection, body.timetable, services=services, name=body.name, choices=body.choices())
    return ScheduleOut.of(schedule)


@router.get("", summary="Your schedules of evaluations, in the order in which they came")
async def list_all(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionFilter = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ScheduleList:
    after = read_cursor(cursor, tuple[datetime, UUID])
    of = (await services.collection(owner, collection)).id if collection else None
    found = await services.schedules.list_all(owner, collection_id=of, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda schedule: (schedule.created_at, schedule.id))
    return ScheduleList(schedules=[ScheduleOut.of(schedule) for schedule in page], next_cursor=following)


@router.delete(
    "/{schedule_id:uuid}", status_code=204, summary="Delete a schedule; the evaluations that it ordered stay"
)
async def delete(schedule_id: UUID, services: ServicesDep, owner: WriterDep) -> None:
    await services.schedules.delete(owner, schedule_id)

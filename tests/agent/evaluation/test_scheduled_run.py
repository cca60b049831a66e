"""Runs that the clock orders, in PostgreSQL: each due time once, whoever looks after it and however often."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from agent.evaluation.golden_run import Evaluator, Scheduler, add_schedule
from graphrag.config.settings import Settings
from graphrag.db.database import Connection
from graphrag.errors import (
    DatabaseUnavailable,
    GoldenVersionNotFound,
    InvalidSchedule,
    InvalidSettings,
    QuotaExceeded,
    ScheduleNotFound,
)
from graphrag.models.evaluation import EvaluationRun, RunStatus, Schedule, Timetable
from graphrag.services import Services, open_services
from tests.golden_library import HORNO, Shelf, draft, open_shelf

NIGHTLY = Timetable("0 3 * * *")
CHOICES: dict[str, Any] = {"version": None, "overrides": {}, "k": None}
HOUR = timedelta(hours=1)


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    shelf = await open_shelf(services, owner)
    await shelf.add(draft(HORNO, "horno.md"))
    return shelf


async def schedule(shelf: Shelf, **choices: Any) -> Schedule:
    services = shelf.services
    return await add_schedule(shelf.collection, NIGHTLY, services=services, name="nocturna", choices=CHOICES | choices)


async def order_at(shelf: Shelf, planned: Schedule, now: datetime) -> Schedule:
    """What a worker does whose clock says so; the schedule afterwards."""
    scheduler = Scheduler(shelf.services, lambda: now)
    await scheduler.order_due(planned.owner_id, planned.id, planned.due_at)
    return await shelf.services.schedules.find(planned.owner_id, planned.id)


async def runs(shelf: Shelf) -> list[EvaluationRun]:
    return await shelf.services.evaluations.list_all(shelf.collection.owner_id)


@pytest.mark.parametrize(
    ("cron", "timezone", "after", "due"),
    [
        ("0 3 * * *", "UTC", "2026-11-23T02:59", "2026-11-23T03:00"),
        ("0 3 * * *", "UTC", "2026-11-23T03:00", "2026-11-24T03:00"),
        ("0 3 * * *", "Europe/Madrid", "2026-11-23T02:00", "2026-11-24T02:00"),
        ("0 3 * * *", "Europe/Madrid", "2026-07-23T02:00", "2026-07-24T01:00"),  # in summer
        ("*/15 8-9 * * mon-fri", "UTC", "2026-11-21T08:20", "2026-11-23T08:00"),
        ("0 0 29 2 *", "UTC", "2026-11-23T00:00", "2028-02-29T00:00"),
    ],
)
def test_a_timetable_says_when_the_next_time_is(cron: str, timezone: str, after: str, due: str) -> None:
    """R10.4 in the zone's own hours."""
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)
    assert Timetable(cron, timezone).following(moment) == datetime.fromisoformat(due).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "timezone", "reason"),
    [
        ("", "UTC", "cron_expression"), ("@daily", "UTC", "cron_expression"), ("99 * * * *", "UTC", "cron_expression"),
        ("0 0 30 2 *", "UTC", "cron_expression"), ("0 0 0 3 * *", "UTC", "cron_expression"),
        ("0 3 * * *", "Mars/Base", "timezone"), ("0 3 * * *", "../../etc/passwd", "timezone"),
        ("0 3 * * *", "Europe", "timezone"), ("0 3 * * *", "", "timezone"),
    ],
)  # fmt: skip
def test_what_is_no_timetable_is_told(cron: str, timezone: str, reason: str) -> None:
    """R10.4, security 10"""
    with pytest.raises(InvalidSchedule) as told:
        Timetable(cron, timezone).following(datetime.now(UTC))
    assert told.value.details["reason"] == reason


async def test_a_due_time_orders_a_run_once(shelf: Shelf) -> None:
    """R10.4, 001.9.10 many workers are told of it at the same time, and again later: one run, with the choices."""
    planned = await schedule(shelf, overrides={"rerank": False}, k=7)
    after = planned.due_at + timedelta(seconds=3)
    await asyncio.gather(*(order_at(shelf, planned, after) for _ in range(5)))
    now = await order_at(shelf, planned, after + HOUR)
    (run,) = await runs(shelf)
    assert (run.name, run.config["rerank"], run.config["top_k"]) == ("nocturna", False, 7)
    assert (now.last_run_id, now.due_at, now.reason) == (run.id, planned.due_at + timedelta(days=1), "")
    assert now.ordered_at is not None
    await Evaluator(shelf.services).evaluate(run.owner_id, run.collection_id, run.id)
    assert [of.status for of in await runs(shelf)] == [RunStatus.DONE]


async def test_what_was_missed_is_made_up_for_once(shelf: Shelf) -> None:
    """R10.4 ten nights without a worker are one run, not ten; the next one is tonight's."""
    planned = await schedule(shelf)
    now = await order_at(shelf, planned, planned.due_at + timedelta(days=10, hours=5))
    assert len(await runs(shelf)) == 1
    assert now.due_at == planned.due_at + timedelta(days=11)


async def test_a_clock_that_is_behind_orders_no_second_run(shelf: Shelf) -> None:
    """R10.4 the job comes by the database's clock, the next time is reckoned by the worker's."""
    planned = await schedule(shelf)
    now = await order_at(shelf, planned, planned.due_at - HOUR)
    assert (len(await runs(shelf)), now.due_at) == (1, planned.due_at + timedelta(days=1))


async def test_what_keeps_it_from_measuring_is_told_and_it_goes_on(shelf: Shelf) -> None:
    """R10.4, R11.1 without golden cases it orders nothing, says why, and orders again when there are some."""
    planned = await schedule(shelf)
    (case,) = await shelf.services.golden.list_all(shelf.collection)
    await shelf.services.golden.delete(planned.owner_id, case.id)
    failed = await order_at(shelf, planned, planned.due_at)
    assert (failed.reason, failed.last_run_id, await runs(shelf)) == ("no_golden_cases", None, [])
    assert "no golden cases" in failed.cause
    assert failed.due_at == planned.due_at + timedelta(days=1)
    await shelf.add(draft(HORNO, "horno.md"))
    mended = await order_at(shelf, failed, failed.due_at)
    assert (mended.reason, mended.cause, len(await runs(shelf))) == ("", "", 1)


async def test_runs_do_not_pile_up(shelf: Shelf) -> None:
    """R10.4 while the run before is not over none is ordered, which is told; then the next one is."""
    planned = await schedule(shelf)
    first = await order_at(shelf, planned, planned.due_at)
    held = await order_at(shelf, first, first.due_at)
    assert (held.reason, held.last_run_id) == ("evaluation_unfinished", first.last_run_id)
    (run,) = await runs(shelf)
    assert str(run.id) in held.cause
    await shelf.services.evaluations.cancel(run.owner_id, run.id)
    then = await order_at(shelf, held, held.due_at)
    assert (then.reason, len(await runs(shelf))) == ("", 2)


async def test_a_database_that_is_away_costs_no_run(
    shelf: Shelf, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R10.4, R11.1 what breaks off while the run is written leaves nothing behind, and is tried again as it was."""
    planned = await schedule(shelf)

    async def fail(*_: object) -> None:
        raise DatabaseUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr("graphrag.ingestion.queue.Queue.defer_evaluation", fail)
        with pytest.raises(DatabaseUnavailable):
            await order_at(shelf, planned, planned.due_at)
    assert await runs(shelf) == []
    now = await order_at(shelf, planned, planned.due_at)
    assert [run.id for run in await runs(shelf)] == [now.last_run_id]


async def test_a_schedule_is_one_owners_and_goes_with_its_collection(shelf: Shelf) -> None:
    """R4.8, R10.4, security 3: nobody else finds it, makes it order or deletes it; a deleted run leaves it."""
    planned = await schedule(shelf)
    schedules, stranger = shelf.services.schedules, f"other-{planned.owner_id}"
    for act in (schedules.find, schedules.delete):
        with pytest.raises(ScheduleNotFound):
            await act(stranger, planned.id)
    await Scheduler(shelf.services).order_due(stranger, planned.id, planned.due_at)
    assert await schedules.list_all(stranger) == []
    assert await runs(shelf) == []
    ordered = await order_at(shelf, planned, planned.due_at)
    assert ordered.last_run_id
    await shelf.services.evaluations.delete(planned.owner_id, ordered.last_run_id)
    assert (await schedules.find(planned.owner_id, planned.id)).last_run_id is None
    await shelf.services.store.delete_collection(shelf.collection)
    assert await schedules.list_all(planned.owner_id) == []
    await Scheduler(shelf.services).order_due(planned.owner_id, planned.id, ordered.due_at)  # its job is still there


async def test_an_owner_has_so_many(shelf: Shelf, postgres: str) -> None:
    """R10.4, security 16: also of those that are added at the same time; what is no setting is refused."""
    limited = open_services(Settings.from_environment(database_url=SecretStr(postgres), max_schedules=2))
    try:
        few = Shelf(limited, shelf.collection)
        added = await asyncio.gather(*(schedule(few) for _ in range(4)), return_exceptions=True)
        assert [isinstance(of, QuotaExceeded) for of in added].count(False) == 2
    finally:
        await limited.close()
    with pytest.raises(GoldenVersionNotFound):
        await schedule(shelf, version=1)
    for wrong in ({"rrf_k": -1}, {"\0": 1}, {"nonsense": 1}):
        with pytest.raises(InvalidSettings):
            await schedule(shelf, overrides=wrong)


async def test_its_job_waits_for_its_time(shelf: Shelf) -> None:
    """R10.4 one job for each due time, of the queue that schedulers listen to; none more than that."""
    planned = await schedule(shelf)
    now = await order_at(shelf, planned, planned.due_at)
    async with shelf.services.database.transaction(planned.owner_id) as connection:
        assert await _jobs(connection, planned) == [planned.due_at, now.due_at]


async def _jobs(connection: Connection, planned: Schedule) -> list[datetime]:
    found = await connection.execute(
        "SELECT scheduled_at FROM procrastinate_jobs WHERE task_name = 'order_due' AND queue_name = 'schedules'"
        " AND args ->> 'schedule_id' = %s ORDER BY scheduled_at",
        [str(planned.id)],
    )
    return [row["scheduled_at"] for row in await found.fetchall()]  # type: ignore[misc]  # rows hold any object

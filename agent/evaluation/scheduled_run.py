"""Runs that a schedule orders when it is due, each due time once."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from agent.evaluation.golden_run import UNEXPECTED, order_run
from graphrag.database import Connection
from graphrag.errors import CausewayError
from graphrag.evaluation_errors import EvaluationUnfinished, ScheduleNotFound
from graphrag.ingestion.queue import TRANSIENT
from graphrag.models import Collection
from graphrag.schedules import Schedule, Timetable
from graphrag.services import Services
from graphrag.settings import RetrievalConfig
from graphrag.stores.schedules import NotDue
from graphrag.telemetry import log


def _now() -> datetime:
    return datetime.now(UTC)


async def add_schedule(
    collection: Collection, timetable: Timetable, *, services: Services, name: str, choices: Mapping[str, Any]
) -> Schedule:
    """`choices` are those of `order_run`. A value that is not valid, of which a run would warn, is refused.

    Raises InvalidSettings, GoldenVersionNotFound, InvalidSchedule, QuotaExceeded or CollectionNotFound.
    """
    overrides = RetrievalConfig.checked(choices["overrides"])
    if choices["version"] is not None:
        await services.golden.read_version(collection, choices["version"])
    kept = {**choices, "overrides": overrides}
    return await services.schedules.add(
        collection, timetable, name=name, choices=kept, now=_now(), defer=services.library.queue.defer_schedule
    )


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A worker's part. What keeps a run from being ordered stays to be read with its schedule, which goes on."""

    services: Services
    now: Callable[[], datetime] = _now

    async def order_due(self, owner_id: str, schedule_id: UUID, due_at: datetime) -> None:
        with suppress(NotDue, ScheduleNotFound):
            schedule = await self.services.schedules.find(owner_id, schedule_id)
            if schedule.due_at == due_at:
                await self._order(schedule, schedule.following(self.now()))

    async def _order(self, schedule: Schedule, following: datetime) -> None:
        schedules, queue = self.services.schedules, self.services.library.queue

        async def defer(connection: Connection, collection: Collection, run_id: UUID) -> None:
            await schedules.advance(connection, schedule, following, run_id=run_id, defer=queue.defer_schedule)
            await queue.defer_evaluation(connection, collection, run_id)

        try:
            await self._check_last(schedule)
            collection = await self.services.collection(schedule.owner_id, schedule.collection)
            await order_run(
                collection, services=self.services, name=schedule.name, defer=defer, **dict(schedule.choices)
            )
        except (NotDue, *TRANSIENT):
            raise
        except Exception as exc:
            await schedules.fail(schedule, following, defer=queue.defer_schedule, **_told(exc))

    async def _check_last(self, schedule: Schedule) -> None:
        """Raises EvaluationUnfinished while the run before goes on: of runs that take longer than the time between
        them, ever more would wait.
        """
        if schedule.last_run_id is None:
            return
        last = await self.services.evaluations.find(schedule.owner_id, schedule.last_run_id)
        if not last.status.is_over:
            raise EvaluationUnfinished(
                f"The evaluation {last.id}, which it ordered before, is not over: wait for it, or cancel it.",
                run=str(last.id),
                status=last.status.value,
            )


def _told(error: Exception) -> dict[str, str]:
    if isinstance(error, CausewayError):
        return {"cause": str(error), "reason": error.code}
    log.error("schedule ordered nothing", exc_info=error)
    return {"cause": UNEXPECTED, "reason": "internal_error"}

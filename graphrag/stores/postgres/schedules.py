"""Schedules of evaluations in PostgreSQL. With every due time that is stored, its job is deferred."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import ForeignKeyViolation
from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import CollectionNotFound, QuotaExceeded, ScheduleNotFound
from graphrag.models import Collection
from graphrag.models.evaluation import Schedule, Timetable
from graphrag.stores.postgres.rows import ListPosition

QUERIES = queries(Path(__file__).with_name("schedules.sql"))
COLUMNS = [field.name for field in fields(Schedule) if field.name != "id"]
Defer = Callable[[Connection, Schedule], Awaitable[None]]


class NotDue(Exception):
    """Another one was there before, or the schedule is gone."""


@dataclass(frozen=True, slots=True)
class ScheduleStore:
    """Raises ScheduleNotFound for another owner's, too, in the same words."""

    database: Database
    most: int  # of one owner

    async def add(
        self,
        collection: Collection,
        timetable: Timetable,
        *,
        name: str,
        choices: Mapping[str, Any],
        now: datetime,
        defer: Defer,
    ) -> Schedule:
        """`choices` are kept as JSON. Raises InvalidSchedule, QuotaExceeded or CollectionNotFound."""
        key = {"schedule_id": uuid4(), "owner_id": collection.owner_id, "collection_id": collection.id}
        planned = {
            "name": name,
            "cron": timetable.cron,
            "timezone": timetable.timezone,
            "choices": Jsonb(dict(choices)),
            "due_at": timetable.following(now),
        }
        try:
            async with self.database.transaction(collection.owner_id) as connection:
                await self._check_quota(connection, collection.owner_id)
                await connection.execute(QUERIES["add"], key | planned)
                (row,) = await fetch(connection, QUERIES["find"], key)
                await defer(connection, _read(row))
                return _read(row)
        except ForeignKeyViolation as exc:
            raise CollectionNotFound(
                f"There is no collection {collection.name!r}.", name=collection.name, known=[]
            ) from exc

    async def list_all(
        self,
        owner_id: str,
        *,
        collection_id: UUID | None = None,
        limit: int | None = None,
        after: ListPosition | None = None,
    ) -> list[Schedule]:
        """List schedules in the order in which they were made."""
        created_at, after_id = after or (None, None)
        values = {
            "owner_id": owner_id,
            "collection_id": collection_id,
            "created_at": created_at,
            "after_id": after_id,
            "limit": limit,
        }
        async with self.database.transaction(owner_id) as connection:
            return [_read(row) for row in await fetch(connection, QUERIES["list"], values)]

    async def find(self, owner_id: str, schedule_id: UUID) -> Schedule:
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["find"], {"schedule_id": schedule_id})
        if not rows:
            raise _not_found(schedule_id)
        return _read(rows[0])

    async def delete(self, owner_id: str, schedule_id: UUID) -> None:
        async with self.database.transaction(owner_id) as connection:
            if not (await connection.execute(QUERIES["delete"], {"schedule_id": schedule_id})).rowcount:
                raise _not_found(schedule_id)

    async def advance(
        self,
        connection: Connection,
        schedule: Schedule,
        following: datetime,
        *,
        defer: Defer,
        run_id: UUID | None = None,
        cause: str = "",
        reason: str = "",
    ) -> None:
        """Set the next due time after a run was ordered in this transaction, or why none was.

        Raises NotDue, which rolls the transaction back.
        """
        values = {
            "schedule_id": schedule.id,
            "due_at": schedule.due_at,
            "following": following,
            "run_id": run_id,
            "cause": cause,
            "reason": reason,
        }
        if not (await connection.execute(QUERIES["advance"], values)).rowcount:
            raise NotDue
        await defer(connection, replace(schedule, due_at=following))

    async def fail(self, schedule: Schedule, following: datetime, *, defer: Defer, cause: str, reason: str) -> None:
        """Set the next due time after no run was ordered. Raises NotDue."""
        async with self.database.transaction(schedule.owner_id) as connection:
            await self.advance(connection, schedule, following, defer=defer, cause=cause, reason=reason)

    async def _check_quota(self, connection: Connection, owner_id: str) -> None:
        await connection.execute(QUERIES["lock"], {"owner_id": owner_id})
        (row,) = await fetch(connection, QUERIES["count"], {"owner_id": owner_id})
        if row["count"] >= self.most:
            raise QuotaExceeded(f"There are {self.most} schedules already.", reason="schedules", limit=self.most)


def _read(row: Mapping[str, Any]) -> Schedule:
    return Schedule(id=row["schedule_id"], **{name: row[name] for name in COLUMNS})


def _not_found(schedule_id: UUID) -> ScheduleNotFound:
    return ScheduleNotFound(f"There is no schedule {schedule_id}.", schedule=str(schedule_id))

"""Evaluations that the clock orders: what is ordered, and when the next one is due."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from croniter import croniter

from graphrag.evaluation_errors import InvalidSchedule

FIELDS = 5  # minute, hour, day of the month, month, day of the week


@dataclass(frozen=True, slots=True)
class Timetable:
    """A cron expression, in the time of a zone of the IANA database."""

    cron: str
    timezone: str = "UTC"

    def following(self, after: datetime) -> datetime:
        """The first time after it, in UTC. Raises InvalidSchedule."""
        zone = self._zone()
        if len(self.cron.split()) != FIELDS:
            raise self._invalid("cron_expression", f"{self.cron!r} has not the five fields of a cron expression")
        try:
            found: datetime = croniter(self.cron, after.astimezone(zone)).get_next(datetime)
        except (ValueError, KeyError, OverflowError) as exc:  # also of a day that never comes, like February 30
            raise self._invalid("cron_expression", f"{self.cron!r} is no cron expression: {exc}") from exc
        return found.astimezone(UTC)

    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.timezone)
        except (ValueError, OSError, LookupError) as exc:
            raise self._invalid("timezone", f"There is no time zone {self.timezone!r}") from exc

    def _invalid(self, reason: str, message: str) -> InvalidSchedule:
        told = f'{message}. Write, for three o\'clock each night, "0 3 * * *", and a time zone like Europe/Madrid.'
        return InvalidSchedule(told, reason=reason, cron=self.cron, timezone=self.timezone)


@dataclass(frozen=True, slots=True)
class Schedule:
    id: UUID
    owner_id: str
    collection_id: UUID
    collection: str  # its name
    name: str  # of its runs
    cron: str
    timezone: str
    choices: Mapping[str, Any]  # what its runs are ordered with
    due_at: datetime
    last_run_id: UUID | None
    ordered_at: datetime | None  # the last run
    reason: str  # why the last time that it was due ordered nothing: an error's code
    cause: str
    created_at: datetime

    def following(self, now: datetime) -> datetime:
        """Of the times that were missed, none."""
        return Timetable(self.cron, self.timezone).following(max(now, self.due_at))

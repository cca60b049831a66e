"""What the HTTP API takes and gives of the schedules of evaluations."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from api.evaluation_schemas import EvaluationIn, RunError
from api.pagination import Page
from api.schemas import MAX_OPTIONS, Line, Text
from graphrag.schedules import Schedule, Timetable
from graphrag.settings import RetrievalConfig


class ScheduleIn(EvaluationIn):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"collection": "demo", "name": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Madrid"}]
        }
    )

    retrieval: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"In place of the collection's values; one that is not valid is refused: "
        f"{', '.join(RetrievalConfig.model_fields)}",
    )
    cron: Annotated[Line, Field(max_length=200)] = Field(
        description="Five fields: minute, hour, day of the month, month, day of the week"
    )
    timezone: Annotated[Line, Field(max_length=100)] = Field(default="UTC", description="That the hours are of")

    @property
    def timetable(self) -> Timetable:
        return Timetable(self.cron, self.timezone)


class ScheduleOut(BaseModel):
    id: UUID
    collection: str
    name: str = Field(description="Of its evaluations")
    cron: str
    timezone: str
    choices: dict[str, Any] = Field(description="What its evaluations are ordered with")
    due_at: datetime = Field(description="The next time; one that passes while no worker is there is made up for once")
    last_evaluation: UUID | None = Field(description="null: there is none yet, or it has been deleted")
    ordered_at: datetime | None = Field(description="The last evaluation")
    error: RunError | None = Field(description="Why the last time that it was due ordered nothing")
    created_at: datetime

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleOut":
        names = set(cls.model_fields) & set(Schedule.__dataclass_fields__)
        values = {name: getattr(schedule, name) for name in names} | {"choices": dict(schedule.choices)}
        error = RunError(code=schedule.reason, message=schedule.cause) if schedule.reason else None
        return cls.model_validate(values | {"last_evaluation": schedule.last_run_id, "error": error})


class ScheduleList(Page):
    schedules: list[ScheduleOut]

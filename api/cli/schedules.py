"""The command line's `eval schedule`: evaluations that the clock orders."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table

from agent.evaluation.golden_run import add_schedule
from api.cli.evaluation_runs import (
    AnswersOption,
    DepthOption,
    JudgeOption,
    NameOption,
    OverridesOption,
    VersionOption,
    read_overrides,
    whole,
)
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, print_table, run
from api.schemas.evaluations import ScheduleOut
from graphrag.models.evaluation import Schedule, Timetable
from graphrag.services import Services

app = typer.Typer(help="Order evaluations by the clock; a service or a worker measures them.", no_args_is_help=True)


@app.command()
def add(
    cron: Annotated[str, typer.Argument(metavar="CRON", help='Five fields: "0 3 * * *" is three o\'clock each night.')],
    timezone: Annotated[str, typer.Option(help="That the hours are of, like Europe/Madrid.")] = "UTC",
    collection: CollectionOption = None,
    name: NameOption = "",
    version: VersionOption = None,
    option: OverridesOption = None,
    k: DepthOption = None,
    answers: AnswersOption = True,
    judge: JudgeOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure a collection whenever the expression says so."""
    choices: dict[str, Any] = {"version": version, "k": k, "answers": answers, "judge": judge}
    choices["overrides"] = read_overrides(option)

    async def store(services: Services) -> Schedule:
        asked = await services.collections.open(services.owner, collection)
        return await add_schedule(asked, Timetable(cron, timezone), services=services, name=name, choices=choices)

    added = run(store)
    if as_json:
        print_json(ScheduleOut.of(added).model_dump(mode="json"))
    else:
        out.print(f"{added.id}: next at {_time(added.due_at)}", highlight=False)


@app.command("list")
def list_all(collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """Show the schedules, each with what its last time came to."""

    async def read(services: Services) -> list[Schedule]:
        owner = services.owner
        of = (await services.collections.open(owner, collection)).id if collection else None
        return await services.schedules.list_all(owner, collection_id=of)

    found = run(read)
    if as_json:
        print_json({"schedules": [ScheduleOut.of(schedule).model_dump(mode="json") for schedule in found]})
        return
    table = Table(whole("Schedule"), "Name", "Collection", whole("Cron"), "Zone", whole("Next"), whole("Last run"))
    for schedule in found:
        last = str(schedule.last_run_id or "")
        table.add_row(
            str(schedule.id),
            schedule.name,
            schedule.collection,
            schedule.cron,
            schedule.timezone,
            _time(schedule.due_at),
            last,
        )
    print_table(table, ("Last run", "Zone", "Collection", "Name"))
    for schedule in found:
        if schedule.cause:
            err.print(f"{schedule.id}: {schedule.cause}", style="red", highlight=False)


@app.command()
def remove(schedule_id: Annotated[UUID, typer.Argument(metavar="SCHEDULE", help="Its id: see `list`.")]) -> None:
    """Remove a schedule; the runs that it ordered stay."""
    run(lambda services: services.schedules.delete(services.owner, schedule_id))


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"

"""The command line's `eval trend`: a collection's runs in a row."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.bar import Bar
from rich.table import Column, Table

from agent.evaluation.comparison import DECIDING
from agent.evaluation.trend import TrendPoint, read_trend
from api.terminal import CollectionOption, JsonOption, err, print_json, print_table, run
from api.trend_schemas import RetrievalMetrics
from graphrag.services import Services

WIDTH = 10  # of a bar, in characters


def trend(
    collection: CollectionOption = None,
    metric: Annotated[str, typer.Option(help="That is drawn.")] = DECIDING,
    limit: Annotated[int, typer.Option(min=1, max=200, help="The latest so many runs.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show how a collection's runs went on, each against the one before it."""
    name, points = run(lambda services: _read(services, collection, limit))
    if as_json:
        print_json(RetrievalMetrics.of(name, points).model_dump(mode="json"))
        return
    known = {known for point in points for known in point.metrics}
    if known and metric not in known:
        raise typer.BadParameter(f"These runs have {', '.join(sorted(known))}.", param_hint="--metric")
    _print(metric, points[::-1])


async def _read(services: Services, collection: str | None, limit: int) -> tuple[str, list[TrendPoint]]:
    asked = await services.collection(services.settings.owner, collection)
    return asked.name, await read_trend(services.evaluations, asked.owner_id, asked.id, limit=limit)


def _print(metric: str, points: Sequence[TrendPoint]) -> None:
    """The latest last, as a curve is read."""
    table = Table(
        Column("Finished", no_wrap=True), "Name", "Cases", Column(metric, no_wrap=True), "", "Since the run before"
    )
    for point in points:
        value = point.metrics.get(metric)
        table.add_row(
            f"{point.run.finished_at:%Y-%m-%d %H:%M}",
            point.run.name,
            f"{point.summary['cases']}{'' if point.has_same_cases else ' (others)'}",
            "" if value is None else f"{value:.4f}",
            "" if value is None else Bar(1, 0, value, width=WIDTH),
            _change(metric, point),
        )
    print_table(table, ("Cases",))
    for point in points:
        if point.is_worse:
            err.print("\n".join(f"{point.run.id}: {of}" for of in point.changes if of.verdict == "worse"), style="red")


def _change(metric: str, point: TrendPoint) -> str:
    change = next((change for change in point.changes if change.metric == metric), None)
    if change is None:
        return ""
    return f"{change.difference:+.4f} (p = {change.p_value:.3f}): {change.verdict.replace('_', ' ')}"

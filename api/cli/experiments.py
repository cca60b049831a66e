"""The command line's `eval experiment`: two configurations of a collection that answer people at the same time."""

from typing import Annotated, Any
from uuid import UUID

import typer
from rich.table import Table

from agent.evaluation.experiment_report import PEEKING, ExperimentReport, MetricReport
from agent.evaluation.experiments import read_report, start_experiment
from api.cli.evaluation_runs import read_overrides, whole
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, print_table, run
from api.schemas.experiments import ExperimentOut, ExperimentReportOut
from graphrag.config.settings import GenerationConfig
from graphrag.models.experiments import Experiment
from graphrag.services import Services

COUNTS = ("conversations", "answers", "found", "degraded", "failed", "unfinished", "liked", "disliked")
LATENCIES = ("first_token_p50_ms", "first_token_p95_ms", "total_p50_ms", "total_p95_ms")
ExperimentArgument = Annotated[UUID, typer.Argument(metavar="EXPERIMENT", help="Its id: see `eval experiment list`.")]
app = typer.Typer(
    help="Answer a share of the conversations with another configuration, and compare.", no_args_is_help=True
)


@app.command()
def create(
    collection: CollectionOption = None,
    name: Annotated[str, typer.Option(help="What it is to be called.")] = "",
    share: Annotated[float, typer.Option(help="Of the conversations: those that B answers, up to 1.")] = 0.5,
    option: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="B's, in place of the collection's; chat_model, too."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Begin one; it runs until it is stopped."""
    if not 0 < share <= 1:
        raise typer.BadParameter("More than 0, at most 1.", param_hint="--share")
    values = read_overrides(option)
    made = run(lambda services: _create(services, collection, name=name, share=share, values=values))
    if as_json:
        print_json(ExperimentOut.of(made).model_dump(mode="json"))
    else:
        out.print(f"{made.id} runs on {made.collection}", highlight=False)


async def _create(services: Services, collection: str | None, *, values: dict[str, Any], **asked: Any) -> Experiment:
    of_generation = {key: value for key, value in values.items() if key in GenerationConfig.model_fields}
    of_retrieval = {key: value for key, value in values.items() if key not in of_generation}
    opened = await services.collections.open(services.settings.owner, collection)
    return await start_experiment(opened, services=services, retrieval=of_retrieval, generation=of_generation, **asked)


@app.command("list")
def list_experiments(collection: CollectionOption = None) -> None:
    """Show the latest 50."""
    table = Table(whole("Experiment"), "Name", "Collection", "Status", "Share of B", "B")
    for found in run(lambda services: _list(services, collection)):
        values = {**found.retrieval, **found.generation}
        told = ", ".join(f"{name} {value}" for name, value in values.items())
        table.add_row(str(found.id), found.name, found.collection, found.status.value, f"{found.share:g}", told)
    print_table(table, ("Name", "Collection"))


async def _list(services: Services, collection: str | None) -> list[Experiment]:
    owner = services.settings.owner
    of = (await services.collections.open(owner, collection)).id if collection else None
    return await services.experiments.list_all(owner, collection_id=of, limit=50)


@app.command()
def show(experiment_id: ExperimentArgument, as_json: JsonOption = False) -> None:
    """Compare both sides, by metrics and by feedback."""
    experiment, found = run(lambda services: _read(services, experiment_id))
    if as_json:
        print_json(ExperimentReportOut.of_report(experiment, found).model_dump(mode="json"))
    else:
        _print(experiment, found)


async def _read(services: Services, experiment_id: UUID) -> tuple[Experiment, ExperimentReport]:
    experiment = await services.experiments.find(services.settings.owner, experiment_id)
    return experiment, await read_report(experiment, services=services)


@app.command()
def stop(experiment_id: ExperimentArgument) -> None:
    """End one: all conversations go by the collection's configuration again."""
    stopped = run(lambda services: services.experiments.stop(services.settings.owner, experiment_id))
    out.print(f"{stopped.id} is stopped", highlight=False)


@app.command()
def delete(experiment_id: ExperimentArgument) -> None:
    """Delete one with its figures."""
    run(lambda services: services.experiments.delete(services.settings.owner, experiment_id))
    out.print(f"{experiment_id} is deleted", highlight=False)


def _print(experiment: Experiment, found: ExperimentReport) -> None:
    title = f"{experiment.id} {experiment.name}".rstrip()
    out.print(f"{title}: {experiment.status.value}", highlight=False)
    for warning in found.warnings:
        err.print(warning, style="yellow", highlight=False)
    out.print(_counts(found))
    print_table(_metrics(found), ("95 %", "Conversations that would settle it"))
    out.print("Means over conversations; p is corrected for several metrics. " + PEEKING, style="dim", highlight=False)
    if found.most_needed:
        told = f"A difference of .05 in a share needs {found.most_needed} conversations in all, at the most."
        out.print(told, style="dim", highlight=False)


def _counts(found: ExperimentReport) -> Table:
    table = Table(whole("Side"), *found.sides)
    for name in COUNTS:
        table.add_row(name, *(str(getattr(side, name)) for side in found.sides.values()))
    for name in LATENCIES:
        values = [getattr(side, name) for side in found.sides.values()]
        table.add_row(name, *("" if value is None else f"{value:.1f}" for value in values))
    return table


def _metrics(found: ExperimentReport) -> Table:
    table = Table(whole("Metric"), "A", "B", "B - A", "95 %", "p", "Verdict on B", "Conversations that would settle it")
    for name, metric in found.metrics.items():
        table.add_row(name, *_row(metric, "{:.1f}" if name.endswith("_ms") else "{:.3f}"))
    return table


def _row(metric: MetricReport, form: str) -> list[str]:
    effect = metric.effect
    a, b, low, high = (
        "" if value is None else form.format(value) for value in (metric.a, metric.b, effect.low, effect.high)
    )
    difference = "" if effect.difference is None else form.replace(":", ":+").format(effect.difference)
    needed = (
        "" if metric.needed_for_smallest is None else f"{metric.needed_for_smallest} for {form.format(effect.smallest)}"
    )
    interval = f"[{low}, {high}]" if low else ""
    return [a, b, difference, interval, f"{metric.corrected:.3f}", _told(metric), needed]


def _told(metric: MetricReport) -> str:
    return metric.verdict.replace("_", " ").replace("questions", "conversations")

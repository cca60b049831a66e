"""The command `causeway eval`: datasets, reports, judges, trends, schedules."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Literal
from uuid import UUID

import typer
from rich.bar import Bar
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import DECIDING
from agent.evaluation.golden_run import add_schedule
from agent.evaluation.judges import PROMPTS, PROMPTS_HASH, SUPPORTED_FROM
from agent.evaluation.report import RunReport, find_latest, read_report
from agent.evaluation.report_page import write_page
from agent.evaluation.retrieval_run import Dataset, DatasetQuery, Report, loaded, read_dataset, run_queries
from agent.evaluation.trend import TrendPoint, read_trend
from api.cli.evaluation_runs import (
    AnswersOption,
    DepthOption,
    JudgeOption,
    NameOption,
    OverridesOption,
    VersionOption,
    compare,
    export,
    gate,
    list_runs,
    measure,
    read_overrides,
    show,
    whole,
)
from api.cli.golden import app as golden
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, print_table, run, say
from api.schemas.evaluations import RetrievalMetrics, ScheduleOut
from graphrag.models import FulltextRanking
from graphrag.models.evaluation import Schedule, Timetable
from graphrag.services import Services

SCHEDULE_COLUMNS = ("schedule", "name", "collection", "cron", "zone", "next", "last_run")
schedules = typer.Typer(help="Schedule evaluations; a service or a worker runs them.", no_args_is_help=True)


@schedules.command("add")
def add_one(
    cron: Annotated[str, typer.Argument(metavar="CRON", help='Five fields: "0 3 * * *" is three o\'clock each night.')],
    timezone: Annotated[str, typer.Option(help="Time zone of the schedule, such as Europe/Madrid.")] = "UTC",
    collection: CollectionOption = None,
    name: NameOption = "",
    version: VersionOption = None,
    option: OverridesOption = None,
    k: DepthOption = None,
    answers: AnswersOption = True,
    judge: JudgeOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Evaluate a collection on a cron schedule."""
    choices: dict[str, Any] = {"version": version, "k": k, "answers": answers, "judge": judge}
    choices["overrides"] = read_overrides(option)

    async def store(services: Services) -> Schedule:
        asked = await services.collections.open(services.owner, collection)
        return await add_schedule(asked, Timetable(cron, timezone), services=services, name=name, choices=choices)

    added = run(store)
    if as_json:
        print_json(ScheduleOut.of(added).model_dump(mode="json"))
    else:
        out.print(say("scheduled", schedule=added.id, time=_time(added.due_at)), highlight=False)


@schedules.command("list")
def list_schedules(collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """List the schedules, each with the result of its last run."""

    async def read(services: Services) -> list[Schedule]:
        owner = services.owner
        of = (await services.collections.open(owner, collection)).id if collection else None
        return await services.schedules.list_all(owner, collection_id=of)

    found = run(read)
    if as_json:
        print_json({"schedules": [ScheduleOut.of(schedule).model_dump(mode="json") for schedule in found]})
        return
    first, name, of, cron, zone, due, last_run = (say(f"column_{each}") for each in SCHEDULE_COLUMNS)
    table = Table(whole(first), name, of, whole(cron), zone, whole(due), whole(last_run))
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
    print_table(table, (last_run, zone, of, name))
    for schedule in found:
        if schedule.cause:
            err.print(f"{schedule.id}: {schedule.cause}", style="red", highlight=False)


@schedules.command("remove")
def remove_one(schedule_id: Annotated[UUID, typer.Argument(metavar="SCHEDULE", help="Id: see `list`.")]) -> None:
    """Remove a schedule; its runs are kept."""
    run(lambda services: services.schedules.delete(services.owner, schedule_id))


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def report(
    run_id: Annotated[UUID | None, typer.Argument(metavar="[RUN]", help="Default: the last completed run.")] = None,
    collection: CollectionOption = None,
    baseline: Annotated[UUID | None, typer.Option(help="Run to compare with; default: the previous one.")] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, writable=True, help="File to write the page to.")
    ] = Path("report.html"),
    language: Annotated[Literal["es", "fr", "en"], typer.Option(help="Language of the page.")] = "en",
) -> None:
    """Write a run as a self-contained HTML page with charts."""
    if not output.absolute().parent.is_dir():  # said before the work, not after it
        raise typer.BadParameter(f"There is no folder {output.parent}.", param_hint="--output")
    found = run(lambda services: _read(services, collection, run_id, baseline))
    output.write_bytes(write_page(found, language).encode(errors="replace"))
    out.print(say("wrote", path=output), highlight=False, soft_wrap=True)


async def _read(services: Services, collection: str | None, run_id: UUID | None, baseline: UUID | None) -> RunReport:
    owner = services.owner
    asked = run_id or (await find_latest(services, owner, collection)).id
    return await read_report(services, owner, asked, baseline_id=baseline)


def judges(as_json: JsonOption = False) -> None:
    """Show the answer metrics, the judge model and its prompts."""
    described = run(_describe)
    if as_json:
        print_json(described)
        return
    for name, meaning in described["metrics"].items():
        out.print(f"{name}: {meaning}", highlight=False, soft_wrap=True)
    model = described["judge_model"] or say("no_judge")
    out.print("\n" + say("judge", model=model), highlight=False, soft_wrap=True)
    out.print(say("estimate_threshold", score=SUPPORTED_FROM), highlight=False)
    for name, prompt in described["prompts"].items():
        out.print(f"\n{name}", style="bold", highlight=False)
        out.print(prompt, highlight=False, soft_wrap=True)


async def _describe(services: Services) -> dict[str, Any]:
    return {
        "metrics": ANSWER_METRICS,
        "judge_model": services.judge_model.name if services.judge_model else None,
        "estimate_threshold": SUPPORTED_FROM,
        "prompts": PROMPTS,
        "prompts_hash": PROMPTS_HASH,
    }


WIDTH = 10  # of a bar, in characters


def trend(
    collection: CollectionOption = None,
    metric: Annotated[str, typer.Option(help="Metric to draw.")] = DECIDING,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Number of runs, the latest ones.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show the trend of a collection's runs, each compared with the previous one."""
    name, points = run(lambda services: _read_trend(services, collection, limit))
    if as_json:
        print_json(RetrievalMetrics.of(name, points).model_dump(mode="json"))
        return
    known = {known for point in points for known in point.metrics}
    if known and metric not in known:
        raise typer.BadParameter(f"These runs have {', '.join(sorted(known))}.", param_hint="--metric")
    _print(metric, points[::-1])


async def _read_trend(services: Services, collection: str | None, limit: int) -> tuple[str, list[TrendPoint]]:
    asked = await services.collections.open(services.owner, collection)
    return asked.name, await read_trend(services.evaluations, asked.owner_id, asked.id, limit=limit)


def _print(metric: str, points: Sequence[TrendPoint]) -> None:
    """The latest last, as a curve is read."""
    cases = say("column_cases")
    table = Table(whole(say("column_finished")), say("column_name"), cases, whole(metric), "", say("column_since"))
    for point in points:
        value = point.metrics.get(metric)
        table.add_row(
            f"{point.run.finished_at:%Y-%m-%d %H:%M}",
            point.run.name,
            f"{point.summary['cases']}{'' if point.has_same_cases else say('other_cases')}",
            "" if value is None else f"{value:.4f}",
            "" if value is None else Bar(1, 0, value, width=WIDTH),
            _change(metric, point),
        )
    print_table(table, (cases,))
    for point in points:
        if point.is_worse:
            err.print("\n".join(f"{point.run.id}: {of}" for of in point.changes if of.verdict == "worse"), style="red")


def _change(metric: str, point: TrendPoint) -> str:
    change = next((change for change in point.changes if change.metric == metric), None)
    if change is None:
        return ""
    return f"{change.difference:+.4f} (p = {change.p_value:.3f}): {say(f'verdict_{change.verdict}')}"


app = typer.Typer(help="Measure the quality of retrieval and answers.", no_args_is_help=True)
app.add_typer(golden, name="golden")
app.add_typer(schedules, name="schedule")
app.command("run")(measure)
app.command("list")(list_runs)
app.command()(show)
app.command()(compare)
app.command()(trend)
app.command("report")(report)
app.command()(judges)
app.command()(export)
app.command()(gate)


@app.command()
def ir(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="corpus.jsonl, queries.jsonl and qrels.tsv (BEIR).")],
    strategy: Annotated[
        Literal["fulltext", "semantic", "hybrid"] | None, typer.Option(help="Default: RAG_STRATEGY, or auto.")
    ] = None,
    rerank: Annotated[bool, typer.Option(help="Rerank the candidates.")] = True,
    graph: Annotated[bool, typer.Option(help="Graph expansion, when a question needs it.")] = True,
    fulltext_ranking: Annotated[
        FulltextRanking | None, typer.Option(help="Full-text scoring; default: RAG_FULLTEXT_RANKING, or bm25.")
    ] = None,
    k: Annotated[int, typer.Option(help="Results per query.", min=10, max=1000)] = 10,
    limit: Annotated[int | None, typer.Option(help="Use only the first queries.", min=1)] = None,
    embedding_model: Annotated[
        str | None, typer.Option(help="Id of the embedding model; default: the default model.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, writable=True, help="Write the report to this file.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the collection for the next run.")] = False,
    collection: Annotated[
        str | None, typer.Option(help="Name of the collection; an existing one with the same documents is reused.")
    ] = None,
) -> None:
    """Measure retrieval on a dataset in BEIR format, loaded into its own collection."""
    if json_file and not json_file.absolute().parent.is_dir():  # said before the run, not after it
        raise typer.BadParameter(f"There is no folder {json_file.parent}.", param_hint="--json")
    dataset = read_dataset(folder)
    name = collection or f"eval-{dataset.name}-{token_hex(4)}"
    choices = {"strategy": strategy, "fulltext_ranking": fulltext_ranking, "rerank": rerank, "graph": graph, "top_k": k}
    given = {option: value for option, value in choices.items() if value is not None}
    queries = dataset.queries[:limit]
    report = run(
        lambda services: _measure(services, dataset, queries, name, given, embedding_model=embedding_model, keep=keep)
    )
    _print_report(report)
    if keep:
        out.print(say("kept_collection", name=name), highlight=False, soft_wrap=True)
    if json_file:
        json_file.write_text(json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


async def _measure(
    services: Services,
    dataset: Dataset,
    queries: Sequence[DatasetQuery],
    name: str,
    choices: dict[str, Any],
    *,
    embedding_model: str | None,
    keep: bool,
) -> Report:
    config, _ = services.settings.retrieval.overridden(choices)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        documents_bar = progress.add_task(say("indexing"), total=len(dataset.documents))
        queries_bar = progress.add_task(say("searching"), total=len(queries), start=False)
        async with loaded(
            dataset,
            services=services,
            name=name,
            embedding_model=embedding_model,
            keep=keep,
            advance=lambda done: progress.advance(documents_bar, done),
        ) as load:
            progress.start_task(queries_bar)
            return await run_queries(
                dataset,
                queries,
                services=services,
                load=load,
                config=config,
                advance=lambda done: progress.advance(queries_bar, done),
            )


def _print_report(report: Report) -> None:
    values = report.as_json()
    config = ", ".join(f"{name} {value}" for name, value in values["config"].items() if value is not None)
    out.print(
        say("dataset", name=values["dataset"], documents=values["documents"], queries=values["queries"]),
        highlight=False,
    )
    out.print(config, style="dim", highlight=False)
    table = Table(say("column_metric"), say("column_value"))
    for name, value in values["metrics"].items():
        table.add_row(name, f"{value:.4f}")
    for name, value in values["latency_ms"].items():
        table.add_row(f"{say('latency')} {name}", f"{value:.1f} ms")
    table.add_row(say("indexing"), f"{values['ingest']['seconds']:.1f} s")
    table.add_row(say("column_chunks"), str(values["ingest"]["chunks"]))
    out.print(table)
    if skipped := values["ingest"]["skipped"]:
        err.print(say("documents_skipped", count=skipped), style="yellow")
    for stage, count in values["degraded"].items():
        err.print(say("searched_without", count=count, stage=stage), style="yellow")

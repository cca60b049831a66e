"""The command eval: datasets, reports, judges, trends."""

import json
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Literal
from uuid import UUID

import typer
from rich.bar import Bar
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import DECIDING
from agent.evaluation.judges import PROMPTS, PROMPTS_HASH, SUPPORTED_FROM
from agent.evaluation.report import RunReport, find_latest, read_report
from agent.evaluation.report_page import write_page
from agent.evaluation.retrieval_run import Dataset, DatasetQuery, Report, loaded, read_dataset, run_queries
from agent.evaluation.trend import TrendPoint, read_trend
from api.cli.evaluation_gate import export, gate
from api.cli.evaluation_runs import compare, list_runs, measure, show
from api.cli.golden import app as golden
from api.cli.schedules import app as schedules
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, print_table, run
from api.schemas.evaluations import RetrievalMetrics
from graphrag.models import FulltextRanking
from graphrag.services import Services


def report(
    run_id: Annotated[UUID | None, typer.Argument(metavar="[RUN]", help="Its id; without one, the last done.")] = None,
    collection: CollectionOption = None,
    baseline: Annotated[UUID | None, typer.Option(help="The run to compare with; without one, that before it.")] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, writable=True, help="Where the page is written.")
    ] = Path("report.html"),
    language: Annotated[Literal["es", "fr", "en"], typer.Option(help="Of the page.")] = "en",
) -> None:
    """Write a run as one HTML page with charts, which needs no network and no script."""
    if not output.absolute().parent.is_dir():  # said before the work, not after it
        raise typer.BadParameter(f"There is no folder {output.parent}.", param_hint="--output")
    found = run(lambda services: _read(services, collection, run_id, baseline))
    output.write_bytes(write_page(found, language).encode(errors="replace"))
    out.print(f"Wrote {output}", highlight=False, soft_wrap=True)


async def _read(services: Services, collection: str | None, run_id: UUID | None, baseline: UUID | None) -> RunReport:
    owner = services.owner
    asked = run_id or (await find_latest(services, owner, collection)).id
    return await read_report(services, owner, asked, baseline_id=baseline)


def judges(as_json: JsonOption = False) -> None:
    """Show the metrics of answers, the model that judges them, and its prompts."""
    described = run(_describe)
    if as_json:
        print_json(described)
        return
    for name, meaning in described["metrics"].items():
        out.print(f"{name}: {meaning}", highlight=False, soft_wrap=True)
    model = described["judge_model"] or "none: set RAG_CHAT_MODEL or RAG_JUDGE_MODEL; until then, estimates stand in"
    out.print(f"\nJudge: {model}", highlight=False, soft_wrap=True)
    out.print(f"An estimate takes a statement for supported from a score of {SUPPORTED_FROM} on.", highlight=False)
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
    metric: Annotated[str, typer.Option(help="That is drawn.")] = DECIDING,
    limit: Annotated[int, typer.Option(min=1, max=200, help="The latest so many runs.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show how a collection's runs went on, each against the one before it."""
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


app = typer.Typer(help="Measure how good the parts of an answer are.", no_args_is_help=True)
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
        Literal["fulltext", "semantic", "hybrid"] | None, typer.Option(help="Without it RAG_STRATEGY, or auto.")
    ] = None,
    rerank: Annotated[bool, typer.Option(help="Rerank the candidates.")] = True,
    graph: Annotated[bool, typer.Option(help="Follow names from passage to passage where a question needs it.")] = True,
    fulltext_ranking: Annotated[
        FulltextRanking | None, typer.Option(help="Without it RAG_FULLTEXT_RANKING, or bm25.")
    ] = None,
    k: Annotated[int, typer.Option(help="Hits a query.", min=10, max=1000)] = 10,
    limit: Annotated[int | None, typer.Option(help="Only the first queries.", min=1)] = None,
    embedding_model: Annotated[str | None, typer.Option(help="Its id; without it the default one.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, writable=True, help="Write the report there.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the collection for the next run.")] = False,
    collection: Annotated[
        str | None, typer.Option(help="Its name; one that holds the same documents is searched as it is.")
    ] = None,
) -> None:
    """Measure retrieval on a dataset in BEIR's format, loaded into a collection of its own."""
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
        out.print(f"Kept as collection {name}", highlight=False, soft_wrap=True)
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
        documents_bar = progress.add_task("Indexing", total=len(dataset.documents))
        queries_bar = progress.add_task("Searching", total=len(queries), start=False)
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
    out.print(f"{values['dataset']}: {values['documents']} documents, {values['queries']} queries", highlight=False)
    out.print(config, style="dim", highlight=False)
    table = Table("Metric", "Value")
    for name, value in values["metrics"].items():
        table.add_row(name, f"{value:.4f}")
    for name, value in values["latency_ms"].items():
        table.add_row(f"latency {name}", f"{value:.1f} ms")
    table.add_row("indexing", f"{values['ingest']['seconds']:.1f} s")
    table.add_row("chunks", str(values["ingest"]["chunks"]))
    out.print(table)
    if skipped := values["ingest"]["skipped"]:
        err.print(f"{skipped} documents hold no text and were left out.", style="yellow")
    for stage, count in values["degraded"].items():
        err.print(f"{count} queries were searched without {stage}.", style="yellow")

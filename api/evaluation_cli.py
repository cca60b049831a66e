"""The command line's `eval`: how good the answers' parts are, measured on datasets and on golden cases."""

import json
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agent.evaluation.dataset import Dataset, Query, read_dataset
from agent.evaluation.retrieval_run import Report, loaded, run_queries
from api.comparison_cli import compare
from api.evaluation_gate_cli import export, gate
from api.evaluation_runs_cli import list_runs, measure, show
from api.experiment_cli import app as experiment
from api.golden_cli import app as golden
from api.judges_cli import judges
from api.report_cli import report as report_run
from api.schedules_cli import app as schedules
from api.terminal import err, out, run
from api.trend_cli import trend
from graphrag.models import FulltextRanking
from graphrag.services import Services

app = typer.Typer(help="Measure how good the parts of an answer are.", no_args_is_help=True)
app.add_typer(golden, name="golden")
app.add_typer(schedules, name="schedule")
app.add_typer(experiment, name="experiment")
app.command("run")(measure)
app.command("list")(list_runs)
app.command()(show)
app.command()(compare)
app.command()(trend)
app.command("report")(report_run)
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
    queries: Sequence[Query],
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

"""The command line's `eval run`, `list` and `show`: search and answers measured over golden cases."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, get_args
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.golden_run import Evaluator, order_run
from agent.evaluation.metrics import METRICS
from api.evaluation_options import (
    AnswersOption,
    DepthOption,
    JudgeOption,
    NameOption,
    OverridesOption,
    VersionOption,
    read_overrides,
)
from api.evaluation_schemas import EvaluationOut
from api.terminal import CollectionOption, JsonOption, err, out, print_json, print_table, run
from graphrag.evaluation_models import Category, Difficulty, EvaluationRun, RunStatus
from graphrag.services import Services

POLL_SECONDS = 0.1
whole = partial(Column, no_wrap=True)
SHORT = ("hit@10", "ndcg@10")  # in a list
ESTIMATED = "The values that end in _estimate are estimates by words and meaning, without a judge: see `eval judges`."
GROUPS = ("all", *get_args(Category), *get_args(Difficulty))
RunArgument = Annotated[UUID, typer.Argument(metavar="RUN", help="Its id: see `eval list`.")]


def measure(
    collection: CollectionOption = None,
    name: NameOption = "",
    version: VersionOption = None,
    option: OverridesOption = None,
    k: DepthOption = None,
    answers: AnswersOption = True,
    judge: JudgeOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Ask every golden case's question, as a user would, and keep the figures."""
    choices: dict[str, Any] = {"name": name, "version": version, "k": k, "answers": answers, "judge": judge}
    choices["overrides"] = read_overrides(option)
    found = run(lambda services: run_cases(services, collection, **choices))
    _show(found, as_json=as_json)
    if found.status is not RunStatus.DONE:
        raise typer.Exit(1)


async def run_cases(services: Services, collection: str | None, **choices: Any) -> EvaluationRun:
    """By a worker of this process, unless another one has taken it first."""
    asked = await services.collection(services.settings.owner, collection)
    ordered = await order_run(asked, services=services, **choices)
    columns = (TextColumn("Measuring"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task("", total=ordered.total)
        async with services.library.queue.working(services.workshop, Evaluator(services)):
            while not (now := await services.evaluations.find(ordered.owner_id, ordered.id)).status.is_over:
                progress.update(bar, completed=now.done)
                await asyncio.sleep(POLL_SECONDS)
        progress.update(bar, completed=now.done)
    return now


def list_runs(collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """Show the latest 50 runs."""
    runs = run(lambda services: _list(services, collection))
    if as_json:
        print_json({"evaluations": [EvaluationOut.of(found).model_dump(mode="json") for found in runs]})
        return
    table = Table(whole("Run"), "Name", "Collection", "Status", *SHORT)
    for found in runs:
        metrics = (found.summary or {}).get("metrics", {})
        table.add_row(
            str(found.id),
            found.name,
            found.collection,
            found.status.value,
            *(f"{metrics[name]:.3f}" if name in metrics else "" for name in SHORT),
        )
    print_table(table, ("hit@10", "Collection"))


async def _list(services: Services, collection: str | None) -> list[EvaluationRun]:
    owner = services.settings.owner
    of = (await services.collection(owner, collection)).id if collection else None
    return await services.evaluations.list_all(owner, collection_id=of, limit=50)


def show(run_id: RunArgument, as_json: JsonOption = False) -> None:
    """Show a run's figures."""
    _show(run(lambda services: services.evaluations.find(services.settings.owner, run_id)), as_json=as_json)


def _show(found: EvaluationRun, *, as_json: bool) -> None:
    if as_json:
        print_json(EvaluationOut.of(found).model_dump(mode="json"))
        return
    title = f"{found.id} {found.name}".rstrip()
    out.print(f"{title}: {found.status.value}, {found.done} of {found.total} cases", highlight=False)
    if found.cause:
        err.print(found.cause, style="red", highlight=False)
    for warning in found.warnings:
        err.print(warning, style="yellow", highlight=False)
    if found.summary:
        print_table(_figures(found.summary), GROUPS[:0:-1])
        out.print(_latencies(found.summary), highlight=False)
        if found.config.get("judge") == "estimate":
            out.print(ESTIMATED, highlight=False, soft_wrap=True)


def _figures(summary: Mapping[str, Any]) -> Table:
    found = {"all": summary, **summary["by_category"], **summary["by_difficulty"]}
    groups = {name: found[name] for name in GROUPS if name in found}
    table = Table(whole("Metric"), "of", *groups)
    table.add_row("cases", "", *(str(group["cases"]) for group in groups.values()))
    for name in (*METRICS, *(name for name in ANSWER_METRICS if name in summary["metrics"])):
        values = [group["metrics"].get(name) for group in groups.values()]
        # Of a run from before the answers, each metric is of all its cases.
        count = summary.get("defined", {}).get(name, summary["cases"])
        table.add_row(name, str(count), *("" if value is None else f"{value:.3f}" for value in values))
    return table


def _latencies(summary: Mapping[str, Any]) -> str:
    """A line for each: milliseconds."""
    answers = summary.get("answers") or {}
    timed = {
        "latency": summary["latency_ms"],
        "answer latency": answers.get("latency_ms", {}),
        "first token": answers.get("first_token_ms", {}),
    }
    return "\n".join(
        f"{name}: {', '.join(f'{percent} {value:.1f} ms' for percent, value in values.items())}"
        for name, values in timed.items()
        if values
    )

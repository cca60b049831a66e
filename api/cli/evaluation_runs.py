"""The commands eval run, list, show and compare."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from math import exp
from typing import Annotated, Any, get_args
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import COMPARED, DECIDING, Change, Comparison, compare_runs
from agent.evaluation.golden_run import Evaluator, order_run
from agent.evaluation.metrics import METRICS
from agent.evaluation.significance import SMALLEST, Effect, Verdict
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, print_table, run
from api.schemas.evaluations import ComparisonOut, EvaluationOut
from graphrag.models.evaluation import Category, Difficulty, EvaluationRun, Judging, RunStatus
from graphrag.services import Services

NameOption = Annotated[str, typer.Option(help="What it is to be called.")]
VersionOption = Annotated[int | None, typer.Option(min=1, help="Of the golden cases; without one, as they are.")]
OverridesOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="In place of the collection's value.")
]
DepthOption = Annotated[int | None, typer.Option(min=1, max=1000, help="Passages a search.")]

AnswersOption = Annotated[bool, typer.Option(help="Answer each question, too, and judge the answer.")]
JudgeOption = Annotated[
    Judging, typer.Option(help="Of answers; auto: a model where one may read the collection, else an estimate.")
]


def read_overrides(texts: Sequence[str] | None) -> dict[str, Any]:
    """`rerank=false`, `strategy=hybrid`: a value is JSON, else a text."""
    return dict(_read(text) for text in texts or [])


def _read(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise typer.BadParameter(f"{text}: not NAME=VALUE", param_hint="--set")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


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
    """Run the evaluation by a worker of this process, unless another worker claims it first."""
    asked = await services.collections.open(services.owner, collection)
    ordered = await order_run(asked, services=services, **choices)
    columns = (TextColumn("Measuring"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        bar = progress.add_task("", total=ordered.total)
        async with services.documents.queue.working(services.jobs, Evaluator(services)):
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
    owner = services.owner
    of = (await services.collections.open(owner, collection)).id if collection else None
    return await services.evaluations.list_all(owner, collection_id=of, limit=50)


def show(run_id: RunArgument, as_json: JsonOption = False) -> None:
    """Show a run's figures."""
    _show(run(lambda services: services.evaluations.find(services.owner, run_id)), as_json=as_json)


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


VERDICTS: dict[Verdict, str] = {
    "better": "better",
    "worse": "worse",
    "no_difference_shown": "none shown",
    "too_few_questions": "too few",  # questions
}
SPARE = ("95 %", "Change", "Before")  # where there is no room for all


def compare(
    baseline: RunArgument,
    candidate: RunArgument,
    metric: Annotated[str, typer.Option(help="That decides who wins a case.")] = DECIDING,
    smallest: Annotated[
        float, typer.Option(min=0.001, max=1, help="The difference of interest: how many questions would tell?")
    ] = SMALLEST,
    as_json: JsonOption = False,
) -> None:
    """Show two runs side by side, what is more than chance, and the cases that changed."""
    if metric not in COMPARED:
        raise typer.BadParameter(f"Known: {', '.join(COMPARED)}.", param_hint="--metric")
    found = run(
        lambda services: compare_runs(
            services.evaluations,
            services.owner,
            baseline,
            candidate,
            metric=metric,
            smallest=smallest,
        )
    )
    if as_json:
        print_json(ComparisonOut.of(found, list(found.changed), None).model_dump(mode="json"))
    else:
        _print_comparison(found)


def _print_comparison(found: Comparison) -> None:
    for name, (before, after) in found.config.items():
        out.print(f"{name}: {before} → {after}", style="dim", highlight=False)
    print_table(_changes("Metric", {name: found.metrics[name] for name in COMPARED if name in found.metrics}), SPARE)
    if found.by_category:
        print_table(_changes(f"{found.metric} of", found.by_category), SPARE)
    latencies = Table(whole("Latency"), "Before", "After", "Change")
    for name, value in found.latency_ms.items():
        latencies.add_row(name, f"{value.baseline:.1f} ms", f"{value.candidate:.1f} ms", f"{value.difference:+.1f} ms")
    out.print(latencies)
    for line in (*_sentences(found), *_changed(found)):
        out.print(line, highlight=False, soft_wrap=True)


def _changes(title: str, changes: Mapping[str, Change]) -> Table:
    table = Table(whole(title), "Before", "After", "Change", whole("95 %"), whole("p (corrected)"), whole("Verdict"))
    for name, change in changes.items():
        effect = change.effect
        interval = "–" if effect.low is None else f"[{effect.low:+.2f}, {effect.high:+.2f}]"
        table.add_row(
            name,
            f"{change.baseline:.3f}",
            f"{change.candidate:.3f}",
            f"{change.difference:+.3f}",
            interval,
            f"{effect.p_value:.3f} ({change.corrected:.3f})",
            VERDICTS[change.verdict],
        )
    return table


def _sentences(found: Comparison) -> list[str]:
    told = [f"By {found.metric}, of {found.cases} cases: {found.won} won, {found.lost} lost, {found.tied} tied"]
    if change := found.metrics.get(found.metric):
        told.append(_needed(found.metric, change.effect))
    if found.speed.difference is not None:
        ratio = exp(-found.speed.difference)
        told.append(f"A search took {ratio:.2f} times as long (p {found.speed.p_value:.3f})")
    return told


def _needed(metric: str, effect: Effect) -> str:
    if effect.needed_for_smallest is None:
        return f"One question does not tell how many would settle a difference in {metric}"
    settled = f"{effect.needed_for_smallest} questions would settle a difference of {effect.smallest:g} in {metric}"
    return f"{settled}, {effect.needed} one like this" if effect.needed else settled


def _changed(found: Comparison) -> list[str]:
    return [
        f"{case.outcome}: {case.baseline.query} (rank {case.baseline.rank or '–'} → {case.candidate.rank or '–'})"
        for case in found.changed
    ]

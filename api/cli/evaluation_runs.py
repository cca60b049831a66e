"""The commands `causeway eval run`, `list`, `show`, `compare`, `export` and `gate`."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from math import exp
from pathlib import Path
from typing import Annotated, Any, get_args
from uuid import UUID

import typer
from pydantic import BaseModel, ValidationError
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import COMPARED, DECIDING, Change, Comparison, check_done, compare_runs
from agent.evaluation.gate import Baseline, BaselineQuestion, MetricCheck, NotComparable, check_metrics, hold
from agent.evaluation.golden_run import Evaluator, order_run
from agent.evaluation.metrics import METRICS
from agent.evaluation.significance import ALPHA, EPSILON, SMALLEST, Effect
from api.cli.terminal import CollectionOption, JsonOption, describe_error, err, out, print_json, print_table, run, say
from api.schemas.evaluations import CaseResultOut, ComparisonOut, EvaluationOut
from graphrag.errors import CausewayError
from graphrag.models.evaluation import CaseResult, Category, Difficulty, EvaluationRun, Judging, RunStatus
from graphrag.services import Services

NameOption = Annotated[str, typer.Option(help="Name of the run.")]
VersionOption = Annotated[
    int | None, typer.Option(min=1, help="Version of the golden cases; default: the current cases.")
]
OverridesOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Override an option of the collection; repeatable."),
]
DepthOption = Annotated[int | None, typer.Option(min=1, max=1000, help="Passages per search.")]

AnswersOption = Annotated[bool, typer.Option(help="Also answer each question, and judge the answers.")]
JudgeOption = Annotated[
    Judging,
    typer.Option(help="Judge of the answers; auto: a model if one is available for the collection, else an estimate."),
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
COMPARISON = ("before", "after", "change", "corrected", "verdict")  # columns
GROUPS = ("all", *get_args(Category), *get_args(Difficulty))
RunArgument = Annotated[UUID, typer.Argument(metavar="RUN", help="Id of the run: see `eval list`.")]


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
    """Evaluate a collection on its golden cases and save the metrics."""
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
    columns = (TextColumn(say("measuring")), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
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
    table = Table(whole(say("column_run")), say("column_name"), say("column_collection"), say("column_status"), *SHORT)
    for found in runs:
        metrics = (found.summary or {}).get("metrics", {})
        table.add_row(
            str(found.id),
            found.name,
            found.collection,
            say(f"run_{found.status}"),
            *(f"{metrics[name]:.3f}" if name in metrics else "" for name in SHORT),
        )
    print_table(table, ("hit@10", say("column_collection")))


async def _list(services: Services, collection: str | None) -> list[EvaluationRun]:
    owner = services.owner
    of = (await services.collections.open(owner, collection)).id if collection else None
    return await services.evaluations.list_all(owner, collection_id=of, limit=50)


def show(run_id: RunArgument, as_json: JsonOption = False) -> None:
    """Show the metrics of a run."""
    _show(run(lambda services: services.evaluations.find(services.owner, run_id)), as_json=as_json)


def _show(found: EvaluationRun, *, as_json: bool) -> None:
    if as_json:
        print_json(EvaluationOut.of(found).model_dump(mode="json"))
        return
    title = f"{found.id} {found.name}".rstrip()
    status = say(f"run_{found.status}")
    out.print(say("run_state", run=title, status=status, done=found.done, total=found.total), highlight=False)
    if found.cause:
        err.print(found.cause, style="red", highlight=False)
    for warning in found.warnings:
        err.print(warning, style="yellow", highlight=False)
    if found.summary:
        print_table(_figures(found.summary), GROUPS[:0:-1])
        out.print(_latencies(found.summary), highlight=False)
        if found.config.get("judge") == "estimate":
            out.print(say("estimates"), highlight=False, soft_wrap=True)


def _figures(summary: Mapping[str, Any]) -> Table:
    found = {"all": summary, **summary["by_category"], **summary["by_difficulty"]}
    groups = {name: found[name] for name in GROUPS if name in found}
    table = Table(whole(say("column_metric")), say("column_of"), *groups)
    table.add_row(say("column_cases").lower(), "", *(str(group["cases"]) for group in groups.values()))
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
        say("latency"): summary["latency_ms"],
        say("answer_latency"): answers.get("latency_ms", {}),
        say("first_token"): answers.get("first_token_ms", {}),
    }
    return "\n".join(
        f"{name}: {', '.join(f'{percent} {value:.1f} ms' for percent, value in values.items())}"
        for name, values in timed.items()
        if values
    )


def compare(
    baseline: RunArgument,
    candidate: RunArgument,
    metric: Annotated[str, typer.Option(help="Metric that decides which run wins a case.")] = DECIDING,
    smallest: Annotated[
        float,
        typer.Option(min=0.001, max=1, help="Smallest difference of interest, for the number of questions needed."),
    ] = SMALLEST,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: metrics, significance, and the cases that changed."""
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
    spare = ("95 %", say("column_change"), say("column_before"))  # where there is no room for all
    for name, (before, after) in found.config.items():
        out.print(f"{name}: {before} → {after}", style="dim", highlight=False)
    print_table(
        _changes(say("column_metric"), {name: found.metrics[name] for name in COMPARED if name in found.metrics}), spare
    )
    if found.by_category:
        print_table(_changes(say("metric_of", metric=found.metric), found.by_category), spare)
    latencies = Table(whole(say("latency")), *(say(f"column_{name}") for name in ("before", "after", "change")))
    for name, value in found.latency_ms.items():
        latencies.add_row(name, f"{value.baseline:.1f} ms", f"{value.candidate:.1f} ms", f"{value.difference:+.1f} ms")
    out.print(latencies)
    for line in (*_sentences(found), *_changed(found)):
        out.print(line, highlight=False, soft_wrap=True)


def _changes(title: str, changes: Mapping[str, Change]) -> Table:
    before, after, change, corrected, verdict = (say(f"column_{name}") for name in COMPARISON)
    table = Table(whole(title), before, after, change, whole("95 %"), whole(corrected), whole(verdict))
    for name, of in changes.items():
        effect = of.effect
        interval = "–" if effect.low is None else f"[{effect.low:+.2f}, {effect.high:+.2f}]"
        table.add_row(
            name,
            f"{of.baseline:.3f}",
            f"{of.candidate:.3f}",
            f"{of.difference:+.3f}",
            interval,
            f"{effect.p_value:.3f} ({of.corrected:.3f})",
            say(f"verdict_{of.verdict}"),
        )
    return table


def _sentences(found: Comparison) -> list[str]:
    counts = {"won": found.won, "lost": found.lost, "tied": found.tied}
    sentences = [say("cases_won", metric=found.metric, cases=found.cases, **counts)]
    if change := found.metrics.get(found.metric):
        sentences.append(_needed(found.metric, change.effect))
    if found.speed.difference is not None:
        ratio, p = f"{exp(-found.speed.difference):.2f}", f"{found.speed.p_value:.3f}"
        sentences.append(say("search_speed", ratio=ratio, p=p))
    return sentences


def _needed(metric: str, effect: Effect) -> str:
    if effect.needed_for_smallest is None:
        return say("needed_unknown", metric=metric)
    smallest = f"{effect.smallest:g}"
    needed = say("needed_for_smallest", count=effect.needed_for_smallest, smallest=smallest, metric=metric)
    return needed + say("needed_for_this", count=effect.needed) if effect.needed else needed


def _changed(found: Comparison) -> list[str]:
    return [
        f"{say(f'case_{case.outcome}')}: {case.baseline.query} "
        f"({say('rank')} {case.baseline.rank or '–'} → {case.candidate.rank or '–'})"
        for case in found.changed
    ]


class EvaluationExport(EvaluationOut):
    """A run with its cases."""

    results: list[CaseResultOut]

    @classmethod
    def of_results(cls, run: EvaluationRun, results: list[CaseResult]) -> "EvaluationExport":
        return cls(**EvaluationOut.of(run).model_dump(), results=[CaseResultOut.of(result) for result in results])


class _Group(BaseModel):
    cases: int
    metrics: dict[str, float]
    defined: dict[str, int] = {}


class _Summary(_Group):
    by_category: dict[str, _Group]
    by_difficulty: dict[str, _Group]


class _Case(BaseModel):
    query: str
    metrics: dict[str, float]


class _Run(BaseModel):
    """The parts of a run that a baseline needs, from `eval export`, `eval run --json` and `eval show --json`."""

    summary: _Summary | None
    results: list[_Case] | None = None


def read_baseline(path: Path) -> Baseline:
    """Raises NotComparable."""
    try:
        found = _Run.model_validate_json(path.read_bytes())
    except OSError as exc:
        raise NotComparable(f"{path}: {exc.strerror}. A baseline is a run's id, or a file of `eval export`.") from exc
    except ValidationError as exc:
        error = exc.errors()[0]
        reason = ": ".join(filter(None, [".".join(map(str, error["loc"])), error["msg"]]))
        raise NotComparable(f"{path} is not what `eval export` writes: {reason}.") from exc
    if found.summary is None:
        raise NotComparable(f"{path}: this run was not done, and has no figures.")
    questions = None if found.results is None else tuple(BaselineQuestion(of.query, of.metrics) for of in found.results)
    return Baseline(found.summary.model_dump(), questions)


DROPPED, UNMEASURED = 1, 2
MOST_SHOWN = 10  # questions that fell


def export(
    run_id: RunArgument,
    file: Annotated[
        Path | None, typer.Argument(dir_okay=False, writable=True, help="File to write; default: standard output.")
    ] = None,
) -> None:
    """Write a run with all its cases as JSON, a baseline for `eval gate`."""
    text = run(lambda services: _export(services, run_id)).model_dump_json(indent=2) + "\n"
    if file:
        file.write_text(text, encoding="utf-8")
    else:
        out.file.write(text)


async def _export(services: Services, run_id: UUID) -> EvaluationExport:
    found = await services.evaluations.find(services.owner, run_id)
    return EvaluationExport.of_results(found, await services.evaluations.read_results(found))


def gate(
    baseline: Annotated[
        str,
        typer.Option(
            metavar="FILE|RUN", help="File written by `eval export` or `eval show --json`, or the id of a run."
        ),
    ],
    max_drop: Annotated[float, typer.Option(min=0, max=1, help="Largest accepted drop of a metric's mean.")] = 0.02,
    metric: Annotated[
        list[str] | None, typer.Option(help=f"May be given again; without one {' and '.join(SHORT)}.")
    ] = None,
    collection: CollectionOption = None,
    run_id: Annotated[
        UUID | None, typer.Option("--run", metavar="RUN", help="Compare this run instead of starting a new one.")
    ] = None,
) -> None:
    """Compare a collection with a baseline. Exit code 0: no regression, 1: regression, 2: not measured."""
    if run_id and collection:
        raise typer.BadParameter("A run has its collection.", param_hint="--collection")
    try:
        held = run(lambda services: _hold(services, baseline, collection, run_id, metric or SHORT, max_drop))
    except CausewayError as exc:
        err.print(say("not_measured", reason=describe_error(exc)), style="red", highlight=False, soft_wrap=True)
        raise typer.Exit(UNMEASURED) from None
    for of in held:
        _print_held(of)
    if any(of.dropped for of in held):
        raise typer.Exit(DROPPED)


async def _hold(
    services: Services,
    baseline: str,
    collection: str | None,
    run_id: UUID | None,
    metrics: Sequence[str],
    max_drop: float,
) -> list[MetricCheck]:
    held_to = await _read_baseline(services, baseline)  # before the run: what is wrong with it is told at once
    check_metrics(held_to, metrics)
    owner = services.owner
    if run_id:
        found = await services.evaluations.find(owner, run_id)
    else:
        answers = not METRICS.keys() >= set(metrics)
        found = await run_cases(services, collection, name="gate", answers=answers)
    if found.status is RunStatus.FAILED:
        raise NotComparable(f"The evaluation {found.id} failed: {found.cause}")
    check_done(found)
    _warn(found)
    return hold(await services.evaluations.read_results(found), held_to, metrics=metrics, max_drop=max_drop)


async def _read_baseline(services: Services, baseline: str) -> Baseline:
    try:
        run_id = UUID(baseline)
    except ValueError:
        return read_baseline(Path(baseline))
    found = await services.evaluations.find(services.owner, run_id)
    check_done(found)
    results = await services.evaluations.read_results(found)
    return Baseline(found.summary or {}, tuple(BaselineQuestion(of.query, of.metrics) for of in results))


def _warn(found: EvaluationRun) -> None:
    degraded = (found.summary or {}).get("degraded", {})
    skipped_stages = [say("searched_without", count=count, stage=stage) for stage, count in degraded.items()]
    for warning in (*found.warnings, *skipped_stages):
        err.print(warning, style="yellow", highlight=False)


def _print_held(of: MetricCheck) -> None:
    change = of.after - of.before
    verdict = say("gate_dropped", most=f"{of.max_drop:g}") if of.dropped else say("gate_holds")
    line = f"{of.metric}: {of.before:.4f} → {of.after:.4f} ({change:+.4f}), {verdict}{_significance(of)}"
    out.print(line, style="red" if of.dropped else "", highlight=False, soft_wrap=True)
    for query in of.fallen[:MOST_SHOWN] if of.dropped else ():
        out.print(say("gate_fell", query=query), highlight=False, soft_wrap=True)


def _significance(of: MetricCheck) -> str:
    if abs(of.after - of.before) < EPSILON:
        return ""
    if of.effect is None:
        return say("chance_unknown")
    significance = "more_than_chance" if of.effect.p_value <= ALPHA else "maybe_chance"
    return say(significance, p=f"{of.effect.p_value:.3f}")

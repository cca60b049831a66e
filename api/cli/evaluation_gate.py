"""The commands eval export and eval gate."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from pydantic import BaseModel, ValidationError

from agent.evaluation.comparison import check_done
from agent.evaluation.gate import Baseline, BaselineQuestion, MetricCheck, NotComparable, check_metrics, hold
from agent.evaluation.metrics import METRICS
from agent.evaluation.significance import ALPHA, EPSILON
from api.cli.evaluation_runs import SHORT, RunArgument, run_cases
from api.cli.terminal import CollectionOption, err, out, run
from api.schemas.evaluations import CaseResultOut, EvaluationOut
from graphrag.errors import CausewayError
from graphrag.models.evaluation import CaseResult, EvaluationRun, RunStatus
from graphrag.services import Services


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
    file: Annotated[Path | None, typer.Argument(dir_okay=False, writable=True, help="Else standard output.")] = None,
) -> None:
    """Write a run with all its cases as JSON, which `eval gate` takes for a baseline."""
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
        str, typer.Option(metavar="FILE|RUN", help="What `eval export` or `eval show --json` has written, or a run.")
    ],
    max_drop: Annotated[float, typer.Option(min=0, max=1, help="Of a metric's mean, that is let pass.")] = 0.02,
    metric: Annotated[
        list[str] | None, typer.Option(help=f"May be given again; without one {' and '.join(SHORT)}.")
    ] = None,
    collection: CollectionOption = None,
    run_id: Annotated[UUID | None, typer.Option("--run", metavar="RUN", help="Instead of a new one.")] = None,
) -> None:
    """Hold a collection to a baseline: 0 as good, 1 worse, 2 not measured."""
    if run_id and collection:
        raise typer.BadParameter("A run has its collection.", param_hint="--collection")
    try:
        held = run(lambda services: _hold(services, baseline, collection, run_id, metric or SHORT, max_drop))
    except CausewayError as exc:
        err.print(f"Not measured: {exc}", style="red", highlight=False, soft_wrap=True)
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
    told = [f"{count} searches did without {stage}" for stage, count in degraded.items()]
    for warning in (*found.warnings, *told):
        err.print(warning, style="yellow", highlight=False)


def _print_held(of: MetricCheck) -> None:
    change = of.after - of.before
    verdict = f"worse by more than {of.max_drop:g}" if of.dropped else "holds"
    line = f"{of.metric}: {of.before:.4f} → {of.after:.4f} ({change:+.4f}), {verdict}{_significance(of)}"
    out.print(line, style="red" if of.dropped else "", highlight=False, soft_wrap=True)
    for query in of.fallen[:MOST_SHOWN] if of.dropped else ():
        out.print(f"  fell: {query}", highlight=False, soft_wrap=True)


def _significance(of: MetricCheck) -> str:
    if abs(of.after - of.before) < EPSILON:
        return ""
    if of.effect is None:
        return "; whether by chance is unknown without the baseline's cases"
    told = "more than chance" if of.effect.p_value <= ALPHA else "may be chance"
    return f"; {told} (p {of.effect.p_value:.3f})"

"""The command line's `eval compare`: two runs side by side, and whether their difference is more than chance."""

from collections.abc import Mapping
from math import exp
from typing import Annotated

import typer
from rich.table import Table

from agent.evaluation.comparison import COMPARED, DECIDING, Change, Comparison, compare_runs
from agent.evaluation.significance import SMALLEST, Effect, Verdict
from api.comparison_schemas import ComparisonOut
from api.evaluation_runs_cli import RunArgument, whole
from api.terminal import JsonOption, out, print_json, print_table, run

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
            services.evaluations, services.settings.owner, baseline, candidate, metric=metric, smallest=smallest
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

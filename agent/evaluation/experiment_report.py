"""The two sides of an experiment compared. Conversations were drawn, not answers: each counts once, by its means.

Answers of one conversation are alike; taken for so many draws, they would show differences that are not there (Deng, Lu
& Litz 2017).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import NormalDist, fmean

from agent.evaluation.significance import ALPHA, POWER, SMALLEST, Effect, Verdict, holm, independent
from graphrag.models.experiments import Experiment, SideCounts, Unit, Variant

MORE_IS_BETTER = {
    "found": True,
    "supported": True,
    "liked": True,
    "degraded": False,
    "failed": False,
    "first_token_ms": False,
    "total_ms": False,
}
LATENCY_SHARE = 0.1  # of the mean: a smaller difference of latencies is of no interest
SUSPICIOUS = 0.001  # Kohavi, Tang & Xu 2020: so improbable a split is a fault, not chance
OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}
PEEKING = (
    "A p-value holds for one look, at a number of conversations that was fixed before. Who looks often, and stops when "
    "it is small, finds differences that are not there."
)


@dataclass(frozen=True, slots=True)
class MetricReport:
    """Means over conversations, and B against A."""

    a: float | None
    b: float | None
    effect: Effect
    corrected: float  # the p-value, for being one of several metrics
    verdict: Verdict  # on B
    needed: int | None  # conversations, of both sides together, that find a difference of this size
    needed_for_smallest: int | None  # the same for the smallest difference of interest


@dataclass(frozen=True, slots=True)
class ExperimentReport:
    sides: Mapping[Variant, SideCounts]
    metrics: Mapping[str, MetricReport]
    split_p_value: float | None  # that the draw alone splits so; None: there is nothing to tell by
    most_needed: int | None  # conversations that find SMALLEST in any share, whatever comes; None: A is never drawn
    warnings: tuple[str, ...]


def report(
    experiment: Experiment, sides: Sequence[SideCounts], units: Sequence[Unit], *, config_hashes: tuple[str, str]
) -> ExperimentReport:
    """`config_hashes`: of A and B as they would answer now."""
    by_variant = {side.variant: side for side in sides}
    split = _split_p_value(experiment, by_variant)
    return ExperimentReport(
        sides=by_variant,
        metrics=compare_units(units, share=experiment.share),
        split_p_value=split,
        most_needed=_both_sides(_most_needed(), experiment.share),
        warnings=tuple(_warnings(experiment, split, config_hashes)),
    )


def compare_units(units: Sequence[Unit], *, share: float) -> dict[str, MetricReport]:
    """Of every metric that some conversation has. One that is the same everywhere is no test, and corrects none."""
    values = {name: (_values(units, "A", name), _values(units, "B", name)) for name in MORE_IS_BETTER}
    known = {name: both for name, both in values.items() if both[0] or both[1]}
    effects = {name: independent(*both, smallest=_smallest(name, *both)) for name, both in known.items()}
    corrected = holm({name: effects[name].p_value for name, both in known.items() if len({*both[0], *both[1]}) > 1})
    return {name: _metric(name, *known[name], effects[name], corrected.get(name, 1.0), share) for name in known}


def _values(units: Sequence[Unit], variant: Variant, name: str) -> list[float]:
    found = (unit.means[name] for unit in units if unit.variant == variant)
    return [value for value in found if value is not None]


def _smallest(name: str, a: Sequence[float], b: Sequence[float]) -> float:
    return LATENCY_SHARE * fmean([*a, *b]) if name.endswith("_ms") else SMALLEST


def _metric(
    name: str, a: Sequence[float], b: Sequence[float], effect: Effect, corrected: float, share: float
) -> MetricReport:
    verdict = effect.verdict(corrected)
    return MetricReport(
        a=fmean(a) if a else None,
        b=fmean(b) if b else None,
        effect=effect,
        corrected=corrected,
        verdict=verdict if MORE_IS_BETTER[name] else OPPOSITE.get(verdict, verdict),
        needed=_both_sides(effect.needed, share),
        needed_for_smallest=_both_sides(effect.needed_for_smallest, share),
    )


def _both_sides(a_side: int | None, share: float) -> int | None:
    """An uneven split needs more: the variance of the difference goes with 1 / (1 - share) + 1 / share."""
    return ceil(a_side / (2 * share * (1 - share))) if a_side is not None and share < 1 else None


def _most_needed() -> int:
    """A side, for SMALLEST between two shares at .5, where they vary most."""
    normal = NormalDist()
    return ceil(0.5 * ((normal.inv_cdf(1 - ALPHA / 2) + normal.inv_cdf(POWER)) / SMALLEST) ** 2)


def _split_p_value(experiment: Experiment, sides: Mapping[Variant, SideCounts]) -> float | None:
    from scipy import stats

    counts = [sides[variant].conversations if variant in sides else 0 for variant in ("A", "B")]
    if not any(counts) or experiment.share == 1:
        return None
    return float(stats.binomtest(counts[1], sum(counts), experiment.share).pvalue)


def _warnings(experiment: Experiment, split: float | None, config_hashes: tuple[str, str]) -> list[str]:
    found = []
    if split is not None and split < SUSPICIOUS:
        found.append(
            f"The split is not as asked (p = {split:.2g}): something beside the draw says who is on which side."
        )
    began_with = experiment.config_hash_a, experiment.config_hash_b
    if experiment.stopped_at is None and config_hashes != began_with:
        found.append(
            "The configuration has changed since the experiment began: its sides are no longer what they were."
        )
    if len({*began_with}) == 1:
        found.append("Both sides are configured alike: every difference is chance.")
    return found

"""How often chance is taken for a difference, and how often a difference is found, over simulated runs of retrieval.

python -m tests.benchmarks.significance [--runs N]

Of each question the first relevant document has a rank; the second run draws it anew for some of the questions, so that
many differ and none is the better. Where a gain is planted, so many of the others come first that the mean rises by it.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from agent.evaluation.significance import ALPHA, SMALLEST, flip_signs, holm, paired, plan_pairs

SEED = 2026
QUESTIONS = (50, 100, 200)
PILOT = 1_000
REDRAWN = 0.3  # of the questions, by the second run
LOST = 0.25  # of the questions, whose document is not found
Values = NDArray[np.floating[Any]]
Pairs = tuple[Values, Values]  # before and after, a value a question


@dataclass(frozen=True)
class Power:
    """Of a planted gain: how many questions a first run of PILOT says that it needs, and how often so many find it."""

    needed: float  # mean
    found: float


def simulate(generator: np.random.Generator, questions: int) -> dict[str, Pairs]:
    """Two runs of which none is the better, by metrics of all kinds: 0 or 1, of ranks, and of any value."""
    before = _ranks(generator, questions)
    after = np.where(generator.random(questions) < REDRAWN, _ranks(generator, questions), before)
    quality = generator.beta(4, 2, questions)
    judged = [np.clip(quality + generator.normal(0, 0.1, questions), 0, 1) for _ in range(2)]
    return {
        "hit@10": ((before <= 10) * 1.0, (after <= 10) * 1.0),
        "mrr@10": (_within(before, 1 / before), _within(after, 1 / after)),
        "ndcg@10": (_within(before, 1 / np.log2(before + 1)), _within(after, 1 / np.log2(after + 1))),
        "faithfulness": (judged[0], judged[1]),
    }


def _ranks(generator: np.random.Generator, questions: int) -> Values:
    found = generator.geometric(0.4, questions).astype(np.float64)
    return np.where(generator.random(questions) < LOST, np.inf, found)


def _within(ranks: Values, values: Values) -> Values:
    return np.where(ranks <= 10, values, 0.0)


def plant(pairs: Pairs, generator: np.random.Generator, gain: float) -> Pairs:
    """Some of the second run's values become 1: the mean rises by the gain."""
    before, after = pairs
    share = gain / (1 - after.mean())
    return before, np.where(generator.random(after.size) < share, 1.0, after)


def false_positives(runs: int, questions: int) -> dict[str, float]:
    """Share of runs where a metric's p is at most ALPHA, of each alone, and of any when they are corrected together."""
    generator = np.random.default_rng([SEED, questions])
    p_values = [_p_values(simulate(generator, questions)) for _ in range(runs)]
    alone = {name: fmean(of[name] <= ALPHA for of in p_values) for name in p_values[0]}
    return alone | {"any, corrected": fmean(min(holm(of).values()) <= ALPHA for of in p_values)}


def _p_values(simulated: Mapping[str, Pairs]) -> dict[str, float]:
    return {name: flip_signs(after - before) for name, (before, after) in simulated.items()}


def coverage(runs: int, questions: int) -> dict[str, float]:
    """Share of runs whose interval holds the true difference, which is none."""
    generator = np.random.default_rng([SEED, questions])
    held: dict[str, list[bool]] = {}
    for _ in range(runs):
        for name, (before, after) in simulate(generator, questions).items():
            effect = paired(before.tolist(), after.tolist())
            held.setdefault(name, []).append((effect.low or 0.0) <= 0 <= (effect.high or 0.0))
    return {name: fmean(of) for name, of in held.items()}


def power(runs: int, *, kind: str, gain: float = SMALLEST) -> Power:
    generator = np.random.default_rng([SEED, len(kind)])
    needed, found = [], []
    for _ in range(runs):
        before, after = plant(simulate(generator, PILOT)[kind], generator, gain)
        questions = plan_pairs(after - before).questions(gain)
        assert questions is not None
        before, after = plant(simulate(generator, questions)[kind], generator, gain)
        needed.append(questions)
        found.append(after.mean() > before.mean() and flip_signs(after - before) <= ALPHA)
    return Power(fmean(needed), fmean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    runs = parser.parse_args().runs
    kinds = list(simulate(np.random.default_rng(SEED), 1))
    table = Table(f"{runs} simulated runs each", *kinds, "any, corrected")
    for questions in QUESTIONS:
        found = false_positives(runs, questions)
        table.add_row(f"false positives, {questions} questions", *(f"{rate:.3f}" for rate in found.values()))
    for questions in QUESTIONS:
        held = coverage(runs, questions)
        table.add_row(
            f"95 % intervals that hold the truth, {questions} questions", *(f"{of:.3f}" for of in held.values())
        )
    powers = {kind: power(runs, kind=kind) for kind in kinds}
    table.add_row(f"questions for +{SMALLEST}, as {PILOT} say", *(f"{of.needed:.0f}" for of in powers.values()))
    table.add_row(f"+{SMALLEST} found with so many", *(f"{of.found:.3f}" for of in powers.values()))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()

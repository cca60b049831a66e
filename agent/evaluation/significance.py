"""Significance of a difference between two runs: p-value, confidence interval, and the questions needed to tell.

scipy is imported where it is used: its statistics take 50 MB and most of a second, which only who compares is to pay.
"""

import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isnan, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Verdict = Literal["better", "worse", "no_difference_shown", "too_few_questions"]

ALPHA = 0.05
POWER = 0.80
SMALLEST = 0.05  # the effect of interest, where no other is asked for
FEWEST = 6  # questions that can tell: chance alone makes five of five say the same in 1 of 16 runs
RESAMPLES = 4_999
WORK = 5_000_000  # values that all resamples of one test may hold: of very many questions there are fewer resamples
MIN_RESAMPLES = 999
BATCH = 500_000  # values at a time
LARGE = 2_000  # values from which BCa corrects nothing, and takes the square of their number
MANY = 1_000  # values of either arm from which a mean is normal, and resampling tells nothing more
EPSILON = 1e-9  # sums of the same parts in another order are the same


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference of means, and what it is worth."""

    difference: float | None  # None: a side has no value
    low: float | None  # of the 95 % confidence interval; None where the values do not show how much they vary
    high: float | None
    p_value: float  # two-sided; of this metric alone: see `holm`
    n: int  # pairs; of independent samples, the values of the smaller side
    needed: int | None  # questions (a side) that find an effect of this size with POWER; None: there is none
    smallest: float  # the smallest effect of interest
    needed_for_smallest: int | None  # the same for that one; None: fewer than two values say how much they vary

    def verdict(self, corrected: float | None = None) -> Verdict:
        """Return the verdict of a metric for which more is better.

        `corrected` is its p-value as one of several metrics'.
        """
        p_value = self.p_value if corrected is None else corrected
        if self.difference and p_value <= ALPHA:
            return "better" if self.difference > 0 else "worse"
        return "no_difference_shown" if self._excludes_smallest() else "too_few_questions"

    def _excludes_smallest(self) -> bool:
        if self.low is None or self.high is None:
            return self.needed_for_smallest is not None and self.n >= self.needed_for_smallest
        return -self.smallest < self.low and self.high < self.smallest


def paired(before: Sequence[float], after: Sequence[float], *, smallest: float = SMALLEST) -> Effect:
    """Return the effect after - before of two runs over the same questions in the same order.

    p is computed by random flips of the differences' signs (Smucker, Allan & Carterette 2007), by all of them if they
    are few; the interval by a BCa bootstrap (Efron 1987). The same values give the same effect. Raises ValueError for
    sides of different lengths.
    """
    differences = np.array([new - old for old, new in zip(before, after, strict=True)], dtype=np.float64)
    if not differences.size:
        return _nothing(smallest)
    return _effect(differences, flip_signs(differences), plan_pairs(differences), smallest)


@dataclass(frozen=True, slots=True)
class Plan:
    """Sample-size calculation from the values at hand.

    Connor 1987, with the continuity correction of Fleiss, Tytun & Ury 1980 and with Student's quantiles: the variance
    is an estimate. Where nothing but chance is at work, it is greater by the square of the effect.
    """

    variance: float | None  # of the differences; None: unknown
    freedom: int  # of the values that the variance is of
    step: float  # between values: an effect cannot come from less than effect / step of the questions

    def questions(self, effect: float) -> int | None:
        """Return how many questions show this effect with POWER at ALPHA."""
        from scipy.special import stdtrit

        if self.variance is None or effect < EPSILON:
            return None
        variance = max(self.variance, effect * (self.step - effect))
        chance, power = stdtrit(self.freedom, [1 - ALPHA / 2, POWER])
        root = (chance * sqrt(variance + effect**2) + power * sqrt(variance)) / effect
        corrected = (root + sqrt(root**2 + 4 * self.step / effect)) / 2
        return max(FEWEST, ceil(float(corrected) ** 2))


def plan_pairs(differences: Values) -> Plan:
    """Plan from one or more differences."""
    moved = np.abs(differences[np.abs(differences) > EPSILON])
    step = float(moved.min()) if moved.size else 1.0
    return Plan(_variance(differences), differences.size - 1, step)


def flip_signs(differences: Values) -> float:
    """The p-value of pairs' differences. Own: scipy.stats.permutation_test says the same and takes 40 times as long."""
    magnitudes = np.sort(np.abs(differences[np.abs(differences) > EPSILON]))  # in order: whichever run is the first
    if not magnitudes.size:
        return 1.0
    extreme = abs(differences.sum()) - EPSILON
    if 2**magnitudes.size <= RESAMPLES:
        every = np.arange(2**magnitudes.size)[:, None] >> np.arange(magnitudes.size) & 1
        return float(np.mean(np.abs(_flipped(magnitudes, every)) >= extreme))
    generator, total = _generator(magnitudes), _resamples(magnitudes.size)
    rows = max(1, BATCH // magnitudes.size)
    found = 0
    for start in range(0, total, rows):
        drawn = generator.integers(0, 256, size=(min(rows, total - start), -(-magnitudes.size // 8)), dtype=np.uint8)
        flips = np.unpackbits(drawn, axis=1, count=magnitudes.size)
        found += int(np.sum(np.abs(_flipped(magnitudes, flips)) >= extreme))
    return (found + 1) / (total + 1)


def _flipped(magnitudes: Values, flips: NDArray[Any]) -> Values:
    """The sums, a row of flips each. By einsum: a product by BLAS begins threads, which takes ten times as long."""
    sums: Values = magnitudes.sum() - 2 * np.einsum("ij,j->i", flips, magnitudes)
    return sums


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Each corrected for being one of several (Holm 1979)."""
    corrected = dict(p_values)
    least = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        least = corrected[name] = max(least, min(1.0, (len(p_values) - rank) * p_values[name]))
    return corrected


def _effect(differences: Values, p_value: float, plan: Plan, smallest: float) -> Effect:
    difference = float(differences.mean())
    low, high = _interval(differences)
    return Effect(
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        n=differences.size,
        needed=plan.questions(abs(difference)),
        smallest=smallest,
        needed_for_smallest=plan.questions(smallest),
    )


def _nothing(smallest: float) -> Effect:
    return Effect(None, None, None, 1.0, 0, None, smallest, None)


def _variance(values: Values) -> float | None:
    return float(values.var(ddof=1)) if values.size > 1 else None


def _interval(differences: Values) -> tuple[float, float] | tuple[None, None]:
    """Return the bootstrap interval of the mean: by BCa, by percentiles alone where BCa is not defined."""
    from scipy import stats

    size = differences.size
    if size < 2 or np.ptp(differences) < EPSILON:
        return None, None
    for method in ("BCa", "percentile") if size <= LARGE else ("percentile",):
        with warnings.catch_warnings(action="ignore"):  # of degenerate data, which are asked for just below
            found = stats.bootstrap(
                (differences,),
                np.mean,
                vectorized=True,
                n_resamples=_resamples(size),
                batch=max(1, BATCH // size),
                method=method,
                rng=_generator(differences),
            ).confidence_interval
        if not isnan(found.low) and not isnan(found.high):
            break
    return float(found.low), float(found.high)


def _resamples(size: int) -> int:
    return int(np.clip(WORK // size, MIN_RESAMPLES, RESAMPLES))


def _generator(values: Values) -> np.random.Generator:
    """The same for the same values."""
    return np.random.default_rng(zlib.crc32(np.sort(values).tobytes()))

"""What is said of an experiment's sides: computed by hand, and held to chance in simulated experiments."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest

from agent.evaluation import significance
from agent.evaluation.experiment_report import compare_units, report
from agent.evaluation.significance import ALPHA, independent
from graphrag.models.experiments import Experiment, SideCounts, Unit, Variant
from tests.factories import COLLECTION_ID

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HASHES = ("a", "b")
EXPERIMENT = Experiment(
    UUID(int=7), "o", COLLECTION_ID, "c", "", 0.5, {"rerank": False}, {}, *HASHES, started_at=NOW, stopped_at=None
)
NOTHING: dict[str, float | None] = dict.fromkeys(
    ("found", "supported", "liked", "degraded", "failed", "first_token_ms", "total_ms")
)


def unit(variant: Variant, **means: float) -> Unit:
    return Unit(variant, {**NOTHING, **means})


def side(variant: Variant, conversations: int) -> SideCounts:
    return SideCounts(variant, conversations, conversations, 0, 0, 0, 0, 0, 0, None, None, None, None)


def conversations(
    draws: np.random.Generator, count: int, *, share: float = 0.5, effect: float = 0.0
) -> list[tuple[Variant, list[dict[str, float]]]]:
    """Each with its side and its answers, 1 to 12 of them, which are alike: some people ask what can't be found."""
    drawn = []
    for _ in range(count):
        variant: Variant = "B" if draws.random() < share else "A"
        ease, size, slowness = draws.beta(0.8, 0.8), draws.integers(1, 13), draws.lognormal(6, 0.6)
        success = min(1.0, ease + (effect if variant == "B" else 0))
        answers = [
            {
                "found": float(draws.random() < success),
                "supported": float(draws.binomial(4, success) / 4),
                "liked": float(draws.random() < success),
                "total_ms": slowness * draws.lognormal(0, 0.2),
            }
            for _ in range(size)
        ]
        drawn.append((variant, answers))
    return drawn


def units_of(drawn: Sequence[tuple[Variant, list[dict[str, float]]]]) -> list[Unit]:
    means = ({name: float(np.mean([answer[name] for answer in of])) for name in of[0]} for _, of in drawn)
    return [unit(variant, **of) for (variant, _), of in zip(drawn, means, strict=True)]


def rate(runs: int, is_shown: Callable[[np.random.Generator], bool]) -> float:
    return sum(is_shown(np.random.default_rng([20260301, run])) for run in range(runs)) / runs


def test_each_conversation_counts_once() -> None:
    """R10.4 means over conversations, by hand; a metric that no conversation has is left out, one without votes is not
    taken for disliked, and less is better where it is.
    """
    found = compare_units(
        [
            unit("A", found=1, total_ms=200, failed=0),
            unit("A", found=0.5, total_ms=400, failed=0),
            unit("B", found=0.5, liked=1, total_ms=100, failed=0),
            unit("B", found=0, total_ms=100, failed=0),
        ],
        share=0.5,
    )
    assert set(found) == {"found", "liked", "failed", "total_ms"}
    assert (found["found"].a, found["found"].b, found["found"].effect.difference) == (0.75, 0.25, -0.5)
    assert (found["liked"].a, found["liked"].b, found["liked"].effect.difference) == (None, 1, None)
    assert (found["total_ms"].effect.difference, found["total_ms"].effect.smallest) == (-200, 20)
    assert found["failed"].corrected == 1


def test_verdicts_are_on_b_whatever_is_good() -> None:
    """R10.4 more answers found, and more of them late."""
    units = [unit("A", found=0, total_ms=100 + index) for index in range(20)]
    units += [unit("B", found=1, total_ms=200 + index) for index in range(20)]
    found = compare_units(units, share=0.5)
    assert (found["found"].verdict, found["total_ms"].verdict) == ("better", "worse")
    assert found["found"].corrected == pytest.approx(2 * found["found"].effect.p_value)


def test_what_is_the_same_everywhere_corrects_no_other_metric() -> None:
    """R10.4 it is no test: nothing could have come of it by chance."""
    both = [unit("A", found=index % 2, failed=0) for index in range(30)]
    both += [unit("B", found=index % 3 > 0, failed=0) for index in range(30)]
    found = compare_units(both, share=0.5)
    assert found["found"].corrected == found["found"].effect.p_value


def test_an_uneven_split_needs_more_conversations() -> None:
    """R10.4 1 / (share · (1 - share)) as many in all; known before the first one."""
    even, uneven, all_of_b = (
        report(replace(EXPERIMENT, share=share), [], [], config_hashes=HASHES) for share in (0.5, 0.1, 1.0)
    )
    assert (even.most_needed, uneven.most_needed, all_of_b.most_needed) == (3140, 8723, None)
    units = units_of(conversations(np.random.default_rng(1), 60))
    needed = [compare_units(units, share=share)["found"].needed_for_smallest for share in (0.5, 0.1)]
    assert needed[0]
    assert needed[1] == pytest.approx(needed[0] * 0.25 / 0.09, abs=2)


@pytest.mark.parametrize(
    ("share", "a", "b", "is_off"),
    [(0.5, 510, 490, False), (0.5, 400, 600, True), (0.1, 900, 100, False), (0.1, 500, 500, True), (1, 0, 50, False)],
)
def test_a_split_that_chance_does_not_make_is_told(share: float, a: int, b: int, is_off: bool) -> None:
    """R10.4 sample ratio mismatch: whatever puts conversations on a side beside the draw, the sides are not alike."""
    found = report(
        replace(EXPERIMENT, share=share),
        [side("A", a), side("B", b)] if a else [side("B", b)],
        [],
        config_hashes=HASHES,
    )
    assert bool(found.warnings) is is_off
    assert (found.split_p_value is None) == (share == 1)


def test_a_change_of_the_configuration_is_told_while_it_runs() -> None:
    """R10.4"""
    changed = report(EXPERIMENT, [], [], config_hashes=("a", "other"))
    assert "has changed since the experiment began" in changed.warnings[0]
    stopped = replace(EXPERIMENT, stopped_at=NOW)
    assert not report(stopped, [], [], config_hashes=("other", "b")).warnings


def test_the_draw_keeps_its_share_and_each_experiment_its_own() -> None:
    """R10.4 of 20,000 conversations 10 %; those of another experiment are others; it is always the same ones."""
    asked = replace(EXPERIMENT, share=0.1)
    ids = [UUID(int=number) for number in range(20_000)]
    first, second = ({key for key in ids if of.draw(key) == "B"} for of in (asked, replace(asked, id=UUID(int=8))))
    assert len(first) == pytest.approx(2_000, abs=130)  # three deviations
    assert len(first & second) == pytest.approx(200, abs=43)
    assert [EXPERIMENT.draw(UUID(int=number)) for number in range(8)] == list("ABBABBBA")
    assert {replace(EXPERIMENT, share=1).draw(key) for key in ids[:1_000]} == {"B"}


def test_of_very_many_conversations_the_figures_are_the_same_and_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """R10.4 Welch's t beside resampling, on shares and on latencies; and where one side never varies."""
    draws = np.random.default_rng(3)
    a, b = draws.random((2, 1_100)).round() * draws.random((2, 1_100))
    late, later = draws.lognormal(6, 0.6, (2, 1_100)) * [[1.0], [1.05]]
    quick = [independent(*arms) for arms in ((a, b), (late, later))]
    assert independent([1.0] * 1_100, [0.0] * 1_100).p_value < 0.001
    monkeypatch.setattr(significance, "MANY", 2_000)
    for effect, resampled in zip(quick, [independent(*arms) for arms in ((a, b), (late, later))], strict=True):
        assert effect.p_value == pytest.approx(resampled.p_value, abs=0.03)  # of 2,272 resamples
        assert effect.low is not None
        assert effect.high is not None
        ends = pytest.approx((resampled.low, resampled.high), abs=0.1 * (effect.high - effect.low))
        assert (effect.low, effect.high) == ends
        assert effect.needed == resampled.needed


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A p-value of so few is as valid, (199 + 1) · .05 being whole, and thousands of them are had in seconds."""
    monkeypatch.setattr(significance, "RESAMPLES", 199)


def shows_anything(draws: np.random.Generator) -> bool:
    found = compare_units(units_of(conversations(draws, 80)), share=0.5)
    return any(metric.verdict in ("better", "worse") for metric in found.values())


@pytest.mark.slow
@pytest.mark.usefixtures("few_resamples")
def test_two_sides_that_are_alike_are_told_apart_by_chance_alone() -> None:
    """R10.4 of 600 experiments of A with itself, in any of four metrics: at most 6 %."""
    assert 0.01 <= rate(600, shows_anything) <= 0.06


@pytest.mark.usefixtures("few_resamples")
def test_answers_of_one_conversation_are_not_taken_for_so_many_draws() -> None:
    """R10.4 what is compared are conversations: answer by answer, A would differ from itself far more often."""

    def by_answer(draws: np.random.Generator) -> bool:
        sides: dict[Variant, list[float]] = {"A": [], "B": []}
        for variant, of in conversations(draws, 80):
            sides[variant] += [answer["found"] for answer in of]
        return independent(sides["A"], sides["B"]).p_value <= ALPHA

    assert rate(60, by_answer) > 0.15
    assert rate(60, shows_anything) <= 0.08

"""What the HTTP API gives of two evaluations side by side."""

from collections.abc import Mapping
from math import exp
from typing import Any, Literal

from pydantic import BaseModel, Field

from agent.evaluation.comparison import FEWEST_OF_CATEGORY, Change, ChangedCase, Comparison, Difference
from agent.evaluation.significance import POWER, Effect, Verdict
from api.pagination import Page
from graphrag.evaluation_models import Category, Difficulty


class DifferenceOut(BaseModel):
    baseline: float
    candidate: float
    difference: float

    @classmethod
    def of(cls, value: Difference) -> "DifferenceOut":
        return cls.model_validate(value, from_attributes=True)


class Significance(BaseModel):
    low: float | None = Field(
        description="Of the 95 % confidence interval; null where the questions do not show how much they vary"
    )
    high: float | None
    p_value: float = Field(description="Two-sided, by random flips of the differences' signs; of this value alone")
    verdict: Verdict = Field(description="On the candidate: a difference counts where its (corrected) p-value is ≤ .05")
    questions: int = Field(description="That have the value in both runs")
    needed: int | None = Field(
        description=f"Questions that would show a difference of this size with a power of {POWER:.0%}; null: it is none"
    )
    smallest: float = Field(description="The smallest difference of interest")
    needed_for_smallest: int | None = Field(description="Questions that would show that one; null: unknown")


class ChangeOut(DifferenceOut, Significance):
    corrected_p_value: float = Field(description="As one of several that are compared at once (Holm)")

    @classmethod
    def each(cls, changes: Mapping[str, Change]) -> "dict[str, ChangeOut]":
        return {
            name: cls(
                **DifferenceOut.of(change).model_dump(),
                **_significance(change.effect, change.verdict),
                low=change.effect.low,
                high=change.effect.high,
                smallest=change.effect.smallest,
                corrected_p_value=change.corrected,
            )
            for name, change in changes.items()
        }


class LatencyRatio(Significance):
    """What the machine did besides, at either time, is part of it."""

    ratio: float | None = Field(
        description="Candidate's milliseconds / baseline's, the geometric mean over the questions; null: none was timed"
    )
    smallest: float = Field(description="The smallest ratio of interest: that much quicker, or slower by its inverse")

    @classmethod
    def of(cls, speed: Effect) -> "LatencyRatio":
        """Less is better: what is low of one is high of the other."""
        return cls(
            **_significance(speed, speed.verdict()),
            ratio=_ratio(speed.difference),
            low=_ratio(speed.high),
            high=_ratio(speed.low),
            smallest=exp(-speed.smallest),
        )


def _significance(effect: Effect, verdict: Verdict) -> dict[str, Any]:
    return {
        "p_value": effect.p_value,
        "verdict": verdict,
        "questions": effect.n,
        "needed": effect.needed,
        "needed_for_smallest": effect.needed_for_smallest,
    }


def _ratio(speed: float | None) -> float | None:
    return None if speed is None else exp(-speed)


class ChangedCaseOut(DifferenceOut):
    query: str
    category: Category
    difficulty: Difficulty
    outcome: Literal["won", "lost"] = Field(description="By the candidate")
    baseline_rank: int | None
    candidate_rank: int | None

    @classmethod
    def of_case(cls, case: ChangedCase) -> "ChangedCaseOut":
        return cls(
            **DifferenceOut.of(case.value).model_dump(),
            query=case.baseline.query,
            category=case.baseline.category,
            difficulty=case.baseline.difficulty,
            outcome=case.outcome,
            baseline_rank=case.baseline.rank,
            candidate_rank=case.candidate.rank,
        )


class ConfigDifference(BaseModel):
    baseline: Any
    candidate: Any


class ComparisonOut(Page):
    """Over the questions that both runs have measured, whatever collection they are of."""

    metric: str = Field(description="That decides which of the two a case is won by")
    cases: int
    only_baseline: int = Field(description="Cases that the other run has not measured")
    only_candidate: int
    metrics: dict[str, ChangeOut] = Field(description="Their p-values are corrected together")
    by_category: dict[str, ChangeOut] = Field(
        description=f"Of the metric that decides, where a category has {FEWEST_OF_CATEGORY} questions or more; their "
        "p-values are corrected together"
    )
    latency_ms: dict[str, DifferenceOut]
    latency_ratio: LatencyRatio
    won: int = Field(description="By the candidate")
    lost: int
    tied: int
    config: dict[str, ConfigDifference] = Field(description="What differs")
    changed: list[ChangedCaseOut] = Field(description="The greatest changes first")

    @classmethod
    def of(cls, found: Comparison, changed: list[ChangedCase], following: str | None) -> "ComparisonOut":
        plain = ("metric", "cases", "only_baseline", "only_candidate", "won", "lost", "tied")
        return cls(
            **{name: getattr(found, name) for name in plain},
            metrics=ChangeOut.each(found.metrics),
            by_category=ChangeOut.each(found.by_category),
            latency_ms={name: DifferenceOut.of(value) for name, value in found.latency_ms.items()},
            latency_ratio=LatencyRatio.of(found.speed),
            config={name: ConfigDifference(baseline=a, candidate=b) for name, (a, b) in found.config.items()},
            changed=[ChangedCaseOut.of_case(case) for case in changed],
            next_cursor=following,
        )

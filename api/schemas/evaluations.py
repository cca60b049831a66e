"""Schemas of evaluations, their comparison, trend and schedules."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import exp
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.comparison import MIN_OF_CATEGORY, Change, ChangedCase, Comparison, Difference
from agent.evaluation.metrics import METRICS
from agent.evaluation.significance import POWER, Effect, Verdict
from agent.evaluation.trend import TrendPoint
from api.schemas.fields import MAX_OPTIONS, Line, Page, Text, check_number
from api.schemas.golden import CollectionChoice, Name, VersionNumber
from graphrag.config.settings import RetrievalConfig
from graphrag.models.evaluation import CaseResult, Category, Difficulty, EvaluationRun, Judging, Schedule, Timetable

Metrics = dict[str, float]
# With their bounds before the check: after it, in a union, the description would lose them.
Version = Annotated[VersionNumber, BeforeValidator(check_number)]
Depth = Annotated[int, Field(ge=1, le=1_000), BeforeValidator(check_number)]


class EvaluationIn(CollectionChoice):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"collection": "demo", "name": "without reranking", "retrieval": {"rerank": False}}]
        }
    )

    name: Name = ""
    version: Version | Literal["current"] = Field(
        default="current", description="Of the golden cases; current: as they are when the run is ordered"
    )
    retrieval: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"In place of the collection's values; one that is not valid is passed over, with a warning: "
        f"{', '.join(RetrievalConfig.model_fields)}",
    )
    k: Depth | None = Field(default=None, description="Passages a search; without it, `top_k`")
    answers: bool = Field(default=True, description="Answer each question, too, and judge the answer")
    judge: Judging = Field(
        default="auto", description="Of answers; auto: a model where one may read the collection, else an estimate"
    )

    def choices(self) -> dict[str, Any]:
        """Return the arguments of `order_run`, beside the name."""
        version = None if self.version == "current" else self.version
        return {
            "version": version,
            "overrides": self.retrieval,
            "k": self.k,
            "answers": self.answers,
            "judge": self.judge,
        }


class GroupOut(BaseModel):
    cases: int = Field(description="That were measured and have a relevant document")
    metrics: Metrics = Field(
        description="Means over the cases that each is defined for; none where there is no case. Of the search: "
        f"{', '.join(METRICS)}. Of the answers: {'; '.join(f'{name}: {told}' for name, told in ANSWER_METRICS.items())}"
    )
    defined: dict[str, int] = Field(default_factory=dict, description="Metric → cases that it is defined for")


class AnswersOut(BaseModel):
    answered: int = Field(description="Questions that got an answer, refusals among them")
    latency_ms: Metrics = Field(description="p50, p95, p99 of a whole answer, its search included")
    first_token_ms: Metrics = Field(description="p50, p95, p99 until the first word")
    chat_models: dict[str, int] = Field(description="Model → answers that it wrote")
    statements: dict[str, int] = Field(description="Status by verification → statements of all answers")
    unjudged: dict[str, int] = Field(description="Metric → answers of which the judge said nothing usable")
    degraded: dict[str, int] = Field(description="Stage → answers that did without it")


class SummaryOut(GroupOut):
    skipped: int = Field(description="Cases that name a deleted document")
    unanswerable: int = Field(description="Cases without a relevant document, which count in latencies alone")
    latency_ms: Metrics = Field(description="p50, p95, p99 of a search")
    by_category: dict[str, GroupOut]
    by_difficulty: dict[str, GroupOut]
    degraded: dict[str, int] = Field(description="Stage → searches that did without it")
    answers: AnswersOut | None = Field(default=None, description="null: the run did not answer")


class RunError(BaseModel):
    code: str
    message: str


class EvaluationOut(BaseModel):
    id: UUID
    collection: str
    name: str
    status: Literal["waiting", "running", "done", "failed", "cancelled"]
    version: int | None = Field(description="Of the golden cases; null: as they were when the run was ordered")
    done: int = Field(description="Of `total` cases")
    total: int
    config: dict[str, Any] = Field(
        description="All that has a say in the figures; `judge` tells who judged the answers: model or estimate"
    )
    embedding_model: str
    golden_hash: str = Field(description="Of what the cases say: that of the version with the same cases")
    config_hash: str = Field(description="SHA-256 of config, embedding model and golden cases as canonical JSON")
    warnings: list[str]
    summary: SummaryOut | None = Field(description="null until it is done")
    error: RunError | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, run: EvaluationRun) -> "EvaluationOut":
        names = set(cls.model_fields) & set(EvaluationRun.__dataclass_fields__)
        values = {name: getattr(run, name) for name in names} | {"warnings": list(run.warnings)}
        error = RunError(code=run.reason, message=run.cause) if run.reason else None
        return cls.model_validate(values | {"status": run.status.value, "error": error})


class EvaluationList(Page):
    evaluations: list[EvaluationOut]


class CaseResultOut(BaseModel):
    case_id: UUID
    query: str
    category: Category
    difficulty: Difficulty
    status: Literal["waiting", "measured", "skipped"]
    rank: int | None = Field(description="Of the first relevant document; null: it was not found, or there is none")
    relevant_document_ids: list[UUID]
    retrieved_document_ids: list[UUID] = Field(description="The best first")
    missing_document_ids: list[UUID] = Field(description="Why it was skipped")
    metrics: Metrics = Field(description="Of search and answer; one that is not there is not defined for the case")
    milliseconds: float | None = Field(description="Of the search")
    failed: list[str] = Field(description="Stages that the search did without")
    answer_milliseconds: float | None = Field(description="null: it was not answered")
    first_token_milliseconds: float | None
    chat_model: str | None = Field(description="That wrote the answer; null: it was refused without asking one")
    answer_failed: list[str] = Field(description="Stages that the answer did without")
    statements: dict[str, int] = Field(description="Status by verification → statements of the answer")
    unjudged: list[str] = Field(description="Metrics of which the judge said nothing usable")

    @classmethod
    def of(cls, result: CaseResult) -> "CaseResultOut":
        return cls.model_validate(result, from_attributes=True)


class CaseResultList(Page):
    results: list[CaseResultOut]


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
    """Ratio of latencies; the machine's other load, at either time, is part of it."""

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
    """A comparison over the questions that both runs have measured, whatever collection they are of."""

    metric: str = Field(description="That decides which of the two a case is won by")
    cases: int
    only_baseline: int = Field(description="Cases that the other run has not measured")
    only_candidate: int
    metrics: dict[str, ChangeOut] = Field(description="Their p-values are corrected together")
    by_category: dict[str, ChangeOut] = Field(
        description=f"Of the metric that decides, where a category has {MIN_OF_CATEGORY} questions or more; their "
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


class TrendChangeOut(BaseModel):
    baseline: UUID = Field(description="The evaluation before")
    metric: str
    difference: float
    low: float | None = Field(description="Of the 95 % confidence interval; null: the values do not show how they vary")
    high: float | None
    p_value: float = Field(description="Corrected, where several metrics are watched")
    n: int = Field(description="Questions that both have measured")
    verdict: str = Field(description="better, worse, no_difference_shown or too_few_questions")


class TrendPointOut(BaseModel):
    evaluation: UUID
    name: str
    config_hash: str
    golden_hash: str
    has_same_cases: bool = Field(description="As the latest")
    finished_at: datetime
    cases: int
    metrics: Metrics
    latency_ms: Metrics
    changes: list[TrendChangeOut] = Field(description="Of the metrics that are watched, against the evaluation before")

    @classmethod
    def of(cls, point: TrendPoint) -> "TrendPointOut":
        run, summary = point.run, point.summary
        return cls.model_validate(
            {
                "evaluation": run.id,
                "name": run.name,
                "config_hash": run.config_hash,
                "golden_hash": run.golden_hash,
                "has_same_cases": point.has_same_cases,
                "finished_at": run.finished_at,
                "cases": summary["cases"],
                "metrics": summary["metrics"],
                "latency_ms": summary["latency_ms"],
                "changes": [TrendChangeOut.model_validate(change, from_attributes=True) for change in point.changes],
            }
        )


class RetrievalMetrics(BaseModel):
    collection: str
    latest: EvaluationOut | None = Field(description="The last run that is done; null: there is none")
    trend: list[TrendPointOut] = Field(description="The runs that are done, the latest first")

    @classmethod
    def of(cls, collection: str, trend: Sequence[TrendPoint]) -> "RetrievalMetrics":
        return cls(
            collection=collection,
            latest=EvaluationOut.of(trend[0].run) if trend else None,
            trend=[TrendPointOut.of(point) for point in trend],
        )


class ScheduleIn(EvaluationIn):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"collection": "demo", "name": "nightly", "cron": "0 3 * * *", "timezone": "Europe/Madrid"}]
        }
    )

    retrieval: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"In place of the collection's values; one that is not valid is refused: "
        f"{', '.join(RetrievalConfig.model_fields)}",
    )
    cron: Annotated[Line, Field(max_length=200)] = Field(
        description="Five fields: minute, hour, day of the month, month, day of the week"
    )
    timezone: Annotated[Line, Field(max_length=100)] = Field(default="UTC", description="That the hours are of")

    @property
    def timetable(self) -> Timetable:
        return Timetable(self.cron, self.timezone)


class ScheduleOut(BaseModel):
    id: UUID
    collection: str
    name: str = Field(description="Of its evaluations")
    cron: str
    timezone: str
    choices: dict[str, Any] = Field(description="What its evaluations are ordered with")
    due_at: datetime = Field(description="The next time; one that passes while no worker is there is made up for once")
    last_evaluation: UUID | None = Field(description="null: there is none yet, or it has been deleted")
    ordered_at: datetime | None = Field(description="The last evaluation")
    error: RunError | None = Field(description="Why the last time that it was due ordered nothing")
    created_at: datetime

    @classmethod
    def of(cls, schedule: Schedule) -> "ScheduleOut":
        names = set(cls.model_fields) & set(Schedule.__dataclass_fields__)
        values = {name: getattr(schedule, name) for name in names} | {"choices": dict(schedule.choices)}
        error = RunError(code=schedule.reason, message=schedule.cause) if schedule.reason else None
        return cls.model_validate(values | {"last_evaluation": schedule.last_run_id, "error": error})


class ScheduleList(Page):
    schedules: list[ScheduleOut]

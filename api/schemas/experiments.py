"""What the HTTP API takes and gives of experiments."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent.evaluation.experiment_report import MORE_IS_BETTER, PEEKING, ExperimentReport, MetricReport
from agent.evaluation.significance import Verdict
from api.schemas.fields import MAX_OPTIONS, Text, check_number
from api.schemas.golden import CollectionChoice, Name
from api.schemas.pagination import Page
from graphrag.config.settings import GenerationConfig, RetrievalConfig
from graphrag.models.experiments import Experiment, ExperimentStatus

Share = Annotated[float, Field(strict=False, gt=0, le=1), BeforeValidator(check_number)]


class ExperimentIn(CollectionChoice):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"collection": "demo", "name": "more passages", "share": 0.5, "retrieval": {"top_k": 14}}]
        }
    )

    name: Name = ""
    share: Share = Field(default=0.5, description="Of the conversations: those that configuration B answers")
    retrieval: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"Of B, in place of the collection's values: {', '.join(RetrievalConfig.model_fields)}",
    )
    generation: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"Of B, in place of the collection's values: {', '.join(GenerationConfig.model_fields)}",
    )


class ExperimentOut(BaseModel):
    id: UUID
    collection: str
    name: str
    status: ExperimentStatus
    share: float = Field(description="Of the conversations: those that configuration B answers")
    retrieval: dict[str, Any] = Field(description="Of B, in place of the collection's values")
    generation: dict[str, Any] = Field(description="Of B, in place of the collection's values")
    config_hash_a: str = Field(description="SHA-256 of all that has a say in an answer of A, when the experiment began")
    config_hash_b: str
    started_at: datetime
    stopped_at: datetime | None

    @classmethod
    def of(cls, experiment: Experiment) -> "ExperimentOut":
        return cls.model_validate(experiment, from_attributes=True)


class ExperimentList(Page):
    experiments: list[ExperimentOut]


class SideOut(BaseModel):
    conversations: int = Field(description="And single answers, where no conversation is kept")
    answers: int
    unfinished: int = Field(description="That are being written, or that nobody waited for")
    failed: int
    degraded: int = Field(description="Made without a stage that failed")
    found: int = Field(description="In the documents")
    liked: int = Field(description="Thumbs up, for the answer as a whole")
    disliked: int
    first_token_p50_ms: float | None
    first_token_p95_ms: float | None
    total_p50_ms: float | None
    total_p95_ms: float | None


class MetricOut(BaseModel):
    """Of B against A. Each conversation counts once, by the mean of its answers: conversations were drawn."""

    a: float | None = Field(description="Mean over the conversations of A that have a value")
    b: float | None
    difference: float | None = Field(description="b - a")
    low: float | None = Field(description="Of the 95 % confidence interval; null: the values do not show how they vary")
    high: float | None
    p_value: float = Field(description=f"Two-sided, of this metric alone. {PEEKING}")
    corrected_p_value: float = Field(description="For being one of several metrics (Holm)")
    verdict: Verdict = Field(description="On B, by the corrected p-value at .05 and the interval")
    conversations: int = Field(description="That have a value, of the side with fewer of them")
    needed: int | None = Field(
        description="Conversations of both sides together that find a difference of this size with a power of .80"
    )
    smallest: float = Field(description="Smallest difference of interest: .05 of a share, a tenth of a latency")
    needed_for_smallest: int | None = Field(description="Conversations of both sides together that find that one")

    @classmethod
    def of(cls, metric: MetricReport) -> "MetricOut":
        effect = metric.effect
        return cls(
            a=metric.a,
            b=metric.b,
            difference=effect.difference,
            low=effect.low,
            high=effect.high,
            p_value=effect.p_value,
            corrected_p_value=metric.corrected,
            verdict=metric.verdict,
            conversations=effect.n,
            needed=metric.needed,
            smallest=effect.smallest,
            needed_for_smallest=metric.needed_for_smallest,
        )


class ExperimentReportOut(ExperimentOut):
    sides: dict[Literal["A", "B"], SideOut] = Field(description="Those that have answered")
    metrics: dict[str, MetricOut] = Field(
        description=f"{', '.join(MORE_IS_BETTER)}: those that an answer has. `supported`: share of its marks that the "
        "documents support; `liked`: of the rated answers"
    )
    split_p_value: float | None = Field(description="That the draw alone splits so; null: there is nothing to tell by")
    most_needed: int | None = Field(
        description="Conversations that find a difference of .05 in any share with a power of .80, known before the "
        "first one: a number to wait for. null: A is never drawn"
    )
    warnings: list[str]

    @classmethod
    def of_report(cls, experiment: Experiment, found: ExperimentReport) -> "ExperimentReportOut":
        return cls(
            **ExperimentOut.of(experiment).model_dump(),
            sides={name: SideOut.model_validate(side, from_attributes=True) for name, side in found.sides.items()},
            metrics={name: MetricOut.of(metric) for name, metric in found.metrics.items()},
            split_p_value=found.split_p_value,
            most_needed=found.most_needed,
            warnings=list(found.warnings),
        )

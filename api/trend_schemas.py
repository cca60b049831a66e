"""What the HTTP API and `eval trend --json` give of a collection's runs in a row."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from agent.evaluation.trend import TrendPoint
from api.evaluation_schemas import EvaluationOut, Metrics


class ChangeOut(BaseModel):
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
    changes: list[ChangeOut] = Field(description="Of the metrics that are watched, against the evaluation before")

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
                "changes": [ChangeOut.model_validate(change, from_attributes=True) for change in point.changes],
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

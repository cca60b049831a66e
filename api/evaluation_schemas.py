"""What the HTTP API takes and gives of evaluations."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent.evaluation.metrics import METRICS
from api.golden_schemas import CollectionChoice, Name, VersionNumber
from api.pagination import Page
from api.schemas import MAX_OPTIONS, Text, check_number
from graphrag.evaluation_models import CaseResult, Category, Difficulty, EvaluationRun
from graphrag.settings import RetrievalConfig

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


class GroupOut(BaseModel):
    cases: int = Field(description="That were measured and have a relevant document: the metrics are their means")
    metrics: Metrics = Field(description=f"{', '.join(METRICS)}; none where there is no case")


class SummaryOut(GroupOut):
    skipped: int = Field(description="Cases that name a deleted document")
    unanswerable: int = Field(description="Cases without a relevant document, which count in latencies alone")
    latency_ms: Metrics = Field(description="p50, p95, p99 of a search")
    by_category: dict[str, GroupOut]
    by_difficulty: dict[str, GroupOut]
    degraded: dict[str, int] = Field(description="Stage → searches that did without it")


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
    config: dict[str, Any] = Field(description="All that has a say in the ranking")
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
    metrics: Metrics
    milliseconds: float | None
    failed: list[str] = Field(description="Stages that the search did without")

    @classmethod
    def of(cls, result: CaseResult) -> "CaseResultOut":
        return cls.model_validate(result, from_attributes=True)


class CaseResultList(Page):
    results: list[CaseResultOut]


class TrendPoint(BaseModel):
    evaluation: UUID
    name: str
    config_hash: str
    finished_at: datetime
    cases: int
    metrics: Metrics
    latency_ms: Metrics


class RetrievalMetrics(BaseModel):
    collection: str
    latest: EvaluationOut | None = Field(description="The last run that is done; null: there is none")
    trend: list[TrendPoint] = Field(description="The runs that are done, the latest first")

    @classmethod
    def of(cls, collection: str, runs: list[EvaluationRun]) -> "RetrievalMetrics":
        shown = [EvaluationOut.of(run) for run in runs]
        return cls(
            collection=collection,
            latest=shown[0] if shown else None,
            trend=[_point(run, run.summary, run.finished_at) for run in shown if run.summary and run.finished_at],
        )


def _point(run: EvaluationOut, summary: SummaryOut, finished_at: datetime) -> TrendPoint:
    return TrendPoint(
        evaluation=run.id,
        name=run.name,
        config_hash=run.config_hash,
        finished_at=finished_at,
        cases=summary.cases,
        metrics=summary.metrics,
        latency_ms=summary.latency_ms,
    )

"""What the HTTP API takes and gives of evaluations."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.metrics import METRICS
from api.golden_schemas import CollectionChoice, Name, VersionNumber
from api.pagination import Page
from api.schemas import MAX_OPTIONS, Text, check_number
from graphrag.evaluation_models import CaseResult, Category, Difficulty, EvaluationRun, Judging
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
    answers: bool = Field(default=True, description="Answer each question, too, and judge the answer")
    judge: Judging = Field(
        default="auto", description="Of answers; auto: a model where one may read the collection, else an estimate"
    )

    def choices(self) -> dict[str, Any]:
        """What `order_run` takes, beside the name."""
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

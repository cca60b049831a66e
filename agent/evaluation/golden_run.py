"""Runs over golden cases, at once or when a schedule is due."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from agent.evaluation.answer_run import UNANSWERED, AnswerRun, plan_answers
from agent.evaluation.comparison import summarise
from agent.evaluation.metrics import first_rank, measure
from agent.evaluation.trend import as_summary, find_changes, warnings_of
from graphrag.config.settings import RetrievalConfig
from graphrag.db.database import Connection
from graphrag.errors import CausewayError, CollectionChanged, EvaluationUnfinished, NoGoldenCases, ScheduleNotFound
from graphrag.ingestion.queue import TRANSIENT
from graphrag.models import Collection, Document
from graphrag.models.evaluation import (
    CaseResult,
    CaseStatus,
    EvaluationRun,
    GoldenCase,
    Judging,
    RunPlan,
    Schedule,
    Timetable,
    hash_cases,
)
from graphrag.observability.request_context import changed_context
from graphrag.observability.telemetry import log
from graphrag.retrieval.pipeline import RetrievalPipeline
from graphrag.retrieval.query import Query, SearchResult
from graphrag.services import Services
from graphrag.stores.postgres.evaluations import Defer
from graphrag.stores.postgres.schedules import NotDue

DEEPEST = 10  # the last place that a metric looks at
MAX_CHUNKS = 1000  # of RetrievalConfig.top_k
Name = Callable[[Document], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of one query."""

    ranking: list[str]  # documents by their best chunk
    milliseconds: float
    failed: tuple[str, ...]


async def rank_documents(
    question: str, *, pipeline: RetrievalPipeline, collection: Collection, config: RetrievalConfig, name: Name
) -> Answer:
    """Return the documents that a search finds, transformed and refined as an answer's; `name` tells them apart.

    Documents may share the places of their chunks: then the search goes deeper, in time that nobody waits for.
    """
    with changed_context(is_evaluation=True):
        started = perf_counter()
        transformed, failed = await pipeline.transform(question, refined_for=[collection])
        query = Query(transformed, collection, await pipeline.collections.embedding_model(collection), config)
        found = await pipeline.search(query)
        milliseconds = (perf_counter() - started) * 1000
        failed = (*failed, *found.failed)
        ranking = _documents(found, name)
        while len(ranking) < DEEPEST and len(found.hits) == query.config.top_k < MAX_CHUNKS:
            deeper = query.config.model_copy(update={"top_k": min(2 * query.config.top_k, MAX_CHUNKS)})
            query = replace(query, config=deeper)
            found = await pipeline.search(query)
            ranking = list(dict.fromkeys([*ranking, *_documents(found, name)]))
            failed = (*failed, *found.failed)
        return Answer(ranking, milliseconds, failed)


def _documents(found: SearchResult, name: Name) -> list[str]:
    return list(dict.fromkeys(name(hit.chunk.document) for hit in found.hits))


CASES_A_TIME = 50
OF_THE_SERVICE = ("reranker", "reranker_model", "diversity", "fulltext_candidates")  # that have a say in the ranking
UNEXPECTED = "an error of ours, which the service's log describes"


async def order_run(
    collection: Collection,
    *,
    services: Services,
    name: str = "",
    version: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    k: int | None = None,
    answers: bool = True,
    judge: Judging = "auto",
    defer: Defer | None = None,
) -> EvaluationRun:
    """Order an evaluation run, which a worker performs.

    `version` is that of the golden cases, by default the current ones; `k` is the number of passages a search; `defer`
    is called in the run's transaction in place of queueing it.

    Raises NoGoldenCases, GoldenVersionNotFound, EmbeddingModelUnavailable, JudgeUnavailable or CollectionNotFound.
    """
    cases = await _cases(collection, services, version)
    if not cases:
        raise NoGoldenCases(f"The collection {collection.name!r} has no golden cases.", collection=collection.name)
    services.embeddings.get(collection.embedding_model)
    chosen = {**(overrides or {}), **({"top_k": k} if k else {})}
    config, warnings = services.collections.retrieval_config(collection, chosen)
    of_answers = plan_answers(collection, services, overrides=chosen, judge=judge) if answers else {}
    settings = services.settings.search.model_dump(mode="json", include=set(OF_THE_SERVICE))
    pipelines = {"name_pipelines": services.name_pipelines} if services.name_pipelines else {}
    plan = RunPlan(
        name=name,
        version=version,
        golden_hash=hash_cases(cases),
        config={**config.model_dump(mode="json"), **settings, **pipelines, "answers": answers, **of_answers},
        embedding_model=collection.embedding_model,
        warnings=tuple(warnings),
    )
    told = defer or services.documents.queue.defer_evaluation
    return await services.evaluations.create(collection, plan, cases, defer=told)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """A worker's part: what is measured already is not measured again."""

    services: Services
    _tickets: dict[UUID, UUID] = field(default_factory=dict, repr=False)  # of the runs that it has begun

    async def evaluate(self, owner_id: str, collection_id: UUID, run_id: UUID) -> None:
        run = await self.services.evaluations.begin(owner_id, collection_id, run_id)
        if run is not None:
            self._tickets[run_id] = run.ticket
            collection = await self._collection(run)
            if await self._measure_all(run, collection):
                results = await self.services.evaluations.read_results(run)
                changes = await find_changes(self.services.evaluations, run, results)
                summary = summarise(results) | as_summary(changes)
                warnings = [*_warnings(results), *warnings_of(changes)]
                await self.services.evaluations.finish(run, summary, warnings=warnings)
            self._tickets.pop(run_id, None)

    async def give_up(self, owner_id: str, collection_id: UUID, run_id: UUID, error: BaseException) -> None:
        cause, reason = (str(error), error.code) if isinstance(error, CausewayError) else (UNEXPECTED, "internal_error")
        ticket = self._tickets.pop(run_id, None)
        await self.services.evaluations.fail(owner_id, collection_id, run_id, ticket=ticket, cause=cause, reason=reason)

    async def _measure_all(self, run: EvaluationRun, collection: Collection) -> bool:
        """False where the run is no longer ours."""
        planned = {name: value for name, value in run.config.items() if name in RetrievalConfig.model_fields}
        config = RetrievalConfig.model_validate(planned)
        answers = AnswerRun.planned(run.config, collection, self.services) if run.config.get("answers") else None
        while waiting := await self.services.evaluations.take(run, limit=CASES_A_TIME):
            for case, gone in waiting:
                began = time.perf_counter()
                if gone:
                    result = replace(case, status=CaseStatus.SKIPPED, missing_document_ids=gone)
                else:
                    result = await self._measure(case, collection=collection, config=config)
                    result = await answers.measure(result) if answers else result
                if not await self.services.evaluations.save(run, result):
                    return False
                await self.services.admission.give_way(time.perf_counter() - began)
        return True

    async def _measure(self, case: CaseResult, *, collection: Collection, config: RetrievalConfig) -> CaseResult:
        answer = await rank_documents(
            case.query, pipeline=self.services.retrieval.measured(), collection=collection, config=config, name=_id
        )
        relevance = {str(document): 1 for document in case.relevant_document_ids}
        depth = max(config.top_k, DEEPEST)
        return replace(
            case,
            status=CaseStatus.MEASURED,
            retrieved_document_ids=tuple(map(UUID, answer.ranking[:depth])),
            rank=first_rank(answer.ranking, relevance),
            metrics=measure(answer.ranking, relevance) if relevance else {},
            milliseconds=round(answer.milliseconds, 3),
            failed=tuple(dict.fromkeys(answer.failed)),
        )

    async def _collection(self, run: EvaluationRun) -> Collection:
        """Raises CollectionChanged where it has another embedding model by now, or CollectionNotFound."""
        collection = await self.services.collections.open(run.owner_id, run.collection)
        if collection.id != run.collection_id or collection.embedding_model != run.embedding_model:
            raise CollectionChanged(
                f"The collection {collection.name!r} has moved to another embedding model: order the run anew."
            )
        return collection


async def _cases(collection: Collection, services: Services, version: int | None) -> Sequence[GoldenCase]:
    if version is None:
        return await services.golden.list_all(collection)
    _, cases = await services.golden.read_version(collection, version)
    return cases


def _id(document: Document) -> str:
    return str(document.id)


def _warnings(results: Sequence[CaseResult]) -> list[str]:
    """Return, in sentences for the user, how many cases have no figures, and why."""
    skipped = sum(result.status is CaseStatus.SKIPPED for result in results)
    without_model = [result for result in results if set(UNANSWERED) <= set(result.answer_failed)]
    unanswered = sum(result.answer_milliseconds is None for result in without_model)
    stood_in = len(without_model) - unanswered
    unjudged = sum(bool(result.unjudged) for result in results)
    told = {
        f"{skipped} cases were skipped: documents that they name have been deleted": skipped,
        f"{unanswered} questions have no answer: no chat model gave one": unanswered,
        f"{stood_in} answers are by another model, or quotations: the one that was asked for failed": stood_in,
        f"{unjudged} answers are unjudged, in whole or in part: the judge gave no verdict": unjudged,
    }
    return [warning for warning, count in told.items() if count]


def _now() -> datetime:
    return datetime.now(UTC)


async def add_schedule(
    collection: Collection, timetable: Timetable, *, services: Services, name: str, choices: Mapping[str, Any]
) -> Schedule:
    """`choices` are those of `order_run`. A value that is not valid, of which a run would warn, is refused.

    Raises InvalidSettings, GoldenVersionNotFound, InvalidSchedule, QuotaExceeded or CollectionNotFound.
    """
    overrides = RetrievalConfig.checked(choices["overrides"])
    if choices["version"] is not None:
        await services.golden.read_version(collection, choices["version"])
    kept = {**choices, "overrides": overrides}
    return await services.schedules.add(
        collection, timetable, name=name, choices=kept, now=_now(), defer=services.documents.queue.defer_schedule
    )


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A worker's part. What keeps a run from being ordered stays to be read with its schedule, which goes on."""

    services: Services
    now: Callable[[], datetime] = _now

    async def order_due(self, owner_id: str, schedule_id: UUID, due_at: datetime) -> None:
        with suppress(NotDue, ScheduleNotFound):
            schedule = await self.services.schedules.find(owner_id, schedule_id)
            if schedule.due_at == due_at:
                await self._order(schedule, schedule.following(self.now()))

    async def _order(self, schedule: Schedule, following: datetime) -> None:
        schedules, queue = self.services.schedules, self.services.documents.queue

        async def defer(connection: Connection, collection: Collection, run_id: UUID) -> None:
            await schedules.advance(connection, schedule, following, run_id=run_id, defer=queue.defer_schedule)
            await queue.defer_evaluation(connection, collection, run_id)

        try:
            await self._check_last(schedule)
            collection = await self.services.collections.open(schedule.owner_id, schedule.collection)
            await order_run(
                collection, services=self.services, name=schedule.name, defer=defer, **dict(schedule.choices)
            )
        except (NotDue, *TRANSIENT):
            raise
        except Exception as exc:
            await schedules.fail(schedule, following, defer=queue.defer_schedule, **_told(exc))

    async def _check_last(self, schedule: Schedule) -> None:
        """Raise EvaluationUnfinished while the last run continues.

        Otherwise runs that take longer than the time between them would pile up.
        """
        if schedule.last_run_id is None:
            return
        last = await self.services.evaluations.find(schedule.owner_id, schedule.last_run_id)
        if not last.status.is_over:
            raise EvaluationUnfinished(
                f"The evaluation {last.id}, which it ordered before, is not over: wait for it, or cancel it.",
                run=str(last.id),
                status=last.status.value,
            )


def _told(error: Exception) -> dict[str, str]:
    if isinstance(error, CausewayError):
        return {"cause": str(error), "reason": error.code}
    log.error("schedule ordered nothing", exc_info=error)
    return {"cause": UNEXPECTED, "reason": "internal_error"}

"""Jobs in PostgreSQL (procrastinate), their workers, and what is logged of them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, cast
from uuid import UUID

import procrastinate
from opentelemetry.trace import SpanKind
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import JobDeferrer
from procrastinate.types import JSONValue
from pydantic import BaseModel

from graphrag.db.database import Connection, Database
from graphrag.db.errors import FAILURES, translated
from graphrag.db.migrate import APPLICATION_ROLE, OPTIONS
from graphrag.errors import CollectionChanged, DatabaseUnavailable, IndexUnavailable, RetrievalUnavailable
from graphrag.models import Collection
from graphrag.models.evaluation import Schedule
from graphrag.models.ingestion import Ingestion
from graphrag.observability.metrics import JOB_SECONDS, JOBS_ENDED, JOBS_RUNNING
from graphrag.observability.request_context import RequestRecord, begin_record, note
from graphrag.observability.telemetry import log
from graphrag.observability.tracing import current_parent, first_span, trace_id
from graphrag.resilience.cancellation import end

DONE, AGAIN, GIVEN_UP = "done", "again", "given_up"


class _Arguments(BaseModel):
    """The arguments of a job that the queue itself reads."""

    owner_id: str
    collection_id: str = ""
    trace: str = ""  # of who asked for the job


@dataclass(frozen=True, slots=True)
class JobWatch:
    """A worker's middleware."""

    mark_owner: Callable[[str], str]

    async def watch(self, do: Callable[[], Awaitable[Any]], context: procrastinate.JobContext, _: object) -> Any:
        job, name = context.job, context.job.task_name
        arguments = _Arguments.model_validate(job.task_kwargs)
        record = begin_record(job=str(job.id), owner=self.mark_owner(arguments.owner_id))
        record.identity |= {"collection": arguments.collection_id} if arguments.collection_id else {}
        started, outcome = time.perf_counter(), AGAIN  # also where its worker is stopped: another takes it up
        running, traced = JOBS_RUNNING.labels(task=name), first_span(f"job {name}", arguments.trace, SpanKind.CONSUMER)
        with running.track_inprogress(), traced as span:
            record.identity |= {"trace_id": known} if (known := trace_id(span)) else {}
            try:
                result = await do()
                outcome = record.facts.get("outcome", DONE)
                return result
            except Exception as exc:
                note(error=exc)
                outcome = AGAIN if context.task.get_retry_exception(exc, job) else GIVEN_UP
                raise
            finally:
                seconds = time.perf_counter() - started
                JOBS_ENDED.labels(task=name, outcome=outcome).inc()
                JOB_SECONDS.labels(task=name).observe(seconds)
                _tell(record, name, outcome, seconds)


def _tell(record: RequestRecord, name: str, outcome: str, seconds: float) -> None:
    write = log.info if outcome == DONE else log.warning
    write("job", **record.describe() | {"task": name, "outcome": outcome, "milliseconds": round(seconds * 1000, 2)})


async def take_up_stalled_jobs(app: procrastinate.App, *, dead_seconds: float, every_seconds: float) -> None:
    """Retry jobs of dead workers, forever; a worker is dead `dead_seconds` after its last heartbeat."""
    while True:
        with suppress(ConnectorException):  # one connection that is lost: the worker goes on, and so does this
            await app.job_manager.prune_stalled_workers(dead_seconds)
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=dead_seconds):
                log.warning("stalled job retried", job=job.id, task=job.task_name)
                await app.job_manager.retry_job(job)
        await asyncio.sleep(every_seconds)


class Workers(Protocol):
    """All that is not evaluation. Each can be done again from its start at any time."""

    async def ingest(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None: ...

    async def give_up(
        self, owner_id: str, collection_id: UUID, documents: Sequence[UUID], error: BaseException
    ) -> None: ...

    async def tidy_files(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None: ...

    async def clear(self, owner_id: str, collection_id: UUID) -> None: ...

    async def optimize(self, owner_id: str, collection_id: UUID) -> None: ...

    async def purge(self, owner_id: str, collection_id: UUID) -> None: ...

    async def forget_conversations(self, owner_id: str) -> None: ...

    async def forget_idempotency_keys(self, owner_id: str) -> None: ...


class Evaluators(Protocol):
    """Background workers of evaluations; one that is begun again continues where it stopped."""

    async def evaluate(self, owner_id: str, collection_id: UUID, run_id: UUID) -> None: ...

    async def give_up(self, owner_id: str, collection_id: UUID, run_id: UUID, error: BaseException) -> None: ...


class Schedulers(Protocol):
    """Background workers that start due evaluations, once for each due time."""

    async def order_due(self, owner_id: str, schedule_id: UUID, due_at: datetime) -> None: ...


POLL_SECONDS = 0.5  # for jobs that were told of before the worker listened
HEARTBEAT_SECONDS = 2
DEAD_SECONDS = 10  # without a heartbeat
JOB_DOCUMENTS = 50
JOB_BYTES = 5_000_000
OPTIMIZED_AFTER_SECONDS = 10
MOST_ATTEMPTS = 6  # with waits of 1, 2, 4 … seconds between them
GRACE_SECONDS = 2  # for jobs that run when their worker is told to stop; they are taken up again later
RETRIED = (DatabaseUnavailable, IndexUnavailable, CollectionChanged, ConnectionError)
TRANSIENT = (DatabaseUnavailable, RetrievalUnavailable, ConnectionError)
AGAIN_SECONDS = 60  # a due time that meets a failing database is tried for ever: its job is its schedule's only one
SCHEDULES = "schedules"
WAITING = """
    SELECT task_name, count(*) FROM procrastinate_jobs
    WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()) GROUP BY task_name"""
EVALUATIONS = "evaluations"  # a queue of their own, and a lock: one at a time, so that their latencies mean something


@dataclass
class Queue:
    database: Database
    concurrency: int
    mark_owner: Callable[[str], str]  # for logs
    _app: procrastinate.App = field(init=False, repr=False)
    _workers: Workers = field(init=False, repr=False)
    _evaluators: Evaluators | None = field(init=False, repr=False, default=None)
    _schedulers: Schedulers | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)  # what a job meets is logged by the job
        self._app = self._make_app(procrastinate.PsycopgConnector())

    async def defer_ingestion(
        self, connection: Connection, collection: Collection, ingestions: Sequence[Ingestion]
    ) -> None:
        """Queue ingestion jobs, small files together; they start once the connection's transaction commits."""
        for batch in _batches(ingestions):
            await self._defer("ingest", collection, [of.document_id for of in batch], connection=connection)

    async def defer_tidying(
        self, connection: Connection, collection: Collection, ingestions: Sequence[Ingestion]
    ) -> None:
        await self._defer("tidy_files", collection, [of.document_id for of in ingestions], connection=connection)

    async def defer_clearing(self, connection: Connection, collection: Collection, _: Sequence[Ingestion]) -> None:
        """Queue the deletion of a collection and its content."""
        await self._defer("clear", collection, connection=connection)

    async def defer_optimization(self, collection: Collection) -> None:
        """Queue one optimization for all that is loaded in the next seconds."""
        soon = datetime.now(UTC) + timedelta(seconds=OPTIMIZED_AFTER_SECONDS)
        lock = f"optimize {collection.id}"
        with suppress(AlreadyEnqueued):
            async with self.database.transaction(collection.owner_id) as connection:
                await self._defer("optimize", collection, connection=connection, queueing_lock=lock, schedule_at=soon)

    async def defer_purge(self, collection: Collection, at: datetime) -> None:
        """Queue one deletion for all that expires in the same minute."""
        lock = f"purge {collection.id} {at:%Y-%m-%dT%H:%M}"
        with suppress(AlreadyEnqueued):
            async with self.database.transaction(collection.owner_id) as connection:
                await self._defer(
                    "purge",
                    collection,
                    connection=connection,
                    queueing_lock=lock,
                    schedule_at=at + timedelta(minutes=1),
                )

    async def defer_forgetting(self, owner_id: str, at: datetime) -> None:
        """Queue the deletion of expired conversations."""
        await self._defer_forgetting("conversations", owner_id, at)

    async def defer_forgetting_keys(self, owner_id: str, at: datetime) -> None:
        await self._defer_forgetting("idempotency_keys", owner_id, at)

    async def _defer_forgetting(self, what: str, owner_id: str, at: datetime) -> None:
        """Queue a deletion of expired rows unless one is queued: each queues the next one itself."""
        lock = f"forget {what} {owner_id}"
        with suppress(AlreadyEnqueued):
            async with self.database.transaction(owner_id) as connection:
                job = self._app.configure_task(
                    f"forget_{what}", connection=connection, queueing_lock=lock, schedule_at=at
                )
                await _send(job, owner_id=owner_id)

    async def defer_evaluation(self, connection: Connection, collection: Collection, run_id: UUID) -> None:
        """Queue an evaluation, which starts once the connection's transaction commits."""
        job = self._app.configure_task("evaluate", connection=connection)
        await _send(job, owner_id=collection.owner_id, collection_id=str(collection.id), run_id=str(run_id))

    async def defer_schedule(self, connection: Connection, schedule: Schedule) -> None:
        """Its next due time."""
        job = self._app.configure_task("order_due", connection=connection, schedule_at=schedule.due_at)
        due_at = schedule.due_at.isoformat()
        await _send(job, owner_id=schedule.owner_id, schedule_id=str(schedule.id), due_at=due_at)

    async def _defer(self, task: str, collection: Collection, documents: Sequence[UUID] = (), **options: Any) -> None:
        job = self._app.configure_task(task, **options)
        traced = {"trace": parent} if (parent := current_parent()) else {}
        await _send(
            job,
            owner_id=collection.owner_id,
            collection_id=str(collection.id),
            documents=[str(document) for document in documents],
            **traced,
        )

    async def count_waiting(self) -> dict[str, int]:
        """Jobs by their names, of all owners; one that is planned for later does not wait yet.

        Raises DatabaseUnavailable.
        """
        async with self.database.transaction("") as connection:
            rows = await connection.execute(WAITING)
            return {str(row["task_name"]): cast(int, row["count"]) async for row in rows}

    @asynccontextmanager
    async def working(
        self, workers: Workers, evaluators: Evaluators | None = None, schedulers: Schedulers | None = None
    ) -> AsyncIterator[None]:
        """Run jobs in this process while the block runs, `concurrency` at a time."""
        worker = asyncio.create_task(self.work(workers, evaluators, schedulers))
        try:
            yield
        finally:
            await end(worker)

    async def work(
        self, workers: Workers, evaluators: Evaluators | None = None, schedulers: Schedulers | None = None
    ) -> None:
        """Run jobs until cancelled; wait while the database is away.

        Without `evaluators` or `schedulers`, their jobs are left to other workers.
        """
        self._workers, self._evaluators, self._schedulers = workers, evaluators, schedulers
        while True:
            try:
                await self._work(await self.database.address())
            except Exception as exc:
                log.warning("worker restarted", error=exc)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _work(self, address: str) -> None:
        connector = procrastinate.PsycopgConnector(
            conninfo=address,
            kwargs={"options": f"{OPTIONS} -c role={APPLICATION_ROLE}"},
            min_size=1,
            max_size=self.concurrency + 3,
        )
        app = self._make_app(connector)
        async with app.open_async():
            stalled = take_up_stalled_jobs(app, dead_seconds=DEAD_SECONDS, every_seconds=HEARTBEAT_SECONDS)
            rescue = asyncio.create_task(stalled)
            try:
                await app.run_worker_async(
                    queues=self._queues(),
                    concurrency=self.concurrency,
                    install_signal_handlers=False,
                    delete_jobs=procrastinate.jobs.DeleteJobCondition.ALWAYS,
                    fetch_job_polling_interval=POLL_SECONDS,
                    update_heartbeat_interval=HEARTBEAT_SECONDS,
                    stalled_worker_timeout=DEAD_SECONDS,
                    shutdown_graceful_timeout=GRACE_SECONDS,
                    worker_middleware=[JobWatch(self.mark_owner).watch],
                )
            finally:
                await end(rescue)

    def _queues(self) -> list[str]:
        return ["default", *[EVALUATIONS] * bool(self._evaluators), *[SCHEDULES] * bool(self._schedulers)]

    def _make_app(self, connector: procrastinate.PsycopgConnector) -> procrastinate.App:
        app = procrastinate.App(connector=connector)
        waits = procrastinate.RetryStrategy(max_attempts=MOST_ATTEMPTS, exponential_wait=2)

        @app.task(name="ingest", retry=waits, pass_context=True)
        async def ingest(context: procrastinate.JobContext, /, **job: Any) -> None:
            arguments = _arguments(**job)
            try:
                await self._workers.ingest(*arguments)
            except RETRIED as exc:
                if context.job.attempts + 1 < MOST_ATTEMPTS:
                    raise
                note(outcome=GIVEN_UP)
                await self._workers.give_up(*arguments, exc)
            except Exception as exc:
                log.exception("ingestion failed")
                note(outcome=GIVEN_UP)
                await self._workers.give_up(*arguments, exc)

        @app.task(name="tidy_files", retry=waits)
        async def tidy_files(**job: Any) -> None:
            await self._workers.tidy_files(*_arguments(**job))

        @app.task(name="clear", retry=waits)
        async def clear(**job: Any) -> None:
            await self._workers.clear(*_arguments(**job)[:2])

        @app.task(name="optimize", retry=waits)
        async def optimize(**job: Any) -> None:
            await self._workers.optimize(*_arguments(**job)[:2])

        @app.task(name="purge", retry=waits)
        async def purge(**job: Any) -> None:
            await self._workers.purge(*_arguments(**job)[:2])

        @app.task(name="forget_conversations", retry=waits)
        async def forget_conversations(*, owner_id: str) -> None:
            await self._workers.forget_conversations(owner_id)

        @app.task(name="forget_idempotency_keys", retry=waits)
        async def forget_idempotency_keys(*, owner_id: str) -> None:
            await self._workers.forget_idempotency_keys(owner_id)

        @app.task(name="evaluate", retry=waits, pass_context=True, queue=EVALUATIONS, lock=EVALUATIONS)
        async def evaluate(
            context: procrastinate.JobContext, /, *, owner_id: str, collection_id: str, run_id: str
        ) -> None:
            assert self._evaluators  # else this queue is not listened to
            arguments = owner_id, UUID(collection_id), UUID(run_id)
            try:
                await self._evaluators.evaluate(*arguments)
            except Exception as exc:
                if isinstance(exc, TRANSIENT) and context.job.attempts + 1 < MOST_ATTEMPTS:
                    raise
                log.exception("evaluation failed")
                note(outcome=GIVEN_UP)
                await self._evaluators.give_up(*arguments, exc)

        @app.task(name="order_due", retry=procrastinate.RetryStrategy(wait=AGAIN_SECONDS), queue=SCHEDULES)
        async def order_due(*, owner_id: str, schedule_id: str, due_at: str) -> None:
            assert self._schedulers  # else this queue is not listened to
            await self._schedulers.order_due(owner_id, UUID(schedule_id), datetime.fromisoformat(due_at))

        return app


async def _send(job: JobDeferrer, **arguments: JSONValue) -> None:
    """Raises AlreadyEnqueued or DatabaseUnavailable."""
    try:
        await job.defer_async(**arguments)
    except ConnectorException as exc:
        if isinstance(exc.__cause__, FAILURES):
            raise translated(exc.__cause__) from exc
        raise DatabaseUnavailable("PostgreSQL does not take a job. Check DATABASE_URL and the server.") from exc


def _arguments(
    *, owner_id: str, collection_id: str, documents: Sequence[str], trace: str = ""
) -> tuple[str, UUID, list[UUID]]:
    return owner_id, UUID(collection_id), [UUID(document) for document in documents]


def _batches(ingestions: Sequence[Ingestion]) -> Iterator[list[Ingestion]]:
    """A job each: embedding and storing go faster for many small files together."""
    batch: list[Ingestion] = []
    for ingestion in ingestions:
        size = sum(of.byte_count for of in batch) + ingestion.byte_count
        if batch and (len(batch) == JOB_DOCUMENTS or size > JOB_BYTES):
            yield batch
            batch = []
        batch.append(ingestion)
    if batch:
        yield batch

"""Jobs in PostgreSQL (procrastinate), their workers, and what is logged of them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, cast
from uuid import UUID

import procrastinate
import psycopg
from opentelemetry.trace import SpanKind
from procrastinate.connector import BaseConnector, Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import JobDeferrer
from procrastinate.manager import JobManager
from procrastinate.retry import RetryDecision
from procrastinate.types import JSONValue
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.db.errors import FAILURES, translated
from graphrag.db.migrate import SETTINGS, WORKER_ROLE
from graphrag.errors import (
    CollectionChanged,
    DatabaseUnavailable,
    FileUnavailable,
    IndexUnavailable,
    RetrievalUnavailable,
)
from graphrag.ingestion.sources import batched
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
    is_stopped = outcome == AGAIN and "error" not in record.facts  # its worker is told to stop: that is no failure
    write = log.info if outcome == DONE or is_stopped else log.warning
    write("job", **record.describe() | {"task": name, "outcome": outcome, "milliseconds": round(seconds * 1000, 2)})


class _RetryStrategy(procrastinate.RetryStrategy):
    """Waits of 1, 2, 4 … seconds; a job whose worker is told to stop is taken up by another, however often."""

    def get_retry_decision(self, *, exception: BaseException, job: procrastinate.jobs.Job) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision(retry_in={"seconds": 0})
        return super().get_retry_decision(exception=exception, job=job)


class _WorkerPool(AsyncConnectionPool[psycopg.AsyncConnection]):
    """Connections each of which begins a transaction as the workers' role."""

    @asynccontextmanager
    async def connection(self, timeout: float | None = None) -> AsyncIterator[psycopg.AsyncConnection]:  # noqa: ASYNC109 - the signature is psycopg_pool's
        async with super().connection(timeout) as connection:
            await connection.execute(f"{SETTINGS}; SET LOCAL ROLE {WORKER_ROLE}")
            yield connection


class _Connector(procrastinate.PsycopgConnector):
    """Transactions at one address, which may be a pooler's, and a session that listens at another."""

    def __init__(self, address: str, session_address: str | None, *, max_size: int) -> None:
        super().__init__(
            conninfo=address,
            kwargs={"prepare_threshold": None},
            min_size=1,
            max_size=max_size,
            pool_factory=_WorkerPool,
        )
        self._session = procrastinate.PsycopgConnector(conninfo=session_address, min_size=0, max_size=1)

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        await self._session.open_async()
        try:
            await self._session.listen_notify(on_notification, channels)
        finally:
            await self._session.close_async()


class FairJobManager(JobManager):
    """Takes jobs owner by owner, single uploads before bulk loads; one slot is left to others."""

    def __init__(self, connector: BaseConnector, slots: int) -> None:
        super().__init__(connector)
        self._most = max(1, slots - 1)
        self._served: dict[str, None] = {}  # owners, those served last at the end

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> procrastinate.jobs.Job | None:
        rows = await self.connector.execute_query_all_async(
            query=QUERIES["fetch_job"],
            queues=list(queues or ()),
            worker_id=worker_id,
            most=self._most,
            served=[*self._served],
        )
        if not rows:
            return None
        job = procrastinate.jobs.Job.from_row(rows[0])
        owner = _Arguments.model_validate(job.task_kwargs).owner_id
        self._served.pop(owner, None)
        self._served[owner] = None
        if len(self._served) > REMEMBERED_OWNERS:
            del self._served[next(iter(self._served))]
        return job


class Workers(Protocol):
    """All that is not evaluation. Each can be done again from its start at any time."""

    async def ingest(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None: ...

    async def give_up(
        self, owner_id: str, collection_id: UUID, documents: Sequence[UUID], error: BaseException
    ) -> None: ...

    async def count_stall(
        self, connection: Connection, owner_id: str, collection_id: UUID, documents: Sequence[UUID]
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
RETRIED = (DatabaseUnavailable, IndexUnavailable, FileUnavailable, CollectionChanged, ConnectionError)
TRANSIENT = (DatabaseUnavailable, RetrievalUnavailable, ConnectionError)
AGAIN_SECONDS = 60  # a due time that meets a failing database is tried for ever: its job is its schedule's only one
SCHEDULES = "schedules"
BULK = -1  # priority
REMEMBERED_OWNERS = 1_000
QUERIES = queries(Path(__file__).with_name("queue.sql"))
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
        """Queue ingestion jobs, small files together; they start once the connection's transaction commits.

        Several documents are a bulk load, before which jobs of single ones are taken.
        """
        priority = BULK if len(ingestions) > 1 else 0
        # Embedding and storing go faster for many small files together.
        for batch in batched(ingestions, lambda of: of.byte_count, most=JOB_DOCUMENTS, most_bytes=JOB_BYTES):
            documents = [of.document_id for of in batch]
            await self._defer("ingest", collection, documents, connection=connection, priority=priority)

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
        async with self._alone(collection.owner_id, lock) as connection:
            if connection:
                await self._defer("optimize", collection, connection=connection, queueing_lock=lock, schedule_at=soon)

    async def defer_purge(self, collection: Collection, at: datetime) -> None:
        """Queue one deletion for all that expires in the same minute."""
        lock, later = f"purge {collection.id} {at:%Y-%m-%dT%H:%M}", at + timedelta(minutes=1)
        async with self._alone(collection.owner_id, lock) as connection:
            if connection:
                await self._defer("purge", collection, connection=connection, queueing_lock=lock, schedule_at=later)

    async def defer_forgetting(self, owner_id: str, at: datetime) -> None:
        """Queue the deletion of expired conversations."""
        await self._defer_forgetting("conversations", owner_id, at)

    async def defer_forgetting_keys(self, owner_id: str, at: datetime) -> None:
        await self._defer_forgetting("idempotency_keys", owner_id, at)

    async def _defer_forgetting(self, what: str, owner_id: str, at: datetime) -> None:
        """Queue a deletion of expired rows unless one is queued: each queues the next one itself."""
        lock = f"forget {what} {owner_id}"
        async with self._alone(owner_id, lock) as connection:
            if connection:
                job = self._app.configure_task(
                    f"forget_{what}", connection=connection, queueing_lock=lock, schedule_at=at
                )
                await _send(job, owner_id=owner_id)

    @asynccontextmanager
    async def _alone(self, owner_id: str, lock: str) -> AsyncIterator[Connection | None]:
        """Begin a transaction in which no other queues a job of this lock; None where one is queued.

        The library learns it from an error's details, which row level security leaves out.
        """
        async with self.database.transaction(owner_id) as connection:
            await fetch(connection, QUERIES["wait_for_lock"], {"lock": lock})
            (found,) = await fetch(connection, QUERIES["is_queued"], {"lock": lock})
            yield None if found["is_queued"] else connection

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
            rows = await connection.execute(QUERIES["count_waiting"])
            return {str(row["task_name"]): cast(int, row["count"]) async for row in rows}

    async def find_places(self, collection: Collection, documents: Sequence[UUID]) -> dict[UUID, int]:
        """Return the place in the queue, from 1, of the job of each of these documents that waits for one.

        Raises DatabaseUnavailable.
        """
        if not documents:
            return {}
        values = {"collection": str(collection.id), "documents": [str(document) for document in documents]}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_places"], values)
        return {row["document_id"]: row["place"] for row in rows}

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
                address = await self.database.address(WORKER_ROLE)
                await self._work(address, await self.database.session_address(WORKER_ROLE))
            except Exception as exc:
                log.warning("worker restarted", error=exc)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _work(self, address: str, session_address: str | None) -> None:
        app = self._make_app(_Connector(address, session_address, max_size=self.concurrency + 3))
        if session_address is None:
            log.warning("jobs are polled for: set DATABASE_MIGRATION_URL to the server itself, past the pooler")
        async with app.open_async():
            rescue = asyncio.create_task(self._take_up_stalled_jobs(app))
            try:
                await app.run_worker_async(
                    queues=self._queues(),
                    concurrency=self.concurrency,
                    install_signal_handlers=False,
                    delete_jobs=procrastinate.jobs.DeleteJobCondition.ALWAYS,
                    fetch_job_polling_interval=POLL_SECONDS,
                    listen_notify=session_address is not None,
                    update_heartbeat_interval=HEARTBEAT_SECONDS,
                    stalled_worker_timeout=DEAD_SECONDS,
                    shutdown_graceful_timeout=GRACE_SECONDS,
                    worker_middleware=[JobWatch(self.mark_owner).watch],
                )
            finally:
                await end(rescue)

    async def _take_up_stalled_jobs(self, app: procrastinate.App) -> None:
        """Retry jobs of dead workers, forever; a worker is dead DEAD_SECONDS after its last heartbeat."""
        while True:
            with suppress(ConnectorException, DatabaseUnavailable):  # a connection that is lost: the worker goes on
                await app.job_manager.prune_stalled_workers(DEAD_SECONDS)
                for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=DEAD_SECONDS):
                    await self._take_up(job)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _take_up(self, job: procrastinate.jobs.Job) -> None:
        owner = _Arguments.model_validate(job.task_kwargs).owner_id
        async with self.database.transaction(owner) as connection:
            if not await fetch(connection, QUERIES["retry_stalled"], {"job": job.id, "attempts": job.attempts}):
                return
            if job.task_name == "ingest":
                await self._workers.count_stall(connection, *_arguments(**cast(dict[str, Any], job.task_kwargs)))
        log.warning("stalled job retried", job=job.id, task=job.task_name)

    def _queues(self) -> list[str]:
        return ["default", *[EVALUATIONS] * bool(self._evaluators), *[SCHEDULES] * bool(self._schedulers)]

    def _make_app(self, connector: procrastinate.PsycopgConnector) -> procrastinate.App:
        app = procrastinate.App(connector=connector)
        app.job_manager = FairJobManager(connector, self.concurrency)
        waits = _RetryStrategy(max_attempts=MOST_ATTEMPTS, exponential_wait=2)

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

        @app.task(name="order_due", retry=_RetryStrategy(wait=AGAIN_SECONDS), queue=SCHEDULES)
        async def order_due(*, owner_id: str, schedule_id: str, due_at: str) -> None:
            assert self._schedulers  # else this queue is not listened to
            await self._schedulers.order_due(owner_id, UUID(schedule_id), datetime.fromisoformat(due_at))

        return app


async def _send(job: JobDeferrer, **arguments: JSONValue) -> None:
    """Raises DatabaseUnavailable."""
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

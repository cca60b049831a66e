"""Jobs in the service's own PostgreSQL: procrastinate. A job that its worker leaves behind is taken up by another."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import procrastinate
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import JobDeferrer
from procrastinate.types import JSONValue

from graphrag.database import Connection, Database
from graphrag.database_errors import FAILURES, ours
from graphrag.endings import end
from graphrag.errors import CollectionChanged, DatabaseUnavailable, IndexUnavailable, RetrievalUnavailable
from graphrag.ingestion.job_watch import GIVEN_UP, JobWatch, take_up_stalled_jobs
from graphrag.ingestion.workers import Evaluators, Schedulers, Workers
from graphrag.ingestion_models import Ingestion
from graphrag.migrating import APPLICATION_ROLE, OPTIONS
from graphrag.models import Collection
from graphrag.records import note
from graphrag.schedules import Schedule
from graphrag.telemetry import log
from graphrag.tracing import current_parent

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
        """They are done once the connection's transaction has ended well, small files together."""
        for batch in _batches(ingestions):
            await self._defer("ingest", collection, [of.document_id for of in batch], connection=connection)

    async def defer_tidying(
        self, connection: Connection, collection: Collection, ingestions: Sequence[Ingestion]
    ) -> None:
        await self._defer("tidy_files", collection, [of.document_id for of in ingestions], connection=connection)

    async def defer_clearing(self, connection: Connection, collection: Collection, _: Sequence[Ingestion]) -> None:
        """Of a collection with all that is in it."""
        await self._defer("clear", collection, connection=connection)

    async def defer_optimization(self, collection: Collection) -> None:
        """Once for all that is loaded in the next seconds."""
        soon = datetime.now(UTC) + timedelta(seconds=OPTIMIZED_AFTER_SECONDS)
        lock = f"optimize {collection.id}"
        with suppress(AlreadyEnqueued):
            async with self.database.transaction(collection.owner_id) as connection:
                await self._defer("optimize", collection, connection=connection, queueing_lock=lock, schedule_at=soon)

    async def defer_purge(self, collection: Collection, at: datetime) -> None:
        """Once for all that expires in the same minute."""
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
        """Of conversations."""
        await self._defer_forgetting("conversations", owner_id, at)

    async def defer_forgetting_keys(self, owner_id: str, at: datetime) -> None:
        await self._defer_forgetting("idempotency_keys", owner_id, at)

    async def _defer_forgetting(self, what: str, owner_id: str, at: datetime) -> None:
        """Where it is planned already, that stands: it plans the next."""
        lock = f"forget {what} {owner_id}"
        with suppress(AlreadyEnqueued):
            async with self.database.transaction(owner_id) as connection:
                job = self._app.configure_task(
                    f"forget_{what}", connection=connection, queueing_lock=lock, schedule_at=at
                )
                await _send(job, owner_id=owner_id)

    async def defer_evaluation(self, connection: Connection, collection: Collection, run_id: UUID) -> None:
        """It is done once the connection's transaction has ended well."""
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
        """Meanwhile jobs are done here, `concurrency` at a time."""
        worker = asyncio.create_task(self.work(workers, evaluators, schedulers))
        try:
            yield
        finally:
            await end(worker)

    async def work(
        self, workers: Workers, evaluators: Evaluators | None = None, schedulers: Schedulers | None = None
    ) -> None:
        """Until it is cancelled. A database that is away for a while is waited for.

        Without evaluators, evaluations are left to other workers; without schedulers, what is due is.
        """
        self._workers, self._evaluators, self._schedulers = workers, evaluators, schedulers
        while True:
            try:
                await self._work(await self.database.address())
            except Exception as exc:
                log.warning("worker starts again", error=exc)
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
            raise ours(exc.__cause__) from exc
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

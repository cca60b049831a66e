"""What is told of every job of the queue: its trace, a last line, and what is counted. As of a request.

And who sees to those that their worker has left behind.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import procrastinate
from opentelemetry.trace import SpanKind
from procrastinate.exceptions import ConnectorException
from pydantic import BaseModel

from graphrag.metrics import JOB_SECONDS, JOBS_ENDED, JOBS_RUNNING
from graphrag.records import Record, begin_record, note
from graphrag.telemetry import log
from graphrag.tracing import first_span, trace_id

DONE, AGAIN, GIVEN_UP = "done", "again", "given_up"


class _Arguments(BaseModel):
    """What is read of them here."""

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


def _tell(record: Record, name: str, outcome: str, seconds: float) -> None:
    write = log.info if outcome == DONE else log.warning
    write("job", **record.describe() | {"task": name, "outcome": outcome, "milliseconds": round(seconds * 1000, 2)})


async def take_up_stalled_jobs(app: procrastinate.App, *, dead_seconds: float, every_seconds: float) -> None:
    """For ever. A worker is dead that many seconds after its last heartbeat."""
    while True:
        with suppress(ConnectorException):  # one connection that is lost: the worker goes on, and so does this
            await app.job_manager.prune_stalled_workers(dead_seconds)
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=dead_seconds):
                log.warning("job taken up again", job=job.id, task=job.task_name)
                await app.job_manager.retry_job(job)
        await asyncio.sleep(every_seconds)

"""What is told of a job."""

import io
import json
from typing import Any

import procrastinate
import pytest
from procrastinate.jobs import Job
from procrastinate.testing import InMemoryConnector
from prometheus_client import REGISTRY

from graphrag.ingestion.queue import GIVEN_UP, MOST_ATTEMPTS, JobWatch
from graphrag.observability import telemetry
from graphrag.observability.request_context import note


async def purge(**_: Any) -> None:
    """Only its retries count here."""


def context(attempts: int = 0, **arguments: Any) -> procrastinate.JobContext:
    job = Job(
        id=7,
        queue="default",
        lock=None,
        queueing_lock=None,
        task_name="purge",
        task_kwargs=arguments,
        attempts=attempts,
    )
    app = procrastinate.App(connector=InMemoryConnector())
    app.task(name="purge", retry=MOST_ATTEMPTS)(purge)
    return procrastinate.JobContext(app=app, job=job, start_timestamp=0, abort_reason=lambda: None)


def count(outcome: str) -> float:
    return REGISTRY.get_sample_value("causeway_jobs_ended_total", {"task": "purge", "outcome": outcome}) or 0


async def done() -> str:
    return "as the job gives it"


async def failing() -> None:
    raise ConnectionError("zarzaquimera")


async def given_up() -> None:
    note(outcome=GIVEN_UP)


async def giving_up_in_vain() -> None:
    await given_up()
    await failing()


@pytest.mark.parametrize(
    ("do", "attempts", "outcome", "level"),
    [
        (done, 0, "done", "info"),
        (failing, 0, "again", "warning"),
        (failing, MOST_ATTEMPTS, "given_up", "warning"),
        (given_up, 0, "given_up", "warning"),
        (giving_up_in_vain, 0, "again", "warning"),
    ],
)
async def test_a_job_is_told_by_how_it_ended(
    monkeypatch: pytest.MonkeyPatch, do: Any, attempts: int, outcome: str, level: str
) -> None:
    """R11.2 Counted, and in a line with the owner's mark and nobody's name or words."""
    monkeypatch.setattr("sys.stderr", stream := io.StringIO())
    telemetry.configure_logging("INFO")
    before, watch = count(outcome), JobWatch(lambda owner: owner[::-1])
    try:
        given = await watch.watch(do, context(attempts, owner_id="anna", collection_id="c1", documents=["d1"]), None)
    except ConnectionError:
        given = "ConnectionError"
    assert (given == "as the job gives it") == (outcome == "done")
    assert count(outcome) == before + 1
    line = json.loads(stream.getvalue())
    told = {"event": "job", "job": "7", "owner": "anna"[::-1], "collection": "c1", "task": "purge", "outcome": outcome}
    assert told.items() <= line.items()
    assert (line["level"], line.get("error")) == (level, None if do in (done, given_up) else "ConnectionError")
    assert "zarzaquimera" not in stream.getvalue()
    assert REGISTRY.get_sample_value("causeway_jobs_running", {"task": "purge"}) == 0

"""What is told of a job."""

import io
import json
from typing import Any

import procrastinate
import pytest
from procrastinate.jobs import Job
from procrastinate.testing import InMemoryConnector
from prometheus_client import REGISTRY

from graphrag import telemetry
from graphrag.ingestion.job_watch import GIVEN_UP, JobWatch
from graphrag.records import note


def context(**arguments: Any) -> procrastinate.JobContext:
    job = Job(id=7, queue="default", lock=None, queueing_lock=None, task_name="purge", task_kwargs=arguments)
    app = procrastinate.App(connector=InMemoryConnector())
    return procrastinate.JobContext(app=app, job=job, start_timestamp=0, abort_reason=lambda: None)


def count(outcome: str) -> float:
    labels = {"task": "purge", "outcome": outcome}
    return REGISTRY.get_sample_value("causeway_job_seconds_count", labels) or 0


async def done() -> str:
    return "as the job gives it"


async def failing() -> None:
    raise ConnectionError("zarzaquimera")


async def given_up() -> None:
    note(outcome=GIVEN_UP)


@pytest.mark.parametrize(
    ("do", "outcome", "level"),
    [(done, "done", "info"), (failing, "again", "warning"), (given_up, "given_up", "warning")],
)
async def test_a_job_is_told_by_how_it_ended(
    monkeypatch: pytest.MonkeyPatch, do: Any, outcome: str, level: str
) -> None:
    """R11.2 Counted, and in a line with the owner's mark and nobody's name or words."""
    monkeypatch.setattr("sys.stderr", stream := io.StringIO())
    telemetry.configure_logging("INFO")
    before, watch = count(outcome), JobWatch(lambda owner: owner[::-1])
    try:
        given = await watch.watch(do, context(owner_id="anna", collection_id="c1", documents=["d1"]), None)
    except ConnectionError:
        given = None
    assert (given == "as the job gives it") == (outcome == "done")
    assert count(outcome) == before + 1
    line = json.loads(stream.getvalue())
    told = {"event": "job", "job": "7", "owner": "anna"[::-1], "collection": "c1", "task": "purge", "outcome": outcome}
    assert told.items() <= line.items()
    assert line["level"] == level
    assert "zarzaquimera" not in stream.getvalue()
    assert REGISTRY.get_sample_value("causeway_jobs_running", {"task": "purge"}) == 0

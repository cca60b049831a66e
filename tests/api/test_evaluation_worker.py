"""Evaluations and those who do them: a service without a worker, workers that are killed."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api import test_evaluations_api
from tests.api.expectations import check_error
from tests.api.pages import read_pages
from tests.api.test_evaluations_api import finished
from tests.api.test_golden_cases_api import case, write_texts
from tests.conftest import run_server, run_worker
from tests.processes import unused_port

pytestmark = pytest.mark.slow
WAIT_SECONDS = 120
QUESTIONS = [f"¿Por qué falló el horno H{number}, y cuándo se cerró el puente?" for number in range(80)]


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def api(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Of a service that leaves its jobs to others."""
    folder = write_texts(tmp_path_factory.mktemp("texts"))
    arguments = ("--collection", "fábrica", "--ingest", str(folder))
    with (
        run_server(*arguments, DATABASE_URL=database, RAG_WORKER="false") as server,
        httpx.Client(base_url=f"{server.url}/api/v1", timeout=30) as client,
    ):
        cases = [case(question, "horno.md") for question in QUESTIONS]
        client.post("/golden-cases/import", json={"cases": cases}).raise_for_status()
        yield client


def order(api: httpx.Client, **body: Any) -> dict[str, Any]:
    """Of the search alone: it is how runs begin and end that is looked at."""
    return test_evaluations_api.order(api, answers=False, **body)


def results(api: httpx.Client, run: dict[str, Any]) -> list[dict[str, Any]]:
    pages = read_pages(api, f"/evaluations/{run['id']}/results", "results", limit=50)
    return [result for page in pages for result in page]


def wait_for(api: httpx.Client, run: dict[str, Any], done: int) -> dict[str, Any]:
    until = time.monotonic() + WAIT_SECONDS
    while (now := api.get(f"/evaluations/{run['id']}").json())["done"] < done:
        assert time.monotonic() < until, now
        time.sleep(0.02)
    return dict(now)


def test_a_run_that_waits_is_cancelled(api: httpx.Client, database: str, tmp_path: Path) -> None:
    """R9.5, R10.4 a worker that comes later leaves it as it is; it has no figures, and says so."""
    run = order(api, name="nunca")
    assert run["status"] == "waiting"
    cancelled = api.post(f"/evaluations/{run['id']}/cancel").json()
    assert (cancelled["status"], cancelled["done"], cancelled["summary"]) == ("cancelled", 0, None)
    with run_worker(DATABASE_URL=database, CAUSEWAY_HOME=str(tmp_path)):
        assert finished(api, order(api))["status"] == "done"  # the one after it, in the same line
    assert api.get(f"/evaluations/{run['id']}").json() == cancelled
    params = {"baseline": run["id"], "candidate": run["id"]}
    error = check_error(api.get("/evaluations/compare", params=params), 409, "evaluation_unfinished")
    assert error["details"] == {"run": run["id"], "status": "cancelled"}


def test_a_worker_tells_of_itself(api: httpx.Client, database: str, tmp_path: Path) -> None:
    """R9.7, R11.2 as a service does: its jobs; what an evaluation asks is nobody's search."""
    port = unused_port()
    with run_worker("--metrics-port", str(port), DATABASE_URL=database, CAUSEWAY_HOME=str(tmp_path)):
        finished(api, order(api))
        ended = 'causeway_jobs_ended_total{outcome="done",task="evaluate"} 1.0'
        for _ in range(50):  # the run is over a moment before its job
            told = httpx.get(f"http://127.0.0.1:{port}/metrics").text
            if ended in told:
                break
            time.sleep(0.2)
    assert ended in told
    assert 'causeway_stage_seconds_count{stage="transform"}' not in told


def test_a_run_that_is_under_way_is_cancelled(api: httpx.Client, database: str, tmp_path: Path) -> None:
    """R9.5, R10.4 it ends after the case in hand, and what it measured stays."""
    run = order(api)
    with run_worker(DATABASE_URL=database, CAUSEWAY_HOME=str(tmp_path)):
        wait_for(api, run, 5)
        cancelled = api.post(f"/evaluations/{run['id']}/cancel").json()
        assert cancelled["status"] == "cancelled"
        assert finished(api, order(api))["status"] == "done"
    after = api.get(f"/evaluations/{run['id']}").json()
    assert after == cancelled
    assert after["done"] == sum(of["status"] == "measured" for of in results(api, run)) < len(QUESTIONS)


def test_a_killed_workers_run_goes_on(api: httpx.Client, database: str, tmp_path: Path) -> None:
    """R10.4, security 17: the next worker takes it up where it was left: nothing is measured twice, nothing is lost."""
    run = order(api)
    with run_worker(DATABASE_URL=database, CAUSEWAY_HOME=str(tmp_path)) as process:
        wait_for(api, run, 10)
        process.stop(signal.SIGKILL)
    left = api.get(f"/evaluations/{run['id']}").json()
    assert left["status"] == "running"
    before = [of for of in results(api, run) if of["status"] == "measured"]
    assert 10 <= len(before) == left["done"] < len(QUESTIONS)
    with run_worker(DATABASE_URL=database, CAUSEWAY_HOME=str(tmp_path)):
        wait_for(api, run, len(QUESTIONS))  # once the dead worker's time is over
        now = finished(api, run)
    assert (now["status"], now["done"], now["summary"]["cases"]) == ("done", len(QUESTIONS), len(QUESTIONS))
    assert now["started_at"] == left["started_at"]
    after = results(api, run)
    assert after[: len(before)] == before  # milliseconds and all
    assert [of["query"] for of in after] == QUESTIONS
    assert {of["status"] for of in after} == {"measured"}

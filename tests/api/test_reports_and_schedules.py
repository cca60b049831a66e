"""Reports, trends and schedules: a real server with its own worker, and the command line beside it."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from typer.testing import CliRunner, Result

from agent.evaluation.report_page import WORDS
from api.cli.evaluation import app
from graphrag.config.service import AccessLimits
from graphrag.errors import EvaluationNotFound, InvalidSchedule, InvalidSettings, ScheduleNotFound
from graphrag.models import LOCAL_OWNER
from graphrag.models.evaluation import Schedule, Timetable
from graphrag.services import Services
from tests.api.commands import rows
from tests.api.expectations import check_error
from tests.api.pages import read_pages
from tests.api.test_evaluations_api import CASES, finished, order
from tests.api.test_processes import wait_until
from tests.api.uploads import shelf, upload
from tests.conftest import Server, with_services

NIGHTLY = {"collection": "fábrica", "name": "nocturna", "cron": "0 3 * * *", "answers": False}
Evaluate = Callable[..., Result]


@pytest.fixture(scope="module")
def api(demo_server: Server) -> Iterator[httpx.Client]:
    with shelf(demo_server, "fábrica") as client:
        yield client


@pytest.fixture(scope="module")
def runs(api: httpx.Client) -> list[dict[str, Any]]:
    """Two that are done, the first one first."""
    api.post("/golden-cases/import", json={"collection": "fábrica", "cases": CASES}).raise_for_status()
    return [finished(api, order(api, name=name, collection="fábrica")) for name in ("primera", "segunda")]


@pytest.fixture
def evaluate(demo_database: str, runs: list[dict[str, Any]]) -> Evaluate:
    def run(*arguments: str) -> Result:
        environment = {"DATABASE_URL": demo_database, "RAG_COLLECTION": "fábrica"}
        return CliRunner().invoke(app, arguments, env=environment)

    return run


def schedules(api: httpx.Client) -> list[dict[str, Any]]:
    return [of for page in read_pages(api, "/evaluations/schedules", "schedules", limit=7) for of in page]


def test_a_report_is_a_page(api: httpx.Client, runs: list[dict[str, Any]]) -> None:
    """R10.4, 001.9.8, security 9 in the reader's language, and unable to run anything."""
    first, second = runs
    for language in ("es", "fr", "en"):
        answer = api.get(f"/evaluations/{second['id']}/report", headers={"Accept-Language": language})
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert f'<html lang="{language}">' in answer.text
        assert WORDS["comparison"][language].format(baseline="primera").replace("'", "&#39;") in answer.text
    chosen = api.get(f"/evaluations/{first['id']}/report", params={"baseline": second["id"]})
    assert "Against the run segunda" in chosen.text
    check_error(api.get(f"/evaluations/{uuid4()}/report"), 404, "evaluation_not_found")
    unknown = {"baseline": str(uuid4())}
    check_error(api.get(f"/evaluations/{first['id']}/report", params=unknown), 404, "evaluation_not_found")
    check_error(api.get(f"/evaluations/{first['id']}/report", params={"baseline": "x"}), 422, "invalid_request")


def test_a_trend_tells_what_changed(api: httpx.Client, runs: list[dict[str, Any]], evaluate: Evaluate) -> None:
    """R10.4, 001.9.9 each run against the one before it, at both doors the same."""
    told = api.get("/retrieve/metrics", params={"collection": "fábrica", "limit": 2}).json()
    latest, before = told["trend"]
    assert (before["evaluation"], before["changes"]) == (runs[0]["id"], [])
    (change,) = latest["changes"]
    assert (change["baseline"], change["metric"], change["difference"], change["n"]) == (
        runs[0]["id"], "ndcg@10", 0, 3
    )  # fmt: skip
    assert change["verdict"] == "too_few_questions"
    assert latest["has_same_cases"]
    shown = evaluate("trend", "--json", "--limit", "2")
    assert json.loads(shown.stdout) == told
    lines = [line for line in evaluate("trend", "--metric", "hit@1").stdout.splitlines() if "segunda" in line]
    assert ["1.0000" in line and "█" in line for line in lines] == [True]
    assert evaluate("trend", "--metric", "x").exit_code == 2


def test_the_command_line_writes_a_report(evaluate: Evaluate, runs: list[dict[str, Any]], tmp_path: Path) -> None:
    """R10.4, 001.9.8 of the last run, where no other is named; an unknown folder is told before the work."""
    target = tmp_path / "informe.html"
    assert evaluate("report", "--output", str(target), "--language", "es").exit_code == 0
    assert "Evaluación de fábrica · segunda" in target.read_text("utf-8")
    done = evaluate("report", runs[0]["id"], "--baseline", runs[1]["id"], "-o", str(target))
    assert done.stdout.strip() == f"Wrote {target}"
    assert "Against the run segunda" in target.read_text("utf-8")
    assert evaluate("report", "--output", str(tmp_path / "none" / "a.html")).exit_code == 2
    assert isinstance(evaluate("report", str(uuid4()), "-o", str(target)).exception, EvaluationNotFound)


def test_schedules_are_added_listed_and_deleted(api: httpx.Client, runs: list[dict[str, Any]]) -> None:
    """R10.4, 001.9.10, security 16 so many of an owner; each with its next time and what it orders."""
    most = AccessLimits().max_schedules
    zones = ["UTC", "Europe/Madrid", *["America/Bogota"] * (most - 1)]
    bodies = [NIGHTLY | {"timezone": zone, "retrieval": {"rerank": False}} for zone in zones]
    added = [api.post("/evaluations/schedules", json=body) for body in bodies]
    assert [answer.status_code for answer in added] == [201] * most + [409]
    check_error(added[-1], 409, "quota_exceeded")
    now = datetime.now(UTC)
    first = added[0].json()
    assert first["choices"]["overrides"] == {"rerank": False}
    assert (first["last_evaluation"], first["error"], first["name"]) == (None, None, "nocturna")
    due = datetime.fromisoformat(first["due_at"])
    assert (due.hour, due.minute) == (3, 0)
    assert now < due <= now + timedelta(days=1, minutes=1)
    assert schedules(api) == [answer.json() for answer in added[:most]]
    assert api.get("/evaluations/schedules", params={"collection": "fábrica"}).json()["next_cursor"] is None
    check_error(api.get("/evaluations/schedules", params={"collection": "nada"}), 404, "collection_not_found")
    for answer in added[:most]:
        assert api.delete(f"/evaluations/schedules/{answer.json()['id']}").status_code == 204
    gone = api.delete(f"/evaluations/schedules/{first['id']}")
    check_error(gone, 404, "schedule_not_found")
    assert schedules(api) == []


@pytest.mark.parametrize(
    ("wrong", "status", "code", "words"),
    [
        ({"cron": "@daily"}, 400, "invalid_schedule", "0 3 * * *"),
        ({"cron": "0 0 30 2 *"}, 400, "invalid_schedule", "0 3 * * *"),
        ({"timezone": "Mars/Base"}, 400, "invalid_schedule", "Mars/Base"),
        ({"retrieval": {"rrf_k": -1}}, 400, "invalid_settings", "rrf_k"),
        ({"retrieval": {"\0": 1}}, 400, "invalid_settings", ""),
        ({"cron": "\0"}, 422, "invalid_request", ""),
        ({"cron": "0" * 201}, 422, "invalid_request", ""),
        ({"nonsense": 1}, 422, "invalid_request", ""),
        ({"collection": "nada"}, 404, "collection_not_found", ""),
    ],
)
def test_what_is_no_schedule_is_told(
    api: httpx.Client, wrong: dict[str, Any], status: int, code: str, words: str
) -> None:
    """R10.4, security 10 in three languages."""
    for language in ("es", "fr", "en"):
        answer = api.post("/evaluations/schedules", json=NIGHTLY | wrong, headers={"Accept-Language": language})
        assert words in check_error(answer, status, code)["message"]


def test_a_worker_orders_what_is_due(api: httpx.Client, runs: list[dict[str, Any]], demo_database: str) -> None:
    """R10.4, 001.9.10 what was due yesterday is measured once; what can't be measured says why, and goes on."""
    upload(api, "vacía", "a.md", "Un texto.")

    async def add(services: Services) -> list[Schedule]:
        """As it would have been stored then."""
        yesterday = datetime.now(UTC) - timedelta(days=2)
        choices = {"version": None, "overrides": {"strategy": "fulltext"}, "k": None, "answers": False}
        return [
            await services.schedules.add(
                await services.collections.open(LOCAL_OWNER, name),
                Timetable("0 3 * * *"),
                name="de anoche",
                choices=choices,
                now=yesterday,
                defer=services.documents.queue.defer_schedule,
            )
            for name in ("fábrica", "vacía")
        ]

    with_services(demo_database, add)
    wait_until(lambda: all(of["last_evaluation"] or of["error"] for of in schedules(api)), seconds=60)
    ordered, failed = schedules(api)
    run = finished(api, {"id": ordered["last_evaluation"]})
    assert (run["status"], run["name"], run["config"]["strategy"]) == ("done", "de anoche", "fulltext")
    assert failed["error"]["code"] == "no_golden_cases"
    assert failed["last_evaluation"] is None
    for of in (ordered, failed):
        assert datetime.fromisoformat(of["due_at"]) > datetime.now(UTC)
        assert api.delete(f"/evaluations/schedules/{of['id']}").status_code == 204
    assert api.delete("/collections/vacía").status_code == 204
    named = [of for of in api.get("/evaluations").json()["evaluations"] if of["name"] == "de anoche"]
    assert [of["id"] for of in named] == [run["id"]]


def test_the_command_line_keeps_schedules(evaluate: Evaluate) -> None:
    """R10.4, 001.9.10 added, listed, removed."""
    options = ("--name", "nocturna", "--set", "rerank=false", "--k", "7", "--no-answers", "--timezone", "Europe/Madrid")
    added = json.loads(evaluate("schedule", "add", "0 3 * * *", *options, "--json").stdout)
    assert (added["choices"]["overrides"], added["choices"]["k"], added["choices"]["answers"]) == (
        {"rerank": False}, 7, False
    )  # fmt: skip
    listed = rows(evaluate("schedule", "list").stdout)[added["id"]]
    assert listed[:4] == ["nocturna", "fábrica", "0 3 * * *", "Europe/Madrid"]
    assert json.loads(evaluate("schedule", "list", "--json").stdout)["schedules"] == [added]
    assert evaluate("schedule", "remove", added["id"]).exit_code == 0
    assert isinstance(evaluate("schedule", "remove", added["id"]).exception, ScheduleNotFound)
    assert isinstance(evaluate("schedule", "add", "daily").exception, InvalidSchedule)
    assert isinstance(evaluate("schedule", "add", "0 3 * * *", "--set", "rrf_k=-1").exception, InvalidSettings)
    assert evaluate("schedule", "add", "0 3 * * *", "--set", "rerank").exit_code == 2

"""`causeway eval run`, `list`, `show` and `compare`, over a few golden cases."""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from agent.evaluation.metrics import METRICS
from api.cli.evaluation import app
from graphrag.errors import EvaluationNotFound, GoldenVersionNotFound, JudgeUnavailable, NoGoldenCases
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services
from tests.api.commands import rows
from tests.conftest import PATIENT, with_services
from tests.golden_library import HORNO, PUENTE, draft, open_shelf

Evaluate = Callable[..., Result]


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    """One collection whose cases name the right documents, one whose case names a wrong one, and one without cases."""
    url = make_database()

    async def fill(services: Services) -> None:
        right = await open_shelf(services, LOCAL_OWNER, "fábrica")
        await right.add(
            draft(HORNO, "horno.md", category="causal", difficulty="hard"), draft(PUENTE, "puente.md"), draft("¿Y?")
        )
        wrong = await open_shelf(services, LOCAL_OWNER, "otra")
        await wrong.add(draft(HORNO, "entrepot.md"))
        await services.golden.add_version(wrong.collection)
        await services.collections.create(LOCAL_OWNER, "vacía")

    with_services(url, fill)
    return url


@pytest.fixture
def evaluate(database: str) -> Evaluate:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, env={"DATABASE_URL": database, **PATIENT})

    return run


def read(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_run_is_measured_listed_and_shown(evaluate: Evaluate) -> None:
    """R10.2, R10.4 one command, without a server; its figures in all and by group."""
    values = ("--set", "rerank=false", "--set", "strategy=fulltext", "--set", "rrf_k=-1")
    options = ("--no-answers", "--name", "primera", *values)
    made = evaluate("run", "--collection", "fábrica", *options, "--k", "5", "--json")
    run = read(made)
    assert (run["status"], run["done"], run["total"], run["summary"]["cases"]) == ("done", 3, 3, 2)
    config = run["config"]
    assert (config["rerank"], config["strategy"], config["rrf_k"], config["top_k"]) == (False, "fulltext", 60, 5)
    assert "Measuring" in made.stderr
    assert read(evaluate("show", run["id"], "--json")) == run
    (of_all,) = read(evaluate("list", "--json"))["evaluations"]
    assert of_all == run
    listed = rows(evaluate("list").stdout)
    assert listed[run["id"]] == ["primera", "fábrica", "done", "1.000", "1.000"]
    assert run["id"] not in rows(evaluate("list", "--collection", "vacía").stdout)
    shown = evaluate("show", run["id"])
    assert f"{run['id']} primera: done, 3 of 3 cases" in shown.stdout
    assert "rrf_k=-1" in shown.stderr
    table = rows(shown.stdout)
    # All, causal, factual, medium, hard: the case without an answer counts in none.
    assert table["cases"] == ["", "2", "1", "1", "1", "1"]
    assert table["hit@1"] == ["2"] + ["1.000"] * 5
    assert [name for name in table if name in METRICS] == list(METRICS)
    assert re.search(r"^latency: p50 [\d.]+ ms, p95 [\d.]+ ms, p99 [\d.]+ ms$", shown.stdout, re.MULTILINE)


def test_two_runs_are_compared(evaluate: Evaluate) -> None:
    """R10.4 by the questions that both have: what differs, who won, and each case that changed."""
    order = ("run", "--no-answers", "--set", "strategy=fulltext", "--json", "--collection")
    best = read(evaluate(*order, "fábrica"))
    worst = read(evaluate(*order, "otra", "--set", "graph=false"))
    compared = evaluate("compare", best["id"], worst["id"], "--metric", "hit@1")
    assert compared.exit_code == 0
    assert "graph: True → False" in compared.stdout
    assert "strategy" not in compared.stdout
    assert rows(compared.stdout)["hit@1"] == ["1.000", "0.000", "-1.000", "–", "1.000 (1.000)", "too few"]
    lines = compared.stdout.splitlines()
    assert "One question does not tell how many would settle a difference in hit@1" in lines
    assert "By hit@1, of 1 cases: 0 won, 1 lost, 0 tied" in lines
    assert f"lost: {HORNO} (rank 1 → –)" in lines
    told = read(evaluate("compare", worst["id"], best["id"], "--json"))
    assert (told["metric"], told["won"], told["lost"], told["only_candidate"]) == ("ndcg@10", 1, 0, 1)
    assert [(of["query"], of["baseline_rank"], of["candidate_rank"]) for of in told["changed"]] == [(HORNO, None, 1)]
    value = told["metrics"]["hit@1"]
    assert (value["difference"], value["p_value"], value["questions"], value["low"]) == (1, 1, 1, None)


def test_a_version_of_the_cases_is_measured(evaluate: Evaluate) -> None:
    """R10.1, R10.4"""
    run = read(evaluate("run", "--collection", "otra", "--version", "1", "--json"))
    assert (run["version"], run["total"]) == (1, 1)
    assert isinstance(evaluate("run", "--collection", "otra", "--version", "2").exception, GoldenVersionNotFound)


def test_a_run_that_fails_tells_why(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.1, R10.4 an error of ours not in its own words."""

    word = "geheim"

    async def fail(*_: object, **__: object) -> None:
        raise KeyError(word)

    monkeypatch.setattr("agent.evaluation.golden_run.rank_documents", fail)
    done = evaluate("run", "--collection", "fábrica")
    assert done.exit_code == 1
    assert "failed, 0 of 3 cases" in done.stdout
    assert "an error of ours" in done.stderr
    assert "geheim" not in done.output


def test_answers_are_measured_and_estimates_say_so(evaluate: Evaluate) -> None:
    """R10.3 without a model the figures are estimates, by name and in a line of their own; each says of how many."""
    run = read(evaluate("run", "--collection", "fábrica", "--json"))
    summary = run["summary"]
    assert (run["config"]["judge"], run["config"]["chat_model"]) == ("estimate", "extractive")
    assert (summary["answers"]["answered"], summary["answers"]["chat_models"]) == (3, {"extractive": 3})
    assert {"faithfulness", "answer_relevance"}.isdisjoint(summary["metrics"])
    shown = evaluate("show", run["id"]).stdout
    table = rows(shown)
    assert table["faithfulness_estimate"][:2] == ["2", "1.000"]
    assert table["refused_rightly"][:2] == ["1", "1.000"]
    assert table["answered"][:2] == ["2", "1.000"]
    assert re.search(r"^answer latency: p50 [\d.]+ ms", shown, re.MULTILINE)
    assert "faithfulness" not in table
    assert "estimates by words and meaning, without a judge" in shown


def test_judges_and_their_prompts_are_in_the_open(evaluate: Evaluate) -> None:
    """R10.3 what a judge is told, and who judges."""
    told = read(evaluate("judges", "--json"))
    assert told["judge_model"] is None
    shown = evaluate("judges").stdout
    assert "[bold]" not in shown
    for prompt in told["prompts"].values():
        assert prompt in shown
    assert "RAG_JUDGE_MODEL" in shown
    assert "[bold]" not in shown


def test_what_is_wrong_is_told(evaluate: Evaluate) -> None:
    """R9.5, R10.4"""
    unknown = str(uuid4())
    for arguments in (["show", unknown], ["compare", unknown, unknown]):
        assert isinstance(evaluate(*arguments).exception, EvaluationNotFound)
    assert isinstance(evaluate("run", "--collection", "vacía").exception, NoGoldenCases)
    no_judge = evaluate("run", "--collection", "otra", "--judge", "model")
    assert isinstance(no_judge.exception, JudgeUnavailable)
    for arguments in (
        ["run", "--set", "rerank"],
        ["show", "x"],
        ["compare", unknown, unknown, "--metric", "x"],
        ["compare", unknown, unknown, "--smallest", "0"],
    ):
        assert evaluate(*arguments).exit_code == 2

"""`causeway eval export` and `eval gate`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.evaluation import app
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services
from tests.conftest import PATIENT, with_services
from tests.golden_library import HORNO, PUENTE, draft, open_shelf

Evaluate = Callable[..., Result]
UNKNOWN = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    """Of «rota» every document that is found is the wrong one: as if its ranking were broken."""
    url = make_database()

    async def fill(services: Services) -> None:
        right = await open_shelf(services, LOCAL_OWNER, "fábrica")
        await right.add(draft(HORNO, "horno.md"), draft(PUENTE, "puente.md"), draft("¿Y?"))
        broken = await open_shelf(services, LOCAL_OWNER, "rota")
        await broken.add(draft(HORNO, "puente.md"), draft(PUENTE, "horno.md"), draft("¿Y?"))
        other = await open_shelf(services, LOCAL_OWNER, "otra")
        await other.add(draft(HORNO, "horno.md"))
        await services.collections.create(LOCAL_OWNER, "vacía")

    with_services(url, fill)
    return url


@pytest.fixture(scope="module")
def evaluate(database: str) -> Evaluate:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, env={"DATABASE_URL": database, **PATIENT})

    return run


@pytest.fixture(scope="module")
def measured(evaluate: Evaluate) -> dict[str, Any]:
    done = evaluate("run", "--collection", "fábrica", "--json")
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.stdout))


def gate(evaluate: Evaluate, baseline: object, *arguments: str) -> Result:
    return evaluate("gate", "--baseline", str(baseline), *arguments)


def test_a_run_is_written_with_its_cases(evaluate: Evaluate, measured: dict[str, Any], tmp_path: Path) -> None:
    """R10.4 JSON, to a file or to standard output."""
    file = tmp_path / "baseline.json"
    assert evaluate("export", measured["id"], str(file)).exit_code == 0
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written == json.loads(evaluate("export", measured["id"]).stdout)
    assert {name: written[name] for name in measured} == measured
    assert [(of["query"], of["rank"]) for of in written["results"]] == [(HORNO, 1), (PUENTE, 1), ("¿Y?", None)]


def test_as_good_as_the_baseline_holds(evaluate: Evaluate, measured: dict[str, Any], tmp_path: Path) -> None:
    """R10.4 exit code 0; the baseline a file of cases, a file of means alone, or a run."""
    cases, means = tmp_path / "cases.json", tmp_path / "means.json"
    evaluate("export", measured["id"], str(cases))
    means.write_text(json.dumps(measured), encoding="utf-8")
    made = gate(evaluate, cases, "--collection", "fábrica", "--max-drop", "0")
    assert made.exit_code == 0, made.output
    assert made.stdout.splitlines() == [
        f"{metric}: 1.0000 → 1.0000 (+0.0000), holds" for metric in ("hit@10", "ndcg@10")
    ]
    for baseline in (means, measured["id"]):
        again = gate(evaluate, baseline, "--run", measured["id"], "--metric", "mrr@10")
        assert (again.exit_code, again.stdout) == (0, "mrr@10: 1.0000 → 1.0000 (+0.0000), holds\n")


def test_a_broken_ranking_is_told(evaluate: Evaluate, measured: dict[str, Any], tmp_path: Path) -> None:
    """R10.4 exit code 1: which metric, by how much, whether it is more than chance, which questions."""
    found = gate(evaluate, measured["id"], "--collection", "rota", "--metric", "hit@1")
    assert found.exit_code == 1
    first, *fallen = found.stdout.splitlines()
    assert first == "hit@1: 1.0000 → 0.0000 (-1.0000), worse by more than 0.02; may be chance (p 0.500)"
    assert fallen == [f"  fell: {PUENTE}", f"  fell: {HORNO}"]
    means = tmp_path / "means.json"
    means.write_text(json.dumps(measured), encoding="utf-8")
    told = gate(evaluate, means, "--collection", "rota", "--metric", "hit@1", "--metric", "precision@10")
    assert told.exit_code == 1
    assert "unknown without the baseline's cases" in told.stdout
    assert gate(evaluate, means, "--collection", "rota", "--metric", "hit@1", "--max-drop", "1").exit_code == 0


def test_what_cannot_be_measured_is_told_apart(evaluate: Evaluate, measured: dict[str, Any], tmp_path: Path) -> None:
    """R10.4, R9.5 exit code 2, with the reason and the way out."""
    empty, other, half = [tmp_path / name for name in ("empty.json", "other.json", "half.json")]
    empty.write_text(json.dumps(measured | {"summary": None}))
    other.write_text(json.dumps([measured]))
    half.write_text(json.dumps(measured | {"summary": {"cases": 2}}))
    for baseline, arguments, told in (
        (measured["id"], ["--collection", "otra"], "keep a new baseline"),
        (measured["id"], ["--collection", "vacía"], "has no golden cases"),
        (measured["id"], ["--metric", "hit@7"], "There is no hit@7 to compare."),  # before a run, which takes its time
        (measured["id"], ["--run", measured["id"], "--metric", "faithfulness"], "There is no faithfulness to compare."),
        (measured["id"], ["--run", UNKNOWN], f"The evaluation “{UNKNOWN}” does not exist."),
        (UNKNOWN, [], f"The evaluation “{UNKNOWN}” does not exist."),
        (tmp_path / "none.json", [], "No such file or directory. A baseline is a run's id, or a file of"),
        (other, [], "is not what `eval export` writes: Input should be an object."),
        (half, [], "writes: summary.metrics: Field required."),
        (empty, [], "this run was not done"),
        (measured["id"], ["--run", measured["id"], "--collection", "otra"], "A run has its collection."),
        (measured["id"], ["--max-drop", "2"], "--max-drop"),
    ):
        found = gate(evaluate, baseline, *arguments)
        assert found.exit_code == 2, found.output
        assert told in found.stderr, found.stderr
        assert ("Measuring" in found.stderr) == (told == "keep a new baseline")

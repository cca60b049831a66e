"""`causeway eval golden`, `run`, `list`, `show` and `compare`, in processes of their own, against PostgreSQL."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.commands import Run, causeway, one_line, rows
from tests.conftest import DEMO

GOLDEN = Path(__file__).parents[1] / "golden" / "demo.json"


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()
    assert causeway("ingest", str(DEMO), "--collection", "demo", DATABASE_URL=url).returncode == 0
    assert golden(url, "import", str(GOLDEN)).stdout == "50 added, 0 replaced, 0 kept\n"
    return url


def golden(database: str, *arguments: str) -> Run:
    return causeway("eval", "golden", *arguments, "--collection", "demo", DATABASE_URL=database)


def evaluate(database: str, *arguments: str) -> Run:
    return causeway("eval", *arguments, DATABASE_URL=database)


def test_the_demos_cases_are_listed_and_written_as_they_were_read(database: str, tmp_path: Path) -> None:
    """R10.1 also to standard output; read again, nothing changes."""
    listed = rows(golden(database, "list").stdout)
    given = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert [query for query in listed if query in {case["query"] for case in given}] == [of["query"] for of in given]
    assert listed[given[0]["query"]] == ["factual", "easy", "1", "valid"]
    file = tmp_path / "cases.json"
    assert golden(database, "export", str(file)).returncode == 0
    written = json.loads(file.read_text(encoding="utf-8"))["cases"]
    assert json.loads(golden(database, "export").stdout)["cases"] == written
    assert [[of["filename"] for of in case["relevant_documents"]] for case in written] == [
        case["relevant_documents"] for case in given
    ]
    assert golden(database, "import", str(file), "--existing", "replace").stdout == "0 added, 50 replaced, 0 kept\n"


@pytest.mark.slow
def test_what_is_wrong_is_told_in_one_line(database: str, tmp_path: Path) -> None:
    """R10.1, R9.5"""
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([{"query": "¿Qué?", "category": "causal", "relevant_documents": ["nada.md"]}]))
    for run, told in (
        (golden(database, "import", str(file)), "case 0: relevant documents: nada.md: not in the collection."),
        (golden(database, "import", str(GOLDEN)), "asks the same."),
        (golden(database, "import", str(tmp_path / "none.json")), "No such file or directory."),
        (golden(database, "export", "--version", "7"), "There is no version 7 of the golden cases."),
        (evaluate(database, "show", "00000000-0000-4000-8000-000000000000"), "There is no evaluation 00000000-"),
    ):
        assert run.returncode == 1
        assert told in one_line(run)
    for arguments in (["run", "--set", "rerank"], ["show", "x"], ["compare", *[f"{0:032}"] * 2, "--metric", "x"]):
        assert evaluate(database, *arguments).returncode == 2


@pytest.mark.slow
def test_runs_are_made_listed_shown_and_compared(database: str) -> None:
    """R10.2, R10.4 one command measures, without a server; the demo's questions find their documents."""
    made = evaluate(database, "run", "--collection", "demo", "--name", "primera", "--json")
    assert made.returncode == 0, made.stderr
    first = json.loads(made.stdout)
    assert (first["status"], first["done"], first["summary"]["cases"]) == ("done", 50, 40)
    assert first["summary"]["metrics"]["hit@10"] >= 0.95
    assert "Searching" in made.stderr
    plain = evaluate(database, "run", "--collection", "demo", "--set", "rerank=false", "--set", "strategy=fulltext")
    assert plain.returncode == 0, plain.stderr
    second = plain.stdout.split()[0]
    assert rows(plain.stdout)["cases"][0] == "40"
    listed = rows(evaluate(database, "list").stdout)
    assert list(listed)[-2:] == [second, first["id"]]
    assert listed[first["id"]][:3] == ["primera", "demo", "done"]
    shown = json.loads(evaluate(database, "show", first["id"], "--json").stdout)
    assert shown == first
    compared = evaluate(database, "compare", first["id"], second)
    assert compared.returncode == 0
    assert "rerank: True → False" in compared.stdout
    value = rows(compared.stdout)["hit@10"]
    assert value[0] == f"{first['summary']['metrics']['hit@10']:.4f}"
    told = json.loads(evaluate(database, "compare", first["id"], second, "--json").stdout)
    assert f"By ndcg@10, of 40 cases: {told['won']} won, {told['lost']} lost, {told['tied']} tied" in compared.stdout
    assert len(told["changed"]) == told["won"] + told["lost"]

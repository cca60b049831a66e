"""`causeway eval golden`, in processes of its own, against PostgreSQL."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.api.commands import Run, causeway, one_line, rows
from tests.conftest import DEMO

GOLDEN = Path(__file__).parents[2] / "golden" / "demo.json"
BASELINE = GOLDEN.with_name("retrieval_baseline.json")


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()
    assert causeway("ingest", str(DEMO), "--collection", "demo", DATABASE_URL=url).returncode == 0
    assert golden(url, "import", str(GOLDEN)).stdout == "50 added, 0 replaced, 0 kept\n"
    return url


def golden(database: str, *arguments: str) -> Run:
    return causeway("eval", "golden", *arguments, "--collection", "demo", DATABASE_URL=database)


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
        (golden(database, "import", str(GOLDEN)), "is already in the golden cases"),
        (golden(database, "import", str(tmp_path / "none.json")), "No such file or directory."),
        (golden(database, "export", "--version", "7"), "Version 7 of the golden cases does not exist."),
    ):
        assert run.returncode == 1
        assert told in one_line(run)


@pytest.mark.slow
def test_the_demos_questions_find_their_documents(database: str) -> None:
    """R10.2, R10.4, R10.5 one command measures, in a process of its own and without a server; with both legs it is no
    worse than with vectors alone, which CI's gate does not let pass.
    """
    usual = measure(database)
    assert (usual["status"], usual["done"], usual["summary"]["cases"]) == ("done", 50, 40)
    assert usual["summary"]["metrics"]["hit@10"] >= 0.95
    hybrid, semantic = [
        measure(database, "--no-answers", "--set", f"strategy={name}", "--set", "rerank=false")
        for name in ("hybrid", "semantic")
    ]
    assert hybrid["summary"]["metrics"]["hit@10"] >= semantic["summary"]["metrics"]["hit@10"]
    fallen = causeway("eval", "gate", "--baseline", str(BASELINE), "--run", semantic["id"], DATABASE_URL=database)
    assert fallen.returncode == 1
    assert "worse by more than 0.02" in fallen.stdout


def measure(database: str, *options: str) -> dict[str, Any]:
    made = causeway("eval", "run", "--collection", "demo", "--json", *options, DATABASE_URL=database)
    assert made.returncode == 0, made.stderr
    return dict(json.loads(made.stdout))


@pytest.mark.slow
def test_cases_are_proposed_and_decided(database: str) -> None:
    """R10.1 in the terminal: proposed of one document, shown, accepted and rejected; a decided one is refused."""
    made = golden(database, "propose", "--documents", "ventas-2025.xlsx", "--json")
    assert made.returncode == 0, made.stderr
    first, second, *_ = json.loads(made.stdout)["proposals"]
    assert first["query"] == "¿Qué figura en «Ventas (€)» para «Enero de 2025»?"
    assert first["expected_answer"] == "31.200"
    shown = golden(database, "proposals").stdout
    assert (
        f"{second['id']} {second['category']}, {second['difficulty']}, document, rules\n  {second['query']}\n" in shown
    )
    decide = {"DATABASE_URL": database}
    assert causeway("eval", "golden", "accept", first["id"], **decide).stdout == "1 accepted\n"
    assert causeway("eval", "golden", "reject", second["id"], **decide).stdout == "1 rejected\n"
    refused = causeway("eval", "golden", "accept", second["id"], **decide)
    assert refused.returncode == 1
    assert "was already decided (rejected)" in one_line(refused)

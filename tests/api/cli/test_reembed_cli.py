"""`causeway reembed`, in processes of its own."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.api.commands import causeway
from tests.model_server import ModelServer
from tests.processes import started

WAIT_SECONDS = 240


@dataclass(frozen=True)
class Shelf:
    """A collection of 30 small documents, with the bundled model; another one is at hand."""

    environment: dict[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return causeway(*arguments, **self.environment)

    def fetch(self, query: str) -> list[Any]:
        with psycopg.connect(self.environment["DATABASE_URL"]) as connection:
            return [row[0] for row in connection.execute(query).fetchall()]

    @property
    def model(self) -> str:
        (model,) = self.fetch("SELECT embedding_model FROM causeway.collections")
        return str(model)

    def count(self, model: str) -> int:
        (count,) = self.fetch(f"SELECT count(*) FROM causeway.chunk_embeddings WHERE model = '{model}'")
        return int(count)


@pytest.fixture
def shelf(make_database: Callable[[], str], tmp_path: Path, model_server: ModelServer) -> Shelf:
    (tmp_path / "embeddings.yml").write_text(
        "embeddings:\n- {id: bundled, provider: bundled}\n"
        f"- {{id: far, provider: openai, model: m, base_url: '{model_server.base_url}'}}\n"
    )
    environment = {
        "DATABASE_URL": make_database(),
        "EMBEDDINGS_CONFIG": str(tmp_path / "embeddings.yml"),
        "OPENAI_API_KEY": "sk-test",
        "RAG_EMBEDDING_BATCH_SIZE": "2",
    }
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.txt").write_text(f"El horno {number} se limpia los viernes.\n")
    shelf = Shelf(environment)
    ingested = shelf.run("ingest", str(folder), "--collection", "notes")
    assert ingested.returncode == 0, ingested.stderr
    return shelf


@pytest.mark.slow
def test_there_and_back(shelf: Shelf) -> None:
    """R3.8 one command each way; searches answer after each; misuse is told in one line."""
    for arguments, told in (
        ((), "--rollback"),
        (("--model", "magic"), "is not loaded. Available: bundled, far"),
    ):
        refused = shelf.run("reembed", "notes", *arguments)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("Error: ")
        assert told in refused.stderr
    moved = shelf.run("reembed", "notes", "--model", "far")
    assert (moved.returncode, moved.stdout) == (0, "notes is searched with far.\n"), moved.stderr
    assert "30/30" in moved.stderr
    assert (shelf.model, shelf.count("bundled"), shelf.count("far")) == ("far", 30, 30)
    assert "horno 7" in shelf.run("search", "horno 7", "--strategy", "hybrid").stdout
    back = shelf.run("reembed", "notes", "--rollback")
    assert (back.returncode, back.stdout) == (0, "notes is searched with bundled.\n"), back.stderr
    assert shelf.model == "bundled"
    assert "horno 7" in shelf.run("search", "horno 7", "--strategy", "hybrid").stdout


@pytest.mark.slow
def test_models_are_listed_and_measured_before_a_move(shelf: Shelf, tmp_path: Path) -> None:
    """R3.8, R10 what there is, what others need, and which finds the golden cases better."""
    listed = shelf.run("models")
    assert listed.returncode == 0, listed.stderr
    assert ("bundled" in listed.stdout, "far" in listed.stdout) == (True, True)
    assert "OPENAI_API_KEY (set)" in listed.stdout
    for name, told in (("bundled", "already"), ("magic", "Available"), ("far", "no golden cases")):
        refused = shelf.run("models", "--compare", name, "--collection", "notes")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert told in refused.stderr
    case = {
        "query": "¿Cuándo se limpia el horno 7?",
        "category": "factual",
        "difficulty": "easy",
        "relevant_documents": ["7.txt"],
        "expected_answer": "Los viernes.",
    }
    (tmp_path / "cases.json").write_text(json.dumps([case]))
    added = shelf.run("eval", "golden", "import", str(tmp_path / "cases.json"), "--collection", "notes")
    assert added.returncode == 0, added.stderr
    compared = shelf.run("models", "--compare", "far", "--collection", "notes")
    assert compared.returncode == 0, compared.stderr
    assert "Of 1 cases" in compared.stdout
    assert (shelf.model, shelf.count("far")) == ("bundled", 30)


@pytest.mark.slow
def test_it_survives_being_killed(shelf: Shelf, model_server: ModelServer) -> None:
    """R3.8, security 17: nothing has changed for searches; run again, it makes what is missing."""
    model_server.embeddings_delay_seconds = 0.5
    with started("reembed", "notes", "--model", "far", **shelf.environment) as process:
        deadline = time.monotonic() + WAIT_SECONDS
        while shelf.count("far") == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.stop(signal.SIGKILL) == -signal.SIGKILL
    model_server.embeddings_delay_seconds = 0.0
    done, asked = shelf.count("far"), len(model_server.requests)
    assert shelf.model == "bundled"
    assert 0 < done < 30
    again = shelf.run("reembed", "notes", "--model", "far")
    assert again.returncode == 0, again.stderr
    assert (shelf.model, shelf.count("far")) == ("far", 30)
    (_, *batches) = [
        request.body["input"] for request in model_server.requests[asked:]
    ]  # the first one tries the model
    assert sum(map(len, batches)) == 30 - done

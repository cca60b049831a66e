"""`causeway eval`, in processes of its own, against PostgreSQL."""

import json
import time
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.agent.evaluation.test_dataset import write_dataset
from tests.api.commands import Run, causeway, one_line, rows
from tests.processes import started

CORPUS = [
    {"_id": "horno", "title": "Parte 7", "text": "El horno H2 falló porque se rompió el retén de la puerta."},
    {"_id": "horno-viejo", "title": "Parte 8", "text": "El horno pequeño se limpia los viernes por la tarde."},
    {"_id": "entrepot", "title": "Note", "text": "L'entrepôt de Toulouse consomme trop d'électricité en hiver."},
    {"_id": "tins", "title": "Memo", "text": "The Bristol office ordered the Christmas tins in September."},
    {"_id": "scan", "title": "", "text": "———"},
]
QUERIES = [
    {"_id": "es", "text": "¿Por qué falló el horno H2, se rompió el retén?"},
    {"_id": "fr", "text": "Combien d'électricité consomme l'entrepôt de Toulouse ?"},
    {"_id": "en", "text": "When did the Bristol office order the Christmas tins?"},
    {"_id": "unjudged", "text": "Who?"},
]
# es: its document is first, the one that shares a word with it second. fr: one of two, the other can't be found.
QRELS = "query-id\tcorpus-id\tscore\nes\thorno-viejo\t1\nes\ttins\t0\nfr\tentrepot\t1\nfr\tscan\t2\nen\ttins\t1\n"
BY_HAND = {
    "hit@1": 2 / 3,
    "hit@3": 1.0,
    "hit@5": 1.0,
    "hit@10": 1.0,
    "recall@2": (1 + 1 / 2 + 1) / 3,
    "recall@5": (1 + 1 / 2 + 1) / 3,
    "recall@10": (1 + 1 / 2 + 1) / 3,
    "precision@1": 2 / 3,
    "precision@5": 1 / 5,
    "precision@10": 1 / 10,
    "mrr@10": (1 / 2 + 1 + 1) / 3,
    "ndcg@10": (1 / log2(3) + 1 / (2 + 1 / log2(3)) + 1) / 3,
    "all@10": 2 / 3,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}
    return write_dataset(tmp_path_factory.mktemp("sets") / "mini [b]", files)


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


def evaluate(folder: Path, database: str, *options: str) -> tuple[Run, dict[str, Any]]:
    path = folder.parent / "report.json"
    run = causeway("eval", "ir", str(folder), "--json", str(path), *options, DATABASE_URL=database)
    assert run.returncode == 0, run.stderr
    return run, json.loads(path.read_text())


def collections(database: str) -> list[str]:
    with psycopg.connect(database) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM causeway.collections").fetchall()]


def test_metrics_are_those_computed_by_hand(folder: Path, database: str) -> None:
    """R10.6, R10.2 one command: loaded, asked, judged, printed, written, and nothing left behind."""
    run, report = evaluate(folder, database)
    assert set(report) == {
        "dataset", "documents", "queries", "config", "metrics", "latency_ms", "ingest", "degraded",
    }  # fmt: skip
    assert (report["dataset"], report["documents"], report["queries"]) == ("mini [b]", 5, 3)
    assert report["metrics"] == pytest.approx(BY_HAND)
    assert set(report["latency_ms"]) == {"p50", "p95", "p99"}
    assert report["ingest"]["chunks"] == 4
    assert report["degraded"] == {}
    assert "mini [b]: 5 documents, 3 queries" in run.stdout
    printed = rows(run.stdout)
    assert printed["ndcg@10"] == [f"{BY_HAND['ndcg@10']:.4f}"]
    assert printed["mrr@10"] == ["0.8333"]
    assert "Indexing" in run.stderr
    assert "Searching" in run.stderr
    assert "1 documents hold no text" in run.stderr
    assert collections(database) == []


def test_options_are_what_is_measured(folder: Path, database: str) -> None:
    """R4.10, R10.4 the report says which configuration was active; R10.6 the first queries alone."""
    options = "--strategy hybrid --no-rerank --fulltext-ranking ts_rank_cd --k 25 --limit 1 --embedding-model bundled"
    _, report = evaluate(folder, database, *options.split())
    config = report["config"]
    assert (config["strategy"], config["rerank"], config["fulltext_ranking"]) == ("hybrid", False, "ts_rank_cd")
    assert (config["top_k"], config["embedding_model"]) == (25, "bundled")
    assert report["queries"] == 1
    assert report["metrics"]["mrr@10"] == 1 / 2


def test_kept_collection_is_named_and_used_again(folder: Path, database: str) -> None:
    """R10.6 the second run loads nothing."""
    run, first = evaluate(folder, database, "--keep")
    (name,) = collections(database)
    assert run.stdout.splitlines()[-1] == f"Kept as collection {name}"
    assert name.startswith("eval-mini [b]-")
    _, again = evaluate(folder, database, "--collection", name)
    assert again["ingest"]["seconds"] == 0
    assert first["ingest"]["seconds"] > 0
    assert again["metrics"] == first["metrics"]
    assert collections(database) == [name]
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM causeway.collections")


def test_what_is_wrong_is_told_in_one_line(folder: Path, database: str, tmp_path: Path) -> None:
    """R10.6 with file and line, and no collection is left."""
    write_dataset(tmp_path, {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels.tsv": "es\thorno\n"})
    bad_line = causeway("eval", "ir", str(tmp_path), DATABASE_URL=database)
    assert bad_line.returncode == 1
    assert one_line(bad_line).startswith(f"Error: {tmp_path}/qrels.tsv, line 1: ")
    no_model = causeway("eval", "ir", str(folder), "--embedding-model", "magic", DATABASE_URL=database)
    assert no_model.returncode == 1
    assert "The embedding model “magic” is not loaded. Available: bundled" in no_model.stderr
    assert "Traceback" not in no_model.stderr
    no_place = causeway("eval", "ir", str(folder), "--json", str(tmp_path / "no" / "x.json"), DATABASE_URL=database)
    assert no_place.returncode == 2
    assert "There is no folder" in no_place.stderr
    assert collections(database) == []


def test_interrupted_run_leaves_no_collection(tmp_path: Path, database: str) -> None:
    """R10.6 Ctrl-C while documents are stored: exit code 130, nothing left behind."""
    corpus = [{"_id": f"d{number}", "text": f"El horno {number} funciona. " * 40} for number in range(20_000)]
    files = {"corpus.jsonl": corpus, "queries.jsonl": QUERIES, "qrels.tsv": "es\td1\t1\n"}
    order = ("eval", "ir", str(write_dataset(tmp_path, files)), "--collection", "half")
    with started(*order, DATABASE_URL=database) as process:
        deadline = time.monotonic() + 60
        with psycopg.connect(database, autocommit=True) as connection:
            while connection.execute("SELECT count(*) FROM causeway.documents").fetchone() == (0,):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert collections(database) == ["half"]
        assert process.stop() == 130
        assert "Traceback" not in process.log()
    assert collections(database) == []

"""POST retrieve where a part of the search hangs: 504, and what there is by then. The slow parts are real."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from tests.api.expectations import check_error
from tests.conftest import Server, run_server
from tests.model_server import Hang, ModelServer

QUESTION = "¿Qué horno falló por el retén de la puerta?"
HANGS = Hang(60)
WAIT_SECONDS = 20
LIMIT_MS = 1_000


@dataclass(frozen=True)
class Slow:
    """A service whose embeddings and whose reranker are those of a scripted server, and which waits for a second."""

    server: Server
    models: ModelServer
    url: str

    def retrieve(self, path: str = "/api/v1/retrieve", **body: Any) -> httpx.Response:
        with self.server.client(**{"Accept-Language": "en"}) as client:
            return client.post(path, json={"query": QUESTION, **body})

    def wait_for_leaving(self, before: int) -> None:
        """Until a client of the models has left: its call was cancelled."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.models.disconnects == before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert self.models.disconnects == before + 1


@pytest.fixture(scope="module")
def slow(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slow]:
    folder = tmp_path_factory.mktemp("slow")
    (folder / "horno.txt").write_text("El horno H2 falló porque se rompió el retén de la puerta.\n")
    (folder / "pan.txt").write_text("El pan de la puerta del horno se vende los viernes.\n")
    with ModelServer() as models:
        config = folder / "embeddings.yml"
        entry = f"{{id: far, provider: openai, model: m, base_url: '{models.base_url}', fusion_weight: 0.5}}"
        config.write_text(f"embeddings:\n- {entry}\n")
        environment = {
            "DATABASE_URL": make_database(),
            "EMBEDDINGS_CONFIG": str(config),
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": models.base_url,
            "RAG_CHAT_MODEL": "openai:scripted",
            "RAG_CHAT_MAX_RETRIES": "0",
            "RAG_CHAT_BREAKER_FAILURES": "1000",
            "RAG_RERANKER": "llm",
            "RAG_QUERY_CACHE_SECONDS": "0",
            "RAG_RETRIEVE_TIMEOUT_SECONDS": str(LIMIT_MS / 1_000),
        }
        files = ("--ingest", str(folder / "horno.txt"), "--ingest", str(folder / "pan.txt"))
        with run_server("--collection", "notes", *files, **environment) as server:
            yield Slow(server, models, environment["DATABASE_URL"])


def test_a_search_in_time_is_whole(slow: Slow) -> None:
    """R9.2 nothing hangs: the control of the tests below. The scripted judge answers without grades."""
    response = slow.retrieve()
    assert response.status_code == 200
    assert response.json()["degraded"] == []
    assert len(response.json()["results"]) == 2


def test_without_embeddings_the_words_have_found_something(slow: Slow) -> None:
    """R9.2 504 with the hits of the leg that has ended; the call of the other one is cancelled."""
    before = slow.models.disconnects
    slow.models.script_embeddings(HANGS)
    error = check_error(slow.retrieve(query=f"{QUESTION} (1)", strategy="hybrid", debug=True), 504, "timeout")
    details = error["details"]
    assert details["limit_ms"] == LIMIT_MS
    assert str(LIMIT_MS) in error["message"]
    assert details["missing"] == ["vector", "fusion", "rerank", "graph"]
    assert "retén" in details["results"][0]["content"]
    assert set(details["results"][0]["scores"]) == {"fulltext"}
    assert [leg["leg"] for leg in details["debug"]["legs"]] == ["fulltext"]
    assert details["debug"]["fused"] is None
    slow.wait_for_leaving(before)


def test_without_a_reranker_what_was_fused_is_there(slow: Slow) -> None:
    """R9.2, R5.2 504 with the order of the fusion; page and lowest score as they were asked for."""
    before = slow.models.disconnects
    slow.models.script(HANGS, HANGS, HANGS)
    details = check_error(slow.retrieve(strategy="hybrid"), 504, "timeout")["details"]
    assert details["missing"] == ["rerank", "graph"]
    assert set(details) == {"limit_ms", "results", "missing"}
    assert set(details["results"][0]["scores"]) == {"fulltext", "vector", "fusion"}
    slow.wait_for_leaving(before)
    page = check_error(slow.retrieve(strategy="hybrid", top_k=1, offset=1), 504, "timeout")["details"]["results"]
    assert page == details["results"][1:2]
    slow.wait_for_leaving(before + 1)
    good = check_error(slow.retrieve(strategy="hybrid", min_score=1), 504, "timeout")["details"]["results"]
    assert [hit["score"] for hit in good] == [hit["score"] for hit in details["results"] if hit["score"] == 1]
    slow.wait_for_leaving(before + 2)


def test_what_was_not_asked_for_is_not_missing(slow: Slow) -> None:
    """R9.2 a search by meaning alone, not reranked, has nothing else to wait for; nothing was found by then."""
    before = slow.models.disconnects
    slow.models.script_embeddings(HANGS)
    answer = slow.retrieve(query=f"{QUESTION} (2)", strategy="vector", enable_rerank=False, config={"graph": False})
    details = check_error(answer, 504, "timeout")["details"]
    assert details["missing"] == ["vector", "fusion"]
    assert details["results"] == []
    slow.wait_for_leaving(before)


def test_chunkenizer_s_search_ends_in_time_too(slow: Slow) -> None:
    """R9.8"""
    before = slow.models.disconnects
    slow.models.script_embeddings(HANGS)
    check_error(slow.retrieve("/search", query=f"{QUESTION} (3)"), 504, "timeout")
    slow.wait_for_leaving(before)


def test_a_database_that_hangs_is_not_waited_for(slow: Slow) -> None:
    """R9.2 504 without any result, and the queries that wait for the lock are cancelled; then all is well."""
    # The search alone: a table is tidied up some seconds after it was filled, and waits for the lock, too.
    waiting = """
        SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
        AND query LIKE '%searchable_chunks%'
    """
    with psycopg.connect(slow.url) as locking, psycopg.connect(slow.url, autocommit=True) as watching:
        locking.execute("LOCK TABLE causeway.chunks IN ACCESS EXCLUSIVE MODE")
        answers: list[httpx.Response] = []
        asking = threading.Thread(target=lambda: answers.append(slow.retrieve(strategy="fulltext")))
        asking.start()
        assert _becomes(watching, waiting, is_any=True)
        asking.join(WAIT_SECONDS)
        details = check_error(answers[0], 504, "timeout")["details"]
        assert details["results"] == []
        assert details["missing"] == ["fulltext", "fusion", "rerank", "graph"]
        assert _becomes(watching, waiting, is_any=False)
    assert slow.retrieve(strategy="fulltext").status_code == 200


def _becomes(connection: psycopg.Connection[Any], counting: str, *, is_any: bool) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        (count,) = connection.execute(counting).fetchone() or (0,)
        if bool(count) == is_any:
            return True
        time.sleep(0.02)
    return False

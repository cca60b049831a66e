"""POST retrieve where a part of the search hangs: it is done without, or 504 where that can't be. The slow parts are
real.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest

from api.timed_search import TimedSearch
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import SearchTimeout
from graphrag.models import LOCAL_OWNER, Hit
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import open_library, with_parts
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


class Deaf:
    """A reranker that goes on for a while after it was told to end."""

    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        return list(hits)


def found_in_time(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


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
    """R9.2, R11.1 The leg that hangs is left behind in time for the others; its call is cancelled."""
    before = slow.models.disconnects
    slow.models.script_embeddings(HANGS)
    found = found_in_time(slow.retrieve(query=f"{QUESTION} (1)", strategy="hybrid", debug=True))
    assert found["degraded"] == ["vector", "time"]
    assert "retén" in found["results"][0]["content"]
    assert "vector" not in found["results"][0]["scores"]
    failures = {leg["leg"]: leg["failure"] for leg in found["debug"]["legs"]}
    assert failures == {"fulltext": "", "vector": "out_of_time"}
    assert found["debug"]["reranked"]["total"] == 2
    slow.wait_for_leaving(before)


def test_without_a_model_that_reranks_words_do(slow: Slow) -> None:
    """R9.2, R5.2 The judge that hangs is left behind; the bundled one judges. Page and score as they were asked for."""
    before = slow.models.disconnects
    slow.models.script(HANGS, HANGS)
    found = found_in_time(slow.retrieve(strategy="hybrid"))
    assert found["degraded"] == ["time"]
    assert set(found["results"][0]["scores"]) == {"fulltext", "vector", "fusion", "rerank"}
    slow.wait_for_leaving(before)
    page = found_in_time(slow.retrieve(strategy="hybrid", top_k=1, offset=1))["results"]
    assert page == found["results"][1:2]
    slow.wait_for_leaving(before + 1)


def test_a_search_by_meaning_goes_on_with_the_words(slow: Slow) -> None:
    """R9.2, R4.1 What was asked for hangs: the other way is taken, and it is told."""
    before = slow.models.disconnects
    slow.models.script_embeddings(HANGS)
    answer = slow.retrieve(query=f"{QUESTION} (2)", strategy="vector", enable_rerank=False, config={"graph": False})
    found = found_in_time(answer)
    assert (found["degraded"], found["strategy"]) == (["vector", "time"], "hybrid")
    assert "retén" in found["results"][0]["content"]
    slow.wait_for_leaving(before)


def test_chunkenizer_s_search_ends_in_time_too(slow: Slow) -> None:
    """R9.8"""
    before = slow.models.disconnects
    slow.models.script_embeddings(HANGS)
    assert len(found_in_time(slow.retrieve("/search", query=f"{QUESTION} (3)"))["results"]) == 2
    slow.wait_for_leaving(before)


async def test_what_does_not_let_go_is_not_waited_for(registry: EmbeddingRegistry) -> None:
    """R9.2 504 with the order of the fusion, where a reranker does not heed that its time is over."""
    services = await open_library(registry, store=InMemoryStore(), retrieve_timeout_seconds=0.5)
    services = with_parts(services, reranker=Deaf())
    search = TimedSearch(SearchRequest("la riada y el puente de Arenal"), services, LOCAL_OWNER)
    with pytest.raises(SearchTimeout) as late:
        await search.run()
    assert late.value.details["missing"] == ["rerank", "graph"]
    assert late.value.details["results"][0]["metadata"]["filename"] == "puente.md"


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
        assert details["missing"] == ["fulltext", "vector", "fusion", "rerank", "graph"]
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

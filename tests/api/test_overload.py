"""A service with one place, which a locked database keeps taken: what it refuses, what it never does, and that it gets
well. Another with the places that it has by itself.
"""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
import pytest

from api.timed_search import answering
from graphrag.config.settings import Settings
from graphrag.errors import Overloaded
from graphrag.models import LOCAL_OWNER
from graphrag.resilience.deadline import seconds_left
from graphrag.services import open_services
from tests.api.expectations import check_error
from tests.api.mcp.mcp_clients import over_http, refusal
from tests.api.scripted import asking
from tests.api.streams import PATH, read_events
from tests.conftest import Server, run_server
from tests.model_server import Hang, ModelServer

QUESTION = "¿Por qué falló el horno H2?"
WAIT_SECONDS = 20
A_FEW = 8
OPENAI = {"model": "notes", "messages": [{"role": "user", "content": QUESTION}]}
DOORS: dict[str, dict[str, Any]] = {
    "/api/v1/chat": {"message": QUESTION},
    "/api/v1/chat/stream": {"message": QUESTION},
    "/api/v1/retrieve": {"query": QUESTION},
    "/search": {"query": QUESTION},
    "/v1/chat/completions": OPENAI,
    "/v1/responses": {"model": "notes", "input": QUESTION},
}


@dataclass
class Narrow:
    server: Server
    models: ModelServer
    url: str
    answers: list[httpx.Response] = field(default_factory=list)

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        with self.server.client(**{"Accept-Language": "en"}) as client:
            return client.post(path, json=body)

    def metric(self, name: str) -> float:
        with self.server.client() as client:
            found = re.search(rf"^{re.escape(name)} (\S+)$", client.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def wait_until(self, name: str, value: float) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while self.metric(name) != value and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.metric(name) == value

    @contextmanager
    def taken(self) -> Iterator[None]:
        """The one place, by a question whose search waits for a lock: it is answered afterwards."""
        with psycopg.connect(self.url) as locking:
            locking.execute("LOCK TABLE causeway.chunks IN ACCESS EXCLUSIVE MODE")
            waiting = threading.Thread(target=lambda: self.answers.append(self.post(*PLAIN)))
            waiting.start()
            self.wait_until("causeway_load_working", 1)
            yield
        waiting.join(WAIT_SECONDS)

    @contextmanager
    def waiting_for_its_model(self) -> Iterator[str]:
        """The id of a stream."""
        self.models.script(Hang(60))
        with self.server.client() as client, client.stream("POST", PATH, json=PLAIN[1]) as stream:
            events = read_events(stream.iter_lines())
            generating = next(event for event in events if event.data.get("stage") == "generate")
            self.wait_until("causeway_load_working", 0)
            yield generating.stream


PLAIN = ("/api/v1/chat", {"message": QUESTION})


@pytest.fixture(scope="module")
def narrow(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Narrow]:
    text = tmp_path_factory.mktemp("narrow") / "horno.txt"
    text.write_text("El horno H2 falló porque se rompió el retén de la puerta.\n")
    url = make_database()
    with ModelServer() as models:
        environment = asking(
            models,
            DATABASE_URL=url,
            RAG_MAX_SEARCHES="1",
            RAG_LOAD_QUEUE_SECONDS="0.1",
            RAG_PREPARATION_SECONDS="60",
            RAG_DATABASE_STATEMENT_SECONDS="60",
            RAG_QUERY_CACHE_SECONDS="0",
            RAG_TITLE_REFINEMENT="false",
        )
        with run_server("--collection", "notes", "--ingest", str(text), **environment) as server:
            yield Narrow(server, models, url)


def test_who_would_wait_too_long_is_refused(narrow: Narrow) -> None:
    """R11.1, 001.14.8 By every door that searches, with the time after which to ask again; then all is well."""
    refused = narrow.metric('causeway_load_begun_total{effort="none"}')
    with narrow.taken():
        for path, body in DOORS.items():
            response = narrow.post(path, body)
            error = check_error(response, 503, "overloaded")
            assert response.headers["retry-after"] == str(error["details"]["retry_after"])
            assert "Try again in" in error["message"]
        told = asyncio.run(_refused_tools(narrow.server.url))
        assert all("Hay demasiadas preguntas a la vez" in text for text in told)
    assert narrow.metric('causeway_load_begun_total{effort="none"}') == refused + len(DOORS) + len(told)
    assert narrow.answers.pop().json()["degraded"] == []
    assert narrow.post(*PLAIN).json()["degraded"] == []
    narrow.wait_until("causeway_load_working", 0)


async def _refused_tools(url: str) -> list[str]:
    async with over_http(url) as client:
        asked = [("ask", {"question": QUESTION}), ("search", {"query": QUESTION})]
        asked.append(("causal_paths", {"question": QUESTION}))
        return [await refusal(client, tool, **arguments) for tool, arguments in asked]


def test_what_is_no_search_is_never_refused(narrow: Narrow) -> None:
    """R11.1 Health, metrics, what is kept, and the end of an answer that is being made."""
    with narrow.waiting_for_its_model() as stream_id, narrow.taken(), narrow.server.client() as client:
        for path in ("/health", "/ready", "/metrics", "/api/v1/conversations", "/api/v1/collections", "/v1/models"):
            assert client.get(path).is_success, path
        assert client.delete(f"/api/v1/chat/stream/{stream_id}").is_success
    narrow.answers.clear()


def test_who_waits_for_a_model_takes_no_place(narrow: Narrow) -> None:
    """R11.1, 001.14.7 One place is enough for any number of answers whose model is slow."""
    with narrow.waiting_for_its_model(), narrow.waiting_for_its_model():
        found = narrow.post("/api/v1/retrieve", {"query": QUESTION})
        assert (found.status_code, found.json()["degraded"]) == (200, [])


async def test_a_place_that_comes_too_late_to_prepare_anything_is_not_waited_for() -> None:
    """R11.1 However long the line may be: an answer would only be told that its time is over."""
    services = open_services(Settings.from_environment(max_searches=1, load_queue_seconds=600, preparation_seconds=0.1))
    async with answering(services, LOCAL_OWNER), asyncio.timeout(WAIT_SECONDS):
        with pytest.raises(Overloaded):
            async with answering(services, LOCAL_OWNER):
                raise AssertionError
        assert seconds_left() > 1  # the answer itself has all its time


def test_a_few_at_the_same_time_get_all_there_is(demo_server: Server) -> None:
    """R11.1, 001.14.8 One person with several questions is never refused, nor searched for more simply."""
    question = "Why was lot A-2517 recalled?"

    def ask(number: int) -> httpx.Response:
        with demo_server.client() as client:
            return client.post("/api/v1/chat", json={"message": f"{question} ({number})"})

    with ThreadPoolExecutor(A_FEW) as pool:
        answers = list(pool.map(ask, range(A_FEW)))
    assert [answer.status_code for answer in answers] == [200] * A_FEW
    assert {name for answer in answers for name in answer.json()["degraded"]} <= {"time"}

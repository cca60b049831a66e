"""A service whose wall clock is set, forwards and backwards, while it runs; the database's goes on."""

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.api.identities import make_owners_in
from tests.api.scripted import ANSWER, QUESTION, asking
from tests.api.uploads import finished, upload
from tests.conftest import DEMO, Server, run_server
from tests.model_server import Fail, ModelServer, Reply

pytestmark = pytest.mark.slow
FORWARDS, BACKWARDS = signal.SIGUSR1, signal.SIGUSR2  # by 40 days
REST_SECONDS = 2
ANSWERS_PER_MINUTE = 8


@dataclass(frozen=True)
class Clocked:
    server: Server
    model: ModelServer
    keys: list[str]  # of an owner each

    def client(self, key: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}", "Accept-Language": "en"}
        return httpx.Client(base_url=f"{self.server.url}/api/v1", headers=headers, timeout=60)

    def jump(self, direction: signal.Signals) -> None:
        self.server.process.send_signal(direction)


@pytest.fixture(scope="module")
def clocked(make_database: Callable[[], str]) -> Iterator[Clocked]:
    database = make_database()
    keys = make_owners_in(database, 6)
    settings = {
        "RAG_AUTH": "api_key",
        "RAG_ANSWERS_PER_MINUTE": str(ANSWERS_PER_MINUTE),
        "RAG_CONVERSATION_DAYS": "30",
        "RAG_CHAT_BREAKER_FAILURES": "2",
        "RAG_CHAT_BREAKER_SECONDS": str(REST_SECONDS),
        "RAG_CHAT_MAX_RETRIES": "0",
    }
    with (
        ModelServer(default=Reply(ANSWER)) as model,
        run_server(**asking(model, DATABASE_URL=database, **settings)) as server,
    ):
        yield Clocked(server, model, keys)


@pytest.fixture(params=[(FORWARDS, BACKWARDS), (BACKWARDS, FORWARDS)], ids=["forwards", "backwards"])
def there_and_back(request: pytest.FixtureRequest) -> tuple[signal.Signals, signal.Signals]:
    directions: tuple[signal.Signals, signal.Signals] = request.param
    return directions


def ask(api: httpx.Client) -> httpx.Response:
    return api.post("/chat", json={"message": QUESTION, "collection": "clock"})


def test_what_was_said_and_uploaded_stays(
    clocked: Clocked, there_and_back: tuple[signal.Signals, signal.Signals]
) -> None:
    """R9, R11.1, security 2, 7: keys and the proof of who asks hold, documents come in and are found, and neither a
    conversation nor a document that is to be kept for some days is deleted before.
    """
    with clocked.client(clocked.keys.pop()) as api:
        name = "yearly-review-2025.md"
        kept = upload(api, "clock", name, (DEMO / name).read_bytes(), time_to_live_hours="48")
        assert finished(api, kept["id"])["status"] == "indexed"
        conversation = ask(api).json()["conversation_id"]
        for direction in there_and_back:
            clocked.jump(direction)
            assert finished(api, upload(api, "clock", f"{direction}.txt", f"Note of {direction}.")["id"])
            answer = ask(api)
            assert answer.status_code == 200, answer.text
            assert api.get(f"/conversations/{conversation}/messages").is_success
        assert len(api.get("/conversations").json()["conversations"]) == 3
        found = api.post("/search", json={"query": QUESTION, "collection": "clock"}).json()["results"]
        assert kept["id"] in {each["document_id"] for each in found}


def test_a_circuit_that_is_open_closes_in_its_time(
    clocked: Clocked, there_and_back: tuple[signal.Signals, signal.Signals]
) -> None:
    """R11.1 By the seconds that pass, not by those of a clock that was set: the model would be left alone for days."""
    with clocked.client(clocked.keys.pop()) as api:
        name = "yearly-review-2025.md"
        assert finished(api, upload(api, "clock", name, (DEMO / name).read_bytes())["id"])["status"] == "indexed"
        clocked.model.script(*[Fail(500)] * 2)
        for _ in range(2):
            assert "generate" in ask(api).json()["degraded"]
        clocked.jump(there_and_back[0])
        time.sleep(REST_SECONDS + 0.5)
        try:
            assert ask(api).json()["degraded"] == []
        finally:
            clocked.jump(there_and_back[1])


def test_who_has_asked_too_often_waits_a_minute_at_most(
    clocked: Clocked, there_and_back: tuple[signal.Signals, signal.Signals]
) -> None:
    """Security 16: whatever the clock says."""
    with clocked.client(clocked.keys.pop()) as api:
        for direction in (None, *there_and_back):
            if direction:
                clocked.jump(direction)
            answers = [ask(api) for _ in range(2 * ANSWERS_PER_MINUTE + 1)]
            refused = [answer for answer in answers if answer.status_code == 429]
            assert refused
            assert all(1 <= int(answer.headers["Retry-After"]) <= 60 for answer in refused)

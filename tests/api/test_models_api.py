"""A chat model is found, tried and chosen over HTTP, in a service that runs."""

import json
import stat
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.identities import make_keys_in
from tests.api.scripted import QUESTION
from tests.conftest import PATIENT, Server, run_server, run_server_here
from tests.model_server import Behaviour, Body, Fail, Garbage, Hang, ModelServer, Reply

KEY = "never-told-to-anybody"
WRITTEN = "Harrowmere dropped Dorada because full quantities could not be promised [1]."
TRIED = "Paris is the capital of France."
NAME = "local:scripted"


def tell(body: Body) -> str:
    return TRIED if "capital of France" in body["messages"][-1]["content"] else WRITTEN


@pytest.fixture(scope="module")
def found() -> Iterator[ModelServer]:
    """The language model of the person's own machine."""
    with ModelServer(default=Reply(tell)) as server:
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(found: ModelServer, home: Path, make_demo_database: Callable[[], str]) -> Iterator[Server]:
    """Two processes: what one of them is told, the other one knows."""
    environment = {
        **PATIENT,
        "CAUSEWAY_HOME": str(home),
        "DATABASE_URL": make_demo_database(),
        "RAG_WORKER": "false",
        "RAG_MODEL_SERVERS": f"{found.base_url}/,http://127.0.0.1:9/v1",
        "RAG_CHAT_MAX_RETRIES": "0",
        "RAG_CHAT_FIRST_TOKEN_SECONDS": "5",
    }
    with run_server("--collection", "demo", "--processes", "2", **environment) as running:
        yield running


@pytest.fixture
def connection(found: ModelServer) -> Iterator[dict[str, str]]:
    yield {"address": found.base_url, "model": "scripted"}
    found.default = Reply(tell)


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client(**{"Accept-Language": "en"}) as client:
        yield client
        assert client.delete("/api/v1/models/chosen").status_code == 204


def ask(client: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/api/v1/chat", json={"message": QUESTION}).json()
    return answer


def test_a_server_that_answers_is_found(client: httpx.Client, connection: dict[str, str]) -> None:
    """R8.8 With its models; one that is not there is left out, and nothing is chosen yet."""
    server = {"name": connection["address"].split("/")[2], "address": connection["address"], "models": ["scripted"]}
    expected = {"in_use": "extractive", "chosen": None, "found": [server]}
    assert client.get("/api/v1/models").json() == expected


def test_a_model_is_tried(client: httpx.Client, connection: dict[str, str]) -> None:
    """R8.8 By a question whose answer is known; how long it took is told."""
    trial = client.post("/api/v1/models/try", json=connection).json()
    assert trial["answer"] == TRIED
    assert 0 < trial["first_word_seconds"] <= trial["seconds"]


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (Fail(401), "needs a key"),
        (Fail(404), "has no model “scripted”"),
        (Fail(500), "“scripted” fails"),
        (Garbage(), "not to the question"),
        (Reply("lorem ipsum dolor"), "not to the question"),
        (Hang(60), "did not finish a short answer within 5 s"),
    ],
    ids=["key", "unknown", "failing", "web page", "garbage", "slow"],
)
def test_what_is_wrong_with_a_model_is_said(
    client: httpx.Client, found: ModelServer, connection: dict[str, str], behaviour: Behaviour, sentence: str
) -> None:
    """R8.8, R11.1 Each failure has a sentence of its own."""
    found.default = behaviour
    error = check_error(client.post("/api/v1/models/try", json=connection), 502, "model_trial_failed")
    assert sentence in error["message"]


def test_a_server_that_is_not_there_is_said(client: httpx.Client) -> None:
    """R8.8, R11.1 The address that was tried is named."""
    response = client.post("/api/v1/models/try", json={"address": "http://127.0.0.1:9", "model": "m"})
    assert "Nothing answers at “http://127.0.0.1:9/v1”" in check_error(response, 502, "model_trial_failed")["message"]


def test_a_chosen_model_writes_the_next_answers(
    client: httpx.Client, server: Server, found: ModelServer, connection: dict[str, str]
) -> None:
    """R8.8 In every process, without a restart, named beside the answer; then the documents are quoted again."""
    assert ask(client)["chat_model"] == "extractive"
    chosen = {"name": NAME, "has_key": True, **connection}
    assert client.put("/api/v1/models/chosen", json=connection | {"key": KEY}).json() == chosen
    for _ in range(6):
        with server.client() as another:  # on a connection of its own, which either process may take
            answer = ask(another)
        assert (answer["chat_model"], answer["answer"]) == (NAME, WRITTEN)
    assert found.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert client.get("/health").json()["chat_model"] == NAME
    listed = client.get("/api/v1/models").json()
    assert (listed["in_use"], listed["chosen"]) == (NAME, chosen)
    client.delete("/api/v1/models/chosen")
    assert ask(client)["chat_model"] == "extractive"


def test_a_model_that_is_gone_leaves_the_documents_words(
    client: httpx.Client, found: ModelServer, connection: dict[str, str]
) -> None:
    """R11.1 The answer says that the model did not respond."""
    client.put("/api/v1/models/chosen", json=connection)
    found.default = Fail(503)
    answer = ask(client)
    assert answer["chat_model"] == "extractive"
    assert "The language model did not respond" in answer["degraded_messages"][0]


def test_the_key_is_for_the_service_alone(
    client: httpx.Client, server: Server, home: Path, connection: dict[str, str]
) -> None:
    """Security 20: no answer and no log tells it; its file is readable by its owner alone."""
    told = client.put("/api/v1/models/chosen", json=connection | {"key": KEY}).text
    told += client.get("/api/v1/models").text + client.get("/health").text + json.dumps(ask(client))
    assert KEY not in told + server.log()
    (file,) = (home / "model").rglob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["key"] == KEY


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/latest/v1",
        "http://127.0.0.1.example.org/v1",
        "http://user:password@127.0.0.1:9/v1",
        "http://127.0.0.1:9/v1?to=elsewhere",
        "http://0.0.0.0:9/v1",
        "http://127.0.0.1:99999/v1",
        "https://api.openai.com.example.org/v1",
        "ftp://127.0.0.1:9/v1",
        "nowhere",
    ],
)
def test_nothing_is_sent_elsewhere(client: httpx.Client, address: str) -> None:
    """Security 11: only this machine, named vendors and what the settings list are asked."""
    for method, path in (("POST", "try"), ("PUT", "chosen")):
        response = client.request(method, f"/api/v1/models/{path}", json={"address": address, "model": "m"})
        check_error(response, 400, "model_address_refused")


def test_the_service_is_not_its_own_model(client: httpx.Client, server: Server) -> None:
    """Security 11: not by another name of this machine either."""
    own = server.url.replace("127.0.0.1", "localhost") + "/v1"
    check_error(client.put("/api/v1/models/chosen", json={"address": own, "model": "m"}), 400, "model_address_refused")


def test_a_redirect_is_not_followed(client: httpx.Client, found: ModelServer) -> None:
    """Security 11: an address that is allowed leads to no other one."""

    class Redirect(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(307)
            self.send_header("Location", f"{found.base_url}/chat/completions")
            self.end_headers()

    before = len(found.requests)
    with HTTPServer(("127.0.0.1", 0), Redirect) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        body = {"address": f"http://127.0.0.1:{other.server_port}/v1", "model": "scripted"}
        check_error(client.post("/api/v1/models/try", json=body), 502, "model_trial_failed")
    assert len(found.requests) == before


def test_the_environments_key_stays_with_its_vendor(
    found: ModelServer, make_database: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Security 20: another address gets no key that was not given with it."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with run_server_here(DATABASE_URL=make_database(), CAUSEWAY_HOME=str(tmp_path)) as address:
        body = {"address": found.base_url, "model": "scripted"}
        assert httpx.post(f"{address}/api/v1/models/try", json=body, timeout=60).is_success
    assert found.requests[-1].headers["authorization"] == "Bearer none"


def test_a_service_with_owners_keeps_its_model(make_database: Callable[[], str], tmp_path: Path) -> None:
    """Security 7: whoever holds a key of one owner chooses no model for the others."""
    database = make_database()
    key = make_keys_in(database).a
    environment = {"DATABASE_URL": database, "CAUSEWAY_HOME": str(tmp_path), "RAG_AUTH": "api_key"}
    with (
        run_server_here(**environment) as address,
        httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}) as client,
    ):
        assert client.get("/health").json()["can_choose_model"] is False
        body = {"address": "http://127.0.0.1:9/v1", "model": "m"}
        for method, path in (("GET", ""), ("POST", "/try"), ("PUT", "/chosen"), ("DELETE", "/chosen")):
            sent = body if method in ("POST", "PUT") else None
            response = client.request(method, f"/api/v1/models{path}", json=sent)
            assert "RAG_CHAT_MODEL" in check_error(response, 403, "model_choice_forbidden")["message"]
    assert not (tmp_path / "model").exists()

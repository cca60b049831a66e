"""Bodies that are too large or too slow, and heads without an end."""

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api.middleware import request_bodies
from api.middleware.request_bodies import BodyLimits
from graphrag.config.settings import Settings
from tests.api.connections import RawAnswer, RawClient
from tests.api.expectations import check_error, check_error_body
from tests.conftest import Server, run_server
from tests.model_server.serving import PromptServer

MOST_JSON, MOST_BULK, MOST_UPLOAD, MOST_FILES = 20_000, 60_000, 300_000, 3
SECONDS = 0.5
TOO_LARGE = {
    "es": f"La solicitud es demasiado grande: como máximo {MOST_JSON} bytes. Envíela en partes.",
    "fr": f"La requête est trop volumineuse : {MOST_JSON} octets au maximum. Envoyez-la en plusieurs fois.",
    "en": f"The request is too large: at most {MOST_JSON} bytes. Send it in parts.",
}


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    limits = {
        "RAG_MAX_JSON_BYTES": str(MOST_JSON),
        "RAG_MAX_BULK_BYTES": str(MOST_BULK),
        "RAG_MAX_REQUEST_BYTES": str(MOST_UPLOAD),
        "RAG_MAX_FILES": str(MOST_FILES),
        "RAG_REQUEST_SECONDS": str(SECONDS),
    }
    with run_server(DATABASE_URL=make_database(), RAG_WORKER="false", **limits) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def check_raw(answer: RawAnswer, status: int, code: str) -> dict[str, Any]:
    assert answer.status == status
    error = check_error_body(json.loads(answer.body))
    assert error["code"] == code
    assert error["request_id"] == answer.headers["x-request-id"]
    return error


def in_parts(data: bytes) -> Iterator[bytes]:
    yield from (data[start : start + 5000] for start in range(0, len(data), 5000))


@pytest.mark.parametrize("language", ["es", "fr", "en"])
@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/chat/stream", "/nothing"])
def test_a_body_beyond_the_limit_is_refused(client: httpx.Client, path: str, is_chunked: bool, language: str) -> None:
    """Security 16: whether it says its length or not, before anything looks at what is in it."""
    data = b'{"message": "' + b"a" * MOST_JSON + b'"}'
    headers = {"Accept-Language": language, "Content-Type": "application/json"}
    answer = client.post(path, content=in_parts(data) if is_chunked else data, headers=headers)
    if path == "/nothing" and is_chunked:
        check_error(answer, 404, "not_found")  # nobody reads it
        return
    assert check_error(answer, 413, "request_too_large")["message"] == TOO_LARGE[language]
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize("is_chunked", [False, True])
def test_uploads_have_a_limit_of_their_own(client: httpx.Client, is_chunked: bool) -> None:
    """Security 9, 16: all files of one request together. That the body has parts makes no other request an upload."""

    def send(path: str, size: int) -> httpx.Response:
        made = client.build_request("POST", path, files=[("files", ("a.txt", b"Nota. " * (size // 6)))])
        content = in_parts(made.read()) if is_chunked else made.read()
        return client.post(path, content=content, headers={"Content-Type": made.headers["content-type"]})

    assert send("/api/v1/documents", MOST_UPLOAD // 2).status_code == 202
    error = check_error(send("/api/v1/documents", MOST_UPLOAD + 1000), 413, "request_too_large")
    assert error["details"] == {"limit": MOST_UPLOAD}
    for path in ("/api/v1/chat", "/api/v1/documents/bulk-delete"):
        error = check_error(send(path, MOST_UPLOAD // 2), 413, "request_too_large")
        assert error["details"] == {"limit": MOST_JSON}


@pytest.mark.parametrize(
    "path",
    [
        *("/api/v1/collections/notes/documents", "/api/collections/notes/documents", "/v1/embeddings"),
        *("/api/v1/golden-cases/import", "/api/golden-cases/import"),
    ],
)
def test_what_is_sent_in_bulk_has_a_limit_of_its_own(client: httpx.Client, path: str) -> None:
    """Security 16: what is within it is read, and found wanting."""

    def send(size: int, to: str = path) -> httpx.Response:
        return client.post(to, content=b'{"x": "'.ljust(size, b"a"), headers={"Content-Type": "application/json"})

    check_error(send(MOST_BULK), 422, "invalid_request")
    assert check_error(send(MOST_BULK + 1), 413, "request_too_large")["details"] == {"limit": MOST_BULK}
    check_error(send(MOST_JSON + 1, f"{path}/more"), 413, "request_too_large")


def test_an_upload_has_a_limited_number_of_files(client: httpx.Client) -> None:
    """Security 9: count; none is taken."""
    files = [("files", (f"{number}.txt", f"Nota {number}.")) for number in range(MOST_FILES + 1)]
    into = {"collection": "many"}
    error = check_error(client.post("/api/v1/documents", files=files, data=into), 400, "invalid_request")
    assert str(MOST_FILES) in error["message"]
    assert "many" not in client.get("/api/v1/collections").text
    assert client.post("/api/v1/documents", files=files[:MOST_FILES], data=into).status_code == 202


def test_one_who_sends_first_and_reads_afterwards_gets_the_answer(server: Server) -> None:
    """Security 16: what the client had sent already does not cost it its answer; then the connection ends."""
    size = 20_000_000  # more than the system keeps for either side
    with RawClient(server.url) as client:
        client.head("/api/v1/chat", Content_Type="application/json", Content_Length=str(size))
        for _ in range(size // 100_000):
            client.send(b"a" * 100_000)
        answer = client.answer()
        check_raw(answer, 413, "request_too_large")
        assert answer.headers["connection"] == "close"
        assert client.is_closed()


def test_one_who_asks_before_sending_is_told_at_once(server: Server) -> None:
    """Security 16: Expect: 100-continue; nothing needs to be sent."""
    with RawClient(server.url) as client:
        client.head("/api/v1/chat", Expect="100-continue", Content_Length=str(MOST_JSON + 1))
        check_raw(client.answer(), 413, "request_too_large")


@pytest.mark.parametrize("step", [b"", b"a"])
def test_a_body_that_does_not_come_is_not_waited_for(server: Server, step: bytes) -> None:
    """Security 16: nor one that comes a byte at a time."""
    with RawClient(server.url) as client:
        client.head("/api/v1/chat", Content_Type="application/json", Content_Length="9999", Accept_Language="en")
        feeder = threading.Timer(0, lambda: _feed(client, step))
        feeder.start()
        check_raw(client.answer(), 408, "request_timeout")
        assert client.is_closed()
        feeder.join()


def _feed(client: RawClient, step: bytes, pause_seconds: float = SECONDS / 5) -> None:
    """Until the server has had enough."""
    pause = threading.Event()
    try:
        while step:
            client.send(step)
            pause.wait(pause_seconds)
    except OSError:
        return


def test_a_body_of_two_lengths_is_refused(server: Server) -> None:
    """Security 16: what follows it on the connection, for a proxy a part of it, is never read."""
    smuggled = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for path in ("/api/v1/chat", "/", "/nothing"):
        for lengths in ({"Content_Length": "4"}, {"content_length": str(5 + len(smuggled))}):
            with RawClient(server.url) as client:
                client.head(path, **lengths, Transfer_Encoding="chunked")
                client.send(b"0\r\n\r\n" + smuggled)
                answer = client.rest()
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert answer.count(b"HTTP/1.1 ") == 1


def test_a_head_that_is_too_long_is_refused(server: Server) -> None:
    """Security 16: a request line or headers beyond 64 kB; the connection ends before they do."""
    with RawClient(server.url) as client:
        client.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        _feed(client, b"a" * 70_000, pause_seconds=0.01)
        assert b" 200 " not in client.rest()


@pytest.fixture
def impatient_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serves its root over our connections, which wait a moment for a request."""
    monkeypatch.setattr(request_bodies, "HEAD_SECONDS", 0.2)
    app = Starlette(routes=[Route("/", lambda _: Response("here"), methods=["GET", "POST"])])
    config = uvicorn.Config(app, http=request_bodies.Connection, lifespan="off", log_config=None)
    listener = socket.create_server(("127.0.0.1", 0))
    server = PromptServer(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(5)
    listener.close()


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_request_that_does_not_come_is_not_waited_for(impatient_server: str, begun: bytes) -> None:
    """Security 16: a connection without a request, or with half of one, is closed."""
    with RawClient(impatient_server) as client:
        client.send(begun)
        assert client.is_closed()


def test_a_head_that_comes_a_byte_at_a_time_is_given_up(impatient_server: str) -> None:
    """Security 16: each byte buys no further time."""
    with RawClient(impatient_server) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        feeder = threading.Timer(0, lambda: _feed(client, b"a"))
        feeder.start()
        assert client.is_closed()
        feeder.join()


def test_a_body_that_nobody_reads_is_not_taken_for_ever(impatient_server: str) -> None:
    """Security 16: its request has its answer already."""
    with RawClient(impatient_server) as client:
        client.head("/", Transfer_Encoding="chunked")
        assert client.answer().body == b"here"
        feeder = threading.Timer(0, lambda: _feed(client, b"1\r\na\r\n"))
        feeder.start()
        assert client.is_closed()
        feeder.join()


def test_a_connection_serves_more_than_one_request(impatient_server: str) -> None:
    """One that is kept for the next request has more time than a request has."""
    with httpx.Client(base_url=impatient_server) as client:
        pause = threading.Event()
        addresses = set()
        for _ in range(3):
            answer = client.post("/", content=b"body")
            assert answer.text == "here"
            addresses.add(answer.extensions["network_stream"].get_extra_info("client_addr"))
            pause.wait(0.4)
        assert len(addresses) == 1


PARTS = st.lists(st.binary(max_size=60), max_size=8)


@given(parts=PARTS, is_told=st.booleans())
async def test_a_body_passes_whole_or_not_at_all(parts: list[bytes], is_told: bool) -> None:
    """Security 16: a law of every body; what is beyond the limit reaches nobody."""
    most = 100
    whole = b"".join(parts)
    passed: list[bytes] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            async for part in request.stream():
                passed.append(part)
        except ClientDisconnect:
            await Response("nobody hears this")(scope, receive, send)
            return
        await Response("read")(scope, receive, send)

    sent = await _ask(app, parts, most, {"content-length": str(len(whole))} if is_told else {})
    assert sum(map(len, passed)) <= most
    if len(whole) <= most:
        assert (b"".join(passed), sent[0]["status"], sent[1]["body"]) == (whole, 200, b"read")
    else:
        assert sent[0]["status"] == 413
        assert b"".join(passed) == b"" or not is_told
        assert [message["type"] for message in sent].count("http.response.start") == 1
    assert not sent[-1].get("more_body")


async def _ask(app: Any, parts: list[bytes], most: int, headers: dict[str, str]) -> list[Message]:
    """What the client gets."""
    messages: Iterator[Message] = itertools.chain(
        ({"type": "http.request", "body": part, "more_body": True} for part in parts),
        [{"type": "http.request", "body": b"", "more_body": False}],
        itertools.repeat({"type": "http.disconnect"}),
    )
    sent: list[Message] = []

    async def receive() -> Message:
        return next(messages)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "state": {"request_id": "1"},
    }
    await BodyLimits(app, Settings.from_environment(max_json_bytes=most))(scope, receive, send)
    return sent


async def test_an_answer_that_has_begun_is_not_answered_again() -> None:
    """Security 16: a body that goes on during its answer ends it as if the client had left."""
    ends: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not ends:
            message = await receive()
            if message["type"] == "http.disconnect":
                ends.append("left")
        await send({"type": "http.response.body", "body": b"end"})

    sent = await _ask(app, [b"a" * 60] * 3, 100, {})
    assert ends == ["left"]
    assert [message.get("status") for message in sent] == [200, None]

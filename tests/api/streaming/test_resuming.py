"""A stream whose client comes back, stays away, does not read, or stops it; the model is a scripted server."""

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import psutil
import pytest

from tests.api.expectations import check_error
from tests.api.scripted import ANSWER, ENDLESS, LEAVING_SECONDS, QUESTION, SLOW, wait_for_disconnects
from tests.api.streams import (
    PATH,
    StreamedEvent,
    beginning,
    check_ids,
    joined,
    read_blocks,
    read_events,
    read_on,
    stream,
)
from tests.conftest import Server, run_server, run_server_here
from tests.model_server import Hang, ModelServer, Reply

BODY = {"message": QUESTION}
FLOOD_WORDS = 100_000
GRACE_SECONDS = 1.5
ENVIRONMENT = {
    "RAG_WORKER": "false",
    "RAG_STREAM_GRACE_SECONDS": str(GRACE_SECONDS),
    "RAG_STREAM_STALLED_SECONDS": "1",
    "RAG_STREAM_HEARTBEAT_SECONDS": "0.2",
}
GONE = {
    "es": "Esta respuesta ya no se puede reanudar. Vuelva a hacer la pregunta.",
    "fr": "Cette réponse ne peut plus être reprise. Reposez la question.",
    "en": "This answer can no longer be resumed. Ask the question again.",
}
SOON = 60  # seconds that nothing here takes, however busy the machine


def test_the_first_bytes_say_how_to_resume(client: httpx.Client, model: ModelServer) -> None:
    """R8.9 Also while the model is silent: the id, and after how long to come back; comments keep proxies waiting."""
    model.script(Hang(1))
    with client.stream("POST", PATH, json=BODY) as response:
        lines = response.iter_lines()
        first = next(read_blocks(lines))
        rest = list(lines)
    assert first == {"retry": "500", "id": f"{response.headers['x-stream-id']}:0"}
    assert len([line for line in rest if line.startswith(": ping")]) >= 2


@pytest.mark.parametrize("body", [BODY, None])
def test_a_cut_stream_goes_on_where_it_was_cut(client: httpx.Client, model: ModelServer, body: Any) -> None:
    """R8.9, R9.1 In mid-answer: each event once, one answer, one call of the model."""
    model.script(SLOW)
    asked = len(model.requests)
    before = beginning(client, BODY, tokens=5)
    after = read_on(client, before[-1].id, body)
    check_ids([*before, *after])
    assert after[-1].name == "done"
    assert joined([*before, *after]) == after[-1].data["answer"] == ANSWER
    assert len(model.requests) == asked + 1


def test_a_stream_is_resumed_before_its_first_event(client: httpx.Client, model: ModelServer) -> None:
    """R8.9 With nothing but the header of the response."""
    model.script(SLOW)
    with client.stream("POST", PATH, json=BODY) as response:
        stream_id = response.headers["x-stream-id"]
    events = read_on(client, f"{stream_id}:0")
    check_ids(events)
    assert joined(events) == ANSWER


def test_a_whole_answer_is_read_again(client: httpx.Client) -> None:
    """R8.9 From its middle, twice, and after its end, where an EventSource is told to stay away."""
    events = stream(client, PATH, message=QUESTION)
    for _ in range(2):
        assert [event.id for event in read_on(client, events[3].id, BODY)] == [event.id for event in events[4:]]
    again = read_on(client, f"{events[0].stream}:0")
    assert [(event.id, event.data) for event in again] == [(event.id, event.data) for event in events]
    assert read_on(client, events[-1].id, BODY) == []
    response = client.get(f"{PATH}/{events[0].stream}", headers={"Last-Event-ID": events[-1].id})
    assert response.status_code == 204


@pytest.mark.parametrize("language", GONE)
def test_a_stream_that_is_not_there_is_not_found(client: httpx.Client, language: str) -> None:
    """R9 However it is asked for; nothing is answered anew instead."""
    events = stream(client, PATH, message=QUESTION)
    unknown, headers = "A" * len(events[0].stream), {"Accept-Language": language}
    resumed = [{**headers, "Last-Event-ID": last} for last in (f"{unknown}:1", f"{events[0].stream}:999", "1", "x:y")]
    responses = [
        *(client.post(PATH, json=BODY, headers=given) for given in resumed),
        client.get(f"{PATH}/{unknown}", headers=headers),
        client.get(f"{PATH}/{unknown}", headers={**headers, "Last-Event-ID": events[0].id}),
        client.delete(f"{PATH}/{unknown}", headers=headers),
    ]
    for response in responses:
        error = check_error(response, 404, "stream_not_found")
        assert error["message"] == GONE[language]
        assert error["details"] == {}


def test_a_client_that_stays_away_stops_the_model(client: httpx.Client, model: ModelServer) -> None:
    """Security 18: one that comes back in time does not; then nothing is left to resume."""
    model.script(ENDLESS)
    before = model.disconnects
    events = beginning(client, BODY, tokens=2)
    with client.stream("POST", PATH, json=BODY, headers={"Last-Event-ID": events[-1].id}) as response:
        tokens = read_events(response.iter_lines())
        deadline = time.monotonic() + 2  # longer than one may stay away
        while time.monotonic() < deadline:
            assert next(tokens).name == "token"
        assert model.disconnects == before
    wait_for_disconnects(model, before + 1, seconds=SOON)
    check_error(client.get(f"{PATH}/{events[0].stream}"), 404, "stream_not_found")


def test_a_client_that_stays_away_from_a_silent_model_stops_it(client: httpx.Client, model: ModelServer) -> None:
    """Security 18: a model that hangs, long before its own time is over."""
    model.script(Hang(60))
    before, asked = model.disconnects, len(model.requests)
    with client.stream("POST", PATH, json=BODY):
        while len(model.requests) == asked:
            time.sleep(0.01)
    wait_for_disconnects(model, before + 1, seconds=GRACE_SECONDS + LEAVING_SECONDS)


def test_stopping_ends_the_model_s_work_at_once(client: httpx.Client, server: Server, model: ModelServer) -> None:
    """Security 18: while the client still reads; what reads it ends, and nothing is left to resume."""
    model.script(ENDLESS)
    before = model.disconnects
    with client.stream("POST", PATH, json=BODY) as response:
        events = read_events(response.iter_lines())
        while next(events).name != "token":
            pass
        address = f"{server.url}{PATH}/{response.headers['x-stream-id']}"
        assert httpx.delete(address).status_code == 204
        rest = {event.name for event in events}
    assert rest <= {"token"}
    wait_for_disconnects(model, before + 1, seconds=SOON)
    for method in ("GET", "DELETE"):
        check_error(httpx.request(method, address), 404, "stream_not_found")


def test_a_client_that_does_not_read_holds_the_model_back_and_is_dropped(server: Server, model: ModelServer) -> None:
    """Back-pressure: most of a long answer is never fetched; model and socket are let go."""
    model.script(Reply("word " * FLOOD_WORDS))
    before = model.disconnects
    with closing(unread_stream(server)) as connection:
        port = connection.getsockname()[1]
        wait_for_disconnects(model, before + 1, seconds=SOON)
        wait_until_dropped(server, port)
        received = 0
        with pytest.raises(ConnectionResetError):
            while chunk := connection.recv(1 << 16):
                received += chunk.count(b"event: token")
    assert received < FLOOD_WORDS / 4


def unread_stream(server: Server) -> socket.socket:
    """A connection that takes next to nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before it connects: it is told to the server
    connection.connect((httpx.URL(server.url).host, httpx.URL(server.url).port))
    request = httpx.Request("POST", f"{server.url}{PATH}", json=BODY)
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    connection.sendall(f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode() + request.content)
    return connection


def wait_until_dropped(server: Server, port: int) -> None:
    deadline = time.monotonic() + SOON
    while port in clients_of(server) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert port not in clients_of(server)


def clients_of(server: Server) -> set[int]:
    connections = psutil.Process(server.process.pid).net_connections("tcp")
    return {connection.raddr.port for connection in connections if connection.raddr}


def test_the_server_s_end_ends_stream_and_model(environment: dict[str, str], model: ModelServer) -> None:
    """Security 17, 18: told to end, or killed. What came is whole events; after a new start who resumes is told that
    the answer was cut off, and nothing is stuck.
    """
    cut: list[StreamedEvent] = []
    for end in (signal.SIGTERM, signal.SIGKILL, None):
        with run_server("--collection", "demo", **environment) as server, server.client() as client:
            if cut:
                resumed = read_on(client, cut[-1].id, BODY)
                check_ids([*cut, *resumed])
                assert {event.name for event in resumed[:-1]} <= {"token"}
                assert resumed[-1].name == "error"
                assert resumed[-1].data["error"]["code"] == "stream_interrupted"
                assert joined(stream(client, PATH, message=QUESTION)) == ANSWER
            if end:
                cut = list(cut_off(server, client, model, end))


def cut_off(server: Server, client: httpx.Client, model: ModelServer, end: signal.Signals) -> Iterator[StreamedEvent]:
    """Yields the events of an answer in whose middle the server is ended."""
    model.script(ENDLESS)
    before = model.disconnects
    tokens = 0
    with (
        client.stream("POST", PATH, json=BODY) as response,
        pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)),
    ):
        for event in read_events(response.iter_lines()):
            yield event
            tokens += event.name == "token"
            if tokens == 3 and event.name == "token":
                server.process.send_signal(end)
    server.process.wait(SOON)
    wait_for_disconnects(model, before + 1, seconds=SOON)


def test_an_owner_s_streams_are_counted(environment: dict[str, str], model: ModelServer) -> None:
    """Security 16, 18: who has too many is told so, in the language asked for; one may begin when one has ended."""
    model.script(SLOW)
    limited: dict[str, Any] = environment | {"RAG_STREAMS_PER_OWNER": "1", "RAG_COLLECTION": "demo"}
    french = {"Accept-Language": "fr"}
    with run_server_here(**limited) as address, httpx.Client(base_url=address, headers=french, timeout=SOON) as client:
        with client.stream("POST", PATH, json=BODY) as response:
            refused = httpx.post(f"{address}{PATH}", json=BODY, headers=french)
            error = check_error(refused, 429, "too_many_streams")
            assert (
                error["message"]
                == "Trop de réponses sont en cours (1 au maximum). Attendez que l'une d'elles se termine."
            )
            response.read()
        assert joined(stream(client, PATH, message=QUESTION)) == ANSWER

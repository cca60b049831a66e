"""Two services and two workers on one database: what one does the others know, and a killed one is missed by nobody."""

import json
import signal
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.scripted import ANSWER, ENDLESS, QUESTION, SLOW
from tests.api.streams import PATH, beginning, check_ids, joined, read_events, read_on, stream
from tests.conftest import Server, run_server, run_worker
from tests.model_server import ModelServer
from tests.processes import Process

BODY = {"message": QUESTION, "collection": "demo"}
SOON = 30  # seconds that nothing here takes, however busy the machine
FILES, FILES_A_REQUEST = 200, 10
INGESTED_SECONDS = 240
ENVIRONMENT = {"RAG_WORKER": "false", "RAG_MAX_DOCUMENTS": "1000"}
WATCHED_WORKER = {"RAG_WORKER_JOBS": "1", "RAG_LOG_LEVEL": "DEBUG"}


@pytest.fixture(scope="module")
def servers(environment: dict[str, str]) -> Iterator[tuple[Server, Server]]:
    with (
        run_server("--collection", "demo", **environment) as one,
        run_server("--collection", "demo", **environment) as other,
    ):
        yield one, other


@pytest.fixture
def clients(servers: tuple[Server, Server]) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    with servers[0].client() as one, servers[1].client() as other:
        yield one, other


def wait_until(is_so: Callable[[], bool], seconds: float = SOON) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_stream_begun_at_one_goes_on_at_the_other(
    clients: tuple[httpx.Client, httpx.Client], model: ModelServer
) -> None:
    """R8.9, R9.1 There and back again: each event once, one answer, one call of the model; then it is read at both."""
    one, other = clients
    model.script(SLOW)
    asked = len(model.requests)
    events = beginning(one, BODY, tokens=4)
    with other.stream("GET", f"{PATH}/{events[0].stream}", headers={"Last-Event-ID": events[-1].id}) as response:
        for event in read_events(response.iter_lines()):
            events.append(event)
            if len(events) == 20:
                break
    events += read_on(one, events[-1].id, BODY)
    check_ids(events)
    assert events[-1].name == "done"
    assert joined(events) == events[-1].data["answer"] == ANSWER
    assert len(model.requests) == asked + 1
    for client in clients:
        again = read_on(client, f"{events[0].stream}:0", BODY)
        assert [(event.id, event.data) for event in again] == [(event.id, event.data) for event in events]
        last = client.get(f"{PATH}/{events[0].stream}", headers={"Last-Event-ID": events[-1].id})
        assert last.status_code == 204


def test_an_answer_begun_at_one_is_stopped_at_the_other(
    clients: tuple[httpx.Client, httpx.Client], model: ModelServer
) -> None:
    """Security 18: its reader's stream ends, the model's call too, and neither process knows of it."""
    one, other = clients
    model.script(ENDLESS)
    before = model.disconnects
    with one.stream("POST", PATH, json=BODY) as response:
        events = read_events(response.iter_lines())
        while next(events).name != "token":
            pass
        address = f"{PATH}/{response.headers['x-stream-id']}"
        assert other.delete(address).status_code == 204
        assert {event.name for event in events} <= {"token"}
    wait_until(lambda: model.disconnects == before + 1)
    for client in clients:
        check_error(client.get(address), 404, "stream_not_found")
        check_error(client.delete(address), 404, "stream_not_found")


@pytest.mark.slow
def test_when_one_is_killed_the_other_says_so_and_goes_on(
    environment: dict[str, str], servers: tuple[Server, Server], model: ModelServer
) -> None:
    """Security 17: kill -9 in mid-answer: what was written is read, then a typed error in the reader's language, by who
    comes later too; the question is kept, and answered when it is asked again.
    """
    model.script(ENDLESS)
    with run_server("--collection", "demo", **environment) as killed, killed.client() as client:
        with client.stream("POST", PATH, json=BODY) as response:
            conversation = response.headers["x-conversation-id"]
            parts = read_events(response.iter_lines())
            events = [next(parts) for _ in range(12)]
            with (
                servers[1].client(**{"Accept-Language": "fr"}) as other,
                other.stream(
                    "GET", f"{PATH}/{events[0].stream}", headers={"Last-Event-ID": events[-1].id}
                ) as following,
            ):
                rest = read_events(following.iter_lines())
                events.append(next(rest))
                killed.process.send_signal(signal.SIGKILL)
                events += rest
        killed.process.wait(SOON)
    check_ids(events)
    assert {event.name for event in events[12:-1]} == {"token"}
    assert events[-1].name == "error"
    error = events[-1].data["error"]
    assert (error["code"], error["message"]) == (
        "stream_interrupted",
        "La réponse a été interrompue avant la fin. Reposez la question.",
    )
    with servers[1].client() as other:
        late = read_on(other, f"{events[0].stream}:0", BODY, **{"Accept-Language": "en"})
        assert [event.id for event in late] == [event.id for event in events]
        assert (
            late[-1].data["error"]["message"]
            == "The answer was interrupted before it was complete. Ask the question again."
        )
        (question,) = other.get(f"/api/v1/conversations/{conversation}").json()["messages"]
        assert question["content"] == QUESTION
        asked_again = {"conversation_id": conversation, "regenerate_message_id": question["id"], "collection": "demo"}
        answered = stream(other, PATH, **asked_again)
        assert (answered[-1].name, joined(answered)) == ("done", ANSWER)


def upload(client: httpx.Client, collection: str, files: dict[str, str]) -> list[str]:
    parts = [("files", (name, text.encode())) for name, text in files.items()]
    answer = client.post("/api/v1/documents", files=parts, data={"collection": collection})
    assert answer.status_code == 202, answer.text
    return [document["id"] for document in answer.json()["documents"]]


def ask(client: httpx.Client, collection: str, question: str) -> list[str]:
    """The filenames that were found for it."""
    answer = client.post("/api/v1/chat", json={"message": question, "collection": collection})
    assert answer.status_code == 200, answer.text
    return [source["filename"] for source in answer.json()["sources"]]


def status_of(client: httpx.Client, document: str) -> str:
    return str(client.get(f"/api/v1/documents/{document}").json()["status"])


def wait_until_indexed(client: httpx.Client, documents: list[str]) -> None:
    def is_over() -> bool:
        states = {status_of(client, document) for document in documents}
        assert states <= {"uploaded", "processing", "indexed"}
        return states == {"indexed"}

    wait_until(is_over, INGESTED_SECONDS)


@pytest.mark.slow
def test_what_one_has_found_is_not_what_is_there_now(
    environment: dict[str, str], clients: tuple[httpx.Client, httpx.Client]
) -> None:
    """R4.9 The caches are coherent: asked at one, uploaded at the other, asked again; deleted there, asked again."""
    one, other = clients
    question = "¿Qué día se limpia el horno de Villaverde?"
    with run_worker(**environment):
        wait_until_indexed(one, upload(other, "limpieza", {"turnos.txt": "El turno de noche empieza a las diez.\n"}))
        assert "horno.txt" not in ask(one, "limpieza", question)
        (document,) = upload(other, "limpieza", {"horno.txt": "El horno de Villaverde se limpia los jueves.\n"})
        wait_until_indexed(other, [document])
        assert "horno.txt" in ask(one, "limpieza", question)
        assert other.delete(f"/api/v1/documents/{document}").status_code == 204
        assert "horno.txt" not in ask(one, "limpieza", question)


def notes(numbers: range, *, lines: int = 3) -> dict[str, str]:
    """Each of a boiler of its own, on lines of their own."""
    return {
        f"nota-{number}.txt": "\n\n".join(
            f"La caldera K{number} de Carrascal marcó {number + line} grados en la revisión {line}."
            for line in range(lines)
        )
        for number in numbers
    }


def upload_half_each(clients: tuple[httpx.Client, httpx.Client], collection: str, *, lines: int) -> list[str]:
    """Some files a request, each request a job, to one service and the other by turns."""
    documents: list[str] = []
    for number, start in enumerate(range(0, FILES, FILES_A_REQUEST)):
        documents += upload(clients[number % 2], collection, notes(range(start, start + FILES_A_REQUEST), lines=lines))
    return documents


def files_read(worker: Process) -> int:
    """How often it prepared one, as its log tells."""
    entries = [json.loads(line) for line in worker.log().splitlines() if line.startswith("{")]
    return sum(entry["event"] == "stage" and entry["stage"] == "prepare" for entry in entries)


def check_found_at_both(clients: tuple[httpx.Client, httpx.Client], collection: str) -> None:
    for client in clients:
        for number in range(0, FILES, 23):
            assert f"nota-{number}.txt" in ask(client, collection, f"¿Qué marcó la caldera K{number} de Carrascal?")


@pytest.mark.slow
def test_two_services_and_two_workers_ingest_everything_once(
    environment: dict[str, str], clients: tuple[httpx.Client, httpx.Client]
) -> None:
    """R1.9, R11 Half of the files are uploaded at each: both workers work, neither does what the other did, and all is
    found at both services.
    """
    environment = environment | WATCHED_WORKER  # so that one of them does not take everything
    with run_worker(**environment) as one, run_worker(**environment) as other:
        documents = upload_half_each(clients, "calderas", lines=3)
        wait_until_indexed(clients[0], documents)
        one.stop()
        other.stop()
        read = [files_read(one), files_read(other)]
    assert len({*documents}) == FILES
    assert sum(read) == FILES, read
    assert min(read) > 0
    check_found_at_both(clients, "calderas")


@pytest.mark.slow
def test_a_killed_worker_s_job_is_taken_up_by_the_other(
    environment: dict[str, str], clients: tuple[httpx.Client, httpx.Client]
) -> None:
    """R1.9, security 17: kill -9 in mid-ingestion: nothing is lost, and what was done is not done again."""
    environment = environment | WATCHED_WORKER
    with run_worker(**environment) as killed, run_worker(**environment) as other:
        documents = upload_half_each(clients, "revisiones", lines=60)
        wait_until(lambda: files_read(killed) > 0)
        killed.stop(signal.SIGKILL)
        wait_until_indexed(clients[1], documents)
        other.stop()
        read = [files_read(killed), files_read(other)]
    assert read[0] < FILES
    assert FILES <= sum(read) <= FILES + FILES_A_REQUEST, read
    check_found_at_both(clients, "revisiones")

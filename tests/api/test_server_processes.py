"""`causeway serve --processes 2`: two processes behind one port, as one service to its clients."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import httpx
import psutil
import pytest

from tests.api.scripted import ANSWER, QUESTION, SLOW
from tests.api.streams import PATH, beginning, check_ids, joined, read_on
from tests.api.uploads import finished, upload
from tests.conftest import Server, run_server
from tests.model_server import ModelServer
from tests.processes import started

pytestmark = pytest.mark.slow
BODY = {"message": QUESTION, "collection": "demo"}
SOON = 60  # seconds that nothing here takes, however busy the machine
END_SECONDS = 15
SLACK = 1  # the minute that slides takes a part of a count for whole at its end
REQUESTS = re.compile(r'causeway_http_requests_total\{method="GET",route="/health",status="2xx"\} (\S+)')


@pytest.fixture(scope="module")
def server(environment: dict[str, str]) -> Iterator[Server]:
    with run_server("--processes", "2", "--collection", "demo", **environment) as server:
        yield server


@pytest.fixture
def clients(server: Server) -> Iterator[list[httpx.Client]]:
    """A client of each process: a connection stays where it is."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(client_of(server, process))) for process in children(server)]


def children(server: Server) -> list[psutil.Process]:
    """The server processes, oldest first."""
    return sorted(psutil.Process(server.process.pid).children(), key=lambda child: (child.create_time(), child.pid))


def client_of(server: Server, process: psutil.Process) -> httpx.Client:
    for _ in range(10):
        client = server.client()
        response = client.get("/health")
        port = response.extensions["network_stream"].get_extra_info("client_addr")[1]
        if any(connection.raddr and connection.raddr.port == port for connection in process.net_connections("tcp")):
            return client
        client.close()
    raise AssertionError("the process gets no connection")


def wait_until(is_so: Callable[[], bool], seconds: float = SOON) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def requests_counted(client: httpx.Client) -> float:
    found = REQUESTS.search(client.get("/metrics").text)
    return float(found[1]) if found else 0


def test_connections_go_to_the_processes_in_turn(server: Server) -> None:
    """R12 The clients of one service are spread evenly: of eight at once, four are in each process."""
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(server.client()).get("/health").raise_for_status()
        port = int(server.url.rpartition(":")[2])
        held = [
            sum(
                connection.laddr.port == port and connection.status == psutil.CONN_ESTABLISHED
                for connection in child.net_connections("tcp")
            )
            for child in children(server)
        ]
    assert held == [4, 4]


def test_what_is_uploaded_at_one_is_found_at_the_other(clients: list[httpx.Client]) -> None:
    """R4.9, R1.9 Only one process runs jobs, and what both have cached is coherent."""
    for number, (one, other) in enumerate((clients, clients[::-1])):
        question = {"query": f"¿Qué día se limpia el horno H{number} de Villaverde?", "collection": "limpieza"}
        one.base_url = other.base_url = one.base_url.join("/api/v1")
        first = upload(one, "limpieza", f"turnos-{number}.txt", f"El turno {number} empieza a las diez.\n")
        assert finished(one, first["id"])["status"] == "indexed"
        other.post("/retrieve", json=question).raise_for_status()
        text = f"El horno H{number} de Villaverde se limpia los jueves.\n"
        second = upload(one, "limpieza", f"horno-{number}.txt", text)
        assert finished(other, second["id"])["status"] == "indexed"
        for client in (one, other):
            found = client.post("/retrieve", json=question).raise_for_status().json()["results"]
            assert found[0]["content"].strip() == text.strip()


def test_a_stream_begun_at_one_goes_on_at_the_other(clients: list[httpx.Client], model: ModelServer) -> None:
    """R8.9, R9.1 Each event once, one answer, one call of the model."""
    one, other = clients
    model.script(SLOW)
    asked = len(model.requests)
    events = beginning(one, BODY, tokens=4)
    events += read_on(other, events[-1].id, BODY)
    check_ids(events)
    assert joined(events) == events[-1].data["answer"] == ANSWER
    assert len(model.requests) == asked + 1


def test_metrics_are_those_of_all_processes(clients: list[httpx.Client]) -> None:
    """R11.2 Counts are sums at whichever process is asked; what all share is not added up."""
    before = [requests_counted(client) for client in clients]
    for client, count in zip(clients, (3, 4), strict=True):
        for _ in range(count):
            client.get("/health").raise_for_status()
    assert [requests_counted(client) for client in clients] == [before[0] + 7] * 2
    told = clients[0].get("/metrics").text
    assert re.search(r'^causeway_jobs_waiting\{task="ingest"\} 0.0$', told, re.MULTILINE)
    assert 'causeway_jobs_running{task="ingest"}' in told
    assert "pid=" not in told


def test_a_killed_process_is_replaced(server: Server) -> None:
    """Security 17: kill -9 of the one that runs jobs: every new request is answered, counts do not fall, jobs run."""
    killed, other = children(server)
    with closing(client_of(server, other)) as client:
        before = requests_counted(client)
        killed.send_signal(signal.SIGKILL)
        killed.wait(SOON)
        for _ in range(20):
            assert httpx.get(f"{server.url}/health").status_code == 200
        assert requests_counted(client) >= before + 20
        wait_until(lambda: len(children(server)) == 2)
        replaced = children(server)
        assert other in replaced
        wait_until(lambda: is_answering(server, replaced[1]))
        assert requests_counted(client) >= before + 20
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30) as api:
        document = upload(api, "relevo", "caldera.txt", "La caldera K7 se revisa en mayo.\n")
        assert finished(api, document["id"])["status"] == "indexed"
    assert '"event": "a server process ended and is replaced"' in server.log()


def is_answering(server: Server, process: psutil.Process) -> bool:
    try:
        client_of(server, process).close()
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_all_end_together(number: signal.Signals, environment: dict[str, str], model: ModelServer) -> None:
    """R11 A supervisor's signal, Ctrl-C, which reaches every process of a terminal, or the death of the first one."""
    model.script(SLOW)
    with run_server("--processes", "2", "--collection", "demo", **environment) as server:
        processes = children(server)
        with server.client() as client, client.stream("POST", PATH, json=BODY) as response:
            next(response.iter_lines())
            if number is signal.SIGINT:
                for process in processes:
                    process.send_signal(number)
            server.process.send_signal(number)
            ended_at = time.monotonic()
            code = server.process.wait(END_SECONDS)
            assert psutil.wait_procs(processes, END_SECONDS)[1] == []
        assert time.monotonic() - ended_at < END_SECONDS
        assert code == (-signal.SIGKILL if number is signal.SIGKILL else 0)
        assert "Traceback" not in server.log()
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/health")


def test_what_prevents_a_start_is_reported_once(environment: dict[str, str]) -> None:
    """R11 By the first process, before there is another one."""
    with started("serve", "--port", "0", "--processes", "2", **environment | {"RAG_INDEX": "nothing"}) as process:
        assert process.wait(SOON) == 1
        assert process.log().count("Error: RAG_INDEX is 'nothing'") == 1
        assert "Traceback" not in process.log()


def test_rates_are_counted_together(make_database: Callable[[], str]) -> None:
    """R11 A limit is the service's: it does not matter which process a request comes to."""
    limits = {"RAG_RATE_PER_MINUTE": "12", "DATABASE_URL": make_database()}
    with run_server("--processes", "2", **limits) as server, ExitStack() as stack:
        clients = [stack.enter_context(closing(client_of(server, process))) for process in children(server)]
        answered = [client.get("/api/v1/collections").status_code for _ in range(12) for client in clients]
    assert 12 <= answered.count(200) <= 12 + SLACK
    assert set(answered) == {200, 429}

"""Texts that take long to read, at a real server: they can be cancelled, others go on, and SIGTERM ends it soon."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.conftest import Server, run_server

pytestmark = pytest.mark.slow
WAIT_SECONDS = 120  # however busy the machine
# No full stop in two megabytes, and a cause in every third word.
ENDLESS = ("la máquina falló porque la válvula se rompió y porque el retén cedió y " * 28_000).encode()
BUNDLED = "embeddings:\n  - id: bundled\n    provider: bundled\n"


@pytest.fixture
def environment(make_database: Callable[[], str], tmp_path: Path) -> dict[str, str]:
    models = tmp_path / "models.yml"
    models.write_text(BUNDLED)
    return {"DATABASE_URL": make_database(), "EMBEDDINGS_CONFIG": str(models), "CAUSEWAY_HOME": str(tmp_path / "home")}


def upload(client: httpx.Client, name: str, data: bytes) -> str:
    response = client.post("/api/v1/documents", files={"files": (name, data)})
    assert response.status_code in (200, 202), response.text
    return str(response.json()["documents"][0]["id"])


def until(client: httpx.Client, document: str, *states: str) -> dict[str, object]:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        found: dict[str, object] = client.get(f"/api/v1/documents/{document}").json()
        if found["status"] in states:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def readers(server: Server) -> Iterator[psutil.Process]:
    """The processes that prepare documents and are at work."""
    for process in psutil.Process(server.process.pid).children(recursive=True):
        try:
            is_reader = "graphrag.ingestion.sandbox" in " ".join(process.cmdline())
            if is_reader and process.ppid() != server.process.pid and process.cpu_times().user > 0.3:
                yield process
        except psutil.NoSuchProcess:
            pass


def until_read(server: Server) -> list[psutil.Process]:
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := list(readers(server))):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_others_documents_do_not_wait_for_endless_ones(environment: dict[str, str]) -> None:
    """R1.9: three of them, and a short note in between; each ends, with its passages or its cause."""
    with run_server(**environment) as server, server.client() as client:
        endless = [upload(client, f"{number}.txt", ENDLESS + b"%d" % number) for number in range(3)]
        until_read(server)
        note = upload(client, "nota.txt", "El horno H2 falló.".encode())
        assert until(client, note, "indexed", "error")["status"] == "indexed"
        for document in endless:
            found = until(client, document, "indexed", "error")
            assert found["status"] == "indexed" or found["error"]


@pytest.mark.parametrize("ending", ["cancel", "delete"])
def test_an_endless_text_ends_with_its_document(environment: dict[str, str], ending: str) -> None:
    """R1.9: what reads it is killed, and the next document is read."""
    with run_server(**environment) as server, server.client() as client:
        document = upload(client, "a.txt", ENDLESS)
        busy = until_read(server)
        if ending == "cancel":
            assert client.post(f"/api/v1/documents/{document}/cancel").json()["error"]["code"] == "cancelled"
        else:
            assert client.delete(f"/api/v1/documents/{document}").status_code == 204
        psutil.wait_procs(busy, timeout=WAIT_SECONDS)
        assert not any(process.is_running() for process in busy)
        assert until(client, upload(client, "b.txt", b"Hola."), "indexed", "error")["status"] == "indexed"


def test_sigterm_during_an_ingestion_ends_the_server_soon(environment: dict[str, str]) -> None:
    """R1.9, security 17: and the next process goes on with it."""
    with run_server(**environment) as server, server.client() as client:
        documents = [upload(client, f"{number}.txt", ENDLESS + b"%d" % number) for number in range(3)]
        busy = until_read(server)
        assert server.process.stop(signal.SIGTERM) == 0
        psutil.wait_procs(busy, timeout=WAIT_SECONDS)
        assert not any(process.is_running() for process in busy)
    with run_server(**environment) as server, server.client() as client:
        for document in documents:
            assert until(client, document, "indexed", "error")["status"] == "indexed"

"""A disk on which nothing more can be written, under the embedded database and the files."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.api.commands import causeway
from tests.api.expectations import check_error
from tests.conftest import DEMO, run_server

pytestmark = pytest.mark.slow
SIZE = "220m"
QUESTION = {"message": "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"}


@pytest.fixture
def small_disk() -> Iterator[Path]:
    with mounted(SIZE) as folder:
        yield folder


@contextmanager
def mounted(size: str) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="cw-", dir="/tmp"))
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False).returncode:
        pytest.skip("only root may mount a file system of its own")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()


def test_on_a_full_disk_answers_go_on_until_there_is_space(small_disk: Path) -> None:
    """R11.1, 001.16 What can't be stored is told so, what is stored is found; with space, all is as before."""
    filler = small_disk / "filler"
    arguments = ("--collection", "demo", "--ingest", str(DEMO / "yearly-review-2025.md"))
    with (
        run_server(*arguments, CAUSEWAY_HOME=str(small_disk)) as server,
        server.client(**{"Accept-Language": "en"}) as client,
    ):
        fill(filler)
        check_error(upload(client), 503, "file_unavailable")
        refused = store(client)
        assert "no space left" in check_error(refused, 503, "database_full")["message"]
        answer = client.post("/api/chat", json=QUESTION).json()
        assert (answer["found"], answer["degraded"]) == (True, ["save"])
        filler.unlink()
        assert store(client).status_code == 201
        assert upload(client).status_code == 202
        assert client.post("/api/chat", json=QUESTION).json()["degraded"] == []


def test_a_disk_that_becomes_read_only_stops_no_answers(small_disk: Path, make_database: Callable[[], str]) -> None:
    """R11.1, 001.16 As a kernel does with one that fails: uploads are refused in words and all else goes on, also for a
    service that is started on it.
    """
    environment = {"CAUSEWAY_HOME": str(small_disk), "DATABASE_URL": make_database()}
    arguments = ("--collection", "demo", "--ingest", str(DEMO / "yearly-review-2025.md"))
    for options in (arguments, ()):
        with (
            run_server(*options, **environment) as server,
            server.client(**{"Accept-Language": "en"}) as client,
        ):
            subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
            check_error(upload(client), 503, "file_unavailable")
            answer = client.post("/api/chat", json=QUESTION).json()
            assert (answer["found"], answer["degraded"]) == (True, [])
            assert store(client).status_code == 201
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    with run_server(**environment) as server, server.client() as client:
        assert upload(client).status_code == 202


@pytest.mark.parametrize("size", ["1m", "60m"])  # too small for a database, and for what it writes first
def test_the_command_line_says_that_the_disk_is_full(size: str) -> None:
    """R11.1 In a sentence, with no traceback."""
    with mounted(size) as home:
        run = causeway("ingest", str(DEMO), CAUSEWAY_HOME=str(home))
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert re.search("(disk of .* is full|no space left)", run.stderr.splitlines()[-1])


def fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(65_536)):
            pass


def upload(client: httpx.Client) -> httpx.Response:
    note = ("note.txt", b"Nobody has written this before. " * 20_000)
    return client.post("/api/documents", files=[("files", note)], data={"collection": "demo"})


def store(client: httpx.Client) -> httpx.Response:
    """More than the database keeps room for."""
    texts = [{"text": f"Note {number}: " + "nobody has written this. " * 400} for number in range(40)]
    return client.post("/api/collections/demo/documents", json={"documents": texts})

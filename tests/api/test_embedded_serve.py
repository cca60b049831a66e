"""`causeway serve` without DATABASE_URL: its own PostgreSQL, started, shared, recovered and stopped."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from tests.processes import ROOT

pytestmark = pytest.mark.slow

FACT = "El horno pequeño se limpia los viernes."
QUESTION = {"message": "¿Cuándo se limpia el horno pequeño?"}
START_SECONDS = 240  # the first start makes the database


@pytest.fixture
def home() -> Iterator[Path]:
    # The embedded server's user can't enter pytest's folders.
    path = Path(tempfile.mkdtemp(prefix="cw-", dir="/tmp"))
    yield path
    with suppress(FileNotFoundError, ValueError, psutil.NoSuchProcess):
        psutil.Process(postmaster(path)).terminate()  # only what a failed test left behind
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "horno.txt").write_text(f"{FACT}\n")
    (tmp_path / "pan.txt").write_text("El pan de centeno se hornea de noche.\n")
    return tmp_path


@dataclass(frozen=True)
class Serving:
    url: str
    process: subprocess.Popen[str]

    def ask(self) -> str:
        response = httpx.post(f"{self.url}/api/chat", json=QUESTION, timeout=120)
        assert response.status_code == 200, response.text
        answer: str = response.json()["answer"]
        return answer

    def stop(self, stop: signal.Signals = signal.SIGINT) -> str:
        """Standard error of the process that ended."""
        self.process.send_signal(stop)
        _, errors = self.process.communicate(timeout=120)
        return errors


@contextmanager
def serve(home: Path, *arguments: str) -> Iterator[Serving]:
    process = subprocess.Popen(
        [sys.executable, "-m", "api.cli.main", "serve", "--port", "0", *arguments],
        cwd=ROOT,
        env=os.environ | {"CAUSEWAY_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(START_SECONDS, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        watchdog.cancel()
        assert "http://" in line, process.communicate()
        yield Serving(line.split()[3], process)
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def postmaster(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().split()[0])


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def stopped(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not runs(pid)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_takes_its_database_along_when_stopped(
    home: Path, documents: Path, stop: signal.Signals
) -> None:
    """R11 Nothing to install beforehand; nothing left running afterwards."""
    with serve(home, "--ingest", str(documents)) as server:
        assert server.ask() == f"{FACT} [1]"
        pid = postmaster(home)
        assert psutil.Process(pid).name() == "postgres"
        errors = server.stop(stop)
        assert server.process.returncode == 0
    assert stopped(pid)
    assert not (home / "postgres" / "postmaster.pid").exists()
    assert "Traceback" not in errors


def test_the_second_start_indexes_nothing_again(home: Path, documents: Path) -> None:
    """R1.6 The same documents are there, once."""
    with serve(home, "--ingest", str(documents)) as server:
        first = httpx.post(f"{server.url}/api/chat", json=QUESTION, timeout=120).json()
        server.stop()
    with serve(home, "--ingest", str(documents)) as server:
        second = httpx.post(f"{server.url}/api/chat", json=QUESTION, timeout=120).json()
        metrics = httpx.get(f"{server.url}/metrics").text
        server.stop()
    assert second["answer"] == first["answer"] == f"{FACT} [1]"
    assert [source["filename"] for source in second["sources"]] == [source["filename"] for source in first["sources"]]
    assert 'causeway_stage_seconds_count{stage="embed"}' not in metrics  # no document was embedded by this process


def test_two_processes_share_one_database(home: Path, documents: Path) -> None:
    """R11 The one that leaves first does not take the database away from the other."""
    with serve(home, "--ingest", str(documents)) as first:
        pid = postmaster(home)
        with serve(home) as second:
            assert postmaster(home) == pid
            first.stop()
            assert second.ask() == f"{FACT} [1]"
            assert runs(pid)
            second.stop()
    assert stopped(pid)


def test_after_a_kill_a_new_start_serves_and_stops_cleanly(home: Path, documents: Path) -> None:
    """Security 17: kill -9 of the server loses nothing, and the database does not run on for ever."""
    with serve(home, "--ingest", str(documents)) as server:
        assert server.ask()
        pid = postmaster(home)
        server.process.kill()
        server.process.wait(10)
    with serve(home) as server:
        assert server.ask() == f"{FACT} [1]"
        current = postmaster(home)
        errors = server.stop()
        assert server.process.returncode == 0
    assert stopped(current)
    assert stopped(pid)
    assert "Traceback" not in errors


def test_after_a_kill_of_everything_the_database_recovers(home: Path, documents: Path) -> None:
    """Security 17: …and so does a loss of power: the stale files of the dead server are in nobody's way."""
    with serve(home, "--ingest", str(documents)) as server:
        assert server.ask()
        server.process.kill()
        server.process.wait(10)
    dead = psutil.Process(postmaster(home))
    family = [dead, *dead.children()]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    assert all(stopped(process.pid) for process in family)
    assert (home / "postgres" / "postmaster.pid").exists()
    with serve(home) as server:
        assert server.ask() == f"{FACT} [1]"
        pid = postmaster(home)
        server.stop()
    assert stopped(pid)

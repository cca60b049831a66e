"""What tests stand on: one real PostgreSQL a session, services over it, real server processes, a scripted model."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx
import psycopg
import pytest
import structlog
from hypothesis import settings
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from graphrag.database import migrate
from graphrag.embedded_postgres import EmbeddedPostgres, create_database
from graphrag.embeddings.registry import EmbeddingRegistry, load_registry
from graphrag.services import Services
from graphrag.settings import Settings
from graphrag.telemetry import configure_logging
from tests.model_server import ModelServer

settings.register_profile("tests", deadline=None)  # no test is timed: machines are busy at times
settings.load_profile("tests")
ROOT = Path(__file__).parents[1]
DEMO = ROOT / "notebooks" / "demo"
START_SECONDS = 60


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """Nothing of the person who runs the tests reaches them."""
    ours = [
        name
        for name in os.environ
        if name.startswith(
            ("RAG_", "OPENAI_", "OLLAMA_", "GOOGLE_", "GEMINI_", "CAUSEWAY_", "LANGSMITH_", "LANGCHAIN_")
        )
    ]
    with pytest.MonkeyPatch.context() as patch:
        for name in [*ours, "DATABASE_URL", "EMBEDDINGS_CONFIG", "REDIS_URL", "CHUNKENIZER_API_URL"]:
            patch.delenv(name, raising=False)
        # Short and open to the embedded server's own user: pytest's folders are neither.
        home = tempfile.mkdtemp(prefix="cw-")
        patch.setenv("CAUSEWAY_HOME", home)
        configure_logging("WARNING")
        yield
        shutil.rmtree(home)


@pytest.fixture(autouse=True)
def same_logging() -> Iterator[None]:
    """What a test sets up of logging ends with it."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The connection string of an embedded server's migrated database, as its superuser."""
    # Short and open to the server's own user: pytest's folders are neither.
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    server = EmbeddedPostgres(home)
    url = server.start()
    migrate(url)
    yield url
    server.stop()
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def make_database(postgres: str) -> Callable[[], str]:
    """Makes a fresh migrated database; they go with the server."""

    def make() -> str:
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(postgres, dbname="postgres", autocommit=True) as connection:
            create_database(connection, name)
        url = make_conninfo(postgres, dbname=name)
        migrate(url)
        return url

    return make


@pytest.fixture(scope="session")
def registry() -> EmbeddingRegistry:
    return load_registry()


@pytest.fixture
async def services(postgres: str) -> AsyncIterator[Services]:
    """Services over the shared database. Use an owner of your own: `owner`."""
    opened = Services(Settings(database_url=SecretStr(postgres)))
    yield opened
    await opened.close()


@pytest.fixture
def owner() -> str:
    return f"owner-{uuid.uuid4().hex}"


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@dataclass(frozen=True)
class Server:
    """`causeway serve` in a process of its own."""

    url: str
    process: subprocess.Popen[str]
    errors: IO[str]

    def log(self) -> str:
        """What it has written so far. The file's position is the process's too: it stays where it is."""
        return os.pread(self.errors.fileno(), 1_000_000_000, 0).decode()

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=headers, timeout=30)


@contextmanager
def run_server(*arguments: str, **environment: str) -> Iterator[Server]:
    """Started by its command line on a free port; stopped like by Ctrl-C."""
    command = [sys.executable, "-m", "api.cli", "serve", "--port", "0", *arguments]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            yield Server(_address(process, errors), process, errors)
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen[str], errors: object) -> str:
    deadline = time.monotonic() + START_SECONDS
    assert process.stdout is not None
    while time.monotonic() < deadline:
        line = process.stdout.readline()
        if "http://" in line:
            return "http://" + line.split("http://")[1].split()[0]
        if process.poll() is not None:
            break
    errors.seek(0)  # type: ignore[attr-defined]
    raise AssertionError(f"the server did not start: {errors.read()}")  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def demo_server(make_database: Callable[[], str]) -> Iterator[Server]:
    """Serves the demo documents as collection `demo`, with the extractive model."""
    arguments = ("--collection", "demo", "--ingest", str(DEMO))
    with run_server(*arguments, DATABASE_URL=make_database()) as server:
        yield server

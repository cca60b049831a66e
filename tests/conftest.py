"""What tests stand on: one real PostgreSQL a session, services over it, real server processes, a scripted model."""

import asyncio
import gc
import os
import shutil
import signal
import tempfile
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
import pytest
import structlog
import uvicorn
from hypothesis import settings
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import SecretStr

from api.app import create_app
from api.middleware.request_bodies import Connection
from api.serving import address_of, listen
from graphrag.config.settings import Settings
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.migrate import migrate
from graphrag.embeddings.registry import EmbeddingRegistry, load_registry
from graphrag.ingestion.isolation import ForkServer, Sandbox
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, open_services
from tests.api.scripted import ANSWER, asking
from tests.model_server import ModelServer, Reply
from tests.pgbouncer import run_pgbouncer
from tests.processes import MOST_SECONDS, ROOT, Process, end_of_forking, preload_models, started

# No example is timed: machines are busy at times. The same examples each time: a change fails for what it changes.
settings.register_profile("tests", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=300)  # make test-thorough
settings.load_profile("tests")
T = TypeVar("T")
DEMO = ROOT / "notebooks" / "demo"
MIGRATED = "migrated"  # a database that nobody uses, from which others are made
# For a service of which nothing is to be left out or refused, however slow the machine is.
PATIENT = dict.fromkeys(
    [
        "RAG_DATABASE_STATEMENT_SECONDS",
        "RAG_DATABASE_TIMEOUT_SECONDS",
        "RAG_LOAD_QUEUE_SECONDS",
        "RAG_PREPARATION_SECONDS",
        "RAG_RETRIEVE_TIMEOUT_SECONDS",
    ],
    "60",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--screenshots", metavar="FOLDER", help="what the browser's tests keep of their story's steps")
    parser.addoption("--through-pgbouncer", action="store_true", help="transactions are pooled before every database")


def pytest_configure(config: pytest.Config) -> None:
    os.environ["COLUMNS"] = "250"  # before any console is made: no cell of a table is broken into lines
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_FailuresAtOnce(config))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure's report parses its file. CPython 3.11 fails where the collector runs a finalizer that parses, too."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    gc.freeze()  # what is imported by now stays: looking through it for garbage takes a tenth of a run


@dataclass(frozen=True)
class _FailuresAtOnce:
    """Names what fails when it fails: a run that is ended from outside shows no summary."""

    config: pytest.Config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and (terminal := self.config.pluginmanager.getplugin("terminalreporter")):
            terminal.write_line(f"\n{report.nodeid} failed after {report.duration:.0f} s")


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """Nothing of the person who runs the tests reaches them."""
    ours = [
        name
        for name in os.environ
        if name.startswith(
            ("RAG_", "OPENAI_", "OLLAMA_", "GOOGLE_", "GEMINI_", "CAUSEWAY_", "LANGSMITH_", "LANGCHAIN_", "OTEL_")
        )
    ]
    with pytest.MonkeyPatch.context() as patch:
        for name in [*ours, "DATABASE_URL", "EMBEDDINGS_CONFIG", "REDIS_URL", "CHUNKENIZER_API_URL", "LC_ALL"]:
            patch.delenv(name, raising=False)
        patch.setenv("LC_MESSAGES", "C")  # commands speak English
        # Short and open to the embedded server's own user: pytest's folders are neither.
        home = tempfile.mkdtemp(prefix="cw-")
        patch.setenv("CAUSEWAY_HOME", home)
        configure_logging("WARNING")
        yield
        shutil.rmtree(home)


@pytest.fixture(scope="session", autouse=True)
def forked_processes(clean_environment: None) -> Iterator[None]:
    preload_models()
    yield
    end_of_forking()


@pytest.fixture(scope="session")
def logging_config(clean_environment: None) -> dict[str, Any]:
    return structlog.get_config()


@pytest.fixture(autouse=True)
def same_logging(logging_config: dict[str, Any]) -> None:
    """What a test, or a module's fixture, sets up of logging is not the next one's."""
    structlog.configure(**logging_config)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The connection string of an embedded server's migrated database, as its superuser, past any pooler."""
    # Short and open to the server's own user: pytest's folders are neither.
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    server = EmbeddedPostgres(home)
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # nothing of it is to outlive the machine
        connection.execute("SELECT pg_reload_conf()")
    migrate(url)
    copy_database(url, str(conninfo_to_dict(url)["dbname"]), MIGRATED)  # while nobody is connected to it
    yield url
    server.stop()
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def pooled(request: pytest.FixtureRequest, postgres_server: str) -> Iterator[Callable[[str], str]]:
    """The address that tests use for one of the server's: PgBouncer's with --through-pgbouncer, else its own."""
    if not request.config.getoption("through_pgbouncer"):
        yield str
        return
    with run_pgbouncer(postgres_server) as bouncer:
        yield bouncer.address


@pytest.fixture(scope="session")
def postgres(postgres_server: str, pooled: Callable[[str], str]) -> str:
    """The connection string of a migrated database, as the server's superuser."""
    return pooled(postgres_server)


def copy_database(server_url: str, template: str, name: str | None = None) -> str:
    """Return the address of a fresh database that holds what another one does, which nobody may be connected to."""
    name = name or f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server_url, dbname="postgres", autocommit=True) as connection:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    return make_conninfo(server_url, dbname=name)


@pytest.fixture(scope="session")
def make_database(postgres_server: str, pooled: Callable[[str], str]) -> Callable[[], str]:
    """Makes a fresh migrated database; they go with the server."""
    return lambda: pooled(copy_database(postgres_server, MIGRATED))


@pytest.fixture(scope="session")
def make_demo_database(postgres_server: str, pooled: Callable[[str], str]) -> Callable[[], str]:
    """Makes a fresh database with the demo documents as collection `demo`: they are read once.

    All of these have the same original files: a test deletes documents of its own only.
    """
    template = copy_database(postgres_server, MIGRATED)
    with started("ingest", str(DEMO), "--collection", "demo", DATABASE_URL=template) as process:
        process.read()
        assert process.wait(MOST_SECONDS) == 0, process.log()
    return lambda: pooled(copy_database(postgres_server, str(conninfo_to_dict(template)["dbname"])))


@pytest.fixture(scope="session")
def registry() -> EmbeddingRegistry:
    return load_registry()


class SharedForkServer(ForkServer):
    """Outlives the services of a test."""

    def close(self) -> None:
        if self.process is None or self.process.poll() is not None:
            super().close()


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    shared = SharedForkServer()
    yield shared
    ForkServer.close(shared)


@pytest.fixture
async def services(postgres: str, fork_server: ForkServer) -> AsyncIterator[Services]:
    """Services over the shared database. Use an owner of your own: `owner`."""
    settings = Settings.from_environment(database_url=SecretStr(postgres))
    opened = open_services(settings, sandbox=Sandbox(settings.ingestion_limits.parsing, fork_server))
    yield opened
    await opened.close()


def with_services(database_url: str, use: Callable[[Services], Awaitable[T]]) -> T:
    """What is done in a server's database by no request."""

    async def run() -> T:
        services = open_services(Settings.from_environment(database_url=SecretStr(database_url)))
        try:
            return await use(services)
        finally:
            await services.close()

    return asyncio.run(run())


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
    process: Process

    def log(self) -> str:
        return self.process.log()

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=headers, timeout=120)


@contextmanager
def run_default_server(*arguments: str, **environment: str) -> Iterator[Server]:
    """Run it on a free port; stop it as a supervisor does."""
    with started("serve", "--port", "0", *arguments, **environment) as process:
        yield Server("http://" + process.read_line("http://").split("http://")[1].split()[0], process)
        process.stop(signal.SIGTERM)


def run_server(*arguments: str, **environment: str) -> AbstractContextManager[Server]:
    """Run it on a free port; it is patient where the environment does not say otherwise."""
    return run_default_server(*arguments, **PATIENT | environment)


@contextmanager
def run_server_here(**environment: str) -> Iterator[str]:
    """Serve in a thread of this process, for tests that need neither a process of the service's own nor its worker.

    Yields the address.
    """
    with listen("127.0.0.1", 0, asks_nobody=True) as listener:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (PATIENT | {"RAG_WORKER": "false"} | environment).items():
                patch.setenv(name, value)
            app = create_app(open_services(Settings.from_environment()))
        server = uvicorn.Server(uvicorn.Config(app, http=Connection, ws="none", log_config=None, access_log=False))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), daemon=True)
        thread.start()
        try:
            while not server.started:
                thread.join(0.005)
                assert thread.is_alive()
            yield address_of(listener)
        finally:
            server.should_exit = True
            thread.join(MOST_SECONDS)


@contextmanager
def run_worker(*options: str, **environment: str) -> Iterator[Process]:
    with started("worker", *options, **environment) as process:
        process.read_line("Waiting for jobs")
        yield process
        process.stop()


@pytest.fixture(scope="session")
def demo_database(make_demo_database: Callable[[], str]) -> str:
    return make_demo_database()


@pytest.fixture(scope="session")
def demo_server(demo_database: str) -> Iterator[Server]:
    """Serves the demo documents as collection `demo`, with the extractive model."""
    with run_server("--collection", "demo", DATABASE_URL=demo_database) as server:
        yield server


@pytest.fixture(scope="module")
def model(request: pytest.FixtureRequest) -> Iterator[ModelServer]:
    """A scripted chat model for a whole module, which says ANSWER, or the module's MODEL_REPLY."""
    with ModelServer(default=getattr(request.module, "MODEL_REPLY", Reply(ANSWER))) as server:
        yield server


@pytest.fixture(scope="module")
def environment(
    request: pytest.FixtureRequest, model: ModelServer, make_demo_database: Callable[[], str]
) -> dict[str, str]:
    """Return the environment of a patient service that asks the model, over a database of its own with the demo
    documents; a module's ENVIRONMENT adds to it.
    """
    own = getattr(request.module, "ENVIRONMENT", {})
    return asking(model, **PATIENT | {"DATABASE_URL": make_demo_database()} | own)


@pytest.fixture(scope="module")
def server(environment: dict[str, str]) -> Iterator[Server]:
    """Serves the demo documents as collection `demo`, answered by the scripted model; it reads no others."""
    with run_server("--collection", "demo", **{"RAG_WORKER": "false"} | environment) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client

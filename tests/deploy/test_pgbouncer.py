"""The service behind PgBouncer in transaction mode, whose server connections all clients share."""

import asyncio
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.database import Database, fetch
from graphrag.db.embedded_postgres import create_database
from graphrag.db.migrate import migrate
from graphrag.errors import DatabaseUnavailable
from graphrag.services import open_services
from tests.api.commands import causeway
from tests.api.uploads import REPORT, ask, finished, upload
from tests.conftest import run_server, run_worker
from tests.own_postgres import run_postgres
from tests.pgbouncer import PgBouncer, run_pgbouncer
from tests.production import run_production

pytestmark = pytest.mark.slow
WAIT_SECONDS = 60
QUESTION = "¿Por qué falló el horno H2?"
POLLED = "jobs are polled for"


@pytest.fixture(scope="module")
def small(postgres_server: str) -> Iterator[PgBouncer]:
    """Has two connections to each database."""
    with run_pgbouncer(postgres_server, pool_size=2) as bouncer:
        yield bouncer


@pytest.fixture
def url(postgres_server: str, small: PgBouncer) -> str:
    """An empty database that nothing else uses."""
    name = f"pooled_{random.randbytes(8).hex()}"
    with psycopg.connect(postgres_server, dbname="postgres", autocommit=True) as connection:
        create_database(connection, name)
    return small.address(make_conninfo(postgres_server, dbname=name))


def check_documents(environment: dict[str, str]) -> None:
    """Upload, search, ask, replace and delete by an API and a worker in processes of their own."""
    with (
        run_server(RAG_WORKER="false", **environment) as server,
        run_worker(**environment) as worker,
        httpx.Client(base_url=f"{server.url}/api/v1", timeout=60, headers={"Accept-Language": "es"}) as api,
    ):
        document = upload(api, "default", "informe.md", REPORT)["id"]
        assert finished(api, document)["status"] == "indexed"
        (found, *_) = api.post("/search", json={"query": QUESTION}).raise_for_status().json()["results"]
        assert found["document_id"] == document
        assert "retén" in ask(api, "default", QUESTION)["answer"]
        api.delete(f"/documents/{document}").raise_for_status()
        assert api.post("/search", json={"query": QUESTION}).raise_for_status().json()["results"] == []
        assert len(api.get("/conversations").json()["conversations"]) == 1
        assert (POLLED in worker.log()) == ("DATABASE_MIGRATION_URL" not in environment)
        for process in (server, worker):
            assert "worker restarted" not in process.log()


def test_requests_are_pooled_and_jobs_listened_for_past_the_pooler(tmp_path: Path) -> None:
    """R11.1 With production's two logins: requests through PgBouncer, the tables' owner past it."""
    with run_production() as direct, run_pgbouncer(direct["DATABASE_URL"]) as bouncer:
        environment = direct | {"DATABASE_URL": bouncer.address(direct["DATABASE_URL"])}
        environment["CAUSEWAY_HOME"] = str(tmp_path)
        check_documents(environment)
        run = causeway("doctor", "--json", **environment)
        assert '"pooler"' in run.stdout, run.stdout + run.stderr
        with psycopg.connect(direct["DATABASE_MIGRATION_URL"]) as connection:
            begun = "SELECT 1 FROM causeway.migrations HAVING count(*) > 20"
            assert connection.execute(begun).fetchone() == (1,)


def test_the_pooler_alone_is_enough(url: str, tmp_path: Path) -> None:
    """R11.1 Migrations, requests and jobs; jobs are polled for, which the log and the examination say."""
    environment = {"DATABASE_URL": url, "CAUSEWAY_HOME": str(tmp_path)}
    check_documents(environment)
    assert '"pooler_alone"' in causeway("doctor", "--json", **environment).stdout
    backup = causeway("backup", str(tmp_path / "all.tar"), **environment)
    assert backup.returncode == 1
    assert "DATABASE_MIGRATION_URL" in backup.stderr


def test_processes_migrate_a_database_once(url: str) -> None:
    """R11.1 Six at a time over two connections: each migration is applied by one of them."""
    with ThreadPoolExecutor(6) as threads:
        applied = [name for names in threads.map(migrate, [url] * 6) for name in names]
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT name FROM causeway.migrations").fetchall()
    assert sorted(applied) == sorted(name for (name,) in rows)
    assert len(applied) > 50


# What an owner leaves in the session that the next one gets.
LEFT = (
    "SET app.user_id = '{owner}'; SET ROLE causeway_app",
    "SET search_path = pg_temp; SET row_security = off",
    "CREATE TEMP TABLE IF NOT EXISTS collections AS SELECT '{owner}' AS owner_id; GRANT ALL ON collections TO PUBLIC",
    "SELECT 1 / 0",
    "SELECT pg_sleep(10)",
)


async def test_owners_that_share_connections_see_their_own_rows_alone(url: str) -> None:
    """R4.8, security 2: sixty owners at once over two connections, which others leave in every state."""
    migrate(url)
    clients = [Database(Settings.from_environment(database_url=SecretStr(url))) for _ in range(3)]
    sessions: set[int] = set()

    async def meddle(database: Database, owner: str, statements: str) -> None:
        async with database.transaction(owner) as connection:
            await connection.execute(statements.format(owner=owner).encode())

    async def live(number: int) -> None:
        owner, database = f"owner-{number}", clients[number % len(clients)]
        async with database.transaction(owner) as connection:
            await connection.execute(
                "INSERT INTO collections (collection_id, owner_id, name, embedding_model)"
                " VALUES (gen_random_uuid(), %s, 'notes', 'bundled')",
                [owner],
            )
        for _ in range(5):
            meddling = asyncio.create_task(meddle(database, owner, random.choice(LEFT)))
            await asyncio.wait([meddling], timeout=random.uniform(0, 0.2))
            meddling.cancel()
            await asyncio.wait([meddling])
            async with database.transaction(owner) as connection:
                rows = await fetch(connection, "SELECT owner_id, pg_backend_pid() AS pid FROM collections", {})
            assert [row["owner_id"] for row in rows] == [owner]
            sessions.update(row["pid"] for row in rows)
        async with database.transaction("") as connection:
            assert await fetch(connection, "SELECT FROM collections", {}) == []

    try:
        await asyncio.gather(*map(live, range(60)))
    finally:
        for database in clients:
            await database.close()
    assert sessions


async def test_maintenance_of_many_over_two_connections(url: str, owner: str) -> None:
    """R11.1 Locks are of transactions: whoever waits for one keeps no connection from the one who has it."""
    services = open_services(Settings.from_environment(database_url=SecretStr(url)))
    try:
        collection = await services.store.create_collection(owner, "notes", embedding_model="bundled")
        async with asyncio.timeout(WAIT_SECONDS):
            await asyncio.gather(*(services.store.optimize(collection) for _ in range(5)))
    finally:
        await services.close()


async def await_state(database: Database, state: str) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while database.state.state != state:
            with suppress(DatabaseUnavailable):
                await database.ping()
            await asyncio.sleep(0.05)


async def test_a_server_that_hangs_behind_the_pooler_is_away() -> None:
    """R11.1 The pooler answers for it; where its own address is known, each request is an error until it is back."""
    with run_postgres() as server, run_pgbouncer(server.url) as bouncer:
        addresses = {"database_url": bouncer.address(server.url), "migration_url": server.url}
        database = Database(Settings.from_environment(**{name: SecretStr(url) for name, url in addresses.items()}))
        try:
            await database.ping()
            server.freeze()
            await await_state(database, "open")
            with pytest.raises(DatabaseUnavailable, match="looked after"):
                await database.open()
            server.thaw()
            await await_state(database, "closed")
            await database.ping()
        finally:
            server.thaw()
            await database.close()

"""The database away: at the start, in mid-life, or there and silent; then back."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.database import Database
from graphrag.db.server_watch import answers
from graphrag.errors import DatabaseUnavailable, DatabaseUnprepared
from graphrag.observability.request_context import changed_context
from tests.api.expectations import check_error
from tests.conftest import PATIENT, run_server
from tests.own_postgres import OwnPostgres, run_postgres
from tests.processes import unused_port

HANG_SECONDS = 30  # what takes longer hangs: a machine is busy at times


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[OwnPostgres]:
    """In place of the one that all tests share: it is stopped and frozen here."""
    with run_postgres() as server:
        yield server


@pytest.fixture
async def database(own_postgres: OwnPostgres) -> AsyncIterator[Database]:
    opened = Database(Settings.from_environment(database_url=SecretStr(own_postgres.url)))
    await opened.open()
    yield opened
    await opened.close()


def state_of(database: Database) -> str:
    return database.state.state


async def until_back(database: Database) -> None:
    deadline = time.monotonic() + HANG_SECONDS
    while True:
        try:
            return await database.ping()
        except DatabaseUnavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


async def fail(database: Database, statement: str = "SELECT 1") -> None:
    """Return when the statement has failed."""
    with pytest.raises(DatabaseUnavailable):
        async with database.transaction("me") as connection:
            await connection.execute(statement.encode())


async def test_a_server_that_is_stopped_is_an_error_at_once_until_it_is_back(
    database: Database, own_postgres: OwnPostgres
) -> None:
    """R11.1 Found out once; nobody else waits, and who asks is told when to come again."""
    assert state_of(database) == "closed"
    own_postgres.stop()
    await fail(database)
    assert state_of(database) == "open"
    with pytest.raises(DatabaseUnavailable) as caught:
        await database.ping()
    assert caught.value.details == {"retry_after": 1}
    own_postgres.start()
    await until_back(database)
    assert (state_of(database), database.state.failures) == ("closed", 0)


async def test_a_restart_that_nobody_saw_costs_nobody_an_error(database: Database, own_postgres: OwnPostgres) -> None:
    """R11.1 Connections that the server has forgotten are passed over."""
    await asyncio.gather(*(database.ping() for _ in range(8)))
    own_postgres.stop()
    own_postgres.start()
    for _ in range(10):
        await database.ping()


async def test_a_server_that_hangs_is_an_error_within_seconds(database: Database, own_postgres: OwnPostgres) -> None:
    """R11.1 New transactions, and those that wait for a statement already, however long that might take."""
    working = asyncio.create_task(fail(database, "SELECT pg_sleep(600)"))
    await asyncio.sleep(0.2)
    own_postgres.freeze()
    try:
        await asyncio.wait_for(asyncio.gather(working, *(fail(database) for _ in range(10))), HANG_SECONDS)
        assert state_of(database) == "open"
    finally:
        own_postgres.thaw()
    await until_back(database)


async def test_a_server_that_hangs_stops_nothing_else(database: Database, own_postgres: OwnPostgres) -> None:
    """R11.1 While it is looked after, whatever needs no database goes on."""
    turns = 0

    async def live() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    own_postgres.freeze()
    living = asyncio.create_task(live())
    try:
        assert not await answers(own_postgres.url)
        assert turns > 20
        turns = 0
        await fail(database)
        assert turns > 20
    finally:
        living.cancel()
        own_postgres.thaw()
    await until_back(database)


async def test_a_server_is_found_wherever_it_is(own_postgres: OwnPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.1 By its socket or its port, among several, by the environment; one that is stopped is not."""
    by_socket = conninfo_to_dict(own_postgres.url)
    with psycopg.connect(own_postgres.url) as connection:
        port = connection.info.port
    nobody = unused_port()
    assert await answers(own_postgres.url)
    assert await answers(
        make_conninfo(own_postgres.url, host=f"127.0.0.1,{by_socket['host']}", port=f"{nobody},{port}")
    )
    assert not await answers(make_conninfo(own_postgres.url, host="127.0.0.1", port=nobody))
    monkeypatch.setenv("PGHOST", str(by_socket["host"]))
    monkeypatch.setenv("PGPORT", str(port))
    assert await answers("dbname=postgres")
    own_postgres.stop()
    try:
        assert not await answers(own_postgres.url)
    finally:
        own_postgres.start()


async def test_who_leaves_a_server_that_hangs_is_not_kept(database: Database, own_postgres: OwnPostgres) -> None:
    """R11.1 A deadline that is over ends what waits, though nobody hears that it is cancelled."""
    working = asyncio.create_task(fail(database, "SELECT pg_sleep(600)"))
    await asyncio.sleep(0.2)
    own_postgres.freeze()
    try:
        working.cancel()
        done, _ = await asyncio.wait({working}, timeout=HANG_SECONDS)
        assert working in done
    finally:
        own_postgres.thaw()
    await until_back(database)


async def test_a_long_statement_of_a_server_that_is_well_is_left_alone(database: Database) -> None:
    """R11.1 Jobs take their time."""
    async with database.transaction("me") as connection:
        cursor = await connection.execute("SELECT pg_sleep(2.5), 7 AS seven")
        row = await cursor.fetchone()
    assert row is not None
    assert row["seven"] == 7
    assert state_of(database) == "closed"


async def test_a_statement_that_somebody_waits_for_ends_in_time(own_postgres: OwnPostgres) -> None:
    """R11.1 By the server, which is not taken to be away for that."""
    database = Database(
        Settings.from_environment(database_url=SecretStr(own_postgres.url), database_statement_seconds=0.1)
    )
    try:
        with changed_context(is_interactive=True), pytest.raises(DatabaseUnavailable, match="took too long"):
            async with database.transaction("me") as connection:
                await connection.execute("SELECT pg_sleep(60)")
        with changed_context(is_interactive=True), changed_context(is_interactive=False):
            async with database.transaction("me") as connection:
                await connection.execute("SELECT pg_sleep(0.2)")
        assert state_of(database) == "closed"
    finally:
        await database.close()


async def test_what_a_database_lacks_is_told_apart(make_database: Callable[[], str]) -> None:
    """R11.1 A table that is gone is no outage: others go on."""
    url = make_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE causeway.entities RENAME TO hidden")
    database = Database(Settings.from_environment(database_url=SecretStr(url)))
    try:
        with pytest.raises(DatabaseUnprepared, match="causeway migrate"):
            async with database.transaction("me") as connection:
                await connection.execute("SELECT FROM entities")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("REVOKE ALL ON causeway.chunks FROM causeway_app")
        with pytest.raises(DatabaseUnprepared, match="permission denied"):
            async with database.transaction("me") as connection:
                await connection.execute("SELECT FROM chunks")
        await database.ping()
    finally:
        await database.close()


async def test_a_server_that_is_there_and_refuses_us_is_not_awaited(postgres: str) -> None:
    """R11.3 Waiting does not mend a wrong password, a role or a database that there is not: the start says so."""
    wrong = Database(Settings.from_environment(database_url=SecretStr(make_conninfo(postgres, dbname="nowhere"))))
    with pytest.raises(DatabaseUnavailable, match=r"nowhere.*Check DATABASE_URL"):
        await wrong.open_or_await()
    away = Database(
        Settings.from_environment(database_url=SecretStr(make_conninfo(postgres, host="127.0.0.1", port="1")))
    )
    try:
        assert not await away.open_or_await()
        assert state_of(away) == "open"
    finally:
        await away.close()


async def test_a_connection_is_given_back_by_who_is_told_to_end_meanwhile(postgres: str) -> None:
    """R11.1 The pool would be one short for ever."""
    database = Database(Settings.from_environment(database_url=SecretStr(postgres), database_pool_size=2))
    try:
        await database.open()
        pool = database._pool
        assert pool
        has_it, may_end = asyncio.Event(), asyncio.Event()

        async def use() -> None:
            async with database.transaction("me"):
                has_it.set()
                await may_end.wait()

        using = asyncio.create_task(use())
        await has_it.wait()
        async with pool._lock:
            may_end.set()
            await asyncio.sleep(0.05)  # it has committed, and wants to give it back
            using.cancel()
            await asyncio.wait({using}, timeout=0.05)
        await asyncio.sleep(0.05)
        assert using.cancelled()
        assert pool.get_stats()["pool_available"] == 2
    finally:
        await database.close()


def test_a_frozen_database_costs_errors_and_no_data(own_postgres: OwnPostgres, tmp_path: Path) -> None:
    """R11.1, 001.16 Who asks while PostgreSQL hangs gets a typed error in time, by each interface; an upload is stored
    and indexed once; what was there is there, and as many as before are served.
    """
    ask = {"message": "What stopped oven H2?"}
    environment = {"DATABASE_URL": own_postgres.url, "CAUSEWAY_HOME": str(tmp_path)} | PATIENT
    with run_server(**environment) as server, server.client(**{"Accept-Language": "en"}) as client:

        def upload(day: str) -> httpx.Response:
            note = (f"{day}.txt", f"Oven H2 stopped on {day} because of its pump.".encode())
            return client.post("/api/v1/documents", files=[("files", note)])

        def search(_: int = 0) -> httpx.Response:
            return client.post("/api/v1/search", json={"query": "oven H2"})

        upload("Monday").raise_for_status()
        known = {of["id"] for of in until_indexed(client, 1)}
        kept = client.post("/api/v1/chat", json=ask).json()["conversation_id"]
        messages = client.get(f"/api/v1/conversations/{kept}").json()
        calls: dict[str, Callable[[], httpx.Response]] = {
            "list": lambda: client.get("/api/v1/documents"),
            "search": search,
            "chat": lambda: client.post("/api/v1/chat", json=ask),
            "stream": lambda: client.post("/api/v1/chat/stream", json=ask),
            "upload": lambda: upload("Tuesday"),
            "delete": lambda: client.delete(f"/api/v1/conversations/{kept}"),
        }
        own_postgres.freeze()
        try:
            with ThreadPoolExecutor(len(calls)) as pool:
                answers_of = dict(zip(calls, pool.map(lambda call: call(), calls.values()), strict=True))
        finally:
            own_postgres.thaw()
        stored = answers_of.pop("upload")
        assert (stored.status_code, stored.json()["indexing"]) == (202, "unavailable")
        for answer in answers_of.values():
            error = check_error(answer, 503, "database_unavailable")
            assert "does not respond" in error["message"]
        documents = until_indexed(client, 2)
        assert known < {document["id"] for document in documents}
        assert sorted(document["filename"] for document in documents) == ["Monday.txt", "Tuesday.txt"]
        assert client.get(f"/api/v1/conversations/{kept}").json() == messages
        with ThreadPoolExecutor(16) as pool:
            assert {response.status_code for response in pool.map(search, range(32))} == {200}
        for document in documents:  # the next test's database is the same
            client.delete(f"/api/v1/documents/{document['id']}").raise_for_status()


def until_indexed(client: httpx.Client, count: int) -> list[dict[str, Any]]:
    """Return all documents as soon as so many are indexed."""
    deadline = time.monotonic() + 3 * HANG_SECONDS
    while True:
        answer = client.get("/api/v1/documents")
        documents = list(answer.json()["documents"]) if answer.is_success else []
        if [of["status"] for of in documents].count("indexed") >= count:
            return documents
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_service_starts_without_its_database(own_postgres: OwnPostgres, tmp_path: Path) -> None:
    """R11.3 It runs, says so, takes uploads with «indexing unavailable», and goes on by itself when the database is
    there: the last version of each upload is indexed.
    """
    own_postgres.stop()
    environment = {"DATABASE_URL": own_postgres.url, "CAUSEWAY_HOME": str(tmp_path)}
    with run_server(**environment) as server, server.client(**{"Accept-Language": "en"}) as client:
        health = client.get("/health").json()
        assert (health["status"], health["database"]) == ("degraded", "unavailable")
        assert {"name": "database", "state": "open"}.items() <= health["breakers"][0].items()
        assert 'causeway_breaker_state{name="database"} 2.0' in client.get("/metrics").text
        check_error(client.get("/ready"), 503, "database_unavailable")
        refused = client.post("/api/chat", json={"message": "What stopped oven H2?"})
        check_error(refused, 503, "database_unavailable")
        assert refused.headers["Retry-After"] == "1"
        plain = client.post("/api/chat", json={"message": "Hello?", "rag_enabled": False}).json()
        assert (plain["degraded"], plain["conversation_id"]) == (["save"], None)
        text = {"documents": [{"text": "Oven H2 stopped."}]}
        check_error(client.post("/api/collections/default/documents", json=text), 503, "indexing_unavailable")
        for day in ("Monday", "Tuesday"):
            note = ("note.txt", f"Oven H2 stopped on {day} because of its pump.".encode())
            kept = client.post("/api/documents", files=[("files", note)])
            assert kept.status_code == 202
            assert kept.json()["indexing"] == "unavailable"
            assert "saved" in kept.json()["message"]
        own_postgres.start()
        deadline = time.monotonic() + 3 * HANG_SECONDS
        while "Tuesday" not in client.post("/api/chat", json={"message": "When did oven H2 stop?"}).text:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert client.get("/health").json()["status"] == "ok"
        assert [document["filename"] for document in client.get("/api/documents").json()["documents"]] == ["note.txt"]
        assert not (tmp_path / "files" / "waiting").exists()

"""Hot standbys that answer searches: what was just written is found, and no search fails with one of them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from prometheus_client import generate_latest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from api.gauges import look_around
from graphrag.config.settings import Settings
from graphrag.diagnosis.database import examine_database
from graphrag.diagnosis.findings import Level
from graphrag.errors import InvalidSettings
from graphrag.observability.metrics import STANDBY_READS
from graphrag.services import Services, open_services
from tests.conformance.test_chunk_store import Shelf
from tests.own_postgres import OwnPostgres, run_postgres
from tests.standby import pause, resume, run_standby, wait_for

pytestmark = pytest.mark.slow
WRITTEN = 200  # documents, each searched for at once


@pytest.fixture(scope="module")
def primary() -> Iterator[OwnPostgres]:
    with run_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def standby(primary: OwnPostgres) -> Iterator[OwnPostgres]:
    with run_standby(primary) as server:
        yield server


@pytest.fixture(scope="module")
def other_standby(primary: OwnPostgres) -> Iterator[OwnPostgres]:
    with run_standby(primary) as server:
        yield server


def settings_of(primary: OwnPostgres, *standbys: OwnPostgres) -> Settings:
    read_urls = tuple(SecretStr(server.url) for server in standbys)
    return Settings.from_environment(database_url=SecretStr(primary.url), read_urls=read_urls)


@asynccontextmanager
async def opened(primary: OwnPostgres, *standbys: OwnPostgres) -> AsyncIterator[Services]:
    services = open_services(settings_of(primary, *standbys))
    await services.open()
    try:
        await all_in_use(services)
        yield services
    finally:
        await services.close()


@pytest.fixture
async def services(primary: OwnPostgres, standby: OwnPostgres, other_standby: OwnPostgres) -> AsyncIterator[Services]:
    async with opened(primary, standby, other_standby) as services:
        yield services


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    return Shelf(services.store, await services.store.create_collection(owner, "notes", embedding_model="tiny"))


def states(services: Services) -> list[str]:
    return [standby.state.state for standby in services.database.standbys]


async def all_in_use(services: Services) -> None:
    async with asyncio.timeout(30):
        while set(states(services)) != {"closed"}:
            await asyncio.sleep(0.05)


def count(outcome: str) -> float:
    return float(STANDBY_READS.labels(outcome=outcome)._value.get())


async def current(shelf: Shelf) -> Shelf:
    """As a request reads its collection, before it searches."""
    known = await shelf.store.list_collections(shelf.collection.owner_id)
    return Shelf(shelf.store, next(each for each in known if each.id == shelf.collection.id))


async def test_searches_go_to_the_standbys(shelf: Shelf, primary: OwnPostgres, standby: OwnPostgres) -> None:
    """R11 A collection that they have is read from them alone."""
    await shelf.put("The boiler stopped.")
    wait_for(primary, standby)
    shelf, before = await current(shelf), count("read")
    for _ in range(4):
        assert await shelf.found("boiler") == ["The boiler stopped."]
    assert count("read") >= before + 4


async def test_what_was_just_written_is_found(shelf: Shelf) -> None:
    """R11 Whatever a standby still lacks: each document is searched for as soon as it is stored."""
    for number in range(WRITTEN):
        await shelf.put(f"Note w{number}x.")
        assert f"Note w{number}x." in await (await current(shelf)).found(f"w{number}x")


async def test_a_standby_that_stands_still_is_passed_over(
    services: Services, shelf: Shelf, primary: OwnPostgres, standby: OwnPostgres, other_standby: OwnPostgres
) -> None:
    """R11 The primary answers what they lack, they answer what they have, and their lag is told."""
    await shelf.put("An old note.")
    for server in (standby, other_standby):
        wait_for(primary, server)
    old = await current(shelf)
    for server in (standby, other_standby):
        pause(server)
    try:
        await shelf.put("A new note.")
        before = count("behind")
        assert sorted(await (await current(shelf)).found("note")) == ["A new note.", "An old note."]
        assert count("behind") == before + 2
        assert await old.found("note") == ["An old note."]
        await asyncio.sleep(0.1)
        await look_around(services)
        lags = [line for line in generate_latest().decode().splitlines() if "standby_lag_seconds{" in line]
        assert len(lags) == 2
        assert all(float(line.split()[-1]) > 0 for line in lags)
    finally:
        for server in (standby, other_standby):
            resume(server)


async def test_a_standby_dies_under_load_and_comes_back(
    services: Services, shelf: Shelf, primary: OwnPostgres, standby: OwnPostgres
) -> None:
    """R11 No search fails, and it answers again once it is back."""
    await shelf.put("The boiler stopped.")
    wait_for(primary, standby)
    shelf = await current(shelf)
    asked, ending = 0, asyncio.Event()

    async def ask() -> None:
        nonlocal asked
        while not ending.is_set():
            assert await shelf.found("boiler") == ["The boiler stopped."]
            asked += 1

    async with asyncio.TaskGroup() as clients:
        for _ in range(4):
            clients.create_task(ask())
        await asyncio.sleep(0.5)
        standby.crash()
        async with asyncio.timeout(10):
            while states(services)[0] == "closed":
                await asyncio.sleep(0.02)
        before = asked
        await asyncio.sleep(0.5)
        assert asked > before
        await asyncio.to_thread(standby.start)
        await all_in_use(services)
        ending.set()


async def test_a_standby_that_hangs_is_left_out(services: Services, shelf: Shelf, standby: OwnPostgres) -> None:
    """R11 Searches that wait for it are answered by another server."""
    await shelf.put("The boiler stopped.")
    shelf = await current(shelf)
    standby.freeze()
    try:
        async with asyncio.timeout(20):
            found = await asyncio.gather(*(shelf.found("boiler") for _ in range(6)))
        assert found == [["The boiler stopped."]] * 6
        assert "open" in states(services)
    finally:
        standby.thaw()
    await all_in_use(services)


async def test_a_server_with_another_database_is_not_read(primary: OwnPostgres, owner: str) -> None:
    """R11 Its searches would find other documents, or none."""
    with run_postgres() as foreign:
        settings = settings_of(primary, foreign)
        services = open_services(settings)
        await services.open()
        try:
            shelf = Shelf(
                services.store, await services.store.create_collection(owner, "notes", embedding_model="tiny")
            )
            await shelf.put("The boiler stopped.")
            await asyncio.sleep(2)
            before = count("read")
            assert await (await current(shelf)).found("boiler") == ["The boiler stopped."]
            assert count("read") == before
            assert "closed" not in states(services)
        finally:
            await services.close()
        findings = {
            finding.code: finding for finding in await asyncio.to_thread(lambda: list(examine_database(settings)))
        }
        assert findings["standby_foreign"].level is Level.ERROR


async def test_doctor_tells_of_each_standby(primary: OwnPostgres, standby: OwnPostgres) -> None:
    """R11 One that follows, and one that is not there."""
    async with opened(primary, standby):
        wait_for(primary, standby)
        nowhere = SecretStr(make_conninfo("postgresql://nobody@127.0.0.1:1/none"))
        settings = settings_of(primary, standby).changed(read_urls=(SecretStr(standby.url), nowhere))
        findings = await asyncio.to_thread(lambda: list(examine_database(settings)))
    assert [finding.code for finding in findings if finding.code.startswith("standby")] == ["standby", "standby_away"]


def test_standbys_need_a_primary() -> None:
    """R11 Those of the embedded server are none."""
    with pytest.raises(InvalidSettings, match=r"DATABASE_READ_URLS: these are standbys of the server of DATABASE_URL"):
        Settings.from_environment(read_urls="postgresql://a@b/c")
    with pytest.raises(InvalidSettings, match=r"mysql:// is no PostgreSQL"):
        Settings.from_environment(database_url="postgresql://a@b/c", read_urls="postgresql://a@b/c, mysql://a@b/c")


def test_a_standby_takes_no_writes(standby: OwnPostgres) -> None:
    """R11 It is a standby indeed."""
    with psycopg.connect(standby.url) as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute("CREATE TABLE own ()")

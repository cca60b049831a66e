"""A Redis that is away, hangs, is full, refuses us or was started anew: told with the way out, and done without."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr
from redis.asyncio import Redis
from structlog.testing import capture_logs

from graphrag.config.settings import Settings
from graphrag.diagnosis.findings import Finding, Level
from graphrag.diagnosis.installation import examine_redis
from graphrag.embeddings.registry import EmbeddingModel, cached, load_registry
from graphrag.errors import DatabaseUnavailable
from graphrag.protocols import Cache
from graphrag.services import Services, open_services
from tests.model_server import ModelServer
from tests.redis_server import RedisServer, run_redis_server

CHECK_SERVER = "Check REDIS_URL and the server"


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with run_redis_server() as server:
        yield server


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with other work to do answers later than in a second, and then its refusal is not seen."""
    monkeypatch.setattr("graphrag.cache.redis.TIMEOUT_SECONDS", 30)


@pytest.fixture
async def services(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Services]:
    """Whose cache is left alone for a tenth of a second."""
    monkeypatch.setattr("graphrag.cache.redis.LEFT_ALONE_SECONDS", 0.1)
    opened = open_services(Settings.from_environment(redis_url=SecretStr(redis.url)))
    yield opened
    await opened.close()


@pytest.fixture
async def embedding(
    services: Services, model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> EmbeddingModel:
    """A vendor's, with the cache."""
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    file = tmp_path / "embeddings.yml"
    file.write_text("embeddings: [{id: far, provider: openai, model: m}]")
    return cached(load_registry(file).get("far"), cache=services.cache, owner_id="me")


async def examined(url: str) -> Finding:
    (finding,) = [finding async for finding in examine_redis(Settings.from_environment(redis_url=SecretStr(url)))]
    return finding


async def check_refused(url: str, said: str, way_out: str) -> None:
    """By the cache and by `causeway doctor`, without the password."""
    services = open_services(Settings.from_environment(redis_url=SecretStr(url)))
    uses: list[Awaitable[object]] = [
        services.cache.get_many("me", ["a"]),
        services.cache.set_many("me", {"a": b"1"}, seconds=60),
    ]
    for use in uses:
        with pytest.raises(DatabaseUnavailable, match=rf"(?s)Redis can't be used: .*{said}.*{way_out}") as caught:
            await use
        assert caught.value.__cause__ is not None
        assert "secret" not in str(caught.value)
    assert [state.state for state in services.breakers() if state.name == "redis"] == ["open"]
    await services.close()
    finding = await examined(url)
    assert (finding.level, finding.details["what"]) == (Level.ERROR, "REDIS_URL")
    assert way_out in str(finding.details["cause"])
    assert "secret" not in str(finding)


@pytest.mark.usefixtures("patient")
async def test_a_redis_that_is_not_there_is_said_so() -> None:
    """R11.1, R13.4"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    await check_refused(f"redis://:secret@127.0.0.1:{port}", "connecting", CHECK_SERVER)


async def test_a_redis_that_never_answers_is_not_waited_for() -> None:
    """R11.1, R13.4"""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        await check_refused(f"redis://:secret@127.0.0.1:{silent.getsockname()[1]}", "Timeout", CHECK_SERVER)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("change", "said", "way_out"),
    [
        (("sesame", "secret"), "invalid username-password", "Check the user and the password in REDIS_URL"),
        ((":open%20sesame@", ""), "Authentication required", "Check the user and the password in REDIS_URL"),
        (("/3", "/9999"), "DB index is out of range", "Check the number of the database at the end of REDIS_URL"),
    ],
)
async def test_a_redis_that_refuses_is_told(
    redis: RedisServer, change: tuple[str, str], said: str, way_out: str
) -> None:
    """R11.1, R13.4"""
    await check_refused(redis.url.replace(*change), said, way_out)


async def test_a_redis_that_speaks_no_tls_is_told(redis: RedisServer) -> None:
    """R11.1, R13.4 It waits for the rest of what it takes for a command."""
    await check_refused(redis.url.replace("redis:", "rediss:"), "", CHECK_SERVER)


@pytest.mark.usefixtures("patient")
async def test_one_that_wants_no_password_is_told(redis: RedisServer) -> None:
    """R11.1, R13.4"""
    async with Redis.from_url(redis.url) as client:
        await client.config_set("requirepass", "")
        try:
            await check_refused(redis.url, "without any password configured", "the password in REDIS_URL")
        finally:
            await client.config_set("requirepass", "open sesame")


async def test_a_full_redis_is_read_and_told(redis: RedisServer, services: Services) -> None:
    """R11.1, R13.4 `maxmemory` with the policy that keeps all: what is there is found, nothing new is kept."""
    await services.cache.set_many("me", {"a": b"1"}, seconds=60)
    async with Redis.from_url(redis.url) as client:
        await client.config_set("maxmemory", "1")
        try:
            with pytest.raises(DatabaseUnavailable, match="maxmemory-policy, which should be allkeys-lru"):
                await services.cache.set_many("me", {"b": b"1"}, seconds=60)
            assert await services.cache.get_many("me", ["a", "b"]) == {"a": b"1"}
            assert "maxmemory-policy" in str((await examined(redis.url)).details["cause"])
        finally:
            await client.config_set("maxmemory", "0")
    assert (await examined(redis.url)).code == "redis"


def state(services: Services) -> str:
    return next(state.state for state in services.breakers() if state.name == "redis")


async def found_again(cache: Cache) -> bool:
    """After the time for which it is left alone."""
    async with asyncio.timeout(20):
        while True:
            try:
                await cache.set_many("me", {"again": b"1"}, seconds=60)
                return await cache.get_many("me", ["again"]) == {"again": b"1"}
            except DatabaseUnavailable:
                await asyncio.sleep(0.05)


FAULTS: dict[str, tuple[Callable[[RedisServer], None], Callable[[RedisServer], None]]] = {
    "stops": (RedisServer.stop, RedisServer.start),
    "hangs": (RedisServer.hang, RedisServer.go_on),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_service_goes_on_without_it_and_finds_it_again(
    fault: str, redis: RedisServer, services: Services, embedding: EmbeddingModel, model_server: ModelServer
) -> None:
    """R11.1, R13.4 shown in the log and to /health; nobody calls for it, and nothing has to be started anew."""
    begin, finish = FAULTS[fault]
    (vector,) = await embedding.embed([fault])
    asked = len(model_server.requests)
    assert await embedding.embed([fault]) == [vector]
    assert len(model_server.requests) == asked
    begin(redis)
    try:
        with capture_logs() as logs:
            for _ in range(2):
                np.testing.assert_allclose(await embedding.embed([fault]), [vector], atol=1e-6)
        assert len(model_server.requests) == asked + 2
        assert {entry["event"] for entry in logs} >= {"cache failed, continuing without it", "circuit opened"}
        assert state(services) != "closed"
    finally:
        finish(redis)
    assert await found_again(services.cache)
    assert state(services) == "closed"


async def test_one_that_was_started_anew_is_used_at_once(redis: RedisServer, services: Services) -> None:
    """R11.1, R13.4 The connections that are left over from before cost no failure."""
    await services.cache.set_many("me", {"a": b"1"}, seconds=60)
    await asyncio.to_thread(redis.stop)
    await asyncio.to_thread(redis.start)
    assert await services.cache.get_many("me", ["a"]) == {}
    await services.cache.set_many("me", {"a": b"2"}, seconds=60)
    assert await services.cache.get_many("me", ["a"]) == {"a": b"2"}

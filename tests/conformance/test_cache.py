"""What every Cache promises, run against each implementation."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from graphrag.cache.redis import RedisCache
from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings, MissingExtra
from graphrag.protocols import Cache
from graphrag.services import Services, open_services
from graphrag.testing.in_memory_store import InMemoryCache
from tests.redis_server import run_redis_server


@pytest.fixture(scope="module")
def redis_server() -> Iterator[str]:
    with run_redis_server() as server:
        yield server.url


@pytest.fixture
async def in_redis(redis_server: str) -> AsyncIterator[Cache]:
    opened = open_services(Settings.from_environment(redis_url=SecretStr(redis_server)))
    yield opened.cache
    await opened.close()


@pytest.fixture
async def redis(redis_server: str) -> AsyncIterator[Redis]:
    """The server itself, to look behind the cache."""
    async with Redis.from_url(redis_server) as client:
        yield client


@pytest.fixture(params=["postgres", "redis", "memory"])
def cache(request: pytest.FixtureRequest) -> Cache:
    match request.param:
        case "postgres":
            services: Services = request.getfixturevalue("services")
            return services.cache
        case "redis":
            in_redis: Cache = request.getfixturevalue("in_redis")
            return in_redis
    return InMemoryCache()


async def test_stored_values_are_returned(cache: Cache, owner: str) -> None:
    """R3.6 any bytes; those that are there, and no others."""
    values = {"a": b"\0\xff", "ñ": b"", "c": bytes(20_000)}
    await cache.set_many(owner, values, seconds=60)
    assert await cache.get_many(owner, ["a", "b", "ñ"]) == {"a": b"\0\xff", "ñ": b""}
    assert await cache.get_many(owner, list(values)) == values


async def test_a_value_is_replaced(cache: Cache, owner: str) -> None:
    await cache.set_many(owner, {"a": b"1", "b": b"1"}, seconds=60)
    await cache.set_many(owner, {"a": b"2"}, seconds=60)
    assert await cache.get_many(owner, ["a", "b"]) == {"a": b"2", "b": b"1"}


async def test_entries_are_isolated_by_owner(cache: Cache, owner: str) -> None:
    """R4.8, security 5"""
    await cache.set_many(owner, {"a": b"mine"}, seconds=60)
    await cache.set_many(f"{owner}-other", {"a": b"theirs"}, seconds=60)
    assert await cache.get_many(owner, ["a"]) == {"a": b"mine"}
    assert await cache.get_many(f"{owner}-third", ["a"]) == {}


async def test_owner_names_cannot_collide(cache: Cache, owner: str) -> None:
    """R4.8 whatever it holds."""
    await cache.set_many(f"{owner}:a", {"b": b"theirs"}, seconds=60)
    await cache.set_many(f"{owner}*", {"b": b"theirs"}, seconds=60)
    assert await cache.get_many(owner, ["a:b", "b", "*:b"]) == {}


async def test_entries_expire(cache: Cache, owner: str) -> None:
    """R3.6"""
    await cache.set_many(owner, {"a": b"1"}, seconds=0)
    await cache.set_many(owner, {"b": b"1"}, seconds=60)
    assert await cache.get_many(owner, ["a", "b"]) == {"b": b"1"}
    await cache.set_many(owner, {"a": b"2"}, seconds=60)
    assert await cache.get_many(owner, ["a"]) == {"a": b"2"}
    await cache.set_many(owner, {"a": b"3"}, seconds=0)
    assert await cache.get_many(owner, ["a"]) == {}


async def test_empty_requests_are_accepted(cache: Cache, owner: str) -> None:
    await cache.set_many(owner, {}, seconds=60)
    assert await cache.get_many(owner, []) == {}


async def test_concurrent_writers_of_the_same_keys_succeed(cache: Cache, owner: str) -> None:
    keys = [f"key-{number}" for number in range(200)]
    orders = [keys, keys[::-1]] * 4
    await asyncio.gather(*(cache.set_many(owner, {key: key.encode() for key in order}, seconds=60) for order in orders))
    assert await cache.get_many(owner, keys) == {key: key.encode() for key in keys}


async def test_what_is_over_is_removed_from_the_database(services: Services, owner: str, postgres: str) -> None:
    """R1.8, R3.6 by the owner's next write; the table does not grow for ever."""
    await services.cache.set_many(owner, {"a": b"1", "b": b"1"}, seconds=0)
    await services.cache.set_many(owner, {"c": b"1"}, seconds=60)
    with psycopg.connect(postgres) as connection:
        rows = connection.execute("SELECT key FROM causeway.cache_entries WHERE owner_id = %s", [owner]).fetchall()
    assert rows == [("c",)]


async def test_redis_keeps_every_entry_for_its_time_alone(in_redis: Cache, redis: Redis, owner: str) -> None:
    """R1.8, R3.6 24 h; what is over it forgets by itself. Among what others keep there, ours is known by its name."""
    await redis.flushdb()
    await in_redis.set_many(owner, {"a": b"1", "ñ:*": b"2"}, seconds=24 * 3600)
    names = [name.decode() for name in await redis.keys() if isinstance(name, bytes)]
    assert sorted(name.split(":", 2)[::2] for name in names) == [["causeway", "a"], ["causeway", "ñ:*"]]
    assert not any(owner in name for name in names)
    left = [await redis.pttl(name) for name in names]
    assert all(23 * 3_600_000 < milliseconds <= 24 * 3_600_000 for milliseconds in left)


async def test_a_connection_that_was_cut_is_made_again(in_redis: Cache, redis: Redis, owner: str) -> None:
    """R11.1: a server started anew, a proxy that tires of waiting."""
    await in_redis.set_many(owner, {"a": b"1"}, seconds=60)
    assert await redis.client_kill_filter(_type="normal", skipme=True) >= 1
    assert await in_redis.get_many(owner, ["a"]) == {"a": b"1"}


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.6 in Redis or PostgreSQL."""
    monkeypatch.setenv("REDIS_URL", "redis://localhost")
    assert isinstance(open_services(Settings.from_environment()).cache, RedisCache)
    monkeypatch.setenv("REDIS_URL", "")
    assert not isinstance(open_services(Settings.from_environment()).cache, RedisCache)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        "http://:secret@localhost",
        "redis://me:secret@localhost:port",
        "redis://:secret@localhost/causeway",
    ],
)
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    """R4.10 validated at start, and not repeated: it may hold a password."""
    with pytest.raises(InvalidSettings, match="REDIS_URL") as caught:
        _ = open_services(Settings.from_environment(redis_url=SecretStr(url))).cache
    assert "secret" not in str(caught.value)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """R3.6 As in a core install."""
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(MissingExtra, match=r"make install WITH=redis"):
        RedisCache("redis://localhost")


async def test_keys_are_deleted_by_prefix(cache: Cache, owner: str) -> None:
    """Security 19 Of this owner, and nothing that merely looks like it to a pattern."""
    values = {"a:1": b"1", "a:2/x": b"2", "b:1": b"3", "a*[x]\\:1": b"4"}
    await cache.set_many(owner, values, seconds=60)
    await cache.set_many(f"{owner}-other", {"a:1": b"theirs"}, seconds=60)
    await cache.forget(owner, "a:")
    await cache.forget(owner, "?:")
    await cache.forget(owner, "%")
    assert await cache.get_many(owner, list(values)) == {"b:1": b"3", "a*[x]\\:1": b"4"}
    assert await cache.get_many(f"{owner}-other", ["a:1"]) == {"a:1": b"theirs"}
    await cache.forget(owner, "a*[x]\\")
    assert await cache.get_many(owner, list(values)) == {"b:1": b"3"}

"""What every Cache promises, run against each implementation."""

import asyncio

import psycopg
import pytest

from graphrag.protocols import Cache
from graphrag.services import Services
from graphrag.testing import InMemoryCache


@pytest.fixture(params=["postgres", "memory"])
def cache(request: pytest.FixtureRequest, services: Services) -> Cache:
    return services.cache if request.param == "postgres" else InMemoryCache()


async def test_what_is_set_is_there(cache: Cache, owner: str) -> None:
    """R3.6 any bytes; those that are there, and no others."""
    values = {"a": b"\0\xff", "ñ": b"", "c": bytes(20_000)}
    await cache.set_many(owner, values, seconds=60)
    assert await cache.get_many(owner, ["a", "b", "ñ"]) == {"a": b"\0\xff", "ñ": b""}
    assert await cache.get_many(owner, list(values)) == values


async def test_a_value_is_replaced(cache: Cache, owner: str) -> None:
    await cache.set_many(owner, {"a": b"1", "b": b"1"}, seconds=60)
    await cache.set_many(owner, {"a": b"2"}, seconds=60)
    assert await cache.get_many(owner, ["a", "b"]) == {"a": b"2", "b": b"1"}


async def test_owners_do_not_meet(cache: Cache, owner: str) -> None:
    """R4.8"""
    await cache.set_many(owner, {"a": b"mine"}, seconds=60)
    await cache.set_many(f"{owner}-other", {"a": b"theirs"}, seconds=60)
    assert await cache.get_many(owner, ["a"]) == {"a": b"mine"}
    assert await cache.get_many(f"{owner}-third", ["a"]) == {}


async def test_nothing_outlives_its_time(cache: Cache, owner: str) -> None:
    """R3.6"""
    await cache.set_many(owner, {"a": b"1"}, seconds=0)
    await cache.set_many(owner, {"b": b"1"}, seconds=60)
    assert await cache.get_many(owner, ["a", "b"]) == {"b": b"1"}
    await cache.set_many(owner, {"a": b"2"}, seconds=60)
    assert await cache.get_many(owner, ["a"]) == {"a": b"2"}


async def test_nothing_asked_and_nothing_set(cache: Cache, owner: str) -> None:
    await cache.set_many(owner, {}, seconds=60)
    assert await cache.get_many(owner, []) == {}


async def test_writers_of_the_same_keys_do_not_hinder_each_other(cache: Cache, owner: str) -> None:
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

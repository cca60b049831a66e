"""Idempotency-Key: a request that is sent again is not done again."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from graphrag.db.database import fetch
from graphrag.db.migrate import SETTINGS
from graphrag.errors import DatabaseUnavailable, IdempotencyConflict
from graphrag.services import Services
from graphrag.stores.postgres.idempotency import IdempotencyKeys
from tests.api.expectations import check_error
from tests.api.uploads import REPORT
from tests.conftest import Server, run_server

TEXTS = {"documents": [{"text": "El horno H2 falló."}]}
AT_ONCE = 8
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database(), RAG_MAX_DOCUMENTS="2") as server:
        yield server


@pytest.fixture
def collection(api: httpx.Client) -> str:
    name = f"notas-{uuid4().hex[:8]}"
    assert api.put(f"/collections/{name}", json={}).status_code == 200
    return name


@pytest.fixture
def key() -> dict[str, str]:
    return {"Idempotency-Key": uuid4().hex}


def send(
    api: httpx.Client, collection: str, name: str, data: str, headers: dict[str, str], **form: Any
) -> httpx.Response:
    files = [("files", (name, data))]
    return api.post("/documents", files=files, data={"collection": collection} | form, headers=headers)


def test_the_same_upload_again_is_answered_as_before(api: httpx.Client, collection: str, key: dict[str, str]) -> None:
    """R9.4 although its boundary is another one; without the key it would say «unchanged»."""
    first = send(api, collection, "a.md", REPORT, key)
    again = send(api, collection, "a.md", REPORT, key)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["documents"][0]["status"] == "uploaded"
    assert again.json() == first.json()
    assert "idempotent-replay" not in first.headers
    assert again.headers["idempotent-replay"] == "true"
    aliased = api.post(
        str(api.base_url).replace("/v1", "") + "documents",
        files=[("files", ("a.md", REPORT))],
        data={"collection": collection},
        headers=key,
    )
    assert aliased.headers["idempotent-replay"] == "true"


def test_another_request_needs_another_key(api: httpx.Client, collection: str, key: dict[str, str]) -> None:
    """R9.4 409: other bytes, another name, another option, another route; nothing of it is done."""
    send(api, collection, "a.md", REPORT, key)
    path = f"/collections/{collection}/documents"
    for answer in (
        send(api, collection, "a.md", REPORT + "x", key),
        send(api, collection, "b.md", REPORT, key),
        send(api, collection, "a.md", REPORT, key, tags=["x"]),
        send(api, collection, "a.md", REPORT, key, metadata='{"a": 1}'),
        send(api, f"{collection}-2", "a.md", REPORT, key),
        api.post(path, json=TEXTS, headers=key),
    ):
        assert check_error(answer, 409, "idempotency_conflict")["details"]["reason"] == "reused"
    assert len(api.get("/documents", params={"collection": collection}).json()["documents"]) == 1


def test_texts_are_stored_once(api: httpx.Client, collection: str, key: dict[str, str]) -> None:
    """R9.3 the answer of the first time, also when the texts are gone again."""
    path = f"/collections/{collection}/documents"
    first = api.post(path, json=TEXTS, headers=key)
    (made,) = first.json()["documents"]
    api.delete(f"/documents/{made['id']}")
    again = api.post(path, json=TEXTS, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotent-replay"] == "true"
    check_error(api.get(f"/documents/{made['id']}"), 404, "document_not_found")


def test_a_request_that_fails_can_be_made_again(api: httpx.Client, collection: str, key: dict[str, str]) -> None:
    """R9.4 what is kept is what was done."""
    path = f"/collections/{collection}/documents"
    three = {"documents": [{"text": f"Nota {number}."} for number in range(3)]}
    check_error(api.post(path, json=three, headers=key), 409, "quota_exceeded")
    check_error(api.post(path, json=three, headers=key), 409, "quota_exceeded")
    check_error(api.post("/collections/nowhere/documents", json=TEXTS, headers=key), 404, "collection_not_found")
    assert api.post(path, json=TEXTS, headers=key).status_code == 201


def test_of_many_at_once_one_is_done(server: Server, api: httpx.Client, collection: str, key: dict[str, str]) -> None:
    """R9.4 the others are told that it is in progress, or its answer."""
    path = f"{server.url}/api/v1/collections/{collection}/documents"
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sent = [pool.submit(httpx.post, path, json=TEXTS, headers=key, timeout=30) for _ in range(AT_ONCE)]
        answers = [future.result() for future in sent]
    done = [answer for answer in answers if answer.status_code == 201]
    assert len([answer for answer in done if "idempotent-replay" not in answer.headers]) == 1
    assert len({answer.text for answer in done}) == 1
    for answer in answers:
        if answer not in done:
            assert check_error(answer, 409, "idempotency_conflict")["details"]["reason"] == "running"


@pytest.mark.parametrize("value", ["", "a b", "x" * 256, "ñ", "a\tb"])
def test_a_key_that_is_none_is_refused(api: httpx.Client, collection: str, value: str) -> None:
    """R9.4"""
    answer = send(api, collection, "a.md", REPORT, {"Idempotency-Key": value.encode("latin-1")})  # type: ignore[dict-item]
    check_error(answer, 422, "invalid_request")


@pytest.fixture
def keys(services: Services) -> IdempotencyKeys:
    return IdempotencyKeys(services.database, services.documents.queue.defer_forgetting_keys)


async def one() -> dict[str, Any]:
    return {"answer": 1}


async def two() -> dict[str, Any]:
    return {"answer": 2}


async def test_while_one_is_at_it_the_other_is_told(keys: IdempotencyKeys, owner: str) -> None:
    """R9.4 however long it takes: the key is held, and held anew before that ends."""
    held = replace(keys, claim_duration=timedelta(seconds=2))
    started, may_end = asyncio.Event(), asyncio.Event()

    async def slow() -> dict[str, Any]:
        started.set()
        await may_end.wait()
        return {"answer": 1}

    first = asyncio.create_task(held.once(owner, "k", "hash", slow))
    await started.wait()
    async with asyncio.timeout(WAIT_SECONDS):
        at_first = await held_until(keys, owner)
        while await held_until(keys, owner) < at_first + held.claim_duration:
            await asyncio.sleep(0.05)
    with pytest.raises(IdempotencyConflict) as conflict:
        await keys.once(owner, "k", "hash", two)
    assert conflict.value.details["reason"] == "running"
    may_end.set()
    assert await first == ({"answer": 1}, False)
    assert await keys.once(owner, "k", "hash", two) == ({"answer": 1}, True)


async def held_until(keys: IdempotencyKeys, owner: str) -> datetime:
    async with keys.database.transaction(owner) as connection:
        (row,) = await fetch(connection, "SELECT held_until FROM idempotency_keys", {})
    found: datetime = row["held_until"]
    return found


async def test_a_process_that_dies_leaves_its_key_after_a_while(keys: IdempotencyKeys, owner: str) -> None:
    """R9.4 what it then still says is not kept."""
    dead = {"owner_id": owner, "key": "k", "holder": uuid4(), "claim_duration": timedelta(hours=1)}
    assert await keys._claim(dead, "hash")
    with pytest.raises(IdempotencyConflict, match="in progress"):
        await keys.once(owner, "k", "hash", one)
    async with keys.database.transaction(owner) as connection:
        await connection.execute("UPDATE idempotency_keys SET held_until = now()")
    assert await keys.once(owner, "k", "hash", one) == ({"answer": 1}, False)
    await keys._execute("release", dead)
    assert await keys.once(owner, "k", "hash", two) == ({"answer": 1}, True)


async def test_what_breaks_is_not_kept(keys: IdempotencyKeys, owner: str) -> None:
    """R9.4 a server error, or a request that was broken off."""

    async def broken() -> dict[str, Any]:
        raise ConnectionError("on purpose")

    with pytest.raises(ConnectionError):
        await keys.once(owner, "k", "hash", broken)
    begun = asyncio.Event()

    async def endless() -> dict[str, Any]:
        begun.set()
        await asyncio.sleep(3600)
        return {}

    stuck = asyncio.create_task(keys.once(owner, "k", "hash", endless))
    await begun.wait()
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    assert await keys.once(owner, "k", "other", two) == ({"answer": 2}, False)


async def test_a_key_whose_end_can_t_be_planned_is_free_again(keys: IdempotencyKeys, owner: str) -> None:
    """R9.4 nothing was done with it."""

    async def down(_: str, at: datetime) -> None:
        raise DatabaseUnavailable("on purpose")

    with pytest.raises(DatabaseUnavailable):
        await replace(keys, plan_purge=down).once(owner, "k", "hash", one)
    assert await keys.once(owner, "k", "other", two) == ({"answer": 2}, False)


async def test_a_key_is_its_owner_s(keys: IdempotencyKeys, owner: str) -> None:
    """R4.8 another's key of the same name says nothing of theirs."""
    assert await keys.once(owner, "k", "hash", one) == ({"answer": 1}, False)
    assert await keys.once(f"other-{owner}", "k", "other", two) == ({"answer": 2}, False)
    assert await keys.once(owner, "k", "hash", two) == ({"answer": 1}, True)


async def test_keys_are_forgotten_after_a_day(services: Services, keys: IdempotencyKeys, owner: str) -> None:
    """R9.4, security 19: an old key is new again; what was kept is deleted by a job, planned for when it is old."""
    planned: list[datetime] = []

    async def plan(_: str, at: datetime) -> None:
        planned.append(at)

    watched = replace(keys, plan_purge=plan)
    await watched.once(owner, "old", "hash", one)
    await watched.once(owner, "young", "hash", one)
    await keys.once(owner, "young", "hash", one)
    statement = "UPDATE idempotency_keys SET expires_at = now() WHERE key = 'old' RETURNING created_at"
    async with services.database.transaction(owner) as connection:
        (row,) = await fetch(connection, statement, {})
    assert planned[0] - row["created_at"] == timedelta(hours=24)
    assert await watched.once(owner, "old", "other", two) == ({"answer": 2}, False)
    async with services.database.transaction(owner) as connection:
        await fetch(connection, statement, {})
    planned.clear()
    await watched.purge(owner)
    async with services.database.transaction(owner) as connection:
        rows = await fetch(connection, "SELECT key, expires_at FROM idempotency_keys", {})
    assert [row["key"] for row in rows] == ["young"]
    assert planned == [rows[0]["expires_at"]]


async def test_one_job_forgets_them(services: Services, keys: IdempotencyKeys, owner: str) -> None:
    """R9.4 planned once, in the queue that the worker reads."""
    for number in range(3):
        await keys.once(owner, f"k{number}", "hash", one)
    due = """
        UPDATE causeway.procrastinate_jobs SET scheduled_at = now()
        WHERE task_name = 'forget_idempotency_keys' AND args ->> 'owner_id' = %(owner)s RETURNING id
    """
    async with services.database.transaction(owner) as connection:
        await connection.execute("UPDATE idempotency_keys SET expires_at = now()")
    # An owner changes no job, and the clock takes too long.
    async with services.database.maintenance() as connection, connection.transaction():
        await connection.execute(SETTINGS)  # triggers of the queue name no schema
        assert len(await fetch(connection, due, {"owner": owner})) == 1
    async with services.documents.queue.working(services.jobs), asyncio.timeout(WAIT_SECONDS):
        while await count_keys(services, owner):
            await asyncio.sleep(0.05)


async def count_keys(services: Services, owner: str) -> int:
    async with services.database.transaction(owner) as connection:
        return len(await fetch(connection, "SELECT FROM idempotency_keys", {}))

"""A thousand clients that follow the progress of documents at the same time, and somebody else who asks."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, aclosing
from typing import cast

import httpx
import psutil
import pytest

from tests.api.identities import make_keys_in, make_owners_in, shown
from tests.benchmarks.streams import running
from tests.conftest import PATIENT, Server, run_server

pytestmark = pytest.mark.slow
OWNERS, STREAMS_OF_EACH = 10, 100
MOST_MEGABYTES = 100  # of a thousand streams
ASKED_AT_ONCE = 25


@pytest.fixture(scope="module")
def followed(make_database: Callable[[], str]) -> Iterator[tuple[Server, list[str]]]:
    """A service whose documents wait for a worker that there is not, and keys: a monitor's, then the owners'."""
    database = make_database()
    keys = [make_keys_in(database).metrics_of_a, *make_owners_in(database, OWNERS + 1)]
    unlimited = dict.fromkeys(["RAG_RATE_PER_MINUTE", "RAG_REQUESTS_PER_OWNER"], "0")
    settings = {"RAG_AUTH": "api_key", "RAG_WORKER": "false", "RAG_STREAM_GRACE_SECONDS": "1", **unlimited, **PATIENT}
    with run_server(DATABASE_URL=database, **settings) as server:
        yield server, keys


async def test_a_thousand_streams_are_in_nobodys_way(followed: tuple[Server, list[str]]) -> None:
    """Security 16, R11.1: a neighbour is answered, each stream costs less than 100 kB, and once their clients have
    left, nothing remains of them.
    """
    server, (monitor, neighbour, *keys) = followed
    process = psutil.Process(server.process.pid)
    limits = httpx.Limits(max_connections=None)
    async with AsyncExitStack() as stack:
        quiet = await stack.enter_async_context(
            httpx.AsyncClient(base_url=server.url, headers=shown(neighbour), timeout=60)
        )
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits))
        paths = [(await waiting_document(client, key), key) for key in keys]
        megabytes, files = process.memory_info().rss / 1e6, process.num_fds()
        streams = [stream for stream in paths for _ in range(STREAMS_OF_EACH)]
        async with AsyncExitStack() as opened:
            for start in range(0, len(streams), ASKED_AT_ONCE):
                await asyncio.gather(*(follow(opened, client, *of) for of in streams[start : start + ASKED_AT_ONCE]))
            with server.client(**shown(monitor)) as asking:
                assert running(asking) == OWNERS * STREAMS_OF_EACH
            (await quiet.get("/api/v1/collections")).raise_for_status()
            assert process.memory_info().rss / 1e6 - megabytes < MOST_MEGABYTES
        deadline = time.monotonic() + 120
        while process.num_fds() > files + 20:
            assert time.monotonic() < deadline, (files, process.num_fds())
            await asyncio.sleep(0.2)
        with server.client(**shown(monitor)) as asking:
            while running(asking):
                assert time.monotonic() < deadline, running(asking)
                await asyncio.sleep(0.2)


async def waiting_document(client: httpx.AsyncClient, key: str) -> str:
    files = [("files", ("note.txt", b"Oven H2 stopped."))]
    answer = await client.post("/api/v1/documents", files=files, headers=shown(key))
    return f"/api/v1/documents/{answer.raise_for_status().json()['documents'][0]['id']}/events"


async def follow(opened: AsyncExitStack, client: httpx.AsyncClient, path: str, key: str) -> None:
    """Open a stream and read its first event."""
    response = await opened.enter_async_context(client.stream("GET", path, headers=shown(key)))
    assert response.status_code == 200, await response.aread()
    lines = cast(AsyncGenerator[str, None], response.aiter_lines())
    await opened.enter_async_context(aclosing(lines))  # which ends the response, too
    while not (await anext(lines)).startswith("data:"):
        pass

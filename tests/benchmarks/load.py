"""The service under load: one process, then two of which one is killed in the middle.

python -m tests.benchmarks.load --seconds 60

Server processes with an embedded PostgreSQL, the demo documents among distractors; clients, servers and database share
this machine's processors. GET /health comes at a rate, whatever becomes of it, and is timed from when it was due;
searches come from clients that each wait for their answer. Two processes stand behind a balancer in the client, which
asks the other where one fails. Files are uploaded meanwhile: those that were accepted must all be indexed at the end.
"""

import argparse
import asyncio
import itertools
import logging
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from graphrag.observability.telemetry import configure_logging
from tests.benchmarks.measuring import percentile
from tests.benchmarks.streams import COLLECTION, QUESTIONS, fill
from tests.conftest import DEMO, Server, run_default_server

HEALTH_A_SECOND = 200
CLIENTS = 8
TOP_K = 10
UPLOAD_EVERY_SECONDS, FILES_AT_ONCE = 1.0, 5
INGESTED_SECONDS = 120
# Every question is searched for anew; a day's uploads fit into a collection.
SETTINGS = {"RAG_QUERY_CACHE_SECONDS": "0", "RAG_MAX_DOCUMENTS": "100000"}


class Balancer:
    """One server after the other; where one fails, the next. Nothing that is sent does harm when it comes twice."""

    def __init__(self, client: httpx.AsyncClient, urls: Sequence[str]) -> None:
        self.retried = 0
        self._client, self._urls = client, urls
        self._turns = itertools.count()

    async def send(self, method: str, path: str, **content: Any) -> httpx.Response:
        """Raises httpx.TransportError where none answers."""
        first = next(self._turns)
        for attempt in range(len(self._urls)):
            url = self._urls[(first + attempt) % len(self._urls)]
            try:
                return await self._client.request(method, url + path, **content)
            except httpx.TransportError:
                if attempt + 1 == len(self._urls):
                    raise
                self.retried += 1
        raise AssertionError("no server")


@dataclass
class Load:
    """What came of requests."""

    milliseconds: list[float] = field(default_factory=list)  # of those that were answered well
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    async def measure(self, request: Callable[[], Awaitable[httpx.Response]], *, due: float) -> None:
        """Timed from the moment, of time.perf_counter, at which it was due."""
        try:
            response = await request()
        except httpx.HTTPError as exc:
            self.errors[type(exc).__name__] += 1
            return
        if response.is_success:
            self.milliseconds.append((time.perf_counter() - due) * 1000)
        else:
            self.errors[str(response.status_code)] += 1

    def __str__(self) -> str:
        if not self.milliseconds:
            return f"nothing was answered: {dict(self.errors)}"
        p50, p95, p99 = (percentile(self.milliseconds, share) for share in (0.5, 0.95, 0.99))
        errors = ", ".join(f"{count} × {name}" for name, count in self.errors.items()) or "none"
        rate = len(self.milliseconds) / self.seconds
        speed = f"{rate:.1f}/s, p50 {p50:.1f} p95 {p95:.1f} p99 {p99:.1f} ms"
        return f"{len(self.milliseconds)} requests, {speed}; errors: {errors}"


async def at_a_rate(request: Callable[[], Awaitable[httpx.Response]], *, a_second: float, seconds: float) -> Load:
    """Open loop: one that is slow holds none of the others up."""
    load, started = Load(), time.perf_counter()
    async with asyncio.TaskGroup() as requests:
        for number in range(round(a_second * seconds)):
            due = started + number / a_second
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            requests.create_task(load.measure(request, due=due))
    load.seconds = time.perf_counter() - started
    return load


async def by_clients(request: Callable[[], Awaitable[httpx.Response]], *, clients: int, seconds: float) -> Load:
    """Closed loop: each asks again when it has its answer."""
    load, started = Load(), time.perf_counter()

    async def ask() -> None:
        while (due := time.perf_counter()) < started + seconds:
            await load.measure(request, due=due)

    await asyncio.gather(*(ask() for _ in range(clients)))
    load.seconds = time.perf_counter() - started
    return load


@dataclass
class Uploads:
    """Files that come while there is load."""

    balancer: Balancer
    collection: str
    accepted: list[str] = field(default_factory=list)  # documents
    refused: Counter[str] = field(default_factory=Counter)

    async def keep_coming(self) -> None:
        for start in itertools.count(step=FILES_AT_ONCE):
            files = [("files", _note(number)) for number in range(start, start + FILES_AT_ONCE)]
            try:
                response = await self.balancer.send(
                    "POST", "/api/v1/documents", files=files, data={"collection": self.collection}
                )
            except httpx.HTTPError as exc:
                self.refused[type(exc).__name__] += 1
            else:
                if response.status_code == httpx.codes.ACCEPTED:
                    self.accepted += [document["id"] for document in response.json()["documents"]]
                else:
                    self.refused[str(response.status_code)] += 1
            await asyncio.sleep(UPLOAD_EVERY_SECONDS)

    async def states(self) -> Counter[str]:
        """Of the accepted ones, once none is on its way any more."""
        deadline = time.monotonic() + INGESTED_SECONDS
        while True:
            states = Counter([await self._state(document) for document in self.accepted])
            if not states.keys() & {"uploaded", "processing"} or time.monotonic() > deadline:
                return states
            await asyncio.sleep(1)

    async def _state(self, document: str) -> str:
        response = await self.balancer.send("GET", f"/api/v1/documents/{document}")
        return str(response.json()["status"]) if response.is_success else f"HTTP {response.status_code}"


def _note(number: int) -> tuple[str, bytes]:
    return f"nota-{number}.txt", f"La nota {number} dice que la caldera {number} marcó {number} grados.".encode()


def search(balancer: Balancer, path: str) -> Callable[[], Awaitable[httpx.Response]]:
    """The questions by turns."""
    questions = itertools.cycle(QUESTIONS)

    def send() -> Awaitable[httpx.Response]:
        question = next(questions)
        if path.endswith("/chat"):
            return balancer.send("POST", path, json={"message": question, "collection": COLLECTION})
        return balancer.send("POST", path, json={"query": question, "collection": COLLECTION, "top_k": TOP_K})

    return send


async def measure_health(balancer: Balancer, seconds: float) -> Load:
    return await at_a_rate(lambda: balancer.send("GET", "/health"), a_second=HEALTH_A_SECOND, seconds=seconds)


async def measure_searches(balancer: Balancer, path: str, seconds: float) -> Load:
    request = search(balancer, path)
    for _ in QUESTIONS:
        await request()  # what is loaded at the first use is no load
    load = await by_clients(request, clients=CLIENTS, seconds=seconds)
    assert load.milliseconds, load
    return load


async def measure_one(server: Server, path: str, seconds: float) -> None:
    async with _client() as client:
        balancer = Balancer(client, [server.url])
        print(f"one process, /health: {await measure_health(balancer, seconds)}", flush=True)
        print(f"one process, {path}: {await measure_searches(balancer, path, seconds)}", flush=True)


async def measure_with_a_kill(servers: Sequence[Server], path: str, seconds: float, *, collection: str) -> None:
    """Of the last server, when half of the time is over; health, searches and uploads at the same time."""
    async with _client() as client:
        balancer = Balancer(client, [server.url for server in servers])
        uploads = Uploads(balancer, collection)
        coming = asyncio.create_task(uploads.keep_coming())
        asyncio.get_running_loop().call_later(seconds / 2, servers[-1].process.send_signal, signal.SIGKILL)
        health, searches = await asyncio.gather(
            measure_health(balancer, seconds), measure_searches(balancer, path, seconds)
        )
        coming.cancel()
        with suppress(asyncio.CancelledError):
            await coming
        print(f"two processes, one killed, /health: {health}", flush=True)
        print(f"two processes, one killed, {path}: {searches}", flush=True)
        states = await uploads.states()
        refused = f"; refused: {dict(uploads.refused)}" if uploads.refused else ""
        print(
            f"asked again: {balancer.retried}; of {len(uploads.accepted)} uploads: {dict(states)}{refused}", flush=True
        )


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(timeout=30, limits=httpx.Limits(max_connections=None, max_keepalive_connections=None))


def report(home: Path, path: str, seconds: float) -> None:
    environment = {"CAUSEWAY_HOME": str(home), **SETTINGS}
    arguments = ("--collection", COLLECTION)
    with run_default_server(*arguments, "--ingest", str(DEMO), **environment) as server:
        asyncio.run(measure_one(server, path, seconds))
    with ExitStack() as stack:
        servers = [stack.enter_context(run_default_server(*arguments, **environment)) for _ in range(2)]
        collection = f"uploads-{time.time_ns()}"
        asyncio.run(measure_with_a_kill(servers, path, seconds, collection=collection))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="of each load")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument(
        "--path", default="/api/v1/retrieve", help="of the searches; one that ends in /chat is asked so"
    )
    parser.add_argument("--home", type=Path, help="a folder that keeps the documents; without it, a temporary one")
    given = parser.parse_args()
    configure_logging("ERROR")
    logging.getLogger().setLevel("ERROR")  # httpx tells every request
    with tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp") as temporary:
        home = given.home or Path(temporary)
        asyncio.run(fill(home, given.chunks))
        report(home, given.path, given.seconds)


if __name__ == "__main__":
    main()

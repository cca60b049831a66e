"""A neighbour's waits while one owner floods each operation of the API in turn.

python -m tests.benchmarks.fairness [WORD…] --seconds 30

A server process with an embedded PostgreSQL and two owners. The clients of one send the same request again and again
from a process of their own, without a limit of their rate; the neighbour reads a document and searches, one after the
other. Clients, server and database share this machine's processors. WORD: operations that contain it, as
"GET /api/v1/documents"; all by default.
"""

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import httpx

from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.migrate import migrate
from tests.api.identities import Keys, make_keys_in
from tests.benchmarks.measuring import percentile
from tests.conftest import Server, run_default_server
from tests.security.operations import Operation, operations
from tests.security.resources import make_resources

CLIENTS = 32
PAUSE_SECONDS = 0.02  # between the neighbour's requests
UNLIMITED = dict.fromkeys(["RAG_RATE_PER_MINUTE", "RAG_ANSWERS_PER_MINUTE"], "0")


@dataclass
class Waits:
    """The neighbour's, in milliseconds."""

    read: list[float] = field(default_factory=list)
    search: list[float] = field(default_factory=list)
    failed: Counter[int] = field(default_factory=Counter)

    def p95(self) -> tuple[float, float]:
        return percentile(self.read, 0.95), percentile(self.search, 0.95)


@dataclass(frozen=True)
class Neighbours:
    """Two owners of one server, each with a collection that has something of every kind."""

    server: Server
    keys: Keys
    flooded: Mapping[str, Any]
    quiet: Mapping[str, Any]

    def wait(self, seconds: float) -> Waits:
        """Ask as the neighbour for so long."""
        waits, until = Waits(), time.monotonic() + seconds
        name = self.quiet["name"]
        with self.server.client(Authorization=f"Bearer {self.keys.b}") as client:
            while time.monotonic() < until or not waits.search:
                for found, method, path, body in (
                    (waits.read, "GET", f"/api/v1/documents/{self.quiet['document_id']}", None),
                    (waits.search, "POST", "/api/v1/search", {"query": "¿Qué perdió?", "collection": name}),
                ):
                    began = time.perf_counter()
                    response = client.request(method, path, json=body)
                    found.append((time.perf_counter() - began) * 1000)
                    waits.failed[response.status_code] += not response.is_success
                    time.sleep(PAUSE_SECONDS)
        return waits

    @contextmanager
    def flood(self, operation: Operation) -> Iterator[None]:
        """Flood an operation as the other owner from another process."""
        request = operation.request(self.flooded, key=self.keys.a)
        context = multiprocessing.get_context("spawn")
        has_begun = context.Event()
        process = context.Process(target=_flood, args=(self.server.url, request, has_begun), daemon=True)
        process.start()
        try:
            assert has_begun.wait(60)
            yield
        finally:
            process.kill()
            process.join()


@contextmanager
def neighbours(database: str) -> Iterator[Neighbours]:
    keys = make_keys_in(database)
    with run_default_server(DATABASE_URL=database, RAG_AUTH="api_key", **UNLIMITED) as server:
        yield Neighbours(server, keys, make_resources(server, keys.a), make_resources(server, keys.b))


def floodable() -> list[Operation]:
    """Operations that can be asked for again and again, the same each time."""
    return [each for each in operations() if each.scopes and "metrics" not in each.scopes and not each.is_harmful]


def _flood(url: str, request: dict[str, Any], has_begun: Event) -> None:
    asyncio.run(_ask_forever(url, request, has_begun))


async def _ask_forever(url: str, request: dict[str, Any], has_begun: Event) -> None:
    limits = httpx.Limits(max_connections=CLIENTS)

    async def ask() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
            while True:
                with suppress(httpx.HTTPError):
                    response = await client.request(**request)
                    has_begun.set()
                    if response.status_code in (429, 503):  # as it is told to, but never for long
                        await asyncio.sleep(0.1)

    await asyncio.gather(*(ask() for _ in range(CLIENTS)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", default=[""])
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    chosen = [each for each in floodable() if any(word in str(each) for word in options.words)]
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        embedded = EmbeddedPostgres(Path(home))
        url = embedded.start()
        try:
            migrate(url)
            with neighbours(url) as both:
                both.wait(2)
                rest = both.wait(options.seconds).p95()
                print("| flooded | read p95, ms | search p95, ms | × at rest |\n|---|---|---|---|")
                print(f"| nothing | {rest[0]:.0f} | {rest[1]:.0f} | |", flush=True)
                for operation in chosen:
                    with both.flood(operation):
                        waits = both.wait(options.seconds)
                    read, search = waits.p95()
                    times = f"{read / rest[0]:.1f}, {search / rest[1]:.1f}"
                    print(f"| {operation} | {read:.0f} | {search:.0f} | {times} | {dict(+waits.failed)}", flush=True)
        finally:
            embedded.stop()


if __name__ == "__main__":
    main()

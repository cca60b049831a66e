"""The service under load while its database stops and starts again, or hangs for a while.

python -m tests.benchmarks.outage --seconds 60 --away 8

A server process over a PostgreSQL of its own, in which the demo documents lie. Clients search, ask and look at /health,
each as soon as it has its answer, and files are uploaded; in the middle the database is away. All share this machine.
"""

import argparse
import asyncio
import logging
import math
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import httpx

from graphrag.observability.telemetry import configure_logging
from tests.benchmarks.load import INGESTED_SECONDS, SETTINGS
from tests.benchmarks.streams import COLLECTION, QUESTIONS
from tests.conftest import DEMO, run_default_server
from tests.own_postgres import OwnPostgres, run_postgres

SEARCHING, ASKING, LOOKING = 4, 1, 1  # clients
BREATH_SECONDS = 0.02  # between an answer and the next request: a refusal takes no time
UPLOAD_EVERY_SECONDS = 0.5
UPLOADS = "uploads"
Fault = Literal["stop", "freeze"]


@dataclass(frozen=True, slots=True)
class Request:
    kind: str
    sent: float  # of time.perf_counter
    seconds: float
    status: str

    @property
    def is_well(self) -> bool:
        return self.status.startswith("2")


@dataclass
class Outage:
    """What came of all requests, and when the database was away."""

    requests: list[Request] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)  # filenames that were accepted
    states: Counter[str] = field(default_factory=Counter)  # of these, at the end
    gone: float = 0.0
    back: float = 0.0

    async def keep(
        self,
        kind: str,
        ask: Callable[[int], Awaitable[httpx.Response]],
        *,
        until: float,
        breath: float = BREATH_SECONDS,
    ) -> None:
        number = 0
        while (sent := time.perf_counter()) < until:
            try:
                response = await ask(number)
                status = str(response.status_code)
                if kind == "health" and response.json()["database"] != "ok":
                    status = "200 degraded"
            except httpx.HTTPError as exc:
                status = type(exc).__name__
            self.requests.append(Request(kind, sent, time.perf_counter() - sent, status))
            number += 1
            await asyncio.sleep(breath)

    async def happen(self, postgres: OwnPostgres, fault: Fault, *, after: float, seconds: float) -> None:
        await asyncio.sleep(after)
        leave, come_back = (postgres.stop, postgres.start) if fault == "stop" else (postgres.freeze, postgres.thaw)
        self.gone = time.perf_counter()
        await asyncio.to_thread(leave)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(come_back)
        self.back = time.perf_counter()

    @property
    def recovered(self) -> float:
        """When a search was first answered again."""
        ends = (each.sent + each.seconds for each in self._searches() if each.sent > self.gone)
        return min(ends, default=math.inf)

    def _searches(self) -> Iterable[Request]:
        return (each for each in self.requests if each.kind == "search" and each.is_well)

    def before(self) -> list[Request]:
        return [each for each in self.requests if each.sent + each.seconds < self.gone]

    def meanwhile(self) -> list[Request]:
        return [each for each in self.requests if each.sent < self.recovered and each.sent + each.seconds >= self.gone]

    def afterwards(self) -> list[Request]:
        return [each for each in self.requests if each.sent >= self.recovered]


async def measure(url: str, postgres: OwnPostgres, fault: Fault, *, seconds: float, away: float) -> Outage:
    outage = Outage()
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        await asyncio.gather(*(search(client, number) for number in range(len(QUESTIONS))))  # a first use is no load
        until = time.perf_counter() + seconds
        kinds: Sequence[tuple[str, int, Callable[..., Awaitable[httpx.Response]]]] = (
            ("search", SEARCHING, search),
            ("chat", ASKING, chat),
            ("health", LOOKING, lambda client, _: client.get("/health")),
        )
        await asyncio.gather(
            outage.happen(postgres, fault, after=seconds / 3, seconds=away),
            upload(client, outage, until=until),
            *(outage.keep(kind, partial(ask, client), until=until) for kind, count, ask in kinds for _ in range(count)),
        )
        outage.states = await states(client, outage.uploads)
    return outage


def search(client: httpx.AsyncClient, number: int) -> Awaitable[httpx.Response]:
    question = QUESTIONS[number % len(QUESTIONS)]
    return client.post("/api/v1/retrieve", json={"query": question, "collection": COLLECTION})


def chat(client: httpx.AsyncClient, number: int) -> Awaitable[httpx.Response]:
    question = QUESTIONS[number % len(QUESTIONS)]
    return client.post("/api/v1/chat", json={"message": question, "collection": COLLECTION})


async def upload(client: httpx.AsyncClient, outage: Outage, *, until: float) -> None:
    async def send(number: int) -> httpx.Response:
        note = (f"nota-{number}.txt", f"La nota {number} dice que la caldera marcó {number} grados.".encode())
        response = await client.post("/api/v1/documents", files=[("files", note)], data={"collection": UPLOADS})
        if response.status_code == httpx.codes.ACCEPTED:
            outage.uploads.append(note[0])
        return response

    await outage.keep("upload", send, until=until, breath=UPLOAD_EVERY_SECONDS)


async def states(client: httpx.AsyncClient, filenames: Sequence[str]) -> Counter[str]:
    """Of these, once none is on its way any more."""
    deadline = time.monotonic() + INGESTED_SECONDS
    while True:
        known: dict[str, str] = {}
        asked: dict[str, Any] = {"collection": UPLOADS, "limit": 200}
        while "cursor" not in asked or asked["cursor"]:
            page = (await client.get("/api/v1/documents", params=asked)).raise_for_status().json()
            known |= {document["filename"]: document["status"] for document in page["documents"]}
            asked["cursor"] = page["next_cursor"]
        found = Counter(known.get(name, "not there") for name in filenames)
        if set(found) <= {"indexed", "error"} or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.5)


def told(requests: Sequence[Request]) -> str:
    """By kind: how many of which status, and the slowest."""
    parts = []
    for kind in dict.fromkeys(each.kind for each in requests):
        ours = [each for each in requests if each.kind == kind]
        counts = ", ".join(f"{count} × {status}" for status, count in Counter(each.status for each in ours).items())
        parts.append(f"{kind}: {counts}, slowest {max(each.seconds for each in ours):.2f} s")
    return "; ".join(parts)


def report(fault: Fault, outage: Outage) -> None:
    print(f"{fault}: the database was away for {outage.back - outage.gone:.1f} s")
    print(f"  before: {told(outage.before())}")
    print(f"  meanwhile: {told(outage.meanwhile())}")
    if outage.recovered < math.inf:
        print(f"  first search that was answered: {outage.recovered - outage.back:.2f} s after it was back")
        print(f"  afterwards: {told(outage.afterwards())}")
    else:
        print("  no search was answered until the end: it takes more than so many --seconds")
    print(f"  {len(outage.uploads)} uploads that were accepted: {dict(outage.states)}", flush=True)


def run(fault: Fault, *, seconds: float, away: float) -> Outage:
    with run_postgres() as postgres, tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp") as home:
        environment = {"DATABASE_URL": postgres.url, "CAUSEWAY_HOME": home, **SETTINGS}
        with run_default_server("--collection", COLLECTION, "--ingest", str(DEMO), **environment) as server:
            return asyncio.run(measure(server.url, postgres, fault, seconds=seconds, away=away))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--away", type=float, default=8, help="seconds")
    given = parser.parse_args()
    configure_logging("ERROR")
    logging.disable(logging.WARNING)
    faults: tuple[Fault, ...] = ("stop", "freeze")
    for fault in faults:
        report(fault, run(fault, seconds=given.seconds, away=given.away))


if __name__ == "__main__":
    main()

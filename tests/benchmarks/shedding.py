"""What the limits of load are good for: the same clients with them and without, by turns.

python -m tests.benchmarks.shedding --seconds 10

Two server processes over an embedded PostgreSQL, the demo documents among distractors; clients, servers and database
share this machine's processors. Clients wait for their answer and ask again; who is refused waits as long as it is told
to. An answer is good when it comes within five seconds.
"""

import argparse
import asyncio
import itertools
import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from graphrag.observability.telemetry import configure_logging
from tests.benchmarks.load import SETTINGS
from tests.benchmarks.measuring import percentile
from tests.benchmarks.streams import COLLECTION, QUESTIONS, fill
from tests.conftest import DEMO, run_default_server

GOOD_SECONDS = 5.0
ROUNDS = 2
WARM_UP_SECONDS = 5.0
WITHOUT = {"RAG_MAX_SEARCHES": "100000", "RAG_LOAD_QUEUE_SECONDS": "100000", "RAG_PREPARATION_SECONDS": "100000"}


@dataclass
class Came:
    """Of what all clients asked."""

    lasted: float = 0.0  # seconds, to the last answer
    seconds: list[float] = field(default_factory=list)  # of each answer
    simpler: int = 0
    refused: int = 0
    failed: int = 0

    def line(self, name: str) -> str:
        answered = len(self.seconds)
        asked = max(1, answered + self.refused + self.failed)
        good = sum(seconds <= GOOD_SECONDS for seconds in self.seconds)
        p50, p95, p99 = (percentile(self.seconds or [float("nan")], share) for share in (0.5, 0.95, 0.99))
        return (
            f"| {name} | {answered / self.lasted:.1f} | {good / self.lasted:.1f} | {p50:.2f} | {p95:.2f} | {p99:.2f} "
            f"| {self.simpler / max(1, answered):.2f} | {self.refused / asked:.2f} | {self.failed / asked:.2f} |"
        )


async def ask(client: httpx.AsyncClient, path: str, question: str, came: Came) -> float:
    """Seconds to wait before the next one."""
    asked = {"message": question} if path.endswith("/chat") else {"query": question}
    began = time.perf_counter()
    response = await client.post(path, json={**asked, "collection": COLLECTION})
    if told := response.headers.get("retry-after"):  # a database that is not reached in time is another 503
        came.refused += 1
        return float(told)
    if response.is_success:
        came.seconds.append(time.perf_counter() - began)
        came.simpler += "load" in response.json()["degraded"]
    else:
        came.failed += 1
    return 0.0


async def measure(url: str, path: str, clients: int, seconds: float, came: Came) -> None:
    questions: Iterator[str] = itertools.cycle(QUESTIONS)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=300, limits=limits) as client:
        began = time.perf_counter()

        async def keep_asking() -> None:
            while (left := began + seconds - time.perf_counter()) > 0:
                wait = await ask(client, path, next(questions), came)
                await asyncio.sleep(min(wait, left))

        await asyncio.gather(*(keep_asking() for _ in range(clients)))
        came.lasted += time.perf_counter() - began


def report(home: Path, path: str, *, clients: Sequence[int], seconds: float) -> None:
    print(
        f"{path}\n\n| clients | answers/s | good/s | p50 s | p95 s | p99 s | simpler | refused | failed |", flush=True
    )
    print("|---|---|---|---|---|---|---|---|---|")
    arguments = ("--collection", COLLECTION, "--ingest", str(DEMO))
    environment = {"CAUSEWAY_HOME": str(home), **SETTINGS}
    with (
        run_default_server(*arguments, **environment) as limited,
        run_default_server(*arguments, **environment, **WITHOUT) as free,
    ):
        servers = {"without limits": free.url, "with": limited.url}
        for url in servers.values():
            asyncio.run(measure(url, path, 1, WARM_UP_SECONDS, Came()))  # what is loaded at the first use is no load
        for count in clients:
            came = {name: Came() for name in servers}
            for _ in range(ROUNDS):
                for name, url in servers.items():
                    asyncio.run(measure(url, path, count, seconds / ROUNDS, came[name]))
            for name, of_all in came.items():
                assert of_all.seconds, f"{count} clients, {name}: nothing was answered"
                print(of_all.line(f"{count}, {name}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="of each load")
    parser.add_argument("--clients", type=int, nargs="+", default=(1, 8, 32, 100), help="of each load, in turn")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--path", default="/api/v1/chat", help="or /api/v1/retrieve")
    parser.add_argument("--home", type=Path, help="a folder that keeps the documents; without it, a temporary one")
    given = parser.parse_args()
    configure_logging("ERROR")
    logging.getLogger().setLevel("ERROR")  # httpx tells every request
    with tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp") as temporary:
        home = given.home or Path(temporary)
        asyncio.run(fill(home, given.chunks))
        report(home, given.path, clients=given.clients, seconds=given.seconds)


if __name__ == "__main__":
    main()

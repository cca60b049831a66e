"""What logs, metrics and traces cost a request: two services over one database, one silent, one that tells everything.

python -m tests.benchmarks.observability --rounds 20

The same requests go to both in turns. The processor time of the service's process is the robust figure, most of all
that of its least turn: on a busy machine latencies vary by more than is to be measured, and the same work takes up to
thrice the time. The metrics are counted by both: `stage` is what they cost.
"""

import argparse
import logging
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from graphrag.embedded_postgres import EmbeddedPostgres
from graphrag.telemetry import configure_logging, count_results, stage
from tests.conftest import DEMO, Server, run_server
from tests.otlp_receiver import otlp_receiver

QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
REQUESTS: dict[str, tuple[str, str, dict[str, object] | None]] = {
    "health": ("GET", "/health", None),
    "retrieve": ("POST", "/api/v1/retrieve", {"query": QUESTION}),
    "chat": ("POST", "/api/v1/chat", {"messages": [{"role": "user", "content": QUESTION}]}),
}
COUNTS = {"health": 60, "retrieve": 40, "chat": 25}  # of one turn: psutil counts hundredths of a second
SILENT = {"RAG_LOG_LEVEL": "ERROR"}
# Every question is searched for anew.
SETTINGS = {"RAG_QUERY_CACHE_SECONDS": "0", "RAG_WORKER": "false"}
OBSERVED = 10_000


@dataclass
class Cost:
    milliseconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # milliseconds a request, of each turn

    def add_turn(self, server: Server, client: httpx.Client, name: str) -> None:
        method, path, body = REQUESTS[name]
        process = psutil.Process(server.process.pid)
        before = process.cpu_times()
        for _ in range(COUNTS[name]):
            started = time.perf_counter()
            client.request(method, path, json=body).raise_for_status()
            self.milliseconds.append((time.perf_counter() - started) * 1000)
        after = process.cpu_times()
        used = after.user + after.system - before.user - before.system
        self.processor.append(used * 1000 / COUNTS[name])


@contextmanager
def services() -> Iterator[dict[str, Server]]:
    with tempfile.TemporaryDirectory(prefix="cw-") as home, otlp_receiver() as receiver:
        Path(home).chmod(0o755)  # the database's own user reads it
        database = EmbeddedPostgres(Path(home))
        shared = {"DATABASE_URL": database.start(), "CAUSEWAY_HOME": home, **SETTINGS}
        telling = {"RAG_LOG_LEVEL": "INFO", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        try:
            with (
                run_server("--collection", "demo", "--ingest", str(DEMO), **shared, **SILENT) as silent,
                run_server("--collection", "demo", **shared, **telling) as told,
            ):
                yield {"silent": silent, "telling": told}
        finally:
            database.stop()


def measure(servers: dict[str, Server], rounds: int) -> dict[str, dict[str, Cost]]:
    """By request, then by service."""
    costs: dict[str, dict[str, Cost]] = {name: defaultdict(Cost) for name in REQUESTS}
    clients = {kind: server.client() for kind, server in servers.items()}
    for turn in range(-2, rounds):  # the first two warm the services up
        order = list(servers) if turn % 2 else list(reversed(servers))
        for name in REQUESTS:
            for kind in order:
                cost = costs[name][kind] if turn >= 0 else Cost()
                cost.add_turn(servers[kind], clients[kind], name)
    return costs


def stage_microseconds() -> float:
    """Of a stage that does nothing and tells its results, in silence and without traces: what its metrics cost."""
    configure_logging("ERROR")
    started = time.process_time()
    for _ in range(OBSERVED):
        with stage("nothing"):
            count_results("nothing", 1)
    return (time.process_time() - started) / OBSERVED * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    logging.disable(logging.INFO)  # the embedded server's
    with services() as servers:
        costs = measure(servers, parser.parse_args().rounds)
    print(
        "| ms a request | least processor time: silent | telling | more, median of turns | median: silent | telling |"
    )
    print("|---|---|---|---|---|---|")
    for name, by_kind in costs.items():
        silent, telling = by_kind["silent"], by_kind["telling"]
        more = [after - before for before, after in zip(silent.processor, telling.processor, strict=True)]
        figures = [min(silent.processor), min(telling.processor), statistics.median(more)]
        figures += [statistics.median(cost.milliseconds) for cost in (silent, telling)]
        print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    print(f"\nA stage's metrics: {stage_microseconds():.0f} µs")


if __name__ == "__main__":
    main()

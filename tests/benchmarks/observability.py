"""What logs, metrics and traces cost a request: two services over one database, one silent, one that tells everything.

python -m tests.benchmarks.observability --pairs 200

Each request goes to both, one right after the other: on a busy machine the same work takes up to thrice the time, but
then for both. What is compared is the processor time of their processes, by the kernel's clock, from the end of one
request to the end of the next: the traces that are sent in between are part of what they cost (by default every 5 s;
each sending costs milliseconds, however many spans it has). The metrics are counted by both: `stage` is what they cost.
"""

import argparse
import ctypes
import logging
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, stdev

import httpx

from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.observability.telemetry import configure_logging, count_results, stage
from tests.conftest import DEMO, Server, run_default_server
from tests.otlp_receiver import otlp_receiver

QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
REQUESTS: dict[str, tuple[str, str, dict[str, object] | None]] = {
    "health": ("GET", "/health", None),
    "retrieve": ("POST", "/api/v1/retrieve", {"query": QUESTION}),
    "chat": ("POST", "/api/v1/chat", {"messages": [{"role": "user", "content": QUESTION}]}),
}
WARMING = 10
SILENT = {"RAG_LOG_LEVEL": "ERROR"}
# Every question is searched for anew.
SETTINGS = {"RAG_QUERY_CACHE_SECONDS": "0", "RAG_WORKER": "false"}
OBSERVED = 10_000


@dataclass
class Costs:
    """Of the requests of one kind to one service."""

    server: Server
    client: httpx.Client
    milliseconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)  # milliseconds since the request before ended
    _used: float = 0

    def ask(self, method: str, path: str, body: dict[str, object] | None) -> None:
        started = time.perf_counter()
        self.client.request(method, path, json=body).raise_for_status()
        self.milliseconds.append((time.perf_counter() - started) * 1000)
        used = processor_seconds(self.server.process.pid)
        self.processor.append((used - self._used) * 1000)
        self._used = used


def processor_seconds(pid: int) -> float:
    """Of all its threads, to the nanosecond; psutil's are hundredths of a second."""
    clock = ctypes.c_int()
    if error := ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)):
        raise OSError(error, "no clock of the process")
    return time.clock_gettime(clock.value)


@contextmanager
def services() -> Iterator[dict[str, Server]]:
    with tempfile.TemporaryDirectory(prefix="cw-") as home, otlp_receiver() as receiver:
        Path(home).chmod(0o755)  # the database's own user reads it
        database = EmbeddedPostgres(Path(home))
        shared = {"DATABASE_URL": database.start(), "CAUSEWAY_HOME": home, **SETTINGS}
        telling = {"RAG_LOG_LEVEL": "INFO", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        try:
            with (
                run_default_server("--collection", "demo", "--ingest", str(DEMO), **shared, **SILENT) as silent,
                run_default_server("--collection", "demo", **shared, **telling) as told,
            ):
                yield {"silent": silent, "telling": told}
        finally:
            database.stop()


def measure(servers: dict[str, Server], name: str, pairs: int) -> dict[str, Costs]:
    """By service."""
    costs = {kind: Costs(server, server.client()) for kind, server in servers.items()}
    for pair in range(WARMING + pairs):
        for kind in sorted(costs, reverse=bool(pair % 2)):
            costs[kind].ask(*REQUESTS[name])
    for cost in costs.values():
        del cost.milliseconds[:WARMING], cost.processor[:WARMING]
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
    parser.add_argument("--pairs", type=int, default=200)
    pairs = parser.parse_args().pairs
    logging.disable(logging.INFO)  # the embedded server's
    print("| ms a request | processor: silent | more, when telling | ± | median: silent | telling |")
    print("|---|---|---|---|---|---|")
    with services() as servers:
        for name in REQUESTS:
            costs = measure(servers, name, pairs)
            silent, telling = costs["silent"], costs["telling"]
            more = [after - before for before, after in zip(silent.processor, telling.processor, strict=True)]
            figures = [fmean(silent.processor), fmean(more), 2 * stdev(more) / pairs**0.5]
            figures += [median(cost.milliseconds) for cost in (silent, telling)]
            print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    print(f"\nA stage's metrics: {stage_microseconds():.0f} µs")


if __name__ == "__main__":
    main()

"""Speed and memory of answers over the demo collection: `make bench` prints the table. Nothing here is a test."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil

ROOT = Path(__file__).parents[2]
CASES = json.loads((ROOT / "tests/golden/demo.json").read_text(encoding="utf-8"))
ROUNDS = 5
OVERHEAD = ("transform", "retrieve", "rerank", "expand")  # what comes before the model


def measure(client: httpx.Client, question: str) -> dict[str, float]:
    """Milliseconds, as a client on the same machine sees them, and the server's own stages."""
    started = time.perf_counter()
    first = None
    done: dict[str, Any] = {}
    with client.stream("POST", "/api/chat/stream", json={"message": question}) as response:
        for line in response.iter_lines():
            if first is None and line == "event: token":
                first = (time.perf_counter() - started) * 1000
            if line.startswith("data: "):
                done = json.loads(line[6:])
    assert first is not None
    overhead = sum(done["timings_ms"].get(stage, 0.0) for stage in OVERHEAD)
    return {"retrieval overhead": overhead, "first token": first, "whole answer": done["timings_ms"]["total"]}


def percentile(values: Sequence[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp") as home:
        command = [sys.executable, "-m", "api.cli", "serve", "--port", "0", "--collection", "demo", "--ingest", "notebooks/demo"]  # fmt: skip
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | {"CAUSEWAY_HOME": home}, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        address = next(line for line in process.stdout if "http://" in line).split("http://")[1].split()[0]
        try:
            with httpx.Client(base_url=f"http://{address}", timeout=30) as client:
                cold = measure(client, CASES[0]["query"])
                rows = [measure(client, case["query"]) for _ in range(ROUNDS) for case in CASES]
            memory = psutil.Process(process.pid).memory_info().rss / 1e6
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)
    print(f"{len(rows)} questions over the demo collection, one client, extractive model")
    print(f"{'milliseconds':20} {'p50':>8} {'p95':>8} {'p99':>8} {'first question':>15}")
    for name in rows[0]:
        values = [row[name] for row in rows]
        shares = " ".join(f"{percentile(values, share):8.1f}" for share in (0.5, 0.95, 0.99))
        print(f"{name:20} {shares} {cold[name]:15.1f}")
    print(f"memory of the API process (RSS): {memory:.0f} MB")


if __name__ == "__main__":
    main()

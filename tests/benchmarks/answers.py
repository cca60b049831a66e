"""Measure the speed and memory of answers over the demo collection, and how many golden questions they get right.

python -m tests.benchmarks.answers [--rounds 5]
"""

import argparse
import json
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil
from rich.console import Console

from graphrag.observability.telemetry import configure_logging
from tests.api.streams import stream
from tests.benchmarks.measuring import percentile
from tests.benchmarks.progress import progress
from tests.conftest import DEMO, Server, run_default_server
from tests.model_server import ModelServer, Reply

CASES = json.loads((Path(__file__).parents[1] / "golden" / "demo.json").read_text(encoding="utf-8"))
OVERHEAD = ("transform", "retrieve", "rerank", "expand")  # what comes before the model
SERVE = ("--collection", "demo", "--ingest", str(DEMO))


def ask(client: httpx.Client, question: str) -> dict[str, Any]:
    """Return the data of `done`, and milliseconds as a client on the same machine sees them."""
    started = time.monotonic()
    events = stream(client, message=question)
    first = next(event.at - started for event in events if event.name == "token") * 1000
    done = events[-1].data
    overhead = sum(done["timings_ms"].get(stage, 0.0) for stage in OVERHEAD)
    return done | {"retrieval overhead": overhead, "first token": first, "whole answer": done["timings_ms"]["total"]}


def ask_all(server: Server, rounds: int, title: str) -> list[dict[str, Any]]:
    """Every golden question, so many times."""
    questions = [case["query"] for _ in range(rounds) for case in CASES]
    answers = []
    with server.client() as client, progress(title, len(questions), Console()) as step:
        for question in questions:
            answers.append(ask(client, question))
            step(1)
    return answers


def golden(answers: Sequence[dict[str, Any]]) -> str:
    """How many answerable questions cite a right document, and how many of the others are refused."""
    pairs = list(zip(CASES, answers, strict=True))
    cited = [
        bool({citation["filename"] for citation in answer["citations"]} & set(case["relevant_documents"]))
        for case, answer in pairs
        if case["relevant_documents"]
    ]
    refused = [not answer["found"] for case, answer in pairs if not case["relevant_documents"]]
    return f"right document cited {sum(cited)}/{len(cited)}, unanswerable refused {sum(refused)}/{len(refused)}"


def first_sentence(body: dict[str, Any]) -> str:
    """A model that repeats the beginning of the first excerpt: it shows the plumbing, and knows nothing."""
    excerpt = re.search(r'<excerpt number="1"[^>]*>\n(.{40,200}?)[.\n]', body["messages"][-1]["content"], re.DOTALL)
    return f"{excerpt[1] if excerpt else 'Nothing'} [1]."


def print_table(rows: Sequence[dict[str, Any]], cold: dict[str, Any]) -> None:
    print(f"{'milliseconds':20} {'p50':>8} {'p95':>8} {'p99':>8} {'first question':>15}")
    for name in ("retrieval overhead", "first token", "whole answer"):
        values = [row[name] for row in rows]
        shares = " ".join(f"{percentile(values, share):8.1f}" for share in (0.5, 0.95, 0.99))
        print(f"{name:20} {shares} {cold[name]:15.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="over all golden questions")
    rounds = parser.parse_args().rounds
    configure_logging("ERROR")
    folder = tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp")
    with folder as home, ModelServer(default=Reply(first_sentence)) as model:
        with run_default_server(*SERVE, CAUSEWAY_HOME=home, RAG_QUERY_CACHE_SECONDS="0") as server:
            with server.client() as client:
                cold = ask(client, CASES[0]["query"])
            rows = ask_all(server, rounds, "demo: questions, extractive model")
            memory = psutil.Process(server.process.pid).memory_info().rss / 1e6
        scripted = {
            "RAG_CHAT_MODEL": "openai:gpt-4o-mini",
            "RAG_QUERY_REFINEMENT": "false",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.base_url,
        }
        with run_default_server(*SERVE, CAUSEWAY_HOME=home, **scripted) as server:
            through_model = ask_all(server, 1, "demo: questions, scripted model")
    print(f"{len(rows)} questions over the demo collection, one client, extractive model")
    print_table(rows, cold)
    print(f"memory of the API process (RSS): {memory:.0f} MB")
    print(f"golden questions, extractive model: {golden(rows[: len(CASES)])}")
    print(f"golden questions, scripted model (plumbing only: it repeats excerpt 1): {golden(through_model)}")


if __name__ == "__main__":
    main()

"""Measure how soon an answer's first word is there, what many streams at once cost, and what those who leave leave.

python -m tests.benchmarks.streams --chunks 10000

A server in a process of its own, with its own PostgreSQL, the demo documents among distractors, all on this machine:
client, server, database and scripted model share its processors. `--home` keeps the documents for the next time.

The server waits a minute (PATIENT) where by default it sheds load after three seconds: every stream is served in full,
so that first words and memory are those of all streams. `tests.benchmarks.shedding` measures what shedding does.
"""

import argparse
import asyncio
import json
import logging
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil

from graphrag.config.settings import Settings
from graphrag.ingestion.sources import SourceText
from graphrag.models import LOCAL_OWNER
from graphrag.observability.telemetry import configure_logging
from graphrag.services import open_services
from tests.api.streams import PATH, check_ids, joined, read_events, stream
from tests.benchmarks.answers import CASES, first_sentence
from tests.benchmarks.datasets import load_demo
from tests.benchmarks.measuring import percentile
from tests.conftest import DEMO, PATIENT, Server, run_default_server
from tests.model_server import ModelServer, Reply

QUESTIONS = [case["query"] for case in CASES if case["relevant_documents"]]
WARM_UP = [case["query"] for case in CASES if not case["relevant_documents"]]
WARM_UP_ROUNDS = 2
SEEDS = 3  # of the moments at which clients leave
LEAVING_AT_ONCE = 20
LONGEST_VISIT = 0.4  # seconds
STORED_AT_ONCE = 500
COLLECTION = "demo"
# Every question is searched for anew; what is kept of streams is gone soon, to see what else stays.
SETTINGS = {"RAG_QUERY_CACHE_SECONDS": "0", "RAG_STREAM_KEPT_SECONDS": "2", "RAG_STREAM_GRACE_SECONDS": "1"}
UNDERSTANDING: dict[str, Any] = {
    "standalone_question": "",
    "intent": "factual",
    "direction": None,
    "sub_questions": [],
    "entities": [],
    "is_multi_hop": False,
    "hypothetical_answer": None,
}


async def fill(home: Path, chunks: int) -> None:
    """Distractors up to so many chunks, through the whole pipeline; the demo documents come with the server."""
    services = open_services(Settings.from_environment(home=home))
    await services.open()
    try:
        collection = await services.collections.create(LOCAL_OWNER, COLLECTION)
        model = await services.collections.embedding_model(collection)
        made = [passage for passage in load_demo().grown(chunks) if passage.document.startswith("distractor")]
        texts = [SourceText(made.document, made.text, made.title, made.language) for made in made]
        for start in range(0, len(texts), STORED_AT_ONCE):
            await services.ingestion.ingest(texts[start : start + STORED_AT_ONCE], collection=collection, model=model)
        await services.store.optimize(collection)
    finally:
        await services.close()


def reply(body: dict[str, Any]) -> str:
    """Repeats an excerpt's beginning; asked to refine a question, it changes nothing in it."""
    return json.dumps(UNDERSTANDING) if body.get("response_format") else first_sentence(body) * 3


@contextmanager
def serving(home: Path, scripted: Reply | None, *, refining: bool = False) -> Iterator[Server]:
    """The extractive model's answers, or a scripted one's."""
    arguments = ("--collection", COLLECTION, "--ingest", str(DEMO))
    with ModelServer(default=scripted) as model:
        asked = {
            "RAG_CHAT_MODEL": f"openai:scripted-{uuid4().hex}",  # what another understood of a question is kept
            "RAG_QUERY_REFINEMENT": str(refining).lower(),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.base_url,
        }
        environment = {"CAUSEWAY_HOME": str(home), **PATIENT, **SETTINGS, **(asked if scripted else {})}
        with run_default_server(*arguments, **environment) as server:
            yield server


def first_words(server: Server, questions: int) -> list[float]:
    """Return the milliseconds from the request to the first word, of one client that asks so many, each once."""
    with server.client() as client:
        for question in WARM_UP[:questions]:
            stream(client, PATH, message=question)
        return [first_word(client, question) for question in QUESTIONS[:questions]]


def first_word(client: httpx.Client, question: str) -> float:
    started = time.monotonic()
    events = stream(client, PATH, message=question)
    assert events[-1].name == "done", events[-1]
    return next(event.at - started for event in events if event.name == "token") * 1000


async def whole_stream(client: httpx.AsyncClient, question: str) -> float:
    """Return the milliseconds to the first word; nothing of the stream may be missing."""
    started, lines = time.perf_counter(), []
    first = 0.0
    async with client.stream("POST", PATH, json={"message": question}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            lines.append(line)
            if line == "event: token" and not first:
                first = (time.perf_counter() - started) * 1000
    events = list(read_events(lines))
    check_ids(events)
    assert events[-1].name == "done", events[-1]
    assert joined(events) == events[-1].data["answer"]
    return first


async def many_at_once(server: Server, streams: int, rounds: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds to the first words after the warm-up, and the server's memory in MB after each round."""
    process, firsts, memory = psutil.Process(server.process.pid), [], []
    limits = httpx.Limits(max_connections=streams)
    async with httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits) as client:
        for number in range(WARM_UP_ROUNDS + rounds):
            asked = [QUESTIONS[place % len(QUESTIONS)] for place in range(streams)]
            taken = await asyncio.gather(*(whole_stream(client, question) for question in asked))
            firsts += taken if number >= WARM_UP_ROUNDS else []
            memory.append(process.memory_info().rss / 1e6)
    return firsts, memory


async def leave(client: httpx.AsyncClient, question: str, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), client.stream("POST", PATH, json={"message": question}) as response:
            response.raise_for_status()
            async for _ in response.aiter_raw():
                pass


async def many_leave(server: Server, leaving: int, *, seed: int) -> None:
    """Each connects, reads for a moment of its own, and is gone."""
    moments = random.Random(seed)
    waiting = iter(range(leaving))

    async def visit() -> None:
        for number in waiting:
            # No connection is used twice: leaving closes it.
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                await leave(client, QUESTIONS[number % len(QUESTIONS)], moments.uniform(0.001, LONGEST_VISIT))

    await asyncio.gather(*(visit() for _ in range(LEAVING_AT_ONCE)))


def remains(server: Server) -> dict[str, float]:
    """What the server holds, once it has nothing to do."""
    with server.client() as client:
        deadline = time.monotonic() + 60
        while running(client) and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(float(SETTINGS["RAG_STREAM_KEPT_SECONDS"]) + 1)
        still_running = running(client)
    process = psutil.Process(server.process.pid)
    connections = process.net_connections("all")
    return {
        "running streams": still_running,
        "threads": process.num_threads(),
        "open files": process.num_fds(),
        "clients' sockets": sum(bool(one.raddr) and one.status == "ESTABLISHED" for one in connections),
        "sockets": len(connections),
        "MB": process.memory_info().rss / 1e6,
    }


def running(client: httpx.Client) -> float:
    found = re.search(r"^causeway_running_streams (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found
    return float(found[1])


def shares(milliseconds: Sequence[float]) -> str:
    return " ".join(f"p{share:.0%} {percentile(milliseconds, share):.0f} ms".replace("%", "") for share in (0.5, 0.95))


def report(home: Path, *, questions: int, streams: int, rounds: int, leaving: int) -> None:
    silent = Reply(reply)
    for name, scripted, refining in (
        ("extractive", None, False),
        ("model", silent, False),
        ("model that refines", silent, True),
    ):
        with serving(home, scripted, refining=refining) as server:
            print(f"first word, {name}: {shares(first_words(server, questions))}", flush=True)
    for name, scripted in (("extractive", None), ("model at 20 ms a word", Reply(reply, 0.02))):
        with serving(home, scripted) as server:
            firsts, memory = asyncio.run(many_at_once(server, streams, rounds))
            grown = ", ".join(f"{mb:.0f}" for mb in memory)
            print(f"{streams} at once, {name}: first word {shares(firsts)}; MB after each round: {grown}", flush=True)
            for seed in range(SEEDS):
                asyncio.run(many_leave(server, leaving, seed=seed))
                print(f"{leaving} came and left, {name}: {remains(server)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="asked one after the other")
    parser.add_argument("--streams", type=int, default=50, help="at the same time")
    parser.add_argument("--rounds", type=int, default=4, help="of so many streams, after two that warm the server up")
    parser.add_argument("--leaving", type=int, default=1_000, help="clients that leave, three times")
    parser.add_argument("--home", type=Path, help="a folder that keeps the documents; without it, a temporary one")
    given = parser.parse_args()
    configure_logging("ERROR")
    logging.getLogger().setLevel("ERROR")  # httpx tells every request
    with tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp") as temporary:
        home = given.home or Path(temporary)
        asyncio.run(fill(home, given.chunks))
        report(home, questions=given.questions, streams=given.streams, rounds=given.rounds, leaving=given.leaving)


if __name__ == "__main__":
    main()

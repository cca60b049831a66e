"""A service under mixed load for a long time, whose worker and whose PostgreSQL are killed again and again.

python -m tests.benchmarks.soak --minutes 60 --every 5

A server, a worker, a PostgreSQL and a scripted chat model, each a process of its own, and two owners: each chats,
leaves streams and resumes them, uploads documents of several formats, deletes some and evaluates. At the end nothing
that was accepted is lost, nothing is there twice, deleted or another owner's, and the server holds no more memory and
files than after its warm-up. Its exit status tells whether all of that holds.
"""

import argparse
import asyncio
import itertools
import logging
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import psutil
import psycopg

from graphrag.observability.telemetry import configure_logging
from tests.api.identities import make_keys_in, shown
from tests.api.scripted import asking
from tests.api.streams import PATH, StreamedEvent, read_blocks, read_events
from tests.conftest import run_default_server, run_worker
from tests.graphrag.parsers.documents import make_docx, make_pdf, make_xlsx
from tests.model_server import ModelServer, Reply
from tests.own_postgres import OwnPostgres, run_postgres
from tests.processes import Process

COLLECTION = "soak"
MARKS = ("Zurrapandilla", "Trasgolindo")
SAMPLE_SECONDS = 2.0
SETTLED_SECONDS = 180
MOST_GROWTH = 1.05  # of memory, and of open files
MEASURABLE_MINUTES = 10  # below, a server is still warming up
EXPECTED = {409, 429, 502, 503, 504}  # refusals and outages, each with a typed error
SETTINGS = {
    "RAG_AUTH": "api_key",
    "RAG_WORKER": "false",
    "RAG_MAX_DOCUMENTS": "100000",
    "RAG_RATE_PER_MINUTE": "0",
    "RAG_ANSWERS_PER_MINUTE": "0",
    "RAG_QUERY_CACHE_SECONDS": "0",
}
# Rows that nothing should ever have: by what each would be.
FORBIDDEN = {
    "chunks without a vector": """
        SELECT count(*) FROM chunks AS c
        WHERE NOT EXISTS (SELECT FROM chunk_embeddings AS e WHERE e.chunk_id = c.chunk_id)""",
    "chunks that are there twice": "SELECT count(*) - count(DISTINCT (document_id, chunk_index)) FROM chunks",
    "rows in another owner's collection": """
        SELECT count(*) FROM (
            SELECT owner_id, collection_id FROM documents UNION ALL SELECT owner_id, collection_id FROM chunks
            UNION ALL SELECT owner_id, collection_id FROM ingestions
            UNION ALL SELECT owner_id, collection_id FROM entities
        ) AS r JOIN collections AS c USING (collection_id) WHERE r.owner_id <> c.owner_id""",
    "jobs that were left": """
        SELECT count(*) FROM procrastinate_jobs
        WHERE status = 'doing' OR status = 'todo' AND coalesce(scheduled_at, now()) <= now()""",
}


def make_files(mark: str, number: int) -> tuple[str, bytes]:
    """Return a document of its own, in one format after the other, that contains the mark."""
    text = f"{mark} número {number}: la caldera {number} se paró porque falló la bomba {number}."
    makers: Sequence[tuple[str, Callable[[], bytes]]] = (
        ("txt", text.encode),
        ("md", lambda: f"# Parte {number}\n\n{text}\n".encode()),
        ("html", lambda: f"<h1>Parte {number}</h1><p>{text}</p>".encode()),
        ("csv", lambda: f"parte,causa\n{number},{text}\n".encode()),
        ("json", lambda: f'[{{"parte": {number}, "causa": "{text}"}}]'.encode()),
        ("pdf", lambda: make_pdf([[f"# Parte {number}", text]])),
        ("xlsx", lambda: make_xlsx({"Partes": [["parte", "causa"], [number, text]]})),
        ("docx", lambda: make_docx(lambda document: document.add_paragraph(text))),
    )
    suffix, make = makers[number % len(makers)]
    return f"{mark}-{number}.{suffix}", make()


@dataclass
class Owner:
    """What an owner has done, as the service has confirmed it."""

    mark: str  # a word of all of its documents, and of nobody else's
    foreign: str  # the other's
    api: httpx.AsyncClient
    kept: dict[str, str] = field(default_factory=dict)  # filename → id of what was accepted
    deleted: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)  # filenames: the connection was lost, or the deletion failed
    runs: list[str] = field(default_factory=list)  # of evaluations
    seen: Counter[str] = field(default_factory=Counter)  # status codes, and what else came of requests
    wrong: list[str] = field(default_factory=list)

    async def send(self, method: str, path: str, **content: Any) -> httpx.Response | None:
        """None: it is not known what became of it."""
        try:
            response = await self.api.request(method, f"/api/v1{path}", **content)
        except httpx.HTTPError as exc:
            self.seen[type(exc).__name__] += 1
            return None
        self.note(response.status_code, response.text)
        return response

    def note(self, status: int, text: str) -> None:
        self.seen[str(status)] += 1
        if status >= 400 and status not in EXPECTED:
            self.wrong.append(f"{status}: {text[:200]}")
        if self.foreign in text:
            self.wrong.append(f"another owner's words: {text[:200]}")

    async def upload(self, number: int) -> None:
        filename, data = make_files(self.mark, number)
        files, form = [("files", (filename, data))], {"collection": COLLECTION}
        response = await self.send("POST", "/documents", files=files, data=form)
        if response is None:
            self.unclear.add(filename)
        elif response.status_code == httpx.codes.ACCEPTED:
            self.kept[filename] = next((of["id"] for of in response.json()["documents"]), "")

    async def delete(self, _: int) -> None:
        known = [name for name, document in self.kept.items() if document]
        if len(known) < 10:
            return
        filename = random.choice(known)
        response = await self.send("DELETE", f"/documents/{self.kept.pop(filename)}")
        (self.deleted if response is not None and response.is_success else self.unclear).add(filename)

    async def chat(self, number: int) -> None:
        await self.send("POST", "/chat", json={"message": self._question(number), "collection": COLLECTION})

    async def search(self, number: int) -> None:
        await self.send("POST", "/search", json={"query": self._question(number), "collection": COLLECTION})

    async def stream(self, number: int) -> None:
        """Leave it after some events, and read it to its end from there."""
        body = {"message": self._question(number), "collection": COLLECTION}
        try:
            async with self.api.stream("POST", PATH, json=body) as response:
                if not response.is_success:
                    return self.note(response.status_code, (await response.aread()).decode())
                lines = response.aiter_lines()
                begun = list(itertools.islice(read_events(await _until(lines, blocks=4)), 3))
            async with self.api.stream(
                "GET", f"{PATH}/{begun[0].stream}", headers={"Last-Event-ID": begun[-1].id}
            ) as response:
                text = (await response.aread()).decode()
            self.note(response.status_code, text)
        except httpx.HTTPError as exc:
            self.seen[type(exc).__name__] += 1
            return
        if response.is_success:
            self._check([*begun, *read_events(text.splitlines())])

    def _check(self, events: Sequence[StreamedEvent]) -> None:
        numbers = [event.number for event in events]
        if numbers != list(range(1, len(numbers) + 1)) or events[-1].name not in ("done", "error"):
            self.wrong.append(f"a stream of the events {numbers}, the last one {events[-1].name}")
        self.seen[f"stream {events[-1].name}"] += 1

    async def evaluate(self, number: int) -> None:
        known = [document for document in self.kept.values() if document]
        if not number and known:
            case = {"query": self._question(0), "relevant_document_ids": known[:1], "category": "factual"}
            await self.send("POST", "/golden-cases", json={"collection": COLLECTION, **case})
        response = await self.send("POST", "/evaluations", json={"collection": COLLECTION})
        if response is not None and response.is_success:
            self.runs.append(response.json()["id"])

    async def documents(self) -> list[dict[str, Any]]:
        """Return all, page by page. Raises httpx.HTTPError."""
        asked: dict[str, Any] = {"collection": COLLECTION, "limit": 200}
        found: list[dict[str, Any]] = []
        while "cursor" not in asked or asked["cursor"]:
            page = (await self.api.get("/api/v1/documents", params=asked)).raise_for_status().json()
            found += page["documents"]
            asked["cursor"] = page["next_cursor"]
        return found

    async def settle(self) -> list[dict[str, Any]]:
        """Return all documents once none is on its way any more."""
        deadline = time.monotonic() + SETTLED_SECONDS
        while True:
            try:
                found = await self.documents()
            except httpx.HTTPError:
                found = []
            is_over = found and all(of["status"] in ("indexed", "error") for of in found)
            if (is_over and set(self.kept) <= {of["filename"] for of in found}) or time.monotonic() > deadline:
                return found
            await asyncio.sleep(0.5)

    async def find_faults(self) -> list[str]:
        """Compare what there is with what the service has confirmed."""
        found = await self.settle()
        counts = Counter(of["filename"] for of in found)
        states = {of["filename"]: of["status"] for of in found}
        faults = [f"lost: {name}" for name in self.kept if name not in counts]
        faults += [f"twice: {name}" for name, count in counts.items() if count > 1]
        faults += [f"deleted and there: {name}" for name in self.deleted & set(counts)]
        faults += [f"not indexed: {name}, {status}" for name, status in states.items() if status != "indexed"]
        faults += [f"nobody's: {name}" for name in set(counts) - set(self.kept) - self.unclear - self.deleted]
        for run in self.runs:
            status = (await self.api.get(f"/api/v1/evaluations/{run}")).json().get("status")
            faults += [f"evaluation {run}: {status}"] if status not in ("done", "failed") else []
        return [f"{self.mark}: {fault}" for fault in self.wrong + faults]

    def _question(self, number: int) -> str:
        return f"¿Por qué se paró la caldera {number} de {self.mark}?"


async def _until(lines: Any, *, blocks: int) -> list[str]:
    """Return the lines of so many whole blocks of a stream, or of all that there are."""
    kept: list[str] = []
    async for line in lines:
        kept.append(line)
        if not line and len(list(read_blocks(kept))) >= blocks:
            break
    return kept


@dataclass
class Server:
    """What a process holds, again and again."""

    process: psutil.Process
    megabytes: list[float] = field(default_factory=list)
    files: list[float] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            self.megabytes.append(self.process.memory_info().rss / 1e6)
            self.files.append(self.process.num_fds())
            await asyncio.sleep(SAMPLE_SECONDS)

    def growth(self) -> Iterator[tuple[str, float, float]]:
        """Yield what was held after the warm-up, in the second quarter of the time, and in its last quarter."""
        for name, values in (("MB", self.megabytes), ("open files", self.files)):
            quarter = len(values) // 4
            yield name, statistics.median(values[quarter : 2 * quarter + 1]), statistics.median(values[-quarter - 1 :])


async def keep(step: Callable[[int], Awaitable[None]], *, until: float, breath: float) -> None:
    for number in itertools.count():
        if time.monotonic() > until:
            return
        await step(number)
        await asyncio.sleep(breath)


async def kill(postgres: OwnPostgres, worker: Callable[[], Process], *, until: float, every: float) -> int:
    """Kill PostgreSQL and the worker by turns; return how often."""
    killed = worker()
    for number in itertools.count():
        if time.monotonic() + every > until:
            return number
        await asyncio.sleep(every)
        if number % 2:
            await asyncio.to_thread(postgres.crash)
            await asyncio.sleep(1)
            await asyncio.to_thread(postgres.start)
        else:
            killed.send_signal(signal.SIGKILL)
            killed = await asyncio.to_thread(worker)
    raise AssertionError("it counts for ever")


async def soak(owners: Sequence[Owner], server: Server, *, until: float, faults: Coroutine[Any, Any, int]) -> int:
    """Return how often something was killed."""
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(server.watch())
        killing = tasks.create_task(faults)
        steps = [
            tasks.create_task(keep(step, until=until, breath=breath))
            for owner in owners
            for step, breath in (
                (owner.upload, 1.0),
                (owner.delete, 5.0),
                (owner.chat, 0.5),
                (owner.stream, 0.5),
                (owner.search, 0.2),
                (owner.evaluate, 20.0),
            )
        ]
        await asyncio.wait(steps)
        watching.cancel()
    return killing.result()


async def find_faults(database_url: str, owners: Sequence[Owner]) -> list[str]:
    found = [fault for owner in owners for fault in await owner.find_faults()]
    with psycopg.connect(database_url, options="-c search_path=causeway,public") as connection:
        for name, statement in FORBIDDEN.items():
            (count,) = connection.execute(statement.encode()).fetchone() or (0,)
            found += [f"{count} {name}"] if count else []
    return found


async def run(stack: ExitStack, *, minutes: float, every: float) -> list[str]:
    """Print what came of it, and return what is wrong."""
    home = stack.enter_context(tempfile.TemporaryDirectory(prefix="cw-", dir="/tmp"))
    postgres = stack.enter_context(run_postgres())
    keys = await asyncio.to_thread(make_keys_in, postgres.url)
    model = stack.enter_context(ModelServer(default=Reply("La bomba falló [1].", delay_seconds_per_token=0.02)))
    environment = asking(model, DATABASE_URL=postgres.url, CAUSEWAY_HOME=home, **SETTINGS)
    serving = stack.enter_context(run_default_server(**environment))
    server = Server(psutil.Process(serving.process.pid))

    def worker() -> Process:
        return stack.enter_context(run_worker(**environment))

    async with AsyncExitStack() as clients:
        owners = []
        for mark, foreign, key in zip(MARKS, reversed(MARKS), (keys.a, keys.b), strict=True):
            client = httpx.AsyncClient(base_url=serving.url, headers=shown(key), timeout=60)
            owners.append(Owner(mark, foreign, await clients.enter_async_context(client)))
            (await client.put(f"/api/v1/collections/{COLLECTION}", json={})).raise_for_status()
        until = time.monotonic() + minutes * 60
        kills = await soak(owners, server, until=until, faults=kill(postgres, worker, until=until, every=every * 60))
        wrong = await find_faults(postgres.url, owners)
    print(f"{minutes:g} minutes, {kills} kills")
    for owner in owners:
        counts = f"{len(owner.kept)} kept, {len(owner.deleted)} deleted, {len(owner.unclear)} unclear"
        print(
            f"  {owner.mark}: {counts}; ", ", ".join(f"{count} × {name}" for name, count in sorted(owner.seen.items()))
        )
    for name, before, after in server.growth():
        print(f"  {name}: {before:.0f} after the warm-up, {after:.0f} at the end")
        if minutes >= MEASURABLE_MINUTES and after > MOST_GROWTH * before:
            wrong.append(f"{name} grew from {before:.0f} to {after:.0f}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=5, help="minutes between two kills")
    given = parser.parse_args()
    configure_logging("ERROR")
    logging.disable(logging.WARNING)
    with ExitStack() as stack:
        wrong = asyncio.run(run(stack, minutes=given.minutes, every=given.every))
    if wrong:
        sys.exit("\n".join([f"{len(wrong)} faults:", *wrong[:50]]))
    print("nothing is lost, double, or another owner's")


if __name__ == "__main__":
    main()

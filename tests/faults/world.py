"""A service with everything that can fail: a chat model and one that stands in for it, far embeddings, its own database
and folder; and what a person gets who asks it.
"""

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.api.scripted import ANSWER, asking
from tests.api.streams import PATH, read_events
from tests.conftest import DEMO, Server, run_server
from tests.graphrag.query_transformation.understanding_model import understanding
from tests.graphrag.rerankers.grading_model import grading_by_words
from tests.model_server import Behaviour, Body, Each, ModelServer, Reply

QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion"
DOCUMENTS = ("yearly-review-2025.md",)
FIRST_MODEL, SECOND_MODEL = "openai:first", "openai:second"
SHORTLY = {  # what is waited for in a test is waited for by nobody
    "RAG_CHAT_MAX_RETRIES": "1",
    "RAG_CHAT_FIRST_TOKEN_SECONDS": "4",
    "RAG_CHAT_TOKEN_SECONDS": "1",
    "RAG_CHAT_BREAKER_FAILURES": "1000",  # every fault meets a service that is whole
    "RAG_QUERY_REFINEMENT": "true",
    "RAG_RERANKER": "llm",
    "RAG_DATABASE_STATEMENT_SECONDS": "1",
    "RAG_QUERY_CACHE_SECONDS": "0",
}
PURPOSES = {"refining": "You prepare a question", "grading": "You grade"}  # how their prompts begin
EMBEDDINGS = """embeddings:
  - {id: far, provider: openai, model: far, base_url: %s, timeout_seconds: 10}
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question or upload."""

    status: int
    first_sign_ms: float  # the first event of a stream, else the answer
    longest_silence_ms: float
    said: str  # the answer, or the error's message
    degraded: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # what was left out, in words
    signs: tuple[str, ...] = ()  # the messages of the stages
    code: str = ""  # of an error


@dataclass
class World:
    server: Server
    model: ModelServer
    database_url: str
    files: Path
    client: httpx.Client = field(repr=False)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count, repr=False)

    def ask(self, question: str = QUESTION, **request: Any) -> Outcome:
        """A question that no cache knows, streamed."""
        body = {"message": f"{question} (in case {next(self._numbers)})?"} | request
        started = time.monotonic()
        with self.client.stream("POST", PATH, json=body) as response:
            if not response.is_success:
                response.read()
                return self._refused(response, started)
            events = list(read_events(response.iter_lines()))
        times = [started, *(event.at for event in events)]
        silence = max(after - before for before, after in itertools.pairwise(times))
        last = events[-1]
        return Outcome(
            200,
            (times[1] - started) * 1000,
            silence * 1000,
            last.data["answer"] if last.name == "done" else last.data["error"]["message"],
            tuple(last.data.get("degraded", ())),
            tuple(last.data.get("degraded_messages", ())),
            tuple(event.data["message"] for event in events if event.name == "status"),
            last.data["error"]["code"] if last.name == "error" else "",
        )

    def upload(self, text: bytes = b"Nobody has written this before.") -> Outcome:
        started = time.monotonic()
        note = text + str(next(self._numbers)).encode()
        response = self.client.post("/api/v1/documents", files=[("files", ("note.txt", note))])
        if not response.is_success:
            return self._refused(response, started)
        milliseconds = (time.monotonic() - started) * 1000
        said = response.json()["message"] or response.json()["documents"][0]["status"]
        return Outcome(response.status_code, milliseconds, milliseconds, said)

    def _refused(self, response: httpx.Response, started: float) -> Outcome:
        error, milliseconds = response.json()["error"], (time.monotonic() - started) * 1000
        return Outcome(response.status_code, milliseconds, milliseconds, error["message"], code=error["code"])

    @contextmanager
    def models(self, **by_purpose: Behaviour) -> Iterator[None]:
        """Meanwhile they behave so: `first`, `second`, `refining` or `grading`."""

        def behave(body: Body) -> Any:
            return by_purpose.get(purpose_of(body)) or well(body)

        self.model.default = Each(behave)
        try:
            yield
        finally:
            self.model.default = Each(well)

    @contextmanager
    def statements(self, before: str, after: str) -> Iterator[None]:
        """As an administrator, in the service's database."""
        with psycopg.connect(self.database_url, autocommit=True, options="-c search_path=causeway") as connection:
            connection.execute(before.encode())
            try:
                yield
            finally:
                connection.execute(after.encode())

    def without_table(self, name: str) -> Any:
        return self.statements(f"ALTER TABLE {name} RENAME TO hidden", f"ALTER TABLE hidden RENAME TO {name}")

    def locked_table(self, name: str) -> Any:
        return self.statements(f"BEGIN; LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE", "ROLLBACK")


def purpose_of(body: Body) -> str:
    told = str(body["messages"][0]["content"])
    return next((name for name, start in PURPOSES.items() if told.startswith(start)), str(body["model"]))


def well(body: Body) -> Reply:
    match purpose_of(body):
        case "refining":
            return Reply(understanding(standalone_question="", intent="causal", direction="causes"))
        case "grading":
            return grading_by_words()
    return Reply(ANSWER)


@contextmanager
def run_world(
    database_url: str, folder: Path, *, documents: Sequence[str] = DOCUMENTS, **environment: str
) -> Iterator[World]:
    with ModelServer(default=Each(well)) as model:
        configured = folder / "embeddings.yml"
        configured.write_text(EMBEDDINGS % model.base_url)
        files = folder / "files"
        settings = {
            "RAG_CHAT_MODEL": FIRST_MODEL,
            "RAG_CHAT_FALLBACKS": SECOND_MODEL,
            "DATABASE_URL": database_url,
            "EMBEDDINGS_CONFIG": str(configured),
            "RAG_FILES_URL": files.as_uri(),
            **SHORTLY,
            **environment,
        }
        given = [part for name in documents for part in ("--ingest", str(DEMO / name))]
        with (
            run_server("--collection", "demo", *given, **(asking(model) | settings)) as server,
            server.client(**{"Accept-Language": "en"}) as client,
        ):
            yield World(server, model, database_url, files, client)

"""LangGraph Studio's server over the same graph: `langgraph dev`, spoken to over its HTTP API."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.events import answer
from agent.graph import graph
from graphrag.ingestion.loading import Loading
from graphrag.ingestion.sources import find_files
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services
from tests.conftest import DEMO, with_services
from tests.processes import ROOT, unused_port

LANGGRAPH = shutil.which("langgraph", path=os.path.dirname(sys.executable)) or ""
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not LANGGRAPH, reason="needs the extra studio")]
QUESTIONS = [
    "¿Qué llevó a Supermercados Lindazo a pedirnos menos cajas cada semana?",
    "Combien de magasins Épicerie Valadour possède-t-elle ?",
    "What net profit did the Sistine Chapel make?",
]
START_SECONDS = 90


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()

    async def load(services: Services) -> None:
        collection = await services.make_collection(LOCAL_OWNER, "demo")
        async with services.library.queue.working(services.workshop):
            async for _ in Loading(services.library, collection).load(find_files([DEMO])):
                pass

    with_services(url, load)
    return url


@contextmanager
def running(**environment: str) -> Iterator[httpx.Client]:
    """`langgraph dev` on a free port."""
    port = unused_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        command = [LANGGRAPH, "dev", "--no-browser", "--no-reload", "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=log, stderr=log)
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        try:
            wait_until_ready(client, process, Path(log.name))
            yield client
        finally:
            client.close()
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def studio(database: str) -> Iterator[httpx.Client]:
    with running(DATABASE_URL=database) as client:
        yield client


def wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if client.get("/ok").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    raise AssertionError(log.read_text())


def run(studio: httpx.Client, question: str, **context: Any) -> dict[str, Any]:
    body = {
        "assistant_id": "causeway",
        "input": {"messages": [{"role": "user", "content": question}]},
        "context": context,
    }
    state: dict[str, Any] = studio.post("/runs/wait", json=body).raise_for_status().json()
    return state


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_as_the_agent_does(studio: httpx.Client, database: str, question: str) -> None:
    """The same graph gives the same answer through every door, from the first run on."""

    state = run(studio, question)
    done = with_services(database, lambda of: answer(graph, [HumanMessage(question)], Context(services=of)))
    assert state["messages"][-1]["content"] == done["answer"]
    assert state["degraded"] == []


def test_identity_is_not_the_clients_to_choose(studio: httpx.Client) -> None:
    """Security 7: owner_id is no field of the context that Studio accepts."""
    state = run(studio, QUESTIONS[0], collection="demo", owner_id="somebody else")
    assert state["collection"]["owner_id"] == LOCAL_OWNER


@pytest.mark.parametrize("name", ["owner_id", "services", "opened", "langgraph_auth_user"])
def test_nor_in_the_older_way(studio: httpx.Client, name: str) -> None:
    """Security 7: `configurable` was there before the context; it changes nothing either."""
    body = {
        "assistant_id": "causeway",
        "input": {"messages": [{"role": "user", "content": QUESTIONS[0]}]},
        "config": {"configurable": {name: {"owner_id": "somebody else", "identity": "somebody else"}}},
    }
    response = studio.post("/runs/wait", json=body)
    if response.is_success:
        assert response.json()["collection"]["owner_id"] == LOCAL_OWNER
    else:
        assert response.status_code == 422


def test_schemas_are_readable(studio: httpx.Client) -> None:
    """What Studio shows: each field of the context with its description, and the shape of the input."""
    (assistant,) = studio.post("/assistants/search", json={}).raise_for_status().json()
    schemas = studio.get(f"/assistants/{assistant['assistant_id']}/schemas").raise_for_status().json()
    fields = schemas["context_schema"]["properties"]
    assert set(fields) == {"collection", "rag_enabled", "retrieval", "filters", "rerank", "top_k"}
    assert all(field["description"] for field in fields.values())
    assert "messages" in schemas["input_schema"]["properties"]

"""LangGraph Studio's server over the same graph: `langgraph dev`, spoken to over its HTTP API, as Studio does."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.output.events import answer
from agent.state import Output
from graphrag.config.settings import RetrievalConfig
from graphrag.ingestion.bulk import Loading
from graphrag.ingestion.sources import find_files
from graphrag.models import LOCAL_OWNER
from graphrag.retrieval.filters import KNOWN
from graphrag.services import Services
from tests.api.streams import read_blocks
from tests.conftest import DEMO, with_services
from tests.processes import ROOT, unused_port

LANGGRAPH = shutil.which("langgraph", path=os.path.dirname(sys.executable)) or ""
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not LANGGRAPH, reason="needs the extra studio")]
QUESTIONS = [
    "¿Qué llevó a Supermercados Lindazo a pedirnos menos cajas cada semana?",
    "Combien de magasins Épicerie Valadour possède-t-elle ?",
    "What net profit did the Sistine Chapel make?",
]
ASKED = {"messages": [{"role": "user", "content": "Why was lot A-2517 recalled?"}]}  # goes through most nodes
CAUSAL = ["transform", "retrieve", "rerank", "traverse", "expand", "generate", "verify"]
START_SECONDS = 90
QUIET = {
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "1",
}  # as `make`


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()

    async def load(services: Services) -> None:
        collection = await services.collections.create(LOCAL_OWNER, "demo")
        async with services.documents.queue.working(services.jobs):
            async for _ in Loading(services.documents, collection).load(find_files([DEMO])):
                pass

    with_services(url, load)
    return url


@contextmanager
def running(**environment: str) -> Iterator[httpx.Client]:
    """`langgraph dev` on a free port."""
    port = unused_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        command = [LANGGRAPH, "dev", "--no-browser", "--no-reload", "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | QUIET | environment, stdout=log, stderr=log)
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        try:
            wait_until_ready(client, process, Path(log.name))
            yield client
        finally:
            client.close()
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def outside() -> Iterator[socket.socket]:
    """Where all requests would go that are not for this machine."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        yield proxy


@pytest.fixture(scope="module")
def studio(database: str, outside: socket.socket) -> Iterator[httpx.Client]:
    proxy = dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"], f"http://127.0.0.1:{outside.getsockname()[1]}")
    with running(DATABASE_URL=database, NO_PROXY="127.0.0.1,localhost", **proxy) as client:
        yield client


@pytest.fixture
def thread(studio: httpx.Client) -> str:
    """The path of a new one."""
    return f"/threads/{studio.post('/threads', json={}).raise_for_status().json()['thread_id']}"


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
    asked = {"messages": [{"role": "user", "content": question}]}
    return go_on(studio, "", input=asked, context=context)


def go_on(studio: httpx.Client, thread: str, **values: Any) -> dict[str, Any]:
    """The state at the run's end; without a `thread`, of a run that is kept nowhere."""
    body = {"assistant_id": "causeway", **values}
    state: dict[str, Any] = studio.post(f"{thread}/runs/wait", json=body).raise_for_status().json()
    return state


def searched(studio: httpx.Client, thread: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The collection that the thread's last run searched."""
    state = studio.get(f"{thread}/state", headers=headers).raise_for_status().json()
    (collection,) = state["values"]["collections"]
    return dict(collection)


def shown(state: Mapping[str, Any]) -> tuple[str, Sequence[Any], Sequence[Any]]:
    """Answer, citations and sources of a state, as far as `done` says the same of them."""
    return (
        state["messages"][-1]["content"],
        [(of["number"], of["quote"], of["status"], of["score"]) for of in state["verification"]["citations"]],
        [(of["document"]["filename"], of["chunk_index"], of["content"]) for of in state["passages"]],
    )


def steps(studio: httpx.Client, thread: str) -> dict[str, dict[str, Any]]:
    """The thread's checkpoints, by the node that comes next."""
    history = studio.get(f"{thread}/history", params={"limit": 50}).raise_for_status().json()
    return {"".join(checkpoint["next"]): checkpoint for checkpoint in history}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_as_the_agent_does(studio: httpx.Client, database: str, question: str) -> None:
    """R8.4 The same graph gives the same answer, citations and sources through every door, from the first run on."""

    state = run(studio, question)
    done = with_services(database, lambda of: answer(graph, [HumanMessage(question)], Context(services=of)))
    assert shown(state) == (
        done["answer"],
        [(of["number"], of["quote"], of["status"], of["score"]) for of in done["citations"]],
        [(of["filename"], of["chunk_index"], of["content"]) for of in done["sources"]],
    )
    assert state["degraded"] == []


def test_a_breakpoint_before_each_node_changes_nothing(studio: httpx.Client, thread: str) -> None:
    """R8.9 The run goes on from each stop with all that came before, to the answer that it gives without one."""
    for name in CAUSAL:
        state = go_on(studio, thread, input=ASKED if name == "transform" else None, interrupt_before="*")
        assert studio.get(f"{thread}/state").raise_for_status().json()["next"] == [name]
    state = go_on(studio, thread, input=None, interrupt_before="*")
    assert shown(state) == shown(go_on(studio, "", input=ASKED))


def test_a_person_changes_what_was_found(studio: httpx.Client, thread: str) -> None:
    """R8.4 At a breakpoint: the answer is made from the passages that were left, and cites no other."""
    state = go_on(studio, thread, input=ASKED, interrupt_before=["generate"])
    assert len(state["passages"]) > 1
    change = {"values": {"passages": state["passages"][1:2]}, "as_node": "expand"}
    studio.post(f"{thread}/state", json=change).raise_for_status()
    answered = go_on(studio, thread, input=None)
    _, citations, sources = shown(answered)
    assert [content for _, _, content in sources] == [state["passages"][1]["content"]]
    assert {number for number, *_ in citations} == {1}


def test_a_fork_answers_another_question(studio: httpx.Client, thread: str) -> None:
    """R9.1 Time travel: from a checkpoint the run is made again, or with what was asked put in other words."""
    before = go_on(studio, thread, input=ASKED)
    found = steps(studio, thread)
    again = go_on(studio, thread, input=None, checkpoint=found["generate"]["checkpoint"])
    assert shown(again) == shown(before)
    (asked,) = found["transform"]["values"]["messages"]
    change = {
        "values": {"messages": [asked | {"content": QUESTIONS[1]}]},
        "checkpoint": found["transform"]["checkpoint"],
        "as_node": "__start__",
    }
    fork = studio.post(f"{thread}/state", json=change).raise_for_status().json()["checkpoint"]
    state = go_on(studio, thread, input=None, checkpoint=fork)
    assert shown(state) == shown(run(studio, QUESTIONS[1]))
    assert len(state["messages"]) == 2
    assert [of["status"] for of in studio.get(f"{thread}/runs").json()] == ["success"] * 3


def test_the_second_turn_leaves_out_what_was_spoken_of(studio: httpx.Client, thread: str) -> None:
    """R6.3"""
    go_on(studio, thread, input=ASKED)
    state = go_on(studio, thread, input={"messages": [{"role": "user", "content": "And who noticed it?"}]})
    assert "A-2517" in state["query"]["search_text"]
    assert [message["type"] for message in state["messages"]] == ["human", "ai"] * 2


def test_what_came_of_the_turn_before_is_no_part_of_plain_chat(studio: httpx.Client, thread: str) -> None:
    """R8.10 Although the thread holds it."""
    assert go_on(studio, thread, input=ASKED)["passages"]
    state = go_on(studio, thread, input=ASKED, context={"rag_enabled": False})
    assert not state["passages"]
    assert not state["verification"]["citations"]


def test_everything_is_streamed(studio: httpx.Client, thread: str) -> None:
    """R8.9 Tokens for Studio's chat mode, each node's update, and the events that our page has too."""
    modes = ["messages-tuple", "updates", "custom"]
    body = {"assistant_id": "causeway", "input": ASKED, "stream_mode": modes}
    with studio.stream("POST", f"{thread}/runs/stream", json=body) as response:
        blocks = list(read_blocks(response.iter_lines()))
    told = [(block["event"], json.loads(block["data"])) for block in blocks]
    updates = [name for kind, update in told if kind == "updates" for name in update]
    assert updates == CAUSAL
    events = Counter(data["event"] for kind, data in told if kind == "custom")
    assert set(events) == {"status", "sources", "token", "citation"}
    written = "".join(data[0]["content"] for kind, data in told if kind == "messages" and "Chunk" in data[0]["type"])
    state = studio.get(f"{thread}/state").json()["values"]
    assert written
    assert written.split()[:5] == state["messages"][-1]["content"].split()[:5]


def test_a_run_chooses_among_the_services_models(studio: httpx.Client) -> None:
    """R8.8 One that there is not is passed over, with a warning."""
    assert run(studio, QUESTIONS[0], chat_model="extractive")["chat_model"] == "extractive"
    state = run(studio, QUESTIONS[0], chat_model="openai:nobody's")
    assert state["chat_model"] == "extractive"
    assert any("openai:nobody's" in warning for warning in state["warnings"])


def test_identity_is_not_the_clients_to_choose(studio: httpx.Client, thread: str) -> None:
    """Security 7: owner_id is no field of the context that Studio accepts."""
    go_on(studio, thread, input=ASKED, context={"collection": "demo", "owner_id": "somebody else"})
    assert searched(studio, thread)["owner_id"] == LOCAL_OWNER


@pytest.mark.parametrize("name", ["owner_id", "services", "opened", "langgraph_auth_user"])
def test_nor_in_the_older_way(studio: httpx.Client, thread: str, name: str) -> None:
    """Security 7: `configurable` was there before the context; it changes nothing either."""
    body = {
        "assistant_id": "causeway",
        "input": {"messages": [{"role": "user", "content": QUESTIONS[0]}]},
        "config": {"configurable": {name: {"owner_id": "somebody else", "identity": "somebody else"}}},
    }
    response = studio.post(f"{thread}/runs/wait", json=body)
    if response.is_success:
        assert searched(studio, thread)["owner_id"] == LOCAL_OWNER
    else:
        assert response.status_code == 422


def test_the_graph_is_readable(studio: httpx.Client) -> None:
    """R11.2 What Studio draws: each node says what it does, and where the way parts each way says why."""
    (assistant,) = studio.post("/assistants/search", json={}).raise_for_status().json()
    place = f"/assistants/{assistant['assistant_id']}/graph"
    drawn = studio.get(place, params={"xray": 1}).raise_for_status().json()
    assert all(node["metadata"]["description"] for node in drawn["nodes"] if not node["id"].startswith("__"))
    parting = [edge for edge in drawn["edges"] if edge.get("conditional")]
    assert len(parting) == 16
    assert all(edge["data"] for edge in parting)


def test_schemas_are_readable(studio: httpx.Client) -> None:
    """R4.10 What Studio shows: each field of context and state with its description, and what it can be."""
    (assistant,) = studio.post("/assistants/search", json={}).raise_for_status().json()
    schemas = studio.get(f"/assistants/{assistant['assistant_id']}/schemas").raise_for_status().json()
    fields = schemas["context_schema"]["properties"]
    assert set(fields) == {
        "collection", "collections", "rag_enabled", "filters", "retrieval", "rerank", "top_k", "chat_model",
        "instructions",
    }  # fmt: skip
    assert all(field["description"] for field in fields.values())
    assert {name for field in fields.values() for name in field["langgraph_nodes"]} < set(graph.nodes)
    searching = fields["retrieval"]["properties"]
    assert set(searching) == set(RetrievalConfig.model_fields)
    assert all(field["description"] and "default" not in field for field in searching.values())
    assert searching["rrf_k"]["minimum"] == 1
    assert set(fields["filters"]["properties"]) == set(KNOWN)
    state = schemas["output_schema"]["properties"]
    assert all(field["description"] for name, field in state.items() if name != "messages")
    assert set(state) == set(Output.__annotations__)
    assert set(schemas["input_schema"]["properties"]) == {"messages"}


@pytest.mark.parametrize(
    ("asked", "context", "told"),
    [
        ({"messages": []}, {}, "Send the question as messages"),
        ({}, {}, "Send the question as messages"),
        ({"messages": [{"role": "user", "content": " "}]}, {}, "The question is empty: write one."),
        ({"messages": [{"role": "user", "content": "x" * 100_000}]}, {}, "shorten it"),
        ({"messages": 5}, {}, "Send the question as messages"),
        ({"messages": [{"text": "Why?"}]}, {}, "Send the question as messages"),
        (ASKED, {"collection": "nowhere"}, "There is no collection 'nowhere'. Known: demo."),
        (ASKED, {"collection": 5}, "collection: Input should be a valid string"),
        (ASKED, {"top_k": 1000}, "top_k: Input should be less than or equal to 50"),
    ],
    ids=["no message", "nothing", "blank", "long", "no list", "no message's form", "unknown", "number", "too many"],
)
def test_wrong_input_is_answered_with_the_way_out(
    studio: httpx.Client, asked: dict[str, Any], context: dict[str, Any], told: str
) -> None:
    """R8.4 Studio shows a sentence, not that an internal error occurred."""
    error = go_on(studio, "", input=asked, context=context)["__error__"]
    assert told in error["message"]
    assert "errors.pydantic.dev" not in error["message"]


def test_nothing_is_sent_elsewhere(studio: httpx.Client, outside: socket.socket) -> None:
    """Security 7: neither traces nor what the server would tell of itself; questions stay on this machine."""
    run(studio, QUESTIONS[0])
    with pytest.raises(BlockingIOError):
        outside.accept()

"""The MCP server's tools, called by the package's own client: a process on this machine, and over HTTP."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.api.commands import COMMAND, NOWHERE, causeway, one_line
from tests.api.expectations import NOT_FOUND, TRACES_OF_PYTHON
from tests.api.mcp.mcp_clients import READ_SECONDS, call, open_client, over_http, refusal, text_of
from tests.conftest import DEMO, Server, run_server
from tests.processes import ROOT, started

WAYS = ("http auto", "http legacy", "stdio auto", "stdio legacy")
TOOLS = {"search", "ask", "list_documents", "causal_paths"}
ASKED = {  # language → question, what the answer must hold
    "es": ("¿Cuánto cobra de más al mes quien está habilitado en varias líneas?", "85 € al mes"),
    "fr": ("Combien nous a-t-on fait payer pour le détour et l'attente du camion de beurre ?", "1 120 €"),
    "en": ("Why did Harrowmere Stores leave Dorada out of its Easter promotion?", "could not promise full quantities"),
}
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
CAUSAL = "¿Qué consecuencias tuvo la subida del precio de la Almendrina?"


@pytest.fixture(scope="module")
def environment(make_demo_database: Callable[[], str]) -> dict[str, str]:
    return {"DATABASE_URL": make_demo_database(), "RAG_COLLECTION": "demo", "RAG_WORKER": "false"}


@pytest.fixture(scope="module")
def server(environment: dict[str, str]) -> Iterator[Server]:
    with run_server(**environment) as running:
        yield running


@pytest.mark.parametrize("way", WAYS)
async def test_every_tool_is_called(way: str, server: Server, environment: dict[str, str]) -> None:
    """R9 the tools look and change nothing; what they give is as their schema says, which the
    client checks; an answer has citations."""
    async with open_client(way, server, environment) as client:
        await _check_tools(client)
        found = await call(client, "search", query="¿Por qué se paró el horno H2?", top_k=3, filters={"language": "es"})
        assert len(found["results"]) == 3
        assert "horno" in found["results"][0]["content"]
        listed = await call(client, "list_documents", limit=200)
        assert {document["filename"] for document in listed["documents"]} == {path.name for path in DEMO.iterdir()}
        paths = await call(client, "causal_paths", question=CAUSAL)
        _check_paths(paths)
        answer = await call(client, "ask", question=ASKED["es"][0])
        assert answer["citations"]


async def _check_tools(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool.title
        assert tool.description
        assert tool.output_schema
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert all("description" in told for told in tool.input_schema["properties"].values() if "anyOf" not in told)


def _check_paths(given: dict[str, Any]) -> None:
    """R7.2 each link has its quote, which is the document's."""
    assert given["paths"]
    for path in given["paths"]:
        for edge in path["edges"]:
            text = (DEMO / edge["filename"]).read_text()
            assert " ".join(edge["quote"].split()) in " ".join(text.split())


@pytest.mark.parametrize("language", ASKED)
async def test_an_answer_is_in_the_question_s_language_and_cites(
    language: str, server: Server, environment: dict[str, str]
) -> None:
    """R8.3 as text for who reads no data, too; its progress is told meanwhile."""
    question, fact = ASKED[language]
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with over_http(server.url) as client:
        result = await client.call_tool("ask", {"question": question}, progress_callback=note)
    answer: Any = result.structured_content
    assert answer["language"] == language
    assert fact in answer["answer"].replace("\u202f", " ").replace("\xa0", " ")
    text = text_of(result)
    assert text.startswith(answer["answer"])
    for citation in answer["citations"]:
        assert citation["quote"]
        assert f"[{citation['number']}] {citation['sentence']}" in text
    assert len(told) >= 4


async def test_without_an_answer_it_says_so(server: Server) -> None:
    """R8.5"""
    async with over_http(server.url) as client:
        answer = await call(client, "ask", question="What do penguins eat?")
    assert (answer["found"], answer["answer"], answer["citations"]) == (False, NOT_FOUND["en"], [])


async def test_documents_come_a_page_at_a_time(server: Server) -> None:
    """R9.4 each once, in one order; the last page has no next one."""
    async with over_http(server.url) as client:
        whole = await call(client, "list_documents", limit=200)
        pages: list[list[Any]] = []
        cursor: str | None = None
        while not pages or cursor:
            page = await call(client, "list_documents", limit=7, **({"cursor": cursor} if cursor else {}))
            pages.append(page["documents"])
            cursor = page["next_cursor"]
    assert whole["next_cursor"] is None
    assert len(pages) > 1
    assert [document for page in pages for document in page] == whole["documents"]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("search", {}, "The request is not valid: query"),
    ("search", {"query": "What is it?", "top_k": 0}, "The request is not valid: top_k"),
    ("search", {"query": "Qu'est-ce que c'est ?", "strategy": "best"}, "La requête n'est pas valide : strategy"),
    ("search", {"query": "Where is the oven?", "filters": {"owner": "x"}}, "The filter “owner” does not exist"),
    ("search", {"query": "  "}, "La pregunta está vacía"),
    ("search", {"query": "el horno\0"}, "La pregunta contiene caracteres de control"),
    ("ask", {"question": "Why did the oven " + "really " * 1000}, "The question is too long: at most 4000"),
    ("ask", {"question": "Pourquoi le four s'est-il arrêté ?", "collection": "nulle"}, "La collection « nulle »"),
    (
        "causal_paths",
        {"question": "What caused it?", "collection": "no\0ne"},
        "The collection “no",
    ),
    ("list_documents", {"cursor": "WzFd"}, "The cursor does not belong to this list"),
    ("list_documents", {"limit": 10**400}, "The request is not valid: limit"),
]


@pytest.mark.parametrize("way", ["http auto", "stdio auto"])
async def test_what_is_wrong_is_told_in_the_question_s_language(
    way: str, server: Server, environment: dict[str, str]
) -> None:
    """R9 a tool's error is worded for a person and shows nothing of the program; the next call is answered."""
    async with open_client(way, server, environment) as client:
        for tool, arguments, told in REFUSED:
            text = await refusal(client, tool, **arguments)
            assert text.startswith(told), (tool, arguments, text)
            assert not [trace for trace in TRACES_OF_PYTHON if trace in text]
        assert "demo" in await refusal(client, "search", query="the oven", collection="none")
        assert (await call(client, "search", query="horno"))["results"]


def test_http_refuses_in_our_format_what_is_not_of_the_protocol(server: Server) -> None:
    """R9 no 500, whatever comes: there is nothing to GET, and a body that is none is refused."""
    json_rpc = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with server.client() as client:
        for method in ("GET", "DELETE", "PUT"):
            assert client.request(method, "/mcp").status_code == 405
        for body in (b"", b"[]", b"{", b'{"jsonrpc":"2.0","id":1,"method":"x"}', b"[" * 100_000, b"\xff", b"null"):
            response = client.post("/mcp", content=body, headers=json_rpc)
            assert 400 <= response.status_code < 500 or (response.status_code == 200 and '"error"' in response.text)
        half = (
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ud800"}}}'
        )
        assert client.post("/mcp", content=half, headers=json_rpc).status_code < 500
        assert client.post("/mcp", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 400


async def test_it_is_started_by_its_client(environment: dict[str, str], server: Server) -> None:
    """R9 as desktop programs do it: by its command line, ended by closing its input."""
    command, *arguments = [*COMMAND, "mcp"]
    started_by = StdioServerParameters(command=command, args=arguments, cwd=ROOT, env=dict(os.environ) | environment)
    async with Client(started_by, read_timeout_seconds=READ_SECONDS) as client:
        await _check_tools(client)
        assert (await call(client, "ask", question=ASKED["fr"][0]))["citations"]


@pytest.mark.slow
def test_nothing_but_the_protocol_is_on_standard_output(environment: dict[str, str], server: Server) -> None:
    """R9 also where every log line is written; the process ends with its input."""
    run = subprocess.run(
        [*COMMAND, "mcp"],
        cwd=ROOT,
        env=os.environ | environment | {"RAG_LOG_LEVEL": "DEBUG"},
        input=PING,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert run.returncode == 0, run.stderr
    (line,) = run.stdout.splitlines()
    assert line.startswith('{"jsonrpc":"2.0","id":1')


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits_for_the_client(
    number: signal.Signals, environment: dict[str, str], server: Server
) -> None:
    with started("mcp", **environment) as process:
        process.given.write(PING)
        process.read_line("jsonrpc")
        assert process.stop(number) == 130


def test_what_it_can_t_start_with_is_one_line() -> None:
    """R9 nothing on standard output."""
    run = causeway("mcp", **NOWHERE)
    assert run.returncode == 1
    assert one_line(run).startswith("Error: ")
    assert "geheim" not in run.stderr

"""Whose documents an MCP client gets: its key's owner's, at every request."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest
import uvicorn
from pydantic import SecretStr

from api.app import create_app
from graphrag.authentication.identity import Identity, Scope
from graphrag.errors import Unauthorized
from graphrag.services import Services
from graphrag.settings import Settings
from tests.api.expectations import check_error
from tests.api.mcp_clients import call, over_http, over_stdio, refusal
from tests.api.owners import OWNERS, QUESTION, fill

START_SECONDS = 30
AT_ONCE = 6  # calls of each owner
JSON_RPC = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
ASKING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_documents", "arguments": {"collection": "notes"}},
}


@dataclass
class KnownKeys:
    """An Authentication that knows a few keys by heart."""

    known: dict[str, Identity] = field(default_factory=dict)

    async def identify(self, credential: str | None) -> Identity:
        await asyncio.sleep(0.01)  # others are asked for meanwhile
        try:
            return self.known[credential or ""]
        except KeyError as exc:
            raise Unauthorized("That key is not known.") from exc


@dataclass(frozen=True)
class Served:
    url: str
    keys: KnownKeys


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()
    fill(url)
    return url


@pytest.fixture(scope="module")
def served(database: str) -> Iterator[Served]:
    """The application in a thread of its own, behind keys."""
    keys = KnownKeys({f"key-of-{owner}": Identity(owner) for owner in OWNERS})
    keys.known["key-of-a-writer"] = Identity("ana", frozenset({Scope.WRITE}))
    services = Services(Settings(database_url=SecretStr(database), worker=False))
    services.__dict__["authentication"] = keys
    with _running(services) as url:
        yield Served(url, keys)


@contextmanager
def _running(services: Services) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(services), log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    deadline = time.monotonic() + START_SECONDS
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(START_SECONDS)


async def test_sessions_at_the_same_time_have_each_their_owner(served: Served) -> None:
    """R4.8, security 7: every tool, many calls at once, none ever sees the other's; in both forms of the protocol."""
    asked = [(owner, mode) for _ in range(AT_ONCE) for owner in OWNERS for mode in ("auto", "legacy")]
    given = await asyncio.gather(*(_use_all(served, owner, mode) for owner, mode in asked))
    for (owner, _), told in zip(asked, given, strict=True):
        assert f"El horno de {owner}" in told
        assert f"parte-{owner}" in told
        assert f"de {OWNERS[owner]}" not in told
        assert f"parte-{OWNERS[owner]}" not in told


async def _use_all(served: Served, owner: str, mode: str) -> str:
    async with over_http(served.url, mode=mode, key=f"key-of-{owner}") as client:
        given = [
            await call(client, "search", query=QUESTION, collection="notes"),
            await call(client, "list_documents", collection="notes"),
            await call(client, "ask", question=QUESTION, collection="notes"),
            await call(client, "causal_paths", question=QUESTION, collection="notes"),
        ]
    return json.dumps(given, ensure_ascii=False)


async def test_what_is_another_s_is_unknown_in_the_same_words(served: Served) -> None:
    """Security 3: for every tool."""
    for owner, other in OWNERS.items():
        async with over_http(served.url, key=f"key-of-{owner}") as client:
            for tool, asked in (("search", "query"), ("ask", "question"), ("causal_paths", "question")):
                told = {
                    (await refusal(client, tool, **{asked: QUESTION}, collection=name)).replace(name, "…")
                    for name in (f"{other}-only", "nobody-s")
                }
                assert len(told) == 1
                assert f"{other}-only" not in str(told)
            assert "nobody-s" in await refusal(client, "list_documents", collection="nobody-s")
            assert f"{other}-only" in await refusal(client, "list_documents", collection=f"{other}-only")


def test_without_a_key_that_holds_nothing_is_told(served: Served) -> None:
    """Security 7: 401 and 403 in our format, before anything of the protocol is read; a key that is taken back ends at
    its next request.
    """
    served.keys.known["key-for-a-while"] = Identity("ana")
    with httpx.Client(base_url=served.url, headers=JSON_RPC) as client:

        def post(key: str | None) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return client.post("/mcp", json=ASKING, headers=headers)

        assert "parte-ana" in post("key-for-a-while").text
        del served.keys.known["key-for-a-while"]
        for key in (None, "wrong", "key-for-a-while"):
            check_error(post(key), 401, "unauthorized")
        check_error(post("key-of-a-writer"), 403, "forbidden")
        check_error(client.post("/mcp", content=b"nonsense"), 401, "unauthorized")


@pytest.mark.parametrize("owner", OWNERS)
async def test_a_process_on_this_machine_has_the_settings_owner(database: str, owner: str) -> None:
    """R4.8 where nobody is asked, RAG_OWNER says whose documents they are."""
    async with over_stdio({"DATABASE_URL": database, "RAG_OWNER": owner}) as client:
        found = await call(client, "search", query=QUESTION, collection="notes")
        listed = await call(client, "list_documents", collection="notes")
        assert [result["content"] for result in found["results"]] == [
            f"El horno de {owner} se paró porque se rompió el retén de la puerta."
        ]
        assert [document["filename"] for document in listed["documents"]] == [f"parte-{owner}"]
        told = await refusal(client, "search", query=QUESTION, collection=f"{OWNERS[owner]}-only")
        assert "known: notes" in told or f"{owner}-only" in told

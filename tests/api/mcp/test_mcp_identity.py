"""Whose documents an MCP client gets: its key's owner's, at every request."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import httpx
import pytest

from graphrag.authentication.api_keys import ApiKey
from graphrag.authentication.identity import Scope
from graphrag.services import Services
from tests.api.commands import causeway, one_line
from tests.api.expectations import check_error
from tests.api.mcp.mcp_clients import call, over_http, over_stdio, refusal, text_of
from tests.api.owners import OWNERS, QUESTION, fill
from tests.conftest import run_server, run_server_here, with_services

T = TypeVar("T")
AT_ONCE = 6  # calls of each owner
JSON_RPC = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
ASKING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_documents", "arguments": {"collection": "notes"}},
}


@dataclass(frozen=True)
class Served:
    url: str
    keys: dict[str, str]
    revoke: Callable[[str], None]  # by its name


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()
    fill(url)
    return url


@pytest.fixture(scope="module")
def served(database: str) -> Iterator[Served]:
    """A service that asks for keys: each owner's by its name, one that may not read, and one that is taken back."""

    async def make(services: Services) -> dict[str, tuple[ApiKey, str]]:
        api_keys = services.authentication.api_keys
        made = {owner: await api_keys.create(owner, owner) for owner in OWNERS}
        made["writer"] = await api_keys.create("ana", "writer", scopes=[Scope.WRITE])
        made["for a while"] = await api_keys.create("ana", "for a while")
        return made

    made = with_services(database, make)
    keys = {name: shown for name, (_, shown) in made.items()}
    with run_server(DATABASE_URL=database, RAG_AUTH="api_key", RAG_WORKER="false") as server:

        def revoke(name: str) -> None:
            with_services(database, lambda services: services.authentication.api_keys.revoke("ana", made[name][0].id))

        yield Served(server.url, keys, revoke)


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
    async with over_http(served.url, mode=mode, key=served.keys[owner]) as client:
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
        async with over_http(served.url, key=served.keys[owner]) as client:
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
    with httpx.Client(base_url=served.url, headers=JSON_RPC) as client:

        def post(key: str | None) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            return client.post("/mcp", json=ASKING, headers=headers)

        assert "parte-ana" in post(served.keys["for a while"]).text
        served.revoke("for a while")
        for key in (None, "wrong", served.keys["for a while"]):
            check_error(post(key), 401, "unauthorized")
        check_error(post(served.keys["writer"]), 403, "forbidden")
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
        assert told.endswith(f"known: {owner}-only, notes")


async def test_answers_are_counted_by_this_door_too(database: str, served: Served) -> None:
    """Security 16 And told in the question's language; what only looks goes on."""
    asked = {"DATABASE_URL": database, "RAG_AUTH": "api_key", "RAG_ANSWERS_PER_MINUTE": "1"}
    with run_server_here(**asked) as address:
        async with over_http(address, key=served.keys["ana"]) as client:
            answers = [await client.call_tool("ask", {"question": QUESTION, "collection": "notes"}) for _ in range(3)]
            assert not answers[0].is_error  # a minute may end after it, and another begin
            assert answers[2].is_error
            assert "Demasiadas solicitudes" in text_of(answers[2])
            await call(client, "search", query=QUESTION, collection="notes")


async def test_a_process_on_this_machine_shows_its_key(served: Served, database: str) -> None:
    """Security 7 Where somebody is asked, RAG_API_KEY says who it is; a wrong one ends the process at once."""
    asked = {"DATABASE_URL": database, "RAG_AUTH": "api_key", "RAG_OWNER": "ben"}
    async with over_stdio(asked | {"RAG_API_KEY": served.keys["ana"]}) as client:
        listed = await call(client, "list_documents", collection="notes")
        assert [document["filename"] for document in listed["documents"]] == ["parte-ana"]
    refused = await asyncio.to_thread(causeway, "mcp", **asked, RAG_API_KEY="cw_wrong")
    assert refused.returncode == 1
    assert "key" in one_line(refused)

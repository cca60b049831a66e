"""Links to conversations over HTTP, with a real server that asks for keys."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.identities import Keys, make_keys_in, shown
from tests.api.uploads import finished, upload
from tests.conftest import Server, run_server, run_server_here

SHARED = "/api/v1/shared"
TEXT = "The boiler stopped on Monday because the valve was blocked. The Zurrapandilla paid for it."
QUESTION = "Why did the boiler stop?"
DEAD = {"en": "This link no longer works", "fr": "Ce lien n'est plus valable", "es": "Este enlace ya no es válido"}


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def keys(database: str) -> Keys:
    return make_keys_in(database)


@pytest.fixture(scope="module")
def server(database: str, keys: Keys) -> Iterator[Server]:
    with run_server(DATABASE_URL=database, RAG_AUTH="api_key") as running:
        yield running


@pytest.fixture(scope="module")
def api(server: Server, keys: Keys) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=shown(keys.a), timeout=60) as client:
        yield client


@pytest.fixture
def document(api: httpx.Client) -> str:
    """The id of a document in a collection of its own, which has its name."""
    return str(finished(api, upload(api, uuid4().hex, "boiler.txt", TEXT)["id"])["id"])


@pytest.fixture
def answer(api: httpx.Client, document: str) -> dict[str, Any]:
    collection = api.get(f"/documents/{document}").json()["collection"]
    told: dict[str, Any] = api.post("/chat", json={"message": QUESTION, "collection": collection}).json()
    assert "valve" in told["answer"]
    return told


def share(api: httpx.Client, conversation: str, **query: str) -> str:
    made = api.post(f"/conversations/{conversation}/share", params=query)
    assert made.status_code == 201, made.text
    token: str = made.json()["token"]
    assert made.json()["path"] == f"/shared#{token}"
    return token


def visit(address: str, token: str, language: str = "en") -> httpx.Response:
    """By somebody without a key."""
    return httpx.get(f"{address}{SHARED}", headers={"X-Share-Token": token, "Accept-Language": language})


def test_who_has_the_link_reads_what_was_shown(server: Server, api: httpx.Client, answer: dict[str, Any]) -> None:
    """R9.1, security 4: question, answer, quotes and where they stand; nothing that leads to a document or an owner."""
    token = share(api, answer["conversation_id"])
    told = visit(server.url, token)
    assert told.status_code == 200
    assert (told.headers["cache-control"], told.headers["x-robots-tag"]) == ("no-store", "noindex")
    question, said = told.json()["messages"]
    assert (question["content"], said["content"]) == (QUESTION, answer["answer"])
    assert said["answer_html"] == answer["answer_html"]
    for part, name in (("citations", "quote"), ("citations", "sentence"), ("sources", "filename")):
        assert [each[name] for each in said["details"][part]] == [each[name] for each in answer[part]]
    ids = [answer[name] for name in ("conversation_id", "message_id", "parent_id")]
    ids += [source[name] for source in answer["sources"] for name in ("document_id", "content_hash")]
    assert [each for each in ids if each in told.text] == []
    unquoted = {source["content"] for source in answer["sources"]} - {each["quote"] for each in answer["citations"]}
    assert unquoted
    assert [text for text in unquoted if json.dumps(text) in told.text] == []


def test_the_link_opens_nothing_else(server: Server, api: httpx.Client, answer: dict[str, Any]) -> None:
    """Security 3: its token is no key, and an owner's id of the conversation is none."""
    token = share(api, answer["conversation_id"])
    for path in ("/conversations", f"/conversations/{answer['conversation_id']}"):
        for headers in (shown(token), {"X-Share-Token": token}):
            check_error(httpx.get(f"{server.url}/api/v1{path}", headers=headers), 401, "unauthorized")
    for wrong in ("", token[:-1], token + "A", answer["conversation_id"], "x" * 9_000):
        check_error(visit(server.url, wrong), 404, "share_not_found")


def test_only_the_owner_shares(server: Server, keys: Keys, answer: dict[str, Any]) -> None:
    """Security 3"""
    path = f"{server.url}/api/v1/conversations/{answer['conversation_id']}/share"
    for call in (httpx.post, httpx.delete):
        check_error(call(path, headers=shown(keys.b)), 404, "conversation_not_found")
        check_error(call(path), 401, "unauthorized")


@pytest.mark.parametrize("end", ["share", ""])
def test_a_dead_link_says_so(server: Server, api: httpx.Client, answer: dict[str, Any], end: str) -> None:
    """R9.1, security 19: after it was taken back, or its conversation deleted, in the reader's language."""
    path = f"/conversations/{answer['conversation_id']}"
    token = share(api, answer["conversation_id"])
    assert api.get(path).json()["is_shared"] is True
    assert api.delete(f"{path}/{end}".rstrip("/")).status_code == 204
    for language, sentence in DEAD.items():
        error = check_error(visit(server.url, token, language), 404, "share_not_found")
        assert error["message"].startswith(sentence)
    if end:
        assert api.get(path).json()["is_shared"] is False
        assert api.delete(f"{path}/share").status_code == 204  # once more


def test_what_is_said_later_is_not_shown(server: Server, api: httpx.Client, answer: dict[str, Any]) -> None:
    """R9.1 Unless the link is to that."""
    conversation = answer["conversation_id"]
    before = share(api, conversation)
    later = api.post("/chat", json={"message": "Who paid for it?", "conversation_id": conversation}).json()
    assert len(visit(server.url, before).json()["messages"]) == 2
    assert len(visit(server.url, share(api, conversation)).json()["messages"]) == 4
    assert len(visit(server.url, share(api, conversation, message_id=answer["message_id"])).json()["messages"]) == 2
    assert len(visit(server.url, share(api, conversation, message_id=later["parent_id"])).json()["messages"]) == 3


def test_words_of_a_deleted_document_leave_the_link_too(
    server: Server, api: httpx.Client, document: str, answer: dict[str, Any]
) -> None:
    """Security 19"""
    token = share(api, answer["conversation_id"])
    assert api.delete(f"/documents/{document}").status_code == 204
    told = visit(server.url, token)
    assert "valve" not in told.text
    assert told.json()["messages"][1]["details"]["erased"] is True


def test_an_empty_conversation_has_nothing_to_share(api: httpx.Client) -> None:
    """R9.1"""
    empty = api.post("/conversations", json={}).json()["id"]
    check_error(api.post(f"/conversations/{empty}/share"), 404, "message_not_found")


def test_links_are_not_opened_without_end(database: str) -> None:
    """Security 16: they are counted by address."""
    with run_server_here(DATABASE_URL=database, RAG_AUTH="api_key", RAG_RATE_PER_MINUTE="5") as address:
        told = [visit(address, "guessed") for _ in range(9)]
    check_error(told[0], 404, "share_not_found")
    check_error(told[-1], 429, "rate_limited")

"""Every operation of the OpenAPI document × who asks. A new route is in it by itself; a new kind of id needs
its line in `resources.make_resources`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.identities import Keys, make_keys_in, make_owners_in
from tests.conftest import run_server
from tests.security.operations import METHODS, Operation, answer, operations, without
from tests.security.resources import MARK, make_resources

OPERATIONS = list(operations())
CLOSED = [operation for operation in OPERATIONS if operation.scopes]
WRITING = [operation for operation in CLOSED if "write" in operation.scopes]
# What is called for harm comes last, the innermost first: a message before its conversation, all before the collection.
ORDERED = sorted(
    CLOSED,
    key=lambda each: (
        "{stream_id}" not in each.path,  # it goes with the documents that the answer quotes
        each.is_harmful,
        each.path.endswith("/collections/{name}"),
        "bulk" in each.path,
        -each.path.count("/"),
        METHODS.index(each.method),
    ),
)
PUBLIC = {"GET /health", "GET /ready", "GET /api/v1/shared"}
WITHOUT_OWNERS = "/api/v1/models"  # the model is the whole service's: here, its settings alone name it
STRANGERS = ("nobody", "revoked", "expired", "unknown", "of another's secret", "malformed")

Ids = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """A's collection with all that can be named in it, and ids that are nobody's."""

    client: httpx.Client
    keys: Keys
    others: Mapping[Operation, str]  # a key for each, of an owner who has nothing
    ids: Ids

    def key(self, operation: Operation) -> str:
        """Of A, with what it takes."""
        return self.keys.metrics_of_a if "metrics" in operation.scopes else self.keys.a

    def asked(self, operation: Operation, ids: Ids, key: str | None) -> tuple[int, str]:
        status, text = answer(self.client, operation.request(ids, key=key))
        return status, without(text, ids)


@pytest.fixture(scope="module")
def place(make_database: Callable[[], str]) -> Iterator[Place]:
    database = make_database()
    keys = make_keys_in(database)
    others = dict(zip(CLOSED, make_owners_in(database, len(CLOSED)), strict=True))
    unlimited = dict.fromkeys(["RAG_RATE_PER_MINUTE", "RAG_ANSWERS_PER_MINUTE", "RAG_REFUSALS_PER_MINUTE"], "0")
    kept = {"RAG_STREAM_KEPT_SECONDS": "600"}
    with (
        run_server(DATABASE_URL=database, RAG_AUTH="api_key", **unlimited, **kept) as server,
        server.client() as client,
    ):
        yield Place(client, keys, others, make_resources(server, keys.a))


def nobodys(value: Any) -> Any:
    """An id of the same kind that nobody has."""
    match value:
        case list():
            return [nobodys(one) for one in value]
        case int():
            return value
        case str() if len(value) == 36:
            return str(uuid4())
    return f"unknown-{uuid4().hex}"


def test_what_anybody_may_ask_for_is_a_short_list() -> None:
    """security 3, 7"""
    assert {str(operation) for operation in OPERATIONS if not operation.scopes} == PUBLIC


@pytest.mark.parametrize("stranger", STRANGERS)
def test_strangers_learn_nothing(stranger: str, place: Place) -> None:
    """security 3, 7 No key, a revoked one, one that has expired, …: 401, in the same words whatever they ask for."""
    key = place.keys.refused.get(stranger)
    for operation in CLOSED:
        status, told = place.asked(operation, place.ids, key)
        assert (status, MARK in told) == (401, False), f"{operation}: {told}"
        unknown = {name: nobodys(value) for name, value in place.ids.items()}
        assert place.asked(operation, unknown, key) == (401, told), operation


@pytest.mark.parametrize("operation", CLOSED, ids=str)
def test_another_owner_meets_what_is_not_there(operation: Operation, place: Place) -> None:
    """security 3, 4 What is A's is answered like what nobody has: an id in the path by 404."""
    key = place.keys.metrics_of_a if "metrics" in operation.scopes else place.others[operation]
    unknown = {name: nobodys(value) for name, value in place.ids.items()}
    status, told = place.asked(operation, place.ids, key)
    if "metrics" not in operation.scopes:
        assert (status, told) == place.asked(operation, unknown, key)
    if any(f"{{{name}}}" in operation.path for name in place.ids if name.endswith("_id")):
        assert status == 404, told
    assert MARK not in told


@pytest.mark.parametrize("operation", WRITING, ids=str)
def test_a_reader_changes_nothing(operation: Operation, place: Place) -> None:
    """security 7 A key without the scope is told which one it lacks."""
    status, told = place.asked(operation, place.ids, place.keys.read_only_of_a)
    assert status == 403, told
    assert "“write”" in told


@pytest.mark.parametrize("operation", ORDERED, ids=str)
def test_the_owner_finds_all_of_it(operation: Operation, place: Place) -> None:
    """security 3 The same requests as A's find what they ask for: nobody above has changed or deleted it."""
    status, told = place.asked(operation, place.ids, place.key(operation))
    if operation.path.startswith(WITHOUT_OWNERS):
        assert (status, "RAG_CHAT_MODEL" in told) == (403, True)
        return
    assert status not in (401, 403, 404), told
    assert status < 500, told

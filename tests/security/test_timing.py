"""What the time of an answer tells of ids: another owner's against ids that nobody has."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.identities import make_keys_in
from tests.conftest import run_server
from tests.security.operations import Operation, operations
from tests.security.resources import make_resources

pytestmark = pytest.mark.slow
ASKED = 100
# How often another owner's id is answered more slowly than an unknown one: by chance half of the time; one more
# statement makes it nearly always or never. Six standard deviations of what a hundred of each give by chance.
MOST_FROM_HALF = 0.25
IDS = ("document_id", "conversation_id", "message_id", "case_id", "proposal_id", "evaluation_id", "stream_id")
READING = [
    each
    for each in operations()
    if each.method == "get" and each.scopes and any(f"{{{name}}}" in each.path for name in IDS)
]


@dataclass(frozen=True)
class Stranger:
    client: httpx.Client
    key: str
    ids: Mapping[str, Any]  # of somebody else

    def ask(self, operation: Operation, ids: Mapping[str, Any]) -> tuple[float, int]:
        request = operation.request(ids, key=self.key)
        began = time.perf_counter()
        response = self.client.request(**request)
        return time.perf_counter() - began, response.status_code


@pytest.fixture(scope="module")
def stranger(make_database: Callable[[], str]) -> Iterator[Stranger]:
    database = make_database()
    keys = make_keys_in(database)
    settings = {"RAG_AUTH": "api_key", "RAG_RATE_PER_MINUTE": "0", "RAG_STREAM_KEPT_SECONDS": "600"}
    with run_server(DATABASE_URL=database, **settings) as server, server.client() as client:
        yield Stranger(client, keys.b, make_resources(server, keys.a))


@pytest.mark.parametrize("operation", READING, ids=str)
def test_another_owners_id_takes_as_long_as_an_unknown_one(operation: Operation, stranger: Stranger) -> None:
    """Security 3, 6: asked for by turns, neither is the slower one; the best of three tries."""
    shares: list[float] = []
    while len(shares) < 3 and (not shares or min(shares) > MOST_FROM_HALF):
        theirs: list[float] = []
        nobodys: list[float] = []
        for number in range(ASKED):
            unknown = {name: str(uuid4()) if name in IDS else value for name, value in stranger.ids.items()}
            unknown["stream_id"] = uuid4().hex
            for ids, taken in ((stranger.ids, theirs), (unknown, nobodys))[:: 1 if number % 2 else -1]:
                seconds, status = stranger.ask(operation, ids)
                assert status == 404
                taken.append(seconds)
        slower = sum(one > other for one in theirs for other in nobodys) / ASKED**2
        shares.append(abs(slower - 0.5))
    assert min(shares) <= MOST_FROM_HALF, shares

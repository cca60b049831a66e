"""How many requests of one owner are in progress at a time."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import httpx
import pytest

from api.middleware.rate_limits import WAITING_PER_SLOT
from tests.api.expectations import check_error
from tests.api.identities import Keys, make_keys_in, shown
from tests.conftest import run_server_here


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def keys(database: str) -> Keys:
    return make_keys_in(database)


@pytest.fixture(scope="module")
def address(database: str, keys: Keys) -> Iterator[str]:
    with run_server_here(DATABASE_URL=database, RAG_AUTH="api_key", RAG_REQUESTS_PER_OWNER="1") as address:
        yield address


def test_one_owners_requests_wait_for_their_own_alone(address: str, keys: Keys) -> None:
    """Security 16: while one is in progress the owner's others wait, those beyond the queue are refused, and another
    owner's are answered; all that waited are answered afterwards.
    """
    may_end, has_begun = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b'{"query": "silo", '
        has_begun.set()
        may_end.wait(30)
        yield b'"collection": "none"}'

    headers = {"Content-Type": "application/json"}
    with (
        httpx.Client(base_url=address, headers=shown(keys.a), timeout=60) as a,
        httpx.Client(base_url=address, headers=shown(keys.b), timeout=60) as b,
        ThreadPoolExecutor(20) as pool,
    ):

        def ask(client: httpx.Client) -> httpx.Response:
            return client.get("/api/v1/collections")

        slow = pool.submit(lambda: a.post("/api/v1/search", content=slowly(), headers=headers))
        assert has_begun.wait(30)
        assert ask(b).status_code == 200  # by now the slow one has been let in
        sent = [pool.submit(ask, a) for _ in range(WAITING_PER_SLOT + 1)]
        (refused,), waiting = wait(sent, timeout=30, return_when="FIRST_COMPLETED")
        assert check_error(refused.result(), 429, "rate_limited")["details"]["retry_after"] == 1
        assert refused.result().headers["retry-after"] == "1"
        assert ask(b).status_code == 200
        assert not slow.done()
        may_end.set()
        assert slow.result(30).status_code == 404  # there is no such collection
        answered, late = wait(waiting, timeout=30)
        assert (len(answered), len(late)) == (WAITING_PER_SLOT, 0)
        assert {response.result().status_code for response in answered} == {200}

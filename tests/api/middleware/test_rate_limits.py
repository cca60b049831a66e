"""How often one may ask."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.requests import Request
from structlog.testing import capture_logs

from api.middleware.rate_limits import ANSWERS_PER_MINUTE, REQUESTS_PER_MINUTE, RateLimits, network_of
from graphrag.config.settings import Settings
from graphrag.errors import RateLimited, Unauthorized
from tests.api.expectations import check_error
from tests.conftest import run_server_here
from tests.redis_server import run_redis_server

MOST_REFUSALS = 30  # of one address a minute, as the settings have it
REQUESTS, ANSWERS = 12, 3
WAIT = {
    "es": "Demasiadas solicitudes. Inténtelo de nuevo en {} s.",
    "fr": "Trop de requêtes. Réessayez dans {} s.",
    "en": "Too many requests. Try again in {} s.",
}
# The minute that slides takes a part of a count for whole at its end: one more may pass there.
SLACK = 1


@pytest.fixture(scope="module")
def address(make_database: Callable[[], str]) -> Iterator[str]:
    limits = {"RAG_RATE_PER_MINUTE": str(REQUESTS), "RAG_ANSWERS_PER_MINUTE": str(ANSWERS)}
    with run_server_here(DATABASE_URL=make_database(), **limits) as address:
        yield address


def request(path: str = "/api/v1/collections", method: str = "GET", address: str = "192.0.2.7") -> Request:
    headers = [(b"authorization", b"Bearer guess")]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": headers}
    return Request(scope | {"client": (address, 5000), "query_string": b"", "server": ("localhost", 80)})


@asynccontextmanager
async def rates(counts: Path | None = None, **settings: Any) -> AsyncIterator[RateLimits]:
    opened = RateLimits(Settings.from_environment(**settings), counts)
    yield opened
    await opened.close()


async def passed(rates: RateLimits, owner: str, tries: int, path: str = "/", method: str = "GET") -> int:
    """How many of so many requests."""
    passed, waits = 0, []
    for _ in range(tries):
        try:
            await rates.count(request(path, method), owner)
            passed += 1
        except RateLimited as refusal:
            waits.append(refusal.details["retry_after"])
    assert all(1 <= seconds <= 60 for seconds in waits)
    return passed


async def refused(rates: RateLimits, address: str) -> Exception:
    """What somebody there is told who shows a credential that does not hold."""
    with pytest.raises((Unauthorized, RateLimited)) as caught:
        async with rates.refusing(request(address=address)):
            raise Unauthorized("It does not hold.")
    return caught.value


def test_who_asks_too_often_is_told_when_to_come_back(address: str) -> None:
    """Security 16: answers have a limit of their own, every request another; both say so in the reader's language."""
    body = {"message": "¿Qué horno falló?", "rag_enabled": False}
    with httpx.Client(base_url=address, timeout=60) as client:
        asked = [client.post("/api/v1/chat", json=body) for _ in range(ANSWERS + SLACK + 1)]
        _check_limit([*asked, client.post("/api/chat/stream", json=body)], ANSWERS)
        looked = [client.get("/api/v1/collections") for _ in range(REQUESTS + SLACK)]
        _check_limit([*asked, *looked], REQUESTS, among=looked)
        for language, words in WAIT.items():
            answer = client.get("/api/collections", headers={"Accept-Language": language})
            error = check_error(answer, 429, "rate_limited")
            seconds = error["details"]["retry_after"]
            assert error["message"] == words.format(seconds)
            assert answer.headers["retry-after"] == str(seconds)
        assert client.get("/health").status_code == 200


def _check_limit(answers: list[httpx.Response], most: int, *, among: list[httpx.Response] | None = None) -> None:
    statuses = [answer.status_code for answer in (among or answers)]
    assert set(statuses) <= {200, 429}
    assert statuses == sorted(statuses)
    assert statuses[-1] == 429
    assert statuses.count(200) <= most + SLACK


async def test_the_one_user_at_the_machine_may_ask_without_end() -> None:
    """Security 16: where nobody is asked who it is, there is no other to be protected; unless a limit is set."""
    async with rates() as free, rates(rate_per_minute=5) as limited:
        assert await passed(free, "local", REQUESTS_PER_MINUTE + 10) == REQUESTS_PER_MINUTE + 10
        assert await passed(limited, "local", 9) in (5, 5 + SLACK)


async def test_owners_have_limits_of_their_own() -> None:
    """Security 16: where it is known who asks; one who asks much takes nothing from the others. 0 takes a limit off."""
    async with rates(auth="api_key") as counted, rates(auth="api_key", rate_per_minute=0) as free:
        for owner in ("ada", "grace"):
            most = await passed(counted, owner, REQUESTS_PER_MINUTE + 5)
            assert most in (REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE + SLACK)
        assert await passed(free, "ada", REQUESTS_PER_MINUTE + 5) == REQUESTS_PER_MINUTE + 5


@pytest.mark.parametrize(
    "path", ["/api/chat", "/api/v1/chat", "/api/v1/chat/stream", "/v1/chat/completions", "/v1/responses"]
)
async def test_every_door_to_an_answer_is_counted(path: str) -> None:
    """Security 16"""
    async with rates(auth="jwt") as counted:
        answers = await passed(counted, "ada", ANSWERS_PER_MINUTE + 5, path, "POST")
        assert answers in (ANSWERS_PER_MINUTE, ANSWERS_PER_MINUTE + SLACK)
        assert await passed(counted, "ada", 10, "/api/v1/conversations") == 10


async def test_guessing_a_key_is_slowed_down() -> None:
    """Security 8, 16: an address that shows what does not hold is told to wait; others are not, nor one with a key."""
    async with rates(auth="api_key") as counted:
        told = [type(await refused(counted, "192.0.2.7")) for _ in range(MOST_REFUSALS + 5)]
        assert told.count(Unauthorized) in (MOST_REFUSALS, MOST_REFUSALS + SLACK)
        assert told[-1] is RateLimited
        assert isinstance(await refused(counted, "192.0.2.8"), Unauthorized)
        async with counted.refusing(request(address="192.0.2.7")):
            await counted.count(request(address="192.0.2.7"), "ada")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_a_client_s_many_addresses_are_one(address: str, network: str) -> None:
    """Security 16: whoever has one IPv6 address has its whole network."""
    assert network_of(address) == network


async def test_processes_count_together_in_redis() -> None:
    """Security 16, R13.4: an owner's limit holds for all of them; the owner's name is not told to Redis."""
    with run_redis_server() as redis:
        settings: dict[str, Any] = {"redis_url": SecretStr(redis.url), "rate_per_minute": 6}
        async with rates(**settings) as one, rates(**settings) as other:
            assert await passed(one, "ada", 3) == 3
            assert await passed(other, "ada", 9) in (3, 3 + SLACK)
            assert await passed(one, "grace", 1) == 1
            assert one._redis
            keys = [str(key) for key in await one._redis.keys("*")]
            assert keys
            assert not [key for key in keys if "ada" in key or "causeway:rates:" not in key]


async def test_a_redis_that_is_away_takes_no_request_down() -> None:
    """Security 16, R11.1: counted in the process instead; asked again only after a while."""
    settings: dict[str, Any] = {"redis_url": SecretStr("redis://:geheim@127.0.0.1:1/0"), "rate_per_minute": 4}
    async with rates(**settings) as alone:
        with capture_logs() as logs:
            assert await passed(alone, "ada", 9) in (4, 4 + SLACK)
    assert [entry["event"] for entry in logs] == ["rates are counted by this process alone"]
    assert "geheim" not in str(logs)


async def test_a_redis_that_fails_in_between_takes_no_request_down() -> None:
    """Security 16, R11.1"""
    with run_redis_server() as redis:
        async with rates(redis_url=SecretStr(redis.url), rate_per_minute=50) as counted:
            assert await passed(counted, "ada", 3) == 3
            assert counted._redis
            await counted._redis.execute_command("CONFIG", "SET", "maxmemory", "1")
            with capture_logs() as logs:
                assert await passed(counted, "grace", 3) == 3
            assert [entry["event"] for entry in logs] == ["rates are counted by this process alone"]


async def test_processes_of_one_service_count_in_one_file(tmp_path: Path) -> None:
    """Security 16: of one owner together; where the file fails, each process counts alone, and says so once."""
    counts = tmp_path / "rates.sqlite"
    async with rates(counts, rate_per_minute=5) as one, rates(counts, rate_per_minute=5) as other:
        assert await passed(one, "ana", 3) == 3
        assert 2 <= await passed(other, "ana", 5) <= 2 + SLACK
        assert await passed(other, "berta", 5) == 5
        with closing(sqlite3.connect(counts)) as damaged:
            damaged.execute("DROP TABLE counts")
        with capture_logs() as logs:
            assert 5 <= await passed(one, "ana", 7) <= 5 + SLACK
        assert [entry["event"] for entry in logs] == ["rates are counted by this process alone"]

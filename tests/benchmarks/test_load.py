"""What the load test measures with: nothing that goes wrong is left out."""

import asyncio
import socket
import time

import httpx
import pytest

from tests.benchmarks.load import Balancer, Load, at_a_rate, by_clients
from tests.model_server import ModelServer

PATH = "/v1/models"


@pytest.fixture
def nobody() -> str:
    """An address that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_the_other_is_asked_where_one_fails(model_server: ModelServer, nobody: str) -> None:
    """R12 Each request once more at most, and it is counted; where nobody answers, that is an error."""
    async with httpx.AsyncClient() as client:
        balancer = Balancer(client, [nobody, model_server.url])
        load = await by_clients(lambda: balancer.send("GET", PATH), clients=2, seconds=0.2)
        assert not load.errors
        assert 0 < len(load.milliseconds) == len(model_server.requests)
        assert balancer.retried in (len(load.milliseconds) // 2, (len(load.milliseconds) + 1) // 2)
        alone = Balancer(client, [nobody])
        load = await at_a_rate(lambda: alone.send("GET", PATH), a_second=50, seconds=0.1)
        assert load.errors == {"ConnectError": 5}
        assert str(load) == "nothing was answered: {'ConnectError': 5}"


async def test_a_request_that_waits_for_its_turn_is_timed_from_when_it_was_due() -> None:
    """R12 A service that stops for a while is not flattered by requests that were never sent."""
    stopped = asyncio.Lock()

    async def request() -> httpx.Response:
        if not stopped.locked():
            await stopped.acquire()
            time.sleep(0.5)  # noqa: ASYNC251 (the loop itself stands still, and who is due meanwhile is late)
        return httpx.Response(200)

    load = await at_a_rate(request, a_second=100, seconds=0.5)
    assert len(load.milliseconds) == 50
    assert sum(milliseconds > 100 for milliseconds in load.milliseconds) >= 30


async def test_what_is_refused_is_an_error() -> None:
    """R12 And not a quick answer."""
    load = Load(seconds=1.0)
    answers = iter([200, 429, 200, 503, 429])

    async def request() -> httpx.Response:
        return httpx.Response(next(answers))

    for _ in range(5):
        await load.measure(request, due=time.perf_counter())
    assert load.errors == {"429": 2, "503": 1}
    assert str(load).endswith("ms; errors: 2 × 429, 1 × 503")
    assert str(load).startswith("2 requests, 2.0/s, p50 ")

"""A call that the client gives up: the model is left, and the next call is answered. The model is a scripted server."""

import asyncio
import time
from collections.abc import Callable, Iterator

import anyio
import pytest

from tests.api.mcp.mcp_clients import call, open_client
from tests.api.owners import QUESTION, fill
from tests.conftest import Server, run_server
from tests.model_server import Hang, ModelServer, Reply

pytestmark = pytest.mark.slow
WAIT_SECONDS = 30
MODEL_REPLY = Reply("El horno se paró porque se rompió el retén de la puerta [1].")
ENVIRONMENT = {
    "RAG_OWNER": "ana",
    "RAG_COLLECTION": "notes",
    "RAG_CHAT_MAX_RETRIES": "0",
    "RAG_CHAT_FIRST_TOKEN_SECONDS": "120",  # by itself the call ends long after the wait
    "RAG_WORKER": "false",
}


@pytest.fixture(scope="module")
def environment(environment: dict[str, str]) -> dict[str, str]:
    fill(environment["DATABASE_URL"])
    return environment


@pytest.fixture(scope="module")
def server(environment: dict[str, str]) -> Iterator[Server]:
    with run_server(**environment) as running:
        yield running


@pytest.mark.parametrize("way", ["http auto", "http legacy", "stdio auto", "stdio legacy"])
async def test_a_cancelled_call_leaves_the_model(
    way: str, server: Server, environment: dict[str, str], model: ModelServer
) -> None:
    """Security 18: over both transports, in both forms of the protocol. Over HTTP in the older one, a cancellation is a
    request of its own, which any process may get: there the model is left when the client closes its connection.
    """
    left, asked = model.disconnects, len(model.requests)
    async with open_client(way, server, environment) as client:
        model.script(Hang(120))
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ask", {"question": QUESTION})
            assert await _becomes(lambda: len(model.requests) > asked)
            group.cancel_scope.cancel()
        assert way == "http legacy" or await _becomes(lambda: model.disconnects > left)
        assert (await call(client, "ask", question=QUESTION))["citations"]
    assert await _becomes(lambda: model.disconnects > left)
    assert model.disconnects == left + 1


async def _becomes(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    return condition()

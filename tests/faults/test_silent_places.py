"""A cache and a place for files that take connections and never answer."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.world import World, run_world
from tests.redis_server import RedisServer, run_redis_server

pytestmark = pytest.mark.slow
MOST_SILENCE_MS = 5_000


MOST_SECONDS = 60


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with run_redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def world(
    make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory, redis: RedisServer
) -> Iterator[World]:
    with ExitStack() as stack:
        files = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        environment = {
            "REDIS_URL": redis.url,
            "RAG_FILES_URL": "s3://bucket",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{files}",
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        folder: Path = tmp_path_factory.mktemp("silent")
        yield stack.enter_context(run_world(make_database(), folder, documents=(), **environment))


def test_a_silent_cache_is_done_without_and_found_again(world: World, redis: RedisServer) -> None:
    """R11.1, R13.4, 001.16 Nobody is kept waiting by it, soon nobody asks it any more, and nobody has to start anything
    anew.
    """
    texts = {"documents": [{"text": "Harrowmere Stores left Dorada out of its Easter promotion for want of butter."}]}
    world.client.put("/api/v1/collections/demo", json={}).raise_for_status()
    world.client.post("/api/v1/collections/demo/documents", json=texts).raise_for_status()
    world.ask()
    assert health(world) == ("ok", "closed")
    redis.hang()
    first = world.ask()
    assert (first.code, first.degraded) == ("", ()), first
    assert first.longest_silence_ms < MOST_SILENCE_MS
    ask_until("open", world)
    assert health(world)[0] == "degraded"
    redis.go_on()
    ask_until("closed", world)
    assert health(world)[0] == "ok"
    events = {json.loads(line)["event"] for line in world.server.log().splitlines() if line.startswith("{")}
    assert events >= {"cache failed, continuing without it", "circuit opened"}
    assert "sesame" not in world.server.log()


def test_a_silent_place_for_files_is_told(world: World) -> None:
    """R11.1, 001.16 An upload is refused in words; questions go on."""
    refused = world.upload()
    assert (refused.status, refused.code) == (503, "file_unavailable")
    assert refused.longest_silence_ms < MOST_SILENCE_MS
    assert world.ask().code == ""


def ask_until(state: str, world: World) -> None:
    started = time.monotonic()
    while health(world)[1] != state:
        assert world.ask().code == ""
        assert time.monotonic() - started < MOST_SECONDS


def health(world: World) -> tuple[str, str]:
    """Of the service, and of its cache."""
    told = world.client.get("/health").json()
    return told["status"], next(breaker["state"] for breaker in told["breakers"] if breaker["name"] == "redis")

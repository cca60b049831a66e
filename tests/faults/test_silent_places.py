"""A cache and a place for files that take connections and never answer."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.world import World, run_world

pytestmark = pytest.mark.slow
MOST_SILENCE_MS = 5_000


@pytest.fixture(scope="module")
def world(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        cache, files = (stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in "cf")
        environment = {
            "REDIS_URL": f"redis://127.0.0.1:{cache}",
            "RAG_FILES_URL": "s3://bucket",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{files}",
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }
        folder: Path = tmp_path_factory.mktemp("silent")
        yield stack.enter_context(run_world(make_database(), folder, documents=(), **environment))


def test_a_silent_cache_is_done_without(world: World) -> None:
    """R11.1, 001.16 Nobody is kept waiting by it, and soon nobody asks it any more."""
    texts = {"documents": [{"text": "Harrowmere Stores left Dorada out of its Easter promotion for want of butter."}]}
    world.client.put("/api/v1/collections/demo", json={}).raise_for_status()
    world.client.post("/api/v1/collections/demo/documents", json=texts).raise_for_status()
    first = world.ask()
    assert (first.code, first.degraded) == ("", ()), first
    assert first.longest_silence_ms < MOST_SILENCE_MS
    started = time.monotonic()
    while redis_of(world)["state"] == "closed":
        world.ask()
        assert time.monotonic() - started < 30
    assert world.client.get("/health").json()["status"] == "degraded"


def test_a_silent_place_for_files_is_told(world: World) -> None:
    """R11.1, 001.16 An upload is refused in words; questions go on."""
    refused = world.upload()
    assert (refused.status, refused.code) == (503, "file_unavailable")
    assert refused.longest_silence_ms < MOST_SILENCE_MS
    assert world.ask().code == ""


def redis_of(world: World) -> dict[str, object]:
    breakers = world.client.get("/health").json()["breakers"]
    found: dict[str, object] = next(breaker for breaker in breakers if breaker["name"] == "redis")
    return found

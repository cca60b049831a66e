"""Large files go into a bucket in parts, of which none is left behind; and keys that are checked."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphrag.config.settings import Settings
from graphrag.errors import FileUnavailable
from graphrag.file_storage import open_files
from graphrag.file_storage.s3 import PART_BYTES, PARTS_FROM_BYTES
from tests.model_server.serving import PromptServer
from tests.s3_server import let_in_one_alone, run_s3_server

pytestmark = pytest.mark.slow
KEY = "collection/document/content"
LARGE = os.urandom(PARTS_FROM_BYTES + 3)
METHODS = ["DELETE", "GET", "POST", "PUT"]
NOT_PASSED_ON = {"connection", "content-encoding", "content-length", "host", "transfer-encoding"}


class Proxy:
    """Between obstore and the server. It remembers what was asked, and answers with the status that `fault` gives."""

    def __init__(self, server: str) -> None:
        self.asked: list[str] = []  # method and query
        self.fault: Callable[[str], int | None] = lambda asked: None
        self._server = httpx.AsyncClient(base_url=server, timeout=20)

    async def pass_on(self, request: Request) -> Response:
        body, asked = await request.body(), f"{request.method} {request.url.query}"
        self.asked.append(asked)
        if status := self.fault(asked):
            return Response("<Error><Code>Scripted</Code></Error>", status)
        address = f"{request.url.path}?{request.url.query}"
        headers = {name: value for name, value in request.headers.items() if name not in NOT_PASSED_ON}
        answer = await self._server.request(request.method, address, headers=headers, content=body)
        kept = {name: value for name, value in answer.headers.items() if name not in NOT_PASSED_ON}
        return Response(answer.content, answer.status_code, kept)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """With the bucket `files`."""
    with run_s3_server() as address:
        httpx.put(f"{address}/files").raise_for_status()
        yield address


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {"ACCESS_KEY_ID": "tests", "SECRET_ACCESS_KEY": "tests", "REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture
def proxy(server: str) -> Iterator[tuple[Proxy, str]]:
    """And its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    made = Proxy(server)
    app = Starlette(routes=[Route("/{path:path}", made.pass_on, methods=METHODS)])
    running = PromptServer(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
    thread = threading.Thread(target=running.run, args=([listener],), daemon=True)
    thread.start()
    yield made, f"http://127.0.0.1:{listener.getsockname()[1]}"
    running.should_exit = True
    thread.join(timeout=5)


def left_in(server: str) -> int:
    """Files and unfinished ones."""
    listed = (httpx.get(f"{server}/files?{what}").raise_for_status().text for what in ("uploads", "list-type=2"))
    return sum(text.count("<Upload>") + text.count("<Key>") for text in listed)


async def test_a_large_file_goes_in_parts(proxy: tuple[Proxy, str]) -> None:
    """R1.4, R13.4 each within a proxy's limits and a time limit of its own; and comes back to the byte."""
    watched, address = proxy
    storage = open_files(Settings.from_environment(files_url="s3://files", files_endpoint=address))
    await storage.put(KEY, LARGE)
    assert len([asked for asked in watched.asked if "partNumber" in asked]) == -(-len(LARGE) // PART_BYTES)
    assert await storage.get(KEY) == LARGE
    await storage.put(KEY, LARGE[: PARTS_FROM_BYTES // 16])
    assert not [asked for asked in watched.asked[-2:] if "partNumber" in asked]
    await storage.delete(KEY)


@pytest.mark.parametrize(
    ("refused", "status"), [("partNumber=2&", 403), ("partNumber=9&", 500), ("POST uploadId", 500)]
)
async def test_a_large_file_that_fails_leaves_no_part(
    refused: str, status: int, proxy: tuple[Proxy, str], server: str
) -> None:
    """R1.4, R13.4 Unseen parts would be paid for."""
    watched, address = proxy
    watched.fault = lambda asked: status if refused in asked else None
    storage = open_files(Settings.from_environment(files_url="s3://files", files_endpoint=address))
    with pytest.raises(FileUnavailable, match="'files' can't be used: Scripted"):
        await storage.put(KEY, LARGE)
    assert left_in(server) == 0


async def test_a_large_file_that_nobody_waits_for_leaves_no_part(proxy: tuple[Proxy, str], server: str) -> None:
    """R1.4, R13.4, security 18."""
    watched, address = proxy
    storage = open_files(Settings.from_environment(files_url="s3://files", files_endpoint=address))
    putting = asyncio.create_task(storage.put(KEY, LARGE))
    while not any("partNumber=2" in asked for asked in watched.asked):
        await asyncio.sleep(0.005)
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert left_in(server) == 0
    assert [asked for asked in watched.asked if asked.startswith("DELETE uploadId")]


async def test_a_server_that_checks_signatures_refuses_wrong_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.1, R13.4 told as such, without the secret; the right ones write, list, read and delete."""
    with run_s3_server() as address:
        key, secret = let_in_one_alone(address, bucket="files")
        for key_id, tried, told in [
            (key, "top-secret", "SignatureDoesNotMatch"),
            ("AKIANOBODY", secret, "InvalidAccessKeyId"),
        ]:
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", key_id)
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", tried)
            storage = open_files(Settings.from_environment(files_url="s3://files", files_endpoint=address))
            for operation in (storage.put(KEY, b"1"), storage.get(KEY), storage.delete("collection")):
                with pytest.raises(FileUnavailable, match=rf"{told}.*Check AWS_ACCESS_KEY_ID") as caught:
                    await operation
                assert caught.value.details == {"reason": "bucket_refused"}
                assert tried not in str(caught.value)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
        storage = open_files(Settings.from_environment(files_url="s3://files", files_endpoint=address))
        await storage.put(KEY, LARGE)
        assert await storage.list("collection") == [KEY]
        assert await storage.get(KEY) == LARGE
        await storage.delete(KEY)

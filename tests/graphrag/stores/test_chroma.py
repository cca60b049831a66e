"""Chroma's own: its server away and back, its key, its folder held by another process."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import IndexUnavailable, InvalidSettings
from graphrag.models import Collection
from graphrag.models.ingestion import IndexEntry
from graphrag.services import Services
from graphrag.stores.indexes.chroma import ChromaIndex
from graphrag.stores.indexes.indexed_store import IndexedStore
from graphrag.stores.indexes.reconciliation import BOTH
from tests.chroma_server import run_chroma_server
from tests.factories import make_chunk

pytestmark = pytest.mark.slow

ENTRY = IndexEntry(uuid4(), make_chunk("El horno."), [1.0, 0.0], BOTH)
HOLDS = """
import asyncio, sys
from graphrag.services import Services
from graphrag.config.settings import Settings
from graphrag.stores.indexes.chroma import ChromaIndex
index = ChromaIndex(Settings.from_environment())
asyncio.run(index.open())
print("open", flush=True)
sys.stdin.read()
"""


def chroma(**settings: Any) -> ChromaIndex:
    return ChromaIndex(Settings.from_environment(**settings))


@pytest.fixture
def collection(owner: str) -> Collection:
    return Collection(uuid4(), owner, "notes", "tiny")


async def search(index: ChromaIndex, collection: Collection) -> int:
    return len(await index.search_vectors(collection, [1.0, 0.0], kind="content", documents=None, limit=9))


async def test_a_server_that_goes_is_unavailable_and_found_again(collection: Collection) -> None:
    """R13.2, R11.1 without a restart of ours."""
    with run_chroma_server() as address:
        index = chroma(index_url=address)
        await index.open()
        await index.put(collection, [ENTRY])
        assert await search(index, collection) == 1
    for step in (search(index, collection), index.put(collection, [ENTRY]), index.list_entries(collection)):
        with pytest.raises(IndexUnavailable, match="Check RAG_INDEX_URL"):
            await step
    with run_chroma_server(int(address.rpartition(":")[2])):
        await index.put(collection, [ENTRY])
        assert await search(index, collection) == 1
    await index.close()


async def test_vectors_that_do_not_fit_are_refused(chroma_at: str, collection: Collection) -> None:
    """R13.2 as an error of ours."""
    index = chroma(index_url=chroma_at)
    await index.open()
    await index.put(collection, [ENTRY])
    with pytest.raises(IndexUnavailable, match="dimension"):
        await index.put(collection, [replace(ENTRY, id=uuid4(), vector=[1.0, 0.0, 0.0])])
    await index.close()


@pytest.fixture(scope="module")
def chroma_at() -> Iterator[str]:
    with run_chroma_server() as address:
        yield address


async def test_the_name_of_the_embedding_model_is_told(chroma_at: str, collection: Collection) -> None:
    """R13.2 in the metadata of a cosine collection of Chroma's."""
    index = chroma(index_url=chroma_at)
    await index.open()
    await index.put(collection, [ENTRY])
    (shelf,) = await index._shelves(collection)
    assert shelf.metadata == {"embedding_model": "tiny"}
    assert shelf.configuration_json["hnsw"]["space"] == "cosine"
    await index.close()


@contextmanager
def refusing() -> Iterator[tuple[str, list[str]]]:
    """A server that lets nobody in, and the tokens that it was shown."""
    shown: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown.append(self.headers.get("X-Chroma-Token", ""))
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", shown
    server.shutdown()
    thread.join()
    server.server_close()


async def test_the_key_is_shown_to_the_server_alone() -> None:
    """R13.2, security 16"""
    with refusing() as (address, shown):
        index = chroma(index_url=address, index_api_key=SecretStr("geheim"))
        with pytest.raises(IndexUnavailable) as refused:
            await index.open()
    assert set(shown) == {"geheim"}
    assert "geheim" not in f"{refused.value} {refused.value.__cause__!r}"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://", "http://host:port"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    """R13.2, R4.10 without what it holds: that may be a password."""
    with pytest.raises(InvalidSettings, match="RAG_INDEX_URL is no address of a Chroma server"):
        chroma(index_url=url)


async def test_its_folder_is_one_process_s(
    tmp_path: Path, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R13.2 what another one adds to it would not be found by this one; when that one ends, it is free."""
    monkeypatch.setenv("CAUSEWAY_HOME", str(tmp_path))
    index = chroma(home=tmp_path)
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(IndexUnavailable, match=r"another process's.*RAG_INDEX_URL"):
            await index.open()
        other.communicate()
    await index.open()
    await index.put(collection, [ENTRY])
    await index.close()
    again = chroma(home=tmp_path)
    await again.open()
    assert await search(again, collection) == 1
    await again.close()


async def test_many_first_searches_open_it_once(tmp_path: Path, services: Services, collection: Collection) -> None:
    """R13.2 and after it was closed it opens itself again."""
    store = IndexedStore(services.database, chroma(home=tmp_path), fulltext_candidates=400)
    for _ in range(2):
        found = await asyncio.gather(*(store.search_vectors(collection, [1.0, 0.0], limit=3) for _ in range(5)))
        assert found == [[]] * 5
        assert store.breaker.states()[0].failures == 0
        await store.close()

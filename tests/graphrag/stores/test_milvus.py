"""Milvus's own: its server away, back and silent, a node of a cluster lost, its key, its folder, its words."""

import asyncio
import base64
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import IndexUnavailable, InvalidSettings
from graphrag.models import Collection
from graphrag.models.ingestion import IndexEntry
from graphrag.stores.indexes.milvus import MilvusIndex, _name
from graphrag.stores.indexes.reconciliation import BOTH
from tests.factories import make_chunk, make_document
from tests.milvus_server import run_milvus_process, run_milvus_server

pytestmark = pytest.mark.milvus

ENTRY = IndexEntry(uuid4(), make_chunk("El horno."), [1.0, 0.0], BOTH)
HOLDS = """
import asyncio, sys
from graphrag.config.settings import Settings
from graphrag.stores.indexes.milvus import MilvusIndex
index = MilvusIndex(Settings.from_environment())
asyncio.run(index.open())
print("open", flush=True)
sys.stdin.read()
"""


def milvus(**settings: Any) -> MilvusIndex:
    return MilvusIndex(Settings.from_environment(**settings))


@pytest.fixture
def collection(owner: str) -> Collection:
    return Collection(uuid4(), owner, "notes", "tiny")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with run_milvus_server() as address:
        yield address


@pytest.fixture
async def index(server: str) -> AsyncIterator[MilvusIndex]:
    index = milvus(index_url=server)
    await index.open()
    yield index
    await index.close()


async def search(index: MilvusIndex, collection: Collection) -> int:
    return len(await index.search_vectors(collection, [1.0, 0.0], kind="content", documents=None, limit=9))


async def find_words(index: MilvusIndex, collection: Collection, *words: str) -> list[str]:
    found = await index.search_words(collection, words, documents=None, limit=9)
    return [str(candidate.entry_id) for candidate in found]


async def test_a_server_that_goes_is_unavailable_and_found_again(collection: Collection) -> None:
    """R13, R11.1 without a restart of ours."""
    with run_milvus_server() as address:
        index = milvus(index_url=address, index_timeout_seconds=2)
        await index.open()
        await index.put(collection, [ENTRY])
        assert await search(index, collection) == 1
    for step in (search(index, collection), index.put(collection, [ENTRY]), index.list_entries(collection)):
        with pytest.raises(IndexUnavailable, match="Check RAG_INDEX_URL"):
            await step
    with run_milvus_server(int(address.rpartition(":")[2])):
        assert await search(index, collection) == 0
        await index.put(collection, [ENTRY])
        assert await search(index, collection) == 1
    await index.close()


async def test_a_server_that_is_not_there_yet_is_found_later(collection: Collection) -> None:
    """R13, R11.1 as where ours is started first."""
    with run_milvus_server() as address:
        pass
    index = milvus(index_url=address, index_timeout_seconds=2)
    with pytest.raises(IndexUnavailable):
        await index.open()
    with run_milvus_server(int(address.rpartition(":")[2])):
        await index.open()
        await index.put(collection, [ENTRY])
        assert await search(index, collection) == 1
    await index.close()


async def test_a_search_ends_when_its_server_is_silent_or_dies(collection: Collection) -> None:
    """R13, R11.1 in the time for a call, or at once."""
    with run_milvus_process() as (address, process):
        index = milvus(index_url=address, index_timeout_seconds=3)
        await index.open()
        await index.put(collection, [ENTRY])
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(IndexUnavailable):
            async with asyncio.timeout(5):
                await search(index, collection)
        searching = asyncio.create_task(search(index, collection))
        await asyncio.sleep(0.2)
        process.kill()
        with pytest.raises(IndexUnavailable):
            async with asyncio.timeout(5):
                await searching
    await index.close()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, Any]]:
    """Milvus Lite whose search answers as a cluster's proxy does that has lost a node, from `servicer.lost` on."""
    import grpc
    from milvus_lite import MilvusLite
    from milvus_lite.adapter.grpc.servicer import MilvusServicer
    from pymilvus.grpc_gen import common_pb2, milvus_pb2, milvus_pb2_grpc

    class Proxy(MilvusServicer):  # type: ignore[misc]
        lost = False
        tokens: set[str]

        def Connect(self, request: Any, context: Any) -> Any:
            self.tokens |= {value for key, value in context.invocation_metadata() if key == "authorization"}
            return super().Connect(request, context)

        def Search(self, request: Any, context: Any) -> Any:
            if not self.lost:
                return super().Search(request, context)
            reason = "fail to search on QueryNode 7: node offline: channel not available"
            return milvus_pb2.SearchResults(status=common_pb2.Status(code=503, error_code=1, reason=reason))

    with ThreadPoolExecutor() as pool:
        database = MilvusLite(str(folder))
        proxy = Proxy(database)
        proxy.tokens = set()
        server = grpc.server(pool)
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(proxy, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield f"http://127.0.0.1:{port}", proxy
        server.stop(None).wait()
        database.close()


async def test_a_lost_node_is_reported_and_its_return_found(tmp_path: Path, collection: Collection) -> None:
    """R13, R11.1 PostgreSQL searches meanwhile. Security 16: the key is shown to the server, and in no message."""
    with cluster(tmp_path) as (address, proxy):
        index = milvus(index_url=address, index_api_key=SecretStr("root:geheim"))
        await index.open()
        await index.put(collection, [ENTRY])
        proxy.lost = True
        with pytest.raises(IndexUnavailable, match="channel not available") as lost:
            await search(index, collection)
        proxy.lost = False
        assert await search(index, collection) == 1
        await index.close()
        assert proxy.tokens == {base64.b64encode(b"root:geheim").decode()}
        assert "geheim" not in f"{lost.value} {lost.value.__cause__!r}"


async def test_vectors_of_other_dimensions_are_refused_with_a_way_out(
    index: MilvusIndex, collection: Collection
) -> None:
    """R13, R3.8 the way leads out."""
    await index.put(collection, [ENTRY])
    longer = replace(ENTRY, id=uuid4(), vector=[1.0, 0.0, 0.0])
    told = rf"{_name('tiny')} has vectors of 2 dimensions.* makes 3\. Drop that collection"
    with pytest.raises(IndexUnavailable, match=told):
        await index.put(collection, [longer])
    with pytest.raises(IndexUnavailable, match=told):
        await index.search_vectors(collection, [1.0, 0.0, 0.0], kind="content", documents=None, limit=9)
    await index._client.drop_collection(_name("tiny"))
    assert await index.list_entries(collection) == set()
    await index.put(collection, [longer])
    assert await index.list_entries(collection) == {longer.id}
    await index._client.drop_collection(_name("tiny"))


async def test_what_goes_into_a_collection_that_was_dropped_is_not_lost_unnoticed(
    index: MilvusIndex, collection: Collection
) -> None:
    """R13, R11.1 it is refused, and then stored in a new one."""
    await index.put(collection, [ENTRY])
    assert await search(index, collection) == 1
    await index._client.drop_collection(_name("tiny"))
    with pytest.raises(IndexUnavailable, match=f"its collection {_name('tiny')} is gone"):
        await index.put(collection, [ENTRY])
    await index.put(collection, [ENTRY])
    assert await search(index, collection) == 1


async def test_others_read_what_was_written_before(server: str, index: MilvusIndex, collection: Collection) -> None:
    """R13 over another connection, of an index that has not known the collection."""
    other = milvus(index_url=server)
    await other.open()
    for _ in range(20):
        entry = replace(ENTRY, id=uuid4())
        await index.put(collection, [entry])
        assert entry.id in await other.list_entries(collection)
        await other.delete(collection, [entry.id])
        assert await search(index, collection) == 0
    described = await index._client.describe_collection(_name("tiny"))
    assert described["consistency_level_name"] == "Strong"
    assert [field["name"] for field in described["fields"] if field.get("is_partition_key")] == ["owner"]
    await other.close()


async def test_two_that_begin_at_once_make_one_collection(server: str, owner: str) -> None:
    """R13 whoever loses finds what the other made."""
    collection = Collection(uuid4(), owner, "notes", f"model {uuid4()}")
    indexes = [milvus(index_url=server) for _ in range(2)]
    await asyncio.gather(*(index.open() for index in indexes))
    entries = [replace(ENTRY, id=uuid4()) for _ in indexes]
    await asyncio.gather(
        *(index.put(collection, [entry]) for index, entry in zip(indexes, entries, strict=True)),
    )
    assert await indexes[0].list_entries(collection) == {entry.id for entry in entries}
    for index in indexes:
        await index.close()


@pytest.mark.parametrize(
    ("language", "text", "asked"),
    [
        ("es", "Los hornos fallaron de noche.", "fallar"),
        ("fr", "Les livraisons étaient retardées.", "livraison"),
        ("en", "Deliveries were delayed.", "delivery"),
        ("de", "Die Öfen waren kalt.", "Öfen"),
    ],
)
async def test_words_match_inflected_forms_in_each_language(
    index: MilvusIndex, collection: Collection, language: str, text: str, asked: str
) -> None:
    """R13, R4.3 the language is the document's, not the question's; and no punctuation is a query's."""
    entry = replace(ENTRY, id=uuid4(), chunk=make_chunk(text, document=make_document(language=language)))
    await index.put(collection, [entry, replace(ENTRY, id=uuid4())])
    assert await find_words(index, collection, asked) == [str(entry.id)]
    assert await find_words(index, collection, 'x" or owner != "', "\\", "ausente") == []


async def test_a_long_text_is_cut_not_refused(index: MilvusIndex, collection: Collection) -> None:
    """R13 Milvus's texts have an end."""
    entry = replace(ENTRY, id=uuid4(), chunk=make_chunk("horno " + "número " * 20_000))
    await index.put(collection, [entry])
    assert await find_words(index, collection, "horno") == [str(entry.id)]


@pytest.mark.parametrize("url", ["localhost:19530", "ftp://host", "http://", "http://host:port", "milvus.db"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    """R13, R4.10 without what it holds: that may be a password."""
    with pytest.raises(InvalidSettings, match="RAG_INDEX_URL is no address of a Milvus server"):
        milvus(index_url=url)


async def test_its_folder_is_one_process_s(
    tmp_path: Path, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R13 when that one ends, it is free; what is in it is there again."""
    monkeypatch.setenv("CAUSEWAY_HOME", str(tmp_path))
    index = milvus(home=tmp_path)
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(IndexUnavailable, match=r"one process at a time.*RAG_INDEX_URL"):
            await index.open()
        other.communicate()
    await index.open()
    await index.put(collection, [ENTRY])
    await index.close()
    again = milvus(home=tmp_path)
    await again.open()
    assert await search(again, collection) == 1
    await again.close()

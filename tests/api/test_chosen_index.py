"""RAG_INDEX: another index is one file, and one line in `services.INDEXES`."""

import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from api.app import create_app
from api.cli.ingest import optimize
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import CollectionNotFound, IndexUnavailable, InvalidSettings, MissingExtra
from graphrag.ingestion.sources import SourceFile
from graphrag.models import Collection
from graphrag.models.ingestion import Candidate, IngestionStatus
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.services import INDEXES, Services, open_services
from graphrag.stores.indexes.indexed_store import FAILURES
from tests.conformance.toy_index import ToyIndex
from tests.conftest import DEMO, with_services

FILES = ["informe-calidad-horno-h2.md", "registre-reclamations-clients.md", "supplier-contract-pellington.md"]


class AwayIndex(ToyIndex):
    """Nobody is there."""

    async def open(self) -> None:
        raise IndexUnavailable("Nobody answers.", index=self.name)


@pytest.fixture
async def serving(
    postgres: str, registry: EmbeddingRegistry, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[..., Services]]:
    made: list[Services] = []
    monkeypatch.setitem(INDEXES, "toy", ToyIndex)  # the one line
    monkeypatch.setitem(INDEXES, "away", AwayIndex)

    def serve(index: str | None, **settings: Any) -> Services:
        chosen = Settings.from_environment(database_url=SecretStr(postgres), index=index, **settings)
        made.append(open_services(chosen, embeddings=registry))
        return made[-1]

    yield serve
    for services in made:
        await services.close()


async def ingest(services: Services, owner: str) -> Collection:
    collection = await services.collections.create(owner, "demo")
    files = [SourceFile(name, name, (DEMO / name).read_bytes()) for name in FILES]
    model = await services.collections.embedding_model(collection)
    outcomes = await services.ingestion.ingest(files, collection=collection, model=model)
    assert {outcome.status for outcome in outcomes} == {IngestionStatus.INDEXED}
    return await services.collections.open(owner, "demo")


async def test_an_index_is_added_by_one_file_and_one_line(serving: Callable[..., Services], owner: str) -> None:
    """R13.2 documents go into it and are found by it; the search knows nothing of it."""
    services = serving("toy")
    collection = await ingest(services, owner)
    assert services.index
    toy = services.index._index
    assert isinstance(toy, ToyIndex)
    assert len(await toy.list_entries(collection)) == collection.chunk_count > 5
    found = await services.retrieval.find(SearchRequest("¿Qué le pasó al horno H2?", ("demo",)), owner)
    assert found.hits[0].chunk.document.filename == FILES[0]
    assert {"fulltext", "vector"} <= set(found.hits[0].scores)
    vector = (await (await services.collections.embedding_model(collection)).embed(["horno"]))[0]
    hits = await services.store.search_vectors(collection, vector, limit=3)
    nearest: list[Candidate] = await toy.search_vectors(collection, vector, kind="content", documents=None, limit=3)
    assert [(hit.chunk.id, hit.score) for hit in hits] == [(of.chunk_id, of.score) for of in nearest]


async def test_the_service_starts_and_searches_without_its_index(serving: Callable[..., Services], owner: str) -> None:
    """R13.2, R11.3 told with its address and without its key; /health tells; nothing is deleted."""
    await ingest(serving("toy"), owner)
    services = serving(
        "away", query_cache_seconds=0, index_url="http://me:geheim@index:8108", index_api_key=SecretStr("geheim")
    )
    with capture_logs() as logs:
        await services.open()
        for _ in range(FAILURES):
            found = await services.retrieval.find(SearchRequest("¿Qué le pasó al horno H2?", ("demo",)), owner)
            assert found.hits[0].chunk.document.filename == FILES[0]
            assert not found.failed
    (told,) = [entry for entry in logs if entry["event"] == "search index unavailable"]
    assert (told["log_level"], told["address"]) == ("warning", "index:8108")
    assert "geheim" not in str(logs)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(create_app(services)), base_url="http://localhost"
    ) as client:
        health = (await client.get("/health")).json()
    assert health["status"] == "degraded"
    assert [of["state"] for of in health["breakers"] if of["name"] == "toy"] == ["open"]
    with pytest.raises(IndexUnavailable, match="Nobody answers"):
        await services.store.delete_collection(await services.collections.open(owner, "demo"))


def test_an_index_that_nobody_knows_is_told(serving: Callable[..., Services]) -> None:
    """R13.2, R4.10 with those that there are."""
    with pytest.raises(InvalidSettings, match=r"RAG_INDEX is 'magic'\. Known: .*chroma.*toy"):
        _ = serving("magic").store


@pytest.mark.parametrize(("index", "module"), [("chroma", "chromadb"), ("milvus", "pymilvus")])
def test_what_an_index_needs_is_told(
    serving: Callable[..., Services], monkeypatch: pytest.MonkeyPatch, index: str, module: str
) -> None:
    """R13.2 its extra, and an address that is one."""
    monkeypatch.setitem(sys.modules, module, None)  # as where it is not installed
    with pytest.raises(MissingExtra, match=rf"make install WITH={index}"):
        _ = serving(index).store


def test_one_command_brings_the_index_in_step(postgres: str, owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R13.2 a database that was filled before RAG_INDEX was set: all of the owner's collections, or the named one."""
    collection = with_services(postgres, lambda services: ingest(services, owner))
    toy = ToyIndex()
    monkeypatch.setitem(INDEXES, "toy", lambda _: toy)
    environment = {"DATABASE_URL": postgres, "RAG_OWNER": owner, "RAG_INDEX": "toy"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CollectionNotFound, match="magic"):
        optimize("magic")
    assert not toy.entries
    optimize(None)
    assert len(toy.entries[owner, collection.id]) == collection.chunk_count
    toy.entries.clear()
    optimize("demo")
    assert len(toy.entries[owner, collection.id]) == collection.chunk_count

"""The examination of an index beside PostgreSQL: a server that follows Typesense's published API."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from graphrag.config.settings import Settings
from graphrag.diagnosis.findings import Finding, Level
from graphrag.models import LOCAL_OWNER
from graphrag.models.ingestion import IndexedDocument
from graphrag.services import open_services
from tests.chroma_server import run_chroma_server
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document
from tests.golden_library import TEXTS, open_shelf
from tests.graphrag.diagnosis.test_diagnosis import found
from tests.typesense_server import KEY, TypesenseServer

PATCH = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def server() -> Iterator[TypesenseServer]:
    with TypesenseServer() as running:
        yield running


@pytest.fixture(autouse=True)
def configured(make_database: Callable[[], str], server: TypesenseServer, monkeypatch: PATCH) -> None:
    for name, value in {"": "typesense", "_URL": server.url, "_API_KEY": KEY}.items():
        monkeypatch.setenv(f"RAG_INDEX{name}", value)
    monkeypatch.setenv("DATABASE_URL", make_database())
    server.reset()


async def ingested() -> None:
    services = open_services(Settings.from_environment())
    await open_shelf(services, LOCAL_OWNER)
    await services.close()


async def look() -> dict[str, Finding]:
    return await asyncio.to_thread(found)


async def test_an_index_is_compared_with_the_database(server: TypesenseServer, monkeypatch: PATCH) -> None:
    """R13.1, R11.2 what it lacks, and what it has too many of. Security 8: a password in its address is not told."""
    monkeypatch.setenv("RAG_INDEX_URL", server.url.replace("://", "://ana:geheim@"))
    await ingested()
    findings = await look()
    assert findings["index"].details == {"index": "typesense", "place": server.url.replace("://", "://…@")}
    assert findings["index_in_step"].details == {"index": "typesense", "entries": len(TEXTS), "owner": LOCAL_OWNER}
    (held,) = server.collections.values()
    id, document = held.documents.popitem()
    assert (await look())["index_behind"].details["missing"] == 1
    strange = "5f0c5a0e-0000-4000-8000-000000000000"
    held.documents |= {id: document, strange: document | {"id": strange}}
    finding = (await look())["index_behind"]
    assert (finding.level, finding.details["missing"], finding.details["strange"]) == (Level.WARNING, 0, 1)


@pytest.mark.slow
async def test_an_index_of_vectors_lacks_no_chunk_without_one(monkeypatch: PATCH) -> None:
    """R13.2, R11.2 Chroma, which holds no vector without direction."""
    pytest.importorskip("chromadb")
    with run_chroma_server() as url:
        monkeypatch.setenv("RAG_INDEX", "chroma")
        monkeypatch.setenv("RAG_INDEX_URL", url)
        services = open_services(Settings.from_environment())
        collection = await services.collections.create(LOCAL_OWNER, "notes")
        document = make_document(collection_id=collection.id)
        chunks = tile(document, ["El horno falló.", "⟦⟧"])
        vectors = [[1.0] * 256, [0.0] * 256]
        await services.store.put_documents(collection, [IndexedDocument(document, chunks, vectors)])
        await services.close()
        assert (await look())["index_in_step"].details["entries"] == 1


def test_an_index_that_does_not_answer_is_told_without_its_key(monkeypatch: PATCH) -> None:
    """R13.1, R11.1 PostgreSQL searches meanwhile."""
    monkeypatch.setenv("RAG_INDEX_API_KEY", "geheim")
    refused = found()["index_away"]
    assert refused.level is Level.WARNING
    assert "geheim" not in str(refused)
    monkeypatch.setenv("RAG_INDEX_URL", "http://127.0.0.1:1")
    assert "127.0.0.1:1" in str(found()["index_away"].details["cause"])


def test_an_index_that_is_none_is_told(monkeypatch: PATCH) -> None:
    """R13.1, R13.2, R11.1 without an address, or of no such name."""
    monkeypatch.setenv("RAG_INDEX_URL", "")
    for name, told in {"typesense": "RAG_INDEX_URL", "typsense": "typesense"}.items():
        monkeypatch.setenv("RAG_INDEX", name)
        finding = found()["cannot_be_used"]
        assert (finding.level, finding.details["what"]) == (Level.ERROR, "RAG_INDEX")
        assert told in str(finding.details["cause"])


def test_without_an_index_nothing_is_said_of_one(monkeypatch: PATCH) -> None:
    """R13.1"""
    monkeypatch.setenv("RAG_INDEX", "")
    assert not [code for code in found() if code.startswith("index")]

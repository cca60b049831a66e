"""Searches through Typesense and PostgreSQL together, as a service does them."""

import math
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import IndexUnavailable
from graphrag.models import Collection, Hit, Intent, TransformedQuery
from graphrag.models.ingestion import IndexedDocument
from graphrag.retrieval import hybrid
from graphrag.services import Services, open_services
from tests.api.uploads import REPORT, ask, finished, upload
from tests.conformance.test_chunk_store import tile
from tests.conftest import run_server
from tests.factories import make_document, make_query
from tests.typesense_server import KEY, Fail, TypesenseServer

TEXTS = ["El horno H2 quemó las galletas.", "El horno nuevo es de gas.", "La mantequilla llegó tarde.", "Sin horno."]
VECTORS = [[0.6, 0.8], [1.0, 0.0], [0.8, 0.6], [-1.0, 0.0]]
SEARCH = "/multi_search"
VECTOR_SHARE, WORD_SHARE = 0.7, 0.3  # the specification's


@pytest.fixture(scope="module")
def server() -> Iterator[TypesenseServer]:
    with TypesenseServer() as running:
        yield running


@pytest.fixture
async def services(postgres: str, server: TypesenseServer) -> AsyncIterator[Services]:
    """As another process has them that meets the same servers."""
    server.reset()
    opened = open_services(
        Settings.from_environment(
            database_url=SecretStr(postgres), index="typesense", index_url=server.url, index_api_key=SecretStr(KEY)
        )
    )
    yield opened
    await opened.close()


@pytest.fixture
async def collection(services: Services, owner: str) -> Collection:
    """With four documents of one chunk each."""
    made = await services.store.create_collection(owner, "notes", embedding_model="tiny")
    await services.store.put_documents(made, documents(made))
    return made


def documents(collection: Collection) -> list[IndexedDocument]:
    indexed = []
    for text, vector in zip(TEXTS, VECTORS, strict=True):
        document = make_document(collection_id=collection.id, title="")
        indexed.append(IndexedDocument(document, tile(document, [text]), [vector]))
    return indexed


class East(Embeddings):
    """Every question looks the same way."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]


MODEL = EmbeddingModel("tiny", "tiny", dimensions=2, fusion_weight=0.5, embeddings=East())


async def retrieve(services: Services, collection: Collection, **config: object) -> list[Hit]:
    """By both legs, weighed as the specification says, words ranked by Typesense."""
    wanted: dict[str, Any] = {
        "strategy": "hybrid",
        "fusion": "weighted",
        "vector_weight": VECTOR_SHARE,
        "fulltext_ranking": "index",
    }
    found = await hybrid.search_collection(
        make_query(TransformedQuery("horno de gas", "es", Intent.FACTUAL), collection, model=MODEL, **wanted | config),
        store=services.store,
    )
    assert not found.failed
    return found.hits


async def test_vectors_count_seventy_words_thirty(
    server: TypesenseServer, services: Services, collection: Collection
) -> None:
    """R13.1 [000] each hit scores .7 of its cosine and .3 of its text match, both standardised over what was found."""
    server.asked.clear()
    hits = await retrieve(services, collection)
    assert [path for _, path in server.asked].count(SEARCH) == 2
    assert [hit.chunk.content for hit in hits] == [TEXTS[1], TEXTS[0], TEXTS[2], TEXTS[3]]
    cosines = [hit.scores.get("vector", 0.0) for hit in hits]
    assert cosines == pytest.approx([1.0, 0.6, 0.8, 0.0], abs=1e-3)
    matches = [hit.scores.get("fulltext", 0.0) for hit in hits]
    assert (0.99 < matches[0] <= 1.0, 0.4 < matches[1] < 0.6, matches[2]) == (True, True, 0.0)
    sums = [VECTOR_SHARE * v + WORD_SHARE * w for v, w in zip(standard(cosines), standard(matches), strict=True)]
    least = VECTOR_SHARE * min(standard(cosines)) + WORD_SHARE * min(standard(matches))
    most = VECTOR_SHARE * max(standard(cosines)) + WORD_SHARE * max(standard(matches))
    assert [hit.score for hit in hits] == pytest.approx([(value - least) / (most - least) for value in sums])


def standard(scores: Sequence[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / deviation for score in scores]


async def test_bm25_is_postgresql_s(server: TypesenseServer, services: Services, collection: Collection) -> None:
    """R13.1 unless `fulltext_ranking` is index, words are ranked as by every other store: one search is Typesense's."""
    server.asked.clear()
    assert len(await retrieve(services, collection, fulltext_ranking="bm25")) == 4
    assert [path for _, path in server.asked].count(SEARCH) == 1


async def test_one_that_fails_is_done_without(
    server: TypesenseServer, services: Services, collection: Collection
) -> None:
    """R13.1, R11.1 PostgreSQL searches the same chunks; after two failures nobody asks for a while, as /health says."""
    found = {hit.chunk.id for hit in await retrieve(services, collection)}
    server.asked.clear()
    server.fail(Fail(400), Fail(400), path=SEARCH)
    for _ in range(2):
        assert {hit.chunk.id for hit in await retrieve(services, collection)} == found
    assert [path for _, path in server.asked].count(SEARCH) == 2
    (state,) = [state for state in services.breakers() if state.name == "typesense"]
    assert (state.state, state.failures) == ("open", 2)


async def test_documents_are_taken_whole_or_not_at_all(
    server: TypesenseServer, services: Services, collection: Collection
) -> None:
    """R13.1 one chunk that Typesense refuses, and nothing is changed: there, in PostgreSQL, or in what is found."""
    before = {hit.chunk.id for hit in await retrieve(services, collection)}
    held = set(server.collections["document_chunks"].documents)
    more = documents(collection)
    server.refuses = lambda document: document["chunk_id"] == str(more[3].chunks[0].id)
    with pytest.raises(IndexUnavailable):
        await services.store.put_documents(collection, more)
    assert set(server.collections["document_chunks"].documents) == held
    assert len(await services.store.list_documents(collection)) == 4
    assert {hit.chunk.id for hit in await retrieve(services, collection)} == before


@pytest.mark.slow
def test_a_service_starts_without_it(server: TypesenseServer, make_database: Callable[[], str]) -> None:
    """R11.3, R13.1 with Typesense away the service runs and says so, an upload waits; when it is there, all goes on."""
    server.reset()
    chosen = {"RAG_INDEX": "typesense", "RAG_INDEX_URL": server.url, "RAG_INDEX_API_KEY": KEY}
    with ExitStack() as stack:
        absence = stack.enter_context(ExitStack())
        absence.enter_context(server.away())
        running = stack.enter_context(run_server(DATABASE_URL=make_database(), **chosen))
        api = stack.enter_context(httpx.Client(base_url=f"{running.url}/api/v1", timeout=30))
        assert f"127.0.0.1:{server.url.rpartition(':')[2]}" in running.log()
        assert KEY not in running.log()
        made = upload(api, "notes", "informe.md", REPORT)
        assert api.get(f"{running.url}/health").json()["database"] == "ok"
        assert api.get(f"/documents/{made['id']}").json()["is_searchable"] is False
        absence.close()
        assert finished(api, made["id"])["status"] == "indexed"
        assert "retén" in ask(api, "notes", "¿Por qué falló el horno H2?")["answer"]
        assert ("POST", SEARCH) in server.asked
        with server.away():
            assert "retén" in ask(api, "notes", "¿Qué se rompió en el horno H2?")["answer"]

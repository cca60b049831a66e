"""Collections as LangChain sees them."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from graphrag.config.settings import Settings
from graphrag.db.identity import act_as
from graphrag.db.migrate import APPLICATION_ROLE
from graphrag.errors import CollectionNotFound, InvalidQuestion, MissingExtra
from graphrag.ingestion.sources import SourceText
from graphrag.langchain import CausewayRetriever, open_vector_store
from graphrag.models import Collection, Filters
from graphrag.services import Services, open_services
from tests.processes import ROOT

TEXTS = [
    SourceText("horno", "El horno H2 falló porque se rompió el retén de la puerta.", title="Parte 7", tags=("l4",)),
    SourceText("entrepot", "L'entrepôt de Toulouse consomme trop d'électricité en hiver.", title="Note"),
    SourceText("tins", "The Bristol office ordered the Christmas tins in September.", title="Memo"),
    SourceText("limpieza", "El horno pequeño se limpia los viernes por la tarde.", title="Parte 8"),
]
QUESTION = "¿Por qué falló el horno H2?"


async def fill(services: Services, owner: str, name: str, texts: Sequence[SourceText] = TEXTS) -> Collection:
    made = await services.store.create_collection(owner, name, embedding_model="bundled")
    model = await services.collections.embedding_model(made)
    await services.ingestion.ingest(texts, collection=made, model=model)
    return await services.collections.open(owner, name)


@pytest.fixture
async def retriever(services: Services, owner: str) -> CausewayRetriever:
    await fill(services, owner, "notes")
    return CausewayRetriever(services=services, collection="notes", owner_id=owner)


async def test_retriever_finds_with_all_that_is_known(retriever: CausewayRetriever) -> None:
    """R4.7 as metadata."""
    documents = await retriever.ainvoke(QUESTION)
    best = documents[0]
    (chunk_id, document_id) = (best.metadata.pop("chunk_id"), best.metadata.pop("document_id"))
    assert best.id == chunk_id
    assert UUID(chunk_id) != UUID(document_id)
    assert datetime.fromisoformat(best.metadata.pop("created_at")).tzinfo is not None
    assert 0 < best.metadata.pop("score") <= 1
    assert set(best.metadata.pop("scores")) == {"fulltext", "vector", "fusion", "rerank"}
    assert best.page_content == TEXTS[0].text
    assert best.metadata == {
        "chunk_index": 0,
        "source": "horno",
        "filename": "horno",
        "title": "Parte 7",
        "language": "es",
        "media_type": "text/plain",
        "source_type": "text",
        "tags": ["l4"],
        "context": "Parte 7",
        "start_char": 0,
        "end_char": len(TEXTS[0].text),
    }


async def test_blocking_call_works_beside_a_running_loop_and_without_one(retriever: CausewayRetriever) -> None:
    """R4.7 the same hits by `ainvoke`, by `invoke` in this test's own loop, in a thread without one, and again."""
    expected = await retriever.ainvoke(QUESTION)
    assert len(expected) > 1
    assert retriever.invoke(QUESTION) == expected
    assert await asyncio.to_thread(retriever.invoke, QUESTION) == expected
    assert await retriever.ainvoke(QUESTION) == expected
    assert retriever.batch([QUESTION, QUESTION]) == [expected, expected]


async def test_overrides_are_those_of_a_request(retriever: CausewayRetriever) -> None:
    """R4.10 an invalid value leaves the default."""
    one = retriever.model_copy(update={"overrides": {"top_k": 1, "rerank": False, "rrf_k": -3}})
    (document,) = await one.ainvoke(QUESTION)
    assert document.page_content == TEXTS[0].text
    assert set(document.metadata["scores"]) == {"fulltext", "vector", "fusion"}


async def test_filters_are_those_of_a_search(retriever: CausewayRetriever) -> None:
    """R4.5"""
    tagged = retriever.model_copy(update={"filters": Filters(tags=("l4",))})
    assert [document.metadata["source"] for document in await tagged.ainvoke("El horno")] == ["horno"]


async def test_what_is_wrong_is_our_own_error(retriever: CausewayRetriever, owner: str) -> None:
    """R4.8 another owner has no such collection."""
    theirs = retriever.model_copy(update={"owner_id": f"other-{owner}"})
    for ask in (theirs.ainvoke, lambda question: asyncio.to_thread(theirs.invoke, question)):
        with pytest.raises(CollectionNotFound):
            await ask(QUESTION)
    with pytest.raises(InvalidQuestion):
        retriever.invoke(" ")


SCRIPT = """
from graphrag.langchain import CausewayRetriever
from graphrag.services import open_services
from graphrag.config.settings import Settings
from graphrag.observability.telemetry import configure_logging

configure_logging("WARNING")
services = open_services(Settings.from_environment())
retriever = CausewayRetriever(services=services, collection="notes", owner_id="{owner}")
for _ in range(2):
    print(retriever.invoke("{question}")[0].metadata["source"])
"""


@pytest.mark.usefixtures("retriever")
def test_script_without_a_loop_ends_quietly(postgres: str, owner: str) -> None:
    """R4.7 the connections of the blocking call are closed at its end."""
    run = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", SCRIPT.format(owner=owner, question=QUESTION)],
        cwd=ROOT, env=os.environ | {"DATABASE_URL": postgres}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "horno\nhorno\n"), run.stderr
    assert run.stderr == ""


EMBEDDED_SCRIPT = """
import asyncio
from graphrag.ingestion.sources import SourceText
from graphrag.langchain import CausewayRetriever
from graphrag.services import open_services
from graphrag.config.settings import Settings
from graphrag.observability.telemetry import configure_logging

async def fill(services):
    notes = await services.collections.create("local", "notes")
    model = await services.collections.embedding_model(notes)
    await services.ingestion.ingest([SourceText("horno", "El horno H2 se limpia.")], collection=notes, model=model)
    await services.close()

configure_logging("WARNING")
services = open_services(Settings.from_environment())
asyncio.run(fill(services))
print(CausewayRetriever(services=services).invoke("horno H2")[0].metadata["source"])
"""


@pytest.mark.slow
def test_script_over_the_embedded_server_ends_it_too() -> None:
    """R4.7 the blocking call starts the server where nobody else has, and stops it at Python's end."""
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        run = subprocess.run(
            [sys.executable, "-W", "always::ResourceWarning", "-c", EMBEDDED_SCRIPT],
            cwd=ROOT, env=os.environ | {"CAUSEWAY_HOME": home}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert (run.returncode, run.stdout) == (0, "horno\n"), run.stderr
        assert run.stderr == ""
        assert (Path(home) / "postgres" / "PG_VERSION").exists()
        assert not (Path(home) / "postgres" / "postmaster.pid").exists()


async def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """R13.5 with the way out."""
    monkeypatch.setitem(sys.modules, "langchain_postgres", None)
    with pytest.raises(MissingExtra, match=r"make install WITH=langchain"):
        await open_vector_store(open_services(Settings.from_environment()))


@pytest.mark.slow
async def test_vector_store_finds_what_our_exact_search_finds(services: Services, owner: str) -> None:
    """R4.1 the same chunks, order and similarity, from the collection's own embedding model."""
    collection = await fill(services, owner, "notes")
    store = await open_vector_store(services, collection="notes", owner_id=owner)
    model = await services.collections.embedding_model(collection)
    (vector,) = await model.embed([QUESTION])
    expected = [
        (str(hit.chunk.id), hit.chunk.content, hit.score)
        for hit in await services.store.search_vectors(collection, vector, limit=3)
    ]
    found = await store.asimilarity_search_with_score(QUESTION, k=3)
    assert [(document.id, document.page_content) for document, _ in found] == [each[:2] for each in expected]
    assert [1 - distance for _, distance in found] == pytest.approx([score for *_, score in expected])
    assert store.similarity_search(QUESTION, k=3) == [document for document, _ in found]
    assert len(await store.amax_marginal_relevance_search(QUESTION, k=2, fetch_k=4)) == 2


@pytest.mark.slow
async def test_vector_store_knows_the_metadata(services: Services, owner: str) -> None:
    """R4.5, R4.7 that of the retriever, but for the scores; to filter by."""
    await fill(services, owner, "notes")
    store = await open_vector_store(services, collection="notes", owner_id=owner)
    retriever = CausewayRetriever(services=services, collection="notes", owner_id=owner)
    (by_store,) = await store.asimilarity_search(QUESTION, k=1)
    (by_search, *_) = await retriever.ainvoke(QUESTION)
    created = [datetime.fromisoformat(document.metadata.pop("created_at")) for document in (by_store, by_search)]
    assert created[0] == created[1]
    assert by_store.metadata == {
        name: value for name, value in by_search.metadata.items() if name not in {"score", "scores"}
    }
    french = await store.asimilarity_search(QUESTION, k=9, filter={"language": "fr"})
    assert [document.metadata["source"] for document in french] == ["entrepot"]
    assert [document.id for document in await store.aget_by_ids([str(french[0].id)])] == [french[0].id]


@pytest.mark.slow
async def test_vector_store_sees_one_collection_of_one_owner(services: Services, owner: str) -> None:
    """R4.8 by the database: not even by a chunk's id."""
    other = f"other-{owner}"
    await fill(services, owner, "notes", TEXTS[:1])
    elsewhere = [await fill(services, owner, "letters", TEXTS[1:2]), await fill(services, other, "notes", TEXTS[2:3])]
    foreign = []
    for collection in elsewhere:
        store = await open_vector_store(services, collection=collection.name, owner_id=collection.owner_id)
        foreign += await store.asimilarity_search(QUESTION, k=9)
    assert [document.metadata["source"] for document in foreign] == ["entrepot", "tins"]
    mine = await open_vector_store(services, collection="notes", owner_id=owner)
    assert [found.metadata["source"] for found in await mine.asimilarity_search(QUESTION, k=9)] == ["horno"]
    assert await mine.aget_by_ids([str(document.id) for document in foreign]) == []
    with pytest.raises(CollectionNotFound):
        await open_vector_store(services, collection="letters", owner_id=other)


@pytest.mark.slow
async def test_vector_store_leaves_out_what_no_search_finds(services: Services, owner: str) -> None:
    """R1.8 expired documents; and texts without a known token, which are near nothing."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    gone = SourceText("gone", "El horno H2 falló otra vez.", expires_at=past)
    await fill(services, owner, "notes", [*TEXTS[:1], gone])
    collection = await services.collections.open(owner, "notes")
    async with services.database.transaction(owner) as connection:
        await connection.execute(
            "INSERT INTO chunk_embeddings SELECT collection_id, chunk_id, owner_id, model, 'contextual', embedding"
            " FROM chunk_embeddings WHERE collection_id = %s",
            [collection.id],
        )
    store = await open_vector_store(services, collection="notes", owner_id=owner)
    assert [found.metadata["source"] for found in await store.asimilarity_search(QUESTION, k=9)] == ["horno"]
    async with services.database.transaction(owner) as connection:
        await connection.execute(
            "UPDATE chunk_embeddings SET embedding = array_fill(0, ARRAY[256])::halfvec WHERE collection_id = %s",
            [collection.id],
        )
    assert await store.asimilarity_search(QUESTION, k=9) == []


@pytest.mark.slow
async def test_vector_store_only_reads(services: Services, owner: str) -> None:
    """R1.9 documents come in by ingestion alone."""
    await fill(services, owner, "notes")
    store = await open_vector_store(services, collection="notes", owner_id=owner)
    with pytest.raises(Exception, match="langchain_chunks"):
        await store.aadd_texts(["Nuevo."])
    assert len(await store.asimilarity_search(QUESTION, k=9)) == len(TEXTS)


async def test_view_of_nobody_is_empty(services: Services, owner: str, postgres: str) -> None:
    """R4.8 without an owner, or without a collection, no row is anybody's."""
    collection = await fill(services, owner, "notes")

    def rows(user: str, chosen: str) -> int:
        with psycopg.connect(postgres) as connection:
            act_as(connection, services.database.identity_key, APPLICATION_ROLE, user)
            connection.execute("SELECT set_config('app.collection_id', %s, true)", [chosen])
            found = connection.execute("SELECT count(*) FROM langchain_chunks").fetchone()
        assert found is not None
        return int(found[0])

    assert rows(owner, str(collection.id)) == len(TEXTS)
    assert [rows("", str(collection.id)), rows(owner, ""), rows("other", str(collection.id))] == [0, 0, 0]

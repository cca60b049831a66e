"""From a file to stored chunks."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from graphrag.config.settings import ParsingLimits, Settings
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.preparation import InProcessPreparer
from graphrag.ingestion.prepared import Preparer
from graphrag.ingestion.sources import SourceFile, SourceText, find_files, read_file
from graphrag.models import Collection
from graphrag.models.ingestion import IngestionOutcome, IngestionStatus
from graphrag.protocols import ChunkStore
from graphrag.testing.in_memory_store import InMemoryCache, InMemoryStore
from tests.graphrag.embeddings.stubborn import failing

REPORT = "# Informe\n\n## Horno\n\nEl horno H2 falló. La galleta salió húmeda.\n\n## Fin\n\nSe cambió el retén.\n"


class Desk:
    """A pipeline over a store in memory."""

    def __init__(
        self, collection: Collection, store: ChunkStore, model: EmbeddingModel, preparer: Preparer, **settings: Any
    ) -> None:
        self.collection, self.store, self.model = collection, store, model
        own = Settings.from_environment(**settings)
        self.pipeline = Pipeline(store, own, preparer, InMemoryCache())

    async def ingest(self, *paths: Path) -> list[IngestionOutcome]:
        return await self._ingest([read_file(path, max_bytes=10_000) for path in find_files(paths)])

    async def ingest_texts(self, *texts: SourceText) -> list[IngestionOutcome]:
        return await self._ingest(texts)

    async def _ingest(self, sources: Sequence[SourceFile | SourceText]) -> list[IngestionOutcome]:
        return await self.pipeline.ingest(sources, collection=self.collection, model=self.model)

    async def text(self, path: Path) -> str:
        documents = await self.store.list_documents(self.collection)
        document = next(document for document in documents if document.source == str(path))
        chunks = await self.store.read_chunks(self.collection, [(document.id, 0, 999)])
        return "".join(chunk.content for chunk in chunks[document.id])


async def make_desk(registry: EmbeddingRegistry, **settings: Any) -> Desk:
    store = InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model="bundled")
    return Desk(collection, store, registry.get("bundled"), InProcessPreparer(ParsingLimits()), **settings)


@pytest.fixture
async def desk(registry: EmbeddingRegistry) -> Desk:
    return await make_desk(registry)


async def test_document_is_stored_with_what_describes_it(desk: Desk, tmp_path: Path) -> None:
    """R1.3 title and language; R2.3 offsets."""
    file = tmp_path / "informe.md"
    file.write_text(REPORT)
    (outcome,) = await desk.ingest(file)
    assert (outcome.status, outcome.chunks) == (IngestionStatus.INDEXED, 1)
    (document,) = await desk.store.list_documents(desk.collection)
    assert (document.title, document.language, document.filename) == ("Informe", "es", "informe.md")
    assert await desk.text(file) == REPORT.strip()


async def test_chunks_tile_the_text_and_overlap_in_the_embedding(registry: EmbeddingRegistry, tmp_path: Path) -> None:
    """R2.2, R2.3."""
    desk = await make_desk(registry, chunk_tokens=30, chunk_overlap_tokens=15)
    file = tmp_path / "largo.txt"
    file.write_text(" ".join(f"La frase número {number} habla del horno." for number in range(20)))
    await desk.ingest(file)
    (document,) = await desk.store.list_documents(desk.collection)
    chunks = (await desk.store.read_chunks(desk.collection, [(document.id, 0, 99)]))[document.id]
    assert len(chunks) > 5
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(a.end_char == b.start_char for a, b in pairwise(chunks))
    assert all(chunk.window_start < chunk.start_char for chunk in chunks[1:])
    assert await desk.text(file) == file.read_text()


async def test_changed_file_replaces_its_document(desk: Desk, tmp_path: Path) -> None:
    """R1.6 same id, nothing of the old text."""
    file = tmp_path / "a.md"
    file.write_text(REPORT)
    await desk.ingest(file)
    (before,) = await desk.store.list_documents(desk.collection)
    file.write_text("# Informe\n\nTodo funciona.\n")
    await desk.ingest(file)
    (after,) = await desk.store.list_documents(desk.collection)
    assert after.id == before.id
    assert await desk.text(file) == "# Informe\n\nTodo funciona."


async def test_embedding_failure_stores_nothing_and_names_the_chunks(desk: Desk, tmp_path: Path) -> None:
    """R1.7, R1.9 nothing half-indexed is visible."""
    (tmp_path / "a.md").write_text(REPORT)
    desk.model = failing(desk.model)
    (outcome,) = await desk.ingest(tmp_path)
    assert (outcome.status, outcome.reason, len(outcome.failed_chunks)) == (IngestionStatus.ERROR, "embedding", 1)
    assert "on purpose" in outcome.cause
    assert await desk.store.list_documents(desk.collection) == []


def test_files_are_found_at_any_depth_once_and_sorted(tmp_path: Path) -> None:
    for name in ("b.md", "deep/er/a.txt", ".git/config", "deep/.cache/x.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    missing = tmp_path / "missing.md"
    assert find_files([tmp_path, tmp_path / "b.md", missing]) == [
        tmp_path / "b.md",
        tmp_path / "deep/er/a.txt",
        missing,
    ]


async def test_texts_are_stored_with_what_their_sender_knows(desk: Desk) -> None:
    """R9.3 texts with metadata; R1.3 what the sender does not say is found out; no Markdown is read in them."""
    until = datetime.now(UTC) + timedelta(hours=1)
    since = datetime(2024, 2, 29, tzinfo=UTC)
    told = SourceText(
        "nota-1", "# Turnos\n\nEl horno arranca a las seis.", title="Aviso  n.º 1", language="pt", source_type="mail",
        tags=("turnos",), created_at=since, expires_at=until,
    )  # fmt: skip
    found_out = SourceText("nota-2", "Parte de la noche\n\nLa mezcladora se paró dos veces durante la madrugada.")
    outcomes = await desk.ingest_texts(told, found_out)
    assert [(outcome.source, outcome.status, outcome.chunks) for outcome in outcomes] == [
        ("nota-1", IngestionStatus.INDEXED, 1),
        ("nota-2", IngestionStatus.INDEXED, 1),
    ]
    first, second = await desk.store.list_documents(desk.collection)
    assert (first.title, first.language, first.source_type, first.tags) == ("Aviso n.º 1", "pt", "mail", ("turnos",))
    assert (first.created_at, first.expires_at, first.media_type) == (since, until, "text/plain")
    assert (second.title, second.language, second.source_type) == ("Parte de la noche", "es", "text")
    (hit,) = await desk.store.search_fulltext(desk.collection, ["arranca"], limit=9)
    assert (hit.chunk.context, hit.chunk.content) == ("Aviso n.º 1", told.text)


async def test_texts_equal_the_same_texts_from_files(registry: EmbeddingRegistry, tmp_path: Path) -> None:
    """R2.3, R3.3 one road: the same chunks and vectors; a batch of vectors goes to the chunks it was made of."""
    texts = {
        f"{name}.txt": " ".join(f"Nota {name}: la medida {number} fue normal." for number in range(size))
        for name, size in [("corta", 2), ("larga", 90), ("media", 40)]
    }
    files = await make_desk(registry, chunk_tokens=40)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    await files.ingest(tmp_path)
    direct = await make_desk(registry, chunk_tokens=40)
    await direct.ingest_texts(*(SourceText(str(tmp_path / name), text) for name, text in texts.items()))
    (query,) = await direct.model.embed(["la medida 17 de la nota larga"])
    by_file, by_text = [
        [
            (hit.chunk.document.content_hash, hit.chunk.index, hit.chunk.content, hit.score)
            for hit in await each.store.search_vectors(each.collection, query, limit=99)
        ]
        for each in (files, direct)
    ]
    assert len(by_text) > 20
    assert sorted(by_text) == sorted(by_file)


async def test_bad_texts_leave_the_good_ones_unharmed(desk: Desk) -> None:
    """R1.2, R1.7 each has its cause."""
    outcomes = await desk.ingest_texts(
        SourceText("a", "El horno H2."), SourceText("b", " \n—"), SourceText("a", "Otro."), SourceText("c", "El H3.")
    )
    assert [(outcome.source, outcome.status.value, outcome.cause) for outcome in outcomes] == [
        ("a", "indexed", ""),
        ("b", "error", "it holds no text"),
        ("a", "error", "another one of the same source came with it"),
        ("c", "indexed", ""),
    ]
    assert {document.source for document in await desk.store.list_documents(desk.collection)} == {"a", "c"}
    assert await desk.ingest_texts(SourceText("d", "")) != []
    assert await desk.ingest_texts() == []


async def test_changed_text_replaces_its_document(desk: Desk) -> None:
    """R1.6."""
    await desk.ingest_texts(SourceText("a", "El horno H2."), SourceText("b", "El retén."))
    (before, _) = await desk.store.list_documents(desk.collection)
    await desk.ingest_texts(SourceText("a", "La cisterna."))
    assert {document.id for document in await desk.store.list_documents(desk.collection)} >= {before.id}
    found = await desk.store.search_fulltext(desk.collection, ["horno", "cisterna", "retén"], limit=9)
    assert {hit.chunk.content for hit in found} == {"La cisterna.", "El retén."}


async def test_embedding_failure_stores_none_of_the_texts(desk: Desk) -> None:
    """R1.9."""
    desk.model = failing(desk.model)
    outcomes = await desk.ingest_texts(SourceText("a", "El horno H2."), SourceText("b", "El retén."))
    assert {outcome.status for outcome in outcomes} == {IngestionStatus.ERROR}
    assert await desk.store.list_documents(desk.collection) == []

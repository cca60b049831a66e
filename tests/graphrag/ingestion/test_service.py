"""A collection's files through the queue, over a real PostgreSQL and a real folder."""

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from graphrag.cache import SITUATIONS_PREFIX
from graphrag.db.database import fetch
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import CollectionNotFound, DocumentNotFound, QuotaExceeded
from graphrag.ingestion import bulk, service
from graphrag.ingestion.bulk import Loading
from graphrag.ingestion.sources import SourceFile, document_id, find_files
from graphrag.models import Chunk, Collection
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.protocols import FileStorage
from graphrag.services import Services
from tests.agent.library import with_parts
from tests.graphrag.embeddings.stubborn import failing
from tests.model_server import Fail, ModelServer, Reply

REPORT = "# Informe\n\n## Horno\n\nEl horno H2 falló. La galleta salió húmeda.\n\n## Fin\n\nSe cambió el retén.\n"
WAIT_SECONDS = 60
STORED_VECTORS = """
    SELECT situation, count(DISTINCT kind) AS kinds, count(DISTINCT embedding::text) AS vectors
    FROM chunk_embeddings JOIN chunks USING (collection_id, chunk_id)
    WHERE collection_id = %(collection_id)s GROUP BY chunk_id, situation ORDER BY situation
"""


@dataclass
class Desk:
    services: Services
    collection: Collection
    folder: Path

    def working(self) -> AbstractAsyncContextManager[None]:
        return self.services.documents.queue.working(self.services.jobs)

    async def load(self) -> dict[str, IngestionOutcome]:
        """The folder, as `causeway ingest` does it; outcomes by filename."""
        steps = Loading(self.services.documents, self.collection).load(find_files([self.folder]))
        async with self.working(), asyncio.timeout(WAIT_SECONDS):
            return {Path(step.source).name: step async for step in steps if isinstance(step, IngestionOutcome)}

    async def add(self, **texts: str) -> list[IngestionOutcome]:
        files = [SourceFile(name, f"{name}.md", text.encode()) for name, text in texts.items()]
        return await self.services.documents.add(self.collection, files)

    async def state(self, name: str) -> Ingestion:
        (ingestion,) = await self.services.documents.ingestions.find(self.collection, [self.id(name)])
        return ingestion

    def id(self, name: str) -> UUID:
        return document_id(self.collection.id, name)

    async def finished(self, name: str) -> Ingestion:
        async with asyncio.timeout(WAIT_SECONDS):
            while (ingestion := await self.state(name)).status not in (IngestionStatus.INDEXED, IngestionStatus.ERROR):
                await asyncio.sleep(0.05)
        return ingestion

    async def chunks(self, name: str) -> list[Chunk]:
        found = await self.services.store.read_chunks(self.collection, [(self.id(name), 0, 999)])
        return found.get(self.id(name), [])

    async def text(self, name: str) -> str:
        return "".join(chunk.content for chunk in await self.chunks(name))

    async def found(self, *words: str) -> set[str]:
        hits = await self.services.store.search_fulltext(self.collection, words, limit=99)
        return {hit.chunk.content for hit in hits}

    def kept(self) -> list[str]:
        """The files of the collection in the file storage, which may be cleared meanwhile."""
        folder = self.services.settings.storage.home / "files" / str(self.collection.id)
        return sorted(name for _, _, names in os.walk(folder) for name in names)


@pytest.fixture
async def desk(services: Services, owner: str, tmp_path: Path) -> Desk:
    return Desk(services, await services.collections.create(owner, "notes"), tmp_path)


async def test_a_file_has_one_outcome(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.2 Also where there are more files than are waited for at once."""
    monkeypatch.setattr(bulk, "READ_FILES", 4)
    monkeypatch.setattr(bulk, "MOST_WAITING", 2)
    for number in range(14):
        (desk.folder / f"nota-{number}.md").write_text(f"El horno H{number} falló.\n", encoding="utf-8")
    steps = Loading(desk.services.documents, desk.collection).load(find_files([desk.folder]))
    async with desk.working(), asyncio.timeout(WAIT_SECONDS):
        outcomes = [step async for step in steps if isinstance(step, IngestionOutcome)]
    assert sorted(Path(outcome.source).name for outcome in outcomes) == sorted(p.name for p in desk.folder.iterdir())


async def test_a_folder_is_loaded_and_a_second_time_nothing_is_done(desk: Desk) -> None:
    """R1.6, R1.2 each file reaches its final state, with its cause."""
    files = {"good.md": REPORT.encode(), "empty.txt": b"", "picture.png": b"\x89PNG", "nul.txt": b"abc\0def"}
    for name, data in files.items():
        (desk.folder / name).write_bytes(data)
    (desk.folder / "dangling.md").symlink_to(desk.folder / "nowhere.md")
    outcomes = await desk.load()
    assert {name: (of.status.value, of.reason) for name, of in outcomes.items()} == {
        "good.md": ("indexed", ""),
        "empty.txt": ("error", "empty"),
        "picture.png": ("error", "unsupported"),
        "nul.txt": ("error", "unsupported"),
        "dangling.md": ("error", "unreadable"),
    }
    assert outcomes["good.md"].chunks == 1
    again = await desk.load()
    assert again["good.md"].status is IngestionStatus.UNCHANGED
    assert again["empty.txt"].reason == "empty"


async def test_the_same_content_under_another_name_is_taken_once(desk: Desk) -> None:
    """R1.6"""
    (desk.folder / "a.md").write_text(REPORT)
    (desk.folder / "b.md").write_text(REPORT)
    outcomes = await desk.load()
    assert {of.status for of in outcomes.values()} == {IngestionStatus.INDEXED, IngestionStatus.UNCHANGED}
    assert outcomes["b.md"].same_as == "a.md"
    assert len(await desk.services.store.list_documents(desk.collection)) == 1


async def test_copy_of_a_document_that_changes_is_not_lost(desk: Desk) -> None:
    """R1.6: a is b's content until, in the same load, b itself becomes another."""
    (desk.folder / "b.md").write_text(REPORT)
    await desk.load()
    (desk.folder / "a.md").write_text(REPORT)
    (desk.folder / "b.md").write_text("# Informe\n\nTodo funciona.\n")
    assert {of.status for of in (await desk.load()).values()} == {IngestionStatus.INDEXED}
    assert await desk.text(str(desk.folder / "a.md")) == REPORT.strip()
    assert await desk.text(str(desk.folder / "b.md")) == "# Informe\n\nTodo funciona."


async def test_documents_that_exchange_their_contents_lose_none(desk: Desk) -> None:
    """R1.6: each is what the other was until both are replaced together."""
    first, second, third = "El horno H1.", "El horno H2.", "El horno H3."
    async with desk.working():
        await desk.add(a=first, b=second)
        await desk.finished("a")
        await desk.finished("b")
    assert {of.status for of in await desk.add(a=second, b=first)} == {IngestionStatus.UPLOADED}
    assert {of.status for of in await desk.add(a=third, b=second)} == {IngestionStatus.UPLOADED}
    async with desk.working():
        await desk.finished("a")
        await desk.finished("b")
    assert (await desk.text("a"), await desk.text("b")) == (third, second)


async def test_a_document_is_there_from_the_start_and_found_when_it_is_indexed(desk: Desk) -> None:
    """R1.2 uploaded → processing → indexed; R1.9 nothing is visible before."""
    (outcome,) = await desk.add(a=REPORT)
    assert (outcome.status, outcome.document_id) == (IngestionStatus.UPLOADED, desk.id("a"))
    assert (await desk.state("a")).status is IngestionStatus.UPLOADED
    assert await desk.found("horno") == set()
    async with desk.working():
        assert (await desk.finished("a")).status is IngestionStatus.INDEXED
    assert await desk.found("horno") == {REPORT.strip()}
    assert (await desk.state("a")).total == len(await desk.chunks("a"))


async def test_an_upload_replaces_the_document_of_its_source_and_nothing_of_the_old_one_stays(desk: Desk) -> None:
    """R1.6, security 19: same id and date, the old file gone."""
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
        (before,) = await desk.services.store.list_documents(desk.collection)
        await desk.add(a="Todo funciona.")
        assert await desk.found("horno") in ({REPORT.strip()}, set())  # until the new one is there, the old one
        await desk.finished("a")
        async with asyncio.timeout(WAIT_SECONDS):
            while len(desk.kept()) > 1:
                await asyncio.sleep(0.05)
    (after,) = await desk.services.store.list_documents(desk.collection)
    assert (after.id, after.created_at) == (before.id, before.created_at)
    assert await desk.found("horno", "funciona") == {"Todo funciona."}
    assert desk.kept() == [after.content_hash]


async def test_a_failed_replacement_leaves_the_old_version_to_be_found(desk: Desk) -> None:
    """R1.2, R1.9 the error is shown, nothing is lost; the old bytes again make it good."""
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
        await desk.add(a=" \n ")
        assert (await desk.finished("a")).reason == "empty"
        assert await desk.found("horno") == {REPORT.strip()}
        (outcome,) = await desk.add(a=REPORT)
        assert outcome.status is IngestionStatus.UPLOADED
        assert (await desk.finished("a")).status is IngestionStatus.INDEXED


class SlowFiles:
    """Puts a file in place, and goes on when it is told to."""

    def __init__(self, files: FileStorage) -> None:
        self._files = files
        self.is_put, self.go_on = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    async def put(self, key: str, data: bytes) -> None:
        await self._files.put(key, data)
        self.is_put.set()
        await self.go_on.wait()


async def test_what_is_just_coming_is_not_tidied_up(desk: Desk) -> None:
    """R1.9 a file is in place before its document is told of; what an older version has left goes at that moment."""
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
    slow = SlowFiles(desk.services.documents.files)
    workshop = desk.services.jobs
    coming = SourceFile("a", "a.md", b"Todo funciona.")
    adding = asyncio.create_task(replace(workshop.service, files=slow).add(desk.collection, [coming]))
    await slow.is_put.wait()
    tidying = asyncio.create_task(workshop.tidy_files(desk.collection.owner_id, desk.collection.id, [desk.id("a")]))
    await asyncio.wait({tidying}, timeout=1)
    slow.go_on.set()
    await asyncio.gather(adding, tidying)
    async with desk.working():
        assert (await desk.finished("a")).status is IngestionStatus.INDEXED
    assert await desk.text("a") == "Todo funciona."


async def test_a_deleted_collection_takes_with_it_what_is_just_coming(desk: Desk) -> None:
    """R1.4, security 19: no file stays that nobody knows of; whoever comes later is told."""
    library = desk.services.documents
    slow = SlowFiles(library.files)
    coming = SourceFile("a", "a.md", REPORT.encode())
    adding = asyncio.create_task(replace(library, files=slow).add(desk.collection, [coming]))
    await slow.is_put.wait()
    deleting = asyncio.create_task(library.delete_collection(desk.collection))
    await asyncio.wait({deleting}, timeout=1)
    slow.go_on.set()
    await asyncio.gather(adding, deleting)
    assert desk.kept() == []
    with pytest.raises(CollectionNotFound):
        await library.add(desk.collection, [coming])
    assert desk.kept() == []


async def test_reindexing_reads_the_kept_file_anew_and_can_change_its_chunking(desk: Desk) -> None:
    """R1.6, R2.1, R4.11 ids and dates are kept."""
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
        (before,) = await desk.services.store.list_documents(desk.collection)
        await desk.services.documents.restart(desk.collection, [desk.id("a")], chunking="none")
        await desk.finished("a")
    (after,) = await desk.services.store.list_documents(desk.collection)
    assert after.processing_strategy == "none"
    assert (after.id, after.created_at) == (before.id, before.created_at)
    assert await desk.text("a") == REPORT.strip()


async def test_what_failed_can_be_tried_again(desk: Desk, registry: EmbeddingRegistry) -> None:
    """R1.2 error → processing; R1.7 the chunks that failed are recorded, the other documents are indexed."""
    working = registry.get(registry.default)
    desk.services = with_parts(desk.services, embeddings=EmbeddingRegistry([failing(working)]))
    async with desk.working():
        await desk.add(a=REPORT)
        failed = await desk.finished("a")
        assert (failed.status, failed.reason) == (IngestionStatus.ERROR, "embedding")
        assert "on purpose" in failed.cause
        (batch,) = failed.failed_batches
        assert len(batch["chunks"]) == 1
        assert await desk.found("horno") == set()
    desk.services = with_parts(desk.services, embeddings=EmbeddingRegistry([working]))
    async with desk.working():
        await desk.services.documents.restart(desk.collection, [desk.id("a")])
        assert (await desk.finished("a")).status is IngestionStatus.INDEXED


async def test_a_cancelled_ingestion_is_never_seen(desk: Desk) -> None:
    """R1.9 whatever its worker still does."""
    await desk.add(a=REPORT, b="Todo funciona.")
    (ingestion,) = await desk.services.documents.ingestions.begin(desk.collection, [desk.id("a")])
    await desk.services.documents.cancel(desk.collection, [desk.id("a")])
    async with desk.working():
        assert (await desk.finished("b")).status is IngestionStatus.INDEXED
    cancelled = await desk.state("a")
    assert (cancelled.status, cancelled.reason, cancelled.ticket) == (
        IngestionStatus.ERROR,
        "cancelled",
        ingestion.ticket,
    )
    assert await desk.found("horno") == set()


async def test_what_a_worker_made_of_a_cancelled_or_replaced_version_is_not_stored(desk: Desk) -> None:
    """R1.9"""
    await desk.add(a=REPORT)
    (begun,) = await desk.services.documents.ingestions.begin(desk.collection, [desk.id("a")])
    await desk.services.documents.cancel(desk.collection, [desk.id("a")])
    model = await desk.services.collections.embedding_model(desk.collection)
    late = SourceFile.of(begun, REPORT.encode())
    (outcome,) = await desk.services.ingestion.ingest([late], collection=desk.collection, model=model)
    assert (outcome.status, outcome.reason) == (IngestionStatus.ERROR, "cancelled")
    assert await desk.found("horno") == set()


async def test_a_deleted_document_leaves_nothing(desk: Desk) -> None:
    """R1.2, security 19: the collection is like its twin that never had it."""
    twin = Desk(desk.services, await desk.services.collections.create(desk.collection.owner_id, "twin"), desk.folder)
    async with desk.working():
        await desk.add(a=REPORT, b="El pan de centeno.")
        await twin.add(b="El pan de centeno.")
        for name in ("a", "b"):
            await desk.finished(name)
        await twin.finished("b")
        await desk.services.documents.delete(desk.collection, desk.id("a"))
    assert await desk.found("horno", "pan") == await twin.found("horno", "pan") == {"El pan de centeno."}
    assert desk.kept() == twin.kept()
    assert await desk.services.documents.ingestions.find(desk.collection, [desk.id("a")]) == []
    with pytest.raises(DocumentNotFound):
        await desk.services.documents.delete(desk.collection, desk.id("a"))
    assert await desk.services.documents.restart(desk.collection, [desk.id("a")]) == []


async def test_a_document_that_is_deleted_while_it_is_read_does_not_come_back(desk: Desk) -> None:
    """R1.9, security 19."""
    await desk.add(a=REPORT)
    (begun,) = await desk.services.documents.ingestions.begin(desk.collection, [desk.id("a")])
    await desk.services.documents.delete(desk.collection, desk.id("a"))
    model = await desk.services.collections.embedding_model(desk.collection)
    late = SourceFile.of(begun, REPORT.encode())
    await desk.services.ingestion.ingest([late], collection=desk.collection, model=model)
    assert await desk.found("horno") == set()
    assert desk.kept() == []


async def test_a_deletion_that_was_cut_off_is_ended_by_the_queue(desk: Desk) -> None:
    """Security 17, 19: the service died between its record and its deed."""
    library = desk.services.documents
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
        await library.ingestions.delete(desk.collection, [desk.id("a")], defer=library.queue.defer_tidying)
        async with asyncio.timeout(WAIT_SECONDS):
            while desk.kept() or await desk.found("horno"):
                await asyncio.sleep(0.05)


async def test_a_deleted_collection_leaves_no_file(desk: Desk) -> None:
    """Security 19."""
    await desk.add(a=REPORT)
    assert len(desk.kept()) == 1
    assert await desk.services.documents.delete_collection(desk.collection)
    assert desk.kept() == []
    workshop = desk.services.jobs
    for job in (workshop.ingest, workshop.tidy_files):  # they find nothing to do
        await job(desk.collection.owner_id, desk.collection.id, [desk.id("a")])
    assert not await desk.services.documents.delete_collection(desk.collection)


async def test_a_collection_goes_however_early_its_clearing_comes(desk: Desk) -> None:
    """R1.4, security 19 The job may run before the collection is gone: nothing of it is left then, either."""
    services = desk.services
    await desk.add(a=REPORT)
    said = f"{SITUATIONS_PREFIX}{desk.collection.id}/{desk.id('a')}/text"
    await services.cache.set_many(desk.collection.owner_id, {said: b"what a model said of it"}, seconds=60)
    await services.documents.ingestions.delete(desk.collection, [], defer=services.documents.queue.defer_clearing)
    async with desk.working(), asyncio.timeout(WAIT_SECONDS):
        while desk.kept() or await services.store.list_collections(desk.collection.owner_id):
            await asyncio.sleep(0.05)
        while await services.cache.get_many(desk.collection.owner_id, [said]):
            await asyncio.sleep(0.05)


async def test_time_to_live_of_a_collection(desk: Desk) -> None:
    """R1.8 on document and chunk; gone from searches at that second, purged with its file."""
    hours = 2 / 3600
    configured = await desk.services.store.configure_collection(
        desk.collection, ingestion_config={"time_to_live_hours": hours}
    )
    desk.collection = configured
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
        (document,) = await desk.services.store.list_documents(desk.collection)
        assert document.expires_at is not None
        assert document.expires_at - document.created_at < timedelta(seconds=30)
        while datetime.now(UTC) < document.expires_at:
            await asyncio.sleep(0.1)
        assert await desk.found("horno") == set()
        await desk.services.jobs.purge(desk.collection.owner_id, desk.collection.id)
    assert desk.kept() == []
    assert await desk.services.documents.ingestions.list_all(desk.collection) == []


async def test_a_purge_spares_what_has_come_again(desk: Desk) -> None:
    """R1.8, R1.9: a version that came when the older one's time was over is on its way, and is indexed."""
    async with desk.working():
        await desk.add(a=REPORT, b="Otra nota.")
        await desk.finished("a")
        await desk.finished("b")
    async with desk.services.database.transaction(desk.collection.owner_id) as connection:
        await connection.execute("UPDATE documents SET expires_at = now()")
    await desk.add(a="Todo funciona.")
    await desk.services.jobs.purge(desk.collection.owner_id, desk.collection.id)
    assert [of.source for of in await desk.services.documents.ingestions.list_all(desk.collection)] == ["a"]
    async with desk.working():
        assert (await desk.finished("a")).status is IngestionStatus.INDEXED
    assert await desk.text("a") == "Todo funciona."


async def test_quota_counts_what_is_stored_and_what_is_on_its_way(desk: Desk) -> None:
    """R1.1 none of an upload that is too much is taken; a new version of a document needs no room."""
    library = desk.services.documents
    files = [SourceFile(name, name, name.encode()) for name in ("a.txt", "b.txt", "c.txt")]
    await library.add(desk.collection, files[:2], most_documents=2)
    with pytest.raises(QuotaExceeded):
        await library.add(desk.collection, files[2:], most_documents=2)
    await library.add(desk.collection, [SourceFile("a.txt", "a.txt", b"new")], most_documents=2)
    assert {of.source for of in await library.ingestions.list_all(desk.collection)} == {"a.txt", "b.txt"}


async def test_a_file_that_is_too_large_is_not_kept(desk: Desk) -> None:
    """R1.1, security 9."""
    big = SourceFile("big", "big.txt", b"x" * (desk.services.settings.ingestion_limits.max_file_bytes + 1))
    (outcome,) = await desk.services.documents.add(desk.collection, [big])
    assert (outcome.status, outcome.reason) == (IngestionStatus.ERROR, "too_large")
    assert desk.kept() == []


async def test_others_neither_see_nor_touch_an_ingestion(desk: Desk) -> None:
    """Security 1, 3."""
    await desk.add(a=REPORT)
    stranger = Collection(desk.collection.id, "stranger", "notes", "bundled")
    ingestions = desk.services.documents.ingestions
    assert await ingestions.list_all(stranger) == []
    assert await ingestions.cancel(stranger, [desk.id("a")]) == []
    assert await ingestions.locate("stranger", [desk.id("a")]) == {}
    with pytest.raises(DocumentNotFound):
        await desk.services.documents.delete(stranger, desk.id("a"))
    assert (await desk.state("a")).status is IngestionStatus.UPLOADED


async def test_an_unforeseen_error_ends_as_an_error_of_its_documents(desk: Desk) -> None:
    """R1.2 never «processing» for ever."""

    class Broken:
        async def prepare(self, source: object, **_: object) -> object:
            raise RuntimeError("a bug, on purpose")

    desk.services = with_parts(desk.services, preparer=Broken())
    async with desk.working():
        await desk.add(a=REPORT)
        failed = await desk.finished("a")
    assert (failed.status, failed.reason) == (IngestionStatus.ERROR, "internal")
    assert "on purpose" not in failed.cause


async def test_chunks_are_embedded_in_their_context_where_a_collection_wants_it(
    desk: Desk, model_server: ModelServer
) -> None:
    """R3.7 both vectors are stored; where the model fails, the plain one stands in."""
    model_server.default = Reply("It is about the oven's door.")
    chat_model = ChatOpenAI(
        model="scripted", base_url=model_server.base_url, api_key=SecretStr("sk-test"), max_retries=0
    )
    desk.services = with_parts(desk.services, ingestion=replace(desk.services.ingestion, chat_model=chat_model))
    desk.collection = await desk.services.store.configure_collection(
        desk.collection, ingestion_config={"contextual_embeddings": True}
    )
    async with desk.working():
        await desk.add(a=REPORT)
        await desk.finished("a")
        model_server.default = Fail(500)
        await desk.add(b="Todo funciona.")
        assert (await desk.finished("b")).status is IngestionStatus.INDEXED
    async with desk.services.database.transaction(desk.collection.owner_id) as connection:
        rows = await fetch(connection, STORED_VECTORS, {"collection_id": desk.collection.id})
    assert [(row["situation"], row["kinds"], row["vectors"]) for row in rows] == [
        ("", 2, 1),
        ("It is about the oven's door.", 2, 2),
    ]


async def test_two_files_of_one_name_are_not_taken_for_one(desk: Desk) -> None:
    """R1.2 nothing is lost unsaid: the second is refused, with its cause."""
    files = [SourceFile("a", "a.txt", text) for text in (b"El horno H1.", b"El horno H2.", b"El horno H1.")]
    first, second, again = await desk.services.documents.add(desk.collection, files)
    assert (first.status, again.status) == (IngestionStatus.UPLOADED, IngestionStatus.UPLOADED)
    assert (second.status, second.reason) == (IngestionStatus.ERROR, "duplicate")
    async with desk.working():
        await desk.finished("a")
    assert await desk.text("a") == "El horno H1."


async def test_many_that_are_deleted_leave_what_never_had_them(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """R9.4, security 19: some at a time; statistics, graph, files and ingestions are those of a twin without them."""
    monkeypatch.setattr(service, "DELETED_TOGETHER", 2)
    texts = {f"n{number}": f"El horno H{number} falló porque el retén {number} se rompió." for number in range(7)}
    kept = {name: text for name, text in texts.items() if name in ("n2", "n5")}
    twin = Desk(desk.services, await desk.services.collections.create(desk.collection.owner_id, "twin"), desk.folder)
    async with desk.working():
        await desk.add(**texts)
        await twin.add(**kept)
        for each, names in ((desk, texts), (twin, kept)):
            for name in names:
                assert (await each.finished(name)).status is IngestionStatus.INDEXED
        gone = [desk.id(name) for name in texts if name not in kept]
        unknown = document_id(desk.collection.id, "unknown")
        deleted = await desk.services.documents.delete_many(desk.collection, [*gone, unknown])
    assert sorted(deleted) == sorted(gone)
    assert await remains(desk) == await remains(twin)
    assert desk.kept() == twin.kept()
    assert await desk.services.documents.delete_many(desk.collection, gone) == []


async def remains(desk: Desk) -> dict[str, list[tuple[object, ...]]]:
    """What the tables hold of a collection, but for ids."""
    statements = {
        "collections": "SELECT chunk_count, total_chars, languages::text",
        "documents": "SELECT source",
        "ingestions": "SELECT source",
        "chunks": "SELECT content",
        "lexeme_statistics": "SELECT lexeme, document_frequency",
        "mentions": "SELECT key",
        "entities": "SELECT key",
        "causal_edges": "SELECT quote",
    }
    async with desk.services.database.transaction(desk.collection.owner_id) as connection:
        return {
            table: sorted(
                tuple(row.values())
                for row in await fetch(
                    connection,
                    f"{statement} FROM {table} WHERE collection_id = %(collection_id)s",
                    {"collection_id": desk.collection.id},
                )
            )
            for table, statement in statements.items()
        }


async def test_of_a_quota_there_is_room_for_what_replaces(desk: Desk) -> None:
    """R1.1 a document that is there already takes no further room."""
    await desk.add(a=REPORT, b="Otra nota.")
    ingestions = desk.services.documents.ingestions
    await ingestions.check_room(desk.collection, [desk.id("a"), desk.id("b")], 2)
    await ingestions.check_room(desk.collection, [desk.id("a"), desk.id("c")], 3)
    with pytest.raises(QuotaExceeded):
        await ingestions.check_room(desk.collection, [desk.id("a"), desk.id("c")], 2)

"""Uploads that wait for the database: what is done after they came counts more, and none is in another's way."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import FileUnavailable, IndexingUnavailable
from graphrag.file_storage.local import LocalFiles
from graphrag.ingestion.outbox import FOLDER, Outbox, OutboxDelivery
from graphrag.ingestion.sources import SourceFile, document_id
from graphrag.services import Services, open_services

NAME = "notas"
KEPT = SourceFile("a.txt", "a.txt", b"On Monday.")
NEWER = SourceFile("a.txt", "a.txt", b"On Tuesday.")
OTHER = SourceFile("b.txt", "b.txt", b"Another.")


@pytest.fixture
async def services(postgres: str, tmp_path: Path) -> AsyncIterator[Services]:
    """With a folder of their own."""
    opened = open_services(
        Settings.from_environment(database_url=SecretStr(postgres), files_url=(tmp_path / "files").as_uri())
    )
    yield opened
    await opened.close()


async def sources(services: Services, owner: str) -> dict[str, str]:
    """Of all that the owner has: the content's hash."""
    found: dict[str, str] = {}
    for collection in await services.store.list_collections(owner):
        found |= {of.source: of.content_hash for of in await services.documents.ingestions.list_all(collection)}
    return found


async def test_a_newer_version_stays(services: Services, owner: str) -> None:
    """R11.3 What was uploaded when the database was back is not replaced by what came while it was away."""
    await services.outbox.store(owner, NAME, [KEPT, OTHER])
    await services.documents.add(await services.collections.create(owner, NAME), [NEWER])
    await services.outbox.deliver()
    assert await sources(services, owner) == {"a.txt": NEWER.content_hash, "b.txt": OTHER.content_hash}
    assert await services.files.list(FOLDER) == []


async def test_what_was_deleted_does_not_come_back(services: Services, owner: str) -> None:
    """R11.3, security 19: neither a document nor a collection; those of others do come."""
    stranger = f"{owner}-stranger"
    for name in (owner, stranger):
        await services.outbox.store(name, NAME, [KEPT])
        await services.outbox.store(name, "other", [KEPT, OTHER])
    other = await services.collections.create(owner, "other")
    await services.documents.delete_collection(await services.collections.create(owner, NAME))
    await services.documents.delete_many(other, [document_id(other.id, KEPT.source)])
    await services.outbox.deliver()
    assert [collection.name for collection in await services.store.list_collections(owner)] == ["other"]
    assert await sources(services, owner) == {"b.txt": OTHER.content_hash}
    assert len(await services.store.list_collections(stranger)) == 2


async def test_one_that_cannot_be_read_holds_up_no_other(services: Services, owner: str) -> None:
    """R11.3 It stays where it is."""
    await services.files.put(f"{FOLDER}/{0:020d}/broken", b"no note")
    await services.outbox.store(owner, NAME, [KEPT])
    await services.outbox.deliver()
    assert set(await sources(services, owner)) == {"a.txt"}
    assert len(await services.files.list(FOLDER)) == 1


async def test_a_damaged_one_is_never_indexed(services: Services, owner: str) -> None:
    """R11.3, security 17: it stays where it is, is in no other upload's way, and goes with its collection."""
    await services.outbox.store(owner, NAME, [KEPT])
    (key,) = await services.files.list(FOLDER)
    await services.files.put(key, (await services.files.get(key)).replace(b"Monday", b"Sunday"))
    await services.outbox.deliver()
    assert await sources(services, owner) == {}
    collection = await services.collections.create(owner, NAME)
    await services.documents.add(collection, [NEWER])
    assert await sources(services, owner) == {"a.txt": NEWER.content_hash}
    assert await services.files.list(FOLDER) == [key]
    await services.documents.delete_collection(collection)
    assert await services.files.list(FOLDER) == []


async def test_the_newest_counts_whatever_the_clock_says(
    services: Services, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R11.3 The clock goes back by an hour between two versions of a file."""
    await services.outbox.store(owner, NAME, [KEPT])
    earlier = time.time_ns() - 3_600_000_000_000
    monkeypatch.setattr("graphrag.ingestion.outbox.time.time_ns", lambda: earlier)
    await services.outbox.store(owner, NAME, [NEWER])
    await services.outbox.deliver()
    assert await sources(services, owner) == {"a.txt": NEWER.content_hash}


class FailingFiles(LocalFiles):
    """Takes one file, then no more until it is mended."""

    is_mended = False

    async def put(self, key: str, data: bytes) -> None:
        if not self.is_mended and await self.list(FOLDER):
            raise FileUnavailable("It is full.", reason="disk_full")
        await super().put(key, data)


async def test_what_is_refused_is_not_kept_in_part(services: Services, owner: str, tmp_path: Path) -> None:
    """R11.3 Who is told that nothing was kept can send it again; what is left of it takes no place."""
    files = FailingFiles(tmp_path / "failing")
    documents = services.documents
    most_bytes = KEPT.byte_count + OTHER.byte_count
    outbox = OutboxDelivery(
        Outbox(files, services.database),
        documents.add,
        services.collections.create,
        NAME,
        most_bytes,
        most_documents=10,
    )
    with pytest.raises(FileUnavailable):
        await outbox.store(owner, None, [KEPT, OTHER])
    assert await files.list(FOLDER) == []
    files.is_mended = True
    await outbox.store(owner, None, [KEPT, OTHER])
    with pytest.raises(IndexingUnavailable):
        await outbox.store(owner, None, [OTHER])

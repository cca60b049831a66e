"""`causeway worker`, killed again and again: what it leaves behind is taken up, whole, by the next."""

import asyncio
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.ingestion.sources import SourceFile
from graphrag.models import LOCAL_OWNER
from graphrag.models.ingestion import IngestionStatus
from graphrag.services import Services, open_services
from tests.conftest import run_worker

WAIT_SECONDS = 240


def texts(count: int, sentences: int) -> list[SourceFile]:
    return [
        SourceFile(
            f"nota-{number}",
            f"nota-{number}.txt",
            "\n\n".join(
                f"Nota {number}, párrafo {part}: el horno H{part} marcó {number + part} grados."
                for part in range(sentences)
            ).encode(),
        )
        for number in range(count)
    ]


async def check_whole(services: Services, sources: list[SourceFile], *, is_over: bool) -> int:
    """Every document that is there is there once, whole, with a vector a chunk. How many there are."""
    collection = await services.store.create_collection(LOCAL_OWNER, "load", embedding_model="bundled")  # the quick one
    documents = await services.store.list_documents(collection)
    chunks = await services.store.read_chunks(collection, [(document.id, 0, 9_999) for document in documents])
    by_source = {source.source: source.data.decode() for source in sources}
    for document in documents:
        assert "".join(chunk.content for chunk in chunks[document.id]) == by_source[document.source]
    assert len({document.source for document in documents}) == len(documents)
    known = {of.document_id: of.status for of in await services.documents.ingestions.list_all(collection)}
    assert {document.id for document in documents} == {key for key in known if known[key] is IngestionStatus.INDEXED}
    if is_over:
        async with services.database.transaction(LOCAL_OWNER) as connection:
            (row,) = await (
                await connection.execute(
                    "SELECT (SELECT count(*) FROM chunk_embeddings) AS vectors, (SELECT count(*) FROM chunks) AS chunks"
                )
            ).fetchall()
        assert row["vectors"] == row["chunks"] == sum(map(len, chunks.values()))
        assert collection.chunk_count == row["chunks"]
    return len(documents)


async def _load_and_kill(database: str, home: Path, *, documents: int, kills: int, seed: int) -> None:
    services = open_services(Settings.from_environment(database_url=SecretStr(database), home=home))
    sources = texts(documents, sentences=40)
    collection = await services.store.create_collection(LOCAL_OWNER, "load", embedding_model="bundled")  # the quick one
    await services.documents.add(collection, sources)
    moments = random.Random(seed)
    environment = {"DATABASE_URL": database, "CAUSEWAY_HOME": str(home)}
    for _ in range(kills):
        with run_worker(**environment) as process:
            await asyncio.sleep(moments.uniform(0.0, 3.0))
            process.stop(signal.SIGKILL)
        await check_whole(services, sources, is_over=False)
    with run_worker(**environment):
        until = time.monotonic() + WAIT_SECONDS
        while any(
            of.status in (IngestionStatus.UPLOADED, IngestionStatus.PROCESSING)
            for of in await services.documents.ingestions.list_all(collection)
        ):
            assert time.monotonic() < until
            await asyncio.sleep(0.2)
    assert await check_whole(services, sources, is_over=True) == documents
    await services.close()


async def test_a_killed_workers_jobs_are_taken_up(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R1.9, security 17: all indexed, none twice, nothing half-visible at any moment."""
    await _load_and_kill(make_database(), tmp_path, documents=60, kills=2, seed=1)


@pytest.mark.slow
async def test_five_hundred_documents_survive_twenty_kills(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R1.9, security 17."""
    await _load_and_kill(make_database(), tmp_path, documents=500, kills=20, seed=2)

"""`causeway ingest`, its --watch, and `causeway rechunk`."""

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.models import LOCAL_OWNER, Document
from graphrag.services import open_services
from tests.api.commands import causeway, rows
from tests.processes import started

WAIT_SECONDS = 60


@pytest.fixture
def database(make_database: Callable[[], str]) -> str:
    return make_database()


async def stored(database: str) -> dict[str, Document]:
    """The default collection's documents, by filename."""
    services = open_services(Settings.from_environment(database_url=SecretStr(database)))
    collection = await services.collections.create(LOCAL_OWNER, None)
    documents = await services.store.list_documents(collection)
    await services.close()
    return {document.filename: document for document in documents}


def test_a_big_folder_is_summed_up(database: str, tmp_path: Path) -> None:
    """R1.2: of many files those are listed that have something to say; a second time all are skipped."""
    for number in range(60):
        (tmp_path / f"nota-{number}.txt").write_text(f"Nota {number}: el horno H{number} funciona.")
    (tmp_path / "vacia.txt").touch()
    first = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert first.returncode == 0, first.stderr
    assert rows(first.stdout) == {"vacia.txt": ["error", "", "the file holds no text"]}
    assert {"1 error", "60 indexed", "60 chunks"} <= set(re.split(r"[:,;] ", first.stdout.splitlines()[-1]))
    again = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert "60 unchanged" in again.stdout


async def test_a_watched_folder_is_followed(database: str, tmp_path: Path) -> None:
    """What is new, what has changed, what is gone."""
    (tmp_path / "a.txt").write_text("El horno H1 se limpia los lunes.")
    (tmp_path / "gone.txt").write_text("El horno H9 se limpia los domingos.")
    with started("ingest", str(tmp_path), "--watch", DATABASE_URL=database) as watching:
        watching.read_line("Following changes")
        (tmp_path / "b.txt").write_text("La cisterna C7 se vacía los martes.")
        (tmp_path / "gone.txt").unlink()
        until = time.monotonic() + WAIT_SECONDS
        while set(await stored(database)) != {"b.txt", "a.txt"}:
            assert time.monotonic() < until
            await asyncio.sleep(0.2)
        assert watching.stop() == 130


async def test_whole_documents_are_chunked_later(database: str, tmp_path: Path) -> None:
    """R4.11 found as one chunk each; then chunked step by step, ids and dates kept."""
    parts = [f"# Parte {number}\n\n" + f"El horno H{number} tuvo una avería larga. " * 60 for number in range(6)]
    (tmp_path / "a.md").write_text("\n\n".join(parts))
    run = causeway("ingest", str(tmp_path), "--chunking", "none", DATABASE_URL=database)
    assert rows(run.stdout)["a.md"] == ["indexed", "1", ""]
    before = (await stored(database))["a.md"]
    rechunked = causeway("rechunk", "--chunking", "heading_section", DATABASE_URL=database)
    assert rechunked.returncode == 0, rechunked.stderr
    assert int(rows(rechunked.stdout)["a.md"][1]) >= 6
    after = (await stored(database))["a.md"]
    assert (after.id, after.created_at) == (before.id, before.created_at)
    assert (before.processing_strategy, after.processing_strategy) == ("none", "heading_section")

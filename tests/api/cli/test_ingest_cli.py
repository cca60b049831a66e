"""`causeway ingest`, its --watch, and `causeway rechunk`."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr

from api.errors import MESSAGES
from graphrag.config.settings import Settings
from graphrag.ingestion.bulk import MOST_WAITING, READ_FILES
from graphrag.models import LOCAL_OWNER, Document
from graphrag.services import open_services
from tests.api.commands import causeway, rows
from tests.processes import started

WAIT_SECONDS = 240


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
    """R1.2: of many files those are listed that have something to say; a second time all are skipped. One that can't be
    read shows in the exit code.
    """
    for number in range(60):
        (tmp_path / f"nota-{number}.txt").write_text(f"Nota {number}: el horno H{number} funciona.")
    (tmp_path / "vacia.txt").touch()
    first = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert first.returncode == 1, first.stderr
    assert rows(first.stdout) == {"vacia.txt": ["error", "", MESSAGES["indexing_empty"]["en"]]}
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


async def test_a_renamed_file_keeps_its_document(database: str, tmp_path: Path) -> None:
    """R1.6 Its id and its date, also when it changes later; a new file of the old name is another document."""
    old, new = tmp_path / "old name.txt", tmp_path / "inner" / "new-name.txt"
    old.write_text("El horno H1 se limpia los lunes.")
    causeway("ingest", str(tmp_path), DATABASE_URL=database)
    before = (await stored(database))["old name.txt"]
    new.parent.mkdir()
    old.rename(new)
    run = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert rows(run.stdout) == {"new-name.txt": ["unchanged", "", "renamed; it was old name.txt"]}
    (after,) = (await stored(database)).values()
    assert (after.id, after.created_at, after.source) == (before.id, before.created_at, str(new))
    assert (before.title, after.title) == ("old name", "new name")
    new.write_text("El horno H1 se limpia los martes.")
    old.write_text("La cisterna C7 se vacía los jueves.")
    assert causeway("ingest", str(tmp_path), DATABASE_URL=database).returncode == 0
    both = await stored(database)
    assert both["new-name.txt"].id == before.id
    assert both["old name.txt"].id != before.id
    for text in ("El horno H1 se limpia los martes.", "La cisterna C7 se vacía los jueves."):
        found = json.loads(causeway("search", text, "--json", "--limit", "1", DATABASE_URL=database).stdout)
        assert [hit["content"] for hit in found["hits"]] == [text]


async def test_only_what_is_gone_from_the_folder_is_renamed(database: str, tmp_path: Path) -> None:
    """R1.6 A copy leaves the first where it is; a folder that was not named is none of this run's."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "a.txt").write_text("El horno H1 se limpia los lunes.")
    causeway("ingest", str(here), DATABASE_URL=database)
    (here / "a.txt").rename(there / "b.txt")
    run = causeway("ingest", str(there), DATABASE_URL=database)
    assert rows(run.stdout) == {"b.txt": ["unchanged", "", "the same content as a.txt"]}
    assert set(await stored(database)) == {"a.txt"}
    assert rows(causeway("ingest", str(tmp_path), DATABASE_URL=database).stdout)["b.txt"][1:] == [
        "",
        "renamed; it was a.txt",
    ]
    assert set(await stored(database)) == {"b.txt"}


def test_files_of_one_name_are_told_apart(database: str, tmp_path: Path) -> None:
    """R1.2 By their paths in the folder; two of one content are both listed."""
    for folder, text in {"a": "El horno H1.", "b": "La cisterna C7.", "c": "El horno H1."}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text(text)
    (tmp_path / "d.md").write_text("La caldera K2.")
    run = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert rows(run.stdout) == {
        "a/README.md": ["indexed", "1", ""],
        "b/README.md": ["indexed", "1", ""],
        "d.md": ["indexed", "1", ""],
        "c/README.md": ["unchanged", "", "the same content as a/README.md"],
    }
    assert run.returncode == 0


def test_files_are_counted_once_however_many_wait(database: str, tmp_path: Path) -> None:
    """R1.2 More than the queue is given at a time."""
    for number in range(MOST_WAITING + 2 * READ_FILES):
        (tmp_path / f"{number}.txt").write_text(f"Nota {number}.")
    run = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert run.stdout.splitlines()[-1] == "600 documents: 600 indexed; 600 chunks"


@pytest.mark.parametrize("table", ["collections", "documents"])  # the first and the last that it writes
def test_ctrl_c_ends_with_a_sentence(database: str, tmp_path: Path, table: str) -> None:
    """R11.1 Neither a traceback nor lines of a log; the same command continues."""
    for number in range(50):
        (tmp_path / f"{number}.txt").write_text(f"El horno H{number} se limpia los lunes. " * 40)
    with started("ingest", str(tmp_path), DATABASE_URL=database) as process:
        until = time.monotonic() + WAIT_SECONDS
        while not count(database, table):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert process.stop() == 130
        told = process.log().splitlines()
    assert told[-1] == "Stopped. Run the same command again to continue."
    assert [line for line in told[:-1] if not line.startswith("Indexing")] == []
    again = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert (again.returncode, count(database, "documents")) == (0, 50)


def count(database: str, table: str) -> int:
    counting = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("causeway", table))
    with psycopg.connect(database) as connection:
        ((rows,),) = connection.execute(counting).fetchall()
        return int(rows)


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

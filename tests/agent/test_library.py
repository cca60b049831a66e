"""Causeway inside a program, over a real database and, once, over the embedded one."""

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent.library import Causeway, open_causeway
from graphrag.errors import CollectionNotFound, InvalidFilter, InvalidQuestion, InvalidSettings, UnreadableDocument
from graphrag.models.ingestion import IngestionStatus
from tests.conftest import DEMO
from tests.processes import ROOT

QUESTION = "¿Cuánto subieron las ventas en diciembre?"


@pytest.fixture(scope="module")
async def causeway(make_database: Callable[[], str]) -> AsyncIterator[Causeway]:
    async with open_causeway("notes", database_url=make_database()) as opened:
        await opened.ingest(DEMO / "ventas-2025.xlsx", str(DEMO / "informe-calidad-horno-h2.md"))
        yield opened


async def test_files_are_indexed_once(causeway: Causeway) -> None:
    """R1.9 Each has its outcome, those that cannot be read too."""
    outcomes = await causeway.ingest(DEMO / "ventas-2025.xlsx", "nowhere.txt")
    assert {Path(outcome.source).name: outcome.status for outcome in outcomes} == {
        "ventas-2025.xlsx": IngestionStatus.UNCHANGED,
        "nowhere.txt": IngestionStatus.ERROR,
    }


async def test_an_answer_is_that_of_the_stream(causeway: Causeway) -> None:
    """R8.3, R8.9 With verified citations."""
    answer = await causeway.ask(QUESTION)
    assert answer.found
    assert "+25 %" in answer.text
    assert {cited["filename"] for cited in answer.citations} == {"ventas-2025.xlsx"}
    assert {cited["status"] for cited in answer.citations} == {"supported"}
    events = [event async for event in causeway.stream(QUESTION)]
    assert events[-1]["event"] == "done"
    assert "".join(event["data"]["text"] for event in events if event["event"] == "token") == answer.text
    assert answer.details.keys() == events[-1]["data"].keys()


async def test_searches_and_questions_are_filtered(causeway: Causeway) -> None:
    """R4.5, R4.10"""
    (best,) = await causeway.search("horno H2", top_k=1)
    assert best.chunk.document.filename == "informe-calidad-horno-h2.md"
    assert await causeway.search("horno H2", filters={"language": "fr"}) == []
    assert not (await causeway.ask(QUESTION, filters={"language": "fr"})).found


async def test_what_is_wrong_is_an_error(causeway: Causeway) -> None:
    """R9"""
    with pytest.raises(InvalidQuestion):
        await causeway.ask(" ")
    with pytest.raises(InvalidFilter):
        await causeway.ask(QUESTION, filters={"colour": "red"})
    with pytest.raises(CollectionNotFound):
        await Causeway(causeway.services, "nowhere").ask(QUESTION)
    with pytest.raises(UnreadableDocument):
        await Causeway(causeway.services, "nowhere").ingest("nowhere.txt")
    with pytest.raises(CollectionNotFound):  # a mistyped path creates no collection
        await Causeway(causeway.services, "nowhere").search("horno")
    with pytest.raises(InvalidSettings):
        async with open_causeway(no_such_setting=1):
            pass


SCRIPT = """
import asyncio
from agent.library import open_causeway

async def main():
    async with open_causeway() as causeway:
        await causeway.ingest("notebooks/demo/ventas-2025.xlsx")
        print((await causeway.ask("¿Cuánto subieron las ventas en diciembre?")).citations[0]["filename"])

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_script_needs_nothing_but_a_folder() -> None:
    """R4.7 It starts the embedded server and stops it, writes no log, and leaves nothing open."""
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        run = subprocess.run(
            [sys.executable, "-W", "always::ResourceWarning", "-c", SCRIPT],
            cwd=ROOT, env=os.environ | {"CAUSEWAY_HOME": home}, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert (run.returncode, run.stdout, run.stderr) == (0, "ventas-2025.xlsx\n", "")
        assert not (Path(home) / "postgres" / "postmaster.pid").exists()

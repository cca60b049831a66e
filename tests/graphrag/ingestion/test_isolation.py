"""What a document does to its preparation stays in a process of its own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.isolation import ForkServer, Sandbox
from graphrag.ingestion.preparation import InProcessPreparer
from graphrag.ingestion.prepared import Preparation
from graphrag.ingestion.sources import SourceFile, SourceText
from tests.conftest import SharedForkServer
from tests.graphrag.parsers.documents import RTF, make_docx, make_xlsx
from tests.processes import ROOT

# An element of so many attributes keeps its parser busy for minutes.
ENDLESS = b"<html><p " + b" ".join(b"a%d=1" % number for number in range(300_000)) + b">hola"
# And so many sentences their enrichment.
LONG = b"El horno se par\xc3\xb3 porque Ana Gil no vino. " * 100_000
GOOD = b"hola"
PAGE = b"<html><p>hola"  # whose process is its own
MODEL = EmbeddingModel("bundled", "bundled", 256, 0.5, BundledEmbeddings())


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    """Its children are those of one test at a time."""
    shared = SharedForkServer()
    yield shared
    ForkServer.close(shared)


@pytest.fixture
async def sandbox(fork_server: ForkServer) -> AsyncIterator[Sandbox]:
    started = Sandbox(ParsingLimits(processes=4), fork_server)
    yield started
    started.close()
    if fork_server.process:
        await no_children(started)


@pytest.fixture
def own_sandbox() -> Iterator[Sandbox]:
    """Starts a fork server of its own, which the test may kill."""
    started = Sandbox(ParsingLimits(processes=4))
    yield started
    started.close()


async def prepare(
    sandbox: Sandbox, data: bytes | str, filename: str = "a.txt", *, model: EmbeddingModel = MODEL, **config: Any
) -> Preparation:
    source = SourceText(filename, data) if isinstance(data, str) else SourceFile(filename, filename, data)
    return await sandbox.prepare(source, config=IngestionConfig(**config), model=model)


def process_of(sandbox: Sandbox) -> psutil.Process:
    assert sandbox.server.process is not None
    return psutil.Process(sandbox.server.process.pid)


async def busy_child(sandbox: Sandbox) -> psutil.Process:
    """The process of a file that is being parsed."""
    while True:
        children = process_of(sandbox).children() if sandbox.server.process else []
        if children and children[0].cpu_times().user > 0.2:
            return children[0]
        await asyncio.sleep(0.05)


async def until_gone(process: psutil.Process) -> None:
    while process.is_running():
        await asyncio.sleep(0.02)


async def no_children(sandbox: Sandbox) -> None:
    """Wait until all processes of files have ended."""
    await asyncio.gather(*map(until_gone, process_of(sandbox).children()))


async def reason(sandbox: Sandbox, data: bytes, *, filename: str) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        await prepare(sandbox, data, filename)
    assert str(caught.value)
    return str(caught.value.details["reason"])


async def test_file_that_takes_too_long_is_given_up(sandbox: Sandbox) -> None:
    """Security 9: never a stuck job."""
    sandbox.limits = ParsingLimits(seconds=0.5)
    assert await reason(sandbox, ENDLESS, filename="a.html") == "timeout"
    assert (await prepare(sandbox, PAGE, "a.html")).text == "hola"
    await no_children(sandbox)


async def test_file_that_takes_too_much_memory_is_given_up(sandbox: Sandbox) -> None:
    """Security 9: a limit on memory."""
    sandbox.limits = ParsingLimits(memory_bytes=1_000_000_000)
    bloated = b"<html>" + b"<i>" * 9_000_000
    assert await reason(sandbox, bloated, filename="a.html") in {"damaged", "too_large"}
    assert (await prepare(sandbox, GOOD, "a.txt")).text == "hola"


async def test_file_whose_parser_aborts_is_damaged(sandbox: Sandbox) -> None:
    """Security 9: cells on a long diagonal make the parser of sheets ask for a terabyte and abort."""
    diagonal = {9_000 * step: [None] * (150 * step) + ["x"] for step in range(110)}
    sheet = make_xlsx({"Hoja": [diagonal.get(row, []) for row in range(max(diagonal) + 1)]})
    assert await reason(sandbox, sheet, filename="a.xlsx") == "damaged"
    assert (await prepare(sandbox, GOOD, "a.txt")).text == "hola"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
async def test_crash_is_the_files_own(sandbox: Sandbox, number: signal.Signals) -> None:
    """Security 9: the other files go on."""
    dying = asyncio.create_task(reason(sandbox, ENDLESS, filename="a.html"))
    child = await busy_child(sandbox)
    assert (await prepare(sandbox, GOOD, "a.txt")).text == "hola"
    child.send_signal(number)
    assert await dying == "damaged"
    assert (await prepare(sandbox, GOOD, "a.txt")).text == "hola"


async def test_cancelling_kills_the_child(sandbox: Sandbox) -> None:
    """R1.9: a job can be cancelled."""
    task = asyncio.create_task(prepare(sandbox, ENDLESS, "a.html"))
    child = await busy_child(sandbox)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(child)


@pytest.mark.parametrize("text", [LONG, LONG.decode()], ids=["file", "text"])
async def test_enrichment_is_given_up_and_cancelled_like_parsing(sandbox: Sandbox, text: bytes | str) -> None:
    """Security 9, R1.9: chunking, names and relations have the parser's limits."""
    task = asyncio.create_task(prepare(sandbox, text))
    child = await busy_child(sandbox)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(child)
    sandbox.limits = ParsingLimits(seconds=0.5)
    with pytest.raises(UnreadableDocument) as caught:
        await prepare(sandbox, text)
    assert caught.value.details["reason"] == "timeout"


async def test_it_is_what_preparing_in_process_gives(sandbox: Sandbox) -> None:
    """R1.3, R2.3, R6.1: text, chunks, names, relations and tables, of files and of texts."""
    within = InProcessPreparer(ParsingLimits())
    text = "El horno H2 se paró porque Ana Gil no vino.\n\n| Mes | Total |\n|---|---|\n| enero | 3 |\n| marzo | 5 |\n"
    texts = SourceText("b.md", f"{text}\ud800", "Título\ud800", "es")
    for source in (SourceFile("a.md", "a.md", f"# Informe\n\n{text * 50}".encode()), texts):
        for config in (IngestionConfig(), IngestionConfig(chunking="semantic", chunk_tokens=20, keywords="embeddings")):
            found = await sandbox.prepare(source, config=config, model=MODEL)
            assert found == await within.prepare(source, config=config, model=MODEL)
            assert found.tables
            assert any(of.relations and of.mentions for of in found.graph)


class Words(BundledEmbeddings):
    """Counts as no sandbox can."""

    counting = "model"

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


async def test_a_model_of_the_service_counts_for_the_sandbox(sandbox: Sandbox) -> None:
    """R2.2: chunks are as long as the collection's own model takes."""
    text = " ".join(f"La frase {number} habla." for number in range(200))
    found = await prepare(sandbox, text, model=replace(MODEL, embeddings=Words()), chunk_tokens=40)
    assert [len(found.text[span.start : span.end].split()) for span in found.spans] == [40] * 20


async def test_a_document_of_too_many_chunks_is_refused(sandbox: Sandbox) -> None:
    """R1.2: with a cause of its own."""
    sandbox.limits = ParsingLimits(chunks=10)
    with pytest.raises(UnreadableDocument) as caught:
        await prepare(sandbox, "Una frase más. " * 200, chunk_tokens=10)
    assert caught.value.details["reason"] == "too_many_chunks"


async def test_killed_sandbox_is_started_anew(own_sandbox: Sandbox) -> None:
    """Security 17: kill -9 in mid-ingestion, which does not stop what is being parsed."""
    text = b"hola mundo " * 200_000
    running = [asyncio.create_task(prepare(own_sandbox, text, "a.txt")) for _ in range(2)]
    while len(process_of(own_sandbox).children() if own_sandbox.server.process else []) < 2:
        await asyncio.sleep(0.01)
    for _ in range(2):
        first = process_of(own_sandbox)
        first.kill()
        assert (await prepare(own_sandbox, PAGE, "a.html")).text == "hola"
        assert process_of(own_sandbox).pid != first.pid
    assert [len((await task).text) for task in running] == [len(text.strip())] * 2
    assert (await prepare(own_sandbox, GOOD, "a.txt")).text == "hola"


async def test_files_are_parsed_side_by_side(sandbox: Sandbox) -> None:
    """R1.7: more files than processes; each gets its own text."""
    texts = [f"texto {number} " * 1_000 for number in range(24)]
    parsed = await asyncio.gather(*(prepare(sandbox, text.encode(), "a.txt") for text in texts))
    assert [found.text for found in parsed] == [text.strip() for text in texts]


async def test_no_more_processes_than_the_limit(fork_server: ForkServer) -> None:
    """Security 16: bounded."""
    sandbox = Sandbox(ParsingLimits(processes=2), fork_server)
    tasks = [asyncio.create_task(prepare(sandbox, ENDLESS, "a.html")) for _ in range(5)]
    await busy_child(sandbox)
    for _ in range(20):
        assert len(process_of(sandbox).children()) <= 2
        await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await no_children(sandbox)


async def test_sandbox_loads_the_office_parser_for_the_first_file_that_needs_it(
    own_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """R1.1: once, also between files of text, whose processes go on without it. R1.3: the service's language model is
    mapped, which takes no time to unpack it and no memory of its own.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def mapped() -> list[str]:
        return [file.path for file in process_of(own_sandbox).memory_maps()]

    def is_loaded() -> bool:
        return any("xberg" in path for path in mapped())

    assert (await prepare(own_sandbox, GOOD, "a.txt")).text == "hola"
    assert not is_loaded()
    assert any(Path(path).is_relative_to(tmp_path) for path in mapped())
    assert (await prepare(own_sandbox, make_docx(), "a.docx")).text.startswith("Ventas")
    assert not is_loaded()
    text = (await prepare(own_sandbox, RTF, "a.RTF")).text
    assert is_loaded()
    assert (await prepare(own_sandbox, GOOD, "a.txt")).text == "hola"
    assert (await prepare(own_sandbox, RTF, "a")).text == text


async def test_sandbox_knows_nothing_of_the_service(
    own_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Security 8, 9: of the environment the temporary folder, and no modules of the folder it happens to run in."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xberg.py").write_text("raise SystemExit")
    (tmp_path / "json.py").write_text("raise SystemExit")
    task = asyncio.create_task(prepare(own_sandbox, ENDLESS, "a.html"))
    child = await busy_child(own_sandbox)
    assert (await prepare(own_sandbox, GOOD, "a.txt")).text == "hola"
    assert process_of(own_sandbox).environ() == {"TMPDIR": str(tmp_path)}
    assert child.environ() == {"TMPDIR": str(tmp_path)}
    assert {os.readlink(f"/proc/{child.pid}/fd/{fd}") for fd in range(3)} == {os.devnull}
    task.cancel()


async def test_nothing_is_left_after_closing(own_sandbox: Sandbox) -> None:
    """R1.9"""
    await prepare(own_sandbox, GOOD, "a.txt")
    process = process_of(own_sandbox)
    own_sandbox.close()
    assert not process.is_running()
    assert (await prepare(own_sandbox, GOOD, "a.txt")).text == "hola"


ATTEMPTS = {
    "socket.socket()": "PermissionError",
    "socket.socket(socket.AF_UNIX)": "PermissionError",
    "subprocess.run(['true'])": "PermissionError",
    "os.execv('/bin/true', ['true'])": "PermissionError",
    "os.write(os.open(path, os.O_CREAT | os.O_WRONLY), b'x')": "OSError",
    "bytearray(3_000_000_000)": "MemoryError",
    "socket.socketpair()": "",
}


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is of Linux")
def test_confined_process_reaches_nothing(tmp_path: Path) -> None:
    """Security 9: no network, no programs, no files, no more memory than it may."""
    code = """
import json, os, socket, subprocess, sys
from graphrag.ingestion.sandbox import confine
from graphrag.config.settings import IngestionConfig, ParsingLimits
path, *attempts = sys.argv[1:]
confine(ParsingLimits())
errors = {}
for attempt in attempts:
    errors[attempt] = ""
    try:
        exec(attempt)
    except Exception as exc:
        errors[attempt] = type(exc).__name__
os.write(1, json.dumps(errors).encode())
"""
    command = [sys.executable, "-c", code, str(tmp_path / "written"), *ATTEMPTS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert json.loads(done.stdout) == ATTEMPTS, done.stderr
    written = tmp_path / "written"
    assert not written.exists() or not written.read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is of Linux")
def test_confined_process_ends_by_itself() -> None:
    """Security 9: also where nobody is left to kill it."""
    code = """
import time
from graphrag.ingestion.sandbox import confine
from graphrag.config.settings import IngestionConfig, ParsingLimits
confine(ParsingLimits(seconds=0.1))
time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGALRM


async def test_plain_texts_share_a_process_until_something_else_comes(sandbox: Sandbox) -> None:
    """Security 9: text has no parser that could harm the next file; one that died harms none either."""
    await prepare(sandbox, GOOD, "a.txt")
    (first,) = process_of(sandbox).children()
    await prepare(sandbox, GOOD, "b.md")
    assert [child.pid for child in process_of(sandbox).children()] == [first.pid]
    first.kill()
    await until_gone(first)
    assert (await prepare(sandbox, GOOD, "c.txt")).text == "hola"
    assert (await prepare(sandbox, b"<html><p>hola", "d.html")).text == "hola"
    await no_children(sandbox)
    assert await reason(sandbox, b" ", filename="e.txt") == "empty"

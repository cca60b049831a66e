"""What a file does to its parser stays in the parser's process."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.parsers.isolation import IsolatedParser
from tests.graphrag.parsers.documents import make_xlsx
from tests.processes import ROOT

# An element of so many attributes keeps its parser busy for minutes.
ENDLESS = b"<html><p " + b" ".join(b"a%d=1" % number for number in range(300_000)) + b">hola"
GOOD = b"hola"


@pytest.fixture
async def parser() -> AsyncIterator[IsolatedParser]:
    """Of this test alone: it is killed and starved."""
    isolated = IsolatedParser(ParsingLimits(processes=4))
    yield isolated
    isolated.close()


def sandbox(parser: IsolatedParser) -> psutil.Process:
    assert parser._sandbox is not None
    return psutil.Process(parser._sandbox.pid)


async def busy_child(parser: IsolatedParser) -> psutil.Process:
    """The process of a file that is being parsed."""
    while True:
        children = sandbox(parser).children() if parser._sandbox else []
        if children and children[0].cpu_times().user > 0.2:
            return children[0]
        await asyncio.sleep(0.02)


async def until_gone(process: psutil.Process) -> None:
    while process.is_running():
        await asyncio.sleep(0.02)


async def reason(parser: IsolatedParser, data: bytes, *, filename: str) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        await parser.parse(data, filename=filename)
    assert str(caught.value)
    return str(caught.value.details["reason"])


async def test_file_that_takes_too_long_is_given_up() -> None:
    """Security 9: never a stuck job."""
    parser = IsolatedParser(ParsingLimits(seconds=0.5))
    assert await reason(parser, ENDLESS, filename="a.html") == "timeout"
    assert (await parser.parse(GOOD, filename="a.md")).text == "hola"
    await asyncio.gather(*map(until_gone, sandbox(parser).children()))
    parser.close()


async def test_file_that_takes_too_much_memory_is_given_up() -> None:
    """Security 9: a limit on memory."""
    parser = IsolatedParser(ParsingLimits(memory_bytes=1_000_000_000))
    bloated = b"<html>" + b"<i>" * 9_000_000
    assert await reason(parser, bloated, filename="a.html") in {"damaged", "too_large"}
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"
    parser.close()


async def test_file_whose_parser_aborts_is_damaged(parser: IsolatedParser) -> None:
    """Security 9: two cells in opposite corners make the parser of sheets ask for a terabyte and abort."""
    sheet = make_xlsx({"Hoja": [[None] * 16_383 + ["x"], *[[]] * 1_048_574, ["y"]]})
    assert await reason(parser, sheet, filename="a.xlsx") == "damaged"
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
async def test_crash_is_the_files_own(parser: IsolatedParser, number: signal.Signals) -> None:
    """Security 9: the other files go on."""
    dying = asyncio.create_task(reason(parser, ENDLESS, filename="a.html"))
    child = await busy_child(parser)
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"
    child.send_signal(number)
    assert await dying == "damaged"
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"


async def test_cancelling_kills_the_child(parser: IsolatedParser) -> None:
    """R1.9: a job can be cancelled."""
    task = asyncio.create_task(parser.parse(ENDLESS, filename="a.html"))
    child = await busy_child(parser)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(child)


async def test_killed_sandbox_is_started_anew(parser: IsolatedParser) -> None:
    """Security 17: kill -9 in mid-ingestion."""
    await parser.parse(GOOD, filename="a.md")
    for _ in range(3):
        first = sandbox(parser)
        first.kill()
        assert (await parser.parse(GOOD, filename="a.md")).text == "hola"
        assert sandbox(parser).pid != first.pid


async def test_killed_sandbox_does_not_stop_what_is_being_parsed(parser: IsolatedParser) -> None:
    """Security 17"""
    text = b"hola mundo " * 500_000
    running = [asyncio.create_task(parser.parse(text, filename="a.txt")) for _ in range(2)]
    while len(sandbox(parser).children() if parser._sandbox else []) < 2:
        await asyncio.sleep(0.01)
    sandbox(parser).kill()
    assert [len((await task).text) for task in running] == [len(text.strip())] * 2
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"


async def test_files_are_parsed_side_by_side(parser: IsolatedParser) -> None:
    """R1.7: more files than processes; each gets its own text."""
    texts = [f"texto {number} " * 1_000 for number in range(24)]
    parsed = await asyncio.gather(*(parser.parse(text.encode(), filename="a.txt") for text in texts))
    assert [found.text for found in parsed] == [text.strip() for text in texts]


async def test_no_more_processes_than_the_limit() -> None:
    """Security 16: bounded."""
    parser = IsolatedParser(ParsingLimits(processes=2))
    tasks = [asyncio.create_task(parser.parse(ENDLESS, filename="a.html")) for _ in range(5)]
    await busy_child(parser)
    for _ in range(20):
        assert len(sandbox(parser).children()) <= 2
        await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    parser.close()


async def test_parser_knows_nothing_of_the_service(
    parser: IsolatedParser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Security 8, 9: no environment, and no modules of the folder that the service happens to run in."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xberg.py").write_text("raise SystemExit")
    (tmp_path / "json.py").write_text("raise SystemExit")
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"
    assert sandbox(parser).environ() == {}
    task = asyncio.create_task(parser.parse(ENDLESS, filename="a.html"))
    child = await busy_child(parser)
    assert child.environ() == {}
    assert {os.readlink(f"/proc/{child.pid}/fd/{fd}") for fd in range(3)} == {os.devnull}
    task.cancel()


async def test_nothing_is_left_after_closing(parser: IsolatedParser) -> None:
    """R1.9"""
    await parser.parse(GOOD, filename="a.txt")
    process = sandbox(parser)
    parser.close()
    assert not process.is_running()
    assert (await parser.parse(GOOD, filename="a.txt")).text == "hola"


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
@pytest.mark.parametrize(("attempt", "error"), ATTEMPTS.items())
def test_confined_process_reaches_nothing(attempt: str, error: str, tmp_path: Path) -> None:
    """Security 9: no network, no programs, no files, no more memory than it may."""
    code = f"""
import os, socket, subprocess, sys
from graphrag.parsers.sandbox import confine
from graphrag.config.settings import ParsingLimits
path = sys.argv[1]
confine(ParsingLimits())
try:
    {attempt}
except Exception as exc:
    os.write(1, type(exc).__name__.encode())
"""
    command = [sys.executable, "-c", code, str(tmp_path / "written")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == error, done.stderr
    written = tmp_path / "written"
    assert not written.exists() or not written.read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is of Linux")
def test_confined_process_ends_by_itself() -> None:
    """Security 9: also where nobody is left to kill it."""
    code = """
import time
from graphrag.parsers.sandbox import confine
from graphrag.config.settings import ParsingLimits
confine(ParsingLimits(seconds=0.1))
time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGALRM


async def test_plain_texts_share_a_process_until_something_else_comes(parser: IsolatedParser) -> None:
    """Security 9: plain text has no parser that could harm the next file; one that died harms none either."""
    await parser.parse(GOOD, filename="a.txt")
    (first,) = sandbox(parser).children()
    await parser.parse(GOOD, filename="b.txt")
    assert [child.pid for child in sandbox(parser).children()] == [first.pid]
    first.kill()
    await until_gone(first)
    assert (await parser.parse(GOOD, filename="c.txt")).text == "hola"
    assert (await parser.parse(b"# hola", filename="d.md")).text == "# hola"
    await asyncio.gather(*map(until_gone, sandbox(parser).children()))
    assert await reason(parser, b" ", filename="e.txt") == "empty"

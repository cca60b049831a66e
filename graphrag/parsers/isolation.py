"""Parsing and viewing files in processes of their own."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TypeVar

from graphrag.config.settings import ParsingLimits
from graphrag.errors import PageNotFound, UnreadableDocument, ViewUnavailable
from graphrag.models import Document, ParsedText
from graphrag.models.ingestion import CellsRequest, CellsView, PageRequest, PageView, View, ViewRequest
from graphrag.parsers.detection import CSV, PDF, PLAIN, XLS, XLSX
from graphrag.parsers.wire import LENGTH, PROCESS, FrameReader, framed, raise_error, read_view, written_request
from graphrag.protocols import FileStorage

START_SECONDS = 60  # of the process that holds the parsers ready; half a second where nothing else runs
_BYTES_A_CHARACTER = 40  # of an answer, at most: a number takes more than its digits
_LEAST_ANSWER = 10_000_000  # bytes; an empty table has headers too
_MOST_VIEW = 20_000_000  # bytes; the largest picture has 12 million, packed or not
# With the parent's own path, so the same packages, and nothing of the working directory that the parent would not load.
_START = "import sys; sys.path[:] = sys.argv[2:]; from graphrag.parsers.sandbox import main; main(int(sys.argv[1]))"


@dataclass(frozen=True, slots=True)
class _Child:
    process: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def parse(self, data: bytes, *, filename: str, limits: ParsingLimits) -> ParsedText:
        await self._ask(None, data, filename)
        reading, left = FrameReader(), _LEAST_ANSWER + _BYTES_A_CHARACTER * limits.characters
        while True:
            payload = await self._payload(left)
            left -= len(payload)
            if (parsed := reading.add(payload)) is not None:
                return parsed
            await asyncio.sleep(0)

    async def view(self, data: bytes, request: ViewRequest, *, filename: str) -> View:
        await self._ask(request, data, filename)
        payload = await self._payload(_MOST_VIEW)
        raise_error(payload)
        return read_view(payload, await self._payload(_MOST_VIEW))

    async def _ask(self, request: ViewRequest | None, data: bytes, filename: str) -> None:
        for payload in (written_request(request), filename.encode(errors="replace"), data):
            self.writer.write(framed(payload))
        await self.writer.drain()

    async def _payload(self, most: int) -> bytes:
        (length,) = LENGTH.unpack(await self.reader.readexactly(LENGTH.size))
        if length > most:
            raise ValueError("the answer is longer than any of ours")
        return await self.reader.readexactly(length)

    def end(self) -> None:
        self.writer.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)


class _BrokenDown(UnreadableDocument):
    """The parser's process died, or sent what no parser of ours sends."""


class _WornOut(Exception):
    """The process broke down, perhaps of what it read before."""


@dataclass(slots=True)
class IsolatedParser:
    """Starts the sandbox at its first file; `close` ends it. As many files at a time as `limits.processes`."""

    limits: ParsingLimits
    _sandbox: subprocess.Popen[bytes] | None = None
    _control: socket.socket | None = None
    _slots: asyncio.Semaphore = field(init=False)
    _view_slots: asyncio.Semaphore = field(init=False)
    _waiting: list[_Child] = field(init=False, default_factory=list)  # for plain text

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.limits.processes)
        self._view_slots = asyncio.Semaphore(self.limits.processes)

    async def parse(self, data: bytes, *, filename: str) -> ParsedText:
        """Raises UnreadableDocument, also for a file that its parser hangs on or dies of."""
        try:
            return await self._parse(data, filename, may_reuse=True)
        except _WornOut:
            return await self._parse(data, filename, may_reuse=False)

    async def view(self, data: bytes, request: ViewRequest, *, filename: str) -> View:
        """The same of what a person is shown, who does not wait for the files that are being parsed."""
        async with self._view_slots:
            child = await self._new_child()
            try:
                async with self._bounded():
                    return await child.view(data, request, filename=filename)
            finally:
                child.end()

    async def _parse(self, data: bytes, filename: str, *, may_reuse: bool) -> ParsedText:
        async with self._slots:
            is_reused = may_reuse and bool(self._waiting)
            child = self._waiting.pop() if is_reused else await self._new_child()
            is_harmless = False
            try:
                async with self._bounded():
                    parsed = await child.parse(data, filename=filename, limits=self.limits)
                is_harmless = parsed.media_type == PLAIN
                return parsed
            except _BrokenDown as exc:
                if is_reused:
                    raise _WornOut from exc
                raise
            finally:
                if is_harmless:
                    self._waiting.append(child)
                else:
                    child.end()

    @contextlib.asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.limits.seconds):
                yield
        except TimeoutError:
            raise UnreadableDocument(
                f"reading the file takes more than {self.limits.seconds:g} seconds", reason="timeout"
            ) from None
        except UnreadableDocument:
            raise
        except Exception as exc:
            raise _BrokenDown(
                "the file's parser broke down, or needed more memory than it may have", reason="damaged"
            ) from exc

    async def _new_child(self) -> _Child:
        try:
            child = await self._fork()
        except (EOFError, OSError):  # the sandbox itself was killed, which is no file's fault
            child = await self._fork_anew()
        child.writer.write(framed(self.limits.model_dump_json().encode()))
        return child

    async def _fork_anew(self) -> _Child:
        try:
            return await self._fork()
        except (EOFError, OSError) as exc:
            raise UnreadableDocument("the process for the file's parser can't be started", reason="failed") from exc

    async def _fork(self) -> _Child:
        """Raises EOFError or OSError."""
        if self._sandbox is None or self._sandbox.poll() is not None:
            self._start()
        sandbox = self._sandbox
        try:
            reader, writer = await asyncio.open_connection(sock=self._connection())
            async with asyncio.timeout(START_SECONDS):
                (process,) = PROCESS.unpack(await reader.readexactly(PROCESS.size))
        except (EOFError, OSError):
            if self._sandbox is sandbox:
                self.close()
            raise
        return _Child(process, reader, writer)

    def _connection(self) -> socket.socket:
        assert self._control is not None
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [b"."], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return ours

    def _start(self) -> None:
        self.close()
        self._control, theirs = socket.socketpair()
        with theirs:
            fd = theirs.fileno()
            command = [sys.executable, "-P", "-c", _START, str(fd), *sys.path]
            self._sandbox = subprocess.Popen(
                command, env={}, pass_fds=[fd], stdin=subprocess.DEVNULL, start_new_session=True
            )

    def close(self) -> None:
        """Stop the idle processes and the sandbox; files being parsed are finished."""
        while self._waiting:
            self._waiting.pop().end()
        if self._control is not None:
            self._control.close()
        if self._sandbox is not None:
            self._sandbox.kill()
            self._sandbox.wait()
        self._control = self._sandbox = None


V = TypeVar("V", bound=View)


@dataclass(frozen=True, slots=True)
class DocumentViewer:
    files: FileStorage
    parser: IsolatedParser

    async def page(self, document: Document, request: PageRequest) -> PageView:
        """Raises PageNotFound, ViewUnavailable or FileUnavailable."""
        view = await self._view(document, request, PageView, {PDF})
        if not view.width:
            raise PageNotFound(
                f"Document {document.id} has {view.page_count} pages.", page=request.number, page_count=view.page_count
            )
        return view

    async def cells(self, document: Document, request: CellsRequest) -> CellsView:
        """Raises ViewUnavailable or FileUnavailable."""
        return await self._view(document, request, CellsView, {XLSX, XLS, CSV})

    async def _view(self, document: Document, request: ViewRequest, kind: type[V], media_types: set[str]) -> V:
        unavailable = ViewUnavailable(f"Document {document.id} can't be shown like this.", document=str(document.id))
        if document.media_type not in media_types:
            raise unavailable
        data = await self.files.get(document.file_key)
        try:
            view = await self.parser.view(data, request, filename=document.filename)
        except UnreadableDocument as exc:
            raise unavailable from exc
        if not isinstance(view, kind):
            raise unavailable
        return view

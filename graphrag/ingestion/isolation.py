"""Preparing and viewing documents in processes of their own."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeVar

from platformdirs import user_cache_path

from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.word_vectors import TokenModel
from graphrag.errors import PageNotFound, UnreadableDocument, ViewUnavailable
from graphrag.file_storage import read_original
from graphrag.ingestion.prepared import Preparation
from graphrag.ingestion.sources import Source
from graphrag.ingestion.wire import (
    ANY_FILE,
    LENGTH,
    OFFICE_FILE,
    PROCESS,
    RECOGNIZING,
    FrameReader,
    PreparationRequest,
    Request,
    framed,
    raise_error,
    read_question,
    read_view,
    written_counts,
    written_request,
)
from graphrag.models import Document
from graphrag.models.ingestion import CellsRequest, CellsView, PageRequest, PageView, View, ViewRequest
from graphrag.parsers.detection import CSV, JSON, JSON_LINES, MARKDOWN, ODS, OFFICE_SUFFIXES, PDF, PLAIN, XLS, XLSX
from graphrag.protocols import FileStorage
from graphrag.resilience.concurrency import ConcurrencyLimit

START_SECONDS = 60  # of the process that holds parsers and rules ready; two seconds where nothing else runs
_BYTES_A_CHARACTER = 40  # of an answer, at most: a number takes more than its digits
_LEAST_ANSWER = 10_000_000  # bytes; an empty table has headers too
_MOST_VIEW = 20_000_000  # bytes; the largest picture has 12 million, packed or not
_READ_BY_PYTHON = frozenset({PLAIN, MARKDOWN})  # alone: such a file can do nothing to the next one
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")  # where the language model is unpacked, before any file is read
# With the parent's own cache, where the language model may lie unpacked; with its own path, so the same packages, and
# nothing of the working directory that the parent would not load.
_START = (
    "import os, sys; _, fd, os.environ['XDG_CACHE_HOME'], *sys.path = sys.argv; "
    "from graphrag.ingestion.sandbox import main; main(int(fd))"
)


@dataclass(slots=True)
class _Child:
    process: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    busy_seconds: float = 0  # with the files of before

    async def prepare(
        self,
        source: Source,
        *,
        config: IngestionConfig,
        model: TokenModel,
        limits: ParsingLimits,
        bound: asyncio.Timeout,
    ) -> Preparation:
        started = time.monotonic()
        longest = asyncio.get_running_loop().time() + limits.seconds + limits.recognition_seconds
        await self._ask(PreparationRequest.of(source, config, model.counting), source.filename, source.data)
        reading, left = FrameReader(), _LEAST_ANSWER + _BYTES_A_CHARACTER * limits.characters
        while True:
            payload = await self._payload(left)
            left -= len(payload)
            if payload == RECOGNIZING:
                bound.reschedule(longest)
            elif (texts := read_question(payload)) is not None:
                await self._send(written_counts(await asyncio.to_thread(model.count_tokens, texts)))
            elif (preparation := reading.add(payload)) is not None:
                self.busy_seconds += time.monotonic() - started
                return preparation
            await asyncio.sleep(0)

    async def view(self, data: bytes, request: ViewRequest, *, filename: str) -> View:
        await self._ask(request, filename, data)
        payload = await self._payload(_MOST_VIEW)
        raise_error(payload)
        return read_view(payload, await self._payload(_MOST_VIEW))

    async def _ask(self, request: Request, filename: str, content: bytes) -> None:
        await self._send(written_request(request), filename.encode(errors="replace"), content)

    async def _send(self, *payloads: bytes) -> None:
        for payload in payloads:
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


@dataclass(slots=True)
class ForkServer:
    """The process that the others are forked from; it is started when the first of them is needed."""

    process: subprocess.Popen[bytes] | None = None
    _control: socket.socket | None = None

    def start(self) -> None:
        """Start the process unless it runs: what it needs is loaded before the first document comes."""
        if self.process is not None and self.process.poll() is None:
            return
        self.close()
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-P", "-c", _START, str(theirs.fileno()), str(user_cache_path()), *sys.path]
            environment = {name: os.environ[name] for name in _TEMPORARY if name in os.environ}
            self.process = subprocess.Popen(
                command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )

    def connect(self, kind: bytes) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        """Return a connection to a new child, and the process that it is forked from. Raises OSError."""
        self.start()
        assert self._control
        assert self.process
        process = self.process
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [kind], [theirs.fileno()])
            except OSError:
                ours.close()
                self.end(process)
                raise
        return ours, process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Stop a process that did not answer, unless another one has taken its place."""
        if self.process is process:
            self.close()

    def close(self) -> None:
        if self._control is not None:
            self._control.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._control = self.process = None


class _BrokenDown(UnreadableDocument):
    """The document's process died, or sent what none of ours sends."""


class _WornOut(Exception):
    """The process broke down, perhaps of what it read before."""


@dataclass(slots=True)
class Sandbox:
    """A Preparer that starts a process at its first document; `close` ends it.

    As many documents at a time as `limits.processes`; owners take turns.
    """

    limits: ParsingLimits
    server: ForkServer = field(default_factory=ForkServer)
    _slots: ConcurrencyLimit = field(init=False)
    _view_slots: ConcurrencyLimit = field(init=False)
    _waiting: list[_Child] = field(init=False, default_factory=list)  # for what Python reads

    def __post_init__(self) -> None:
        self._slots = ConcurrencyLimit(self.limits.processes)
        self._view_slots = ConcurrencyLimit(self.limits.processes)

    async def prepare(self, source: Source, *, config: IngestionConfig, model: TokenModel) -> Preparation:
        """Raises UnreadableDocument, also for a file that its process hangs on or dies of."""
        try:
            return await self._prepare(source, config, model, may_reuse=True)
        except _WornOut:
            return await self._prepare(source, config, model, may_reuse=False)

    async def view(self, data: bytes, request: ViewRequest, *, filename: str) -> View:
        """The same of what a person is shown, who does not wait for the documents that are being prepared."""
        async with self._view_slots.slot():
            child = await self._new_child(ANY_FILE)
            try:
                async with self._bounded():
                    return await child.view(data, request, filename=filename)
            finally:
                child.end()

    async def _prepare(
        self, source: Source, config: IngestionConfig, model: TokenModel, *, may_reuse: bool
    ) -> Preparation:
        async with self._slots.slot():
            kind = OFFICE_FILE if PurePath(source.filename).suffix.lower() in OFFICE_SUFFIXES else ANY_FILE
            is_reused = may_reuse and kind == ANY_FILE and bool(self._waiting)
            child = self._waiting.pop() if is_reused else await self._new_child(kind)
            may_wait = False
            try:
                async with self._bounded() as bound:
                    prepared = await child.prepare(source, config=config, model=model, limits=self.limits, bound=bound)
                # Its time on the processor is limited as a whole.
                may_wait = prepared.media_type in _READ_BY_PYTHON and child.busy_seconds < self.limits.seconds / 2
                return prepared
            except _BrokenDown as exc:
                if is_reused:
                    raise _WornOut from exc
                raise
            finally:
                if may_wait:
                    self._waiting.append(child)
                else:
                    child.end()

    @contextlib.asynccontextmanager
    async def _bounded(self) -> AsyncIterator[asyncio.Timeout]:
        try:
            async with asyncio.timeout(self.limits.seconds) as bound:
                yield bound
        except TimeoutError:
            raise UnreadableDocument(
                f"processing the file takes more than {self.limits.seconds:g} seconds", reason="timeout"
            ) from None
        except UnreadableDocument:
            raise
        except Exception as exc:
            raise _BrokenDown(
                "the file's process broke down, or needed more memory than it may have", reason="damaged"
            ) from exc

    async def _new_child(self, kind: bytes) -> _Child:
        try:
            child = await self._fork(kind)
        except (EOFError, OSError):  # the sandbox itself was killed, which is no file's fault
            child = await self._fork_anew(kind)
        child.writer.write(framed(self.limits.model_dump_json().encode()))
        return child

    async def _fork_anew(self, kind: bytes) -> _Child:
        try:
            return await self._fork(kind)
        except (EOFError, OSError) as exc:
            raise UnreadableDocument("the file's process can't be started", reason="failed") from exc

    async def _fork(self, kind: bytes) -> _Child:
        """Raises EOFError or OSError."""
        connection, process = self.server.connect(kind)
        try:
            reader, writer = await asyncio.open_connection(sock=connection)
            async with asyncio.timeout(START_SECONDS):
                (child,) = PROCESS.unpack(await reader.readexactly(PROCESS.size))
        except (EOFError, OSError):
            self.server.end(process)
            raise
        return _Child(child, reader, writer)

    def close(self) -> None:
        """Stop the idle processes and the fork server; documents under way are finished."""
        while self._waiting:
            self._waiting.pop().end()
        self.server.close()


V = TypeVar("V", bound=View)


@dataclass(frozen=True, slots=True)
class DocumentViewer:
    files: FileStorage
    sandbox: Sandbox

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
        return await self._view(document, request, CellsView, {XLSX, XLS, ODS, CSV, JSON, JSON_LINES})

    async def _view(self, document: Document, request: ViewRequest, kind: type[V], media_types: set[str]) -> V:
        unavailable = ViewUnavailable(f"Document {document.id} can't be shown like this.", document=str(document.id))
        if document.media_type not in media_types:
            raise unavailable
        data = await read_original(self.files, document.file_key)
        try:
            view = await self.sandbox.view(data, request, filename=document.filename)
        except UnreadableDocument as exc:
            raise unavailable from exc
        if not isinstance(view, kind):
            raise unavailable
        return view

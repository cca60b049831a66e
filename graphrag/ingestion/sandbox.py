"""The process that prepares documents: it holds parsers and rules ready, and forks one child a file.

Started by isolation.py with nothing of the environment but the temporary folder. Over its socket come, for each child,
the kind of its file and one end of a new socket: there the child says its process id, reads what is asked of which file
and writes the result. It ends with the file, but for one of text or Markdown, which needs no parser that it could harm:
then it takes the next one.
"""

import array
import contextlib
import ctypes
import gc
import math
import os
import platform
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Sequence

from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.word_vectors import Counting, WordVectors, estimate_tokens
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.chunking.division import TokenCounter
from graphrag.ingestion.preparation import prepare
from graphrag.ingestion.sources import SourceText
from graphrag.ingestion.wire import (
    LENGTH,
    OFFICE_FILE,
    PROCESS,
    RECOGNIZING,
    PreparationRequest,
    Request,
    framed,
    read_counts,
    read_request,
    written,
    written_error,
    written_question,
    written_view,
)
from graphrag.parsers import office, recognition
from graphrag.parsers.parsing import view

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_KILL, _EPERM, _ALLOW = 0x80000000, 0x00050000 | 1, 0x7FFF0000
_ARCHITECTURES = {  # <linux/audit.h>; socket, execve, execveat, ptrace, process_vm_readv, process_vm_writev, io_uring
    "x86_64": (0xC000003E, (41, 59, 322, 101, 310, 311, 425)),
    "aarch64": (0xC00000B7, (198, 221, 281, 117, 270, 271, 425)),
}
_EXEC = frozenset({59, 322, 221, 281})  # execve and execveat of both
_FIRST_OTHER_CALL = 0x40000000  # of x86-64's second table of calls, x32
_SAMPLES = (  # they have every kind of rule read before the first file
    "# Informe\n\nEl 3 de mayo de 2024 Ana Gil cerró el horno porque falló el retén. Costó 3,5 €.",
    "# Rapport\n\nLe 3 mai 2024, Paul Lemaire a fermé le four parce que le joint a cédé. Il a coûté 3,5 €.",
    "# Report\n\nOn May 3, 2024 John Smith closed the kiln because its seal failed. It cost € 3.5.",
)


def main(fd: int) -> None:
    server = socket.socket(fileno=fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it closes the socket
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would not come along to the children
    _load()
    gc.freeze()  # the children share what is loaded
    gc.set_threshold(100_000, 50, 100)  # a document's objects live to its end: to go through them again finds nothing
    while True:
        kind, ends, _, _ = socket.recv_fds(server, 1, 1)
        if not ends:
            return
        if kind == OFFICE_FILE:
            office.load()  # for the next children too
        if os.fork() == 0:
            server.close()
            _Connection(socket.socket(fileno=ends[0])).serve()
        os.close(ends[0])


def _load() -> None:
    """Read what preparation needs: every child has it then."""
    for text in _SAMPLES:
        prepare(SourceText("", text), IngestionConfig(), limits=ParsingLimits(), count_tokens=_BUNDLED.count_tokens)


_BUNDLED = WordVectors()


class _Connection:
    """A child's way to the service."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received = connection.makefile("rb")

    def serve(self) -> None:
        """Answer until killed."""
        try:
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _silence()
            self._socket.sendall(PROCESS.pack(os.getpid()))
            limits = ParsingLimits.model_validate_json(self._read_frame())
            recognition.start(
                lambda: confine(limits, may_start_programs=True), lambda: self._announce_recognition(limits)
            )
            confine(limits)
            while True:  # killed while it waits: its process id is surely still its own then
                request, filename, data = (self._read_frame() for _ in range(3))
                _limit_time(limits)
                for payload in self._answer(read_request(request), filename.decode(), data, limits):
                    self._socket.sendall(framed(payload))
                signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            # Without the interpreter's own end: a parser's threads have crashed in it.
            os._exit(0)

    def _announce_recognition(self, limits: ParsingLimits) -> None:
        self._socket.sendall(framed(RECOGNIZING))
        _limit_time(limits, more=limits.recognition_seconds)

    def _read_frame(self) -> bytes:
        (length,) = LENGTH.unpack(self._received.read(LENGTH.size))
        return self._received.read(length)

    def _answer(self, request: Request, filename: str, data: bytes, limits: ParsingLimits) -> Iterator[bytes]:
        try:
            if isinstance(request, PreparationRequest):
                source, counter = request.source(filename, data), self._counter(request.counting)
                yield from written(prepare(source, request.config, limits=limits, count_tokens=counter))
            else:
                yield from written_view(view(data, request, filename=filename, limits=limits))
        except UnreadableDocument as exc:
            yield written_error(exc)

    def _counter(self, counting: Counting) -> TokenCounter:
        return {"bundled": _BUNDLED.count_tokens, "characters": estimate_tokens, "model": self._ask}[counting]

    def _ask(self, texts: Sequence[str]) -> list[int]:
        self._socket.sendall(framed(written_question(texts)))
        return read_counts(self._read_frame())


def _silence() -> None:
    """Redirect the standard streams to the null device: native parsers write file content to them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def confine(limits: ParsingLimits, *, may_start_programs: bool = False) -> None:
    """Restrict this process irrevocably: memory, time, no writing of files, no network, no other programs.

    One that recognises pictures may start programs, which are restricted likewise; it ends when it is asked no more.
    """
    more = limits.recognition_seconds if may_start_programs else 0
    for which, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, math.ceil((limits.seconds + more) * (1 + (os.cpu_count() or 1))) + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):  # macOS has no RLIMIT_AS
            resource.setrlimit(which, (most, most))
    if not may_start_programs:
        _limit_time(limits)
    if sys.platform == "linux" and platform.machine() in _ARCHITECTURES:
        architecture, calls = _ARCHITECTURES[platform.machine()]
        _forbid(architecture, tuple(call for call in calls if not (may_start_programs and call in _EXEC)))


def _limit_time(limits: ParsingLimits, *, more: float = 0) -> None:
    """Limit the time of one file, so that the process ends even if its parent is gone."""
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + more + 1)


def _forbid(architecture: int, calls: tuple[int, ...]) -> None:
    """Make these system calls fail with EPERM from now on: seccomp(2)."""
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    program = [
        (load, 0, 0, 4),  # seccomp_data.arch
        (equal, 1, 0, architecture),
        (give, 0, 0, _KILL),
        (load, 0, 0, 0),  # seccomp_data.nr
        (at_least, 0, 1, _FIRST_OTHER_CALL),
        (give, 0, 0, _KILL),
        *((equal, len(calls) - place, 0, call) for place, call in enumerate(calls)),
        (give, 0, 0, _ALLOW),
        (give, 0, 0, _EPERM),
    ]
    code = array.array("B", b"".join(struct.pack("HBBI", *instruction) for instruction in program))
    address, _ = code.buffer_info()
    fprog = struct.pack("HL", len(program), address)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, fprog, 0, 0)  # a kernel without it keeps the other limits

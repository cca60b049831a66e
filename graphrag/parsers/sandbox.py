"""The process that parses: it holds the parsers ready, and forks one child a file, which ends with the file.

Started by isolation.py with an empty environment. Over its socket comes, for each child, one end of a new socket:
there the child says its process id, reads what is asked of which file and writes the result. After a file of plain
text, which needs no parser that it could harm, it takes the next one.
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
from collections.abc import Iterator
from typing import BinaryIO

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models.ingestion import ViewRequest
from graphrag.parsers.parsing import parse, view
from graphrag.parsers.wire import LENGTH, PROCESS, framed, read_request, written, written_error, written_view

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_KILL, _EPERM, _ALLOW = 0x80000000, 0x00050000 | 1, 0x7FFF0000
_ARCHITECTURES = {  # <linux/audit.h>; socket, execve, execveat, ptrace, process_vm_readv, process_vm_writev, io_uring
    "x86_64": (0xC000003E, (41, 59, 322, 101, 310, 311, 425)),
    "aarch64": (0xC00000B7, (198, 221, 281, 117, 270, 271, 425)),
}
_FIRST_OTHER_CALL = 0x40000000  # of x86-64's second table of calls, x32


def main(fd: int) -> None:
    server = socket.socket(fileno=fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it closes the socket
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    gc.freeze()  # the children share what is loaded
    while True:
        _, ends, _, _ = socket.recv_fds(server, 1, 1)
        if not ends:
            return
        if os.fork() == 0:
            server.close()
            _serve(socket.socket(fileno=ends[0]))
        os.close(ends[0])


def _serve(connection: socket.socket) -> None:
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _silence()
        with connection, connection.makefile("rb") as requests:
            connection.sendall(PROCESS.pack(os.getpid()))
            limits = ParsingLimits.model_validate_json(_read_frame(requests))
            confine(limits)
            while True:  # killed while it waits: its process id is surely still its own then
                request, filename, data = (_read_frame(requests) for _ in range(3))
                _limit_time(limits)
                for payload in _answer(read_request(request), data, filename.decode(), limits):
                    connection.sendall(framed(payload))
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        # Without the interpreter's own end: a parser's threads have crashed in it.
        os._exit(0)


def _silence() -> None:
    """Redirect the standard streams to the null device: native parsers write file content to them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def _read_frame(requests: BinaryIO) -> bytes:
    (length,) = LENGTH.unpack(requests.read(LENGTH.size))
    return requests.read(length)


def _answer(request: ViewRequest | None, data: bytes, filename: str, limits: ParsingLimits) -> Iterator[bytes]:
    try:
        payloads = (
            written(parse(data, filename=filename, limits=limits))
            if request is None
            else written_view(view(data, request, filename=filename, limits=limits))
        )
    except UnreadableDocument as exc:
        yield written_error(exc)
    else:
        yield from payloads


def confine(limits: ParsingLimits) -> None:
    """Restrict this process irrevocably: memory, time, no writing of files, no network, no other programs."""
    for which, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, math.ceil(limits.seconds * (os.cpu_count() or 1)) + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):  # macOS has no RLIMIT_AS
            resource.setrlimit(which, (most, most))
    _limit_time(limits)
    if sys.platform == "linux" and platform.machine() in _ARCHITECTURES:
        _forbid(*_ARCHITECTURES[platform.machine()])


def _limit_time(limits: ParsingLimits) -> None:
    """Limit the time of one file, so that the process ends even if its parent is gone."""
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + 1)


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

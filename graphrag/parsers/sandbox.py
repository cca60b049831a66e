"""The process that parses: it holds the parsers ready, and forks one child a file, which ends with the file.

`python -m graphrag.parsers.sandbox FD`, started by isolation.py with an empty environment. Over the socket FD comes,
for each file, one end of a new socket: there the child says its process id, reads the request and writes the result.
"""

import array
import contextlib
import ctypes
import os
import pickle
import platform
import resource
import signal
import socket
import struct
import sys
from typing import Any

from graphrag.errors import UnreadableDocument
from graphrag.parsers.parsing import parse
from graphrag.settings import ParsingLimits

LENGTH = struct.Struct("!Q")
PROCESS = struct.Struct("!I")
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_AUDIT_ARCHES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # <linux/audit.h>, number of socket(2)


def main(fd: int) -> None:
    server = socket.socket(fileno=fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it closes the socket
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    while True:
        _, ends, _, _ = socket.recv_fds(server, 1, 1)
        if not ends:
            return
        if os.fork() == 0:
            server.close()
            _serve(socket.socket(fileno=ends[0]))
        os.close(ends[0])


def _serve(connection: socket.socket) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        with connection, connection.makefile("rb") as requests:
            connection.sendall(PROCESS.pack(os.getpid()))
            (length,) = LENGTH.unpack(requests.read(LENGTH.size))
            data, filename, limits = pickle.loads(requests.read(length))
            connection.sendall(_answer(data, filename, limits))
    finally:
        # Without the interpreter's own end: a parser's threads have crashed in it.
        os._exit(0)


def _answer(data: bytes, filename: str, limits: ParsingLimits) -> bytes:
    confine(limits)
    result: Any
    try:
        result = parse(data, filename=filename, limits=limits)
    except UnreadableDocument as exc:
        result = (str(exc), exc.details)
    except MemoryError:
        result = ("reading the file takes more memory than it may", {"reason": "too_large"})
    except Exception as exc:  # whatever a parser raises is of this file only
        result = (
            f"the file is damaged: {type(exc).__name__}: {' '.join(str(exc).split())[:200]}",
            {"reason": "damaged"},
        )
    answer = pickle.dumps(result)
    return LENGTH.pack(len(answer)) + answer


def confine(limits: ParsingLimits) -> None:
    """For good: memory, processor time, no writing of files, no network."""
    for which, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, round(limits.seconds) + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):  # macOS has no RLIMIT_AS
            resource.setrlimit(which, (most, most))
    if sys.platform == "linux" and platform.machine() in _AUDIT_ARCHES:
        _forbid_sockets(*_AUDIT_ARCHES[platform.machine()])


def _forbid_sockets(arch: int, number: int) -> None:
    """socket(2) fails with EPERM from here on: seccomp(2), a filter of six instructions."""
    load, equal, give = 0x20, 0x15, 0x06
    program = [
        (load, 0, 0, 4),  # seccomp_data.arch
        (equal, 1, 0, arch),
        (give, 0, 0, 0x80000000),  # another architecture's call: kill
        (load, 0, 0, 0),  # seccomp_data.nr
        (equal, 0, 1, number),
        (give, 0, 0, 0x00050000 | 1),  # EPERM
        (give, 0, 0, 0x7FFF0000),  # allow
    ]
    code = array.array("B", b"".join(struct.pack("HBBI", *instruction) for instruction in program))
    address, _ = code.buffer_info()
    fprog = struct.pack("HL" if struct.calcsize("L") == 8 else "HI", len(program), address)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, fprog, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Parsing as the sandbox does it, one confined process a file, for tests that look at what a parser alone gives."""

import asyncio
import os
import pickle
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.sandbox import confine
from graphrag.models import ParsedText
from graphrag.parsers import recognition
from graphrag.parsers.parsing import parse

_LENGTH = struct.Struct("!Q")


def _send(stream: IO[bytes], what: object) -> None:
    payload = pickle.dumps(what)
    stream.write(_LENGTH.pack(len(payload)) + payload)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    return pickle.loads(stream.read(_LENGTH.unpack(stream.read(_LENGTH.size))[0]))


@dataclass
class IsolatedParser:
    """Returns or raises what `parse` does, and UnreadableDocument for a file that its parser hangs on or dies of."""

    limits: ParsingLimits
    _server: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        command = [sys.executable, "-m", __name__]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    async def parse(self, data: bytes, *, filename: str) -> ParsedText:
        found = await asyncio.to_thread(self._parse, data, filename)
        if isinstance(found, UnreadableDocument):
            raise found
        assert isinstance(found, ParsedText)
        return found

    def _parse(self, data: bytes, filename: str) -> object:
        assert self._server.stdin
        assert self._server.stdout
        _send(self._server.stdin, (self.limits, data, filename))
        found = _receive(self._server.stdout)
        if isinstance(found, int):  # the status of a process that died
            reason = "timeout" if os.WTERMSIG(found) == signal.SIGALRM else "damaged"
            return UnreadableDocument("its parser died", reason=reason)
        match found:
            case [str() as message, dict() as details]:
                return UnreadableDocument(message, **details)
        return found

    def close(self) -> None:
        self._server.kill()
        self._server.wait()


def _serve() -> None:
    requests, results = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        limits, data, filename = _receive(requests)
        if not (child := os.fork()):
            recognition.start(partial(confine, limits, may_start_programs=True), lambda: None)
            confine(limits)
            try:
                found: object = parse(data, filename=filename, limits=limits)
            except UnreadableDocument as exc:
                found = [str(exc), exc.details]
            signal.setitimer(signal.ITIMER_REAL, 0)
            _send(results, found)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            _send(results, status)


if __name__ == "__main__":
    _serve()

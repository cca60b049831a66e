"""Files are parsed in processes of their own: what a file does to its parser stays there."""

import asyncio
import contextlib
import datetime
import io
import os
import pickle
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from typing import ClassVar

from graphrag import models
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.sandbox import LENGTH, PROCESS
from graphrag.settings import ParsingLimits


class _Result(pickle.Unpickler):
    """Nothing but the nouns of a parsed text: whoever took over the parser gets no further than its process."""

    NOUNS: ClassVar = {
        (noun.__module__, noun.__name__): noun
        for noun in (
            *(models.ParsedText, models.Heading, models.Place, models.Table, models.TableRow),
            *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
        )
    }

    def find_class(self, module_name: str, global_name: str) -> type:
        try:
            return self.NOUNS[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module_name}.{global_name} is no part of a parsed text") from None


@dataclass(slots=True)
class IsolatedParser:
    """Starts the sandbox at its first file; `close` ends it. As many files at a time as `limits.processes`."""

    limits: ParsingLimits
    _sandbox: subprocess.Popen[bytes] | None = None
    _control: socket.socket | None = None
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.limits.processes)

    async def parse(self, data: bytes, *, filename: str) -> ParsedText:
        """Raises UnreadableDocument, also for a file that its parser hangs on or dies of."""
        async with self._slots:
            connection = self._connect()
            reader, writer = await asyncio.open_connection(sock=connection)
            process = 0
            try:
                async with asyncio.timeout(self.limits.seconds):
                    (process,) = PROCESS.unpack(await reader.readexactly(PROCESS.size))
                    request = pickle.dumps((data, filename, self.limits))
                    writer.write(LENGTH.pack(len(request)) + request)
                    await writer.drain()
                    (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                    result = _Result(io.BytesIO(await reader.readexactly(length))).load()
            except TimeoutError:
                raise UnreadableDocument(
                    f"reading the file takes more than {self.limits.seconds:g} seconds", reason="timeout"
                ) from None
            except (asyncio.IncompleteReadError, ConnectionError, pickle.UnpicklingError):
                raise UnreadableDocument("the file is damaged: its parser broke down", reason="damaged") from None
            finally:
                writer.close()
                if process:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process, signal.SIGKILL)
        if isinstance(result, ParsedText):
            return result
        message, details = result
        raise UnreadableDocument(message, **details)

    def _connect(self) -> socket.socket:
        if self._sandbox is None or self._sandbox.poll() is not None:
            self._start()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"."], [theirs.fileno()])
        return ours

    def _start(self) -> None:
        self.close()
        self._control, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "graphrag.parsers.sandbox", str(theirs.fileno())]
            self._sandbox = subprocess.Popen(command, env={}, pass_fds=[theirs.fileno()], start_new_session=True)

    def close(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._sandbox is not None:
            self._sandbox.wait()
        self._control = self._sandbox = None

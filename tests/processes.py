"""`causeway …` in a process of its own, forked from one that has read all it needs: a new Python takes seconds."""

import atexit
import io
import multiprocessing
import multiprocessing.forkserver
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
MOST_SECONDS = 240

_forking = multiprocessing.get_context("forkserver")
PRELOADED = ["tests.measured", "tests.processes", "api.cli.main", "api.app", "api.mcp.server", "tests.loaded"]
_forking.set_forkserver_preload(PRELOADED)


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Process:
    """Like `subprocess.Popen` of a program that writes text; its standard error is kept: `log`."""

    def __init__(
        self,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        standard: Sequence[IO[str]],
        given: IO[str],
        output: IO[str],
    ) -> None:
        """Has `standard` for its input, output and errors; what is written to `given` it reads, `output` reads what it
        writes.
        """
        # A connection is what multiprocessing knows to hand over: as such, none is used.
        files = [Connection(os.dup(file.fileno())) for file in standard]
        self._process = _forking.Process(target=_become, args=(arguments, os.environ | environment, files))
        self._process.start()
        for file in files:
            file.close()
        self.given, self.output, self._errors = given, output, standard[2]
        assert self._process.pid
        self.pid = self._process.pid

    def log(self) -> str:
        """What it has written so far. The file's position is the process's too: it stays where it is."""
        return os.pread(self._errors.fileno(), 1_000_000_000, 0).decode()

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """Its exit code; minus the signal's number where one killed it. Errors: TimeoutExpired."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("causeway", timeout)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it may end at this moment
                os.kill(self.pid, number)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.send_signal(number)
        return self.wait(MOST_SECONDS)

    def read(self) -> str:
        """Standard output to its end."""
        with self.limited():
            return self.output.read()

    def read_line(self, part: str) -> str:
        """Of standard output, the next line that holds this."""
        with self.limited():
            line = next((line for line in self.output if part in line), None)
        assert line is not None, self.log()
        return line

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Killed when it takes too long: who waits for its output goes on."""
        watchdog = threading.Timer(MOST_SECONDS, self.send_signal, [signal.SIGKILL])
        watchdog.start()
        try:
            yield
        finally:
            watchdog.cancel()


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[Process]:
    """`causeway ARGUMENTS`; killed at the end, where it still runs then."""
    with pipe() as (read, given), pipe() as (output, written), tempfile.TemporaryFile("w+") as errors:
        process = Process(arguments, environment, (read, written, errors), given, output)
        read.close()
        written.close()
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(MOST_SECONDS)


@contextmanager
def pipe() -> Iterator[tuple[IO[str], IO[str]]]:
    """What is written to the second, the first reads."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as read, os.fdopen(writing, "w", buffering=1) as written:
        yield read, written


def preload_models() -> None:
    """Of the processes that are forked from now on, each has its models when it starts: see `tests.loaded_models`."""
    _forking.set_forkserver_preload([*PRELOADED, "tests.loaded_models"])


def end_of_forking() -> None:
    """The process that they are forked from ends."""
    multiprocessing.forkserver._forkserver._stop()  # type: ignore[attr-defined]


def _become(arguments: tuple[str, ...], environment: dict[str, str], standard: Sequence[Connection]) -> None:
    """What `python -m api.cli ARGUMENTS` makes of itself."""
    from api.cli.main import main
    from tests import measured, wall_clock

    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    for number, file in enumerate(standard):
        os.dup2(file.fileno(), number)
        file.close()
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb"), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb"), encoding="utf-8", line_buffering=True)
    sys.argv = ["causeway", *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests are started to ignore it
    wall_clock.jump_at_signals()
    try:
        main()
    finally:
        sys.stdout.flush()
        measured.write_down()
        atexit._run_exitfuncs()  # multiprocessing leaves them out

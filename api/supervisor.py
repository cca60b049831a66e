"""Several server processes behind one port: they get its connections in turn, and are replaced where one ends."""

import asyncio
import gc
import itertools
import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeAlias

from prometheus_client.multiprocess import mark_process_dead

from graphrag.errors import CausewayError, InvalidSettings
from graphrag.observability.telemetry import log

BACKLOG = 2048  # connections that wait to be accepted, as uvicorn has it
END_SECONDS = 20  # for streams, jobs and the embedded database; what still runs then is killed
PAUSE_SECONDS = 1  # before a process that ended is replaced
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class ServerProcess:
    """One of the processes, as it sees itself."""

    number: int  # from 0
    is_restarted: bool
    folder: Path  # of the files that the processes share
    connections: socket.socket  # each message is one of a client
    messages: "Connection[Exception | None, None]"  # to the supervisor
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    is_ready: bool = False

    def ready(self) -> None:
        """Tell the supervisor that requests are answered."""
        self.is_ready = True
        self.messages.send(None)


Work: TypeAlias = Callable[[ServerProcess], Coroutine[None, None, None]]


@dataclass(slots=True)
class _Supervised:
    """One of the processes, as the supervisor sees it."""

    number: int
    process: BaseProcess
    connections: socket.socket
    messages: "Connection[None, Exception | None]"  # None when it is ready, or the error that it could not start for
    is_ready: bool = False

    def hear(self) -> None:
        """Wait until the process is ready. Raises the error that it ended with."""
        try:
            error = self.messages.recv()
        except EOFError:
            error = CausewayError("A server process ended before it was ready.")
        if error is not None:
            raise error
        self.is_ready = True

    def close(self) -> None:
        self.connections.close()
        self.messages.close()


class Supervisor:
    """Accepts connections, and hands them to so many processes that do the work.

    Were all of them to accept, those of one client would often end up in one process. A process is forked, and shares
    the memory of what was loaded before: at this moment there must be no other thread and no event loop. `folder`
    is for files that the processes share; it holds their metrics.
    """

    def __init__(self, work: Work, count: int, listener: socket.socket, folder: Path) -> None:
        """Raises InvalidSettings."""
        if sys.platform != "linux":
            raise InvalidSettings("--processes needs Linux. Elsewhere, start causeway serve once for each port.")
        self._forking = multiprocessing.get_context("fork")
        self._work = work
        self._count = count
        self._listener = listener
        self._folder = folder
        self._children: list[_Supervised] = []
        self._turns = itertools.count()

    def run(self, *, announce: Callable[[], None]) -> None:
        """Return when all processes have ended after SIGINT or SIGTERM; `announce` once all of them are ready.

        The first one starts alone: it prepares the database, and what prevents a start is reported once. Raises the
        error of a process that can't start.
        """
        gc.freeze()  # a collection would write to every object that the processes share, and so copy it
        with _received_signals() as signals:
            try:
                if self._start_all(signals):
                    self._listener.setblocking(False)
                    self._listener.listen(BACKLOG)
                    announce()
                    self._watch(signals)
            finally:
                self._end()

    def _start_all(self, signals: socket.socket) -> bool:
        """Return whether all are ready; False after a signal."""
        for numbers in (range(1), range(1, self._count)):
            self._children += [self._start(number) for number in numbers]
            for child in (self._children[number] for number in numbers):
                if child.messages not in wait([signals, child.messages]):
                    return False
                child.hear()
        return True

    def _watch(self, signals: socket.socket) -> None:
        while True:
            starting = {child.messages: child for child in self._children if not child.is_ready}
            running = {child.process.sentinel: child for child in self._children}
            accepting = [self._listener] if len(starting) < self._count else []
            events = wait([signals, *accepting, *starting, *running])
            if signals in events:
                return
            for event in events:
                if event in starting:
                    with suppress(CausewayError):  # it has ended
                        starting[event].hear()
                if event in running:
                    self._replace(running[event])
            if self._listener in events:
                self._hand_over_connections()

    def _hand_over_connections(self) -> None:
        with suppress(OSError):  # there is none left, or the client has gone
            for _ in range(BACKLOG):
                connection, _ = self._listener.accept()
                with connection:
                    self._hand_over(connection)

    def _hand_over(self, connection: socket.socket) -> None:
        """Give a connection to the next process; one that has just died, or accepts nothing, is passed over."""
        for _ in range(self._count):
            child = self._children[next(self._turns) % self._count]
            if child.is_ready:
                with suppress(OSError):
                    socket.send_fds(child.connections, [b"\0"], [connection.fileno()])
                    return

    def _replace(self, child: _Supervised) -> None:
        child.process.join()
        child.close()
        number, code = child.process.pid, child.process.exitcode
        log.warning("a server process ended and is replaced", process=number, exit_code=code)
        mark_process_dead(number, self._folder)  # type: ignore[no-untyped-call]
        self._children[child.number] = self._start(child.number, is_restarted=True)

    def _start(self, number: int, *, is_restarted: bool = False) -> _Supervised:
        messages, theirs = self._forking.Pipe(duplex=False)
        connections, handed_over = socket.socketpair()
        connections.setblocking(False)
        handed_over.setblocking(False)
        process = ServerProcess(number, is_restarted, self._folder, handed_over, theirs)
        forked = self._forking.Process(target=self._become, args=(process, messages, connections))
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the process has handlers of its own
        try:
            forked.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        theirs.close()
        handed_over.close()
        return _Supervised(number, forked, connections, messages)

    def _become(self, process: ServerProcess, *inherited: "Connection[None, Exception | None] | socket.socket") -> None:
        """Run in the new process."""
        signal.set_wakeup_fd(-1)
        for each in (self._listener, *inherited, *self._children):  # else it would stay open when the supervisor ends
            each.close()
        asyncio.run(_work_until_told(self._work, process))

    def _end(self) -> None:
        self._listener.close()
        for child in self._children:
            child.process.terminate()
        deadline = time.monotonic() + END_SECONDS
        for child in self._children:
            child.process.join(max(0.0, deadline - time.monotonic()))
            if child.process.is_alive():
                log.warning("a server process does not end and is killed", process=child.process.pid)
                child.process.kill()
                child.process.join()
            child.close()


@contextmanager
def _received_signals() -> Iterator[socket.socket]:
    """Yield a socket that can be read after a signal, which raises no KeyboardInterrupt meanwhile."""
    received, writing = socket.socketpair()
    with received, writing:
        writing.setblocking(False)
        before = [signal.signal(number, lambda *_: None) for number in SIGNALS]
        waking = signal.set_wakeup_fd(writing.fileno())
        try:
            yield received
        finally:
            signal.set_wakeup_fd(waking)
            for number, handler in zip(SIGNALS, before, strict=True):
                signal.signal(number, handler)


async def _work_until_told(work: Work, process: ServerProcess) -> None:
    """Stop at SIGTERM, or with the supervisor; Ctrl-C in a terminal, which reaches all processes, is left to it."""
    loop, supervisor = asyncio.get_running_loop(), multiprocessing.parent_process()
    assert supervisor

    def stop() -> None:
        loop.remove_reader(supervisor.sentinel)
        process.stopping.set()

    loop.add_reader(supervisor.sentinel, stop)
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    working, told = asyncio.create_task(_work(work, process)), asyncio.create_task(process.stopping.wait())
    await asyncio.wait({working, told}, return_when=asyncio.FIRST_COMPLETED)
    if not process.is_ready:  # else it ends in order
        working.cancel()
    try:
        with suppress(asyncio.CancelledError):
            await working
    except CausewayError as exc:
        if process.is_restarted:
            log.error("a server process could not start", error=exc)
        else:
            process.messages.send(exc)
    finally:
        told.cancel()


async def _work(work: Work, process: ServerProcess) -> None:
    if process.is_restarted:
        await asyncio.sleep(PAUSE_SECONDS)
    await work(process)

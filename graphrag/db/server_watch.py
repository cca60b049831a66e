"""Watch of the database server: one check of whether it answers serves all waiting requests."""

import asyncio
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from typing import NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo, PGconn, Ping
from psycopg.rows import scalar_row

from graphrag.errors import DatabaseUnavailable
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import end
from graphrag.resilience.circuit_breaker import BreakerState

SECONDS = 2.0
SSL_REQUEST = struct.pack("!II", 8, 80877103)  # a server answers it by a letter, whatever its state and its rules


class _Place(NamedTuple):
    host: str  # or the folder of its socket
    port: str


async def answers(address: str) -> bool:
    """Return whether the server accepts connections within seconds, or says that it accepts no more."""
    place = _place(address)
    # A server that hangs would stop this whole process: psycopg keeps the interpreter's lock while libpq asks it.
    return (place is None or await _speaks(place)) and await asyncio.to_thread(_takes_connections, address)


def _takes_connections(address: str) -> bool:
    return PGconn.ping(address.encode()) == Ping.OK


def _place(address: str) -> _Place | None:
    """Return the server's address; None if a plain connection can't test it or libpq alone knows it.

    That is the case for several servers, a service, a default host, an abstract socket, and TLS from the first byte on.
    """
    known = {option.keyword: option.val for option in Conninfo.get_defaults()}
    known |= {option.keyword: option.val for option in Conninfo.parse(address.encode()) if option.val}
    host, port = known[b"hostaddr"] or known[b"host"], known[b"port"]
    if known[b"service"] or known.get(b"sslnegotiation") == b"direct":
        return None
    if not host or not port or b"," in host or host.startswith(b"@"):
        return None
    return _Place(host.decode(), port.decode())


async def _speaks(place: _Place) -> bool:
    try:
        async with asyncio.timeout(SECONDS):
            if place.host.startswith("/"):
                opening = asyncio.open_unix_connection(f"{place.host}/.s.PGSQL.{place.port}")
            else:
                opening = asyncio.open_connection(place.host, place.port)
            reader, writer = await opening
            try:
                writer.write(SSL_REQUEST)
                return bool(await reader.read(1))
            finally:
                writer.close()
    except OSError:  # a TimeoutError is one
        return False


SUSPICIOUS_SECONDS = 1.5  # that something lasts, which may be a long statement or a server that hangs
AGAIN_SECONDS = 0.5  # between two looks at a server that is away
REFUSED_SECONDS = 2.0  # longer, between two logins that it refuses
# A network that swallows what is sent is an error after seconds, not after a quarter of an hour. A URL may have others.
PATIENCE = {"connect_timeout": 2, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
PATIENCE |= {"tcp_user_timeout": 4000}  # milliseconds


@dataclass(slots=True)
class Watch:
    """Watch of the database server by a connection of its own.

    A server that hangs reports nothing, and a long statement says nothing about the server.
    """

    is_there: Callable[[], Awaitable[bool]]  # answers in some seconds, whatever the server does
    lose: Callable[[], None]  # ends at once what waits for the server
    open: Callable[[], Awaitable[None]]  # raises what hinders it
    name: str = "database"
    failures: int = 0  # looks in a row
    _looking: asyncio.Task[None] | None = field(default=None, repr=False)
    _is_away: bool = False
    _is_opening: bool = False
    _is_closed: bool = False

    @property
    def is_away(self) -> bool:
        return self._is_away

    @property
    def state(self) -> BreakerState:
        if not self._is_away:
            return BreakerState(self.name, "closed", 0, 0.0)
        return BreakerState(self.name, "half_open" if self._is_opening else "open", self.failures, AGAIN_SECONDS)

    def check(self) -> None:
        """Raises DatabaseUnavailable while it is known to be away."""
        if self._is_away:
            raise away()

    @contextmanager
    def during(self) -> Iterator[None]:
        """Check the server regularly while the block, which needs it, runs."""
        timer: asyncio.TimerHandle
        loop = asyncio.get_running_loop()

        def again() -> None:
            nonlocal timer
            self.suspect()
            timer = loop.call_later(SUSPICIOUS_SECONDS, again)

        timer = loop.call_later(SUSPICIOUS_SECONDS, again)
        try:
            yield
        finally:
            timer.cancel()

    def suspect(self) -> None:
        """Check the server in the background; if it is away, until it is back."""
        if not self._is_closed and (self._looking is None or self._looking.done()):
            # In a context of its own: who came first has a name, a trace and little time; this goes on for all.
            self._looking = asyncio.create_task(self._look(), context=Context())

    def miss(self) -> None:
        """Record that the server is away."""
        self._is_away = True
        self.suspect()

    def attend(self) -> None:
        """Start checking the server on suspicion, also after `close`."""
        self._is_closed = False

    async def close(self) -> None:
        """Stop checking: errors of a server that is being stopped must not start it again."""
        self._is_closed = True
        if self._looking:
            await end(self._looking)

    async def _look(self) -> None:
        if not self._is_away and await self.is_there():
            return
        self._note_absence()
        while self._is_away:
            await asyncio.sleep(AGAIN_SECONDS)
            try:
                if await self.is_there():
                    await self._return()
                    continue
            except Exception as exc:  # whoever looks no more says «away» for ever
                log.warning("the database is there, and can't be used yet", name=self.name, error=exc)
                await asyncio.sleep(REFUSED_SECONDS)
            self.failures += 1

    def _note_absence(self) -> None:
        log.warning("the database is away", name=self.name)
        self._is_away = True
        self.failures = 1
        self.lose()

    async def _return(self) -> None:
        self._is_opening = True
        try:
            await self.open()
        finally:
            self._is_opening = False
        log.warning("the database is back", name=self.name, failures=self.failures)
        self._is_away, self.failures = False, 0


def away() -> DatabaseUnavailable:
    return DatabaseUnavailable(
        "PostgreSQL does not answer: it is looked after every moment. Check DATABASE_URL and the server.",
        retry_after=1,
    )


def patient(url: str) -> str:
    """Return the conninfo with timeouts for all waiting on the network, unless it sets its own."""
    return make_conninfo("", **{**PATIENCE, **conninfo_to_dict(url)})


def server_name(address: str) -> str:
    """Return where the server is, without what it keeps secret."""
    known = conninfo_to_dict(address)
    return f"{known.get('host', 'localhost')}:{known.get('port', 5432)}"


def is_pooled(address: str) -> bool:
    """Return whether a pooler such as PgBouncer stands before the server. Raises psycopg.Error.

    It announces a process that it made up, so that it can pass on the cancelling of a statement to any.
    """
    with psycopg.connect(address, row_factory=scalar_row) as connection:
        return connection.execute("SELECT pg_backend_pid()").fetchone() != connection.info.backend_pid


def hang_up(connection: psycopg.AsyncConnection[dict[str, object]]) -> None:
    """Shut the connection's socket down, so that its user learns at once that it is lost.

    The connection object is not closed while others use it.
    """
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
        duplicate.shutdown(socket.SHUT_RDWR)

"""The way to PostgreSQL: a pool, an identity in every transaction."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graphrag.config.settings import Settings
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.errors import FAILURES, is_operational, one_line, translated
from graphrag.db.migrate import APPLICATION_ROLE, OPTIONS, migrate
from graphrag.db.server_watch import Watch, answers, hang_up, patient
from graphrag.errors import DatabaseUnavailable, DatabaseUnprepared
from graphrag.observability.request_context import current_context
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import leave
from graphrag.resilience.circuit_breaker import BreakerState

CANCEL_SECONDS = 1
PING_SECONDS = 2
# One message, for a search is a few milliseconds. The connection's own block commits or rolls back.
BEGIN = sql.SQL(
    "BEGIN; SELECT set_config('role', {}, true), set_config('app.user_id', {}, true),"
    " set_config('statement_timeout', {}, true)"
)

Connection = psycopg.AsyncConnection[dict[str, object]]
Pool = AsyncConnectionPool[Connection]


class _Interruptible(psycopg.AsyncConnection[dict[str, object]]):
    """Does not keep who leaves it: for a server that hangs psycopg waits 5 seconds, and 5 more for its last words."""

    async def cancel_safe(self, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109 - the signature is psycopg's
        try:
            await super().cancel_safe(timeout=min(timeout, CANCEL_SECONDS))
        except psycopg.errors.CancellationTimeout:
            hang_up(self)
            raise


def queries(path: Path) -> dict[str, str]:
    """The statements of a .sql file, each under its `-- name:` line."""
    parts = path.read_text(encoding="utf-8").split("-- name: ")[1:]
    return {name.strip(): statement.strip() for name, _, statement in (part.partition("\n") for part in parts)}


async def fetch(
    connection: Connection, statement: str, values: Mapping[str, Any], *, binary: bool = False
) -> list[dict[str, Any]]:
    """Return all rows. `binary`: long bytes are twice as long as text."""
    cursor = await connection.execute(statement, values, binary=binary)
    return await cursor.fetchall()


class Database:
    """Opens itself at its first use; `close` ends it, and the embedded server with it where nobody else uses that.

    A server that goes away or hangs ends at once what waits for it, and is an error at once until it is back.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedded = None if settings.storage.database_url else EmbeddedPostgres(settings.storage.home)
        self._pool: Pool | None = None
        self._address: str | None = None  # once the server has been prepared
        self._opening = asyncio.Lock()
        self._in_use: set[Connection] = set()
        self._watch = Watch(self._is_there, self._lose, self._open)

    @property
    def state(self) -> BreakerState:
        return self._watch.state

    async def open(self) -> None:
        """Raises DatabaseUnavailable or InvalidSettings."""
        self._watch.check()
        await self._open()

    async def open_or_await(self) -> bool:
        """Open the pool; return False if the server is away, in which case the pool opens when it is back.

        Raises DatabaseUnprepared, InvalidSettings, or DatabaseUnavailable if a running server refuses us twice, as for
        a wrong password: one refusal may only mean that it has just started.
        """
        for is_last in (False, True):
            try:
                await self.open()
                break
            except DatabaseUnprepared:
                raise
            except DatabaseUnavailable as exc:
                is_there = self._embedded is None and await self._is_there()
                if is_there and is_last:
                    raise
                if not is_there:
                    log.warning("waiting for the database", error=exc)
                    self._watch.miss()
                    break
        return self._pool is not None

    async def close(self) -> None:
        await self._watch.close()
        async with self._opening:
            if self._pool is not None:
                await self._pool.close()
                self._pool = None
            if self._embedded is not None:
                await asyncio.to_thread(self._embedded.stop)

    async def address(self) -> str:
        """The login role's connection string, for other clients; it holds as long as this is open."""
        await self.open()
        assert self._address is not None
        return self._address

    @asynccontextmanager
    async def transaction(self, owner_id: str) -> AsyncIterator[Connection]:
        """One transaction as the application's role and this owner, neither of which outlives it.

        Raises DatabaseUnavailable where the server can't be reached, or has not what is asked for.
        """
        # Not less where the time that somebody waits is nearly over: what was answered is still to be kept.
        seconds = self._settings.database.database_statement_seconds if current_context().is_interactive else 0
        begin = BEGIN.format(APPLICATION_ROLE, owner_id, str(round(seconds * 1000)))
        async with self._connected(begin) as connection:
            yield connection

    def pool_stats(self) -> dict[str, int]:
        """Return psycopg_pool's statistics; empty if the pool is not open."""
        return self._pool.get_stats() if self._pool else {}

    async def ping(self) -> None:
        """Raises DatabaseUnavailable, also where there is no answer within PING_SECONDS."""
        pinging = asyncio.create_task(self._ping())
        await asyncio.wait({pinging}, timeout=PING_SECONDS)
        if not pinging.done():
            leave(pinging)  # to cancel what hangs takes longer
            raise DatabaseUnavailable(f"PostgreSQL did not answer within {PING_SECONDS} s.")
        pinging.result()

    async def _ping(self) -> None:
        async with self.transaction(""):  # nobody's: no row is seen
            pass

    @asynccontextmanager
    async def maintenance(self) -> AsyncIterator[Connection]:
        """A connection as the login role, outside a transaction. What it may not do is passed over and logged."""
        async with self._connected(sql.SQL("")) as connection:
            try:
                yield connection
            except psycopg.errors.InsufficientPrivilege as exc:
                log.warning("maintenance needs the tables' owner", error=exc)

    @asynccontextmanager
    async def _connected(self, begin: sql.SQL | sql.Composed) -> AsyncIterator[Connection]:
        """A connection that lives: it has done this."""
        if self._pool is None:
            await self.open()
        assert self._pool is not None
        pool = self._pool
        with self._watch.during(), self._our_errors():
            connection = await self._begun(pool, begin)
            try:
                async with connection:  # commits or rolls back; the pool's own stay open
                    yield connection
            finally:
                await self._give_back(pool, connection)

    async def _begun(self, pool: Pool, begin: sql.SQL | sql.Composed) -> Connection:
        """Return a connection with a transaction begun; connections that a restarted server has dropped are skipped."""
        for attempt in range(pool.max_size + 1):
            connection = await pool.getconn()
            self._in_use.add(connection)
            try:
                await connection.execute(begin, prepare=False)
            except BaseException as exc:
                is_lost = isinstance(exc, psycopg.OperationalError) and connection.closed
                await self._give_back(pool, connection)
                if not is_lost or attempt == pool.max_size:
                    raise
                self._watch.suspect()
            else:
                return connection
        raise AssertionError("the last one raises")

    async def _give_back(self, pool: Pool, connection: Connection) -> None:
        """Return a connection to the pool, even if the caller is cancelled again: else the pool would lose it."""
        self._in_use.discard(connection)
        giving = asyncio.create_task(pool.putconn(connection))
        leave(giving)
        await asyncio.shield(giving)

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as exc:
            if not is_operational(exc):
                raise
            if isinstance(exc, psycopg.OperationalError):
                self._watch.suspect()
            raise translated(exc) from exc

    async def _open(self) -> None:
        async with self._opening:
            if self._pool is not None:
                return
            if self._address is None:
                self._address = await asyncio.to_thread(self._prepare)
            pool: Pool = AsyncConnectionPool(
                self._address,
                kwargs={"row_factory": dict_row, "options": OPTIONS, "autocommit": True},
                connection_class=_Interruptible,
                configure=register_vector_async,
                min_size=2,
                max_size=self._settings.database.database_pool_size,
                timeout=self._settings.database.database_timeout_seconds,
                open=False,
            )
            try:
                await pool.open(wait=True, timeout=self._settings.database.database_timeout_seconds)
            except PoolTimeout as exc:
                raise DatabaseUnavailable(f"PostgreSQL does not answer: {one_line(exc)}.") from exc
            except asyncio.CancelledError:
                leave(asyncio.create_task(pool.close()))
                raise
            self._pool = pool
            self._watch.attend()

    async def _is_there(self) -> bool:
        if self._embedded is None:
            return await answers(self._address or patient(self._configured_url()))
        if self._address is None:  # never started yet: to try is to find out
            return True
        if not await answers(self._address):
            await asyncio.to_thread(self._embedded.revive)
        return await answers(self._address)

    def _lose(self) -> None:
        pool, self._pool = self._pool, None
        for connection in self._in_use:
            hang_up(connection)
        if pool is not None:
            leave(asyncio.create_task(pool.close()))

    def _prepare(self) -> str:
        url = self._embedded.start() if self._embedded else self._configured_url()
        migrate(url)
        return patient(url)

    def _configured_url(self) -> str:
        assert self._settings.storage.database_url is not None
        return self._settings.storage.database_url.get_secret_value()

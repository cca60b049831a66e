"""The way to PostgreSQL: a pool, an identity in every transaction."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.errors import FAILURES, is_operational, one_line, translated
from graphrag.db.identity import BEGAN, IDENTIFY, proof, read_key
from graphrag.db.migrate import APPLICATION_ROLE, SETTINGS, WORKER_ROLE, migrate
from graphrag.db.server_watch import Watch, answers, hang_up, is_pooled, patient, server_name
from graphrag.errors import DatabaseUnavailable, DatabaseUnprepared, InvalidSettings
from graphrag.models import Collection
from graphrag.observability.metrics import STANDBY_READS
from graphrag.observability.request_context import current_context
from graphrag.observability.telemetry import log
from graphrag.resilience.cancellation import leave
from graphrag.resilience.circuit_breaker import BreakerState
from graphrag.resilience.concurrency import ConcurrencyLimit

CANCEL_SECONDS = 1
PING_SECONDS = 2
FIRST_OPENING_SECONDS = 30.0  # longer than any request waits: a service that starts loads its models meanwhile
# One message, for a search is a few milliseconds. The connection's own block commits or rolls back.
BEGIN = sql.SQL(
    f"BEGIN; {SETTINGS}; SELECT set_config('role', {{}}, true), set_config('statement_timeout', {{}}, true); {BEGAN}"
)
# However long a transaction takes. Sent after a statement with parameters, it also closes that one's portal, which
# keeps a snapshot: until the transaction's end CREATE INDEX CONCURRENTLY would wait for it.
OPEN_END = "SET LOCAL idle_in_transaction_session_timeout = 0"

# Every change of a collection's documents raises its revision, in the same transaction.
IS_CURRENT = "SELECT FROM collections WHERE collection_id = %(id)s AND revision >= %(revision)s"

SYSTEM = "SELECT system_identifier FROM pg_control_system()"  # which a copy shares, and no other server
LAG = """SELECT CASE WHEN NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= %(position)s::pg_lsn THEN 0
                ELSE coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 'Infinity')
           END::float8 AS seconds"""

T = TypeVar("T")
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


async def _register_types(connection: Connection) -> None:
    """Let a connection read and write vectors, whatever its login's search path."""
    async with connection.transaction():
        await connection.execute(SETTINGS)
        await register_vector_async(connection)


class Database:
    """Opens itself at its first use; `close` ends it, and the embedded server with it where nobody else uses that.

    A server that goes away or hangs ends at once what waits for it, and is an error at once until it is back.
    """

    def __init__(self, settings: Settings, *, primary: Self | None = None) -> None:
        """Prepare the way to the server of `settings`; with a `primary`, that is a standby of it."""
        self._settings = settings
        self._primary = primary
        urls = () if primary else settings.storage.read_urls
        self.standbys = [Database(settings.changed(database_url=url, read_urls=()), primary=self) for url in urls]
        self._reads = count()
        self._embedded = None if settings.storage.database_url else EmbeddedPostgres(settings.storage.home)
        self._pool: Pool | None = None
        self._turns = ConcurrencyLimit(settings.database.database_pool_size)
        self._address: str | None = None  # of the login of requests, once the server has been prepared
        self._owner_address = ""  # likewise, of the login that migrates
        self._is_pooled = False  # requests' address is a pooler's
        self._key = b""  # of the proofs of who a transaction works for
        self._opening = asyncio.Lock()
        self._in_use: set[Connection] = set()
        url = settings.storage.database_url
        name = f"standby {server_name(url.get_secret_value())}" if primary and url else "database"
        self._watch = Watch(self._is_there, self._lose, self._open, name)

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
        for standby in self.standbys:
            await standby.close()
        await self._watch.close()
        async with self._opening:
            if self._pool is not None:
                await self._pool.close()
                self._pool = None
            if self._embedded is not None:
                await asyncio.to_thread(self._embedded.stop)

    async def address(self, role: str = APPLICATION_ROLE) -> str:
        """Return the address of a login that may switch to a role, for other clients; it holds while this is open."""
        await self.open()
        assert self._address is not None
        return patient(self._embedded.address(role)) if self._embedded else self._address

    async def session_address(self, role: str) -> str | None:
        """Return an address at which a connection is a session of the server's; None where only poolers are known."""
        for address in (await self.address(role), self._owner_address):
            with suppress(psycopg.OperationalError):  # one that is out of reach here
                if not await asyncio.to_thread(is_pooled, address):
                    return address
        return None

    @asynccontextmanager
    async def transaction(self, owner_id: str) -> AsyncIterator[Connection]:
        """One transaction as the application's role and this owner, neither of which outlives it.

        Raises DatabaseUnavailable where the server can't be reached, or has not what is asked for.
        """
        # Not less where the time that somebody waits is nearly over: what was answered is still to be kept.
        seconds = self._settings.database.database_statement_seconds if current_context().is_interactive else 0
        begin = BEGIN.format(APPLICATION_ROLE, str(round(seconds * 1000)))
        async with self._connected(begin, owner_id) as connection:
            yield connection

    async def read(self, collection: Collection, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run what only reads the collection: on a standby that has its last change, else on this server.

        `collection`: as this server has it. Raises DatabaseUnavailable as `transaction` does.
        """
        turn = next(self._reads)
        for place in range(len(self.standbys)):
            standby = self.standbys[(turn + place) % len(self.standbys)]
            if standby.state.state != "closed":
                continue
            try:
                async with standby.transaction(collection.owner_id) as connection:
                    current = {"id": collection.id, "revision": collection.revision}
                    if await fetch(connection, IS_CURRENT, current):
                        found = await work(connection)
                        STANDBY_READS.labels(outcome="read").inc()
                        return found
                STANDBY_READS.labels(outcome="behind").inc()
            except (DatabaseUnavailable, psycopg.Error) as exc:
                STANDBY_READS.labels(outcome="failed").inc()
                log.warning("a standby fails, another server is asked", name=standby.state.name, error=exc)
        async with self.transaction(collection.owner_id) as connection:
            return await work(connection)

    @property
    def identity_key(self) -> bytes:
        """Return the key that proves an owner, for other clients, once this is open."""
        return self._key

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
        """A connection as the tables' owner, outside a transaction. What it may not do is passed over and logged.

        Behind a pooler each statement may be another session's: names need their schema, locks a transaction.
        """
        await self.open()
        with self._watch.during(), self._our_errors():
            connection = await _Interruptible.connect(
                self._owner_address, autocommit=True, row_factory=dict_row, prepare_threshold=None
            )
            self._in_use.add(connection)
            try:
                yield connection
            except psycopg.errors.InsufficientPrivilege as exc:
                log.warning("maintenance needs the tables' owner", error=exc)
            finally:
                self._in_use.discard(connection)
                await connection.close()

    @asynccontextmanager
    async def try_lock(self, statement: str, values: Mapping[str, Any]) -> AsyncIterator[bool]:
        """Try a transaction's advisory lock, and hold it during the block; yield whether it was free.

        The lock goes with its connection, and so with its process.
        """
        async with self.maintenance() as connection:
            await connection.execute("BEGIN")
            (row,) = await fetch(connection, statement, values)
            await connection.execute(OPEN_END)
            try:
                yield row["is_free"]
            finally:
                with suppress(psycopg.OperationalError):  # the server is gone, and the lock with it
                    await connection.rollback()  # a pooler ends what is left open only after a while

    @asynccontextmanager
    async def _connected(self, begin: sql.Composed, owner_id: str) -> AsyncIterator[Connection]:
        """A connection that lives: it has begun this, and proved the owner."""
        if self._pool is None:
            await self.open()
        assert self._pool is not None
        pool = self._pool
        with self._watch.during(), self._our_errors():
            async with self._turn(owner_id):
                connection, began = await self._begun(pool, begin)
                try:
                    async with connection:  # commits or rolls back; the pool's own stay open
                        if owner_id:
                            await connection.execute(IDENTIFY, [owner_id, proof(self._key, owner_id, began)])
                        yield connection
                finally:
                    await self._give_back(pool, connection)

    @asynccontextmanager
    async def _turn(self, owner_id: str) -> AsyncIterator[None]:
        """Wait for a connection: the pool's own queue would serve whoever asks most. Raises PoolTimeout."""
        try:
            release = await self._turns.acquire(self._settings.database.database_timeout_seconds, owner=owner_id)
        except TimeoutError as exc:
            raise PoolTimeout("no connection was free in time") from exc
        try:
            yield
        finally:
            release()

    async def _begun(self, pool: Pool, begin: sql.Composed) -> tuple[Connection, bytes]:
        """Return a connection with a transaction begun, and when; those that a restarted server dropped are skipped."""
        for attempt in range(pool.max_size + 1):
            connection = await pool.getconn()
            self._in_use.add(connection)
            try:
                cursor = await connection.execute(begin)
                (row,) = await (await cursor.set_result(-1)).fetchall()
            except BaseException as exc:
                is_lost = isinstance(exc, psycopg.OperationalError) and connection.closed
                await self._give_back(pool, connection)
                if not is_lost or attempt == pool.max_size:
                    raise
                self._watch.suspect()
            else:
                began = row["began"]
                assert isinstance(began, bytes)
                return connection, began
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
            is_slow = isinstance(exc, psycopg.errors.QueryCanceled)
            raise (self._embedded and not is_slow and self._embedded.explain()) or translated(exc) from exc

    async def _open(self) -> None:
        async with self._opening:
            if self._pool is not None:
                return
            timeout = self._settings.database.database_timeout_seconds
            with self._our_errors():
                if self._address is None:
                    self._address = await asyncio.to_thread(self._prepare)
                    timeout = timeout if self._primary else max(timeout, FIRST_OPENING_SECONDS)
                self._key = await self._read_key()
            pool: Pool = AsyncConnectionPool(
                self._address,
                # Without prepared statements: whoever smuggles SQL in could put another one in the place of one.
                kwargs={"row_factory": dict_row, "autocommit": True, "prepare_threshold": None},
                connection_class=_Interruptible,
                configure=_register_types,
                min_size=2,
                max_size=self._settings.database.database_pool_size,
                timeout=self._settings.database.database_timeout_seconds,
                open=False,
            )
            try:
                await pool.open(wait=True, timeout=timeout)
                if self._primary:
                    await self._primary._check_copy(pool)
            except BaseException as exc:
                leave(asyncio.create_task(pool.close()))
                if isinstance(exc, PoolTimeout):
                    raise DatabaseUnavailable(f"PostgreSQL does not answer: {one_line(exc)}.") from exc
                raise
            self._pool = pool
            self._watch.attend()
            for standby in self.standbys:
                standby._await()  # no search waits for its opening

    def _await(self) -> None:
        self._watch.attend()
        if self._pool is None:
            self._watch.miss()

    async def _is_there(self) -> bool:
        if self._embedded is None:
            address = self._address or patient(self._configured_url(self._settings.storage.database_url))
            # A pooler answers also where the server behind it does not.
            return await answers(address) and (not self._is_pooled or await answers(self._owner_address))
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

    async def lag_seconds(self) -> float:
        """Return how old the last change is that this standby has; 0 where it has all of its primary's.

        Raises DatabaseUnavailable where one of them can't be reached.
        """
        assert self._primary
        async with self._primary.transaction("") as connection:
            (written,) = await fetch(connection, "SELECT pg_current_wal_lsn() AS position", {})
        async with self.transaction("") as connection:
            (replayed,) = await fetch(connection, LAG, written)
        return float(replayed["seconds"])

    async def _check_copy(self, pool: Pool) -> None:
        """Raises InvalidSettings where the pool's server holds another database than this one."""
        async with self.transaction("") as own, pool.connection() as connection:
            if await fetch(own, SYSTEM, {}) != await fetch(connection, SYSTEM, {}):
                raise InvalidSettings(
                    "A server of DATABASE_READ_URLS is no standby of the one of DATABASE_URL: its searches would find "
                    "other documents. Set up streaming replication, or take it out."
                )

    async def _read_key(self) -> bytes:
        if self._primary is None:
            return await asyncio.to_thread(read_key, self._owner_address)
        await self._primary.open()
        return self._primary.identity_key

    def _prepare(self) -> str:
        """Migrate as the owner; return the address of the login of requests, which on our own server is their role.

        A standby gets from its primary whatever is in it.
        """
        if self._primary:
            return patient(self._configured_url(self._settings.storage.database_url))
        owner_url = self._embedded.start() if self._embedded else self._configured_url(self._settings.storage.owner_url)
        migrate(owner_url)
        self._owner_address = patient(owner_url)
        if self._embedded is None:
            address = patient(self._configured_url(self._settings.storage.database_url))
            self._is_pooled = is_pooled(address)  # a login that is refused is an error now: the pool would try again
            return address
        self._embedded.admit(APPLICATION_ROLE, WORKER_ROLE)
        return patient(self._embedded.address(APPLICATION_ROLE))

    @staticmethod
    def _configured_url(url: SecretStr | None) -> str:
        assert url is not None
        return url.get_secret_value()

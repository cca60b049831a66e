"""The way to PostgreSQL: a pool, an identity in every transaction, migrations."""

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

import psycopg
from pgvector.psycopg import register_vector_async
from procrastinate.schema import SchemaManager
from psycopg import sql
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graphrag.embedded_postgres import EmbeddedPostgres
from graphrag.errors import DatabaseUnavailable
from graphrag.settings import Settings
from graphrag.telemetry import log

APPLICATION_ROLE = "causeway_app"
MIGRATION_LOCK = 0x0CA5E3A7  # one migrates, the others wait
# Compiling costs more than any of our queries; planning costs less than a plan made for other values.
OPTIONS = "-c search_path=causeway,public -c jit=off -c plan_cache_mode=force_custom_plan"
# One message, for a search is a few milliseconds. The connection's own block commits or rolls back.
BEGIN = sql.SQL("BEGIN; SELECT set_config('role', {}, true), set_config('app.user_id', {}, true)")

# The library's own tables hold ids of owners and documents, nothing of these themselves.
QUEUE_RIGHTS = f"""
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                WHERE schemaname = 'causeway' AND tablename LIKE 'procrastinate%' LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON ' || name || ' TO {APPLICATION_ROLE}';
    END LOOP;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA causeway TO {APPLICATION_ROLE};
END $$;
"""

Connection = psycopg.AsyncConnection[dict[str, object]]


def queries(path: Path) -> dict[str, str]:
    """The statements of a .sql file, each under its `-- name:` line."""
    parts = path.read_text(encoding="utf-8").split("-- name: ")[1:]
    return {name.strip(): statement.strip() for name, _, statement in (part.partition("\n") for part in parts)}


class Database:
    """Opens itself at its first use; `close` ends it, and the embedded server with it where nobody else uses that."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedded = None if settings.database_url else EmbeddedPostgres(settings.home)
        self._pool: AsyncConnectionPool[Connection] | None = None
        self._address: str | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        """Raises DatabaseUnavailable or InvalidSettings."""
        async with self._opening:
            if self._pool is not None:
                return
            url = await asyncio.to_thread(self._start_and_migrate)
            pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
                url,
                kwargs={"row_factory": dict_row, "options": OPTIONS, "autocommit": True},
                connection_class=psycopg.AsyncConnection[dict[str, object]],
                configure=register_vector_async,
                min_size=2,
                max_size=self._settings.database_pool_size,
                timeout=self._settings.database_timeout_seconds,
                open=False,
            )
            await pool.open()
            self._pool, self._address = pool, url

    async def close(self) -> None:
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

        Raises DatabaseUnavailable where the server can't be reached.
        """
        if self._pool is None:
            await self.open()
        assert self._pool is not None
        try:
            async with self._pool.connection() as connection:
                await connection.execute(BEGIN.format(APPLICATION_ROLE, owner_id), prepare=False)
                yield connection
        except (psycopg.OperationalError, PoolTimeout) as exc:
            raise DatabaseUnavailable(
                f"PostgreSQL does not answer: {_one_line(exc)}. Check DATABASE_URL and the server."
            ) from exc

    def pool_stats(self) -> dict[str, int]:
        """As psycopg_pool counts; empty where it is not open."""
        return self._pool.get_stats() if self._pool else {}

    async def ping(self) -> None:
        """Raises DatabaseUnavailable."""
        async with self.transaction(""):  # nobody's: no row is seen
            pass

    @asynccontextmanager
    async def maintenance(self) -> AsyncIterator[Connection]:
        """A connection as the login role, outside a transaction. What it may not do is passed over and logged."""
        await self.open()
        assert self._pool is not None
        async with self._pool.connection() as connection:
            try:
                yield connection
            except psycopg.errors.InsufficientPrivilege as exc:
                log.warning("maintenance needs the tables' owner", error=exc)

    def _start_and_migrate(self) -> str:
        url = self._embedded.start() if self._embedded else self._configured_url()
        migrate(url)
        return url

    def _configured_url(self) -> str:
        assert self._settings.database_url is not None
        return self._settings.database_url.get_secret_value()


def migrate(url: str) -> list[str]:
    """Applies the migrations that are missing, each whole or not at all; returns their names."""
    try:
        with psycopg.connect(url, autocommit=True, options=OPTIONS, connect_timeout=10) as connection:
            return _apply_missing(connection)
    except (psycopg.OperationalError, psycopg.ProgrammingError) as exc:
        cause = _one_line(exc).replace(url, "…")  # it may hold a password
        raise DatabaseUnavailable(
            f"PostgreSQL could not be prepared: {cause}. Check DATABASE_URL; its role must be able to create a schema, "
            "a role and the extension vector (or an administrator runs `causeway migrate` once)."
        ) from exc


def _one_line(exc: Exception) -> str:
    return " ".join(str(exc).split()).rstrip(".")


def _apply_missing(connection: psycopg.Connection) -> list[str]:
    connection.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])  # until the connection closes
    applied = _applied(connection)
    ours = {script.name: script for script in files("graphrag").joinpath("migrations").iterdir()}
    scripts = {name: ours[name].read_text("utf-8") for name in sorted(ours) if name.endswith(".sql")}
    scripts |= _queue_scripts(applied)
    missing = [name for name in scripts if name not in applied]
    for name in missing:
        with connection.transaction():
            connection.execute("SET LOCAL client_min_messages = warning")
            connection.execute("CREATE SCHEMA IF NOT EXISTS causeway")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS causeway.migrations (name text PRIMARY KEY, applied_at timestamptz)"
            )
            connection.execute(scripts[name].encode())
            connection.execute("INSERT INTO causeway.migrations VALUES (%s, now())", [name])
        if scripts[name]:
            log.info("migrated", migration=name)
    return missing


def _queue_scripts(applied: Set[str]) -> dict[str, str]:
    """The job queue's own schema; where it is there already, what its later versions change in it."""
    paths = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    changes = {f"procrastinate/{path.name}": path for path in paths}
    if not any(name.startswith("procrastinate/") for name in applied):
        whole = SchemaManager.get_schema() + QUEUE_RIGHTS
        return dict.fromkeys(changes, "") | {max(changes): whole}
    return {name: path.read_text("utf-8") + QUEUE_RIGHTS for name, path in changes.items()}


def _applied(connection: psycopg.Connection) -> set[str]:
    # Asked first: on a database that is ready, a role without the right to create anything is enough.
    if connection.execute("SELECT to_regclass('causeway.migrations')").fetchone() == (None,):
        return set()
    return {row[0] for row in connection.execute("SELECT name FROM causeway.migrations")}

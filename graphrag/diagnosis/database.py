"""PostgreSQL, looked at by a connection that can't write: its version, its schema, who may do what in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from graphrag.config.settings import Settings
from graphrag.db.database import queries
from graphrag.db.embedded_postgres import running_address
from graphrag.db.errors import one_line
from graphrag.db.migrate import APPLICATION_ROLE, OPTIONS, applied_migrations, migration_scripts
from graphrag.db.server_watch import patient
from graphrag.diagnosis.findings import Finding, error, ok, warning

LEAST_SERVER = 15
LEAST_PGVECTOR = (0, 8)
QUERIES = queries(Path(__file__).with_name("database.sql"))
READING = f"{OPTIONS} -c default_transaction_read_only=on"

Reader = psycopg.Connection[dict[str, Any]]


def examine_database(settings: Settings) -> Iterator[Finding]:
    address = address_of(settings)
    if address is None:
        yield ok("embedded_stopped")
        return
    try:
        with reader(address) as connection:
            yield from _examine(connection, settings)
    except psycopg.errors.InsufficientPrivilege as exc:
        yield error("role_refused", cause=one_line(exc), application=APPLICATION_ROLE)
    except psycopg.Error as exc:
        yield error("database_away", cause=one_line(exc).replace(address, "…"))


def address_of(settings: Settings) -> str | None:
    """None where the embedded server is stopped."""
    return (
        settings.storage.database_url.get_secret_value()
        if settings.storage.database_url
        else running_address(settings.storage.home)
    )


def reader(address: str) -> Reader:
    return psycopg.connect(patient(address), autocommit=True, options=READING, row_factory=dict_row)


def read_as_owner(connection: Reader, owner_id: str) -> None:
    """Switch the connection to the application's role and the owner's rows."""
    values = [APPLICATION_ROLE, owner_id]
    connection.execute("SELECT set_config('role', %s, false), set_config('app.user_id', %s, false)", values)


def _examine(connection: Reader, settings: Settings) -> Iterator[Finding]:
    version = connection.info.server_version // 10_000
    pgvector = _value(connection, "pgvector")
    if version < LEAST_SERVER:
        yield error("database_old", version=version)
    elif pgvector is None:
        yield error("pgvector_missing")
    elif tuple(int(part) for part in pgvector.split(".")[:2]) < LEAST_PGVECTOR:
        yield error("pgvector_old", version=pgvector)
    else:
        yield ok("database", version=version, pgvector=pgvector)
    applied = applied_migrations(connection)
    known = migration_scripts(applied)
    if missing := [name for name in known if name not in applied]:
        yield error("migrations_missing", count=len(missing))
    elif newer := sorted(applied.difference(known)):
        yield error("migrations_newer", names=", ".join(newer))
    else:
        yield ok("migrations", count=len(applied))
        if _value(connection, "is_member", role=connection.info.user, application=APPLICATION_ROLE):
            yield from _rights(connection, is_embedded=settings.storage.database_url is None)
            yield from _work(connection, settings)
        else:
            yield error("role_lacks", role=connection.info.user, application=APPLICATION_ROLE)


def _rights(connection: Reader, *, is_embedded: bool) -> Iterator[Finding]:
    if _value(connection, "bypasses", role=connection.info.user) and not is_embedded:
        yield warning("role_bypasses", role=connection.info.user)
    bare = [str(row["name"]) for row in connection.execute(QUERIES["bare_tables"].encode())]
    if bare or _value(connection, "bypasses", role=APPLICATION_ROLE):
        yield error("isolation_broken", tables=", ".join(bare) or APPLICATION_ROLE)
    else:
        yield ok("isolation")


def _work(connection: Reader, settings: Settings) -> Iterator[Finding]:
    read_as_owner(connection, settings.authentication.owner)
    (queue,) = connection.execute(QUERIES["queue"].encode())
    waiting, workers = int(str(queue["waiting"])), int(str(queue["workers"]))
    if waiting and not workers:
        yield warning("queue_unattended", waiting=waiting)
    else:
        yield ok("queue", waiting=waiting, workers=workers)
    if failed := _value(connection, "failed_documents", owner=settings.authentication.owner):
        yield warning("documents_failed", count=int(failed), owner=settings.authentication.owner)
    if settings.authentication.auth == "api_key":
        keys = int(_value(connection, "keys") or 0)
        yield ok("keys", count=keys) if keys else warning("keys_missing", owner=settings.authentication.owner)


def _value(connection: Reader, name: LiteralString, **values: str) -> str | None:
    """The first column, as text; None where it is null, false or zero, or there is no row."""
    row = connection.execute(QUERIES[name].encode(), values).fetchone()
    value = next(iter(row.values())) if row else None
    return str(value) if value else None

"""PostgreSQL, looked at by a connection that can't write: its version, its schema, who may do what in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from graphrag.config.settings import Settings
from graphrag.db.database import LAG, SYSTEM, queries
from graphrag.db.embedded_postgres import running_address
from graphrag.db.errors import one_line
from graphrag.db.identity import act_as, read_key
from graphrag.db.migrate import APPLICATION_ROLE, applied_migrations, migration_scripts
from graphrag.db.server_watch import is_pooled, patient, server_name
from graphrag.diagnosis.findings import Finding, error, ok, warning
from graphrag.errors import DatabaseUnprepared

LEAST_SERVER = 15
LAGGING_SECONDS = 60  # of a standby, which then answers few searches
LEAST_PGVECTOR = (0, 8)
QUERIES = queries(Path(__file__).with_name("database.sql"))

Reader = psycopg.Connection[dict[str, Any]]


def examine_database(settings: Settings) -> Iterator[Finding]:
    address = address_of(settings)
    if address is None:
        yield ok("embedded_stopped")
        return
    try:
        owner_url = owner_address(settings) or address
        with reader(owner_url) as owner, owner.transaction(), reader(address) as login:
            yield from _examine(owner, login, settings)
            if is_pooled(patient(address)):
                yield ok("pooler") if not is_pooled(patient(owner_url)) else warning("pooler_alone")
            for url in settings.storage.read_urls:
                yield _examine_standby(owner, url.get_secret_value())
    except DatabaseUnprepared:
        yield error("key_refused", role=str(conninfo_to_dict(address)["user"]))
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


def owner_address(settings: Settings) -> str | None:
    """Return the address with the login of the tables' owner; None where the embedded server is stopped."""
    owner_url = settings.storage.owner_url
    return owner_url.get_secret_value() if owner_url else running_address(settings.storage.home)


def reader(address: str) -> Reader:
    connection = psycopg.connect(patient(address), autocommit=True, row_factory=dict_row, prepare_threshold=None)
    connection.read_only = True
    return connection


@contextmanager
def reading(settings: Settings, connection: Reader) -> Iterator[None]:
    """A transaction of the application's role that sees the rows of the service's own owner."""
    key = read_key(owner_address(settings) or "")
    with connection.transaction():
        act_as(connection, key, APPLICATION_ROLE, settings.authentication.owner)
        yield


def _examine(owner: Reader, login: Reader, settings: Settings) -> Iterator[Finding]:
    """Examine the schema as the owner of the tables, and what the login of requests may do."""
    version = owner.info.server_version // 10_000
    pgvector = _value(owner, "pgvector")
    if version < LEAST_SERVER:
        yield error("database_old", version=version)
    elif pgvector is None:
        yield error("pgvector_missing")
    elif tuple(int(part) for part in pgvector.split(".")[:2]) < LEAST_PGVECTOR:
        yield error("pgvector_old", version=pgvector)
    else:
        yield ok("database", version=version, pgvector=pgvector)
    applied = applied_migrations(owner)
    known = migration_scripts(applied)
    if missing := [name for name in known if name not in applied]:
        yield error("migrations_missing", count=len(missing))
    elif newer := sorted(applied.difference(known)):
        yield error("migrations_newer", names=", ".join(newer))
    else:
        yield ok("migrations", count=len(applied))
        role = login.info.user
        if _value(owner, "is_member", role=role, application=APPLICATION_ROLE):
            yield from _rights(owner, role, is_embedded=settings.storage.database_url is None)
            yield from _work(login, settings)
        else:
            yield error("role_lacks", role=role, application=APPLICATION_ROLE)


def _examine_standby(owner: Reader, address: str) -> Finding:
    name = server_name(address)
    try:
        written = owner.execute("SELECT pg_current_wal_lsn() AS position").fetchone()
        with reader(address) as standby:
            if standby.execute(SYSTEM).fetchone() != owner.execute(SYSTEM).fetchone():
                return error("standby_foreign", name=name)
            (lag,) = standby.execute(LAG, written)
    except psycopg.Error as exc:
        return warning("standby_away", name=name, cause=one_line(exc).replace(address, "…"))
    seconds = lag["seconds"]
    if seconds > LAGGING_SECONDS:
        return warning("standby_behind", name=name, seconds=f"{seconds:.0f}")
    return ok("standby", name=name, seconds=f"{seconds:.0f}")


def _rights(owner: Reader, role: str, *, is_embedded: bool) -> Iterator[Finding]:
    if _value(owner, "bypasses", role=role) and not is_embedded:
        yield warning("role_bypasses", role=role)
    elif _value(owner, "proves", role=role) and not is_embedded:
        yield warning("role_proves", role=role)
    bare = [str(row["name"]) for row in owner.execute(QUERIES["bare_tables"].encode())]
    if bare or _value(owner, "bypasses", role=APPLICATION_ROLE):
        yield error("isolation_broken", tables=", ".join(bare) or APPLICATION_ROLE)
    else:
        yield ok("isolation")


def _work(connection: Reader, settings: Settings) -> Iterator[Finding]:
    with reading(settings, connection):
        (queue,) = connection.execute(QUERIES["queue"].encode())
        failed = _value(connection, "failed_documents", owner=settings.authentication.owner)
        keys = int(_value(connection, "keys") or 0)
    waiting, workers = int(str(queue["waiting"])), int(str(queue["workers"]))
    if waiting and not workers:
        yield warning("queue_unattended", waiting=waiting)
    else:
        yield ok("queue", waiting=waiting, workers=workers)
    if failed:
        yield warning("documents_failed", count=int(failed), owner=settings.authentication.owner)
    if settings.authentication.auth == "api_key":
        yield ok("keys", count=keys) if keys else warning("keys_missing", owner=settings.authentication.owner)


def _value(connection: Reader, name: LiteralString, **values: str) -> str | None:
    """The first column, as text; None where it is null, false or zero, or there is no row."""
    row = connection.execute(QUERIES[name].encode(), values).fetchone()
    value = next(iter(row.values())) if row else None
    return str(value) if value else None

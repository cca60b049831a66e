"""Brings a database to the present schema, ours and the job queue's."""

from collections.abc import Set
from importlib.resources import files
from pathlib import Path
from typing import Any

import psycopg
from procrastinate.schema import SchemaManager
from psycopg.rows import scalar_row

from graphrag.db.errors import one_line
from graphrag.db.server_watch import patient
from graphrag.errors import DatabaseUnavailable, DatabaseUnprepared
from graphrag.observability.telemetry import log

APPLICATION_ROLE = "causeway_app"
WORKER_ROLE = "causeway_worker"  # of the queue, whose jobs it sees all
MIGRATION_LOCK = 0x0CA5E3A7  # one migrates, the others wait
# Compiling costs more than any of our queries; planning costs less than a plan made for other values.
# Temporary tables come last: else one that another transaction left in the session would stand for a table of ours.
# Of each transaction, not of the connection: behind a pooler the next one may be another session's. What a transaction
# before this one has set for the whole session, as SQL that somebody smuggled in may have, does not hold in it.
SETTINGS = (
    "RESET ALL; SET LOCAL search_path = causeway, public, pg_temp; SET LOCAL jit = off;"
    " SET LOCAL plan_cache_mode = force_custom_plan"
)


def migrate(url: str) -> list[str]:
    """Applies the migrations that are missing, each whole or not at all; returns their names."""
    try:
        with psycopg.connect(patient(url), autocommit=True, prepare_threshold=None, connect_timeout=3) as connection:
            return _apply_missing(connection)
    except psycopg.IntegrityError as exc:
        raise DatabaseUnprepared(
            f"PostgreSQL could not be migrated, and nothing was changed: {one_line(exc)}. Remove or correct that row "
            "as the owner of the tables, and start again."
        ) from exc
    except (psycopg.OperationalError, psycopg.ProgrammingError) as exc:
        cause = one_line(exc).replace(url, "…")  # it may hold a password
        if isinstance(exc, psycopg.OperationalError):
            raise DatabaseUnavailable(
                f"PostgreSQL does not answer: {cause}. Check DATABASE_URL and the server."
            ) from exc
        raise DatabaseUnprepared(
            f"PostgreSQL could not be prepared: {cause}. Check DATABASE_URL; its role must be able to create a schema, "
            "a role and the extension vector (or an administrator runs `causeway migrate` once)."
        ) from exc


def _apply_missing(connection: psycopg.Connection) -> list[str]:
    names = []
    while applied := _apply_next(connection):
        log.info("migrated", migration=applied[-1])
        names += applied
    return names


def _apply_next(connection: psycopg.Connection) -> list[str]:
    """Apply the first script that is missing; return its names: empty scripts before it are part of it."""
    with connection.transaction():
        connection.execute(f"{SETTINGS}; SET LOCAL client_min_messages = warning")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
        applied = applied_migrations(connection)
        scripts = migration_scripts(applied)
        missing = [name for name in scripts if name not in applied]
        first = next((place for place, name in enumerate(missing) if scripts[name]), len(missing) - 1)
        names = missing[: first + 1]
        if names:
            connection.execute("CREATE SCHEMA IF NOT EXISTS causeway")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS causeway.migrations (name text PRIMARY KEY, applied_at timestamptz)"
            )
            connection.execute(scripts[names[-1]].encode())
            for name in names:
                connection.execute("INSERT INTO causeway.migrations VALUES (%s, now())", [name])
    return names


def migration_scripts(applied: Set[str]) -> dict[str, str]:
    """All that this version has, in their order, by name; the queue's depend on those that are applied."""
    ours = {script.name: script for script in files("graphrag.db").joinpath("migrations").iterdir()}
    scripts = {name: ours[name].read_text("utf-8") for name in sorted(ours) if name.endswith(".sql")}
    rights = files("graphrag.db").joinpath("queue_rights.sql").read_text("utf-8")
    return scripts | _queue_scripts(applied, rights) | {"queue_rights/1": "", "queue_rights/2": rights}


def _queue_scripts(applied: Set[str], rights: str) -> dict[str, str]:
    """The job queue's own schema; where it is there already, what its later versions change in it."""
    paths = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    changes = {f"procrastinate/{path.name}": path for path in paths}
    if not any(name.startswith("procrastinate/") for name in applied):
        whole = SchemaManager.get_schema() + rights
        return dict.fromkeys(changes, "") | {max(changes): whole}
    return {name: path.read_text("utf-8") + rights for name, path in changes.items()}


def applied_migrations(connection: psycopg.Connection[Any]) -> set[str]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        # Asked first: on a database that is ready, a role without the right to create anything is enough.
        if cursor.execute("SELECT to_regclass('causeway.migrations')").fetchone() is None:
            return set()
        return set(cursor.execute("SELECT name FROM causeway.migrations"))

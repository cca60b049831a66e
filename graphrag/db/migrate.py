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
MIGRATION_LOCK = 0x0CA5E3A7  # one migrates, the others wait
# Compiling costs more than any of our queries; planning costs less than a plan made for other values.
OPTIONS = "-c search_path=causeway,public -c jit=off -c plan_cache_mode=force_custom_plan"

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


def migrate(url: str) -> list[str]:
    """Applies the migrations that are missing, each whole or not at all; returns their names."""
    try:
        with psycopg.connect(patient(url), autocommit=True, options=OPTIONS, connect_timeout=3) as connection:
            return _apply_missing(connection)
    except (psycopg.OperationalError, psycopg.ProgrammingError) as exc:
        cause = one_line(exc).replace(url, "…")  # it may hold a password
        passes = isinstance(exc, psycopg.OperationalError)
        raise (DatabaseUnavailable if passes else DatabaseUnprepared)(
            f"PostgreSQL could not be prepared: {cause}. Check DATABASE_URL; its role must be able to create a schema, "
            "a role and the extension vector (or an administrator runs `causeway migrate` once)."
        ) from exc


def _apply_missing(connection: psycopg.Connection) -> list[str]:
    connection.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])  # until the connection closes
    applied = applied_migrations(connection)
    scripts = migration_scripts(applied)
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


def migration_scripts(applied: Set[str]) -> dict[str, str]:
    """All that this version has, in their order, by name; the queue's depend on those that are applied."""
    ours = {script.name: script for script in files("graphrag.db").joinpath("migrations").iterdir()}
    scripts = {name: ours[name].read_text("utf-8") for name in sorted(ours) if name.endswith(".sql")}
    return scripts | _queue_scripts(applied)


def _queue_scripts(applied: Set[str]) -> dict[str, str]:
    """The job queue's own schema; where it is there already, what its later versions change in it."""
    paths = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    changes = {f"procrastinate/{path.name}": path for path in paths}
    if not any(name.startswith("procrastinate/") for name in applied):
        whole = SchemaManager.get_schema() + QUEUE_RIGHTS
        return dict.fromkeys(changes, "") | {max(changes): whole}
    return {name: path.read_text("utf-8") + QUEUE_RIGHTS for name, path in changes.items()}


def applied_migrations(connection: psycopg.Connection[Any]) -> set[str]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        # Asked first: on a database that is ready, a role without the right to create anything is enough.
        if cursor.execute("SELECT to_regclass('causeway.migrations')").fetchone() is None:
            return set()
        return set(cursor.execute("SELECT name FROM causeway.migrations"))

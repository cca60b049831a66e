"""One embedded PostgreSQL for all who need one; a database each."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphrag.db.embedded_postgres import EmbeddedPostgres, create_database


@contextmanager
def running_postgres() -> Iterator[str]:
    # Short and open to the server's own user, as in tests/conftest.py.
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    # Registered before the library's own farewell, and so done after it: that one makes its lock anew.
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    server = EmbeddedPostgres(home)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def fresh_database(server: str, name: str) -> Iterator[str]:
    with psycopg.connect(server, dbname="postgres", autocommit=True) as admin:
        create_database(admin, name)
        try:
            yield make_conninfo(server, dbname=name)
        finally:
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def database_bytes(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0

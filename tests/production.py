"""A PostgreSQL as an administrator prepares it for production: with deploy/postgres/roles.sql."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo

from graphrag.db.backup import TOOLS
from tests.own_postgres import run_postgres
from tests.processes import ROOT

PASSWORD = "it's a secret"


@contextmanager
def run_production() -> Iterator[dict[str, str]]:
    """The service's environment: the addresses of requests and of the tables' owner, who is no superuser."""
    with run_postgres() as server:
        administrator = make_conninfo(server.url, dbname="postgres")
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute("DROP DATABASE causeway")
            script = str(ROOT / "deploy" / "postgres" / "roles.sql")
            run = [str(TOOLS / "psql"), "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", script, administrator]
            subprocess.run(run, check=True, env=os.environ | {"CAUSEWAY_DB_PASSWORD": PASSWORD})
        logins = {"DATABASE_URL": "causeway_requests", "DATABASE_MIGRATION_URL": "causeway"}
        yield {
            name: make_conninfo(administrator, dbname="causeway", user=login, password=PASSWORD)
            for name, login in logins.items()
        }

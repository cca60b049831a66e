"""A PostgreSQL as an administrator prepares it for production: with deploy/postgres/roles.sql."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from graphrag.db.backup import TOOLS
from tests.own_postgres import run_postgres
from tests.processes import ROOT

PASSWORD = "it's a secret"


@contextmanager
def run_production() -> Iterator[str]:
    """The service's own address: of a role that is no superuser, and is asked for its password."""
    with run_postgres() as server:
        administrator = make_conninfo(server.url, dbname="postgres")
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute("DROP DATABASE causeway")
            script = str(ROOT / "deploy" / "postgres" / "roles.sql")
            run = [str(TOOLS / "psql"), "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", script, administrator]
            subprocess.run(run, check=True, env=os.environ | {"CAUSEWAY_DB_PASSWORD": PASSWORD})
            (rules,) = connection.execute("SHOW hba_file").fetchone() or ("",)
            text = Path(rules).read_text("utf-8")
            Path(rules).write_text(f"local all causeway scram-sha-256\n{text}", "utf-8")
            connection.execute("SELECT pg_reload_conf()")
        yield make_conninfo(administrator, dbname="causeway", user="causeway", password=PASSWORD)

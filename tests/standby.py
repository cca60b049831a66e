"""A hot standby of a PostgreSQL of one's own, by streaming replication."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from graphrag.db.embedded_postgres import KEY_FILE
from tests.own_postgres import OwnPostgres

REPLICATION = "local replication all scram-sha-256\n"
SECONDS = 30


@contextmanager
def run_standby(primary: OwnPostgres) -> Iterator[OwnPostgres]:
    """It has all of its primary's rows, and follows it."""
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    _admit_standbys(primary)
    _copy(primary, home / "postgres")
    shutil.copy(primary.home / KEY_FILE, home / KEY_FILE)
    standby = OwnPostgres(home)
    try:
        wait_for(primary, standby)
        yield standby
    finally:
        standby.thaw()
        standby.close()
        shutil.rmtree(home, ignore_errors=True)


def wait_for(primary: OwnPostgres, standby: OwnPostgres) -> None:
    """Wait until the standby has all that the primary has now."""
    written = _value(primary.url, "SELECT pg_current_wal_lsn()::text")
    deadline = time.monotonic() + SECONDS
    while not _value(standby.url, f"SELECT pg_last_wal_replay_lsn() >= '{written}'::pg_lsn"):
        assert time.monotonic() < deadline, "the standby does not follow"
        time.sleep(0.05)


def pause(standby: OwnPostgres) -> None:
    """Let it answer, and replay nothing any more."""
    _value(standby.url, "SELECT pg_wal_replay_pause()::text")


def resume(standby: OwnPostgres) -> None:
    _value(standby.url, "SELECT pg_wal_replay_resume()::text")


def _value(url: str, statement: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        (value,) = connection.execute(statement.encode()).fetchone() or (None,)
    return value


def _admit_standbys(primary: OwnPostgres) -> None:
    rules = primary.home / "postgres" / "pg_hba.conf"
    if REPLICATION not in rules.read_text():
        with rules.open("a") as file:
            file.write(REPLICATION)
        _value(primary.url, "SELECT pg_reload_conf()")


def _copy(primary: OwnPostgres, data: Path) -> None:
    copying = [shutil.which("pg_basebackup", path=str(primary.programs)), "-D", data, "--write-recovery-conf"]
    source = make_conninfo(primary.url, dbname="", application_name=data.parent.name)
    subprocess.run([*map(str, copying), "--checkpoint=fast", "-d", source], check=True, capture_output=True)
    for private in (".handle_pids.json", *(path.name for path in data.glob(".s.PGSQL.*"))):  # of who uses the primary
        (data / private).unlink(missing_ok=True)
    rules = data / "pg_hba.conf"
    rules.write_text(rules.read_text().replace(REPLICATION, ""))
    status = (primary.home / "postgres").stat()
    for path in (data, *data.rglob("*")):
        os.chown(path, status.st_uid, status.st_gid)

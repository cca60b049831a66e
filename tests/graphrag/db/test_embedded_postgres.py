"""The embedded server: started, shared, stopped, and found again after a crash."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from graphrag.config.settings import Settings
from graphrag.db.database import Database
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.migrate import APPLICATION_ROLE, WORKER_ROLE, migrate
from graphrag.errors import InvalidSettings

STAY = """
import sys
from pathlib import Path
from graphrag.db.embedded_postgres import EmbeddedPostgres
print(EmbeddedPostgres(Path(sys.argv[1])).start(), flush=True)
sys.stdin.read()
"""


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="cw-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def empty_home() -> Iterator[Path]:
    with folder() as path:
        yield path


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """A home whose server was started and stopped: to make one takes seconds."""
    with folder() as path:
        server = EmbeddedPostgres(path)
        with psycopg.connect(server.start()) as connection:
            connection.execute("CREATE TABLE kept (word text)")
        server.stop()
        yield path


@pytest.fixture
def home(stopped: Path) -> Iterator[Path]:
    """A copy of that home, with the users that its files belong to."""
    with folder() as path:
        subprocess.run(["cp", "-a", f"{stopped}/.", str(path)], check=True)
        yield path


def is_running(home: Path) -> bool:
    file = home / "postgres" / "postmaster.pid"
    if not file.exists():
        return False
    pid = int(file.read_text().split()[0])
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def other_process(home: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", STAY, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "dbname=causeway" in process.stdout.readline()
    return process


async def test_requests_and_workers_log_in_with_their_own_role(home: Path) -> None:
    """Security 1: what the service connects as is no superuser, and has no other role to go back to."""
    database = Database(Settings.from_environment(home=home, database_url=None))
    try:
        async with database.transaction("somebody") as connection:
            await connection.execute("RESET ROLE")
            cursor = await connection.execute(
                "SELECT session_user AS login, current_user AS role, rolsuper, rolbypassrls,"
                " pg_has_role('causeway_worker', 'MEMBER') AS works FROM pg_roles WHERE rolname = session_user"
            )
            assert await cursor.fetchone() == {
                "login": APPLICATION_ROLE,
                "role": APPLICATION_ROLE,
                "rolsuper": False,
                "rolbypassrls": False,
                "works": False,
            }
        address = await database.address(WORKER_ROLE)
        with psycopg.connect(address) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT FROM causeway.documents")
        async with database.maintenance() as connection:
            await connection.execute("ANALYZE causeway.documents")
    finally:
        await database.close()


def test_starts_keeps_and_stops(empty_home: Path) -> None:
    server = EmbeddedPostgres(empty_home)
    with psycopg.connect(server.start()) as connection:
        connection.execute("CREATE TABLE kept (word text)")
        connection.execute("INSERT INTO kept VALUES ('aquí')")
        lowered = connection.execute(
            "SELECT lower('ÁÑÉ'), (SELECT extversion FROM pg_extension WHERE extname = 'plpgsql')"
        )
        assert (lowered.fetchone() or [""])[0] == "áñé"
    server.stop()
    assert not is_running(empty_home)
    with psycopg.connect(server.start()) as connection:
        assert connection.execute("SELECT word FROM kept").fetchall() == [("aquí",)]
    server.stop()


def test_last_of_several_users_stops_it(home: Path) -> None:
    """Two in one process, one in another."""
    first, second = EmbeddedPostgres(home), EmbeddedPostgres(home)
    assert first.start() == second.start()
    other = other_process(home)
    first.stop()
    second.stop()
    assert is_running(home)
    other.communicate("", timeout=20)
    assert not is_running(home)


def test_killed_user_does_not_keep_it_running(home: Path) -> None:
    """Security 17: after kill -9 the next clean stop still stops the server."""
    other = other_process(home)
    other.kill()
    other.wait()
    assert is_running(home)
    server = EmbeddedPostgres(home)
    server.start()
    server.stop()
    assert not is_running(home)


@pytest.mark.parametrize(
    "content",
    [f"{os.getpid()}\n/elsewhere\n1\n5432\n\n\n1 1\nready\n", "", "4000000"],
    ids=["another's", "empty", "nobody's"],
)
def test_stale_pid_file_is_no_obstacle(home: Path, content: str) -> None:
    """After a crash of the machine the file may name another process, or be cut short."""
    server = EmbeddedPostgres(home)
    for lock in ("postmaster.pid", ".s.PGSQL.5432.lock"):
        (home / "postgres" / lock).write_text(content)
    with psycopg.connect(server.start()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    server.stop()


def is_refused(address: str, **parameters: str) -> bool:
    try:
        psycopg.connect(make_conninfo(address, **parameters)).close()
    except psycopg.OperationalError as exc:
        return "password" in str(exc)
    return False


def test_each_login_has_a_password_of_its_own(home: Path) -> None:
    """Security 8: who reaches the socket, but not the key's file, is nobody; a request's login is no superuser's."""
    server = EmbeddedPostgres(home)
    superuser = server.start()
    migrate(superuser)
    server.admit(APPLICATION_ROLE)
    requests = server.address(APPLICATION_ROLE)
    assert not is_refused(superuser)
    assert not is_refused(requests)
    for role in ("postgres", APPLICATION_ROLE):
        assert is_refused(superuser, user=role, password="")
    assert is_refused(requests, user="postgres")
    assert (home / "postgres.key").stat().st_mode & 0o777 == 0o600
    server.stop()


@pytest.mark.parametrize("lost", ["rule and key", "key", "rule"])
def test_a_home_without_passwords_gets_them(home: Path, lost: str) -> None:
    """Security 8: one of an earlier version, one whose key was lost, one whose first start was cut short."""
    server = EmbeddedPostgres(home)
    if "rule" in lost:
        (home / "postgres" / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 trust\n")
    if "key" in lost:
        (home / "postgres.key").unlink()
    address = server.start()
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT FROM kept").fetchall() == []
    assert is_refused(address, password="")
    server.stop()


def test_unwritable_home_names_the_way_out(empty_home: Path) -> None:
    (empty_home / "file").touch()
    with pytest.raises(InvalidSettings, match="CAUSEWAY_HOME"):
        EmbeddedPostgres(empty_home / "file" / "below").start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user")
def test_parents_are_opened_for_passage_only(empty_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A private folder above the data does not become readable for everybody, and the server's user can stop it."""
    private = empty_home / "private"
    private.mkdir(mode=0o700)
    server = EmbeddedPostgres(private / "home")
    server.start()
    server.stop()
    assert private.stat().st_mode & 0o777 == 0o711
    assert "Failed" not in caplog.text

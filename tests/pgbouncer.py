"""A PgBouncer in transaction mode before a PostgreSQL of the tests, configured as in production."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.processes import ROOT

START_SECONDS = 60
CONFIG = ROOT / "deploy" / "pgbouncer" / "pgbouncer.ini"


class PgBouncer:
    """Passes on to the server at an address, to whichever of its databases and as whichever login is asked for."""

    def __init__(self, program: str, folder: Path, address: str, *, pool_size: int) -> None:
        server = {name: str(value) for name, value in conninfo_to_dict(address).items()}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._folder = folder
        config = ConfigParser(interpolation=None)
        config.read(CONFIG)
        config["databases"] = {"*": f"host={server['host']} port={server.get('port', 5432)}"}
        config["pgbouncer"].update(
            {
                "listen_addr": "127.0.0.1",
                "listen_port": str(self._port),
                "unix_socket_dir": "",
                "auth_file": str(folder / "users.txt"),
                "auth_user": server["user"],  # where a superuser, others than it may log in
                "default_pool_size": str(pool_size),
                "query_wait_timeout": "60",  # however slow the machine is
                "server_idle_timeout": "2",
                "logfile": str(folder / "log"),
            }
        )
        with (folder / "pgbouncer.ini").open("w") as file:
            config.write(file)
        (folder / "users.txt").write_text(f'"{server["user"]}" "{server["password"]}"\n')
        self._command = [program, "--quiet", str(folder / "pgbouncer.ini")]
        if os.geteuid() == 0:  # as whom it refuses to run: as the server's own user, whose socket it opens
            user = Path(server["host"]).owner()
            self._command.insert(1, f"--user={user}")
            for path in [folder, *folder.iterdir()]:
                shutil.chown(path, user)
        self._process = subprocess.Popen(self._command)
        self._wait(address)

    def address(self, address: str) -> str:
        """Return the address of the server's that leads through here."""
        return make_conninfo(address, host="127.0.0.1", port=self._port)

    def close(self) -> None:
        self._process.kill()
        self._process.wait(20)

    def _wait(self, address: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.address(address), connect_timeout=3).close()
                return
            except psycopg.OperationalError as exc:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise AssertionError(f"PgBouncer did not start: {self.log()}") from exc
                time.sleep(0.05)

    def log(self) -> str:
        path = self._folder / "log"
        return path.read_text() if path.exists() else ""


@contextmanager
def run_pgbouncer(address: str, *, pool_size: int = 20) -> Iterator[PgBouncer]:
    """Skips the test where there is none."""
    program = shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if program is None:
        pytest.skip("no pgbouncer: apt-get install pgbouncer, or brew install pgbouncer")
    # Short and open to its own user: pytest's folders are neither.
    with tempfile.TemporaryDirectory(prefix="cw-") as folder:
        bouncer = PgBouncer(program, Path(folder), address, pool_size=pool_size)
        try:
            yield bouncer
        finally:
            bouncer.close()

"""A PostgreSQL of one's own, to be stopped, frozen and started again: what others use stays as it is."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from graphrag.db.embedded_postgres import EmbeddedPostgres


class OwnPostgres:
    def __init__(self, home: Path) -> None:
        self.home = home
        self._server = EmbeddedPostgres(home)
        self._data = home / "postgres"
        self.url = self._server.start()

    @property
    def programs(self) -> Path:
        """Return the folder of PostgreSQL's programs."""
        return Path(psutil.Process(self._pid()).exe()).parent

    def stop(self) -> None:
        """As an administrator does: who is connected is thrown out."""
        assert self._server._server
        self._server._server.stop()

    def start(self) -> None:
        self._server.revive()

    def crash(self) -> None:
        """As a loss of power does: nothing is written any more, and its files stay as they are."""
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """Nothing is answered, nothing is refused: as on a machine that swaps, or whose disk hangs."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        self._server.stop()

    def _signal(self, number: signal.Signals) -> None:
        """To its processes, and to no other's."""
        with suppress(FileNotFoundError, psutil.NoSuchProcess):  # it is stopped
            master = psutil.Process(self._pid())
            for process in [master, *master.children()]:
                process.send_signal(number)

    def _pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().split()[0])


@contextmanager
def run_postgres() -> Iterator[OwnPostgres]:
    # Short and open to the server's own user: pytest's folders are neither.
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    server = OwnPostgres(home)
    try:
        yield server
    finally:
        server.thaw()
        server.close()
        shutil.rmtree(home, ignore_errors=True)

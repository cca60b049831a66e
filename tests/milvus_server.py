"""A Milvus Lite server in a process of its own."""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60


@contextmanager
def run_milvus_process(port: int = 0) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Its address and the process; at a free port, or at this one."""
    with socket.create_server(("127.0.0.1", port)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        program = Path(sys.executable).with_name("milvus-lite")
        command = [str(program), "server", "--data-dir", folder, "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait(process, port)
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.kill()  # a test may have stopped it
            process.wait(20)


@contextmanager
def run_milvus_server(port: int = 0) -> Iterator[str]:
    with run_milvus_process(port) as (address, _):
        yield address


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("Milvus Lite did not start")

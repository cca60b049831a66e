"""A server of S3's language in a process of its own: moto's."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

START_SECONDS = 60


@contextmanager
def run_s3_server() -> Iterator[str]:
    """Its address. Buckets are made by PUT /name; whoever signs is let in."""
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", "0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MOTO_"))}
    # Into a file: a pipe that nobody reads fills up, and then the server stands still.
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen[bytes], log: IO[str]) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        log.seek(0)
        for line in log:
            if "Running on http://" in line and line.endswith("\n"):
                return line.split()[-1]
        time.sleep(0.05)
    log.seek(0)
    raise AssertionError(f"the S3 server did not start: {log.read()}")

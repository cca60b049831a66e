"""Runs the shell blocks of pages as written, from the project's folder; stops at a failure.

python -m tests.readme_commands README.md docs/*.md: the service listens on a free port instead of 8000; language models
that the pages name are stood in for by a scripted server.
"""

import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import PATIENT
from tests.model_server import ModelServer
from tests.processes import unused_port

ROOT = Path(__file__).parents[1]
READY_SECONDS = 120
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SERVICE = "make run"
ADDRESS = "localhost:8000"  # as the pages have it
THIS = "make test"  # the gate has run it before, by itself
# What curl is to a script: an error that the service answers ends it too.
STRICT_CURL = {"BASH_FUNC_curl%%": '() { command curl --fail-with-body "$@"; }'}


def main() -> None:
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    with ModelServer() as models, service(unused_port()) as address:
        stand_ins = {
            "OPENAI_BASE_URL": models.base_url,
            "OLLAMA_HOST": models.url,
            "GOOGLE_GEMINI_BASE_URL": models.url,
        }
        for page in pages:
            for block in BLOCK.findall(page.read_text(encoding="utf-8")):
                if not block.startswith((SERVICE, THIS)):
                    run(page, block.replace(ADDRESS, address), stand_ins)


def run(page: Path, block: str, environment: dict[str, str]) -> None:
    started = time.monotonic()
    print(f"\n-- {page.relative_to(ROOT)}", flush=True)
    # -v shows each line before what it prints, -e and pipefail end the block at the first failure.
    strict = ["bash", "-euvo", "pipefail", "-c", block]
    subprocess.run(strict, cwd=ROOT, check=True, env={**os.environ, **PATIENT, **STRICT_CURL, **environment})
    print(f"-- {time.monotonic() - started:.1f} s", flush=True)


@contextmanager
def service(port: int) -> Iterator[str]:
    """Run the service; return its address."""
    command = [*SERVICE.split(), f"PORT={port}"]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, env={**os.environ, **PATIENT})
    address = f"localhost:{port}"
    try:
        wait_for(process, address)
        yield address
    finally:
        subprocess.run(["pkill", "-INT", "-g", str(process.pid)], check=False)
        process.wait(30)


def wait_for(process: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://{address}/health", timeout=2)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit("`make run` did not answer")


if __name__ == "__main__":
    main()

"""Runs the shell blocks of README.md and docs/*.md as written, from the project's folder; stops at a failure.

Language models that they name are stood in for by a scripted server.
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

ROOT = Path(__file__).parents[1]
READY_SECONDS = 120
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
SERVICE = "make run"
THIS = "make test"  # the gate has run it before, by itself
# What curl is to a script: an error that the service answers ends it too.
STRICT_CURL = {"BASH_FUNC_curl%%": '() { command curl --fail-with-body "$@"; }'}


def main() -> None:
    with ModelServer() as models, service():
        stand_ins = {
            "OPENAI_BASE_URL": models.base_url,
            "OLLAMA_HOST": models.url,
            "GOOGLE_GEMINI_BASE_URL": models.url,
        }
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for block in BLOCK.findall(page.read_text(encoding="utf-8")):
                if not block.startswith((SERVICE, THIS)):
                    run(page, block, stand_ins)


def run(page: Path, block: str, environment: dict[str, str]) -> None:
    started = time.monotonic()
    print(f"\n-- {page.relative_to(ROOT)}", flush=True)
    # -v shows each line before what it prints, -e and pipefail end the block at the first failure.
    strict = ["bash", "-euvo", "pipefail", "-c", block]
    subprocess.run(strict, cwd=ROOT, check=True, env={**os.environ, **PATIENT, **STRICT_CURL, **environment})
    print(f"-- {time.monotonic() - started:.1f} s", flush=True)


@contextmanager
def service() -> Iterator[None]:
    process = subprocess.Popen(SERVICE.split(), cwd=ROOT, start_new_session=True, env={**os.environ, **PATIENT})
    try:
        wait_for(process)
        yield
    finally:
        subprocess.run(["pkill", "-INT", "-g", str(process.pid)], check=False)
        process.wait(30)


def wait_for(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen("http://localhost:8000/health", timeout=2)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit("`make run` did not answer")


if __name__ == "__main__":
    main()

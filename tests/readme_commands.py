"""Runs every command of the README's shell blocks as written, from the project's folder; stops at a failure."""

import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
READY_SECONDS = 120
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Without their remarks; a service to be started comes as it stands in the text."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    return [line.split("  #")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


def wait_for_service(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen("http://localhost:8000/health", timeout=2)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit("`make run` did not answer")


def main() -> None:
    skipped = {"make test"}  # it calls this
    service: subprocess.Popen[bytes] | None = None
    try:
        for command in commands():
            print(f"$ {command}", flush=True)
            if command == "make run":
                service = subprocess.Popen(["make", "run"], cwd=ROOT, start_new_session=True)
                wait_for_service(service)
            elif command not in skipped:
                subprocess.run(command, shell=True, cwd=ROOT, check=True)
                print()
    finally:
        if service is not None:
            subprocess.run(["pkill", "-INT", "-g", str(service.pid)], check=False)
            service.wait(30)


if __name__ == "__main__":
    main()

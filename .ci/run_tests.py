"""Run pytest; what failed is run once more, alone. A test that passes then is named as unsteady, and fails no run.

python .ci/run_tests.py [ARGUMENTS OF PYTEST…]: pytest's exit code; 0 where all that failed passed alone. More than
MAX_UNSTEADY failures are not run again. The names are added to failed.txt and unsteady.txt in the folder GATE_REPORTS
(default: build/tests).
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_UNSTEADY = 3  # of a whole gate
TESTS_FAILED = 1  # pytest's exit code
ALONE = ("-n0", "--last-failed", "--last-failed-no-failures=none")
REPORTS = Path(os.environ.get("GATE_REPORTS", "build/tests"))


def run_pytest(arguments: list[str], cache: str, environment: dict[str, str]) -> tuple[int, list[str]]:
    """Return pytest's exit code and the names of the tests that failed."""
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
    status = subprocess.run(command, env=environment).returncode
    failed = Path(cache, "v", "cache", "lastfailed")
    return status, sorted(json.loads(failed.read_text("utf-8"))) if failed.exists() else []


def report(kind: str, names: list[str]) -> int:
    """Add the names to a report, print them, and return how many it has now."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    path = REPORTS / f"{kind}.txt"
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in names)
    for name in names:
        print(f"{kind}: {name}", flush=True)
    return len(path.read_text("utf-8").splitlines())


def main() -> int:
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="cw-") as cache:
        status, failed = run_pytest(arguments, cache, dict(os.environ))
        if status == TESTS_FAILED and 0 < len(failed) <= MAX_UNSTEADY:
            print(f"\n{len(failed)} failed: once more, alone", flush=True)
            # What is run again adds nothing to the lines that were counted.
            uncounted = {name: value for name, value in os.environ.items() if name != "COVERED"}
            again, still_failed = run_pytest([*arguments, *ALONE], cache, uncounted)
            unsteady = sorted(set(failed) - set(still_failed))
            many = report("unsteady", unsteady) > MAX_UNSTEADY
            status, failed = (TESTS_FAILED if many else 0, []) if again == 0 else (again, still_failed)
            if many:
                print(f"more than {MAX_UNSTEADY} unsteady tests", flush=True)
        report("failed", failed if status else [])
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Run every benchmark once at its smallest size, three at a time, to see that it still runs; its figures mean nothing.

python -m tests.benchmarks.smoke [NAME…] [--at-once 3]
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.browser.chromium import CHROMIUM
from tests.processes import ROOT

HERE = Path(__file__).parent
MOST_SECONDS = 900  # of one benchmark; the slowest takes one minute on two free cores
TOLD_LINES = 25  # of the output of one that failed
# The settings of whoever runs it are none of the benchmarks' business.
OURS = re.compile(r"(RAG|OPENAI|CAUSEWAY|LANGSMITH|LANGCHAIN|OTEL)_|(DATABASE_URL|REDIS_URL|EMBEDDINGS_CONFIG)$")

# In the order in which they start: the longest first. `OUT` becomes a folder that is removed afterwards.
SMALLEST = {
    "streams": "--chunks 100 --questions 3 --streams 4 --rounds 1 --leaving 10",
    "outage": "--seconds 9 --away 1",
    "fairness": "facets --seconds 1",
    "soak": "--minutes 0.2 --every 0.08",
    "load": "--chunks 100 --seconds 3",
    "shedding": "--chunks 100 --seconds 1 --clients 1 4",
    "answers": "--rounds 1",
    "retrieval": "--sizes 100 --clients 1 --queries 2 --out OUT",
    "stores": "--queries 2",
    "observability": "--pairs 3",
    "chunking": "--questions 2 --out OUT",
    "faults": "--only 500",
    "injection": "--attacks 1",
    "answering": "--queries 2",
    "judged": "--kind define",
    "worlds": "training/worlds/payroll --every 20",
    "page": "--visits 1",
    "estimate": "",
    "transformation": "--rounds 1",
    "scale": "--sizes 100 --queries 2 --out OUT",
    "fleet": "--documents 4 --workers 1",
    "reembedding": "--chunks 300 --searchers 1",
    "traversal": "--entities 500 --edges 1000 --mentions 1000 --walks 3 --stored 30",
    "verification": "",
    "linguistics": "",
    "extraction": "--seconds 0.2",
    "significance": "--runs 3",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    seconds: float
    status: int  # of its process; 0: it has run
    output: str


def find_benchmarks() -> set[str]:
    """Return the names of the modules beside this one that run something."""
    paths = [path for path in HERE.glob("*.py") if path != Path(__file__)]
    return {path.stem for path in paths if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")}


def reason_to_skip(name: str) -> str:
    """Return why a benchmark can't run on this machine, or nothing."""
    return "" if name != "page" or CHROMIUM.exists() else f"there is no {CHROMIUM}"


def run(name: str) -> Outcome:
    environment = {key: value for key, value in os.environ.items() if not OURS.match(key)}
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cw-") as out:
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *SMALLEST[name].replace("OUT", out).split()]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            output, _ = process.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # it ends its servers itself
            output, _ = process.communicate()
            output += f"\ninterrupted: not done after {MOST_SECONDS} s"
    return Outcome(name, time.monotonic() - started, process.returncode, output)


def run_all(names: Sequence[str], *, at_once: int, report: Callable[[str], None]) -> list[Outcome]:
    """Return those that failed."""
    failed = []
    with ThreadPoolExecutor(at_once) as pool:
        for number, done in enumerate(as_completed([pool.submit(run, name) for name in names]), start=1):
            outcome = done.result()
            state = f"FAILED with status {outcome.status}" if outcome.status else "ran"
            report(f"{number}/{len(names)} {outcome.name}: {state} in {outcome.seconds:.0f} s")
            if outcome.status:
                failed.append(outcome)
                report("\n".join(f"    {line}" for line in outcome.output.splitlines()[-TOLD_LINES:]))
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SMALLEST))
    parser.add_argument("--at-once", type=int, default=3)
    given = parser.parse_args()
    if unknown := set(given.names) - set(SMALLEST):
        parser.error(f"no benchmarks: {', '.join(sorted(unknown))}")
    chosen = given.names or list(SMALLEST)
    skipped = {name: reason for name in chosen if (reason := reason_to_skip(name))}
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")
    started = time.monotonic()
    names = [name for name in chosen if name not in skipped]
    failed = run_all(names, at_once=given.at_once, report=lambda line: print(line, flush=True))
    print(f"{len(names) - len(failed)} of {len(names)} benchmarks ran, in {time.monotonic() - started:.0f} s")
    if failed:
        sys.exit(f"failed: {', '.join(outcome.name for outcome in failed)}")


if __name__ == "__main__":
    main()

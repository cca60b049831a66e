"""What runs of our code in the tests' processes, and in those that they fork: counted by slipcover, line by line.

`pytest -p tests.measured`, with a folder in COVERED, before any of that code is imported. Each process leaves a file
there, which `slipcover --merge` adds up. Probes stay where they are: slipcover's own plugin takes them out now and
then, which stops a process for a second.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover

SOURCES = ["graphrag", "agent", "api"]
_folder = os.environ.get("COVERED")
_counter = Slipcover(d_miss_threshold=sys.maxsize)
if _folder:
    ImportManager(_counter, FileMatcher(sources=SOURCES)).__enter__()


def write_down() -> None:
    """At a process's end."""
    _write(_counter, str(os.getpid()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    write_down()
    if not hasattr(session.config, "workerinput"):  # one tells of the files that nobody imports
        _write(Slipcover(source=SOURCES), "unseen")


def _write(counter: Slipcover, name: str) -> None:
    if _folder:
        Path(_folder, f"{name}.json").write_text(json.dumps(counter.get_coverage()), encoding="utf-8")

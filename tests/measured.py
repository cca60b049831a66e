"""What runs of our code in the tests' processes, and in those that they fork: counted by slipcover, line by line.

`pytest -p tests.measured`, with a folder in COVERED, before any of that code is imported. Each process leaves there the
lines that it ran, and the last one their sum, as `slipcover --merge` reads it. Probes stay where they are: slipcover's
own plugin takes them out now and then, which stops a process for a second.
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
    """At a process's end, within milliseconds: hundreds of them end."""
    _write(str(os.getpid()), {file: sorted(lines) for file, lines in _counter.newly_seen.copy().items()})


def pytest_sessionfinish(session: pytest.Session) -> None:
    write_down()
    if _folder and not hasattr(session.config, "workerinput"):  # one adds up, also the files that nobody imports
        total = Slipcover(source=SOURCES)
        for written in Path(_folder).iterdir():
            for file, lines in json.loads(written.read_text(encoding="utf-8")).items():
                total.all_seen[file].update(lines)
        _write("sum", total.get_coverage())


def _write(name: str, content: object) -> None:
    if _folder:
        Path(_folder, f"{name}.json").write_text(json.dumps(content), encoding="utf-8")

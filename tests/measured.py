"""What the forked processes run of our code: counted by slipcover as in the tests' own process, and merged with it.

Imported by the process that they are forked from, before any of that code.
"""

import json
import os
from pathlib import Path

from slipcover import FileMatcher, ImportManager, Slipcover

_FOLDER = os.environ.get("SLIPCOVER_COVERAGE_DIR")  # while slipcover runs several processes of tests
_counter = Slipcover()
if _FOLDER:
    ImportManager(_counter, FileMatcher(sources=["graphrag", "agent", "api"])).__enter__()


def write_down() -> None:
    """At a process's end, under a name that slipcover looks for."""
    if _FOLDER:
        file = Path(_FOLDER) / f"coverage-gw-{os.getpid()}.json"
        file.write_text(json.dumps(_counter.get_coverage()), encoding="utf-8")

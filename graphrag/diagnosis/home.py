"""CAUSEWAY_HOME: its rights, its room, the embedded server that lives in it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from graphrag.diagnosis.findings import Finding, error, ok, warning

LITTLE_BYTES, TOO_LITTLE_BYTES = 2_000_000_000, 200_000_000


def examine_home(home: Path) -> Iterator[Finding]:
    place = home.expanduser().resolve()
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        yield error("home_unwritable", home=str(place))
        return
    yield from _room(place, existing)
    yield ok("home", home=str(place)) if existing == place else ok("home_new", home=str(place))


def _room(place: Path, existing: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(existing).free
    if free < TOO_LITTLE_BYTES:
        yield error("space_gone", home=str(place), megabytes=free // 1_000_000)
    elif free < LITTLE_BYTES:
        yield warning("space_low", home=str(place), megabytes=free // 1_000_000)

"""The command line in a process of its own."""

import os
import subprocess
import sys

from tests.conftest import ROOT

COMMAND = [sys.executable, "-m", "api.cli"]
WIDE = {"COLUMNS": "250"}  # so that no cell of a table is broken into lines
NOWHERE = {"DATABASE_URL": "postgresql://causeway:geheim@127.0.0.1:1/nothing"}

Run = subprocess.CompletedProcess[str]


def causeway(*arguments: str, **environment: str) -> Run:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=os.environ | WIDE | environment,
        capture_output=True,
        text=True,
        timeout=90,
    )


def rows(table: str) -> dict[str, list[str]]:
    """First cell → the others."""
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if "│" in line]
    return {first: rest for first, *rest in lines}


def one_line(run: Run) -> str:
    assert run.stdout == ""
    lines = run.stderr.splitlines()
    assert len(lines) == 1, run.stderr
    return lines[0]

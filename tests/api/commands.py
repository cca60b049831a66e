"""The command line in a process of its own."""

import subprocess
import sys

from tests.processes import started

COMMAND = [sys.executable, "-m", "api.cli.main"]
NOWHERE = {"DATABASE_URL": "postgresql://causeway:geheim@127.0.0.1:1/nothing"}

Run = subprocess.CompletedProcess[str]


def causeway(*arguments: str, **environment: str) -> Run:
    with started(*arguments, **environment) as process:
        printed = process.read()
        return Run(["causeway", *arguments], process.wait(10), printed, process.log())


def rows(table: str) -> dict[str, list[str]]:
    """First cell → the others."""
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if "│" in line]
    return {first: rest for first, *rest in lines}


def one_line(run: Run) -> str:
    assert run.stdout == ""
    lines = run.stderr.splitlines()
    assert len(lines) == 1, run.stderr
    return lines[0]

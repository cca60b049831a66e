"""The command line, in the tests' own process where that makes no difference."""

import asyncio
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress

import pytest
import structlog

from api.cli.main import main
from tests.conftest import PATIENT
from tests.processes import ROOT, started

COMMAND = [sys.executable, "-m", "api.cli.main"]
NOWHERE = {"DATABASE_URL": "postgresql://causeway:geheim@127.0.0.1:1/nothing"}

Run = subprocess.CompletedProcess[str]


def causeway(*arguments: str, **environment: str) -> Run:
    """Run `causeway ARGUMENTS` patiently, unless its database is NOWHERE.

    A process of its own takes seconds to start: it gets one only if it starts the embedded server, imports other
    packages, or this thread can't run it.
    """
    if environment.get("DATABASE_URL") not in (None, NOWHERE["DATABASE_URL"]):
        environment = PATIENT | environment
    if "DATABASE_URL" in environment and "PYTHONPATH" not in environment and _may_run_commands():
        return _run_here(arguments, environment)
    with started(*arguments, **environment) as process:
        printed = process.read()
        return Run(["causeway", *arguments], process.wait(60), printed, process.log())


def _may_run_commands() -> bool:
    with suppress(RuntimeError):
        return asyncio.get_running_loop() is None
    return threading.current_thread() is threading.main_thread()


def _run_here(arguments: tuple[str, ...], environment: dict[str, str]) -> Run:
    """Run it with its own environment, folder, streams and logging, and put back what was there."""
    logged, on_termination = structlog.get_config(), signal.getsignal(signal.SIGTERM)
    with (
        pytest.MonkeyPatch.context() as patch,
        open(os.devnull, encoding="utf-8") as nothing,
        tempfile.TemporaryFile("w+", encoding="utf-8") as output,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
    ):
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.chdir(ROOT)
        patch.setattr(sys, "argv", ["causeway", *arguments])
        patch.setattr(sys, "stdin", nothing)
        patch.setattr(sys, "stdout", output)
        patch.setattr(sys, "stderr", errors)
        patch.setattr(logging.root, "handlers", [])
        try:
            code = _exit_code()
        finally:
            structlog.configure(**logged)
            signal.signal(signal.SIGTERM, on_termination)
        return Run(["causeway", *arguments], code, _written(output), _written(errors))


def _exit_code() -> int:
    try:
        main()
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _written(file: io.TextIOBase) -> str:
    file.flush()
    file.seek(0)
    return file.read()


def rows(table: str) -> dict[str, list[str]]:
    """First cell → the others."""
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if "│" in line]
    return {first: rest for first, *rest in lines}


def one_line(run: Run) -> str:
    assert run.stdout == ""
    lines = run.stderr.splitlines()
    assert len(lines) == 1, run.stderr
    return lines[0]

"""The run of every benchmark at its smallest size."""

import subprocess
import sys
from importlib import import_module

import pytest

from tests.benchmarks import smoke
from tests.processes import ROOT


def test_every_benchmark_has_a_smallest_size() -> None:
    """R12 None is left out of the run by being new."""
    assert smoke.find_benchmarks() == set(smoke.SMALLEST)


@pytest.mark.parametrize("name", smoke.SMALLEST)
def test_every_benchmark_can_be_imported(name: str) -> None:
    """R12 Names that have moved are noticed at once; each is run before a version."""
    try:
        import_module(f"tests.benchmarks.{name}")
    except ModuleNotFoundError as exc:
        if (exc.name or "").partition(".")[0] in {"agent", "api", "graphrag", "tests"}:
            raise
        pytest.skip(f"{exc.name} is of the extra bench")


def test_a_benchmark_that_fails_is_told_with_its_last_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """R12 The others run nevertheless."""
    monkeypatch.setitem(smoke.SMALLEST, "extraction", "--seconds none")
    told: list[str] = []
    [failed] = smoke.run_all(["extraction", "verification"], at_once=2, report=told.append)
    assert (failed.name, failed.status) == ("extraction", 2)
    assert any("extraction: FAILED with status 2" in line for line in told)
    assert any("argument --seconds: invalid float value" in line for line in told)
    assert any("verification: ran" in line for line in told)


def test_a_name_that_is_no_benchmark_is_refused() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.smoke", "nothing"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "no benchmarks: nothing" in refused.stderr

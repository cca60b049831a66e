"""docs/stores.md: the store that it adds is one file and one entry, and keeps every promise."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT

FILE, ENTRY = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "stores.md").read_text("utf-8"), re.M | re.S)
TOY = ROOT / "tests" / "conformance" / "toy_index.py"
FOLLOWING = "from graphrag.observability.telemetry import log\n"
LIST = "INDEXES: dict[str, Callable[[Settings], ChunkIndex]] = {  # by RAG_INDEX\n"


def test_the_recipe_s_store_is_the_one_that_is_tested() -> None:
    """R13.2"""
    assert TOY.read_text(encoding="utf-8") == FILE


@pytest.mark.slow
def test_the_recipe_s_store_is_one_file_and_one_entry(tmp_path: Path) -> None:
    """R13.2 in a copy of the project, whose suites take it from the list of implementations."""
    for folder in ("agent", "api", "graphrag", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "graphrag" / "stores" / "indexes" / "toy.py").write_text(FILE, encoding="utf-8")
    services = tmp_path / "graphrag" / "services.py"
    source = services.read_text(encoding="utf-8")
    listed = source.replace(FOLLOWING, f"from graphrag.stores.indexes.toy import ToyIndex\n{FOLLOWING}")
    services.write_text(listed.replace(LIST, LIST + ENTRY), encoding="utf-8")
    toy = tmp_path / TOY.relative_to(ROOT)
    toy.write_text('from graphrag.services import INDEXES\n\nToyIndex = INDEXES["toy"]\n', encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/conformance", "-k", "toy"]
    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    told = re.search(r"(\d+) passed, \d+ deselected", run.stdout)
    assert run.returncode == 0, run.stdout[-2000:]
    assert told
    assert int(told[1]) >= 70

"""The notebooks are kept thin, and without what they gave; `make notebooks` runs them from top to bottom."""

import json
from pathlib import Path

import pytest

from tests.processes import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_CELLS, MAX_LINES = 16, 20  # a notebook has no logic of its own


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_kept_thin_and_without_outputs(path: Path) -> None:
    """R10.4 What a person sees is made on their own machine, and each step is told before it is taken."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert all(len(cell["source"]) <= MAX_LINES for cell in code)
    assert len(cells) <= MAX_CELLS
    assert len(cells) - len(code) >= len(code) / 2


def test_each_stage_has_one() -> None:
    """R10.4 From a file to the figures."""
    assert [path.stem for path in NOTEBOOKS] == [
        "01_ingestion", "02_retrieval", "03_causal_graph", "04_agent", "05_evaluation",
    ]  # fmt: skip

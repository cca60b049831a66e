"""The notebooks run from top to bottom, and are kept without what they gave."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.processes import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_LINES = 20  # of a cell: a notebook has no logic of its own


def run(path: Path) -> list[dict[str, Any]]:
    """The outputs of all cells. Raises CellExecutionError where one fails."""
    notebook = nbformat.read(path, as_version=4)
    # The kernel finds this repository's packages, and whatever was installed beside it, as a person's would.
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_is_kept_thin_and_without_outputs(path: Path) -> None:
    """R7 What a person sees is made on his own machine."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    assert all(len(cell["source"]) <= MAX_LINES for cell in cells)


def test_the_causal_graph_is_listed_asked_and_drawn(
    make_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R7.1, R7.2"""
    monkeypatch.setenv("DATABASE_URL", make_database())
    outputs = run(ROOT / "notebooks" / "03_causal_graph.ipynb")
    printed = "".join(output["text"] for output in outputs if output["output_type"] == "stream")
    assert " → " in printed
    assert "could not promise full quantities" in printed
    (picture,) = [output["data"]["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert picture.count('class="box"') > 20

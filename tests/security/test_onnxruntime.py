"""What libraries would tell of their use, were they let."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphrag.embeddings.e5 import find_weights

pytestmark = pytest.mark.skipif(find_weights() is None, reason="nothing opens a session of ONNX Runtime")


def test_onnx_runtime_tells_nobody_and_leaves_nothing(tmp_path: Path) -> None:
    """Security 7: no device identifier and no queue of events in the home."""
    silenced = {"CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in silenced}
    code = "from graphrag.embeddings.reader import open_reader; assert open_reader()"
    subprocess.run([sys.executable, "-c", code], env=environment | {"HOME": str(tmp_path)}, check=True)
    assert not list(tmp_path.rglob("*"))

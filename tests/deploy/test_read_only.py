"""The service as a container has it: nothing can be written but its home and its temporary folder."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import DEMO
from tests.processes import ROOT

pytestmark = pytest.mark.slow
# A mount of its own keeps each of the two as it is, when what is around becomes read-only.
CONTAINED = """
set -e
mount --make-rprivate /
mount --bind "$CAUSEWAY_HOME" "$CAUSEWAY_HOME"
mount --bind "$TMPDIR" "$TMPDIR"
mount -o remount,bind,ro /
if touch /usr/written 2>/dev/null; then exit 1; fi
"$@" migrate
exec "$@" serve --port 0
"""


@pytest.fixture
def writable() -> Iterator[Path]:
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("only root may mount")
    folder = Path(tempfile.mkdtemp(prefix="cw-", dir=ROOT.parent))  # of the file system that becomes read-only
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    yield folder
    shutil.rmtree(folder)


@contextmanager
def contained(writable: Path, **environment: str) -> Iterator[httpx.Client]:
    command = ["unshare", "--mount", "sh", "-c", CONTAINED, "sh", sys.executable, "-m", "api.cli.main"]
    places = {"CAUSEWAY_HOME": str(writable / "home"), "TMPDIR": str(writable / "tmp"), "HOME": str(writable / "home")}
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | places | environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        address = next(line for line in process.stdout if "http://" in line).split("http://")[1].split()[0]
        with httpx.Client(base_url=f"http://{address}", timeout=30) as client:
            yield client
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_only_the_home_and_the_temporary_folder_are_written(writable: Path, make_database: Callable[[], str]) -> None:
    """R9.7 A document is taken in, parsed, kept and asked about, with every other place read-only."""
    with contained(writable, DATABASE_URL=make_database(), PYTHONDONTWRITEBYTECODE="1") as client:
        document = ("ventas.xlsx", (DEMO / "ventas-2025.xlsx").read_bytes())
        sent = client.post("/api/documents", files=[("files", document)]).json()
        with client.stream("GET", f"/api/documents/{sent['documents'][0]['id']}/events") as events:
            assert "indexed" in events.read().decode()
        assert client.post("/api/chat", json={"message": "¿Cuánto se vendió en diciembre?"}).json()["found"]
    assert [path for path in (writable / "home" / "files").rglob("*") if path.is_file()]

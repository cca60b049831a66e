"""Original files that are no longer what was uploaded, and a storage of files that is away for a while."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.uploads import finished, upload
from tests.conftest import DEMO, run_server, run_worker

SHEET = "ventas-2025.xlsx"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def api(make_database: Callable[[], str], files: Path) -> Iterator[httpx.Client]:
    with run_server(DATABASE_URL=make_database(), RAG_FILES_URL=files.as_uri()) as server:
        headers = {"Accept-Language": "en"}
        with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60, headers=headers) as client:
            yield client


def uploaded(api: httpx.Client) -> dict[str, Any]:
    document = finished(api, upload(api, "shop", SHEET, (DEMO / SHEET).read_bytes())["id"])
    assert document["status"] == "indexed", document
    return document


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:99] + b"?" + data[100:], lambda _: b""])
def test_a_damaged_file_is_told_and_never_handed_out(
    api: httpx.Client, files: Path, damage: Callable[[bytes], bytes]
) -> None:
    """R11.1, security 17: cut short, changed or emptied, by each route that reads it; what was indexed is found, and
    the way out that is named works.
    """
    document = uploaded(api)
    path = f"/documents/{document['id']}"
    (stored,) = files.rglob(document["content_hash"])
    stored.write_bytes(damage(stored.read_bytes()))
    for route in (f"{path}/file", f"{path}/cells"):
        error = check_error(api.get(route), 503, "file_unavailable")
        assert error["details"] == {"reason": "file_damaged"}
        assert "delete the document and upload it again" in error["message"].lower()
    api.post(f"{path}/reindex").raise_for_status()
    failed = finished(api, document["id"])
    assert (failed["status"], failed["is_searchable"]) == ("error", True)
    assert failed["error"]["code"] == "file_damaged"
    assert "damaged" in failed["error"]["message"]
    assert api.post("/search", json={"query": "ventas de diciembre", "collection": "shop"}).json()["results"]
    api.delete(path).raise_for_status()
    anew = uploaded(api)
    assert api.get(f"/documents/{anew['id']}/file").content == (DEMO / SHEET).read_bytes()


@pytest.mark.slow
def test_a_storage_that_is_away_is_awaited(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R1.9, R11.1 A worker that can't read a file tries again; the document is indexed when the storage is back."""
    files, aside = tmp_path / "files", tmp_path / "aside"
    environment = {"DATABASE_URL": make_database(), "RAG_FILES_URL": files.as_uri(), "RAG_WORKER": "false"}
    with (
        run_server(**environment) as server,
        httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as api,
    ):
        document = upload(api, "shop", "note.txt", "Oven H2 stopped because of its pump.")["id"]
        files.rename(aside)
        files.touch()
        with run_worker(**environment):
            time.sleep(2)
            assert api.get(f"/documents/{document}").json()["status"] in ("uploaded", "processing")
            files.unlink()
            aside.rename(files)
            assert finished(api, document)["status"] == "indexed"

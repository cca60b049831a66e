"""An upload of many files, some of which a limit refuses; large files."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.expectations import check_error
from tests.conftest import Server, run_server

MOST_BYTES, MOST_DOCUMENTS = 1_000, 41
LARGE = 90_000_000
# What is refused of 41 files → the words for it.
LIMITS = {
    "too_large": {"es": "es demasiado grande", "fr": "est trop volumineux", "en": "is too large"},
    "name_too_long": {"es": "255 bytes", "fr": "255 octets", "en": "255 bytes"},
    "unnamed": {"es": "no tiene nombre", "fr": "n'a pas de nom", "en": "has no name"},
    "quota_exceeded": {"es": "admite 41", "fr": "accepte 41", "en": "can hold 41"},
    "bytes": {"es": "de 2000 bytes", "fr": "de 2000 octets", "en": "of 2000 bytes"},
}


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    limits = {"FILE_BYTES": MOST_BYTES, "DOCUMENTS": MOST_DOCUMENTS, "OWNER_BYTES": 2 * MOST_BYTES}
    environment = {f"RAG_MAX_{name}": str(most) for name, most in limits.items()}
    with run_server(DATABASE_URL=make_database(), RAG_WORKER="false", **environment) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        client.base_url = httpx.URL(f"{server.url}/api/v1")
        yield client


@pytest.mark.parametrize("reason", LIMITS)
@pytest.mark.parametrize("language", ["es", "fr", "en"])
def test_the_files_that_no_limit_refuses_are_taken(client: httpx.Client, reason: str, language: str) -> None:
    """R1.1, R1.7, R9.4 Of 41 files 40; each has its outcome, in their order, and the one that is refused its cause."""
    client.headers["Accept-Language"] = language
    collection = f"{reason}-{language}"
    files = [(f"{number}.txt", f"Nota {number}.".encode()) for number in range(41)]
    refused = 40 if reason == "quota_exceeded" else 7
    name, content = files[refused]
    files[refused] = {
        "too_large": (name, b"a" * (MOST_BYTES + 1)),
        "name_too_long": (f"{'a' * 255}.txt", content),
        "unnamed": (" ", content),
        "bytes": (name, b"a" * MOST_BYTES),
    }.get(reason, files[refused])
    if reason == "bytes":
        files[8] = ("8.txt", b"b" * (MOST_BYTES - 100))
    if reason == "quota_exceeded":
        client.post("/documents", files={"files": ("first.txt", b"Nota.")}, data={"collection": collection})
    answer = client.post("/documents", files=[("files", file) for file in files], data={"collection": collection})
    assert answer.status_code == 202, answer.text
    made = answer.json()["documents"]
    assert [of["filename"] for of in made] == [name for name, _ in files]
    assert [number for number, of in enumerate(made) if of["status"] != "uploaded"] == [refused]
    assert made[refused]["error"]["code"] == reason
    assert LIMITS[reason][language] in made[refused]["error"]["message"]
    listed = client.get("/documents", params={"collection": collection, "limit": 50}).json()["documents"]
    assert {of["filename"] for of in listed} - {"first.txt"} == {name for name, _ in files} - {files[refused][0]}
    client.delete(f"/collections/{collection}")


def test_an_upload_that_is_resent_is_answered_as_before(client: httpx.Client) -> None:
    """R9.4 Also one of which a file is refused."""
    files = [("files", (f"{number}.txt", b"a" * (MOST_BYTES * number + 1))) for number in range(2)]
    key = {"Idempotency-Key": "one"}
    first, again = (client.post("/documents", files=files, data={"collection": "resent"}, headers=key) for _ in "12")
    assert [of["status"] for of in first.json()["documents"]] == ["uploaded", "error"]
    assert (again.json(), again.headers["idempotent-replay"]) == (first.json(), "true")


def test_a_file_alone_is_refused_with_its_request(client: httpx.Client) -> None:
    """R9.4"""
    check_error(client.post("/documents", files={"files": (" ", b"Nota.")}), 400, "unreadable_document")


def test_large_files_do_not_fill_the_memory(make_database: Callable[[], str]) -> None:
    """R1.1, R11 An upload of many is never in memory as a whole; what is stored is what was sent."""
    with run_server(DATABASE_URL=make_database(), RAG_WORKER="false") as server, server.client() as client:
        client.timeout = httpx.Timeout(60)
        before = peak_bytes(server)
        files = [("files", (f"{number}.txt", bytes([97 + number]) * LARGE)) for number in range(4)]
        made = client.post("/api/v1/documents", files=files, data={"collection": "large"}).json()["documents"]
        assert [of["status"] for of in made] == ["uploaded"] * 4
        assert peak_bytes(server) - before < 2 * LARGE
        again = client.put(f"/api/v1/documents/{made[0]['id']}", files={"file": ("0.txt", b"z" * LARGE)})
        assert again.json()["status"] == "uploaded"
        assert client.get(f"/api/v1/documents/{made[3]['id']}/file").content == b"d" * LARGE


def peak_bytes(server: Server) -> int:
    """Return the most memory that the server's process has had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]

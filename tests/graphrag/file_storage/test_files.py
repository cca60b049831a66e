"""Which file storage the settings choose, and what each does when it can't."""

import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from api.errors import MESSAGES
from graphrag.config.settings import Settings
from graphrag.errors import FileUnavailable, InvalidSettings, MissingExtra
from graphrag.file_storage import open_files
from graphrag.file_storage.local import LocalFiles
from graphrag.file_storage.s3 import S3Files
from graphrag.services import open_services

KEY = "collection/document/content"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "top-secret")


def modes(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): stat.filemode(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


async def test_without_a_setting_they_are_in_our_home(tmp_path: Path) -> None:
    """R1.4 local folder by default; nobody else of the machine reads them."""
    home = tmp_path / "home"
    await open_services(Settings.from_environment(home=home)).files.put(KEY, b"1")
    private = {".": "drwx------", "collection": "drwx------", "collection/document": "drwx------"}
    assert modes(home / "files") == {**private, KEY: "-rw-------"}
    (tmp_path / "plain").mkdir()
    assert modes(home)["."] == modes(tmp_path / "plain")["."]  # the embedded server's user must get through


async def test_a_folder_that_became_empty_is_gone(tmp_path: Path) -> None:
    """R1.4"""
    files = LocalFiles(tmp_path)
    await files.put(KEY, b"1")
    await files.put("collection/other/content", b"1")
    await files.delete("collection/document")
    assert sorted(modes(tmp_path)) == [".", "collection", "collection/other", "collection/other/content"]
    await files.delete("collection/other/content")
    assert list(modes(tmp_path)) == ["."]


async def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """R1.4 whole or not at all."""
    (tmp_path / KEY / "in-its-place").mkdir(parents=True)
    with pytest.raises(FileUnavailable, match="CAUSEWAY_HOME") as caught:
        await LocalFiles(tmp_path).put(KEY, b"1")
    assert (caught.value.details, type(caught.value.__cause__)) == ({"reason": "unreachable"}, IsADirectoryError)
    assert [path.name for path in (tmp_path / KEY).parent.iterdir()] == ["content"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="of Linux: a disk that is always full")
async def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 17, R1.4."""
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: (os.open("/dev/full", os.O_WRONLY), str(tmp_path / "new")))
    files = LocalFiles(tmp_path)
    with pytest.raises(FileUnavailable, match="No space left on device"):
        await files.put(KEY, b"1")
    assert await files.list("collection") == []


async def test_a_folder_that_can_not_be_used_is_said_so(tmp_path: Path) -> None:
    """R11.1"""
    (tmp_path / "files").write_text("a file")
    for operation in (LocalFiles(tmp_path / "files").put(KEY, b"1"), LocalFiles(tmp_path / "files").get(KEY)):
        with pytest.raises(FileUnavailable) as caught:
            await operation
        assert caught.value.details == {"reason": "unreachable"}


class Answers(BaseHTTPRequestHandler):
    """The same to whatever is asked."""

    status, text = 200, ""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.text)))
        self.end_headers()
        self.wfile.write(self.text.encode())

    do_PUT = do_POST = do_DELETE = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@contextmanager
def answering(status: int, text: str) -> Iterator[str]:
    """A server's address."""
    handler = type("Given", (Answers,), {"status": status, "text": text})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def told(code: str, message: str = "") -> str:
    return f'<?xml version="1.0"?>\n<Error><Code>{code}</Code>\n<Message>{message}</Message></Error>'


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize(
    ("status", "text", "reason", "way_out"),
    [
        (403, told("AccessDenied", "You are not authorized"), "bucket_refused", "not authorized. Check AWS_ACCESS_KEY"),
        (404, told("NoSuchBucket"), "bucket_missing", "Make the bucket, or correct RAG_FILES_URL"),
        (
            400,
            told("AuthorizationHeaderMalformed", "expecting eu-west-3"),
            "bucket_elsewhere",
            "eu-west-3. Set AWS_REG",
        ),
        (301, told("PermanentRedirect"), "bucket_elsewhere", "Set AWS_REGION"),
        (507, told("XMinioStorageFull"), "disk_full", "Free some space"),
        (503, told("SlowDown"), "unreachable", "Check RAG_FILES_URL"),
        (502, "<html>Bad gateway", "unreachable", "Bad gateway. Check RAG_FILES_URL"),
        (200, "<html>Please log in", "not_s3", "check AWS_ENDPOINT_URL"),
        (404, "<html>Nothing here", "not_s3", "check AWS_ENDPOINT_URL"),
        (405, "<html>Not allowed", "not_s3", "check AWS_ENDPOINT_URL"),
    ],
)
async def test_what_a_bucket_refuses_is_told_with_the_way_out(
    status: int, text: str, reason: str, way_out: str
) -> None:
    """R11.1, R13.4 never as a file that is missing, which an upload would mend; in one line."""
    with answering(status, text) as endpoint:
        files = S3Files("files", endpoint=endpoint, timeout_seconds=5)
        for operation in (files.put(KEY, b"1"), files.get(KEY)):
            with pytest.raises(FileUnavailable, match="The bucket 'files' can't be used") as caught:
                await operation
            assert caught.value.details == {"reason": reason}
            assert way_out in str(caught.value)
            assert "\n" not in str(caught.value)
            assert set(MESSAGES[reason]) == {"es", "fr", "en"}


async def check_unreachable(files: S3Files) -> None:
    for operation in (files.put(KEY, b"1"), files.get(KEY), files.delete("collection")):
        with pytest.raises(FileUnavailable, match="RAG_FILES_URL, AWS_ENDPOINT_URL") as caught:
            await operation
        assert caught.value.details == {"reason": "unreachable"}
        assert caught.value.__cause__ is not None
        assert "\n" not in str(caught.value)
        assert "top-secret" not in str(caught.value)


@pytest.mark.usefixtures("credentials")
async def test_a_server_that_is_not_there_is_said_so() -> None:
    """R11.1"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    await check_unreachable(S3Files("files", endpoint=f"http://127.0.0.1:{port}", timeout_seconds=5))


@pytest.mark.usefixtures("credentials")
async def test_a_server_that_never_answers_is_waited_for_no_longer_than_set() -> None:
    """R11.1"""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        await check_unreachable(S3Files("files", endpoint=endpoint, timeout_seconds=0.1))


def test_the_address_may_say_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4 S3/MinIO by setting."""
    monkeypatch.setenv("RAG_FILES_URL", "s3://bucket/pre/fix/")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio:9000")
    settings = Settings.from_environment()
    assert (settings.storage.files_endpoint, type(open_files(settings))) == ("http://minio:9000", S3Files)
    monkeypatch.setenv("RAG_FILES_URL", "")
    assert isinstance(open_files(Settings.from_environment()), LocalFiles)
    folder = tmp_path / "mañana & más"
    local = open_files(Settings.from_environment(files_url=folder.as_uri()))
    assert isinstance(local, LocalFiles)
    assert local.folder == folder


@pytest.mark.parametrize(
    "url",
    [
        "gs://bucket",
        "bucket",
        "/var/files",
        "file:files",
        "file://server/files",
        "file:///a%00b",
        "s3://",
        "s3:///prefix",
        "s3://me:secret@bucket",
        "s3://bucket:9000/x",
        "s3://bucket?region=x",
        "s3://bucket/a/../b",
        "s3://[",
        "://",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    """R1.4, R4.10 and is not repeated: it may hold a password."""
    with pytest.raises(InvalidSettings, match="RAG_FILES_URL") as caught:
        open_files(Settings.from_environment(files_url=url))
    assert "secret" not in str(caught.value)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.4 As in a core install."""
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(MissingExtra, match=r"make install WITH=s3"):
        open_files(Settings.from_environment(files_url="s3://bucket"))

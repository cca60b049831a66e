"""What every FileStorage promises, run against each implementation."""

import asyncio
import itertools
import os
import uuid
from collections.abc import Awaitable, Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from graphrag.config.settings import Settings
from graphrag.errors import FileUnavailable
from graphrag.file_storage import open_files
from graphrag.file_storage.local import check_key
from graphrag.protocols import FileStorage
from tests.s3_server import run_s3_server

KEY = "collection/document/content"


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, run_s3_server() as address:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ACCESS_KEY_ID", "tests")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
        patch.setenv("AWS_REGION", "us-east-1")
        yield address


@pytest.fixture
def bucket(s3_server: str) -> str:
    """Its URL: empty, and nobody else's."""
    name = f"files-{uuid.uuid4().hex}"
    httpx.put(f"{s3_server}/{name}").raise_for_status()
    return f"s3://{name}"


@pytest.fixture(params=["local", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> FileStorage:
    if request.param == "local":
        return open_files(Settings.from_environment(files_url=(tmp_path / "fi les").as_uri()))
    url = f"{request.getfixturevalue('bucket')}/pre/fix"
    return open_files(Settings.from_environment(files_url=url, files_endpoint=request.getfixturevalue("s3_server")))


async def is_missing(storage: FileStorage, key: str) -> bool:
    try:
        await storage.get(key)
    except FileUnavailable as exc:
        return exc.details == {"reason": "missing"}
    return False


@pytest.mark.parametrize("data", [b"", bytes(range(256)), "Año\r\n".encode()])
async def test_stored_files_are_returned(storage: FileStorage, data: bytes) -> None:
    """R1.4 to the byte."""
    await storage.put(KEY, data)
    assert await storage.get(KEY) == data


async def test_a_file_of_ten_megabytes_is_returned(storage: FileStorage) -> None:
    """R1.1, R1.4 the largest that is taken by default."""
    data = os.urandom(10_000_000)
    await storage.put(KEY, data)
    assert await storage.get(KEY) == data


async def test_files_are_listed_by_document_and_by_collection(storage: FileStorage) -> None:
    """R1.4"""
    keys = ["a/b/1", "a/b/2", "a/c/1", "d/b/1"]
    for key in keys:
        await storage.put(key, b"data")
    listed = [await storage.list(prefix) for prefix in ("a/b", "a", "d", "e", "a/b/1")]
    assert listed == [keys[:2], keys[:3], keys[3:], [], []]


async def test_a_file_is_replaced(storage: FileStorage) -> None:
    """R1.6"""
    await storage.put(KEY, b"the old one, which is longer")
    await storage.put(KEY, b"new")
    assert await storage.get(KEY) == b"new"


async def test_missing_files_are_reported(storage: FileStorage) -> None:
    """R1.4"""
    with pytest.raises(FileUnavailable, match="delete the document and upload it again") as caught:
        await storage.get(KEY)
    assert (caught.value.code, caught.value.details) == ("file_unavailable", {"reason": "missing"})
    await storage.put(KEY, b"1")
    assert await is_missing(storage, f"{KEY}2")


@pytest.mark.parametrize(
    ("prefix", "gone"), [("a/b/c", {"a/b/c"}), ("a/b", {"a/b/c", "a/b/cc"}), ("a", {"a/b/c", "a/b/cc", "a/bb/c"})]
)
async def test_files_are_deleted_by_key_document_or_collection(
    storage: FileStorage, prefix: str, gone: set[str]
) -> None:
    """Security 19: all of it, and nothing whose name begins alike."""
    keys = {"a/b/c", "a/b/cc", "a/bb/c", "aa/b/c", "b/a/c"}
    for key in keys:
        await storage.put(key, key.encode())
    await storage.delete(prefix)
    assert {key for key in keys if await is_missing(storage, key)} == gone
    await storage.delete(prefix)
    await storage.put("a/b/c", b"again")
    assert await storage.get("a/b/c") == b"again"


async def test_deleting_a_missing_file_succeeds(storage: FileStorage) -> None:
    for prefix in (KEY, "collection/document", "collection"):
        await storage.delete(prefix)


async def test_concurrent_writers_leave_one_complete_file(storage: FileStorage) -> None:
    """R1.6 and whoever reads meanwhile sees a whole one, too."""
    values = [bytes([number]) * 300_000 for number in range(8)]
    await storage.put(KEY, values[0])
    puts = [storage.put(KEY, value) for value in values]
    seen = await asyncio.gather(*puts, *(storage.get(KEY) for _ in values))
    assert set(seen[len(values) :]) <= set(values)
    assert await storage.get(KEY) in values


async def test_deleting_does_not_affect_concurrent_writers(storage: FileStorage) -> None:
    """R1.4 the folder that became empty may be wanted in that instant."""
    for round_number in range(20):
        await storage.put("a/b/old", b"old")
        key = f"a/b/{round_number}"
        await asyncio.gather(storage.delete("a/b/old"), storage.put(key, b"new"), storage.delete("a/c"))
        assert await storage.get(key) == b"new"
        await storage.delete(key)


async def test_listing_tolerates_concurrent_deletion(storage: FileStorage) -> None:
    """R1.4, R11.1 A folder that goes while it is looked into holds nothing; what stays is listed."""
    await storage.put("a/kept/1", b"stays")

    async def come_and_go(number: int) -> None:
        for _ in range(15):
            await storage.put(f"a/{number}/1", b"goes")
            await storage.delete(f"a/{number}/1")

    moving = asyncio.gather(*map(come_and_go, range(3)))
    while not moving.done():
        assert "a/kept/1" in await storage.list("a")
    await moving


async def test_two_prefixes_of_one_bucket_do_not_meet(s3_server: str, bucket: str) -> None:
    """R1.4"""
    one, other = (
        open_files(Settings.from_environment(files_url=f"{bucket}{at}", files_endpoint=s3_server))
        for at in ("/one", "")
    )
    await one.put(KEY, b"of one")
    assert await is_missing(other, KEY)
    await other.put(KEY, b"of the other")
    await other.delete("collection")
    assert await one.get(KEY) == b"of one"


async def test_a_bucket_that_is_not_there_is_not_a_missing_file(s3_server: str) -> None:
    """R11.1: no upload would mend that."""
    storage = open_files(Settings.from_environment(files_url="s3://no-such-bucket", files_endpoint=s3_server))
    for operation in (storage.put(KEY, b"1"), storage.get(KEY), storage.delete("collection")):
        with pytest.raises(FileUnavailable, match=r"bucket 'no-such-bucket' .*NoSuchBucket") as caught:
            await operation
        assert caught.value.details == {"reason": "bucket_missing"}


NO_PREFIX = [
    "",
    "/",
    "/collection",
    "collection/",
    "collection//content",
    "..",
    "../collection/document",
    "collection/../content",
    "collection/./content",
    "collection/.hidden",
    "collection/document/content/more",
    "collection\\document",
    "C:/windows",
    "collection/document\0",
    "collection/document\n",
    "%2e%2e/document",
    "Informe final.pdf",
    "Collection",
    "colección",
    "١٢٣",
    "x" * 129,
    "\ud800",
]


async def is_rejected(operation: Awaitable[object]) -> bool:
    try:
        await operation
    except ValueError as exc:
        return "of a file" in str(exc)
    return False


async def test_invalid_keys_are_rejected(storage: FileStorage) -> None:
    """Security 9: keys are made of ids; a file's name is none."""
    keys = [*NO_PREFIX, "collection", "collection/document"]
    assert [key for key in keys if not await is_rejected(storage.put(key, b"1"))] == []
    assert [key for key in keys if not await is_rejected(storage.get(key))] == []


async def test_invalid_prefixes_are_rejected(storage: FileStorage) -> None:
    """Security 9."""
    await storage.put(KEY, b"1")
    assert [prefix for prefix in NO_PREFIX if not await is_rejected(storage.delete(prefix))] == []
    assert await storage.get(KEY) == b"1"


@given(st.text("aB0._-/\\:\0 ~é%", max_size=12) | st.text())
def test_a_key_never_leaves_its_folder(key: str) -> None:
    """Security 9."""
    try:
        check_key(key)
    except ValueError:
        return
    folder = Path("/files")
    assert len(Path(os.path.normpath(folder / key)).relative_to(folder).parts) == 3


KEYS = ["/".join(parts) for parts in itertools.product(("a", "aa"), ("b", "bb"), ("c", "cc"))]
PREFIXES = sorted({key.rsplit("/", cut)[0] for key in KEYS for cut in (1, 2)} | set(KEYS))


class StorageAndModel(RuleBasedStateMachine):
    """The storage must do what a dict does."""

    storage: FileStorage
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, bytes] = {}

    @rule(key=st.sampled_from(KEYS), data=st.binary(max_size=20))
    def put(self, key: str, data: bytes) -> None:
        self.runner.run(self.storage.put(key, data))
        self.model[key] = data

    @rule(prefix=st.sampled_from(PREFIXES))
    def delete(self, prefix: str) -> None:
        self.runner.run(self.storage.delete(prefix))
        self.model = {
            key: data for key, data in self.model.items() if key != prefix and not key.startswith(f"{prefix}/")
        }

    @invariant()
    def holds_the_same(self) -> None:
        assert self.runner.run(self._content()) == self.model

    def teardown(self) -> None:
        for prefix in ("a", "aa"):
            self.runner.run(self.storage.delete(prefix))

    async def _content(self) -> dict[str, bytes]:
        return {key: await self.storage.get(key) for key in KEYS if not await is_missing(self.storage, key)}


@pytest.mark.slow
def test_any_sequence_of_writes_and_deletions_matches_a_dict(storage: FileStorage) -> None:
    """R1.4, security 19."""
    with asyncio.Runner() as runner:
        machine = type("OverThisStorage", (StorageAndModel,), {"storage": storage, "runner": runner})
        run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=12, deadline=None))

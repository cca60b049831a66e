"""ETag, If-None-Match and If-Match of documents: a real server."""

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from graphrag.errors import PreconditionFailed
from graphrag.ingestion.sources import SourceFile, document_id
from graphrag.services import Services
from tests.api.expectations import check_error
from tests.api.uploads import REPORT, finished, upload
from tests.conftest import Server

OTHER = "# Informe\n\nEl horno H7 funciona.\n"


@pytest.fixture(scope="module")
def server(demo_server: Server) -> Server:
    return demo_server


@pytest.fixture
def path(api: httpx.Client) -> Iterator[str]:
    """Of an indexed document, in a collection of its own."""
    collection = f"notas-{uuid4().hex[:8]}"
    made = upload(api, collection, "a.md", REPORT)
    yield f"/documents/{finished(api, made['id'])['id']}"
    api.delete(f"/collections/{collection}").raise_for_status()


def test_a_version_that_is_known_is_not_sent_again(api: httpx.Client, path: str) -> None:
    """R9.4 304 without a body; strong tags, the same as long as nothing changes."""
    first = api.get(path)
    etag = first.headers["etag"]
    assert etag.startswith('"')
    assert api.get(path).headers["etag"] == etag
    for known in (etag, f'"x", {etag}', f"W/{etag}", "*"):
        again = api.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    for known in ('"x"', etag.strip('"'), "", '"'):
        assert api.get(path, headers={"If-None-Match": known}).json() == first.json()


def test_every_change_is_another_version(api: httpx.Client, path: str) -> None:
    """R9.4 also one that looks alike in the end."""
    seen = [api.get(path).headers["etag"]]
    for change in (
        lambda: api.put(path, files={"file": ("a.md", OTHER)}),
        lambda: api.put(path, files={"file": ("a.md", REPORT)}),
        lambda: api.post(f"{path}/reindex"),
    ):
        assert change().status_code == 202
        finished(api, path.rpartition("/")[2])
        seen.append(api.get(path).headers["etag"])
    assert len(set(seen)) == 4


def test_the_file_s_tag_is_its_content(api: httpx.Client, path: str) -> None:
    """R9.4 it stays when the file is read anew, and is another one with other bytes."""
    first = api.get(f"{path}/file")
    etag = first.headers["etag"]
    assert etag == f'"{api.get(path).json()["content_hash"]}"'
    api.post(f"{path}/reindex", params={"chunking": "sentence"})
    again = api.get(f"{path}/file", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    finished(api, path.rpartition("/")[2])
    api.put(path, files={"file": ("a.md", OTHER)})
    changed = api.get(f"{path}/file", headers={"If-None-Match": etag})
    assert (changed.status_code, changed.text) == (200, OTHER)


def test_a_change_is_for_the_version_that_it_names(api: httpx.Client, path: str) -> None:
    """R9.4 PUT, DELETE and reindex of another version: 412 with the ETag of now, and nothing is done."""
    old = api.get(path).headers["etag"]
    api.put(path, files={"file": ("a.md", OTHER)}, headers={"If-Match": old})
    now = finished(api, path.rpartition("/")[2])
    etag = api.get(path).headers["etag"]
    assert etag != old
    for known in (old, '"x"', f"W/{etag}", "x", ""):
        headers = {"If-Match": known}
        for answer in (
            api.put(path, files={"file": ("a.md", REPORT)}, headers=headers),
            api.post(f"{path}/reindex", headers=headers),
            api.delete(path, headers=headers),
        ):
            assert check_error(answer, 412, "precondition_failed")["details"] == {"etag": etag}
    assert api.get(path).json() == now
    assert api.post(f"{path}/reindex", headers={"If-Match": "*"}).status_code == 202
    finished(api, path.rpartition("/")[2])
    assert api.delete(path, headers={"If-Match": f'"x", {api.get(path).headers["etag"]}'}).status_code == 204
    check_error(api.delete(path, headers={"If-Match": "*"}), 404, "document_not_found")


async def test_of_two_that_read_the_same_version_one_changes_it(services: Services, owner: str) -> None:
    """R9.4 the check and the change are one: nobody comes between them."""
    collection = await services.collections.create(owner, "notes")
    library = services.documents
    await library.add(collection, [SourceFile("a", "a.md", b"One.")])
    key = document_id(collection.id, "a")
    (seen,) = await library.ingestions.find(collection, [key])
    steps = [
        library.add(collection, [SourceFile("a", "a.md", text.encode())], seen=seen) for text in ("Two.", "Three.")
    ]
    outcomes = await asyncio.gather(*steps, library.delete(collection, key, seen=seen), return_exceptions=True)
    assert sorted(isinstance(outcome, PreconditionFailed) for outcome in outcomes) == [False, True, True]
    with pytest.raises(PreconditionFailed):
        await library.delete(collection, key, seen=seen)

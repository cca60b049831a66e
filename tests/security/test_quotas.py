"""How much one owner may keep."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import httpx
import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import QuotaExceeded
from graphrag.ingestion.sources import SourceFile
from graphrag.services import Services, open_services
from tests.api.expectations import check_error
from tests.conftest import Server, run_server

MOST_BYTES, MOST_COLLECTIONS = 1_000, 2
WORDS = {
    "bytes": {
        "es": "superan el límite de almacenamiento",
        "fr": "dépassent la limite de stockage",
        "en": "exceed the storage limit",
    },
    "collections": {"es": "Ya tiene 2 colecciones", "fr": "déjà 2 collections", "en": "You already have 2 collections"},
}


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    limits = {"RAG_MAX_OWNER_BYTES": str(MOST_BYTES), "RAG_MAX_COLLECTIONS": str(MOST_COLLECTIONS)}
    with run_server(DATABASE_URL=make_database(), **limits) as server:
        yield server


@pytest.fixture
async def limited(postgres: str) -> AsyncIterator[Services]:
    settings = Settings.from_environment(
        database_url=SecretStr(postgres), max_owner_bytes=MOST_BYTES, max_collections=MOST_COLLECTIONS
    )
    opened = open_services(settings)
    yield opened
    await opened.close()


def source(name: str, size: int) -> SourceFile:
    return SourceFile(source=name, filename=name, data=name[0].encode() * size, source_type="upload")


def test_what_is_beyond_a_quota_is_refused_in_words(server: Server) -> None:
    """Security 16: an owner's bytes in all collections together, and collections; there are 409s for both."""
    with server.client() as client:

        def upload(name: str, size: int, collection: str = "one") -> httpx.Response:
            files = {"files": (name, name[0].encode() * size)}
            return client.post("/api/v1/documents", files=files, data={"collection": collection})

        assert [upload("a.txt", 600).status_code, upload("b.txt", 300, "two").status_code] == [202, 202]
        for language in ("es", "fr", "en"):
            client.headers["Accept-Language"] = language
            refusals = {"bytes": upload("c.txt", 200), "collections": client.put("/api/v1/collections/three", json={})}
            for reason, refusal in refusals.items():
                error = check_error(refusal, 409, "quota_exceeded")
                assert error["details"]["reason"] == reason
                assert WORDS[reason][language] in error["message"]
        assert upload("a.txt", 650).status_code == 202  # in place of its own 600
        assert client.put("/api/v1/collections/two", json={}).status_code == 200
        assert [found["name"] for found in client.get("/api/v1/collections").json()["collections"]] == ["one", "two"]


async def test_many_at_once_find_room_once(limited: Services, owner: str) -> None:
    """Security 16: each counts what the others have added."""
    names = [f"notes {number}" for number in range(6)]
    made = await asyncio.gather(*(limited.collections.create(owner, name) for name in names), return_exceptions=True)
    refused = [found for found in made if isinstance(found, QuotaExceeded)]
    assert (len(made) - len(refused), len(refused)) == (MOST_COLLECTIONS, 4)
    collection = next(found for found in made if not isinstance(found, BaseException))
    added = await asyncio.gather(
        *(limited.documents.add(collection, [source(f"{letter}.txt", 300)]) for letter in "abcdef"),
        return_exceptions=True,
    )
    assert [isinstance(outcome, QuotaExceeded) for outcome in added].count(False) == MOST_BYTES // 300


async def test_a_quota_is_an_owner_s(limited: Services, owner: str) -> None:
    """Security 16, R4.8: what others keep takes nothing from it."""
    for whose in (owner, f"other-{owner}"):
        collection = await limited.collections.create(whose, "notes")
        await limited.documents.add(collection, [source("a.txt", MOST_BYTES)])
        with pytest.raises(QuotaExceeded):
            await limited.documents.add(collection, [source("b.txt", 1)])


async def test_what_is_refused_leaves_no_file(limited: Services, owner: str) -> None:
    """Security 16, R1.4: it would be nobody's, and count for nobody."""
    collection = await limited.collections.create(owner, "notas")
    with pytest.raises(QuotaExceeded):
        await limited.documents.add(collection, [source("a.txt", MOST_BYTES + 1)])
    with pytest.raises(QuotaExceeded):
        await limited.documents.add(collection, [source("a.txt", 1), source("b.txt", 1)], most_documents=1)
    assert await limited.files.list(str(collection.id)) == []

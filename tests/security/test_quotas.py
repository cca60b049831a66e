"""How much one owner may keep."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import QuotaExceeded
from graphrag.ingestion.sources import SourceFile
from graphrag.models.ingestion import IngestionStatus
from graphrag.services import Services, open_services
from tests.api.expectations import check_error
from tests.api.identities import make_keys_in, shown
from tests.conftest import Server, run_server, run_server_here

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
    return SourceFile(source=name, filename=name, content=name[0].encode() * size, source_type="upload")


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


def test_owners_have_quotas_where_they_authenticate(make_database: Callable[[], str]) -> None:
    """Security 16: 100 collections and 10 GB, of each owner; nobody has to set them."""
    database = make_database()
    keys = make_keys_in(database)
    with (
        run_server_here(DATABASE_URL=database, RAG_AUTH="api_key") as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):

        def upload(name: str, key: str) -> httpx.Response:
            sent = {"files": (name, name.encode())}
            return client.post("/api/v1/documents", files=sent, data={"collection": "0"}, headers=shown(key))

        answers = [client.put(f"/api/v1/collections/{n}", json={}, headers=shown(keys.a)) for n in range(101)]
        assert [answer.status_code for answer in answers[:-1]] == [200] * 100
        assert check_error(answers[-1], 409, "quota_exceeded")["details"] == {"reason": "collections", "limit": 100}
        assert upload("a.txt", keys.a).status_code == 202
        with psycopg.connect(database) as connection:  # as if it were as large
            connection.execute("UPDATE causeway.ingestions SET byte_count = %s", [10_000_000_000])
        refused = check_error(upload("b.txt", keys.a), 409, "quota_exceeded")
        assert refused["details"] == {"reason": "bytes", "limit": 10_000_000_000}
        assert upload("b.txt", keys.b).status_code == 202


@pytest.mark.parametrize("settings", [{}, {"auth": "api_key", "max_owner_bytes": 0, "max_collections": 0}])
async def test_without_quotas_there_is_room(postgres: str, owner: str, settings: dict[str, Any]) -> None:
    """Security 16: by default where nobody authenticates, and where each is 0."""
    services = open_services(Settings.from_environment(database_url=SecretStr(postgres), **settings))
    made = [await services.collections.create(owner, str(number)) for number in range(101)]
    await services.documents.add(made[0], [source("a.txt", 1)])
    async with services.database.transaction(owner) as connection:  # as if it were as large
        await connection.execute("UPDATE causeway.ingestions SET byte_count = 10000000000")
    (added,) = await services.documents.add(made[0], [source("b.txt", 1)])
    assert added.status is IngestionStatus.UPLOADED
    await services.close()


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
        await limited.documents.add(collection, [source("a.txt", 1), source("b.txt", 1)], most_documents=0)
    assert await limited.files.list(str(collection.id)) == []
    _, refused = await limited.documents.add(collection, [source("a.txt", 1), source("b.txt", 1)], most_documents=1)
    assert (refused.source, refused.reason) == ("b.txt", "quota_exceeded")
    assert len(await limited.files.list(str(collection.id))) == 1


async def test_what_would_not_fit_in_any_order_is_refused(limited: Services, owner: str) -> None:
    """Security 16: what needs no room is taken where there is none; a copy of what is refused is refused with it."""
    collection = await limited.collections.create(owner, "notas")

    async def add(*files: tuple[str, int], most_documents: int | None = None) -> list[tuple[str, str]]:
        sources = [source(*file) for file in files]
        added = await limited.documents.add(collection, sources, most_documents=most_documents)
        return [(of.source, of.reason or of.status.value) for of in added]

    assert await add(("a.txt", 600), ("b.txt", 500), ("bb.txt", 500), ("c.txt", 300)) == [
        ("a.txt", "bytes"),
        ("b.txt", "uploaded"),
        ("bb.txt", "unchanged"),
        ("c.txt", "uploaded"),
    ]
    # The room that one gives up is there for another.
    assert await add(("d.txt", 600), ("b.txt", 100), most_documents=3) == [("d.txt", "uploaded"), ("b.txt", "uploaded")]
    assert await add(("e.txt", 1), ("b.txt", 90), most_documents=1) == [
        ("e.txt", "quota_exceeded"),
        ("b.txt", "uploaded"),
    ]
    assert await add(("f.txt", 30), ("ff.txt", 30), ("b.txt", 80)) == [
        ("f.txt", "bytes"),
        ("ff.txt", "bytes"),
        ("b.txt", "uploaded"),
    ]

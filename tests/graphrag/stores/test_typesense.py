"""Chunks in Typesense, over a real socket to a server that follows its published API strictly."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from graphrag.config.settings import Settings
from graphrag.errors import IndexUnavailable, InvalidSettings, MissingExtra
from graphrag.models import Collection, Document, SourceLocation, VectorKind
from graphrag.models.ingestion import IndexEntry
from graphrag.stores.indexes.typesense import TypesenseIndex
from tests.factories import make_chunk, make_document
from tests.typesense_server import KEY, Cut, Fail, Garbage, Hang, Saying, TypesenseServer
from tests.typesense_server.collection import Collection as Foreign

BOTH: frozenset[VectorKind] = frozenset({"content", "contextual"})
NAMES = [
    *("ana", "Ana", "a.n.a", "ána", " ana "),
    *("a`n`a", "ana`", "``", 'an"a', "an'a", "ana && user_id:=x", "x || user_id:!=x", "ana)", "[ana,eva]"),
    *("an\na", "a\u2028na", "ана", "🙂", "*", "-", "a" * 500),
]


@pytest.fixture(scope="module")
def running() -> Iterator[TypesenseServer]:
    with TypesenseServer() as server:
        yield server


@pytest.fixture
def server(running: TypesenseServer) -> TypesenseServer:
    running.reset()
    return running


def settings_for(server: TypesenseServer, **changes: Any) -> Settings:
    known: dict[str, Any] = {"index_url": server.url, "index_api_key": SecretStr(KEY), "index_timeout_seconds": 2.0}
    return Settings.from_environment(**known | changes)


@pytest.fixture
async def index(server: TypesenseServer) -> AsyncIterator[TypesenseIndex]:
    opened = TypesenseIndex(settings_for(server))
    yield opened
    await opened.close()


@pytest.fixture
def collection() -> Collection:
    return Collection(uuid4(), "ana", "notes", "tiny")


def entry(
    text: str = "El horno falló.",
    vector: Sequence[float] | None = (1.0, 0.0),
    *,
    document: Document | None = None,
    kinds: frozenset[VectorKind] = BOTH,
    **chunk: Any,
) -> IndexEntry:
    return IndexEntry(uuid4(), make_chunk(text, document=document or make_document(), **chunk), vector, kinds)


async def near(index: TypesenseIndex, collection: Collection, *vector: float, limit: int = 10) -> list[Any]:
    found = await index.search_vectors(collection, vector, kind="content", documents=None, limit=limit)
    return [candidate.entry_id for candidate in found]


async def worded(index: TypesenseIndex, collection: Collection, *words: str, limit: int = 10) -> dict[Any, float]:
    found = await index.search_words(collection, words, documents=None, limit=limit)
    return {candidate.entry_id: candidate.score for candidate in found}


async def test_the_collection_is_the_specification_s(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 `document_chunks`, with its fields, sorted by expiry, made with the first chunk and kept."""
    await index.open()
    assert server.collections == {}
    await index.put(collection, [entry()])
    await index.put(collection, [entry()])
    told = server.collections["document_chunks"].told()
    fields = {field["name"]: field for field in told["fields"]}
    assert {name: fields[name]["type"] for name in fields} == {
        "chunk_id": "string",
        "user_id": "string",
        "file_id": "string",
        "content": "string",
        "embedding": "float[]",
        "metadata": "object",
        "document_expires_at": "int64",
        "collection_id": "string",
        "kinds": "string[]",
        "context": "string",
    }
    assert (fields["user_id"]["facet"], fields["file_id"]["facet"], fields["embedding"]["num_dim"]) == (True, True, 2)
    assert (told["default_sorting_field"], told["enable_nested_fields"]) == ("document_expires_at", True)
    assert (told["metadata"], told["num_documents"]) == ({"embedding_model": "tiny"}, 2)


async def test_a_chunk_is_told_with_what_cites_it(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 its ids, text, where it stands in which file, and when it expires."""
    expires_at = datetime.now(UTC) + timedelta(hours=24)
    document = make_document(filename="plan.xlsx", expires_at=expires_at)
    places = (SourceLocation(0, 5, sheet="Abril", cells="A2:F2"), SourceLocation(5, 9, page=3))
    told = entry("El horno", [0.6, 0.8], document=document, locations=places, context="plan > Abril")
    lasting = entry("Otro", None, kinds=frozenset({"content"}))
    await index.put(collection, [told, lasting])
    kept = server.collections["document_chunks"].documents
    assert kept[str(told.id)] == {
        "id": str(told.id),
        "chunk_id": str(told.chunk.id),
        "user_id": kept[str(lasting.id)]["user_id"],
        "collection_id": str(collection.id),
        "file_id": str(document.id),
        "kinds": ["content", "contextual"],
        "content": "El horno",
        "context": "plan > Abril",
        "metadata": {
            "filename": "plan.xlsx",
            "language": "es",
            "headings": "plan > Abril",
            "places": [{"sheet": "Abril", "cells": "A2:F2"}, {"page": 3}],
        },
        "document_expires_at": int(expires_at.timestamp()) + 1,
        "embedding": [0.6, 0.8],
    }
    assert "embedding" not in kept[str(lasting.id)]
    assert datetime.fromtimestamp(kept[str(lasting.id)]["document_expires_at"], UTC).year == 9999


async def test_each_embedding_model_has_its_own_collection(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 the first model's is `document_chunks`; of whichever model a chunk is, it is listed and deleted."""
    other = replace(collection, embedding_model="large")
    small, large = entry(), entry(vector=[1.0, 0.0, 0.0])
    await asyncio.gather(index.put(collection, [small]), TypesenseIndex(settings_for(server)).put(collection, []))
    await index.put(other, [large])
    first, second = server.collections
    assert (first, second[:-8]) == ("document_chunks", "document_chunks_")
    assert await near(index, collection, 1.0, 0.0) == [small.id]
    assert await near(index, other, 1.0, 0.0, 0.0) == [large.id]
    assert await index.list_entries(other) == {small.id, large.id}
    await index.delete_documents(other, [small.chunk.document.id])
    assert await index.list_entries(collection) == {large.id}
    await index.delete_collection(collection)
    assert await index.list_entries(other) == set()


async def test_writers_make_a_collection_once(server: TypesenseServer, collection: Collection) -> None:
    """R13.1 several processes meet a server that is empty."""
    indexes = [TypesenseIndex(settings_for(server)) for _ in range(4)]
    await asyncio.gather(*(index.put(collection, [entry()]) for index in indexes))
    assert [len(made.documents) for made in server.collections.values()] == [4]
    assert len(await indexes[0].list_entries(collection)) == 4
    await asyncio.gather(*(index.close() for index in indexes))


async def test_a_collection_of_somebody_else_is_left_alone(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 one that has the name and not our mark."""
    fields = [{"name": "title", "type": "string"}, {"name": "points", "type": "int32"}]
    for name in ("document_chunks", "document_chunks_of_films"):
        server.collections[name] = Foreign({"name": name, "fields": fields, "default_sorting_field": "points"})
    await index.put(collection, [entry()])
    assert [len(held.documents) for held in server.collections.values()] == [0, 0, 1]
    await index.delete_collection(collection)
    assert all(len(held.documents) == 0 for held in server.collections.values())


async def test_no_owner_is_taken_for_another(index: TypesenseIndex, collection: Collection) -> None:
    """R13.1, R9.1 whatever the names are made of: Typesense's filters compare words, and have a grammar."""
    owned = [(replace(collection, owner_id=name), entry()) for name in NAMES]
    for ours, own in owned:
        await index.put(ours, [own])
    for number, (ours, own) in enumerate(owned):
        assert await near(index, ours, 1.0, 0.0) == [own.id]
        assert [*await worded(index, ours, "horno")] == [own.id]
        await index.delete(ours, [other.id for _, other in owned if other is not own])
        await index.delete_documents(ours, [other.chunk.document.id for _, other in owned if other is not own])
        assert await index.list_entries(ours) == {own.id}
        if number % 2:
            await index.delete_collection(ours)
    left = [len(await index.list_entries(ours)) for ours, _ in owned]
    assert left == [1 - number % 2 for number in range(len(owned))]


async def test_words_find_a_chunk_whose_vector_has_no_direction(index: TypesenseIndex, collection: Collection) -> None:
    """R13.1 once there has been a vector: how long they are is not known before."""
    directionless = entry(vector=None)
    await index.put(collection, [directionless])
    assert await index.list_entries(collection) == set()
    await index.put(collection, [entry("Otro."), directionless])
    assert [*await worded(index, collection, "horno")] == [directionless.id]
    assert len(await near(index, collection, 1.0, 0.0)) == 1


async def test_words_are_ranked_by_typesense(index: TypesenseIndex, collection: Collection) -> None:
    """R13.1 all of them before one, near before far, any of them at all; a mistake is forgiven; scores in [0, 1]."""
    texts = ["El horno nuevo falló", "El horno, que es nuevo, falló", "El horno", "Nuevo", "Algo falló", "La masa"]
    entries = [entry(text, context="") for text in texts]
    headed = entry("Sin más.", context="Taller > Compresor")
    await index.put(collection, [*entries, headed])
    scores = await worded(index, collection, "horno", "nuevo", "falló")
    assert [*scores][:2] == [entries[0].id, entries[1].id]
    assert set(scores) == {entry.id for entry in entries[:5]}
    assert 0.99 < scores[entries[0].id] <= 1.0
    assert all(0.3 < scores[entry.id] < 0.34 for entry in entries[2:5])
    assert [*await worded(index, collection, "compresor")] == [headed.id]
    written, mistaken = await worded(index, collection, "horno"), await worded(index, collection, "hormo")
    assert set(mistaken) == {entry.id for entry in entries[:3]}
    assert all(0.9 < mistaken[id] < score for id, score in written.items())


async def test_words_are_words_and_no_grammar(index: TypesenseIndex, collection: Collection) -> None:
    """R13.1 a minus sign leaves out nothing, quotes bind nothing, a star alone is not everything."""
    both = entry("horno nuevo")
    await index.put(collection, [both])
    for words in (["horno", "-nuevo"], ['"nuevo', 'horno"'], ["-horno"]):
        assert [*await worded(index, collection, *words)] == [both.id]
    for words in ([], ["*"], ["-"], ['"']):
        assert await worded(index, collection, *words) == {}
    assert [*await worded(index, collection, *["nada"] * 80, "horno")] == [both.id]


async def test_more_than_a_page_is_found(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 a page has 250 hits; an import has 100 chunks."""
    entries = [entry(f"El horno {number}", [1.0, number / 100]) for number in range(260)]
    await index.put(collection, entries)
    assert [path for _, path in server.asked].count("/collections/document_chunks/documents/import") == 3
    assert await near(index, collection, 1.0, 0.0, limit=255) == [entry.id for entry in entries[:255]]
    assert len(await near(index, collection, 1.0, 0.0, limit=999)) == 260
    assert len(await worded(index, collection, "horno", limit=999)) == 260
    documents = [entry.chunk.document.id for entry in entries]
    assert len(await index.list_entries(collection, documents[:200])) == 200
    await index.delete_documents(collection, documents[:200])
    await index.delete(collection, [entry.id for entry in entries[100:250]])
    assert await index.list_entries(collection) == {entry.id for entry in entries[250:]}


async def test_refused_chunks_are_named(server: TypesenseServer, index: TypesenseIndex, collection: Collection) -> None:
    """R13.1 [000] in the log with their files, too; the others are there: of its batch and of the batches after it."""
    entries = [entry() for _ in range(201)]
    bad = {str(entries[0].id), str(entries[7].id)}
    server.refuses = lambda document: document["id"] in bad
    with capture_logs() as logs, pytest.raises(IndexUnavailable) as caught:
        await index.put(collection, entries)
    refused = [entries[0].chunk, entries[7].chunk]
    assert caught.value.details == {"index": "typesense", "chunks": [chunk.id for chunk in refused]}
    (told,) = logs
    assert told["chunk_ids"] == [str(chunk.id) for chunk in refused]
    assert told["file_ids"] == sorted(str(chunk.document.id) for chunk in refused)
    assert ["OUT_OF_MEMORY" in cause for cause in told["causes"]] == [True]
    assert len(await index.list_entries(collection)) == 199


async def test_a_batch_that_fails_stops_no_other(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 [000] the remaining ones are sent; a chunk of other dimensions is the only one that is refused."""
    first = entry()
    await index.put(collection, [first])
    entries = [entry() for _ in range(250)]
    server.asked.clear()
    server.fail(Fail(400), path="/import")
    with pytest.raises(IndexUnavailable) as caught:
        await index.put(collection, entries)
    assert caught.value.details["chunks"] == [entry.chunk.id for entry in entries[:100]]
    assert len(await index.list_entries(collection)) == 151
    odd = entry(vector=[1.0, 0.0, 0.0])
    with pytest.raises(IndexUnavailable) as caught:
        await index.put(collection, [entry(), odd])
    assert caught.value.details["chunks"] == [odd.chunk.id]


@pytest.mark.parametrize("fault", [Fail(503), Fail(400), Garbage(), Cut(), Hang(9)], ids=repr)
async def test_whatever_it_says_it_is_unavailable(server: TypesenseServer, collection: Collection, fault: Any) -> None:
    """R13.1 by each verb, in the time that one call may take."""
    index = TypesenseIndex(settings_for(server, index_timeout_seconds=0.4 if fault == Hang(9) else 2.0))
    known = entry()
    await index.put(collection, [known])
    verbs = [
        index.open,
        lambda: index.put(collection, [entry()]),
        lambda: index.delete(collection, [known.id]),
        index.delete_expired,
        lambda: index.list_entries(collection),
        lambda: near(index, collection, 1.0, 0.0),
        lambda: worded(index, collection, "horno"),
    ]
    for verb in verbs[5:] if fault == Hang(9) else verbs:
        server.fail(*[fault] * 3)  # it is asked again where that may help
        with pytest.raises(IndexUnavailable, match=r"Typesense at 127\.0\.0\.1:\d+ can't be used: .* RAG_INDEX_URL"):
            await verb()
        server.recover()
    assert await index.list_entries(collection) == {known.id}
    await index.close()


@pytest.mark.parametrize(
    "said", [{}, {"results": 3}, {"results": [{}]}, {"results": [{"hits": [{"document": {}}]}]}, [1]]
)
async def test_what_is_not_typesense_is_unavailable(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection, said: Any
) -> None:
    """R13.1 another service at its address answers in JSON, too."""
    await index.put(collection, [entry()])
    await near(index, collection, 1.0, 0.0)
    server.fail(Saying(said))
    with pytest.raises(IndexUnavailable, match="what Typesense does not"):
        await near(index, collection, 1.0, 0.0)


async def test_a_moment_s_failure_is_not_seen(
    server: TypesenseServer, index: TypesenseIndex, collection: Collection
) -> None:
    """R13.1 what passes by itself is tried again."""
    server.fail(Fail(503), Cut())
    await index.put(collection, [known := entry()])
    server.fail(Fail(503), Fail(503))
    assert await near(index, collection, 1.0, 0.0) == [known.id]


async def test_it_may_lose_everything(server: TypesenseServer, index: TypesenseIndex, collection: Collection) -> None:
    """R13.1 nothing is found then, and what is put is there."""
    await index.put(collection, [entry()])
    server.reset()
    assert await near(index, collection, 1.0, 0.0) == []
    assert await index.list_entries(collection) == set()
    await index.delete_collection(collection)
    await index.put(collection, [again := entry()])
    assert await near(index, collection, 1.0, 0.0) == [again.id]


async def test_a_wrong_key_is_said(server: TypesenseServer) -> None:
    """R13.1 and is not repeated."""
    index = TypesenseIndex(settings_for(server, index_api_key=SecretStr("secret-key")))
    with pytest.raises(IndexUnavailable, match="refuses the key of RAG_INDEX_API_KEY") as caught:
        await index.open()
    assert "secret-key" not in f"{caught.value!r} {caught.value.__cause__!r}"
    await index.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"index_api_key": None}, "RAG_INDEX_API_KEY"),
        ({"index_url": None}, "RAG_INDEX_URL"),
        ({"index_url": "127.0.0.1:8108"}, "RAG_INDEX_URL"),
        ({"index_url": "ftp://secret:password@host"}, "RAG_INDEX_URL"),
        ({"index_url": "http://:8108"}, "RAG_INDEX_URL"),
        ({"index_url": "http://host:many"}, "RAG_INDEX_URL"),
    ],
)
def test_an_address_that_is_none_is_refused(server: TypesenseServer, changes: dict[str, Any], said: str) -> None:
    """R13.1 and is not repeated: it may hold a password."""
    with pytest.raises(InvalidSettings, match=said) as caught:
        TypesenseIndex(settings_for(server, **changes))
    assert "password" not in str(caught.value)


def test_the_missing_extra_is_named(server: TypesenseServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """R13.1 as in a core install."""
    monkeypatch.setitem(sys.modules, "typesense", None)
    with pytest.raises(MissingExtra, match=r"make install WITH=typesense"):
        TypesenseIndex(settings_for(server))

"""What every ChunkIndex promises, run against each implementation."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from graphrag.models import Collection, Document, VectorKind
from graphrag.models.ingestion import Candidate, IndexEntry
from graphrag.protocols import ChunkIndex
from graphrag.stores.indexes.reconciliation import BOTH, PLAIN, SITUATED
from tests.conformance.indexes import INDEXES
from tests.factories import make_chunk, make_document

PAST, FUTURE = datetime.now(UTC) - timedelta(seconds=1), datetime.now(UTC) + timedelta(hours=1)


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest) -> ChunkIndex:
    found: ChunkIndex = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def collection(owner: str) -> Collection:
    return Collection(uuid4(), owner, "notes", "tiny", has_contextual=True)


def entry(
    text: str = "El horno falló.",
    *vector: float,
    kinds: frozenset[VectorKind] = BOTH,
    document: Document | None = None,
    id: UUID | None = None,
) -> IndexEntry:
    return IndexEntry(
        id or uuid4(), make_chunk(text, document=document or make_document()), vector or (1.0, 0.0), kinds
    )


def around(count: int) -> list[IndexEntry]:
    """From the nearest to [1, 0] to the farthest that is still near it."""
    angles = [number / count for number in range(count)]
    return [entry(f"Frase {number}.", math.cos(angle), math.sin(angle)) for number, angle in enumerate(angles)]


async def near(
    index: ChunkIndex,
    collection: Collection,
    *vector: float,
    kind: VectorKind = "content",
    documents: Sequence[UUID] | None = None,
    limit: int = 10,
) -> list[Candidate]:
    wanted = vector or (1.0, 0.0)
    return await index.search_vectors(collection, wanted, kind=kind, documents=documents, limit=limit)


async def test_stored_entries_are_found(index: ChunkIndex, collection: Collection) -> None:
    """R13 the nearest first, each with its cosine; as many as are asked for."""
    entries = around(30)
    await index.put(collection, entries)
    found = await near(index, collection, limit=5)
    assert [(candidate.entry_id, candidate.chunk_id) for candidate in found] == [
        (of.id, of.chunk.id) for of in entries[:5]
    ]
    assert [candidate.score for candidate in found] == pytest.approx([math.cos(n / 30) for n in range(5)], abs=1e-3)
    assert len(await near(index, collection, limit=100)) == 30
    assert await index.list_entries(collection) == {of.id for of in entries}


async def test_opposite_directions_score_nothing(index: ChunkIndex, collection: Collection) -> None:
    """R13, P7 no score is below 0."""
    await index.put(collection, [entry("Lejos.", -1.0, 0.1)])
    assert [candidate.score for candidate in await near(index, collection)] == [0.0]


async def test_entries_are_stored_and_deleted_in_batches(index: ChunkIndex, collection: Collection) -> None:
    """R13 more than go into one call."""
    entries = around(1_200)
    await index.put(collection, entries)
    assert await index.list_entries(collection) == {of.id for of in entries}
    assert len(await near(index, collection, limit=600)) == 600
    await index.delete(collection, [of.id for of in entries[1:]])
    assert await index.list_entries(collection) == {entries[0].id}


async def test_an_entry_replaces_the_one_with_the_same_id(index: ChunkIndex, collection: Collection) -> None:
    """R13 what is put again is there once."""
    old, new = entry("Antes.", 1.0, 0.0), entry("Ahora.", 0.0, 1.0)
    await index.put(collection, [old])
    await index.put(collection, [replace(new, id=old.id)])
    assert [(of.entry_id, of.chunk_id) for of in await near(index, collection, 0.0, 1.0)] == [(old.id, new.chunk.id)]


async def test_deleted_entries_are_not_found(index: ChunkIndex, collection: Collection) -> None:
    """R13, security 19: entries, documents, a collection; what was never there is no error."""
    first, second = make_document(), make_document()
    entries = [entry(document=of) for of in (first, first, second)]
    await index.put(collection, entries)
    await index.delete(collection, [entries[0].id, uuid4()])
    assert await index.list_entries(collection, [first.id]) == {entries[1].id}
    await index.delete_documents(collection, [first.id, uuid4()])
    assert [of.entry_id for of in await near(index, collection)] == [entries[2].id]
    await index.delete_documents(collection, [])
    await index.delete_collection(collection)
    await index.delete_collection(collection)
    assert (await near(index, collection), await index.list_entries(collection)) == ([], set())


async def test_an_unknown_collection_is_empty(index: ChunkIndex, collection: Collection) -> None:
    """R13 nothing has been put yet."""
    assert (await near(index, collection), await index.list_entries(collection)) == ([], set())
    await index.delete(collection, [uuid4()])
    await index.delete_documents(collection, [uuid4()])


async def test_a_search_is_restricted_to_documents(index: ChunkIndex, collection: Collection) -> None:
    """R13, R4.5 of a thousand, too."""
    documents = [make_document() for _ in range(5)]
    entries = [entry(document=of) for of in documents]
    await index.put(collection, entries)
    wanted = [documents[1].id, documents[3].id]
    assert {of.entry_id for of in await near(index, collection, documents=wanted)} == {entries[1].id, entries[3].id}
    assert await index.list_entries(collection, wanted) == {entries[1].id, entries[3].id}
    many = [*wanted, *(uuid4() for _ in range(998))]
    assert {of.entry_id for of in await near(index, collection, documents=many)} == {entries[1].id, entries[3].id}
    assert await index.list_entries(collection, []) == set()


async def test_vector_kinds_are_searched_separately(index: ChunkIndex, collection: Collection) -> None:
    """R13, R3.7"""
    both, plain, situated = (entry(kinds=kinds) for kinds in (BOTH, PLAIN, SITUATED))
    await index.put(collection, [both, plain, situated])
    assert {of.entry_id for of in await near(index, collection)} == {both.id, plain.id}
    assert {of.entry_id for of in await near(index, collection, kind="contextual")} == {both.id, situated.id}


async def test_expired_entries_are_not_found(index: ChunkIndex, collection: Collection) -> None:
    """R13, R1.8 and takes no place of what has not; then it is deleted, whoever's it is."""
    gone = [entry(document=make_document(expires_at=PAST)) for _ in range(8)]
    kept = [entry("Lejos.", 0.5, 0.5, document=make_document(expires_at=until)) for until in (None, FUTURE)]
    await index.put(collection, [*gone, *kept])
    assert {of.entry_id for of in await near(index, collection, limit=2)} == {of.id for of in kept}
    await index.delete_expired()
    assert await index.list_entries(collection) == {of.id for of in kept}


async def test_nothing_of_another_owner_or_collection_is_found(index: ChunkIndex, collection: Collection) -> None:
    """R13, R4.8 even with the collection's id."""
    mine = entry()
    await index.put(collection, [mine])
    forged, other = replace(collection, owner_id=f"other-{collection.owner_id}"), replace(collection, id=uuid4())
    for stranger in (forged, other):
        assert (await near(index, stranger), await index.list_entries(stranger)) == ([], set())
        await index.delete(stranger, [mine.id])
        await index.delete_documents(stranger, [mine.chunk.document.id])
        await index.delete_collection(stranger)
    assert [of.entry_id for of in await near(index, collection)] == [mine.id]


async def test_embedding_models_are_searched_separately(index: ChunkIndex, collection: Collection) -> None:
    """R13, R3.8 vectors of another length, too; but they are listed and deleted together."""
    moved = replace(collection, embedding_model="larger")
    before, after = entry(), entry("Después.", 0.0, 1.0, 0.0)
    await index.put(collection, [before])
    await index.put(moved, [after])
    assert [of.entry_id for of in await near(index, collection)] == [before.id]
    assert [of.entry_id for of in await near(index, moved, 0.0, 1.0, 0.0)] == [after.id]
    assert await index.list_entries(moved) == {before.id, after.id}
    await index.delete(moved, [before.id])
    assert await index.list_entries(collection) == {after.id}
    await index.delete_collection(collection)
    assert await near(index, moved, 0.0, 1.0, 0.0) == []


async def test_a_zero_vector_is_never_found(index: ChunkIndex, collection: Collection) -> None:
    """R13 an index that holds nothing but vectors passes it over."""
    await index.put(collection, [replace(entry(), vector=None)])
    assert await near(index, collection) == []


async def test_an_index_that_ranks_words_ranks_them(index: ChunkIndex, collection: Collection) -> None:
    """R13, R4.3 those with more of them first, of kind "content", of the owner's documents that are asked."""
    if not index.ranks_words:
        assert await index.search_words(collection, ["horno"], documents=None, limit=9) == []
        return
    best, good = entry("El horno falló de noche."), entry("El horno es nuevo.")
    gone = entry("El horno falló.", document=make_document(expires_at=PAST))
    others = [entry("La cinta es nueva."), entry("El horno falló.", kinds=SITUATED), gone]
    await index.put(collection, [good, *others, best])
    words = ["horno", "falló"]
    found = await index.search_words(collection, words, documents=None, limit=9)
    assert [of.entry_id for of in found] == [best.id, good.id]
    assert all(0 < of.score <= 1 for of in found)
    chosen = await index.search_words(collection, words, documents=[good.chunk.document.id], limit=9)
    assert [of.entry_id for of in chosen] == [good.id]
    assert len(await index.search_words(collection, words, documents=None, limit=1)) == 1
    stranger = replace(collection, owner_id="somebody-else")
    assert await index.search_words(stranger, words, documents=None, limit=9) == []

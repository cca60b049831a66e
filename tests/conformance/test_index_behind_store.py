"""What IndexedStore needs of every ChunkIndex: PostgreSQL's own search is refused, so it stands in for none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from graphrag.models import Filters
from graphrag.models.ingestion import IndexedDocument
from graphrag.protocols import ChunkIndex
from graphrag.services import Services
from graphrag.stores.indexes.indexed_store import IndexedStore
from graphrag.stores.postgres.chunks import PostgresStore
from tests.conformance.indexes import INDEXES
from tests.conformance.test_chunk_store import Shelf, tile
from tests.factories import make_document


@pytest.fixture(params=INDEXES)
def store(request: pytest.FixtureRequest, services: Services, monkeypatch: pytest.MonkeyPatch) -> IndexedStore:
    async def refuse(*_: object, **__: object) -> None:
        raise AssertionError("PostgreSQL was asked")

    monkeypatch.setattr(PostgresStore, "search_vectors", refuse)
    index: ChunkIndex = request.getfixturevalue(request.param)
    return IndexedStore(services.database, index, fulltext_candidates=400, contextual=True)


@pytest.fixture
async def shelf(store: IndexedStore, owner: str) -> Shelf:
    return Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))


async def test_stored_documents_are_found_through_the_index(shelf: Shelf, store: IndexedStore) -> None:
    """R13.1, R13.2 both kinds of vectors, in the index as they were put and as they are read from PostgreSQL."""
    until = datetime.now(UTC).astimezone(timezone(timedelta(hours=5, minutes=30))) + timedelta(hours=1)
    document = make_document(collection_id=shelf.collection.id, expires_at=until, language="fr")
    chunks = tile(document, ["Le four. ", "La pompe. ", "L’été — ñ 🙂."])
    chunks[1] = replace(chunks[1], window_start=2, context="Titre › Pompe")
    plain, situated = [[1.0, 0.1], [0.3, 1.0], [0.0, 0.0]], [[1.0, 0.1], [-1.0, 0.3], [0.0, 0.0]]
    await store.put_documents(shelf.collection, [IndexedDocument(document, chunks, plain, situated)])
    await shelf.put("El horno.", vectors=[[0.7, 0.7]])
    (shelf.collection,) = await store.list_collections(shelf.collection.owner_id)
    first = await store._index.list_entries(shelf.collection)
    for is_refilled in (False, True):
        if is_refilled:
            await store._index.delete_collection(shelf.collection)
            await store.optimize(shelf.collection)
            assert await store._index.list_entries(shelf.collection) == first
        assert (await shelf.near(-1.0, 0.2))[0] == "La pompe. "
        assert len(await shelf.near(-1.0, 0.2)) == 3
        off = await store.configure_collection(shelf.collection, ingestion_config={"contextual_embeddings": False})
        in_context, shelf.collection = shelf.collection, off
        assert await shelf.near(1.0, 0.0, limit=2) == ["Le four. ", "El horno."]
        assert await shelf.near(0.3, 1.0, filters=Filters(languages=("fr",))) == ["La pompe. ", "Le four. "]
        shelf.collection = in_context


async def test_a_new_version_is_found_through_the_index(shelf: Shelf, store: IndexedStore) -> None:
    """R13.1, R13.2, R1.6 at once; of the old nothing is left there."""
    old = await shelf.put(*(f"Versión vieja {number}. " for number in range(4)))
    await shelf.put("Versión nueva.", id=old.id)
    assert await shelf.near(1.0, 0.0) == ["Versión nueva."]
    assert len(await store._index.list_entries(shelf.collection)) == 1

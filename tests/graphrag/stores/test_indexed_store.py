"""PostgreSQL's store beside an index that fails, lags behind, or holds what it should not."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest
from structlog.testing import capture_logs

from graphrag.errors import IndexUnavailable
from graphrag.models import Collection, Document, Filters, Hit
from graphrag.models.ingestion import IndexedDocument, IndexEntry
from graphrag.protocols import ChunkIndex
from graphrag.services import Services
from graphrag.stores.indexes.indexed_store import FAILURES, IndexedStore
from graphrag.stores.indexes.reconciliation import BOTH
from tests.conformance.test_chunk_store import tile
from tests.conformance.toy_index import ToyIndex
from tests.factories import make_chunk, make_document

TEXTS = [f"El horno H{number} falló." for number in range(9)]
FAN = [[1.0, number / 10] for number in range(9)]  # from the nearest to [1, 0] on


@dataclass
class Breakable:
    """An index whose verbs fail while they are named in `broken`."""

    index: ToyIndex = field(default_factory=ToyIndex)
    broken: set[str] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self.index, name)

        async def call(*values: Any, **named: Any) -> Any:
            self.calls[name] += 1
            if name in self.broken:
                raise IndexUnavailable("away, on purpose", index="toy")
            return await verb(*values, **named)

        return call if asyncio.iscoroutinefunction(verb) else verb


@dataclass
class Shelf:
    index: Breakable
    store: IndexedStore
    collection: Collection

    async def put(
        self, *texts: str, vectors: Sequence[Sequence[float]] = (), ticket: Any = None, **fields: Any
    ) -> Document:
        document = make_document(collection_id=self.collection.id, **fields)
        indexed = IndexedDocument(document, tile(document, texts), vectors or [[1.0, 0.0]] * len(texts), ticket=ticket)
        await self.store.put_documents(self.collection, [indexed])
        return document

    async def near(self, *vector: float, limit: int = 9, **options: Any) -> list[str]:
        found = await self.store.search_vectors(self.collection, vector or (1.0, 0.0), limit=limit, **options)
        return [hit.chunk.content for hit in found]

    async def ranked(self, *words: str, limit: int = 9, **options: Any) -> list[str]:
        found = await self.store.search_fulltext(self.collection, words, ranking="index", limit=limit, **options)
        return [hit.chunk.content for hit in found]

    @property
    def held(self) -> list[IndexEntry]:
        entries = self.index.index.entries[self.collection.owner_id, self.collection.id]
        return sorted((entry for _, entry in entries.values()), key=lambda entry: entry.chunk.content)

    @property
    def texts(self) -> list[str]:
        return [entry.chunk.content for entry in self.held]

    async def plant(self, *entries: IndexEntry) -> None:
        await self.index.index.put(self.collection, entries)


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    index = Breakable()
    store = IndexedStore(services.database, cast(ChunkIndex, index), fulltext_candidates=400)
    return Shelf(index, store, await store.create_collection(owner, "notes", embedding_model="tiny"))


async def test_the_index_finds(shelf: Shelf) -> None:
    """R13.2 PostgreSQL is not asked where the index gives enough: what it lacks is not found."""
    await shelf.put(*TEXTS, vectors=FAN)
    nearest = next(entry for entry in shelf.held if entry.chunk.content == TEXTS[0])
    await shelf.index.index.delete(shelf.collection, [nearest.id])
    assert await shelf.near(limit=3) == TEXTS[1:4]


@pytest.mark.parametrize("verb", ["put", "list_entries"])
async def test_what_the_index_refuses_is_not_stored(shelf: Shelf, verb: str) -> None:
    """R13.2, R1.9 the version before stays, here and there."""
    old = await shelf.put("La versión vieja.")
    before = shelf.held
    shelf.index.broken = {verb}
    with pytest.raises(IndexUnavailable, match="on purpose"):
        await shelf.put("La nueva.", id=old.id)
    assert shelf.held == before
    assert await shelf.store.list_documents(shelf.collection) == [old]
    assert await shelf.near() == ["La versión vieja."]


async def test_what_postgresql_refuses_is_taken_back(shelf: Shelf) -> None:
    """R13.2 nothing of it stays in the index, and what was there before does."""
    old = await shelf.put("La versión vieja.", "Lo que sigue igual.")
    twice = make_document(id=old.id, collection_id=shelf.collection.id)
    chunks = tile(twice, ["Nueva.", "Nueva."])
    clash = IndexedDocument(twice, [chunks[0], replace(chunks[1], id=chunks[0].id)], [[1.0, 0.0]] * 2)
    before = shelf.held
    with pytest.raises(psycopg.errors.UniqueViolation):
        await shelf.store.put_documents(shelf.collection, [clash])
    assert shelf.held == before
    assert len(await shelf.near()) == 2


async def test_what_another_ingestion_replaces_leaves_the_stored_version(shelf: Shelf) -> None:
    """R13.2, R1.6 its ticket is no longer wanted: nothing of it stays, and nothing of the stored is lost."""
    old = await shelf.put("La versión vieja.")
    await shelf.put("La que nadie quiere.", id=old.id, ticket=uuid4())
    assert shelf.texts == ["La versión vieja."]
    assert await shelf.near() == ["La versión vieja."]


async def test_a_new_version_takes_the_place_of_the_old(shelf: Shelf) -> None:
    """R13.2, R1.6 also where the chunks' ids come again with another text; what can't be deleted is never found."""
    old = await shelf.put("La versión vieja.")
    (chunk,) = [entry.chunk for entry in shelf.held]
    shelf.index.broken = {"delete"}
    new = replace(chunk, content="La versión nueva.", end_char=17)
    with capture_logs() as logs:
        await shelf.store.put_documents(shelf.collection, [IndexedDocument(old, [new], [[1.0, 0.0]])])
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("index not updated", "warning")]
    assert shelf.texts == ["La versión nueva.", "La versión vieja."]
    assert (await shelf.near(), await shelf.ranked("versión")) == (["La versión nueva."], ["La versión nueva."])
    shelf.index.broken = set()
    await shelf.store.optimize(shelf.collection)
    assert shelf.texts == ["La versión nueva."]


async def test_postgresql_searches_while_the_index_fails(shelf: Shelf) -> None:
    """R13.2, R11.1 told in the log; after two failures the index is left alone, as /health tells."""
    await shelf.put(*TEXTS, vectors=FAN)
    shelf.index.broken = {"search_vectors", "search_words"}
    with capture_logs() as logs:
        for _ in range(FAILURES + 2):
            assert await shelf.near(limit=3) == TEXTS[:3]
    assert [entry["log_level"] for entry in logs if entry["event"] == "index failed, PostgreSQL searches instead"] == [
        "warning"
    ] * (FAILURES + 2)
    assert shelf.index.calls["search_vectors"] == FAILURES
    (state,) = shelf.store.breaker.states()
    assert (state.name, state.state) == ("toy", "open")
    assert len(await shelf.ranked("horno")) == 9


async def test_nothing_planted_in_the_index_is_found(shelf: Shelf, services: Services, owner: str) -> None:
    """R13.2, R4.8, R9.4 not what is another owner's, expired, deleted, of another text or collection."""
    mine = await shelf.put("El horno mío.", vectors=[[1.0, 0.9]])
    theirs = await shelf.store.create_collection(f"other-{owner}", "notes", embedding_model="tiny")
    foreign = make_document(collection_id=theirs.id)
    foreign_chunks = tile(foreign, ["El horno ajeno."])
    await shelf.store.put_documents(theirs, [IndexedDocument(foreign, foreign_chunks, [[1.0, 0.0]])])
    gone = await shelf.put("El horno caducado.", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    (known,) = [entry for entry in shelf.held if entry.chunk.document == mine]
    planted = [
        IndexEntry(uuid4(), make_chunk("El horno de nadie.", document=make_document()), [1.0, 0.0], BOTH),
        IndexEntry(uuid4(), replace(known.chunk, content="El horno de antes."), [1.0, 0.0], BOTH),
        *(replace(entry, id=entry.id) for _, entry in shelf.index.index.entries[theirs.owner_id, theirs.id].values()),
    ]
    expired = [replace(of.chunk, document=replace(gone, expires_at=None)) for of in shelf.held if of is not known]
    await shelf.plant(*planted, *(IndexEntry(uuid4(), chunk, [1.0, 0.0], BOTH) for chunk in expired))
    assert await shelf.near() == ["El horno mío."]
    assert await shelf.near(limit=1) == ["El horno mío."]
    assert await shelf.ranked("horno") == ["El horno mío."]
    assert await shelf.near(filters=Filters(languages=("es",))) == ["El horno mío."]


async def test_what_is_stale_takes_no_place(shelf: Shelf) -> None:
    """R13.2 more candidates are asked for until there are enough."""
    await shelf.put(*TEXTS, vectors=FAN)
    stale = [IndexEntry(uuid4(), make_chunk("Nada.", document=make_document()), [1.0, 0.0], BOTH) for _ in range(20)]
    await shelf.plant(*stale)
    assert await shelf.near(limit=3) == TEXTS[:3]
    assert shelf.index.calls["search_vectors"] == 3  # 6, 12, 24 candidates


async def test_filters_are_sent_to_the_index(shelf: Shelf) -> None:
    """R13.2, R4.5 what does not pass takes no place; where nothing passes, nobody is asked."""
    await shelf.put(*TEXTS, vectors=FAN)
    await shelf.put("The oven failed.", vectors=[[0.1, 1.0]], language="en")
    assert await shelf.near(limit=1, filters=Filters(languages=("en",))) == ["The oven failed."]
    assert await shelf.near(filters=Filters(languages=("fr",))) == []
    assert shelf.index.calls["search_vectors"] == 1


async def test_what_is_deleted_leaves_the_index_first(shelf: Shelf) -> None:
    """R13.2, R9.4 while the index is away nothing is deleted; then it can be done again."""
    document = await shelf.put("El secreto.")
    shelf.index.broken = {"delete_documents", "delete_collection"}
    for delete in (
        shelf.store.delete_document(shelf.collection, document.id),
        shelf.store.delete_collection(shelf.collection),
    ):
        with pytest.raises(IndexUnavailable):
            await delete
    assert await shelf.near() == ["El secreto."]
    shelf.index.broken = set()
    assert await shelf.store.delete_document(shelf.collection, document.id)
    assert (shelf.held, await shelf.near()) == ([], [])
    await shelf.put("Otro.")
    assert await shelf.store.delete_collection(shelf.collection)
    assert shelf.held == []


async def test_an_empty_index_is_filled_and_a_strange_entry_removed(shelf: Shelf, services: Services) -> None:
    """R13.2 a database from before RAG_INDEX was set, a restored backup; until then PostgreSQL searches."""
    document = make_document(collection_id=shelf.collection.id)
    chunks, past = tile(document, TEXTS), datetime.now(UTC) - timedelta(seconds=1)
    situated = [*FAN[:8], [-1.0, 0.5]]
    await services.store.put_documents(shelf.collection, [IndexedDocument(document, chunks, FAN, situated)])
    assert await shelf.near(limit=2) == TEXTS[:2]
    gone = IndexEntry(uuid4(), make_chunk("Caducado.", document=make_document(expires_at=past)), [1.0, 0.0], BOTH)
    await shelf.plant(gone, IndexEntry(uuid4(), make_chunk("Ajeno.", document=make_document()), [1.0, 0.0], BOTH))
    await shelf.store.optimize(shelf.collection)
    assert shelf.texts == sorted([*TEXTS, TEXTS[8]])
    by_index = await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=2)
    assert [hit.chunk.content for hit in by_index] == TEXTS[:2]
    assert [sorted(entry.kinds) for entry in shelf.held[-2:]] in (
        [["content"], ["contextual"]],
        [["contextual"], ["content"]],
    )
    wanted = shelf.held
    await shelf.put("Uno más.", id=(again := uuid4()))
    await shelf.store.delete_document(shelf.collection, again)
    assert shelf.held == wanted
    puts = shelf.index.calls["put"]
    await shelf.store.optimize(shelf.collection)
    assert shelf.index.calls["put"] == puts  # nothing is put that is there


async def test_another_embedding_model_is_searched_at_once(shelf: Shelf, services: Services) -> None:
    """R13.2, R3.8 by PostgreSQL until the index has its vectors; those of the model before leave it."""
    await shelf.put(*TEXTS, vectors=FAN)
    async with services.database.transaction(shelf.collection.owner_id) as connection:
        key = [shelf.collection.id]
        await connection.execute(
            "INSERT INTO chunk_embeddings (collection_id, chunk_id, owner_id, model, kind, embedding)"
            " SELECT collection_id, chunk_id, owner_id, 'larger', kind, '[0, 1, 0]' FROM chunk_embeddings"
            " WHERE collection_id = %s",
            key,
        )
        await connection.execute("UPDATE collections SET embedding_model = 'larger' WHERE collection_id = %s", key)
    (moved,) = await shelf.store.list_collections(shelf.collection.owner_id)

    async def near() -> list[Hit]:
        return await shelf.store.search_vectors(moved, [0.0, 1.0, 0.0], limit=9)

    assert [hit.score for hit in await near()] == [1.0] * 9
    await shelf.store.optimize(shelf.collection)  # as it was known before
    assert {len(entry.vector or ()) for entry in shelf.held} == {3}
    assert len(shelf.held) == len(await near()) == 9
    assert len(await shelf.near()) == 9  # who asks with the model before is answered by PostgreSQL


async def test_the_index_ranks_words_where_that_is_wanted(shelf: Shelf) -> None:
    """R13.1, R4.3 phrases must still match as phrases; without the index it is BM25."""
    rare, common = "La cinta se rompió, la cinta.", "El horno y la cinta."
    await shelf.put(common, rare)
    assert await shelf.ranked("horno", "cinta") == [common, rare]
    assert await shelf.ranked("cinta", "rompió", phrases=["la cinta"], limit=1) == [rare]
    assert await shelf.ranked("horno", "cinta", phrases=["cinta se rompió"]) == [rare]
    assert await shelf.ranked("horno", "cinta", phrases=["nada de eso"]) == []
    (hit, _) = await shelf.store.search_fulltext(shelf.collection, ["cinta"], ranking="index", limit=9)
    assert (hit.score, hit.scores) == (1.0, {"fulltext": 1.0})
    asked = shelf.index.calls["search_words"]
    assert len(await shelf.store.search_fulltext(shelf.collection, ["cinta"], limit=9)) == 2
    assert shelf.index.calls["search_words"] == asked
    shelf.index.index.ranks_words = False
    assert await shelf.ranked("cinta", limit=1) == [rare]
    assert shelf.index.calls["search_words"] == asked


async def test_searches_meanwhile_see_one_version(shelf: Shelf) -> None:
    """R13.2, R1.6 a document that is indexed anew is found as it was or as it is, never both, never not at all."""
    versions = [[f"Versión {number}, parte {part}." for part in range(3)] for number in range(6)]
    old = await shelf.put(*versions[0])
    done = asyncio.Event()
    seen: list[set[str]] = []

    async def search() -> None:
        while not done.is_set():
            seen.append(set(await shelf.near()))

    async def write() -> None:
        for texts in versions[1:]:
            await shelf.put(*texts, id=old.id)
        done.set()

    await asyncio.gather(search(), search(), write())
    assert len(seen) > 2
    assert [found for found in seen if found not in map(set, versions)] == []
    assert shelf.texts == versions[-1]

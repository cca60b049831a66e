"""What every ChunkStore promises, run against each implementation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest

from graphrag.models import Chunk, Collection, Document, IndexedDocument
from graphrag.protocols import ChunkStore
from graphrag.services import Services
from graphrag.testing import InMemoryStore
from tests.factories import CREATED_AT, make_chunk, make_document


@dataclass
class Shelf:
    """A store and a collection in it that nobody else has."""

    store: ChunkStore
    collection: Collection

    async def put(self, *texts: str, vectors: Sequence[Sequence[float]] | None = None, **overrides: object) -> Document:
        document = make_document(collection_id=self.collection.id, **overrides)
        indexed = IndexedDocument(document, tile(document, texts), vectors or [[1.0, 0.0]] * len(texts))
        await self.store.put_documents(self.collection, [indexed])
        return document

    async def found(self, *words: str, phrases: Sequence[str] = (), limit: int = 10) -> list[str]:
        hits = await self.store.search_fulltext(self.collection, words, phrases=phrases, limit=limit)
        return [hit.chunk.content for hit in hits]


def tile(document: Document, texts: Sequence[str]) -> list[Chunk]:
    starts = [sum(map(len, texts[:index])) for index in range(len(texts))]
    return [
        make_chunk(text, document=document, index=index, start_char=start)
        for index, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]


@pytest.fixture(params=["postgres", "memory"])
def store(request: pytest.FixtureRequest, services: Services) -> ChunkStore:
    return services.store if request.param == "postgres" else InMemoryStore()


@pytest.fixture
async def shelf(store: ChunkStore, owner: str) -> Shelf:
    return Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))


async def test_collection_is_made_once(store: ChunkStore, owner: str) -> None:
    """R9.3 a collection has one name and one embedding model."""
    made = await store.create_collection(owner, "notes", embedding_model="tiny")
    again = await store.create_collection(owner, "notes", embedding_model="other")
    assert again == made
    assert await store.list_collections(owner) == [made]
    assert made.embedding_model == "tiny"


async def test_collections_are_listed_by_name(store: ChunkStore, owner: str) -> None:
    for name in ("letters", "archive", "notes"):
        await store.create_collection(owner, name, embedding_model="tiny")
    assert [collection.name for collection in await store.list_collections(owner)] == ["archive", "letters", "notes"]


async def test_stored_document_comes_back_whole(shelf: Shelf) -> None:
    """R2.3 index, offsets and parent; R4.7 metadata."""
    document = await shelf.put("El horno H2 falló. ", "La galleta salió húmeda.")
    hits = await shelf.store.search_fulltext(shelf.collection, ["galleta"], limit=5)
    expected = tile(document, ["El horno H2 falló. ", "La galleta salió húmeda."])[1]
    found = hits[0].chunk
    assert found.document == document
    assert (found.content, found.index, found.start_char, found.end_char, found.window_start, found.context) == (
        expected.content,
        expected.index,
        expected.start_char,
        expected.end_char,
        expected.window_start,
        expected.context,
    )
    assert await shelf.store.list_documents(shelf.collection) == [document]
    assert await shelf.store.find_document(shelf.collection, content_hash=document.content_hash) == document


async def test_unknown_content_is_not_found(shelf: Shelf) -> None:
    await shelf.put("Algo.")
    assert await shelf.store.find_document(shelf.collection, content_hash="0" * 64) is None


async def test_replaced_document_leaves_nothing_of_the_old(shelf: Shelf) -> None:
    """R1.6 replaced at once and whole."""
    old = await shelf.put("La cisterna reventó.", "El tejado cedió.")
    new = make_document(id=old.id, source=old.source, collection_id=shelf.collection.id, title="Otro")
    await shelf.store.put_documents(
        shelf.collection, [IndexedDocument(new, tile(new, ["La bomba aguantó."]), [[0.0, 1.0]])]
    )
    assert await shelf.found("cisterna", "tejado") == []
    assert await shelf.found("bomba") == ["La bomba aguantó."]
    assert [hit.chunk.content for hit in await shelf.store.search_vectors(shelf.collection, [1.0, 1.0], limit=9)] == [
        "La bomba aguantó."
    ]
    assert await shelf.store.list_documents(shelf.collection) == [new]


async def test_deleted_document_is_never_found(shelf: Shelf) -> None:
    """Security 19."""
    document = await shelf.put("La cisterna reventó.")
    await shelf.put("La cisterna nueva funciona.")
    assert await shelf.store.delete_document(shelf.collection, document.id)
    assert not await shelf.store.delete_document(shelf.collection, document.id)
    assert await shelf.found("cisterna") == ["La cisterna nueva funciona."]
    assert len(await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9)) == 1
    assert await shelf.store.find_document(shelf.collection, content_hash=document.content_hash) is None
    assert await shelf.store.read_chunks(shelf.collection, [(document.id, 0, 9)]) == {}


async def test_deleted_collection_leaves_nothing(shelf: Shelf, owner: str) -> None:
    """R9.3 its name is free again, its neighbours stay."""
    document = await shelf.put("La cisterna reventó.")
    other = Shelf(shelf.store, await shelf.store.create_collection(owner, "other", embedding_model="tiny"))
    await other.put("La cisterna nueva funciona.")
    assert await shelf.store.delete_collection(shelf.collection)
    assert not await shelf.store.delete_collection(shelf.collection)
    assert [collection.name for collection in await shelf.store.list_collections(owner)] == ["other"]
    assert await shelf.found("cisterna") == []
    assert await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9) == []
    assert await shelf.store.read_chunks(shelf.collection, [(document.id, 0, 9)]) == {}
    assert await other.found("cisterna") == ["La cisterna nueva funciona."]
    again = await shelf.store.create_collection(owner, "notes", embedding_model="tiny")
    assert (again.chunk_count, await shelf.store.list_documents(again)) == (0, [])


async def test_rare_words_rank_above_common_ones(shelf: Shelf) -> None:
    """R4.3 BM25."""
    for number in range(8):
        await shelf.put(f"El horno trabaja el día {number}.")
    await shelf.put("El retén se rompió en el horno.")
    assert (await shelf.found("retén", "horno"))[0] == "El retén se rompió en el horno."


async def test_forms_and_accents_of_a_word_meet(shelf: Shelf) -> None:
    """R4.3 stemming by the document's language, accents folded on both sides."""
    await shelf.put("Las instalaciones eléctricas fallaron.", language="es")
    await shelf.put("L'école a commandé des machines.", language="fr")
    await shelf.put("The machines were running all night.", language="en")
    assert await shelf.found("electrica") == ["Las instalaciones eléctricas fallaron."]
    assert await shelf.found("ELÉCTRICO") == ["Las instalaciones eléctricas fallaron."]
    assert await shelf.found("ecole") == ["L'école a commandé des machines."]
    assert await shelf.found("run") == ["The machines were running all night."]
    assert len(await shelf.found("machine")) == 2


async def test_phrase_must_match_as_a_phrase(shelf: Shelf) -> None:
    """R4.3 phrases in quotes."""
    await shelf.put("El aviso de fuga llegó tarde.")
    await shelf.put("La fuga llegó antes que el aviso.")
    assert await shelf.found("aviso", "fuga", phrases=["aviso de fuga"]) == ["El aviso de fuga llegó tarde."]
    assert await shelf.found("aviso", "fuga", phrases=["aviso de fuga", "llegó antes"]) == []


@pytest.mark.parametrize(
    "words", [["'"], [":*"], ["<->", "|", "&", "!"], ["\\"], ['"'], ["%s", "%(x)s"], ["x" * 9_000]]
)
async def test_any_punctuation_is_safe(shelf: Shelf, words: list[str]) -> None:
    """Security 10, 12."""
    await shelf.put("El horno funciona.")
    assert await shelf.found(*words, phrases=words) == []
    assert await shelf.found("horno", *words) == ["El horno funciona."]


async def test_scores_lie_between_0_and_1(shelf: Shelf) -> None:
    """P7."""
    await shelf.put("horno horno horno", "horno retén", vectors=[[1.0, 0.0], [-1.0, 0.1]])
    hits = [
        *await shelf.store.search_fulltext(shelf.collection, ["horno", "retén"], limit=9),
        *await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9),
    ]
    assert len(hits) == 4
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_each_leg_names_its_score(shelf: Shelf) -> None:
    """R4.7 scores of each stage."""
    await shelf.put("horno")
    (by_words,) = await shelf.store.search_fulltext(shelf.collection, ["horno"], limit=9)
    (by_vector,) = await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9)
    assert by_words.scores == {"fulltext": by_words.score}
    assert by_vector.scores == {"vector": by_vector.score}


async def test_nearest_vectors_come_first(shelf: Shelf) -> None:
    """R4.1 cosine similarity."""
    angles = [0.1, 1.2, 0.6]
    await shelf.put("a", "b", "c", vectors=[[math.cos(angle), math.sin(angle)] for angle in angles])
    hits = await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=2)
    assert [hit.chunk.content for hit in hits] == ["a", "c"]
    assert hits[0].score == pytest.approx(math.cos(0.1), abs=1e-3)


async def test_vector_without_direction_is_never_near(shelf: Shelf) -> None:
    """A text that the embedding model knows no word of has the zero vector."""
    await shelf.put("a", "b", vectors=[[0.0, 0.0], [0.5, 0.5]])
    assert [hit.chunk.content for hit in await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9)] == [
        "b"
    ]


async def test_ties_go_to_the_more_recent_document(shelf: Shelf) -> None:
    """R4.6."""
    for days in (2, 0, 1):
        await shelf.put("horno", title=str(days), created_at=CREATED_AT - timedelta(days=days))
    by_words = await shelf.store.search_fulltext(shelf.collection, ["horno"], limit=9)
    by_vector = await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9)
    assert [hit.chunk.document.title for hit in by_words] == ["0", "1", "2"]
    assert [hit.chunk.document.title for hit in by_vector] == ["0", "1", "2"]


async def test_search_is_deterministic(shelf: Shelf) -> None:
    """P4."""
    for _ in range(6):
        await shelf.put("horno y retén")
    first = await shelf.store.search_fulltext(shelf.collection, ["horno"], limit=4)
    assert [hit.chunk.id for hit in first] == [
        hit.chunk.id for hit in await shelf.store.search_fulltext(shelf.collection, ["horno"], limit=4)
    ]
    assert len(first) == 4


async def test_chunks_are_read_by_span_in_order(shelf: Shelf) -> None:
    """R2.4 what expansion reads."""
    document = await shelf.put(*(f"Frase {number}. " for number in range(6)))
    other = await shelf.put("Otra.")
    read = await shelf.store.read_chunks(
        shelf.collection, [(document.id, 3, 9), (document.id, 2, 4), (other.id, 0, 0), (uuid4(), 0, 3)]
    )
    assert {key: [chunk.index for chunk in chunks] for key, chunks in read.items()} == {
        document.id: [2, 3, 4, 5],
        other.id: [0],
    }
    assert await shelf.store.read_chunks(shelf.collection, []) == {}


async def test_nothing_of_another_owner_is_seen_or_changed(store: ChunkStore, owner: str) -> None:
    """R4.8 even with the collection's id."""
    mine = Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))
    document = await mine.put("El secreto del horno.")
    theirs = await store.create_collection(f"other-{owner}", "notes", embedding_model="tiny")
    forged = Collection(mine.collection.id, theirs.owner_id, "notes", "tiny")
    for collection in (theirs, forged):
        assert await store.search_fulltext(collection, ["secreto"], limit=9) == []
        assert await store.search_vectors(collection, [1.0, 0.0], limit=9) == []
        assert await store.list_documents(collection) == []
        assert await store.find_document(collection, content_hash=document.content_hash) is None
        assert await store.read_chunks(collection, [(document.id, 0, 9)]) == {}
        assert not await store.delete_document(collection, document.id)
    assert not await store.delete_collection(forged)
    assert await mine.found("secreto") == ["El secreto del horno."]
    assert [collection.owner_id for collection in await store.list_collections(owner)] == [owner]


async def test_failed_store_changes_nothing(shelf: Shelf) -> None:
    """R1.9 whole or not at all."""
    old = await shelf.put("La versión vieja.")
    new = make_document(id=old.id, source=old.source, collection_id=shelf.collection.id)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        await shelf.store.put_documents(
            shelf.collection, [IndexedDocument(new, tile(new, ["La nueva.", "Versión."]), [[1.0, 0.0]])]
        )
    assert await shelf.found("versión") == ["La versión vieja."]
    assert await shelf.found("nueva") == []

"""What every ChunkStore promises, run against each implementation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from graphrag.errors import CollectionChanged, CollectionExists, CollectionNotFound, InvalidSettings
from graphrag.models import Chunk, Collection, Document, Filters, Synonym
from graphrag.models.ingestion import IndexedDocument
from graphrag.protocols import ChunkIndex, ChunkStore
from graphrag.services import Services
from graphrag.stores.indexes.indexed_store import IndexedStore
from graphrag.stores.postgres.chunks import PostgresStore
from graphrag.testing.in_memory_store import InMemoryStore
from tests.conformance.indexes import INDEXES
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

    async def found(self, *words: str, limit: int = 10, **options: Any) -> list[str]:
        hits = await self.store.search_fulltext(self.collection, words, limit=limit, **options)
        return [hit.chunk.content for hit in hits]

    async def near(self, *vector: float, limit: int = 10, **options: Any) -> list[str]:
        hits = await self.store.search_vectors(self.collection, vector, limit=limit, **options)
        return [hit.chunk.content for hit in hits]


def tile(document: Document, texts: Sequence[str]) -> list[Chunk]:
    starts = [sum(map(len, texts[:index])) for index in range(len(texts))]
    return [
        make_chunk(text, document=document, index=index, start_char=start)
        for index, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]


@pytest.fixture(params=["postgres", "memory", *INDEXES])
def store(request: pytest.FixtureRequest, services: Services) -> ChunkStore:
    if request.param in ("postgres", "memory"):
        return services.store if request.param == "postgres" else InMemoryStore()
    index: ChunkIndex = request.getfixturevalue(request.param)
    return IndexedStore(services.database, index, fulltext_candidates=400)


@pytest.fixture
async def shelf(store: ChunkStore, owner: str) -> Shelf:
    return Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))


async def test_a_collection_is_created_once(store: ChunkStore, owner: str) -> None:
    """R9.3 a collection has one name and one embedding model."""
    made = await store.create_collection(owner, "notes", embedding_model="tiny")
    again = await store.create_collection(owner, "notes", embedding_model="other")
    assert again == made
    assert await store.list_collections(owner) == [made]
    assert made.embedding_model == "tiny"


async def test_creating_an_existing_collection_anew_fails(store: ChunkStore, owner: str) -> None:
    """R9.3 whoever wants a new one is told that there is one already; another owner's is none."""
    made = await store.create_collection(owner, "notes", embedding_model="tiny", is_new=True)
    with pytest.raises(CollectionExists, match="notes"):
        await store.create_collection(owner, "notes", embedding_model="tiny", is_new=True)
    assert await store.list_collections(owner) == [made]
    assert await store.create_collection(f"other-{owner}", "notes", embedding_model="tiny", is_new=True) != made


async def test_collection_metadata_is_stored(shelf: Shelf) -> None:
    """R9.3 in place of what was noted before, beside its configuration."""
    assert shelf.collection.metadata == {}
    noted = {"team": "calidad", "nested": {"list": [1, None, "ñ"]}}
    await shelf.store.configure_collection(shelf.collection, {"top_k": 7}, metadata=noted)
    configured = await shelf.store.configure_collection(shelf.collection, {"top_k": 8})
    assert (configured.metadata, configured.config) == (noted, {"top_k": 8})
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [configured]
    assert (await shelf.store.configure_collection(configured, metadata={})).metadata == {}


async def test_a_collection_is_renamed(shelf: Shelf) -> None:
    """R9.3 with all that is in it; a name that another one has is refused, and a stranger renames none."""
    await shelf.put("El horno H2 falló.")
    owner, model = shelf.collection.owner_id, shelf.collection.embedding_model
    renamed = await shelf.store.rename_collection(shelf.collection, "hornos")
    assert (renamed.id, renamed.name) == (shelf.collection.id, "hornos")
    assert await shelf.store.rename_collection(renamed, "hornos") == renamed
    assert await shelf.found("horno") == ["El horno H2 falló."]
    other = await shelf.store.create_collection(owner, "moldes", embedding_model=model)
    with pytest.raises(CollectionExists):
        await shelf.store.rename_collection(other, "hornos")
    with pytest.raises(CollectionNotFound):
        await shelf.store.rename_collection(replace(renamed, owner_id="somebody-else"), "mine")
    assert [known.name for known in await shelf.store.list_collections(owner)] == ["hornos", "moldes"]


async def test_document_metadata_is_stored(shelf: Shelf) -> None:
    """R9.3, R4.7 with each of its hits."""
    known = {"author": {"name": "Ñuño"}, "pages": [1, 2.5, None, True]}
    document = await shelf.put("El horno H2 falló.", metadata=known)
    (hit,) = await shelf.store.search_fulltext(shelf.collection, ["horno"], limit=1)
    assert hit.chunk.document.metadata == known
    assert await shelf.store.find_documents(shelf.collection, ids=[document.id]) == [document]


async def test_documents_are_deleted_in_batches(shelf: Shelf) -> None:
    """R9.4 which there were is said; the others stay as they are, and a stranger deletes none."""
    first, second = await shelf.put("El horno falló."), await shelf.put("El horno funciona.")
    kept = await shelf.put("El horno es nuevo.")
    unknown = uuid4()
    stranger = replace(shelf.collection, owner_id="somebody-else")
    assert await shelf.store.delete_documents(stranger, [first.id]) == []
    deleted = await shelf.store.delete_documents(shelf.collection, [second.id, unknown, first.id, first.id])
    assert sorted(deleted) == sorted([first.id, second.id])
    assert await shelf.found("horno") == ["El horno es nuevo."]
    assert await shelf.store.list_documents(shelf.collection) == [kept]
    (collection,) = await shelf.store.list_collections(shelf.collection.owner_id)
    assert collection.chunk_count == 1
    assert await shelf.store.delete_documents(shelf.collection, [first.id]) == []
    assert await shelf.store.delete_documents(shelf.collection, []) == []


async def test_collections_are_listed_by_name(store: ChunkStore, owner: str) -> None:
    for name in ("letters", "archive", "notes"):
        await store.create_collection(owner, name, embedding_model="tiny")
    assert [collection.name for collection in await store.list_collections(owner)] == ["archive", "letters", "notes"]


async def test_collection_configuration_is_stored(shelf: Shelf) -> None:
    """R4.10 per collection; a new one takes the place of the old; its documents are as they were."""
    assert shelf.collection.config == {}
    configured = await shelf.store.configure_collection(shelf.collection, {"strategy": "hybrid", "top_k": "7"})
    assert configured.config == {"strategy": "hybrid", "top_k": 7}
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [configured]
    assert configured.revision == shelf.collection.revision
    again = await shelf.store.configure_collection(configured, {"rerank": False})
    assert (again.config, again.id) == ({"rerank": False}, shelf.collection.id)


async def test_generation_configuration_is_stored(shelf: Shelf) -> None:
    """R8.1, R8.8 beside its other configurations, each of which stays as it is when another one is given."""
    assert shelf.collection.generation_config == {}
    values = {"chat_model": "ollama:llama3", "system_prompt": "Tutea.\nSé breve."}
    await shelf.store.configure_collection(shelf.collection, {"top_k": 7}, ingestion_config={"chunk_tokens": 99})
    configured = await shelf.store.configure_collection(shelf.collection, generation_config=values)
    assert configured.generation_config == values
    assert (configured.config, configured.ingestion_config) == ({"top_k": 7}, {"chunk_tokens": 99})
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [configured]
    made = await shelf.store.create_collection(
        configured.owner_id, configured.name, embedding_model=configured.embedding_model
    )
    assert made == configured
    again = await shelf.store.configure_collection(configured, generation_config={"chat_model": "extractive"})
    assert again.generation_config == {"chat_model": "extractive"}
    for wrong in ({"system_prompt": "a" * 4001}, {"system_prompt": "a\0b"}, {"system_prompt": "\ud800"}, {"magic": 1}):
        with pytest.raises(InvalidSettings):
            await shelf.store.configure_collection(again, generation_config=wrong)
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [again]


async def test_an_invalid_configuration_changes_nothing(shelf: Shelf) -> None:
    """R4.10 checked when it is set, as a whole."""
    wrong: list[dict[str, object]] = [{"top_k": 0}, {"magic": 1}, {"strategy": "magic"}, {"top_k": 5, "rrf_k": "magic"}]
    for config in wrong:
        with pytest.raises(InvalidSettings, match="Known: strategy, "):
            await shelf.store.configure_collection(shelf.collection, config)
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [shelf.collection]


async def test_other_owners_cannot_configure_a_collection(shelf: Shelf) -> None:
    """R4.8"""
    stranger = replace(shelf.collection, owner_id="somebody-else")
    with pytest.raises(CollectionNotFound, match="notes"):
        await shelf.store.configure_collection(stranger, {"top_k": 1})
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [shelf.collection]


async def test_stored_documents_are_returned_complete(shelf: Shelf) -> None:
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
    assert await shelf.store.find_documents(shelf.collection, content_hashes=[document.content_hash]) == [document]


async def test_unknown_content_is_not_found(shelf: Shelf) -> None:
    await shelf.put("Algo.")
    assert await shelf.store.find_documents(shelf.collection, content_hashes=["0" * 64]) == []


async def test_replacing_a_document_removes_the_old_version(shelf: Shelf) -> None:
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


async def test_deleted_documents_are_never_found(shelf: Shelf) -> None:
    """Security 19."""
    document = await shelf.put("La cisterna reventó.")
    await shelf.put("La cisterna nueva funciona.")
    assert await shelf.store.delete_document(shelf.collection, document.id)
    assert not await shelf.store.delete_document(shelf.collection, document.id)
    assert await shelf.found("cisterna") == ["La cisterna nueva funciona."]
    assert len(await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9)) == 1
    assert await shelf.store.find_documents(shelf.collection, content_hashes=[document.content_hash]) == []
    assert await shelf.store.read_chunks(shelf.collection, [(document.id, 0, 9)]) == {}


async def test_deleting_a_collection_removes_everything(shelf: Shelf, owner: str) -> None:
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


async def test_inflected_forms_and_accents_match(shelf: Shelf) -> None:
    """R4.3 stemming by the document's language, accents folded on both sides."""
    await shelf.put("Las instalaciones eléctricas fallaron.", language="es")
    await shelf.put("L'école a commandé des machines.", language="fr")
    await shelf.put("The machines were running all night.", language="en")
    assert await shelf.found("electrica") == ["Las instalaciones eléctricas fallaron."]
    assert await shelf.found("ELÉCTRICO") == ["Las instalaciones eléctricas fallaron."]
    assert await shelf.found("ecole") == ["L'école a commandé des machines."]
    assert await shelf.found("run") == ["The machines were running all night."]
    assert len(await shelf.found("machine")) == 2


async def test_codes_are_found_by_their_parts(shelf: Shelf) -> None:
    """R4.3 The number of a code is a word, whatever stands before it."""
    await shelf.put(
        "Commande: E-40916; Statut: Livrée", "Commande: E-40917; Statut: En douane", "Prévoir 409170 unités"
    )
    for words in (("E", "40917"), ("40917",)):
        assert await shelf.found(*words) == ["Commande: E-40917; Statut: En douane"], words


async def test_synonyms_count_less_than_the_words_themselves(shelf: Shelf) -> None:
    """R4.3 In chunks of their language alone."""
    await shelf.put("La livraison arrive demain.", language="fr")
    await shelf.put("La entrega llega mañana.", language="es")
    await shelf.put("El envío sale hoy.", language="es")
    synonyms = [Synonym(0, "fr", "livraison"), Synonym(0, "es", "envío"), Synonym(0, "en", "delivery")]
    assert await shelf.found("entrega") == ["La entrega llega mañana."]
    first, *others = await shelf.found("entrega", synonyms=synonyms)
    assert first == "La entrega llega mañana."
    assert sorted(others) == ["El envío sale hoy.", "La livraison arrive demain."]
    hits = await shelf.store.search_fulltext(shelf.collection, ["entrega"], synonyms=synonyms, limit=9)
    assert all(0 < hit.score <= 1 for hit in hits)


async def test_joined_words_are_found_as_written(shelf: Shelf) -> None:
    """R4.3 What a parser keeps whole is found beside its parts."""
    await shelf.put("Invoice INV/2025/0041 is open.", "Invoice INV/2025/0042 was paid.")
    words = ("INV", "2025", "0042", "INV/2025/0042")
    assert (await shelf.found(*words))[0] == "Invoice INV/2025/0042 was paid."


async def test_what_a_parser_keeps_whole_is_found_by_a_part(shelf: Shelf) -> None:
    """R4.3 Whatever the parser makes of the whole."""
    parts = {
        "INV/2025/0042": "0042",
        "ana.bofill@example.org": "bofill",
        "/srv/orders/paid.csv": "paid",
        "KLM_20417": "20417",
        "v2.14.31": "v2.14.31",
        "4455-9921-7730": "9921",
    }
    await shelf.put(*(f"Expediente {written} archivado." for written in (*parts, "INV/2024/0041")), language="es")
    found = {written: await shelf.found(part) for written, part in parts.items()}
    assert found == {written: [f"Expediente {written} archivado."] for written in parts}


async def test_phrase_must_match_as_a_phrase(shelf: Shelf) -> None:
    """R4.3 phrases in quotes."""
    await shelf.put("El aviso de fuga llegó tarde.")
    await shelf.put("La fuga llegó antes que el aviso.")
    assert await shelf.found("aviso", "fuga", phrases=["aviso de fuga"]) == ["El aviso de fuga llegó tarde."]
    assert await shelf.found("aviso", "fuga", phrases=["aviso de fuga", "llegó antes"]) == []


async def test_any_punctuation_is_safe(shelf: Shelf) -> None:
    """Security 10, 12."""
    await shelf.put("El horno funciona.")
    for words in (["'"], [":*"], ["<->", "|", "&", "!"], ["\\"], ['"'], ["%s", "%(x)s"], ["x" * 9_000]):
        assert await shelf.found(*words, phrases=words) == [], words
        assert await shelf.found("horno", *words) == ["El horno funciona."], words


async def test_scores_lie_between_0_and_1(shelf: Shelf) -> None:
    """P7."""
    await shelf.put("horno horno horno", "horno retén", vectors=[[1.0, 0.0], [-1.0, 0.1]])
    hits = [
        *await shelf.store.search_fulltext(shelf.collection, ["horno", "retén"], limit=9),
        *await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], limit=9),
    ]
    assert len(hits) == 4
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_hits_have_the_score_of_their_search(shelf: Shelf) -> None:
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


async def test_zero_vectors_are_never_found(shelf: Shelf) -> None:
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


async def test_typed_tables_are_kept_with_their_document(shelf: Shelf, owner: str) -> None:
    """R1.5, R9.1 In order, replaced and deleted with it; a stranger has none, and what is expired has none."""
    tables = [bytes(range(256)), b"", b"x" * 100_000]

    async def put(document: Document, *tables: bytes) -> None:
        indexed = IndexedDocument(document, tile(document, ["Una hoja."]), [[1.0, 0.0]], tables=tables)
        await shelf.store.put_documents(shelf.collection, [indexed])

    document, plain = (make_document(collection_id=shelf.collection.id) for _ in range(2))
    expired = make_document(collection_id=shelf.collection.id, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    await put(document, *tables)
    await put(plain)
    await put(expired, b"gone")
    asked = [document.id, plain.id, expired.id, uuid4()]
    assert await shelf.store.read_tables(shelf.collection, asked) == {document.id: tables}
    assert await shelf.store.read_tables(replace(shelf.collection, owner_id=f"other-{owner}"), asked) == {}
    await put(document, b"new")
    assert await shelf.store.read_tables(shelf.collection, asked) == {document.id: [b"new"]}
    await shelf.store.delete_documents(shelf.collection, [document.id])
    assert await shelf.store.read_tables(shelf.collection, asked) == {}


async def test_documents_are_stored_atomically(shelf: Shelf) -> None:
    """R1.9, R3.3 several documents at once."""
    first, second = (make_document(collection_id=shelf.collection.id) for _ in range(2))
    good = IndexedDocument(first, tile(first, ["El horno uno."]), [[1.0, 0.0]])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        await shelf.store.put_documents(
            shelf.collection, [good, IndexedDocument(second, tile(second, ["El horno dos."]), [])]
        )
    assert await shelf.found("horno") == []
    await shelf.store.put_documents(
        shelf.collection, [good, IndexedDocument(second, tile(second, ["El horno dos."]), [[1.0, 0.0]])]
    )
    assert sorted(await shelf.found("horno")) == ["El horno dos.", "El horno uno."]


async def test_revision_grows_with_every_change(shelf: Shelf) -> None:
    """R4.9 what a cache of results goes by."""

    async def now() -> Collection:
        return (await shelf.store.list_collections(shelf.collection.owner_id))[0]

    document = await shelf.put("uno. ", "dos.")
    after_put = await now()
    await shelf.store.delete_document(shelf.collection, document.id)
    after_delete = await now()
    assert shelf.collection.revision < after_put.revision < after_delete.revision
    assert (after_put.chunk_count, after_delete.chunk_count) == (2, 0)


async def test_vectors_of_another_model_are_refused(shelf: Shelf) -> None:
    """R3.8 whoever read the collection before it moved to another model stores nothing in it."""
    stale = replace(shelf.collection, embedding_model="other")
    document = make_document(collection_id=shelf.collection.id)
    with pytest.raises(CollectionChanged, match="notes"):
        await shelf.store.put_documents(stale, [IndexedDocument(document, tile(document, ["horno"]), [[1.0, 0.0]])])
    assert await shelf.found("horno") == []
    assert await shelf.store.list_collections(shelf.collection.owner_id) == [shelf.collection]


async def test_storing_into_an_unknown_collection_fails(shelf: Shelf) -> None:
    """R9.3 deleted in the meantime; R4.8 or another owner's."""
    document = make_document(collection_id=shelf.collection.id)
    indexed = IndexedDocument(document, tile(document, ["horno"]), [[1.0, 0.0]])
    with pytest.raises(CollectionNotFound, match="notes"):
        await shelf.store.put_documents(replace(shelf.collection, owner_id="somebody-else"), [indexed])
    assert await shelf.found("horno") == []
    await shelf.store.delete_collection(shelf.collection)
    with pytest.raises(CollectionNotFound, match="notes"):
        await shelf.store.put_documents(shelf.collection, [indexed])


async def test_contextual_vectors_are_searched_on_request(shelf: Shelf) -> None:
    """R3.7 both are stored; the collection's configuration decides; what was indexed before is still found."""
    await shelf.put("antes", vectors=[[0.0, 1.0]])

    async def situated(*contents: str) -> None:
        document = make_document(collection_id=shelf.collection.id)
        plain, in_context = [[1.0, 0.0]] * len(contents), [[-1.0, 0.1]] * len(contents)
        indexed = IndexedDocument(
            document, tile(document, contents), plain, in_context, situations=["Dicho."] + [None] * (len(contents) - 1)
        )
        await shelf.store.put_documents(shelf.collection, [indexed])

    async def near(*vector: float) -> str:
        return (await shelf.near(*vector))[0]

    await situated("dentro")
    (plain,) = await shelf.store.list_collections(shelf.collection.owner_id)
    assert (shelf.collection.has_contextual, plain.has_contextual) == (False, True)
    shelf.collection = plain
    assert (await near(1.0, 0.0), await near(-1.0, 0.1)) == ("dentro", "antes")
    shelf.collection = await shelf.store.configure_collection(plain, ingestion_config={"contextual_embeddings": True})
    assert (await near(1.0, 0.1), await near(-1.0, 0.1), len(await shelf.near(1.0, 0.0))) == ("antes", "dentro", 2)
    await shelf.put("después", vectors=[[1.0, -1.0]])  # by a model that did not answer
    assert (await near(1.0, -1.0), len(await shelf.near(1.0, 0.0))) == ("después", 3)
    shelf.collection = await shelf.store.configure_collection(plain, ingestion_config={"contextual_embeddings": False})
    assert (await near(1.0, 0.0), len(await shelf.near(1.0, 0.0))) == ("dentro", 3)


async def test_the_service_s_configuration_is_a_collection_s_where_it_has_none(services: Services, owner: str) -> None:
    """R3.7 the service's values, then the collection's."""
    for store in (
        PostgresStore(services.database, fulltext_candidates=400, contextual=True),
        InMemoryStore(contextual=True),
    ):
        shelf = Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))
        document = make_document(collection_id=shelf.collection.id)
        chunks = tile(document, ["uno. ", "dos."])
        vectors, in_context = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
        await store.put_documents(shelf.collection, [IndexedDocument(document, chunks, vectors, in_context)])
        (shelf.collection,) = await store.list_collections(owner)
        assert await shelf.near(1.0, 0.0) == ["dos.", "uno. "]
        off = await store.configure_collection(shelf.collection, ingestion_config={"contextual_embeddings": False})
        shelf.collection = off
        assert await shelf.near(1.0, 0.0) == ["uno. ", "dos."]


FILTERED = [
    (Filters(document_types=("pdf",)), {"a"}),
    (Filters(document_types=("text/csv", "PDF")), {"a", "b"}),
    (Filters(languages=("fr",)), {"b"}),
    (Filters(languages=("fr", "es")), {"a", "b"}),
    (Filters(source_types=("note",)), {"c"}),
    (Filters(processing_strategies=("heading_section",)), {"a"}),
    (Filters(tags=("urgente", "otro")), {"a", "c"}),
    (Filters(filenames=("INFORME.pdf",)), {"a"}),
    (Filters(created_from=CREATED_AT), {"b", "c"}),
    (Filters(created_until=CREATED_AT), {"a"}),
    (Filters(created_from=CREATED_AT, created_until=CREATED_AT + timedelta(days=1)), {"b"}),
    (Filters(languages=("es",), tags=("urgente",)), {"a"}),
    (Filters(languages=("de",)), set()),
    (Filters(filenames=("'; DROP TABLE chunks; --",)), set()),
]


async def test_filters_apply_to_both_searches(shelf: Shelf) -> None:
    """R4.5, security 12."""
    day = timedelta(days=1)
    await shelf.put(
        "horno",
        title="a",
        filename="informe.pdf",
        media_type="application/pdf",
        language="es",
        processing_strategy="heading_section",
        tags=("urgente", "2025"),
        created_at=CREATED_AT - day,
    )
    await shelf.put(
        "horno", title="b", filename="stock.csv", media_type="text/csv", language="fr", created_at=CREATED_AT
    )
    await shelf.put(
        "horno",
        title="c",
        filename="note.txt",
        media_type="text/plain",
        language="en",
        source_type="note",
        tags=("otro",),
        created_at=CREATED_AT + day,
    )
    for filters, expected in FILTERED:
        by_words = await shelf.store.search_fulltext(shelf.collection, ["horno"], filters=filters, limit=9)
        by_vector = await shelf.store.search_vectors(shelf.collection, [1.0, 0.0], filters=filters, limit=9)
        assert {hit.chunk.document.title for hit in by_words} == expected, filters
        assert {hit.chunk.document.title for hit in by_vector} == expected, filters


async def test_expired_documents_are_never_found(shelf: Shelf) -> None:
    """R1.8, security 19: at that second, before anything is purged."""
    past, future = datetime.now(UTC) - timedelta(seconds=1), datetime.now(UTC) + timedelta(hours=1)
    gone = await shelf.put("horno viejo", expires_at=past)
    await shelf.put("horno nuevo", expires_at=future)
    assert await shelf.found("horno") == ["horno nuevo"]
    assert await shelf.near(1.0, 0.0) == ["horno nuevo"]
    assert await shelf.store.read_chunks(shelf.collection, [(gone.id, 0, 9)]) == {}
    assert await shelf.store.find_documents(shelf.collection, content_hashes=[gone.content_hash]) == []
    assert len(await shelf.store.list_documents(shelf.collection)) == 1


async def test_expired_documents_can_be_deleted(shelf: Shelf) -> None:
    """R1.8 what a purge does."""
    gone = await shelf.put("horno viejo", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    await shelf.put("horno eterno")
    assert await shelf.store.delete_document(shelf.collection, gone.id)
    assert not await shelf.store.delete_document(shelf.collection, gone.id)
    (collection,) = await shelf.store.list_collections(shelf.collection.owner_id)
    assert collection.chunk_count == 1
    assert await shelf.found("horno") == ["horno eterno"]


async def test_filenames_match_case_insensitively(shelf: Shelf) -> None:
    """R4.5 a question that names a file."""
    await shelf.put("uno", filename="Producción.xlsx")
    await shelf.put("dos", filename="inventaire.csv")
    names = ["producción.XLSX", "INVENTAIRE.csv", "nada.pdf"]
    assert await shelf.store.find_filenames(shelf.collection, names) == ["Producción.xlsx", "inventaire.csv"]
    assert await shelf.store.find_filenames(shelf.collection, []) == []


async def test_filenames_match_without_accents(shelf: Shelf) -> None:
    """R4.5 as a question writes them."""
    await shelf.put("Algo.", filename="Catálogo Añejo.MD")
    await shelf.put("Algo más.", filename="otro.md")
    for name in ("catalogo anejo.md", "CATÁLOGO AÑEJO.md", "Catálogo Añejo.MD"):
        assert await shelf.store.find_filenames(shelf.collection, [name, "nada.md"]) == ["Catálogo Añejo.MD"]


async def test_a_word_that_no_chunk_holds_has_the_spelling_of_one_that_does(shelf: Shelf) -> None:
    """R4.1 as a chunk writes it; a form of a word is held, and a code is no word."""
    await shelf.put("Almendrina vendió 40 tartas al Café Élite.")
    await shelf.put("La entrega 3317 llegó tarde.", expires_at=datetime.now(UTC) + timedelta(days=1))
    found = await shelf.store.find_spellings(
        shelf.collection, ["Almendirna", "almendrina", "ALMENDRNIA", "tarta", "Elitte", "Zaragoza", "3318", ""]
    )
    assert found == {"Almendirna": "Almendrina", "ALMENDRNIA": "Almendrina", "Elitte": "Élite"}
    assert await shelf.store.find_spellings(shelf.collection, []) == {}


async def test_a_spelling_is_not_of_what_has_expired(shelf: Shelf) -> None:
    """R1.8"""
    await shelf.put("Almendrina cerró.", expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert await shelf.store.find_spellings(shelf.collection, ["Almendirna"]) == {}


async def test_optimizing_keeps_search_results(shelf: Shelf) -> None:
    await shelf.put("horno")
    await shelf.store.optimize(shelf.collection)
    assert await shelf.found("horno") == ["horno"]


async def test_owners_are_isolated(store: ChunkStore, owner: str) -> None:
    """R4.8 even with the collection's id."""
    mine = Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))
    document = await mine.put("El secreto del horno.")
    theirs = await store.create_collection(f"other-{owner}", "notes", embedding_model="tiny")
    forged = Collection(mine.collection.id, theirs.owner_id, "notes", "tiny")
    for collection in (theirs, forged):
        assert await store.search_fulltext(collection, ["secreto"], limit=9) == []
        assert await store.search_vectors(collection, [1.0, 0.0], limit=9) == []
        assert await store.list_documents(collection) == []
        assert await store.find_spellings(collection, ["secrteo"]) == {}
        assert await store.find_documents(collection, content_hashes=[document.content_hash]) == []
        assert await store.read_chunks(collection, [(document.id, 0, 9)]) == {}
        assert not await store.delete_document(collection, document.id)
    assert not await store.delete_collection(forged)
    assert await mine.found("secreto") == ["El secreto del horno."]
    assert [collection.owner_id for collection in await store.list_collections(owner)] == [owner]


async def test_a_failed_write_changes_nothing(shelf: Shelf) -> None:
    """R1.9 whole or not at all."""
    old = await shelf.put("La versión vieja.")
    new = make_document(id=old.id, source=old.source, collection_id=shelf.collection.id)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        await shelf.store.put_documents(
            shelf.collection, [IndexedDocument(new, tile(new, ["La nueva.", "Versión."]), [[1.0, 0.0]])]
        )
    assert await shelf.found("versión") == ["La versión vieja."]
    assert await shelf.found("nueva") == []

"""What every GraphStore promises of the documents that a ChunkStore keeps, run against each implementation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from graphrag.causal_graph.concepts import concept_words
from graphrag.models import Collection, Direction, Document, Filters, Span
from graphrag.models.graph import (
    MOST_CHUNKS,
    TITLE_WEIGHT,
    CausalEdge,
    CausalNeighbourhood,
    CausalRelation,
    ChunkGraph,
    Mention,
    Polarity,
    RelationType,
)
from graphrag.models.ingestion import IndexedDocument
from graphrag.protocols import ChunkStore, GraphStore
from graphrag.services import Services
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import InMemoryStore
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document

Said = tuple[Any, ...]  # cause, effect, and then polarity and confidence where they matter
FACT, NEGATED, HYPOTHETICAL = Polarity.FACT, Polarity.NEGATED, Polarity.HYPOTHETICAL
DEFAULTS = (FACT, 0.9)


@dataclass
class Shelf:
    """A store with its graph, and a collection that nobody else has."""

    store: ChunkStore
    graph: GraphStore
    collection: Collection

    async def say(self, *chunks: Sequence[Said], **overrides: Any) -> Document:
        """A document of chunks that say what caused what."""
        document = make_document(collection_id=self.collection.id, **overrides)
        texts = [" ".join(f"{cause} provocó {effect}." for cause, effect, *_ in said) or "Nada." for said in chunks]
        starts = [sum(map(len, texts[:index])) for index in range(len(texts))]
        graph = [
            ChunkGraph(relations=tuple(relations(said, start))) for said, start in zip(chunks, starts, strict=True)
        ]
        await self._put(document, texts, graph)
        return document

    async def name(self, *chunks: Sequence[str], title: str = "", **overrides: Any) -> Document:
        """A document of chunks that name things; its title stands in the first two."""
        document = make_document(collection_id=self.collection.id, title=title, **overrides)
        graph = []
        for index, names in enumerate(chunks):
            titled = [Mention(title.lower(), TITLE_WEIGHT)] if title and index < 2 else []
            graph.append(ChunkGraph(mentions=(*titled, *(Mention(name.lower()) for name in names))))
        await self._put(document, ["Algo. "] * len(chunks), graph)
        return document

    async def _put(self, document: Document, texts: Sequence[str], graph: Sequence[ChunkGraph]) -> None:
        chunks = [
            replace(chunk, id=UUID(int=document.id.int ^ chunk.index ^ 1 << 100)) for chunk in tile(document, texts)
        ]
        indexed = IndexedDocument(document, chunks, [[1.0, 0.0]] * len(chunks), graph=graph)
        await self.store.put_documents(self.collection, [indexed])

    async def around(
        self, question: str, direction: Direction | None = "causes", **options: Any
    ) -> CausalNeighbourhood:
        words = concept_words(question, "es")
        return await self.graph.find_causal_neighbourhood(self.collection, words, direction=direction, **options)

    async def follow(self, question: str, direction: Direction | None = "causes", **options: Any) -> set[str]:
        return spoken((await self.around(question, direction, **options)).edges)

    async def reach(self, chunks: Sequence[UUID], *keys: str, **options: Any) -> set[tuple[UUID, str]]:
        edges = await self.graph.find_mention_neighbourhood(self.collection, chunks, keys, **options)
        assert len(edges) == len({(edge.chunk_id, edge.key) for edge in edges})
        return {(edge.chunk_id, edge.key) for edge in edges}


def relations(said: Sequence[Said], start: int) -> list[CausalRelation]:
    found = []
    for cause, effect, *rest in said:
        polarity, confidence = cast(tuple[Polarity, float], (*rest, *DEFAULTS[len(rest) :]))
        end = start + len(cause) + len(" provocó ") + len(effect) + 1
        found.append(
            CausalRelation(
                Span(start, start + len(cause)),
                Span(end - 1 - len(effect), end - 1),
                Span(start, end),
                RelationType.TRIGGERS,
                polarity,
                confidence,
            )
        )
        start = end + 1
    return found


def spoken(edges: Sequence[CausalEdge]) -> set[str]:
    return {f"{edge.cause.name} → {edge.effect.name}" for edge in edges}


def chunk_of(document: Document, index: int = 0) -> UUID:
    return UUID(int=document.id.int ^ index ^ 1 << 100)


CHAIN = [
    [("La helada", "la rotura de la tubería")],
    [("La rotura de la tubería", "la inundación del sótano")],
    [("La inundación del sótano", "el cierre de la fábrica")],
    [("El cierre de la fábrica", "la pérdida de clientes")],
]
# An entity has the name that it was first given.
LINKS = [
    "La helada → la rotura de la tubería",
    "la rotura de la tubería → la inundación del sótano",
    "la inundación del sótano → el cierre de la fábrica",
    "el cierre de la fábrica → la pérdida de clientes",
]


@pytest.fixture(params=["postgres", "memory"])
def plugs(request: pytest.FixtureRequest, services: Services) -> tuple[ChunkStore, GraphStore]:
    if request.param == "postgres":
        return services.store, services.graph
    store = InMemoryStore()
    return store, InMemoryGraph(store)


@pytest.fixture
async def shelf(plugs: tuple[ChunkStore, GraphStore], owner: str) -> Shelf:
    store, graph = plugs
    return Shelf(store, graph, await store.create_collection(owner, "notes", embedding_model="tiny"))


async def test_edges_are_returned_complete(shelf: Shelf) -> None:
    """R7.1 each with its quote, document and direction."""
    document = await shelf.say([], [("La helada", "la rotura de la tubería", FACT, 0.75)])
    (edge,) = (await shelf.around("rotura de tubería")).edges
    assert (edge.cause.name, edge.effect.name) == ("La helada", "la rotura de la tubería")
    assert edge.cause.key == " ".join(concept_words("La helada", "es"))
    assert (edge.type, edge.polarity, edge.confidence, edge.extractor) == (RelationType.TRIGGERS, FACT, 0.75, "rules")
    assert edge.document == document
    assert (edge.chunk_id, edge.chunk_index) == (chunk_of(document, 1), 1)
    assert edge.quote == "La helada provocó la rotura de la tubería."
    assert (edge.start_char, edge.end_char) == (len("Nada."), len("Nada.") + len(edge.quote))


async def test_a_chain_is_followed_across_documents(shelf: Shelf) -> None:
    """R7.2 what one document calls an effect, another calls a cause; depth ≤ 3; direct before indirect."""
    for said in CHAIN:
        await shelf.say(said)
    found = await shelf.around("el cierre de la fábrica")
    assert [f"{edge.cause.name} → {edge.effect.name}" for edge in found.edges] == [LINKS[2], LINKS[1], LINKS[0]]
    assert found.starts[0] == (found.edges[0].effect.id, 1.0)
    assert await shelf.follow("la pérdida de clientes") == set(LINKS[1:])
    assert await shelf.follow("la pérdida de clientes", depth=1) == {LINKS[3]}
    assert await shelf.follow("la pérdida de clientes", depth=4) == set(LINKS)


async def test_the_question_gives_the_direction(shelf: Shelf) -> None:
    """R7.2"""
    for said in CHAIN:
        await shelf.say(said)
    assert await shelf.follow("inundación del sótano", "causes") == set(LINKS[:2])
    assert await shelf.follow("inundación del sótano", "effects") == set(LINKS[2:])
    assert await shelf.follow("inundación del sótano", None) == set(LINKS)
    assert await shelf.follow("la helada", "causes") == set()


async def test_both_directions_return_causes_and_effects(shelf: Shelf) -> None:
    """R7.2 not what else follows from its cause."""
    await shelf.say([("La tormenta", "el apagón")], [("La tormenta", "el granizo")], [("El apagón", "la parada")])
    assert await shelf.follow("apagón", None) == {"La tormenta → el apagón", "el apagón → la parada"}


async def test_cycles_terminate(shelf: Shelf) -> None:
    """R7.2"""
    await shelf.say([("El cansancio", "los errores")], [("Los errores", "las horas extra")])
    await shelf.say([("Las horas extra", "el cansancio")])
    for direction in ("causes", "effects", None):
        assert len((await shelf.around("cansancio", direction, depth=9)).edges) == 3


@pytest.mark.parametrize("polarity", [NEGATED, HYPOTHETICAL])
async def test_negated_events_are_not_followed(shelf: Shelf, polarity: Polarity) -> None:
    """R7.2 facts alone are followed; all are listed."""
    await shelf.say([("La helada", "la rotura", polarity)], [("La rotura", "la inundación")])
    assert await shelf.follow("la inundación") == {"la rotura → la inundación"}
    assert (await shelf.around("la helada", "effects")).starts == ()
    listed = await shelf.graph.list_causal_edges(shelf.collection)
    assert {edge.polarity for edge in listed} == {polarity, FACT}


async def test_each_step_follows_the_most_confident_edges(shelf: Shelf) -> None:
    """R7.2 the width is a step's, confidences multiply."""
    await shelf.say([("El viento", "el corte", FACT, 0.9), ("El rayo", "el corte", FACT, 0.8)])
    await shelf.say([("La nieve", "el corte", FACT, 0.7), ("El verano", "el rayo", FACT, 1.0)])
    await shelf.say([("La borrasca", "el viento", FACT, 0.8), ("El frente", "el viento", FACT, 0.85)])
    assert await shelf.follow("el corte", width=1) == {"El viento → el corte", "El frente → El viento"}
    assert await shelf.follow("el corte", width=2) == {
        *{"El viento → el corte", "El rayo → el corte"},
        *{"El verano → El rayo", "El frente → El viento"},  # .80 and .765 against .72
    }
    assert len((await shelf.around("el corte")).edges) == 6


async def test_similar_entities_join_a_chain(shelf: Shelf) -> None:
    """R7.2 an effect in one document, the cause in another, in other words."""
    await shelf.say([("El desgaste del retén", "la fuga de aceite del compresor")])
    await shelf.say([("La fuga de aceite en el compresor C3", "la parada de la línea")])
    found = await shelf.around("la parada de la línea", depth=2)
    assert len(found.edges) == 2
    (link,) = [
        link
        for link in found.links
        if {link.entity_id, link.other_id} == {found.edges[0].cause.id, found.edges[1].effect.id}
    ]
    assert 0.5 <= link.similarity < 1
    assert await shelf.follow("la parada de la línea", depth=1) == {
        "La fuga de aceite en el compresor C3 → la parada de la línea"
    }


async def test_chains_cross_languages(shelf: Shelf) -> None:
    """R7.2 by words that are nearly the same in both."""
    await shelf.say([("L'usure du joint", "la panne du compresseur C3")], language="fr")
    await shelf.say([("La avería del compresor C3", "el retraso")], language="es")
    assert len((await shelf.around("el retraso")).edges) == 2


async def test_the_best_matching_chain_comes_first(shelf: Shelf) -> None:
    """R7.2 the start is the entity that holds most of the question's rare words and little else."""
    for number in range(12):
        await shelf.say([(f"La causa {number}", f"el fallo del horno H{number}")])
    found = await shelf.around("fallo del horno H7")
    scores = [score for _, score in found.starts]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] < scores[0] == 1
    (first,) = [edge for edge in found.edges if edge.effect.id == found.starts[0][0]]
    assert first.effect.name == "el fallo del horno H7"
    assert (await shelf.around("el perro ladra")) == CausalNeighbourhood()
    assert (await shelf.around("")) == CausalNeighbourhood()


async def test_chunks_with_similar_vectors_are_starting_points(shelf: Shelf) -> None:
    """R7.2 by embedding: what a search by vectors finds, though no word of the question is in it."""
    document = await shelf.say([], [("El desgaste", "la fuga")])
    await shelf.say([("El calor", "el desgaste")])
    found = await shelf.around("derrame", near={chunk_of(document, 1): 0.6, uuid4(): 0.9})
    assert [score for _, score in found.starts] == [0.6]
    assert spoken(found.edges) == {"El desgaste → la fuga", "El calor → El desgaste"}
    assert await shelf.follow("derrame", "effects", near={chunk_of(document, 1): 0.6}) == {"El desgaste → la fuga"}


async def test_other_edges_of_a_similar_chunks_document_are_starting_points(shelf: Shelf) -> None:
    """R7.2"""
    document = await shelf.say([("El viento", "el corte")], [], [("El desgaste", "la fuga")])
    found = await shelf.around("derrame", near={chunk_of(document, 0): 0.6})
    assert [score for _, score in found.starts] == [0.6, 0.3]
    assert spoken(found.edges) == {"El viento → el corte", "El desgaste → la fuga"}


async def test_shared_words_come_with_how_many_entities_hold_them(shelf: Shelf) -> None:
    """R7.2 Of the whole collection, whatever is near: rare words join documents, common ones don't."""
    for number in range(5):
        await shelf.say([(f"El motivo {number}", f"la avería de la bomba {number}")])
    await shelf.say([("La avería del eje", "la avería del molino"), ("El molino parado", "el retraso")])
    found = dict((await shelf.around("el retraso", depth=2)).frequencies)
    assert (found["averi"], found["molin"]) == (7, 2)
    assert found.keys() == {"averi", "molin"}


async def test_filters_apply_at_every_step(shelf: Shelf) -> None:
    """R4.5 a chain breaks where its document is left out."""
    for number, said in enumerate(CHAIN):
        await shelf.say(said, tags=("par",) if number % 2 else ("impar",))
    assert await shelf.follow("la pérdida de clientes", filters=Filters(tags=("par",))) == {LINKS[3]}
    assert await shelf.follow("la pérdida de clientes", filters=Filters(tags=("par", "impar"))) == set(LINKS[1:])
    nothing = await shelf.around("la pérdida de clientes", filters=Filters(tags=("otro",)))
    assert nothing == CausalNeighbourhood()


async def test_expired_documents_are_not_in_the_graph(shelf: Shelf) -> None:
    """R1.8, R7.3 before anything is purged."""
    ended = datetime.now(UTC) - timedelta(seconds=1)
    gone = await shelf.say(CHAIN[1], expires_at=ended)
    await shelf.say(CHAIN[2])
    named = await shelf.name(["Lindazo"], title="Viejo", expires_at=ended)
    other = await shelf.name(["Lindazo"])
    assert len(await shelf.follow("el cierre de la fábrica")) == 1
    assert len(await shelf.graph.list_causal_edges(shelf.collection)) == 1
    assert (await shelf.around("rotura de tubería", "effects")).starts == ()
    assert {chunk for chunk, _ in await shelf.reach([], "lindazo")} == {chunk_of(other)}
    assert await shelf.graph.find_titles(shelf.collection, ["viejo"]) == {}
    assert await shelf.graph.read_hits(shelf.collection, [chunk_of(named), chunk_of(gone)]) == []


async def test_deleting_a_document_removes_its_edges(shelf: Shelf) -> None:
    """R7.3 what other documents say stays."""
    documents = [await shelf.say(said) for said in CHAIN]
    again = await shelf.say(CHAIN[1])
    await shelf.store.delete_document(shelf.collection, documents[1].id)
    assert len(await shelf.follow("el cierre de la fábrica")) == 3
    await shelf.store.delete_document(shelf.collection, again.id)
    assert len(await shelf.follow("el cierre de la fábrica")) == 1
    for document in (documents[0], documents[2], documents[3]):
        await shelf.store.delete_document(shelf.collection, document.id)
    assert await shelf.around("el cierre de la fábrica", None) == CausalNeighbourhood()
    assert await shelf.graph.list_causal_edges(shelf.collection) == []


async def test_replacing_a_document_replaces_its_graph(shelf: Shelf) -> None:
    """R7.3"""
    old = await shelf.say(CHAIN[0], CHAIN[1])
    await shelf.name(["Lindazo"])
    await shelf.say(CHAIN[1], id=old.id, source=old.source)
    edges = await shelf.graph.list_causal_edges(shelf.collection)
    assert [edge.effect.name for edge in edges] == ["la inundación del sótano"]
    assert await shelf.follow("la rotura de la tubería", None) == spoken(edges)
    named = await shelf.name(["Lindazo"], id=old.id, source=old.source)
    assert await shelf.graph.list_causal_edges(shelf.collection) == []
    assert (chunk_of(named), "lindazo") in await shelf.reach([], "lindazo")
    await shelf.say([], id=old.id, source=old.source)
    assert chunk_of(named) not in {chunk for chunk, _ in await shelf.reach([], "lindazo")}


async def test_deleting_a_collection_deletes_its_graph(shelf: Shelf) -> None:
    """R7.3"""
    await shelf.say(*CHAIN)
    await shelf.name(["Lindazo"], title="Informe")
    assert await shelf.store.delete_collection(shelf.collection)
    assert await shelf.graph.list_causal_edges(shelf.collection) == []
    assert await shelf.around("el cierre de la fábrica", None) == CausalNeighbourhood()
    assert await shelf.reach([], "lindazo") == set()
    assert await shelf.graph.find_titles(shelf.collection, ["informe"]) == {}


async def test_a_repeated_job_changes_nothing(shelf: Shelf) -> None:
    """R7.1 ids come from content."""
    document = await shelf.say(*CHAIN)
    before = await shelf.around("inundación del sótano", None)
    await shelf.say(*CHAIN, id=document.id, source=document.source, title=document.title, filename=document.filename)
    after = await shelf.around("inundación del sótano", None)
    assert [edge.id for edge in after.edges] == [edge.id for edge in before.edges]
    assert (after.links, after.starts) == (before.links, before.starts)


async def test_repeated_statements_of_a_chunk_are_one_edge(shelf: Shelf) -> None:
    """R7.1 the surest; what it says of nothing, and of a thing and itself, is none."""
    await shelf.say(
        [
            ("La helada", "la rotura", FACT, 0.5),
            ("Las heladas", "la rotura", FACT, 0.8),
            ("La helada", "la rotura", NEGATED, 0.6),
            ("La helada", "las heladas"),
            ("…", "la rotura"),
        ]
    )
    await shelf.say([("La helada", "la rotura", FACT, 0.4)])
    edges = await shelf.graph.list_causal_edges(shelf.collection)
    assert [(edge.polarity, round(edge.confidence, 3)) for edge in edges] == [(FACT, 0.8), (NEGATED, 0.6), (FACT, 0.4)]
    assert len({edge.cause.id for edge in edges}) == len({edge.effect.id for edge in edges}) == 1


async def test_edges_around_an_entity_are_listed(shelf: Shelf) -> None:
    """R7.1 what a picture shows: two edges far, the nearest first."""
    await shelf.say([*CHAIN[0], *CHAIN[1], *CHAIN[2], *CHAIN[3]])
    near = await shelf.graph.list_causal_edges(shelf.collection, entity="helada")
    assert len(spoken(near)) == 2
    assert near[0].cause.key == " ".join(concept_words("helada", "es"))
    assert len(await shelf.graph.list_causal_edges(shelf.collection, entity="las heladas")) == 2
    assert len(await shelf.graph.list_causal_edges(shelf.collection, entity="cierre fábrica")) == 3
    assert len(await shelf.graph.list_causal_edges(shelf.collection, entity="cierre fábrica", limit=2)) == 2
    assert await shelf.graph.list_causal_edges(shelf.collection, entity="helada fábrica") == []
    assert await shelf.graph.list_causal_edges(shelf.collection, entity="") == []
    assert len(await shelf.graph.list_causal_edges(shelf.collection, limit=3)) == 3


async def test_shared_names_connect_chunks(shelf: Shelf) -> None:
    """R4 association: a step goes from a chunk by a name to the chunks that name the same."""
    one = await shelf.name(["Lindazo", "Ana"])
    two = await shelf.name(["Lindazo", "Bruno"])
    three = await shelf.name(["Bruno", "Carla"])
    four = await shelf.name(["Carla", "Lejos"])
    await shelf.name(["Nada"], ["Nada"])
    first, second, third = chunk_of(one), chunk_of(two), chunk_of(three)
    assert await shelf.reach([first], steps=1) == {(first, "lindazo"), (second, "lindazo")}
    assert await shelf.reach([first]) == {
        *{(first, "lindazo"), (second, "lindazo")},
        *{(second, "bruno"), (third, "bruno")},
    }
    assert (chunk_of(four), "carla") in await shelf.reach([first], steps=3)
    assert await shelf.reach([], "ana", steps=1) == {(first, "ana")}
    assert await shelf.reach([], "ana") == await shelf.reach([first], "ana", steps=1)
    assert len(await shelf.reach([], "ana")) == 3
    assert await shelf.reach([uuid4()], "nobody") == set()


async def test_edges_have_the_frequency_of_their_name(shelf: Shelf) -> None:
    """R4 association: a name's weight is by how rare it is."""
    one = await shelf.name(["Lindazo"], ["Lindazo", "Bruno"], title="Informe")
    await shelf.name(["Bruno", "Lindazo"])
    edges = await shelf.graph.find_mention_neighbourhood(shelf.collection, [chunk_of(one)], [], steps=1)
    assert {(edge.key, edge.weight, edge.chunk_count) for edge in edges if edge.chunk_id == chunk_of(one)} == {
        ("informe", TITLE_WEIGHT, 2),
        ("lindazo", 1.0, 3),
    }
    assert {edge.chunk_count for edge in edges if edge.key == "bruno"} == {2}


async def test_very_frequent_names_connect_nothing(shelf: Shelf) -> None:
    """R4 association: those of more than a hundred chunks."""
    crowd = await shelf.name(*[["Todos"]] * MOST_CHUNKS)
    one = await shelf.name(["Ana"])
    assert len(await shelf.reach([chunk_of(crowd)])) == MOST_CHUNKS
    await shelf.name(["Todos", "Ana"])
    assert await shelf.reach([chunk_of(crowd)], "todos") == set()
    assert len(await shelf.reach([chunk_of(one)])) == 2


async def test_the_rarest_names_come_first(shelf: Shelf) -> None:
    """R4 association: where not all that is named can be reached."""
    one = await shelf.name(["Raro", "Usual"])
    for _ in range(5):
        await shelf.name(["Usual"])
    rare = await shelf.name(["Raro"])
    assert {chunk for chunk, _ in await shelf.reach([chunk_of(one)], width=1, steps=1)} == {
        chunk_of(one),
        chunk_of(rare),
    }


async def test_filters_apply_to_names(shelf: Shelf) -> None:
    """R4.5"""
    one = await shelf.name(["Lindazo"], tags=("a",))
    two = await shelf.name(["Lindazo", "Bruno"], tags=("b",), title="Informe")
    await shelf.name(["Bruno"], tags=("a",))
    only = Filters(tags=("a",))
    assert await shelf.reach([chunk_of(one)], filters=only) == set()
    assert await shelf.reach([chunk_of(one)], "lindazo", filters=only) == {(chunk_of(one), "lindazo")}
    assert await shelf.reach([chunk_of(two)], filters=only) == set()
    assert await shelf.graph.find_titles(shelf.collection, ["informe"], filters=only) == {}
    hits = await shelf.graph.read_hits(shelf.collection, [chunk_of(two), chunk_of(one)], filters=only)
    assert [hit.chunk.id for hit in hits] == [chunk_of(one)]


async def test_titles_are_found_by_key(shelf: Shelf) -> None:
    """R4 association: documents whose title the question names, each by its first chunk."""
    one = await shelf.name(["Ana"], [], [], title="Informe")
    two = await shelf.name(["Ana"], title="Informe")
    await shelf.name(["Informe"], title="Otro")
    found = await shelf.graph.find_titles(shelf.collection, ["informe", "ana", "nada"])
    assert {key: set(chunks) for key, chunks in found.items()} == {"informe": {chunk_of(one), chunk_of(two)}}
    assert await shelf.graph.find_titles(shelf.collection, []) == {}


async def test_hits_are_returned_in_the_requested_order(shelf: Shelf) -> None:
    one = await shelf.name(["Ana"], ["Bruno"])
    wanted = [chunk_of(one, 1), uuid4(), chunk_of(one, 0)]
    hits = await shelf.graph.read_hits(shelf.collection, wanted)
    assert [(hit.chunk.id, hit.score, hit.chunk.document) for hit in hits] == [
        (chunk_of(one, 1), 0.0, one),
        (chunk_of(one, 0), 0.0, one),
    ]


async def test_owners_graphs_are_isolated(plugs: tuple[ChunkStore, GraphStore], owner: str) -> None:
    """R4.8 two owners of the same documents: their entities never meet, not even with the other's ids."""
    store, graph = plugs
    mine, theirs = [
        Shelf(store, graph, await store.create_collection(who, "notes", embedding_model="tiny"))
        for who in (owner, f"other-{owner}")
    ]
    shared = make_document().id
    for shelf in (mine, theirs):
        await shelf.say(*CHAIN, id=shared, source="same")
    named = await mine.name(["Lindazo"], title="Informe")
    await mine.name(["Lindazo"])
    one, other = await mine.around("inundación del sótano", None), await theirs.around("inundación del sótano", None)
    assert spoken(one.edges) == spoken(other.edges)
    ids = [{id_ for edge in found.edges for id_ in (edge.id, edge.cause.id, edge.effect.id)} for found in (one, other)]
    assert not ids[0] & ids[1]
    forged = Shelf(store, graph, replace(mine.collection, owner_id=theirs.collection.owner_id))
    assert await forged.around("inundación del sótano", None, near={chunk_of(named): 1.0}) == CausalNeighbourhood()
    assert await graph.list_causal_edges(forged.collection) == []
    assert await graph.list_causal_edges(forged.collection, entity="sótano") == []
    assert await forged.reach([chunk_of(named)], "lindazo") == set()
    assert await graph.find_titles(forged.collection, ["informe"]) == {}
    assert await graph.read_hits(forged.collection, [chunk_of(named)]) == []
    await theirs.store.delete_document(theirs.collection, shared)
    assert await mine.around("inundación del sótano", None) == one


async def test_collections_graphs_are_isolated(plugs: tuple[ChunkStore, GraphStore], owner: str) -> None:
    """R4.8 a chain never crosses from one into the other."""
    store, graph = plugs
    one, other = [
        Shelf(store, graph, await store.create_collection(owner, name, embedding_model="tiny"))
        for name in ("one", "other")
    ]
    await one.say(CHAIN[1])
    await other.say(CHAIN[2])
    named = await one.name(["Lindazo"])
    await other.name(["Lindazo"])
    assert len(await one.follow("inundación", None)) == len(await other.follow("inundación", None)) == 1
    assert await one.reach([], "lindazo") == {(chunk_of(named), "lindazo")}


async def test_a_graph_must_match_its_chunks(shelf: Shelf) -> None:
    """R1.9 stored whole or not at all."""
    document = make_document(collection_id=shelf.collection.id)
    indexed = IndexedDocument(document, tile(document, ["uno", "dos"]), [[1.0, 0.0]] * 2, graph=[ChunkGraph()])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        await shelf.store.put_documents(shelf.collection, [indexed])
    assert await shelf.store.list_documents(shelf.collection) == []

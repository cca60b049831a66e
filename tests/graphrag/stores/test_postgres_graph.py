"""What only the graph in PostgreSQL promises: nothing left behind, few links, walks by the index, any history."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from graphrag.causal_graph.concepts import MOST_LINKS
from graphrag.config.settings import Settings
from graphrag.db.database import fetch
from graphrag.db.migrate import SETTINGS
from graphrag.models import Collection
from graphrag.models.graph import CausalNeighbourhood
from graphrag.services import Services, open_services
from graphrag.stores.postgres import graph
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import InMemoryStore
from tests.conformance.test_graph_store import Shelf
from tests.factories import make_document

TABLES = ("mentions", "entities", "entity_roots", "causal_edges", "entity_links")


async def count(services: Services, collection: Collection, *tables: str) -> dict[str, int]:
    async with services.database.transaction(collection.owner_id) as connection:
        counts = " UNION ALL ".join(
            f"SELECT '{table}' AS name, count(*) AS rows FROM {table} WHERE collection_id = %(collection_id)s"
            for table in tables or TABLES
        )
        rows = await fetch(connection, counts, {"collection_id": collection.id})
    return {row["name"]: row["rows"] for row in rows}


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    collection = await services.store.create_collection(owner, "notes", embedding_model="tiny")
    return Shelf(services.store, services.graph, collection)


FEW = [("La fuga de aceite del compresor", "la parada"), ("La fuga de aceite en el compresor C3", "el paro")]


@pytest.mark.parametrize("way", ["document", "documents", "replacement", "collection"])
async def test_nothing_is_left_behind(services: Services, shelf: Shelf, way: str) -> None:
    """R7.3 entities, their roots and links go with their last edge, mentions with their chunk."""
    document = await shelf.say(FEW)
    other = await shelf.name(["Lindazo"], title="Informe")
    assert all((await count(services, shelf.collection)).values())
    if way == "collection":
        await shelf.store.delete_collection(shelf.collection)
    elif way == "replacement":
        await shelf.say([], id=document.id, source=document.source)
        await shelf.name([], id=other.id, source=other.source)
    elif way == "documents":
        await shelf.store.delete_documents(shelf.collection, [document.id, other.id])
    else:
        await shelf.store.delete_document(shelf.collection, document.id)
        await shelf.store.delete_document(shelf.collection, other.id)
    assert not any((await count(services, shelf.collection)).values())


async def test_an_entity_outlives_one_of_its_documents(services: Services, shelf: Shelf) -> None:
    """R7.3 it goes with its last edge, not with its first."""
    first = await shelf.say([("La helada", "la rotura")])
    await shelf.say([("La rotura", "la inundación")])
    await shelf.store.delete_document(shelf.collection, first.id)
    assert await count(services, shelf.collection, "entities", "causal_edges") == {"entities": 2, "causal_edges": 1}


async def test_another_collection_keeps_the_same_chunks(services: Services, shelf: Shelf, owner: str) -> None:
    """R7.3 a document may lie in two collections of one owner, under the same ids."""
    twin = Shelf(shelf.store, shelf.graph, await shelf.store.create_collection(owner, "twin", embedding_model="tiny"))
    shared = make_document().id
    for each in (shelf, twin):
        await each.say(FEW, id=shared, source="same")
    before = await count(services, twin.collection)
    await shelf.store.delete_document(shelf.collection, shared)
    assert await count(services, twin.collection) == before
    await shelf.store.delete_collection(shelf.collection)
    assert await count(services, twin.collection) == before


async def test_links_go_both_ways_and_stay_few(services: Services, shelf: Shelf) -> None:
    """R7.2 of the same collection, most of them with the nearest; whoever comes later brings no more than its own."""
    variants = 3 * MOST_LINKS
    for number in range(variants):
        await shelf.say([(f"La fuga de aceite del compresor C{number}", f"El suceso número {number}00")])
    async with services.database.transaction(shelf.collection.owner_id) as connection:
        rows = await fetch(
            connection,
            "SELECT entity_id, other_id, similarity FROM entity_links WHERE collection_id = %(id)s",
            {"id": shelf.collection.id},
        )
    links = {(row["entity_id"], row["other_id"]): row["similarity"] for row in rows}
    assert all(links[other, one] == near for (one, other), near in links.items())
    assert 0 < len(links) <= 2 * MOST_LINKS * 2 * variants
    assert not [one for one, other in links if one == other]


@pytest.mark.parametrize("rare", [1, 50])
async def test_frequent_words_still_bring_what_shares_two_of_them(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, rare: int
) -> None:
    """R7.2 where no word of an entity is rare, the two rarest together are."""
    monkeypatch.setattr(graph, "RARE", rare)
    for number in range(6):
        await shelf.say([(f"La presión número {number}", f"la fuga número {number}")])
    await shelf.say([("El calor", "la caída de la presión del aire")])
    await shelf.say([("La caída de presión de aire comprimido", "el paro")])
    assert len(await shelf.follow("el paro")) == 2


async def test_concurrent_writers_of_the_same_entities(services: Services, shelf: Shelf) -> None:
    """R7.1 they take turns: each entity is there once, with all its edges."""
    again = make_document().id
    await asyncio.gather(
        *(shelf.say([("La helada", "la rotura"), (f"El suceso {n}", "la rotura")]) for n in range(6)),
        *(shelf.say(FEW, id=again, source="same") for _ in range(4)),
    )
    kept = await count(services, shelf.collection, "entities", "causal_edges")
    assert kept == {"entities": 2 + 6 + 3, "causal_edges": 12 + 2}  # «parada» is «paro»


CROWD = (
    """INSERT INTO collections (collection_id, owner_id, name, embedding_model)
       VALUES (%(crowd)s, 'crowd', 'crowd', 'tiny')""",
    """INSERT INTO causal_edges (collection_id, edge_id, owner_id, chunk_id, chunk_index, document_id, cause_id,
                                 effect_id, type, polarity, confidence, extractor, quote, start_char, end_char)
       SELECT %(crowd)s, gen_random_uuid(), 'crowd', gen_random_uuid(), 0, %(crowd)s, gen_random_uuid(),
              gen_random_uuid(), 'CAUSES', 'fact', .5, 'rules', 'x', 0, 1 FROM generate_series(1, 20000)""",
    """INSERT INTO entity_links (collection_id, entity_id, other_id, owner_id, similarity)
       SELECT %(crowd)s, gen_random_uuid(), gen_random_uuid(), 'crowd', .5 FROM generate_series(1, 20000)""",
    """INSERT INTO entity_roots (collection_id, root, entity_id, owner_id, size)
       SELECT %(crowd)s, n::text, gen_random_uuid(), 'crowd', 1 FROM generate_series(1, 20000) AS n""",
    """INSERT INTO mentions (collection_id, key, chunk_id, document_id, owner_id, weight)
       SELECT %(crowd)s, n::text, gen_random_uuid(), %(crowd)s, 'crowd', 1 FROM generate_series(1, 20000) AS n""",
)
NEIGHBOUR = """
    SELECT id AS crowd FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 1000)) AS made
    WHERE causeway.vector_partition(id) = causeway.vector_partition(%(collection_id)s) LIMIT 1
"""
INDEXES = {
    "find_start_candidates": {"entity_roots_pkey"},
    "walk_causes": {"causal_edges_cause_id", "causal_edges_effect_id", "entity_links_entity_id"},
    "walk_mentions": {"mentions_pkey", "mentions_chunk_id"},
}


@pytest.mark.parametrize("statements", [(*CROWD, "ANALYZE"), ("ANALYZE", *CROWD)], ids=["known", "new"])
async def test_walks_read_their_indexes_alone(
    make_database: Callable[[], str], owner: str, statements: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R7.2, R4.8 under the policy, and in a collection that the planner has never heard of beside a big one, which lies
    in the same partition; it has heard of that one, or knows the partition as an empty one.
    """
    services = open_services(Settings.from_environment(database_url=SecretStr(make_database())))
    plans: dict[str, str] = {}

    async def explain_first(connection: Any, statement: str, values: Any) -> list[dict[str, Any]]:
        for name in INDEXES:
            if statement.startswith(graph.QUERIES[name][:100]):
                plans[name] = str(await fetch(connection, f"EXPLAIN {statement}", values))
        return await fetch(connection, statement, values)

    monkeypatch.setattr("graphrag.stores.postgres.graph.fetch", explain_first)
    try:
        collection = await services.store.create_collection(owner, "notes", embedding_model="tiny")
        maintenance = services.database.maintenance()
        async with maintenance as connection, connection.transaction():  # as the superuser: not row by row
            await connection.execute(SETTINGS)
            (neighbour,) = await fetch(connection, NEIGHBOUR, {"collection_id": collection.id})
            for statement in statements:
                await connection.execute(statement, neighbour)
        shelf = Shelf(services.store, services.graph, collection)
        await shelf.say(FEW)
        await shelf.around("parada", None)
        await shelf.reach([uuid4()], "lindazo")
    finally:
        await services.close()
    for name, indexes in INDEXES.items():
        read = set(re.findall(r"Index Only Scan using (\w+?)(?:_collection_id_\w+)?(?: on|')", plans[name]))
        read = {re.sub(r"_\d_", "_", index) for index in read}  # of a partition
        assert indexes <= read, plans[name]
        assert "owner_id" in plans[name]


things = st.sampled_from(
    ["la fuga de aceite", "la fuga de gas", "el compresor C3", "la avería del compresor C3", "el calor", "el paro", "…"]
)
said = st.lists(st.lists(st.tuples(things, things), max_size=3), min_size=1, max_size=3)
history = st.lists(st.tuples(st.sampled_from(["say", "say", "delete"]), st.integers(0, 2), said), max_size=6)


async def test_any_history_leaves_what_a_fresh_graph_has(services: Services, owner: str) -> None:
    """R7.3 put, replaced and deleted in any order: the same walks as in memory, and no entity without an edge."""
    loop = asyncio.get_running_loop()
    ids = [make_document().id for _ in range(3)]

    async def run(steps: Sequence[tuple[str, int, list[list[tuple[str, str]]]]], number: int) -> None:
        memory = InMemoryStore()
        collection = await services.store.create_collection(owner, f"notes {number}", embedding_model="tiny")
        kept_in_memory = await memory.create_collection(owner, "notes", embedding_model="tiny")
        stored = Shelf(services.store, services.graph, collection)
        fresh = Shelf(memory, InMemoryGraph(memory), kept_in_memory)
        for action, document, chunks in steps:
            for shelf in (stored, fresh):
                if action == "say":
                    await shelf.say(*chunks, id=ids[document], source=str(document))
                else:
                    await shelf.store.delete_document(shelf.collection, ids[document])
        for question in ("la fuga de aceite", "la avería del compresor C3", "el paro"):
            for direction in ("causes", "effects", None):
                assert keys(await stored.around(question, direction)) == keys(await fresh.around(question, direction))
        edges = await services.graph.list_causal_edges(collection)
        alive = {end.id for edge in edges for end in (edge.cause, edge.effect)}
        assert await count(services, collection, "entities") == {"entities": len(alive)}
        await services.store.delete_collection(collection)

    numbers = iter(range(1_000))

    @settings(suppress_health_check=list(HealthCheck))
    @given(history)
    def check(steps: list[tuple[str, int, list[list[tuple[str, str]]]]]) -> None:
        asyncio.run_coroutine_threadsafe(run(steps, next(numbers)), loop).result(60)

    await asyncio.to_thread(check)


def keys(found: CausalNeighbourhood) -> tuple[list[tuple[str, str, UUID]], set[float], set[float]]:
    edges = sorted((edge.cause.key, edge.effect.key, edge.chunk_id) for edge in found.edges)
    return edges, {round(score, 6) for _, score in found.starts}, {round(link.similarity, 5) for link in found.links}

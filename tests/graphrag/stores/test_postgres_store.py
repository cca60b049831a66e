"""What only the PostgreSQL store promises: statistics, the index under the policy, concurrent writers."""

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphrag.models import Collection, IndexedDocument
from graphrag.services import Services
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document

RECOUNTED = """
    SELECT lexeme, count(*) AS n FROM chunks, unnest(tsvector_to_array(tsv)) AS lexeme
    WHERE collection_id = %s AND lexeme <> causeway.home(collection_id) GROUP BY lexeme ORDER BY lexeme
"""
KEPT = "SELECT lexeme, document_frequency AS n FROM lexeme_statistics WHERE collection_id = %s ORDER BY lexeme"
SIZES = """
    SELECT chunk_count = count(chunk_id) AND total_chars = coalesce(sum(length(content)), 0) AS equal, languages
    FROM collections LEFT JOIN chunks USING (collection_id) WHERE collection_id = %s GROUP BY collection_id
"""


async def fetch(services: Services, collection: Collection, query: str) -> list[dict[str, Any]]:
    async with services.database.transaction(collection.owner_id) as connection:
        return await (await connection.execute(query, [collection.id])).fetchall()


async def assert_statistics_are_right(services: Services, collection: Collection) -> None:
    assert await fetch(services, collection, KEPT) == await fetch(services, collection, RECOUNTED)
    assert (await fetch(services, collection, SIZES))[0]["equal"]


async def put(services: Services, collection: Collection, texts: list[str], **overrides: Any) -> None:
    document = make_document(collection_id=collection.id, **overrides)
    indexed = IndexedDocument(document, tile(document, texts), [[1.0, 0.0]] * len(texts))
    await services.store.put_documents(collection, [indexed])


words = st.sampled_from(["horno", "hornos", "retén", "reten", "école", "machines", "H2", "12.000", "l'été", "a'b\\c"])
texts = st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=3)
operations = st.lists(
    st.tuples(st.sampled_from(["put", "delete"]), st.integers(0, 2), texts, st.sampled_from(["es", "fr", "en", "und"])),
    min_size=1,
    max_size=6,
)


async def test_statistics_equal_a_recount_after_any_history(services: Services, owner: str) -> None:
    """R4.3 kept in the ingestion transaction, right after insert, replace and delete."""
    collection = await services.store.create_collection(owner, "notes", embedding_model="tiny")
    loop = asyncio.get_running_loop()
    ids = [make_document().id for _ in range(3)]

    async def run(history: list[tuple[str, int, list[str], str]]) -> None:
        for action, number, contents, language in history:
            if action == "put":
                await put(services, collection, contents, id=ids[number], source=f"{number}", language=language)
            else:
                await services.store.delete_document(collection, ids[number])
        await assert_statistics_are_right(services, collection)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(operations)
    def check(history: list[tuple[str, int, list[str], str]]) -> None:
        asyncio.run_coroutine_threadsafe(run(history), loop).result(30)

    await asyncio.to_thread(check)


async def test_concurrent_writers_keep_the_statistics_right(services: Services, owner: str) -> None:
    collection = await services.store.create_collection(owner, "notes", embedding_model="tiny")
    again = make_document().id  # five of the writers replace one document
    await asyncio.gather(
        *(put(services, collection, [f"horno {number}", "retén"], source="same", id=again) for number in range(5)),
        *(put(services, collection, [f"camión {number} retén"], source=f"{number}") for number in range(10)),
    )
    assert len(await services.store.list_documents(collection)) == 11
    await assert_statistics_are_right(services, collection)


async def test_languages_are_those_of_the_documents(services: Services, owner: str) -> None:
    """R4.3 several languages in one collection."""
    collection = await services.store.create_collection(owner, "notes", embedding_model="tiny")
    await put(services, collection, ["uno"], language="es", source="1")
    await put(services, collection, ["deux"], language="fr", source="2")
    assert (await fetch(services, collection, SIZES))[0]["languages"] == ["es", "fr"]


async def test_index_is_used_under_the_policy(services: Services, owner: str) -> None:
    """R4.8 isolation does not cost the GIN index."""
    await services.store.create_collection(owner, "notes", embedding_model="tiny")
    async with services.database.transaction(owner) as connection:
        await connection.execute("SET LOCAL enable_seqscan = off")
        cursor = await connection.execute("EXPLAIN SELECT FROM chunks WHERE tsv @@ 'horno'::tsquery")
        plan = "\n".join(str(row["QUERY PLAN"]) for row in await cursor.fetchall())
    assert "chunks_tsv" in plan

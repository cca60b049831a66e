"""What only the PostgreSQL store promises: statistics, the index under the policy, concurrent writers."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.database import Connection, Database
from graphrag.db.database import fetch as fetch_rows
from graphrag.db.migrate import SETTINGS
from graphrag.models import Collection, Filters
from graphrag.models.ingestion import IndexedDocument
from graphrag.services import Services, open_services
from graphrag.stores.postgres import search
from graphrag.stores.postgres.chunks import PostgresStore
from graphrag.stores.postgres.ingestions import Ingestions
from graphrag.stores.postgres.search import AFFORDABLE
from tests.conformance.test_chunk_store import Shelf, tile
from tests.factories import make_document
from tests.logins import create_login

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


INDEXED_BEFORE = """
    CREATE OR REPLACE FUNCTION causeway.code_parts(words text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT '' $$;
    UPDATE chunks SET context = context;
    DELETE FROM lexeme_statistics WHERE lexeme = '0042';
"""


async def test_codes_that_were_indexed_before_are_found_by_their_parts_too(make_database: Callable[[], str]) -> None:
    """R4.3 The migration makes their lexemes and the statistics anew, and leaves policies as strict as they were."""
    url = make_database()
    opened = open_services(Settings.from_environment(database_url=SecretStr(url)))
    await opened.open()
    try:
        shelf = Shelf(opened.store, await opened.store.create_collection("me", "notes", embedding_model="tiny"))
        await shelf.put("Factura INV/2025/0042 pagada.", "Nada más.", language="es")
        script = files("graphrag.db").joinpath("migrations", "0019_codes.sql").read_text("utf-8")
        with psycopg.connect(url) as connection:
            connection.execute(f"{SETTINGS}; {INDEXED_BEFORE}")
            connection.commit()
            assert await shelf.found("0042") == []
            connection.execute(SETTINGS)
            connection.execute("DROP FUNCTION causeway.code_parts")
            connection.execute(script.encode())
            connection.commit()
            forced = (
                "SELECT bool_and(relforcerowsecurity) FROM pg_class WHERE relname IN ('chunks', 'lexeme_statistics')"
            )
            assert connection.execute(forced).fetchone() == (True,)
        assert await shelf.found("0042") == ["Factura INV/2025/0042 pagada."]
        await assert_statistics_are_right(opened, shelf.collection)
    finally:
        await opened.close()


words = st.sampled_from(["horno", "hornos", "retén", "reten", "école", "machines", "H2", "12.000", "l'été", "a'b\\c"])
texts = st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=3)
operations = st.lists(
    st.tuples(
        st.sampled_from(["put", "put to expire", "delete", "purge"]),
        st.integers(0, 2),
        texts,
        st.sampled_from(["es", "fr", "en", "und"]),
    ),
    min_size=1,
    max_size=6,
)


async def test_statistics_equal_a_recount_after_any_history(services: Services, owner: str) -> None:
    """R4.3 kept in the ingestion transaction, right after insert, replace, delete and expiry."""
    collection = await services.store.create_collection(owner, "notes", embedding_model="tiny")
    loop = asyncio.get_running_loop()
    ids = [make_document().id for _ in range(3)]

    async def run(history: list[tuple[str, int, list[str], str]]) -> None:
        for action, number, contents, language in history:
            if action.startswith("put"):
                ends = datetime.now(UTC) - timedelta(seconds=1) if action == "put to expire" else None
                await put(
                    services,
                    collection,
                    contents,
                    id=ids[number],
                    source=f"{number}",
                    language=language,
                    expires_at=ends,
                )
            elif action == "delete":
                await services.store.delete_document(collection, ids[number])
            else:
                for document in await Ingestions(services.database).find_expired(collection):
                    await services.store.delete_document(collection, document)
        await assert_statistics_are_right(services, collection)

    @settings(suppress_health_check=list(HealthCheck))
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


PLAN = "EXPLAIN SELECT chunk_id FROM searchable_chunks WHERE tsv @@ 'horno'::tsquery"


async def plan_as_application(database: Database, owner: str) -> str:
    async with database.transaction(owner) as connection:
        await connection.execute("SET LOCAL enable_seqscan = off")
        await connection.execute("SET LOCAL enable_indexscan = off")
        cursor = await connection.execute(PLAN)
        return "\n".join(str(row["QUERY PLAN"]) for row in await cursor.fetchall())


async def test_index_is_used_under_the_policy(services: Services, owner: str) -> None:
    """R4.8 isolation does not cost the GIN index."""
    plan = await plan_as_application(services.database, owner)
    assert len(re.findall(r"Bitmap Index Scan on chunks_\d_tsv_idx", plan)) == 8
    assert "owner_id" in plan


async def test_index_is_used_where_nothing_may_be_marked_leakproof(
    make_database: Callable[[], str], owner: str
) -> None:
    """R4.8 a server whose administrator gave us a role, not the superuser's."""
    url = make_database()
    name, role = conninfo_to_dict(url)["dbname"], f"plain_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP SCHEMA causeway CASCADE")
        admin.execute("ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) NOT LEAKPROOF")
        plain = create_login(url, role, "CREATEROLE NOSUPERUSER")
        roles = "causeway_app, causeway_search, causeway_authentication, causeway_worker"
        admin.execute(f"GRANT {roles} TO {role} WITH ADMIN OPTION")
        admin.execute(f"GRANT CREATE ON DATABASE {name} TO {role}")
    database = Database(Settings.from_environment(database_url=SecretStr(plain)))
    try:
        plan = await plan_as_application(database, owner)
        assert len(re.findall(r"Bitmap Index Scan on chunks_\d_tsv_idx", plan)) == 8
        store = PostgresStore(database, fulltext_candidates=1_000)
        shelf = Shelf(store, await store.create_collection(owner, "notes", embedding_model="tiny"))
        await shelf.put("El horno.")
        await store.optimize(shelf.collection)
        other = await store.create_collection(f"other-{owner}", "notes", embedding_model="tiny")
        assert await shelf.found("horno") == ["El horno."]
        assert await store.search_fulltext(replace(shelf.collection, owner_id=other.owner_id), ["horno"], limit=9) == []
        with psycopg.connect(url) as admin:
            leakproof = admin.execute("SELECT proleakproof FROM pg_proc WHERE proname = 'ts_match_vq'").fetchone()
        assert leakproof == (False,)
    finally:
        await database.close()


async def test_best_of_a_part_is_found_though_not_all_of_it_is_looked_at(
    services: Services, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4.3, R4.5 41 of its chunks hold a word, 20 may be looked at: the one that holds both words is among them."""
    monkeypatch.setattr(search, "FEW_CHUNKS", 1)
    monkeypatch.setattr(search, "FEW_CHUNKS", 1)
    store = PostgresStore(services.database, fulltext_candidates=20 // AFFORDABLE)
    shelf = Shelf(store, await store.create_collection(owner, "parts", embedding_model="tiny"))
    await shelf.put(*["El horno rojo."] * 10, tags=("others",))
    await shelf.put(*["El horno."] * 40, "El horno rojo.", tags=("mine",))
    mine = Filters(tags=("mine",))
    assert await shelf.found("horno", "rojo", filters=mine, limit=1) == ["El horno rojo."]
    assert len(await shelf.found("horno", "rojo", filters=mine, limit=10)) == 10


async def test_nobody_becomes_the_owner_of_the_searchable_view(services: Services, owner: str) -> None:
    """R4.8, security 1: the role that sees every row belongs to nobody, and its view demands an identity."""
    async with services.database.transaction(owner) as connection:
        rows = await (
            await connection.execute(
                "SELECT pg_has_role('causeway_app', 'causeway_search', 'MEMBER') AS member, rolcanlogin, rolbypassrls"
                " FROM pg_roles WHERE rolname = 'causeway_search'"
            )
        ).fetchall()
        assert rows == [{"member": False, "rolcanlogin": False, "rolbypassrls": False}]
        await connection.execute("SELECT set_config('app.user_id', '', true)")
        assert await (await connection.execute("SELECT FROM searchable_chunks LIMIT 1")).fetchall() == []


@dataclass(frozen=True)
class Crowd:
    """A table of 100,000 vectors, of which few are an owner's."""

    services: Services
    owned: dict[int, Collection]


@pytest.fixture(scope="module")
async def crowd(make_database: Callable[[], str]) -> AsyncIterator[Crowd]:
    services = open_services(Settings.from_environment(database_url=SecretStr(make_database())))
    sizes = (1, 50, 5_000, 94_949)
    owned = {
        size: await services.store.create_collection(f"owner-of-{size}", "notes", embedding_model="tiny")
        for size in sizes
    }
    maintenance = services.database.maintenance()
    async with maintenance as connection, connection.transaction():  # as the superuser: not row by row
        await connection.execute(f"{SETTINGS}; SELECT setseed(.5)")
        for size, collection in owned.items():
            values = {"collection": collection.id, "owner": collection.owner_id, "size": size}
            for statement in CROWD:
                await connection.execute(statement, values)
    await asyncio.gather(*(services.store.optimize(collection) for collection in owned.values()))  # as processes would
    yield Crowd(services, {size: (await services.store.list_collections(owned[size].owner_id))[0] for size in sizes})
    await services.close()


CROWD = (
    """INSERT INTO documents (collection_id, document_id, owner_id, source, filename, media_type, content_hash,
                              language, title, created_at)
       VALUES (%(collection)s, %(collection)s, %(owner)s, 'all', 'all.txt', 'text/plain', 'x', 'es', 'all', now())""",
    """INSERT INTO chunks (collection_id, chunk_id, document_id, owner_id, chunk_index, start_char, end_char,
                           window_start, context, content, language)
       SELECT %(collection)s, gen_random_uuid(), %(collection)s, %(owner)s, n, n, n + 1, n, '', 'horno', 'es'
       FROM generate_series(1, %(size)s) AS n""",
    """INSERT INTO chunk_embeddings (collection_id, chunk_id, owner_id, model, kind, embedding)
       SELECT collection_id, chunk_id, owner_id, 'tiny', 'content',
              ARRAY(SELECT random() - .5 FROM generate_series(1, 8) WHERE chunk_index > 0)::float4[]::halfvec
       FROM chunks WHERE collection_id = %(collection)s""",
    """INSERT INTO lexeme_statistics (collection_id, owner_id, lexeme, document_frequency)
       VALUES (%(collection)s, %(owner)s, 'horn', %(size)s)""",
    """UPDATE collections SET chunk_count = %(size)s, total_chars = %(size)s, languages = '{es}'
       WHERE collection_id = %(collection)s""",
)


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
async def test_k_results_whenever_k_chunks_are_visible(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    """R4.8, security 6: an index scan under the policy gives no fewer; of 1, 50 and 5,000 rows among 100,000."""
    monkeypatch.setattr(search, "EXACT_CHUNKS", 10**9 if exact else 0)
    monkeypatch.setattr(search, "DETOUR_CHUNKS", 0)
    vector = [0.3, -0.2, 0.1, 0.4, 0.0, -0.1, 0.2, 0.3]
    for size, collection in crowd.owned.items():
        for k in (1, 10, 50):
            near = await crowd.services.store.search_vectors(collection, vector, limit=k)
            words = await crowd.services.store.search_fulltext(collection, ["horno"], limit=k)
            assert len(near) == len(words) == min(k, size)
            assert {hit.chunk.document.collection_id for hit in [*near, *words]} == {collection.id}
            assert [hit.score for hit in near] == sorted((hit.score for hit in near), reverse=True)


@pytest.mark.slow
async def test_big_collection_is_searched_by_its_models_index(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    """R4 an HNSW index a model, under the policy and beside a filter: it is used, and finds the nearest of all."""
    plans = []

    async def explain_first(connection: Connection, statement: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        if "nearest" in statement:
            plans.append(str(await fetch_rows(connection, f"EXPLAIN {statement}", values)))
        return await fetch_rows(connection, statement, values)

    monkeypatch.setattr(search, "fetch", explain_first)
    monkeypatch.setattr(search, "FEW_DOCUMENTS", 0)
    store, collection = crowd.services.store, crowd.owned[94_949]
    vector = [0.3, -0.2, 0.1, 0.4, 0.0, -0.1, 0.2, 0.3]
    exactly = await store.search_vectors(replace(collection, chunk_count=1), vector, limit=10)
    by_index = await store.search_vectors(collection, vector, limit=10)
    filtered = await store.search_vectors(collection, vector, filters=Filters(languages=("es",)), limit=10)
    assert ["hnsw" in plan for plan in plans] == [False, True, True]
    assert len({hit.chunk.id for hit in by_index} & {hit.chunk.id for hit in exactly}) >= 9
    assert [hit.chunk.id for hit in filtered] == [hit.chunk.id for hit in by_index]

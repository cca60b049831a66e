"""A database of an earlier version, with what its owners have in it, and a service whose database is being migrated."""

import asyncio
import time
from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db import migrate as migrations
from graphrag.db.database import fetch
from graphrag.db.embedded_postgres import create_database
from graphrag.services import Services, open_services
from graphrag.stores.postgres import search
from graphrag.stores.postgres.rows import QUERIES
from tests.api.commands import causeway
from tests.api.expectations import check_error
from tests.api.uploads import finished, upload
from tests.conformance.test_chunk_store import Shelf
from tests.conftest import Server, run_server, with_services

OLDER = Path(__file__).with_name("schema_0020.sql")
OWNERS = {
    "owner-a-f4d1791e1f954db7b8f07f4c896c2d4c": ("¿Por qué se paró el horno H2?", "horno.txt", "rompió el retén"),
    "owner-b-ac372985708c4aa587aa60c3d6061ffc": ("Pourquoi le four F7 s'est-il arrêté ?", "four.txt", "capteur était"),
}
# Whatever tells a schema from another one; the order of columns, and names that PostgreSQL chose, do not.
SCHEMA = r"""
    SELECT 'column', table_name || '.' || column_name, concat_ws(' ', data_type, is_nullable, column_default)
    FROM information_schema.columns WHERE table_schema = 'causeway'
    UNION ALL SELECT 'constraint', conrelid::regclass::text, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'causeway'::regnamespace
    UNION ALL SELECT 'index', tablename, regexp_replace(indexdef, 'INDEX \S+ ON', 'INDEX ON')
    FROM pg_indexes WHERE schemaname = 'causeway'
    UNION ALL SELECT 'relation', relname, concat_ws(' ', relowner::regrole, relacl, relrowsecurity, relforcerowsecurity)
    FROM pg_class WHERE relnamespace = 'causeway'::regnamespace AND relkind IN ('r', 'p', 'v')
    UNION ALL SELECT 'function', proname, concat_ws(' ', proowner::regrole, proacl, prosecdef, proconfig, prosrc)
    FROM pg_proc WHERE pronamespace = 'causeway'::regnamespace
    UNION ALL SELECT 'policy', polname, concat_ws(' ', polrelid::regclass, polroles::regrole[], polpermissive,
                     pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy
    UNION ALL SELECT 'trigger', tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'migration', name, '' FROM causeway.migrations
    ORDER BY 1, 2, 3
"""


def restore_older(postgres: str, name: str) -> str:
    with psycopg.connect(postgres, dbname="postgres", autocommit=True) as connection:
        create_database(connection, name)
    url = make_conninfo(postgres, dbname=name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(files("graphrag.db").joinpath("restore_before.sql").read_bytes())
        connection.execute(OLDER.read_bytes())
    return url


@pytest.fixture(scope="module")
def older(postgres: str) -> str:
    return restore_older(postgres, "older")


@pytest.fixture(scope="module")
def keys(older: str) -> dict[str, str]:
    """Of the two owners, whose database is migrated by the command."""
    run = causeway("migrate", DATABASE_URL=older)
    assert run.returncode == 0, run.stderr

    async def make(services: Services) -> dict[str, str]:
        return {owner: (await services.authentication.api_keys.create(owner, "new"))[1] for owner in OWNERS}

    return with_services(older, make)


@pytest.fixture(scope="module")
def server(older: str, keys: dict[str, str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=older, RAG_AUTH="api_key") as running:
        yield running


@contextmanager
def asking(server: Server, key: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {key}", "Accept-Language": "en"}
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=60) as api:
        yield api


def test_a_migrated_schema_is_a_new_one(older: str, keys: dict[str, str], make_database: Callable[[], str]) -> None:
    """R4.8, security 1: tables, keys, rights, policies, functions: nothing of the earlier version is left."""
    schemas = []
    for url in (older, make_database()):
        with psycopg.connect(url, options="-c search_path=causeway,public") as connection:
            schemas.append(connection.execute(SCHEMA).fetchall())
    assert schemas[0] == schemas[1]
    assert len(schemas[0]) > 300


def ids(api: httpx.Client) -> dict[str, str]:
    known = api.get("/documents", params={"collection": "taller"}).raise_for_status().json()["documents"]
    return {of["filename"]: of["id"] for of in known if of["status"] == "indexed"}


def test_what_was_there_is_found_and_answered(server: Server, keys: dict[str, str]) -> None:
    """R3.1, R11.3 Each owner's texts, tables, conversations and golden cases, and new documents beside them."""
    for owner, (question, filename, answer) in OWNERS.items():
        with asking(server, keys[owner]) as api:
            assert set(ids(api)) == {filename, "ventas.csv"}
            found = api.post("/search", json={"query": question, "collection": "taller"}).json()["results"]
            assert found[0]["document_id"] == ids(api)[filename], found[0]
            asked = {"message": question, "collection": "taller"}
            assert answer in api.post("/chat", json=asked).json()["answer"]
            total = {"message": "¿Cuántas toneladas hubo en febrero?", "collection": "taller"}
            assert "15" in api.post("/chat", json=total).json()["answer"]
            earlier = api.get("/conversations").json()["conversations"][-1]
            messages = api.get(f"/conversations/{earlier['id']}/messages").json()["messages"]
            assert [question, answer in messages[1]["content"]] == [messages[0]["content"], True]
            assert len(api.get("/golden-cases", params={"collection": "taller"}).json()["cases"]) == 1
            new = finished(api, upload(api, "taller", "nuevo.txt", "La prensa P9 se paró por falta de aceite.")["id"])
            assert new["status"] == "indexed", new


def test_owners_are_still_apart(server: Server, keys: dict[str, str]) -> None:
    """R4.8, security 3: another's documents, conversations and words are not there."""
    for owner, (question, *_), other in zip(OWNERS, OWNERS.values(), reversed(OWNERS), strict=True):
        with asking(server, keys[owner]) as api, asking(server, keys[other]) as others:
            for document in ids(others).values():
                check_error(api.get(f"/documents/{document}"), 404, "document_not_found")
            for conversation in others.get("/conversations").json()["conversations"]:
                check_error(api.get(f"/conversations/{conversation['id']}"), 404, "conversation_not_found")
            found = others.post("/search", json={"query": question, "collection": "taller"}).json()["results"]
            assert {each["document_id"] for each in found} <= set(ids(others).values())


def test_a_service_goes_on_while_its_database_is_migrated(
    make_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """R11.1 The next version's migration locks the tables for seconds: who asks meanwhile is answered, with what can be
    read, or gets a typed error in time; afterwards all is as before, on the tables with their new columns.
    """
    url = make_database()
    known = migrations.migration_scripts
    changes = "".join(f"ALTER TABLE {name} ADD COLUMN next text;" for name in ("documents", "chunks", "conversations"))
    following = {"9999_next.sql": f"{changes} SELECT pg_sleep(2.5)"}
    monkeypatch.setattr(migrations, "migration_scripts", lambda applied: known(applied) | following)
    with run_server(DATABASE_URL=url, RAG_DATABASE_STATEMENT_SECONDS="1") as server, asking(server, "none") as api:
        assert finished(api, upload(api, "default", "a.txt", "Oven H2 stopped because of its pump.")["id"])
        ask: dict[str, Any] = {"json": {"message": "Why did oven H2 stop?"}}
        calls: list[Callable[[], httpx.Response]] = [
            lambda: api.get("/documents"),
            lambda: api.get("/conversations"),
            lambda: api.post("/search", json={"query": "oven H2"}),
            lambda: api.post("/chat", **ask),
        ]
        with ThreadPoolExecutor(1) as pool:
            migrating = pool.submit(migrations.migrate, url)
            time.sleep(0.5)
            began, meanwhile = time.monotonic(), []
            while not migrating.done():
                meanwhile += [call() for call in calls]
            assert time.monotonic() - began < 60
            assert migrating.result() == ["9999_next.sql"]
        refused = [answer for answer in meanwhile if not answer.is_success]
        assert refused
        for answer in refused:
            assert answer.json()["error"]["code"] in ("database_unavailable", "timeout", "retrieval_unavailable")
            assert answer.elapsed.total_seconds() < 10
        assert [call().status_code for call in calls] == [200] * len(calls)


PARTITIONED = ("chunks", "chunk_embeddings", "lexeme_statistics", "mentions", "causal_edges")
BIG = """
    INSERT INTO collections (collection_id, owner_id, name, embedding_model, chunk_count, languages)
    VALUES (gen_random_uuid(), 'big', 'big', 'tiny', 5001, '{es}');
    INSERT INTO documents (collection_id, document_id, owner_id, source, filename, media_type, content_hash, language,
                           title, created_at)
    SELECT collection_id, gen_random_uuid(), 'big', 's', 'f', 'text/plain', 'h', 'es', 't', now()
    FROM collections WHERE owner_id = 'big';
    INSERT INTO chunks (collection_id, chunk_id, document_id, owner_id, chunk_index, start_char, end_char, window_start,
                        context, content, language)
    SELECT collection_id, gen_random_uuid(), document_id, 'big', n, n, n + 1, n, '', 'x', 'es'
    FROM documents, generate_series(0, 5000) AS n WHERE owner_id = 'big';
    INSERT INTO chunk_embeddings (collection_id, chunk_id, owner_id, model, kind, embedding)
    SELECT collection_id, chunk_id, 'big', 'tiny', 'content', ARRAY[cos(chunk_index), sin(chunk_index)]::halfvec
    FROM chunks WHERE owner_id = 'big';
    CREATE INDEX chunk_embeddings_hnsw_%s_2 ON chunk_embeddings
    USING hnsw ((embedding::halfvec(2)) halfvec_cosine_ops) WHERE model = 'tiny' AND kind = 'content';
"""
HOLDING = "SELECT DISTINCT tableoid::regclass::text AS partition FROM chunk_embeddings"


@pytest.fixture
def known_to(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes this process know no migration of ours after the named one, or with others beside them."""
    known = migrations.migration_scripts

    def know(last: str, **changed: str) -> None:
        def scripts(applied: Set[str]) -> dict[str, str]:
            found = {
                name: script for name, script in known(applied).items() if not "0" <= name[0] <= "9" or name <= last
            }
            return found | {name: found[name] + more for name, more in changed.items()}

        monkeypatch.setattr(migrations, "migration_scripts", scripts)

    return know


def rows_of(url: str) -> dict[str, list[Any]]:
    with psycopg.connect(url, options="-c search_path=causeway,public") as connection:
        return {
            name: connection.execute(f"SELECT t::text FROM {name} AS t ORDER BY 1".encode()).fetchall()
            for name in PARTITIONED
        }


async def test_partitions_hold_the_rows_that_were_there(postgres: str, known_to: Callable[..., None]) -> None:
    """R4.8, R4.1 every column of every owner's rows, each in the partition of its collection; a big one is searched by
    an index of vectors as before.
    """
    url = restore_older(postgres, "unpartitioned")
    known_to("0025_sources.sql")
    migrations.migrate(url)
    with psycopg.connect(url, options="-c search_path=causeway,public") as connection:
        connection.execute((BIG % sha256(b"tiny").hexdigest()[:16]).encode())
    before = rows_of(url)
    assert all(before.values())
    known_to("0026_partitions.sql")
    assert migrations.migrate(url) == ["0026_partitions.sql"]
    assert rows_of(url) == before
    services = open_services(Settings.from_environment(database_url=SecretStr(url)))
    try:
        (collection,) = await services.store.list_collections("big")
        async with services.database.transaction("big") as connection:
            values = {"collection_id": collection.id, "suffix": search._index_suffix("tiny", 2, "content")}
            (found,) = await fetch(connection, QUERIES["find_index"], values)
            counted = await fetch(
                connection, "SELECT DISTINCT tableoid::regclass::text AS name FROM chunk_embeddings", {}
            )
        assert found == {"partition": counted[0]["name"], "is_built": True}
        assert len(await services.store.search_vectors(collection, [1.0, 0.0], limit=10)) == 10
    finally:
        await services.close()


async def test_writers_wait_for_the_partitions(postgres: str, known_to: Callable[..., None]) -> None:
    """R11.1 who reads and writes while the tables are copied is answered late; nothing that was written is lost."""
    url = restore_older(postgres, "written")
    known_to("0025_sources.sql")
    services = open_services(Settings.from_environment(database_url=SecretStr(url)))
    await services.open()
    try:
        shelf = Shelf(services.store, await services.store.create_collection("me", "notes", embedding_model="tiny"))
        await shelf.put("El horno H0 falló.", language="es", source="0")
        known_to("0026_partitions.sql", **{"0026_partitions.sql": "; SELECT pg_sleep(1)"})
        migrating = asyncio.create_task(asyncio.to_thread(migrations.migrate, url))
        written, lasted = 1, []

        async def write() -> None:
            nonlocal written
            while not migrating.done():
                began = time.monotonic()
                await shelf.put(f"El horno H{written} falló.", language="es", source=str(written))
                written += 1
                lasted.append(time.monotonic() - began)

        async def read() -> None:
            while not migrating.done():
                stored = written
                assert len(await shelf.found("horno", limit=10_000)) >= stored
                assert len(await shelf.near(1.0, 0.0, limit=10_000)) >= stored

        await asyncio.gather(write(), read(), read())
        assert await migrating == ["0026_partitions.sql"]
        assert max(lasted) > 0.9  # the last of them, at least, met the locks
        await shelf.put("El horno nuevo.", language="es", source="last")
        assert len(await shelf.found("horno", limit=10_000)) == written + 1
        (collection,) = await services.store.list_collections("me")
        assert collection.chunk_count == written + 1
    finally:
        await services.close()

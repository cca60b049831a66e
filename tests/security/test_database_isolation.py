"""Raw SQL on a connection of the service, in a transaction of one owner, against the rows of another."""

from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db import migrate as migrate_module
from graphrag.db.database import Database
from graphrag.db.embedded_postgres import create_database
from graphrag.db.identity import proof
from graphrag.db.migrate import SETTINGS, migrate
from graphrag.errors import DatabaseUnprepared
from tests.logins import create_login

LOGIN = "requests_login"
ALICE, BOB = "alice", "bob"
COLLECTION, DOCUMENT, CHUNK, RUN = (uuid4() for _ in range(4))  # of Alice's
VALUES = {"alice": ALICE, "bob": BOB, "collection": COLLECTION, "document": DOCUMENT, "chunk": CHUNK, "run": RUN}
PREPARED = """
    INSERT INTO collections (collection_id, owner_id, name, embedding_model) VALUES (%(collection)s, %(alice)s, 'notes', 'bundled');
    INSERT INTO documents (collection_id, document_id, owner_id, source, filename, media_type, content_hash, language, title, created_at)
        VALUES (%(collection)s, %(document)s, %(alice)s, 's', 'secret.md', 'text/plain', 'h', 'en', 'Secret', now());
    INSERT INTO chunks (collection_id, chunk_id, document_id, owner_id, chunk_index, start_char, end_char, window_start, context, content, language)
        VALUES (%(collection)s, %(chunk)s, %(document)s, %(alice)s, 0, 0, 6, 0, '', 'secret', 'en');
    INSERT INTO lexeme_statistics VALUES (%(collection)s, 'secret', %(alice)s, 1);
    INSERT INTO evaluation_runs (collection_id, run_id, owner_id, name, golden_hash, config, embedding_model, config_hash, total)
        VALUES (%(collection)s, %(run)s, %(alice)s, 'run', 'g', '{}', 'bundled', 'c', 1);
    INSERT INTO procrastinate_jobs (task_name, queue_name, args)
        VALUES ('ingest', 'default', jsonb_build_object('owner_id', %(alice)s::text, 'documents', %(document)s::text));
    INSERT INTO conversations (owner_id, conversation_id) VALUES (%(alice)s, %(run)s);
    INSERT INTO messages (owner_id, message_id, conversation_id, role, content, status)
        VALUES (%(alice)s, %(run)s, %(run)s, 'user', 'secret', 'complete');
    INSERT INTO shares (owner_id, hash, conversation_id, message_id) VALUES (%(alice)s, '\\x00', %(run)s, %(run)s)
"""  # noqa: E501
HER_NAME = "SELECT set_config('app.user_id', %(alice)s, true)"
# What shows a row of Alice's, or changes one, as Bob.
READS = {
    "all rows": "SELECT * FROM collections WHERE owner_id <> %(bob)s",
    "by its key": "SELECT * FROM chunks WHERE collection_id = %(collection)s AND chunk_id = %(chunk)s",
    "without the role": "RESET ROLE; SELECT * FROM causeway.chunks WHERE owner_id = %(alice)s",
    "as nobody's role": "SET ROLE NONE; SELECT * FROM causeway.documents WHERE owner_id = %(alice)s",
    "as the superuser": "SET ROLE postgres; SELECT * FROM documents",
    "as another login": "SET SESSION AUTHORIZATION postgres; SELECT * FROM documents",
    "as the worker": "SET ROLE causeway_worker; SELECT * FROM procrastinate_jobs",
    "as who searches": "SET ROLE causeway_search; SELECT * FROM chunks",
    "as who authenticates": "SET ROLE causeway_authentication; SELECT * FROM api_keys",
    "without policies": "SET LOCAL row_security = off; SELECT * FROM chunks",
    "past a table, from its partitions": " UNION ALL ".join(f"SELECT * FROM chunks_{n}" for n in range(8)),
    "through the view": "SELECT * FROM searchable_chunks WHERE owner_id = %(alice)s",
    "through a function of its own": "CREATE FUNCTION pg_temp.peek() RETURNS SETOF causeway.chunks LANGUAGE sql"
    " SECURITY DEFINER"
    " AS 'SELECT * FROM causeway.chunks'; SELECT * FROM pg_temp.peek()",
    "by her name": f"{HER_NAME}; SELECT * FROM chunks",
    "by her name, for the session": "SELECT set_config('app.user_id', %(alice)s, false); SELECT * FROM chunks",
    "by her name, after a savepoint": f"SAVEPOINT here; {HER_NAME}; SELECT * FROM searchable_chunks",
    "by her name, in a function": "DO $$ BEGIN PERFORM set_config('app.user_id', 'alice', true);END $$; SELECT * FROM"
    " chunks",
    "by her name, as the login": f"RESET ROLE; {HER_NAME}; SELECT * FROM causeway.chunks",
    "by her name, in a transaction of its own": f"COMMIT; BEGIN; SET LOCAL ROLE causeway_app; {HER_NAME};"
    " SELECT * FROM causeway.chunks",
    "by her name, without a transaction": "COMMIT; SET ROLE causeway_app; SELECT set_config('app.user_id', %(alice)s,"
    " false); SELECT * FROM causeway.chunks",
    "by her name in its own jobs' places": f"{HER_NAME}; SELECT * FROM ingestion_places(%(collection)s::text,"
    " ARRAY[%(document)s::text])",
    "without settings": "RESET ALL; SELECT * FROM causeway.chunks",
    "the key of proofs": "SELECT * FROM identity_key",
    "the key of proofs, from a file": "COPY identity_key TO '/tmp/key'",
    "with hashes of its own": "CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS"
    f" 'SELECT NULL::bytea'; SET search_path = pg_temp, causeway, pg_catalog; {HER_NAME}; SELECT * FROM chunks",
    "with an owner of its own": "CREATE FUNCTION pg_temp.current_owner() RETURNS text LANGUAGE sql AS"
    " $$ SELECT 'alice' $$; SET search_path = pg_temp, causeway; SELECT * FROM causeway.chunks",
    "links": "SELECT * FROM shares",
    "what a link shows": "SELECT m.* FROM causeway.find_share('\\x00') JOIN messages m USING (owner_id, message_id)",
    "links, without a hash": "SELECT * FROM causeway.find_share(NULL)",
    "jobs": "SELECT * FROM procrastinate_jobs WHERE args ->> 'owner_id' = %(alice)s",
    "what happened to jobs": "SELECT * FROM procrastinate_events",
    "workers": "SELECT * FROM procrastinate_workers",
    "statistics of values": "SELECT most_common_vals FROM pg_stats WHERE schemaname = 'causeway' AND tablename ="
    " 'chunks'",
    "a file": "SELECT pg_read_file('postgresql.conf')",
}
WRITES = {
    "update": "UPDATE chunks SET content = 'changed' WHERE owner_id = %(alice)s RETURNING *",
    "delete": "DELETE FROM collections RETURNING *",
    "truncate": "TRUNCATE chunks CASCADE",
    "insert as her": "INSERT INTO lexeme_statistics VALUES (%(collection)s, 'planted', %(alice)s, 1) RETURNING *",
    "insert a document of her collection": "INSERT INTO documents (collection_id, document_id, owner_id, source,"
    " filename, media_type,"
    " content_hash, language, title, created_at) VALUES (%(collection)s, gen_random_uuid(), %(bob)s, 'b', 'b',"
    " 'b', 'b', 'en', 'b',"
    " now()) RETURNING *",
    "insert into her document": "INSERT INTO chunks (collection_id, chunk_id, document_id, owner_id,"
    " chunk_index, start_char,"
    " end_char, window_start, context, content, language) VALUES (%(collection)s, gen_random_uuid(),"
    " %(document)s, %(bob)s, 1, 0, 1,"
    " 0, '', 'b', 'en') RETURNING *",
    "insert a vector of her chunk": "INSERT INTO chunk_embeddings VALUES (%(collection)s, %(chunk)s, %(bob)s,"
    " 'bundled', 'content',"
    " '[1]') RETURNING *",
    "insert past a table's triggers": "INSERT INTO lexeme_statistics_0 VALUES (%(collection)s, 'b', %(bob)s, 1)"
    " RETURNING *",
    "insert a word of her collection": "INSERT INTO lexeme_statistics VALUES (%(collection)s, 'b', %(bob)s, 1)"
    " RETURNING *",
    "insert an entity of her collection": "INSERT INTO entities (collection_id, entity_id, owner_id, key, name)"
    " VALUES (%(collection)s, gen_random_uuid(), %(bob)s, 'b', 'b') RETURNING *",
    "insert a result of her run": "INSERT INTO evaluation_results (collection_id, run_id, owner_id, position,"
    " case_id, query, category,"
    " difficulty, relevant_document_ids) VALUES (%(collection)s, %(run)s, %(bob)s, 0, gen_random_uuid(), 'q',"
    " 'c', 'd', '{}') RETURNING *",
    "share her conversation": "INSERT INTO shares (owner_id, hash, conversation_id, message_id)"
    " VALUES (%(bob)s, '\\x01', %(run)s, %(run)s) RETURNING *",
    "queue a job of hers": "INSERT INTO procrastinate_jobs (task_name, queue_name, args) VALUES ('clear', 'default',"
    " jsonb_build_object('owner_id', %(alice)s::text)) RETURNING *",
    "cancel her job": "UPDATE procrastinate_jobs SET status = 'cancelled' RETURNING *",
    "update by her name": f"{HER_NAME}; UPDATE chunks SET content = 'changed' RETURNING *",
    "insert by her name": f"{HER_NAME}; INSERT INTO lexeme_statistics VALUES (%(collection)s, 'planted', %(alice)s, 1)"
    " RETURNING *",
    "queue by her name": f"{HER_NAME}; INSERT INTO procrastinate_jobs (task_name, queue_name, args) VALUES"
    " ('clear', 'default', jsonb_build_object('owner_id', %(alice)s::text)) RETURNING *",
    "change the key": "UPDATE identity_key SET key = ''",
    "replace the check": "CREATE OR REPLACE FUNCTION causeway.current_owner() RETURNS text LANGUAGE sql AS"
    " $$ SELECT 'alice' $$",
    "drop a policy": "DROP POLICY owner ON causeway.chunks",
    "lift policies": "ALTER TABLE causeway.chunks DISABLE ROW LEVEL SECURITY",
    "drop a trigger": "DROP TRIGGER check_added ON causeway.lexeme_statistics",
    "take a table": "ALTER TABLE causeway.chunks OWNER TO CURRENT_USER",
    "make a superuser": "ALTER ROLE CURRENT_USER SUPERUSER",
    "grant itself a role": "GRANT causeway_worker TO CURRENT_USER",
}


@pytest.fixture
async def service(make_database: Callable[[], str]) -> AsyncIterator[Database]:
    """The database of a service whose login is a member of the application's role and owns nothing; Alice has rows."""
    url = make_database()
    with psycopg.connect(url) as connection:
        connection.execute(SETTINGS)
        for statement in PREPARED.split(";"):
            connection.execute(statement.encode(), VALUES)
    login = create_login(url, LOGIN, "NOINHERIT IN ROLE causeway_app")
    settings = {"database_url": SecretStr(login), "migration_url": SecretStr(url)}
    database = Database(Settings.from_environment(**settings))
    yield database
    await database.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP ROLE {LOGIN}")


async def rows_of(database: Database, statements: str) -> int:
    """Return how many rows the last of several statements shows or changes in a transaction of Bob's; 0 if refused."""
    async with database.transaction(BOB) as connection:
        try:
            for statement in statements.split("; "):
                cursor = await connection.execute(statement.encode(), VALUES)
            return len(await cursor.fetchall()) if cursor.description else 1
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ForeignKeyViolation):
            return 0


async def test_no_statement_reaches_rows_of_others(service: Database) -> None:
    """Security 1, 2: more than fifty ways to read or write another owner's rows succeed in none; her rows stay."""
    ways = READS | WRITES
    assert len(ways) >= 50
    found = {name: await rows_of(service, statements) for name, statements in ways.items()}
    assert {name: count for name, count in found.items() if count} == {}
    async with service.transaction(ALICE) as connection:
        cursor = await connection.execute("SELECT content FROM chunks")
        assert [row["content"] for row in await cursor.fetchall()] == ["secret"]
        cursor = await connection.execute("SELECT args ->> 'owner_id' AS owner FROM procrastinate_jobs")
        assert [row["owner"] for row in await cursor.fetchall()] == [ALICE]


async def test_her_own_statements_reach_her_rows(service: Database) -> None:
    """Security 1: what is refused to Bob is not refused to all: the statements are right."""
    reads = [READS[name] for name in ("by its key", "through the view", "jobs", "links", "what a link shows")]
    for statement in reads:
        async with service.transaction(ALICE) as connection:
            cursor = await connection.execute(statement.encode(), VALUES)
            assert len(await cursor.fetchall()) == 1, statement
    for name in ("insert as her", "queue a job of hers", "insert into her document"):
        statement = WRITES[name].replace("%(bob)s", "%(alice)s")
        async with service.transaction(ALICE) as connection:
            cursor = await connection.execute(statement.encode(), VALUES)
            assert len(await cursor.fetchall()) == 1, statement


async def run_on(database: Database, owner: str, pid: int, *statements: str) -> list[dict[str, object]]:
    """Run statements in a transaction of an owner on one connection of the pool; return the last one's rows."""
    for _ in range(20):
        async with database.transaction(owner) as connection:
            if connection.info.backend_pid != pid:
                continue
            for statement in statements:
                cursor = await connection.execute(statement.encode(), VALUES if "%(" in statement else None)
            return await cursor.fetchall() if cursor.description else []
    raise AssertionError("the pool has more connections than that")


async def connection_of(database: Database) -> int:
    async with database.transaction("") as connection:
        return connection.info.backend_pid


async def test_a_proof_is_none_in_another_transaction(service: Database) -> None:
    """Security 2: nor for another owner; that of a transaction's own moment and owner is one."""
    pid = await connection_of(service)
    seen = "SELECT current_setting('app.proof') AS proof, timestamptz_send(now()) AS began"
    ((hers, began),) = [(str(row["proof"]), row["began"]) for row in await run_on(service, ALICE, pid, seen)]
    assert isinstance(began, bytes)
    assert hers == proof(service.identity_key, ALICE, began)
    replayed = f"SELECT set_config('app.user_id', '{ALICE}', true), set_config('app.proof', '{hers}', true)"
    for name in (BOB, ""):
        with pytest.raises(DatabaseUnprepared, match="not proven"):
            await run_on(service, name, pid, replayed, "SELECT * FROM chunks")
    with pytest.raises(DatabaseUnprepared, match="not proven"):
        await run_on(service, BOB, pid, HER_NAME, "SELECT * FROM chunks")
    assert len(await run_on(service, ALICE, pid, "SELECT * FROM chunks")) == 1


# What Bob leaves in the session, and what Alice then does on it.
LEFT = {
    "a table before hers": (
        "CREATE TEMP TABLE lexeme_statistics AS SELECT 'w' AS lexeme; GRANT ALL ON pg_temp.lexeme_statistics TO PUBLIC",
        "SELECT lexeme FROM lexeme_statistics",
    ),
    "another way to look": (
        "CREATE TEMP TABLE lexeme_statistics AS SELECT 'w' AS lexeme; GRANT ALL ON pg_temp.lexeme_statistics TO PUBLIC;"
        " SET search_path = pg_temp, causeway",
        "SELECT lexeme FROM lexeme_statistics",
    ),
    "her role": ("SET ROLE causeway_app; SET app.user_id = 'bob'", "SELECT lexeme FROM lexeme_statistics"),
    "no time": ("SET statement_timeout = 1", "SELECT lexeme, pg_sleep(0.05) FROM lexeme_statistics"),
    "an error for every policy": ("SET row_security = off", "SELECT lexeme FROM lexeme_statistics"),
}


@pytest.mark.parametrize("name", LEFT)
async def test_what_is_left_in_a_session_does_not_reach_the_next(service: Database, name: str) -> None:
    """Security 2: settings, temporary tables and paths of one transaction mean nothing in another on its connection."""
    pid = await connection_of(service)
    left, hers = LEFT[name]
    await run_on(service, BOB, pid, *left.split("; "))
    found = await run_on(service, ALICE, pid, hers)
    assert [row["lexeme"] for row in found] == ["secret"]


async def test_no_statement_of_hers_is_one_that_was_prepared_for_her(service: Database) -> None:
    """Security 2: what Bob prepares under the names that the client would choose is not executed by Alice."""
    pid = await connection_of(service)
    planted = [f"PREPARE _pg3_{number} AS SELECT 'planted' AS lexeme" for number in range(20)]
    await run_on(service, BOB, pid, *planted)
    for _ in range(12):  # more often than a client waits before it prepares
        (row,) = await run_on(service, ALICE, pid, "SELECT lexeme FROM lexeme_statistics WHERE owner_id = %(alice)s")
        assert row["lexeme"] == "secret"


@pytest.mark.parametrize("planted", ["document", "word"])
def test_keys_are_validated_on_what_is_there(
    make_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    """Security 1: a document in another's collection stops the migration whole; words that nobody can reach are"
    " removed."""
    name = f"before_{planted}"
    server = make_database()
    with psycopg.connect(server, autocommit=True) as connection:
        create_database(connection, name)
    url = make_conninfo(server, dbname=name)
    with monkeypatch.context() as patched:
        before = {key: text for key, text in migrate_module.migration_scripts(set()).items() if key < "0021"}
        patched.setattr(migrate_module, "migration_scripts", lambda applied: before)
        migrate(url)
    with psycopg.connect(url) as connection:
        connection.execute(SETTINGS)
        for statement in PREPARED.split(";")[:2]:
            connection.execute(statement.encode(), VALUES)
        connection.execute(WRITES[f"insert a {planted} of her collection"].encode(), VALUES)
    with psycopg.connect(url, autocommit=True) as connection:
        if planted == "document":
            with pytest.raises(DatabaseUnprepared, match="documents_collection_id_owner_id_fkey"):
                migrate(url)
            assert connection.execute("SELECT max(name) FROM causeway.migrations").fetchone() == ("0020_tables.sql",)
        else:
            assert "0021_composite_keys.sql" in migrate(url)
            assert connection.execute("SELECT count(*) FROM causeway.lexeme_statistics").fetchone() == (0,)

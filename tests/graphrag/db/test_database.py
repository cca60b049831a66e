"""The database: identity, isolation, migrations."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.database import FIRST_OPENING_SECONDS, Database, queries
from graphrag.db.migrate import APPLICATION_ROLE, migrate
from graphrag.errors import DatabaseUnavailable
from graphrag.services import Services
from tests.logins import create_login

OWNED_TABLES = """
    SELECT relname, relrowsecurity, relforcerowsecurity, count(polname) AS policies,
           has_table_privilege(%s, c.oid, 'SELECT, INSERT, UPDATE, DELETE') AS usable,
           pg_get_userbyid(relowner) AS owner, relispartition
    FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attname = 'owner_id'
    LEFT JOIN pg_policy ON polrelid = c.oid
    WHERE relkind IN ('r', 'p') AND relnamespace = 'causeway'::regnamespace
    GROUP BY c.oid
"""
NAME_READERS = """
    SELECT name FROM (
        SELECT tablename || '.' || policyname, concat(qual, with_check) FROM pg_policies WHERE schemaname = 'causeway'
        UNION ALL SELECT viewname, definition FROM pg_views WHERE schemaname = 'causeway'
        UNION ALL SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'causeway'::regnamespace
    ) AS texts (name, text) WHERE text LIKE '%app.user_id%'
"""


def test_every_owned_table_is_isolated(postgres: str) -> None:
    """Security 1: a table with an owner_id has forced row level security and a policy, and the role does not own it;
    a partition has neither a policy nor rights: it is reached through its table alone, whose triggers check what is
    written.
    """
    with psycopg.connect(postgres) as connection:
        tables = connection.execute(OWNED_TABLES, [APPLICATION_ROLE]).fetchall()
    assert {"collections", "documents", "chunks", "chunk_embeddings", "lexeme_statistics"} <= {row[0] for row in tables}
    for name, enabled, forced, policies, usable, table_owner, is_partition in tables:
        assert enabled, name
        assert forced, name
        assert bool(policies) is not is_partition, name
        assert usable is not is_partition, name
        assert table_owner != APPLICATION_ROLE, name


def test_owner_is_read_where_it_is_proven(postgres: str) -> None:
    """Security 2: no policy, view or function reads the owner's name but the one that checks its proof."""
    with psycopg.connect(postgres) as connection:
        readers = connection.execute(NAME_READERS).fetchall()
    assert readers == [("current_owner",)]


def test_application_role_bypasses_nothing(postgres: str) -> None:
    """Security 1."""
    with psycopg.connect(postgres) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles WHERE rolname = %s",
            [APPLICATION_ROLE],
        ).fetchone()
    assert row == (False, False, False, False, False)


async def test_no_identity_sees_no_rows(services: Services, owner: str) -> None:
    """Security 2."""
    await services.store.create_collection(owner, "notes", embedding_model="bundled")
    async with services.database.transaction("") as connection:
        cursor = await connection.execute("SELECT count(*) AS n FROM collections")
        assert await cursor.fetchone() == {"n": 0}


async def test_identity_does_not_outlive_its_transaction(postgres: str, owner: str) -> None:
    """Security 2: on the same pooled connection the next transaction is nobody's."""
    database = Database(Settings.from_environment(database_url=SecretStr(postgres), database_pool_size=2))
    try:
        async with database.transaction(owner) as connection:
            pid = connection.info.backend_pid
            cursor = await connection.execute("SELECT current_user AS role, current_setting('app.user_id') AS owner")
            assert await cursor.fetchone() == {"role": APPLICATION_ROLE, "owner": owner}
        seen = set()
        for _ in range(20):
            assert database._pool is not None
            async with database._pool.connection() as connection:
                seen.add(connection.info.backend_pid)
                cursor = await connection.execute(
                    "SELECT current_user AS role, current_setting('app.user_id', true) AS owner"
                )
                row = await cursor.fetchone()
                assert row is not None
                assert row["role"] != APPLICATION_ROLE
                assert not row["owner"]
        assert pid in seen
    finally:
        await database.close()


async def run_until_cancelled(database: Database, owner: str, statement: str) -> int:
    """Of a transaction that is cancelled while the server is at work for it; the connection's process."""
    begun = asyncio.Event()
    pid = 0

    async def work() -> None:
        nonlocal pid
        async with database.transaction(owner) as connection:
            pid = connection.info.backend_pid
            begun.set()
            await connection.execute(statement)

    working = asyncio.create_task(work())
    await begun.wait()
    await asyncio.sleep(0)  # so that the statement is on its way
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    return pid


async def run_until_failed(database: Database, owner: str, statement: str) -> int:
    with pytest.raises(psycopg.errors.DivisionByZero):
        async with database.transaction(owner) as connection:
            pid: int = connection.info.backend_pid
            await connection.execute(statement)
    return pid


async def end_within(database: Database, owner: str, statement: str) -> int:
    """The code inside ends the transaction itself and goes on, on a connection that commits every statement."""
    async with database.transaction(owner) as connection:
        assert connection.autocommit
        await connection.execute(statement)
        cursor = await connection.execute("SELECT current_setting('app.user_id', true) AS owner")
        row = await cursor.fetchone()
        assert row is not None
        assert not row["owner"]
        return connection.info.backend_pid


ENDS = {
    "cancelled": (run_until_cancelled, "SELECT pg_sleep(60)"),
    "failed": (run_until_failed, "SELECT 1 / 0"),
    "committed within": (end_within, "COMMIT"),
    "rolled back within": (end_within, "ROLLBACK"),
}


@pytest.mark.parametrize("end", ENDS)
async def test_identity_ends_however_its_transaction_ends(postgres: str, owner: str, end: str) -> None:
    """Security 2: nothing of it is left on any connection of the pool, and the next one sees no row of the owner's."""
    database = Database(Settings.from_environment(database_url=SecretStr(postgres), database_pool_size=2))
    run, statement = ENDS[end]
    try:
        async with database.transaction(owner) as connection:
            await connection.execute(
                "INSERT INTO collections (collection_id, owner_id, name, embedding_model)"
                " VALUES (gen_random_uuid(), %s, 'notes', 'bundled')",
                [owner],
            )
        await run(database, owner, statement)
        assert database._pool is not None
        async with database._pool.connection() as one, database._pool.connection() as two:
            for connection in (one, two):
                cursor = await connection.execute(
                    "SELECT current_user = session_user AS own_role, current_setting('app.user_id', true) AS owner"
                )
                row = await cursor.fetchone()
                assert row is not None
                assert row["own_role"]
                assert not row["owner"]
                await connection.execute(f"SET ROLE {APPLICATION_ROLE}")
                cursor = await connection.execute("SELECT count(*) AS n FROM causeway.collections")
                assert await cursor.fetchone() == {"n": 0}
                await connection.execute("RESET ROLE")
    finally:
        await database.close()


@pytest.mark.parametrize(
    "name", ["o'higgins", "a', true); SELECT set_config('role', 'none", "50 %s", "back\\slash", "ñ 漢"]
)
async def test_identity_is_taken_as_it_is(services: Services, name: str) -> None:
    """Security 2: whatever the name holds, it is a name."""
    async with services.database.transaction(name) as connection:
        cursor = await connection.execute("SELECT current_user AS role, current_setting('app.user_id') AS owner")
        assert await cursor.fetchone() == {"role": APPLICATION_ROLE, "owner": name}


async def test_row_of_another_owner_cannot_be_written(services: Services, owner: str) -> None:
    """R4.8 the policy also checks what is written."""
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with services.database.transaction(owner) as connection:
            await connection.execute(
                "INSERT INTO collections (collection_id, owner_id, name, embedding_model)"
                " VALUES (gen_random_uuid(), 'somebody else', 'notes', 'bundled')"
            )


async def test_failed_transaction_leaves_nothing(services: Services, owner: str) -> None:
    with pytest.raises(RuntimeError):
        async with services.database.transaction(owner) as connection:
            await connection.execute(
                "INSERT INTO collections (collection_id, owner_id, name, embedding_model)"
                " VALUES (gen_random_uuid(), %s, 'notes', 'bundled')",
                [owner],
            )
            raise RuntimeError("in mid-transaction")
    assert await services.store.list_collections(owner) == []


def test_migrating_again_changes_nothing(make_database: Callable[[], str]) -> None:
    url = make_database()
    assert migrate(url) == []


def test_ready_database_needs_no_right_to_create(make_database: Callable[[], str]) -> None:
    """An administrator migrates once; the service's own role then only needs membership in the application's."""
    url = make_database()
    login = create_login(url, "plain_login", "IN ROLE causeway_app")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("GRANT SELECT ON causeway.migrations TO causeway_app")
    assert migrate(login) == []


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none?connect_timeout=1", "not a connection string"])
async def test_unreachable_database_names_the_way_out(url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="DATABASE_URL") as caught:
        await Database(Settings.from_environment(database_url=SecretStr(url))).open()
    assert "\n" not in str(caught.value)


async def test_first_opening_may_take_longer_than_a_request(postgres: str) -> None:
    """R11.3 a service that starts on a busy machine is not given up after the time that a request may wait."""
    database = Database(Settings.from_environment(database_url=SecretStr(postgres), database_timeout_seconds=1e-6))
    try:
        await database.open()
        assert database.pool_stats()["pool_size"] == 2
    finally:
        await database.close()


async def test_refused_login_of_requests_is_an_error_at_once(make_database: Callable[[], str]) -> None:
    """R11.3 where the owner of the tables may connect and the login of requests may not, the start says why."""
    owner_url = make_database()
    login = create_login(owner_url, "refused_login", "IN ROLE causeway_app CONNECTION LIMIT 0")
    database = Database(Settings.from_environment(database_url=SecretStr(login), migration_url=SecretStr(owner_url)))
    with pytest.raises(DatabaseUnavailable, match="too many connections for role"):
        async with asyncio.timeout(FIRST_OPENING_SECONDS / 2):
            await database.open()
    await database.close()


def test_password_stays_out_of_the_error() -> None:
    """Security 20."""
    with pytest.raises(DatabaseUnavailable) as caught:
        migrate("postgresql://me:geheim@[::1/db")
    assert "geheim" not in str(caught.value)


def test_queries_are_read_by_name(tmp_path: Path) -> None:
    script = tmp_path / "some.sql"
    script.write_text("-- name: one\nSELECT 1\n\n-- name: two\n-- a remark\nSELECT 2\n")
    assert queries(script) == {"one": "SELECT 1", "two": "-- a remark\nSELECT 2"}

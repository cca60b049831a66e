"""Keys of our own making: what is kept of them, and whom they tell."""

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from graphrag.authentication.api_keys import KEY, ApiKeys
from graphrag.authentication.identity import Identity, Scope
from graphrag.config.settings import Settings
from graphrag.db.database import Database
from graphrag.db.migrate import APPLICATION_ROLE
from graphrag.errors import ApiKeyNotFound, DatabaseUnavailable, Unauthorized
from graphrag.services import Services, open_services
from tests.api.identities import OVER, make_keys

ROLE = "causeway_authentication"


@pytest.fixture
def keys(services: Services) -> ApiKeys:
    return services.authentication.api_keys


async def test_a_key_tells_its_owner_and_what_it_may(keys: ApiKeys, owner: str) -> None:
    """Security 7."""
    kept, shown = await keys.create(owner, "laptop", scopes=[Scope.READ])
    assert await keys.list_all(owner) == [kept]
    assert await keys.identify(shown) == Identity(owner, frozenset({Scope.READ}))
    assert (kept.name, kept.scopes, kept.expires_at, kept.last_used_at) == ("laptop", ("read",), None, None)


async def test_a_key_may_read_and_write_where_nothing_else_is_said(keys: ApiKeys, owner: str) -> None:
    _, shown = await keys.create(owner, "laptop")
    assert (await keys.identify(shown)).scopes == {Scope.READ, Scope.WRITE}


async def test_secrets_are_long_random_and_hashed_at_rest(keys: ApiKeys, owner: str, postgres: str) -> None:
    """Security 8: 256 random bits, of which the database holds the SHA-256 alone."""
    made = [await keys.create(owner, "laptop") for _ in range(20)]
    secrets = {shown.split("_", 2)[2] for _, shown in made}
    assert len(secrets) == len({kept.id for kept, _ in made}) == 20
    assert {len(secret) for secret in secrets} == {43}  # base64 of 32 bytes
    with psycopg.connect(postgres) as connection:
        rows = connection.execute(
            "SELECT k.hash, k::text FROM causeway.api_keys k WHERE owner_id = %s", [owner]
        ).fetchall()
    assert {row[0] for row in rows} == {hashlib.sha256(secret.encode()).digest() for secret in secrets}
    assert not any(secret in text for _, text in rows for secret in secrets)


async def test_what_does_not_hold_is_refused_in_one_and_the_same_way(services: Services) -> None:
    """Security 7, 8: unknown, revoked, expired, malformed, another's secret: nobody learns which it was."""
    keys = await make_keys(services)
    said = set()
    for credential in [*keys.refused.values(), None, "", keys.a + "=", " " + keys.a, keys.a.replace("cw_", "CW_")]:
        with pytest.raises(Unauthorized) as caught:
            await services.authentication.api_keys.identify(credential)
        said.add((str(caught.value), str(caught.value.details)))
    assert len(said) == 1


@given(st.text(max_size=80) | st.from_regex(KEY, fullmatch=True).map(lambda key: key + "\n"))
def test_nothing_but_a_key_reaches_the_database(text: str) -> None:
    """Security 10: NUL, surrogates, other alphabets' digits."""
    nowhere = Database(Settings.from_environment(database_url=SecretStr("postgresql://nobody@127.0.0.1:1/none")))
    with pytest.raises(Unauthorized):
        asyncio.run(ApiKeys(nowhere).identify(text))


async def test_an_unreachable_database_is_no_wrong_key() -> None:
    """Security 8: whoever has a key is not told to make another."""
    nowhere = Database(Settings.from_environment(database_url=SecretStr("postgresql://nobody@127.0.0.1:1/none")))
    with pytest.raises(DatabaseUnavailable):
        await ApiKeys(nowhere).identify(f"cw_{'0' * 16}_{'A' * 43}")


async def test_a_revoked_key_stops_in_every_process_at_once(services: Services, postgres: str, owner: str) -> None:
    """Security 7: nobody keeps keys, not even for a moment."""
    other = open_services(Settings.from_environment(database_url=SecretStr(postgres)))
    kept, shown = await other.authentication.api_keys.create(owner, "laptop")
    assert (await services.authentication.api_keys.identify(shown)).owner_id == owner
    first = await other.authentication.api_keys.revoke(owner, kept.id)
    await other.close()
    with pytest.raises(Unauthorized):
        await services.authentication.api_keys.identify(shown)
    again = await services.authentication.api_keys.revoke(owner, kept.id)
    assert first.revoked_at == again.revoked_at


async def test_another_owner_can_neither_see_nor_revoke_a_key(keys: ApiKeys, owner: str) -> None:
    """R4.8"""
    kept, shown = await keys.create(owner, "laptop")
    assert await keys.list_all("somebody else") == []
    with pytest.raises(ApiKeyNotFound) as foreign:
        await keys.revoke("somebody else", kept.id)
    with pytest.raises(ApiKeyNotFound) as unknown:
        await keys.revoke("somebody else", "f" * 16)
    assert str(foreign.value).replace(kept.id, "") == str(unknown.value).replace("f" * 16, "")
    assert (await keys.identify(shown)).owner_id == owner


async def test_a_key_holds_until_its_day(keys: ApiKeys, owner: str) -> None:
    kept, shown = await keys.create(owner, "laptop", valid_for=timedelta(days=30))
    assert kept.expires_at is not None
    assert kept.expires_at - kept.created_at == timedelta(days=30)
    assert (await keys.identify(shown)).owner_id == owner
    _, over = await keys.create(owner, "laptop", valid_for=OVER)
    with pytest.raises(Unauthorized):
        await keys.identify(over)


async def test_last_use_is_noted_once_a_minute(services: Services, owner: str, postgres: str) -> None:
    """Nobody waits for it, and a busy key is not written with every request."""
    keys = services.authentication.api_keys
    kept, shown = await keys.create(owner, "laptop")

    async def use(times: int = 1) -> datetime | None:
        await asyncio.gather(*(keys.identify(shown) for _ in range(times)))
        await keys.close()
        return (await keys.list_all(owner))[0].last_used_at

    first = await use(20)
    assert first is not None
    assert abs(first - datetime.now(UTC)) < timedelta(hours=1)
    assert await use() == first
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "UPDATE causeway.api_keys SET last_used_at = last_used_at - interval '61 seconds' WHERE key_id = %s",
            [kept.id],
        )
    later = await use()
    assert later is not None
    assert later >= first


async def test_the_look_up_sees_one_row_of_a_known_id_and_changes_none(services: Services, owner: str) -> None:
    """Security 1: of the keys of others nothing can be read or written, but for the one whose id is given."""
    kept, _ = await services.authentication.api_keys.create(owner, "laptop")
    async with services.database.transaction("somebody else") as connection:
        cursor = await connection.execute("SELECT count(*) AS n FROM api_keys")
        assert await cursor.fetchone() == {"n": 0}
        found = await connection.execute("SELECT * FROM causeway.find_api_key(%s)", [kept.id])
        assert [row["owner_id"] for row in await found.fetchall()] == [owner]
        for pattern in ("%", "", None):
            assert not await (await connection.execute("SELECT * FROM causeway.find_api_key(%s)", [pattern])).fetchall()
        changed = await connection.execute("UPDATE api_keys SET revoked_at = now() WHERE key_id = %s", [kept.id])
        assert changed.rowcount == 0


def test_the_role_of_the_look_up_can_do_nothing_else(postgres: str) -> None:
    """Security 1."""
    with psycopg.connect(postgres) as connection:
        role = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles WHERE rolname = %s",
            [ROLE],
        ).fetchone()
        rights = connection.execute(
            "SELECT table_name, privilege_type FROM information_schema.role_table_grants WHERE grantee = %s", [ROLE]
        ).fetchall()
        functions = connection.execute(
            "SELECT proname, prosecdef, has_function_privilege(%s, oid, 'EXECUTE'), proacl::text"
            " FROM pg_proc WHERE pg_get_userbyid(proowner) = %s ORDER BY proname DESC",
            [APPLICATION_ROLE, ROLE],
        ).fetchall()
        creates = connection.execute("SELECT has_schema_privilege(%s, 'causeway', 'CREATE')", [ROLE]).fetchone()
    assert role == (False, False, False, False, False)
    assert sorted(rights) == [("api_keys", "SELECT"), ("identity_key", "SELECT"), ("shares", "SELECT")]
    *look_ups, owner_of = functions
    assert [found[:3] for found in look_ups] == [("find_share", True, True), ("find_api_key", True, True)]
    assert owner_of[:3] == ("current_owner", True, True)
    for *_, access in look_ups:
        assert not any(entry.startswith("=") for entry in access.strip("{}").split(","))  # nobody else may
    assert creates == (False,)


async def test_the_look_up_is_not_led_astray(services: Services, owner: str) -> None:
    """Security 1: a table of the asker's own making takes the place of none that the function reads."""
    kept, _ = await services.authentication.api_keys.create(owner, "laptop")
    async with services.database.transaction("somebody else") as connection:
        await connection.execute("CREATE TEMPORARY TABLE api_keys (owner_id text, key_id text) ON COMMIT DROP")
        await connection.execute("SET LOCAL search_path = pg_temp, causeway, public")
        found = await connection.execute("SELECT * FROM causeway.find_api_key(%s)", [kept.id])
        assert [row["owner_id"] for row in await found.fetchall()] == [owner]

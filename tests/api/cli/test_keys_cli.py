"""`causeway keys`."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.cli.keys import app
from graphrag.authentication.api_keys import KEY
from graphrag.errors import ApiKeyNotFound, CausewayError
from tests.api.commands import NOWHERE, causeway, one_line, rows

Keys = Callable[..., Result]


@pytest.fixture
def keys(postgres: str, owner: str) -> Keys:
    """Runs a command, where RAG_OWNER is this test's owner."""

    def run(*arguments: str, **environment: str) -> Result:
        return CliRunner().invoke(app, arguments, env={"DATABASE_URL": postgres, "RAG_OWNER": owner, **environment})

    return run


def read(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_key_is_shown_once(keys: Keys, owner: str) -> None:
    """Security 8: whoever lists keys learns none."""
    made = read(keys("create", "--name", "portátil de Ana", "--json"))
    shown = made.pop("key")
    (listed,) = read(keys("list", "--json"))["keys"]
    assert listed == made
    assert shown.split("_", 2)[2] not in json.dumps(listed)
    assert shown.startswith(f"cw_{listed['id']}_")
    assert (listed["owner_id"], listed["name"], listed["scopes"]) == (owner, "portátil de Ana", ["read", "write"])
    assert (listed["status"], listed["expires_at"], listed["last_used_at"]) == ("valid", None, None)


def test_scopes_and_an_end_are_chosen(keys: Keys) -> None:
    made = read(keys("create", "--scope", "metrics", "--scope", "read", "--expires-days", "30", "--json"))
    assert made["scopes"] == ["metrics", "read"]
    assert made["expires_at"] > made["created_at"]


def test_a_revoked_key_stays_in_the_list(keys: Keys) -> None:
    first, second = (read(keys("create", "--json")) for _ in range(2))
    assert read(keys("revoke", first["id"], "--json"))["status"] == "revoked"
    assert {key["id"]: key["status"] for key in read(keys("list", "--json"))["keys"]} == {
        first["id"]: "revoked",
        second["id"]: "valid",
    }


def test_each_owner_has_keys_of_its_own(keys: Keys, owner: str) -> None:
    """R4.8 Whose they are is named, or is RAG_OWNER; another's can't even be revoked by a mistake."""
    other = f"not-{owner}"
    made = read(keys("create", "--owner", owner, "--json", RAG_OWNER=other))
    assert made["owner_id"] == owner
    told = keys("create", "--owner", "Ana María").stderr
    assert re.search(r"To revoke it: causeway keys revoke [0-9a-f]{16} --owner 'Ana María'", told)
    assert keys("list", RAG_OWNER=other).stdout == f"{other} has no key. Create one: causeway keys create\n"
    unknown = keys("list", "--owner", "Ana Ruiz").stdout
    assert unknown == "Ana Ruiz has no key. Create one: causeway keys create --owner 'Ana Ruiz'\n"
    refused = keys("revoke", made["id"], RAG_OWNER=other)
    assert isinstance(refused.exception, ApiKeyNotFound)
    assert "causeway keys list" in str(refused.exception)
    assert keys("revoke", made["id"], "--owner", owner, RAG_OWNER=other).stdout == f"{made['id']} is revoked.\n"


def test_people_read_a_table_and_a_key_alone(keys: Keys, postgres: str, owner: str) -> None:
    """What a script takes is the key; what a person needs to know goes to standard error."""
    made = keys("create", "--name", "[bold]x")
    key = made.stdout.strip()
    assert KEY.fullmatch(key)
    assert "not shown again" in made.stderr
    assert key not in made.stderr
    listed = causeway("keys", "list", DATABASE_URL=postgres, RAG_OWNER=owner)
    assert listed.returncode == 0, listed.stderr
    owned, name, scopes, status, *_ = rows(listed.stdout)[key.split("_")[1]]
    assert (owned, name, scopes, status) == (owner, "[bold]x", "read write", "valid")
    assert key.split("_", 2)[2] not in listed.stdout
    narrow = causeway("keys", "list", DATABASE_URL=postgres, RAG_OWNER=owner, COLUMNS="80").stdout
    assert key.split("_")[1] in narrow  # for `revoke`


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", "--owner", ""), "--owner"),
        (("create", "--owner", " ana"), "--owner"),
        (("create", "--owner", "a\nb"), "--owner"),
        (("list", "--owner", "a" * 256), "--owner"),
        (("create", "--name", "a\tb"), "printed"),
        (("revoke", "no such id"), "has no key"),
    ],
)
def test_a_wrong_word_is_one_line(keys: Keys, arguments: tuple[str, ...], told: str) -> None:
    raised = keys(*arguments).exception
    assert isinstance(raised, CausewayError)
    assert told in str(raised)
    assert "\n" not in str(raised)


@pytest.mark.parametrize("arguments", [("--scope", "admin"), ("--expires-days", "0"), ("--expires-days", "99999999")])
def test_a_wrong_option_is_refused(keys: Keys, arguments: tuple[str, ...]) -> None:
    run = keys("create", *arguments)
    assert run.exit_code == 2
    assert arguments[0] in run.stderr


def test_jwt_without_its_settings_is_one_line() -> None:
    """Security 8: checked at start, by every command."""
    told = one_line(causeway("keys", "list", RAG_AUTH="jwt", RAG_JWT_ISSUER="https://i.example", **NOWHERE))
    assert "RAG_JWT_AUDIENCE, RAG_JWT_JWKS" in told

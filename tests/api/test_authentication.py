"""The service where it asks who is there, in a process of its own: keys, tokens, and what is refused."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from api.app import create_app
from api.serving import listen
from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings
from graphrag.services import Services, open_services
from tests.api.expectations import check_error
from tests.api.identities import Keys, make_keys_in, shown
from tests.api.scripted import ENDLESS, asking, wait_for_disconnects
from tests.conftest import run_server, run_server_here, with_services
from tests.graphrag.authentication.issuer import AUDIENCE, ISSUER, IssuerServer, jwks, serving, sign
from tests.model_server import ModelServer

JWT = {"RAG_AUTH": "jwt", "RAG_JWT_ISSUER": ISSUER, "RAG_JWT_AUDIENCE": AUDIENCE}


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def keys(database: str) -> Keys:
    return make_keys_in(database)


@pytest.fixture(scope="module")
def client(database: str) -> Iterator[httpx.Client]:
    """Of a service that can be reached from other machines."""
    settings = {"RAG_AUTH": "api_key", "RAG_REFUSALS_PER_MINUTE": "0", "RAG_WORKER": "false"}
    with run_server("--host", "0.0.0.0", DATABASE_URL=database, **settings) as server:
        port = server.url.rpartition(":")[2]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client


def test_a_refusal_says_what_is_to_be_shown(client: httpx.Client, keys: Keys) -> None:
    """Security 7: and nobody what was wrong with a key. Of all operations tests/security/test_matrix.py asks."""
    said = [client.get("/api/v1/collections", headers=shown(key)) for key in keys.refused.values()]
    for refused in (*said, client.get("/api/v1/collections")):
        check_error(refused, 401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Basic {a}", "{a}", "Bearer {a} {a}", "Bearer {a}=", "bearer  {b}x", "Token {a}"],
)
def test_only_a_whole_key_in_its_place_is_read(client: httpx.Client, keys: Keys, header: str) -> None:
    """Security 7."""
    headers = {"Authorization": header.format(a=keys.a, b=keys.b)}
    check_error(client.get("/api/v1/collections", headers=headers), 401, "unauthorized")


def test_nothing_is_taken_from_a_stranger(client: httpx.Client) -> None:
    """Security 16: the answer comes before the body does; only the head of the request is sent here."""
    address = client.base_url
    head = (
        "POST /api/v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        "Content-Length: 9000000\r\n\r\n--x\r\n"
    )
    with socket.create_connection((address.host, address.port or 80), timeout=30) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 401 ")


def test_a_body_that_is_no_json_is_not_read_before_the_key(client: httpx.Client) -> None:
    response = client.post("/api/v1/chat", content=b"{", headers={"Content-Type": "application/json"})
    check_error(response, 401, "unauthorized")


def test_a_key_in_the_address_or_a_cookie_is_none(client: httpx.Client, keys: Keys) -> None:
    """Security 20: addresses end up in logs; a cookie is sent by whoever makes a browser ask."""
    for name in ("key", "api_key", "token", "access_token", "authorization"):
        check_error(client.get("/api/v1/collections", params={name: keys.a}), 401, "unauthorized")
        check_error(client.get("/api/v1/collections", headers={"Cookie": f"{name}={keys.a}"}), 401, "unauthorized")


def test_each_owner_sees_its_own(client: httpx.Client, keys: Keys) -> None:
    """R4.8"""
    made = client.put("/api/v1/collections/notes", json={}, headers=shown(keys.a))
    assert made.is_success, made.text
    assert "notes" in client.get("/api/v1/collections", headers=shown(keys.a)).text
    assert "notes" in client.get("/api/v1/collections", headers=shown(keys.read_only_of_a)).text
    assert "notes" not in client.get("/api/v1/collections", headers=shown(keys.b)).text


def test_a_key_that_may_only_read_changes_nothing(client: httpx.Client, keys: Keys) -> None:
    """Security 7: 403 names what is lacking, in the asker's language."""
    response = client.put("/api/v1/collections/new", json={}, headers=shown(keys.read_only_of_a))
    assert check_error(response, 403, "forbidden")["details"] == {"scope": "write"}
    headers = shown(keys.read_only_of_a) | {"Accept-Language": "fr"}
    french = client.delete("/api/v1/collections/notes", headers=headers)
    assert "l'autorisation « write »" in check_error(french, 403, "forbidden")["message"]
    assert "new" not in client.get("/api/v1/collections", headers=shown(keys.a)).json()["collections"]


def test_metrics_are_for_their_readers_alone(client: httpx.Client, keys: Keys) -> None:
    """Security 7: they are of all owners together; and who reads them reads no document."""
    assert client.get("/metrics", headers=shown(keys.metrics_of_a)).is_success
    check_error(client.get("/metrics", headers=shown(keys.a)), 403, "forbidden")
    check_error(client.get("/api/v1/collections", headers=shown(keys.metrics_of_a)), 403, "forbidden")


def test_a_key_stops_at_once(client: httpx.Client, database: str) -> None:
    """Security 7: revoked by another process."""
    made = make_keys_in(database)
    assert client.get("/api/v1/collections", headers=shown(made.a)).is_success
    with_services(
        database, lambda services: services.authentication.api_keys.revoke(made.owner_a, made.a.split("_")[1])
    )
    check_error(client.get("/api/v1/collections", headers=shown(made.a)), 401, "unauthorized")


def test_a_revoked_key_ends_its_open_streams(model: ModelServer, make_database: Callable[[], str]) -> None:
    """Security 7: within a few seconds, and the model's work with them; another key's stream goes on."""
    database = make_database()
    made = make_keys_in(database)
    model.script(ENDLESS, ENDLESS)
    body = {"message": "Hello?", "rag_enabled": False}
    settings = {"RAG_AUTH": "api_key", "RAG_STREAM_GRACE_SECONDS": "0.5"}
    environment = asking(model, DATABASE_URL=database, **settings)
    with ExitStack() as stack:
        address = stack.enter_context(run_server_here(**environment))
        client = stack.enter_context(httpx.Client(base_url=address, timeout=60))
        first, second = (
            stack.enter_context(client.stream("POST", "/api/v1/chat/stream", json=body, headers=shown(key)))
            for key in (made.a, made.b)
        )
        assert first.headers["cache-control"] == "no-store"
        lines, others = first.iter_lines(), second.iter_lines()
        assert next(line for line in lines if line == "event: token")
        with_services(
            database, lambda services: services.authentication.api_keys.revoke(made.owner_a, made.a.split("_")[1])
        )
        assert "event: done" not in list(lines)
        wait_for_disconnects(model, 1)
        assert [next(others) for _ in range(100)]
        check_error(client.post("/api/v1/chat/stream", json=body, headers=shown(made.a)), 401, "unauthorized")


def test_failures_are_counted_by_the_real_address(database: str, keys: Keys) -> None:
    """Security 8, 16: nobody writes itself another one; a trusted proxy says whose request it is."""
    guess = shown(keys.unknown)
    counting = {"RAG_AUTH": "api_key", "RAG_REFUSALS_PER_MINUTE": "3"}
    settings = {"DATABASE_URL": database, "RAG_WORKER": "false", **counting}

    def told(client: httpx.Client, *forwarded: str) -> list[int]:
        headers = [guess | {"X-Forwarded-For": address} for address in forwarded]
        return [client.get("/api/v1/collections", headers=each).status_code for each in headers]

    with run_server(**settings, FORWARDED_ALLOW_IPS="192.0.2.1") as server, server.client() as client:
        assert told(client, *(f"198.51.100.{number}" for number in range(9)))[-4:] == [429] * 4
    with run_server(**settings, FORWARDED_ALLOW_IPS="127.0.0.1") as server, server.client() as client:
        assert told(client, *(f"198.51.100.{number}, 203.0.113.7" for number in range(9)))[-4:] == [429] * 4
        assert told(client, "203.0.113.7, 203.0.113.8") == [401]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_nobody_beyond_this_machine_is_served_unasked(host: str) -> None:
    """Security 8."""
    with pytest.raises(InvalidSettings, match="RAG_AUTH=api_key"):
        listen(host, 0, asks_nobody=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost"])
def test_this_machine_is_served_unasked(host: str) -> None:
    with listen(host, 0, asks_nobody=True) as listener:
        assert listener.family is socket.AF_INET


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerServer]:
    with serving(jwks("rsa-1", "ed-1")) as server:
        yield server


@pytest.fixture(scope="module")
def token_client(issuer: IssuerServer, make_database: Callable[[], str]) -> Iterator[httpx.Client]:
    settings = {"RAG_JWT_JWKS": issuer.url, "RAG_REFUSALS_PER_MINUTE": "0", **JWT}
    with (
        run_server_here(DATABASE_URL=make_database(), **settings) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def test_a_token_of_the_issuer_is_a_way_in(token_client: httpx.Client) -> None:
    """Security 7: the issuer's keys come over HTTP; its scopes are ours."""
    writer, reader = shown(sign("rsa-1")), shown(sign("ed-1", sub="bea", scope="openid read"))
    assert token_client.put("/api/v1/collections/notes", json={}, headers=writer).is_success
    assert "notes" in token_client.get("/api/v1/collections", headers=writer).text
    assert "notes" not in token_client.get("/api/v1/collections", headers=reader).text
    check_error(token_client.put("/api/v1/collections/mine", json={}, headers=reader), 403, "forbidden")
    check_error(token_client.get("/metrics", headers=writer), 403, "forbidden")


@pytest.mark.parametrize(
    "token", [sign("rsa-2"), sign(aud="other"), sign(exp=1), sign(sub="a\0"), f"cw_{'0' * 16}_{'A' * 43}", "x" * 20_000]
)
def test_other_tokens_are_refused_as_no_token_is(token_client: httpx.Client, token: str) -> None:
    """Security 8: 401 in the same words, whatever was wrong."""
    refused, nothing_shown = (token_client.get("/api/v1/collections", headers=h) for h in (shown(token), {}))
    assert refused.headers["www-authenticate"] == "Bearer"
    said = check_error(refused, 401, "unauthorized")
    assert said | {"request_id": ""} == check_error(nothing_shown, 401, "unauthorized") | {"request_id": ""}


def app_with_tokens(database_url: str, source: str) -> tuple[Services, httpx.AsyncClient]:
    """In this process; the issuer's keys as RAG_JWT_JWKS names them."""
    settings = Settings.from_environment(
        database_url=SecretStr(database_url), auth="jwt", jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks=source
    )
    services = open_services(settings)
    transport = httpx.ASGITransport(create_app(services))
    return services, httpx.AsyncClient(transport=transport, base_url="http://localhost")


async def test_the_issuers_keys_may_lie_in_a_file(postgres: str, tmp_path: Path) -> None:
    """Security 8."""
    file = tmp_path / "jwks.json"
    file.write_text(jwks("ec-1"))
    services, client = app_with_tokens(postgres, str(file))
    async with client:
        assert (await client.get("/api/v1/collections", headers=shown(sign("ec-1")))).is_success
        refused = await client.get("/api/v1/collections", headers=shown(sign("ec-2")))
    await services.close()
    check_error(refused, 401, "unauthorized")


async def test_an_issuer_that_does_not_answer_is_no_wrong_token(postgres: str) -> None:
    """Security 16: 503, so that a client tries again and does not throw its token away."""
    services, client = app_with_tokens(postgres, "http://127.0.0.1:1/jwks.json")
    async with client:
        response = await client.get("/api/v1/collections", headers=shown(sign("ec-1")))
    await services.close()
    check_error(response, 503, "authentication_unavailable")


async def test_settings_that_let_nobody_in_are_refused_at_start(postgres: str, tmp_path: Path) -> None:
    """Security 8."""
    services, _ = app_with_tokens(postgres, str(tmp_path / "missing.json"))
    with pytest.raises(InvalidSettings, match="RAG_JWT_JWKS"):
        await services.open()
    await services.close()

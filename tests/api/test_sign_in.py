"""Sign-in by an OpenID provider, with a service and a provider in their own processes and threads, over HTTP."""

import base64
import json
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import time_machine
from pydantic import SecretStr

from api.middleware.authentication import SESSION_COOKIE
from api.routes.sign_in import ATTEMPT_COOKIE, FAILED
from graphrag.authentication.sessions import FILE
from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings
from graphrag.services import open_services
from tests.api.expectations import check_error
from tests.api.identities import Keys, make_keys_in, shown
from tests.conftest import Server, run_server, run_server_here
from tests.graphrag.authentication.issuer import claims, sign
from tests.graphrag.authentication.provider import OpenIdProvider, providing

COLLECTIONS = "/api/v1/collections"
JWKS = "https://issuer.example/jwks"
HOUR = 3_600


@pytest.fixture(scope="module")
def running() -> Iterator[OpenIdProvider]:
    with providing() as provider:
        yield provider


@pytest.fixture
def provider(running: OpenIdProvider) -> Iterator[OpenIdProvider]:
    """As it was, whatever a test changes."""
    yield running
    running.id_token, running.changed, running.discovery = sign, {}, {}


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def keys(database: str) -> Keys:
    return make_keys_in(database)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(running: OpenIdProvider, database: str, home: Path) -> Iterator[Server]:
    settings = {"RAG_AUTH": "api_key", "RAG_REFUSALS_PER_MINUTE": "0", "CAUSEWAY_HOME": str(home)}
    with run_server(DATABASE_URL=database, **settings, **running.environment) as server:
        yield server


@pytest.fixture
def browser(server: Server) -> Iterator[httpx.Client]:
    """Keeps cookies, and says where its changes come from, as a page's requests do."""
    with httpx.Client(base_url=server.url, headers={"Origin": server.url}, timeout=30) as client:
        yield client


def asked_for(browser: httpx.Client, **query: str) -> httpx.URL:
    """Where the service sends who signs in."""
    response = browser.get("/api/v1/sign-in", params=query)
    assert response.status_code == 303, response.text
    return httpx.URL(response.headers["location"])


def answered(browser: httpx.Client, user: str, **query: str) -> httpx.URL:
    """Where the provider sends who has signed in there."""
    address = asked_for(browser, **query).copy_merge_params({"user": user})
    return httpx.URL(httpx.get(address).headers["location"])


def sign_in(browser: httpx.Client, user: str = "ana", **query: str) -> str:
    """Return where the page goes then."""
    back = browser.get(answered(browser, user, **query))
    assert back.status_code == 303, back.text
    return str(back.headers["location"])


def test_who_signs_in_has_documents_of_their_own(browser: httpx.Client, server: Server, keys: Keys) -> None:
    """R4.8, security 3, 7: a session is an owner's, as a key is; another's sees nothing of it, nor does a key's."""
    check_error(browser.get(COLLECTIONS), 401, "unauthorized")
    assert browser.get("/api/v1/session").json() == {"sign_in": True, "name": None}
    assert sign_in(browser, next="/#c=1") == "/#c=1"
    assert browser.get("/api/v1/session").json() == {"sign_in": True, "name": "Ana"}
    assert browser.put(f"{COLLECTIONS}/of-ana", json={}).is_success
    assert "of-ana" in browser.get(COLLECTIONS).text
    with httpx.Client(base_url=server.url, headers={"Origin": server.url}) as other:
        sign_in(other, "bea")
        assert other.get(COLLECTIONS).json()["collections"] == []
        check_error(other.delete(f"{COLLECTIONS}/of-ana"), 404, "collection_not_found")
        check_error(other.get("/metrics"), 403, "forbidden")
    assert "of-ana" not in browser.get(COLLECTIONS, headers=shown(keys.a)).text


def test_keys_stay_a_way_in(browser: httpx.Client, keys: Keys) -> None:
    """Security 7: and a key that is shown counts, not the session beside it."""
    assert browser.get(COLLECTIONS, headers=shown(keys.a)).is_success
    sign_in(browser)
    check_error(browser.get(COLLECTIONS, headers=shown(keys.unknown)), 401, "unauthorized")


def test_who_signs_out_is_out(browser: httpx.Client) -> None:
    """Security 7."""
    sign_in(browser)
    assert browser.post("/api/v1/sign-out").status_code == 204
    assert SESSION_COOKIE not in browser.cookies
    check_error(browser.get(COLLECTIONS), 401, "unauthorized")


def test_cookies_are_for_the_service_alone(browser: httpx.Client) -> None:
    """Security 7: no script reads them, no other site's request brings them; with https, no other connection does."""
    callback = answered(browser, "ana")
    begun = browser.get("/api/v1/sign-in").headers["set-cookie"]
    callback = answered(browser, "ana")
    ended = browser.get(callback, headers={"X-Forwarded-Proto": "https"}).headers.get_list("set-cookie")
    for cookie in (begun, ended[0]):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/" in cookie
    assert "Secure" in ended[0]
    assert "Secure" not in begun
    assert ended[1].startswith(f'{ATTEMPT_COOKIE}=""')


def test_a_page_of_another_site_changes_nothing_by_the_cookie(browser: httpx.Client, server: Server) -> None:
    """Security 8: nor does a request that does not say which page it is of; reading is as ever."""
    sign_in(browser)
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": f"{server.url}0"}):
        for response in (
            browser.put(f"{COLLECTIONS}/evil", json={}, headers=headers),
            browser.post("/api/v1/sign-out", headers=headers),
        ):
            check_error(response, 403, "foreign_origin")
    cookie = {"Cookie": f"{SESSION_COOKIE}={browser.cookies[SESSION_COOKIE]}"}
    check_error(httpx.put(f"{server.url}{COLLECTIONS}/evil", json={}, headers=cookie), 403, "foreign_origin")
    assert "evil" not in browser.get(COLLECTIONS, headers={"Origin": "https://evil.example"}).text


def part(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


def unsigned(**changed: Any) -> str:
    return f"{part({'alg': 'none', 'kid': 'rsa-1'})}.{part(claims(**changed))}."


FORGED: dict[str, dict[str, Any]] = {
    "nonce": {"changed": {"nonce": "another"}},
    "no nonce": {"changed": {"nonce": None}},
    "audience": {"changed": {"aud": "another"}},
    "authorized party": {"changed": {"aud": ["causeway", "another"], "azp": "another"}},
    "issuer": {"changed": {"iss": "https://issuer.example"}},
    "expired": {"changed": {"exp": 1}},
    "no expiry": {"changed": {"exp": None}},
    "owner": {"changed": {"sub": "x" * 300}},
    "signature": {"id_token": lambda **changed: sign("rsa-2", headers={"kid": "rsa-1"}, **changed)},
    "unknown key": {"id_token": lambda **changed: sign("rsa-2", **changed)},
    "alg none": {"id_token": unsigned},
    "no token": {"id_token": lambda **_: ""},
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_forged_tokens_sign_nobody_in(browser: httpx.Client, provider: OpenIdProvider, forged: dict[str, Any]) -> None:
    """Security 7, 8: the page says that it failed, and there is no session."""
    for name, value in forged.items():
        setattr(provider, name, value)
    assert sign_in(browser) == FAILED
    assert SESSION_COOKIE not in browser.cookies
    check_error(browser.get(COLLECTIONS), 401, "unauthorized")


@pytest.mark.parametrize(
    "changed", [{"state": "another"}, {"state": ""}, {"iss": "https://evil.example"}, {"code": "x"}]
)
def test_forged_answers_sign_nobody_in(browser: httpx.Client, changed: dict[str, str]) -> None:
    """Security 7: another's state, another provider's answer, an invented code."""
    address = answered(browser, "ana").copy_merge_params(changed)
    assert browser.get(address).headers["location"] == FAILED
    assert SESSION_COOKIE not in browser.cookies


def test_an_answer_holds_once_and_for_its_browser(browser: httpx.Client, server: Server) -> None:
    """Security 7: who sends somebody the address of an answer does not sign them in as another."""
    address = answered(browser, "ana")
    assert httpx.get(address).headers["location"] == FAILED
    with httpx.Client(base_url=server.url) as victim:
        asked_for(victim)
        assert victim.get(address).headers["location"] == FAILED
        assert SESSION_COOKIE not in victim.cookies
    attempt = browser.cookies[ATTEMPT_COOKIE]
    assert browser.get(address).headers["location"] == "/"
    browser.cookies.set(ATTEMPT_COOKIE, attempt)
    assert browser.get(address).headers["location"] == FAILED


def test_who_is_refused_by_the_provider_comes_back(browser: httpx.Client) -> None:
    """R9.1"""
    assert sign_in(browser, "nobody") == FAILED


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "/a b", "/\n"])
def test_nobody_is_sent_to_another_site(browser: httpx.Client, path: str) -> None:
    """Security 11."""
    check_error(browser.get("/api/v1/sign-in", params={"next": path}), 422, "invalid_request")


def test_a_forged_session_is_none(browser: httpx.Client, keys: Keys) -> None:
    """Security 7: another key's, another purpose's, none's; nor is an API key one in a cookie."""
    asked_for(browser)
    attempt = browser.cookies[ATTEMPT_COOKIE]
    sign_in(browser)
    head, payload, signature = browser.cookies[SESSION_COOKIE].split(".")
    changed = payload[:-4] + ("AAAA" if payload[-4:] != "AAAA" else "BBBB")
    none = f"cws_{part({'alg': 'none'})}.{payload}."
    for session in (f"{head}.{changed}.{signature}", none, f"cws_{attempt}", f"cws_{sign()}", keys.a, "cws_", "x"):
        response = httpx.get(browser.base_url.join(COLLECTIONS), headers={"Cookie": f"{SESSION_COOKIE}={session}"})
        check_error(response, 401, "unauthorized")


def test_what_signs_sessions_is_its_owner_s_alone(browser: httpx.Client, home: Path) -> None:
    """Security 20: a file of mode 0600, in no log."""
    sign_in(browser)
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600


def test_a_session_ends(provider: OpenIdProvider, database: str, tmp_path: Path) -> None:
    """Security 7: it is told from a key that is missing, in the reader's language; the setting's secret signs it."""
    settings = {
        "RAG_AUTH": "api_key",
        "RAG_SESSION_HOURS": "1",
        "RAG_SESSION_SECRET": "s" * 32,
        "RAG_OIDC_OWNER_CLAIM": "email",
        "CAUSEWAY_HOME": str(tmp_path),
    }
    with (
        run_server_here(DATABASE_URL=database, **settings, **provider.environment) as address,
        httpx.Client(base_url=address, headers={"Accept-Language": "es"}) as browser,
    ):
        sign_in(browser)
        assert browser.get(COLLECTIONS).is_success
        with time_machine.travel(time.time() + HOUR):
            error = check_error(browser.get(COLLECTIONS), 401, "unauthorized")
            assert browser.get("/api/v1/session").json() == {"sign_in": True, "name": None}
        assert error["details"] == {"reason": "session_ended"}
        assert error["message"] == "Su sesión ha terminado. Inicie sesión de nuevo."
        for unproved in (False, None):
            provider.changed = {"email_verified": unproved}
            assert sign_in(browser) == FAILED
        assert not (tmp_path / FILE).exists()


def tokens_of(provider: OpenIdProvider) -> dict[str, str]:
    """RAG_AUTH=jwt, with tokens of the same issuer."""
    return {"RAG_AUTH": "jwt", "RAG_JWT_ISSUER": provider.issuer, "RAG_JWT_AUDIENCE": "api", "RAG_JWT_JWKS": JWKS}


def test_a_public_client_and_a_secret_in_the_form(make_database: Callable[[], str]) -> None:
    """R9.1 As the provider describes itself, which is asked for its addresses and keys once; beside tokens, too."""
    database = make_database()
    for chosen in ({"secret": None}, {"auth_methods": ("client_secret_post",)}):
        with (
            providing(**chosen) as provider,
            run_server_here(DATABASE_URL=database, **tokens_of(provider), **provider.environment) as address,
            httpx.Client(base_url=address) as browser,
        ):
            assert sign_in(browser) == sign_in(browser, "bea") == "/"
            assert browser.get(COLLECTIONS).is_success
            assert provider.asked.count("/.well-known/openid-configuration") == provider.asked.count("/jwks") == 1


@pytest.mark.parametrize("told", [{"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/"}])
def test_a_provider_that_is_another_is_not_asked(told: dict[str, str], database: str, home: Path) -> None:
    """Security 11: nor is one that would be asked without https."""
    with (
        providing(discovery=told) as provider,
        run_server_here(DATABASE_URL=database, RAG_AUTH="api_key", **provider.environment) as address,
    ):
        assert httpx.get(f"{address}/api/v1/sign-in").headers["location"] == FAILED


def test_an_address_does_not_sign_in_without_end(provider: OpenIdProvider, database: str) -> None:
    """Security 16: each of its requests makes the service ask the provider."""
    settings = {"RAG_AUTH": "api_key", "RAG_RATE_PER_MINUTE": "5"}
    with run_server_here(DATABASE_URL=database, **settings, **provider.environment) as address:
        for path in ("sign-in", "sign-in/callback"):
            told = [httpx.get(f"{address}/api/v1/{path}") for _ in range(9)]
            check_error(told[-1], 429, "rate_limited")


def test_without_a_provider_there_is_no_sign_in(demo_server: Server) -> None:
    """R9.1"""
    assert httpx.get(f"{demo_server.url}/api/v1/session").json() == {"sign_in": False, "name": None}
    check_error(httpx.get(f"{demo_server.url}/api/v1/sign-in"), 404, "not_found")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"auth": "api_key", "oidc_issuer": "https://id.example"}, "RAG_OIDC_CLIENT_ID"),
        ({"auth": "none", "oidc_issuer": "https://id.example", "oidc_client_id": "x"}, "RAG_AUTH"),
        ({"auth": "api_key", "oidc_issuer": "http://id.example", "oidc_client_id": "x"}, "https"),
        ({"auth": "api_key", "oidc_issuer": "id.example", "oidc_client_id": "x"}, "no address"),
    ],
)
def test_settings_that_can_t_work_are_refused_at_start(postgres: str, settings: dict[str, str], named: str) -> None:
    """Security 8."""
    with pytest.raises(InvalidSettings, match=named):
        open_services(Settings.from_environment(database_url=SecretStr(postgres), **settings))


def test_pkce_is_asked_for_with_a_new_challenge_each_time(browser: httpx.Client) -> None:
    """Security 7."""
    asked = [parse_qs(urlsplit(str(asked_for(browser))).query) for _ in range(2)]
    for name in ("state", "nonce", "code_challenge"):
        assert asked[0][name] != asked[1][name]
    assert asked[0]["from"] == ["discovery"]  # what the provider's address has stays

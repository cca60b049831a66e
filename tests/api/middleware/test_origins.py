"""From where the service may be used: names of this machine, and pages of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from api.middleware.observability import RequestIdentity
from api.middleware.origins import PORTS, CrossOrigin, OriginCheck, host_name, read_origin
from graphrag.authentication.identity import is_loopback
from graphrag.config.settings import Settings
from tests.api.commands import causeway, one_line
from tests.api.expectations import check_error
from tests.conftest import Server, run_server

PROXY, FRIEND, STRANGER = "rag.example.org", "https://friend.example:8443", "https://evil.example"
COLLECTIONS = "/api/v1/collections"


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    known = {"RAG_ALLOWED_HOSTS": f" {PROXY.upper()}, ", "RAG_CORS_ORIGINS": f"{FRIEND}/,https://other.example"}
    with run_server(DATABASE_URL=make_database(), RAG_WORKER="false", **known) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("es", "El servicio no acepta el nombre de host «{}»"),
        ("fr", "Le service n'accepte pas le nom d'hôte « {} »"),
        ("en", "The service does not accept the host name “{}”"),
    ],
)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "localhost@evil.example", "192.0.2.7", "["]
)
def test_a_name_that_is_not_ours_is_refused(client: httpx.Client, host: str, language: str, words: str) -> None:
    """Security 8: a page whose own name leads to this machine (DNS rebinding) reads nothing."""
    for path in (COLLECTIONS, "/", "/openapi.json", "/health", "/nothing"):
        error = check_error(
            client.get(path, headers={"Host": host, "Accept-Language": language}), 403, "foreign_origin"
        )
        assert error["details"] == {"reason": "host", "given": host}
        assert error["message"].startswith(words.format(host))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:9", "127.8.8.8", "[::1]:8000", PROXY])
def test_this_machine_s_names_and_the_proxy_s_are_ours(client: httpx.Client, host: str) -> None:
    """Security 8: RAG_ALLOWED_HOSTS."""
    assert client.get(COLLECTIONS, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        *(STRANGER, "null", "", "http://localhost:1", f"{FRIEND}.evil.example", "garbage", "http://[", "http://x:y"),
        *("https://{host}", "chrome-extension://{host}", "http://{host}0", "{host}", "http://u@{host}", "//{host}"),
    ],
)
def test_a_page_of_another_site_changes_nothing(client: httpx.Client, server: Server, origin: str) -> None:
    """Security 8: by what a browser sends without asking first: forms, uploads, plain text, empty posts.

    A site is its scheme, name and port: one of another scheme is another's, also on this host.
    """
    origin = origin.replace("{host}", server.url.partition("://")[2])
    headers = {"Origin": origin, "Accept-Language": "en"}
    answers = [
        client.post(
            "/api/v1/documents", files={"files": ("a.txt", "Nota.")}, data={"collection": "evil"}, headers=headers
        ),
        client.post("/api/v1/documents/reindex", headers=headers),
        client.post("/api/v1/chat", content=b'{"message": "hola"}', headers=headers | {"Content-Type": "text/plain"}),
        client.put(f"{COLLECTIONS}/evil", json={}, headers=headers),
        client.delete(f"{COLLECTIONS}/evil", headers=headers),
    ]
    for answer in answers:
        error = check_error(answer, 403, "foreign_origin")
        assert error["details"] == {"reason": "origin", "given": origin}
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert "evil" not in [collection["name"] for collection in client.get(COLLECTIONS).json()["collections"]]


def test_its_own_page_and_programs_may_change_things(client: httpx.Client, server: Server) -> None:
    """Security 8: whatever port it has, and also behind a proxy that speaks TLS."""
    own = [
        {},
        {"Origin": server.url},
        {"Origin": f"http://{PROXY}", "Host": f"{PROXY}:80"},
        {"Origin": f"https://{PROXY}", "Host": PROXY, "X-Forwarded-Proto": "https"},
        {"Origin": f"https://{PROXY}:444", "Host": f"{PROXY}:444", "X-Forwarded-Proto": "https"},
        {"Origin": "http://127.0.0.1:9", "Host": "127.0.0.1:9"},
    ]
    for headers in own:
        assert client.put(f"{COLLECTIONS}/notas", json={}, headers=headers).status_code == 200


def test_a_known_site_s_pages_may_use_the_service(client: httpx.Client) -> None:
    """Security 8: RAG_CORS_ORIGINS, never with credentials; also what is refused can be read there."""
    asked = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization,content-type"}
    preflight = client.options(f"{COLLECTIONS}/notas", headers={"Origin": FRIEND} | asked)
    assert preflight.status_code == 200
    assert "PUT" in preflight.headers["access-control-allow-methods"]
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    done = client.put(f"{COLLECTIONS}/notas", json={}, headers={"Origin": FRIEND})
    refused = client.post("/api/v1/chat", content=b"a" * 5_000_001, headers={"Origin": FRIEND})
    assert (done.status_code, refused.status_code) == (200, 413)
    for answer in (preflight, done, refused):
        assert answer.headers["access-control-allow-origin"] == FRIEND
        assert "access-control-allow-credentials" not in answer.headers
    assert "x-request-id" in done.headers["access-control-expose-headers"].lower()


def test_an_unknown_site_s_preflight_is_refused(client: httpx.Client) -> None:
    """Security 8: in our own words."""
    asked = {"Origin": STRANGER, "Access-Control-Request-Method": "PUT"}
    answer = client.options(f"{COLLECTIONS}/notas", headers=asked)
    check_error(answer, 405, "method_not_allowed")
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ["/", "/health", "/docs", "/static/start.js", COLLECTIONS, "/nothing"])
def test_no_page_may_frame_load_or_watch_an_answer(client: httpx.Client, path: str) -> None:
    """Security 8, 14: as another site's frame, script, image or window."""
    headers = client.get(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize(
    ("origins", "told"),
    [
        ("*", "RAG_CORS_ORIGINS: * needs authentication"),
        ("friend.example", "RAG_CORS_ORIGINS"),
        ("https://a.example/path", "RAG_CORS_ORIGINS"),
    ],
)
def test_a_site_that_is_none_stops_the_start(postgres: str, origins: str, told: str) -> None:
    """Security 8: CORS never `*` for a service that asks nobody; one line says what is wrong."""
    run = causeway("serve", "--port", "0", DATABASE_URL=postgres, RAG_CORS_ORIGINS=origins)
    assert run.returncode == 1
    assert told in one_line(run)


def served(**settings: Any) -> httpx.AsyncClient:
    """The walls around one page, with these settings."""
    known = Settings.from_environment(**settings)
    checks = [Middleware(CrossOrigin, settings=known), Middleware(OriginCheck, settings=known)]
    page = Route("/", lambda _: Response("here"), methods=["GET", "POST"])
    transport = httpx.ASGITransport(Starlette(routes=[page], middleware=[Middleware(RequestIdentity), *checks]))
    return httpx.AsyncClient(transport=transport, base_url="http://rag.example")


async def test_with_authentication_any_name_and_page_may_ask() -> None:
    """Security 8: what a browser sends by itself is no key; names are checked where they are given."""
    stranger = {"Origin": STRANGER}
    async with served(auth="api_key") as client:
        assert (await client.post("/", headers=stranger)).text == "here"
    async with served(auth="api_key", cors_origins="*") as client:
        answer = await client.post("/", headers=stranger)
        assert (answer.text, answer.headers["access-control-allow-origin"]) == ("here", "*")
        assert "access-control-allow-credentials" not in answer.headers
    async with served(auth="api_key", allowed_hosts=PROXY) as client:
        check_error(await client.post("/"), 403, "foreign_origin")
        assert (await client.post("/", headers={"Host": PROXY})).text == "here"


@pytest.mark.parametrize(
    ("host", "name"),
    [("A.example:80", "a.example"), ("[::1]:9", "::1"), ("[::1", ""), ("", ""), ("a b", "a b"), ("x@y:1", "y")],
)
def test_a_host_s_name(host: str, name: str) -> None:
    assert host_name(host) == name


@given(
    st.sampled_from(sorted(PORTS)), st.from_regex(r"[a-z]{1,9}(\.[a-z]{1,9})?", fullmatch=True), st.integers(1, 65535)
)
def test_an_origin_is_its_scheme_name_and_port(scheme: str, name: str, port: int) -> None:
    """Security 8: however it is written; the scheme's own port may be left out."""
    told = read_origin(f"{scheme}://{name}:{port}")
    assert told == (scheme, name, port) == read_origin(f"{scheme.upper()}://{name.upper()}:{port}")
    assert (read_origin(f"{scheme}://{name}") == told) == (port == PORTS[scheme])
    assert read_origin(f"chrome-extension://{name}:{port}") is None


def test_what_leads_to_this_machine() -> None:
    assert all(is_loopback(name) for name in ("localhost", "127.0.0.1", "127.1.2.3", "::1"))
    assert not any(is_loopback(name) for name in ("", "0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.example", "a"))

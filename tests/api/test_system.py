"""What surrounds the answers: health, metrics, documentation, the page's files."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from api.app import STATIC
from graphrag import DISTRIBUTION
from tests.api.expectations import check_error
from tests.conftest import Server

METHODS = {"get", "post", "put", "patch", "delete"}
ADDRESS = re.compile(r"""(?:https?:)?//[^\s"'<>)]+""")


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


def test_health_tells_what_is_loaded(client: httpx.Client) -> None:
    """R9.7 Embedding models with id, name, status and dimensions."""
    assert client.get("/health").json() == {
        "status": "ok",
        "version": version(DISTRIBUTION),
        "database": "ok",
        "chat_model": "extractive",
        "can_choose_model": True,
        "embedding_models": [
            {"id": "e5", "name": "e5", "status": "loaded", "dimensions": 384},
            {"id": "bundled", "name": "bundled", "status": "loaded", "dimensions": 256},
        ],
        "breakers": [{"name": "database", "state": "closed", "failures": 0, "retry_after": 0.0}],
    }


def test_it_is_ready_while_the_database_answers(client: httpx.Client) -> None:
    """R9.7 Readiness."""
    assert client.get("/ready").status_code == 204


def test_metrics_count_the_stages_of_each_answer(client: httpx.Client) -> None:
    """R9.7, R11.2 A histogram value a stage; an answer adds one to each of its stages."""

    def count(stage: str) -> float:
        text = client.get("/metrics").text
        found = re.search(rf'^causeway_stage_seconds_count{{stage="{stage}"}} (\S+)$', text, re.MULTILINE)
        return float(found[1]) if found else 0

    stages = ("transform", "retrieve", "rerank", "expand", "generate", "verify", "total")
    before = {stage: count(stage) for stage in stages}
    question = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
    assert client.post("/api/chat", json={"message": question}).status_code == 200
    assert {stage: count(stage) - before[stage] for stage in stages} == dict.fromkeys(stages, 1)
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    assert "# TYPE causeway_stage_seconds histogram" in response.text


def test_metrics_hold_no_text_of_a_question(client: httpx.Client) -> None:
    """Security 20: neither questions nor names are labels."""
    client.post("/api/chat", json={"message": "¿Qué es un zarzaparrillófono?", "collection": "demo"})
    assert "zarzaparrill" not in client.get("/metrics").text


def test_the_documentation_comes_from_this_host_alone(client: httpx.Client) -> None:
    """R9 /docs works without the internet: every address in it is ours, and every file is served."""
    page = client.get("/docs")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    own = urlsplit(str(client.base_url)).netloc
    assert {urlsplit(address).netloc for address in ADDRESS.findall(page.text)} <= {own}
    assets = re.findall(r"""(?:src|href)=["']([^"']+)["']""", page.text)
    assert any(asset.endswith(".js") for asset in assets)
    assert any(asset.endswith(".css") for asset in assets)
    for asset in assets:
        response = client.get(urljoin(str(page.url), asset))
        assert response.status_code == 200, asset
        assert len(response.content) > 100
    assert "/openapi.json" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.findall(r"<script(?![^>]*\bsrc=)|\bon\w+=|<style|\bstyle=", page.text)


@pytest.mark.parametrize(
    ("path", "stored"),
    [
        *((path, "no-store") for path in ("conversations", "collections", "documents", "documents/nowhere", "nothing")),
        *(
            (path, "no-store")
            for path in ("retrieve", "chat", "golden", "../../v1/models", "../../metrics", "../../mcp")
        ),
        *((path, None) for path in ("../../docs", "../../static/start.js", "../../health")),
    ],
)
def test_personal_answers_are_stored_nowhere(client: httpx.Client, path: str, stored: str | None) -> None:
    """R9, Security 8: by no cache between, and no browser that others use after; pages and their files may be."""
    url = urljoin("/api/v1/", path)
    asked = [client.get(url), client.post(url, json={"message": "¿Qué?", "query": "¿Qué?"})]
    assert {answer.headers.get("cache-control") for answer in asked} == {stored}


def test_every_operation_is_described(client: httpx.Client) -> None:
    """R9 OpenAPI: the versioned paths, each with a summary and our error format."""
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.")
    assert document["info"]["title"] == "Causeway"
    assert {"/api/v1/chat", "/api/v1/chat/stream", "/health", "/metrics"} <= set(document["paths"])
    assert not [path for path in document["paths"] if path.startswith("/api/") and not path.startswith("/api/v1/")]
    operations = {
        f"{method} {path}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }
    assert all(operation.get("summary") and operation.get("tags") for operation in operations.values())
    identities = [operation["operationId"] for operation in operations.values()]
    assert len(set(identities)) == len(identities)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+){0,3}", identity) for identity in identities)  # methods of a client
    described = {tag["name"]: tag["description"] for tag in document["tags"]}
    assert {tag for operation in operations.values() for tag in operation["tags"]} == set(described)
    # Not one schema for requests and another for responses: generators of clients take both for the same.
    assert not [name for name in document["components"]["schemas"] if re.search(r"api_v1|__|-(Input|Output)$", name)]
    error = {"$ref": "#/components/schemas/ErrorResponse"}
    for name, operation in operations.items():
        if "/api/" in name:
            responses = operation["responses"]
            assert {"200", "201", "202", "204"} & set(responses), name
            assert {"403", "422", "429", "503"} <= set(responses), name
            assert ("401" in responses) is bool(operation.get("security")), name
            refused = [content for status, content in responses.items() if status[0] in "45"]
            assert all(content["content"]["application/json"]["schema"] == error for content in refused), name


def test_every_reference_of_the_description_leads_somewhere(client: httpx.Client) -> None:
    """R9 Valid OpenAPI: a generator of clients does not stumble."""
    response = client.get("/openapi.json")
    schemas = response.json()["components"]["schemas"]
    references = set(re.findall(r'"\$ref":"#/components/schemas/([^"]+)"', response.text))
    assert references
    assert references <= set(schemas)


def test_the_stream_is_described_as_one(client: httpx.Client) -> None:
    """R9.1 The answer of chat/stream is text/event-stream."""
    operation = client.get("/openapi.json").json()["paths"]["/api/v1/chat/stream"]["post"]
    assert "text/event-stream" in operation["responses"]["200"]["content"]


@pytest.mark.parametrize("path", ["/", "/studio"])
def test_the_pages_are_ours_and_may_load_nothing_else(client: httpx.Client, path: str) -> None:
    """Security 14: a content security policy without exceptions."""
    response = client.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    policy = dict(part.strip().partition(" ")[::2] for part in response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in str(policy)
    assert not ADDRESS.findall(response.text)


def test_the_pages_files_are_served_by_their_type(client: httpx.Client) -> None:
    """R9.1 With nosniff a browser runs a script only by its type."""
    pages = client.get("/").text + client.get("/studio").text
    linked = set(re.findall(r'(?:src|href)="(/static/[^"#]+)', pages))
    modules = {f"/static/{path.relative_to(STATIC)}" for path in STATIC.rglob("*.js*")}
    assert {"/static/start.js", "/static/page.css", "/static/icon.svg"} <= linked
    types = {"js": "text/javascript", "json": "application/json", "css": "text/css", "svg": "image/svg+xml"}
    for path in linked | modules:
        response = client.get(path)
        assert response.status_code == 200, path
        assert response.headers["content-type"].startswith(types[path.rpartition(".")[2]])
        assert len(response.content) > 100
        assert response.headers.get("content-encoding", "none") == ("gzip" if len(response.content) > 500 else "none")


@pytest.mark.parametrize("path", ["/", "/health", "/metrics", "/docs", "/openapi.json", "/static/start.js", "/nothing"])
def test_no_answer_is_sniffed(client: httpx.Client, path: str) -> None:
    """Security 14: what a document wrote is never taken for a page or a script."""
    response = client.get(path)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-request-id"]


def test_no_other_site_may_read_an_answer(client: httpx.Client) -> None:
    """Security 8: no CORS header invites another origin; its preflight is refused."""
    origin = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    response = client.options("/api/chat", headers=origin)
    check_error(response, 405, "method_not_allowed")
    answers = [response, client.get("/health", headers=origin)]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control-")]

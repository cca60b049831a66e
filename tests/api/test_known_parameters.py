"""Query parameters that a route does not know, or that are not what it takes."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.expectations import check_error
from tests.conftest import Server


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


@pytest.mark.parametrize("path", ["/api/v1/documents", "/api/documents"])
def test_a_mistyped_parameter_is_told_with_those_that_there_are(client: httpx.Client, path: str) -> None:
    """R9 Passed over, it would change what is found without a word."""
    error = check_error(client.get(path, params={"colection": "demo"}), 422, "invalid_request")
    (wrong,) = error["details"]["errors"]
    assert wrong["field"] == "colection"
    assert "collection, cursor, filename, limit, status, tags" in wrong["message"]


def test_a_field_of_a_form_that_there_is_not_is_told(client: httpx.Client) -> None:
    """R9 Of an upload: a document that is to expire would stay."""
    form = {"collection": "nobodys", "expires_at": "2027-01-01T00:00:00Z"}
    answer = client.post("/api/v1/documents", files={"files": ("a.md", b"text")}, data=form)
    (wrong,) = check_error(answer, 422, "invalid_request")["details"]["errors"]
    assert wrong["field"] == "expires_at"
    assert "chunking, collection, files, metadata, tags, time_to_live_hours" in wrong["message"]
    assert client.get("/api/v1/documents", params={"collection": "nobodys"}).status_code == 404


def test_requests_with_unknown_fields_are_refused(client: httpx.Client) -> None:
    """R9 All but those of others' APIs, whose clients send more, and exports of golden cases, which say more."""
    document = client.get("/openapi.json").json()
    open_ones = {
        (path, name)
        for path, operations in document["paths"].items()
        for operation in operations.values()
        for name in named_schemas(document, operation.get("requestBody", {}))
        if document["components"]["schemas"][name].get("additionalProperties") is not False
        and "properties" in document["components"]["schemas"][name]
    }
    assert {path for path, _ in open_ones} == {
        "/api/v1/golden-cases/import",
        "/api/v1/search",
        "/v1/chat/completions",
        "/v1/embeddings",
        "/v1/responses",
    }
    asked = {"messages": [{"role": "user", "content": "¿Qué pasó?", "expires_at": 1}]}
    check_error(client.post("/api/v1/chat", json=asked), 422, "invalid_request")


def named_schemas(document: dict[str, Any], part: object) -> set[str]:
    """The schemas that a part of the document refers to, and those that these do."""
    found: set[str] = set()
    waiting = [part]
    while waiting:
        match waiting.pop():
            case {"$ref": str(reference)}:
                if (name := reference.rpartition("/")[2]) not in found:
                    found.add(name)
                    waiting.append(document["components"]["schemas"][name])
            case dict(values):
                waiting += values.values()
            case list(values):
                waiting += values
    return found


def test_a_parameter_that_may_come_often_may(client: httpx.Client) -> None:
    """R9.4"""
    asked = {"collection": "demo", "tags": ["a", "b"]}
    assert client.get("/api/v1/documents", params=asked).json()["documents"] == []


@pytest.mark.parametrize(("given", "status"), [("true", 200), ("false", 200), ("1", 422), ("yes", 422), ("", 422)])
def test_a_flag_is_true_or_false(client: httpx.Client, given: str, status: int) -> None:
    """R9.5, R9.6"""
    for path, flag in (("feedback", "good"), ("golden-cases", "broken")):
        assert client.get(f"/api/v1/{path}", params={flag: given}).status_code == status

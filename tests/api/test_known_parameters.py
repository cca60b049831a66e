"""Query parameters that a route does not know, or that are not what it takes."""

from collections.abc import Iterator

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


def test_a_parameter_that_may_come_often_may(client: httpx.Client) -> None:
    """R9.4"""
    asked = {"collection": "demo", "tags": ["a", "b"]}
    assert client.get("/api/v1/documents", params=asked).json()["documents"] == []


@pytest.mark.parametrize(("given", "status"), [("true", 200), ("false", 200), ("1", 422), ("yes", 422), ("", 422)])
def test_a_flag_is_true_or_false(client: httpx.Client, given: str, status: int) -> None:
    """R9.5, R9.6"""
    for path, flag in (("feedback", "good"), ("golden-cases", "broken")):
        assert client.get(f"/api/v1/{path}", params={flag: given}).status_code == status

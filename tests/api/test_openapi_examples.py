"""The OpenAPI document shows a newcomer what to send and what comes back."""

from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from api.schemas.collections import CollectionOut
from api.schemas.conversations import FeedbackOut
from api.schemas.documents import UploadList
from api.schemas.fields import ChatResponse
from api.schemas.search import RetrieveResponse
from tests.conftest import Server


@pytest.fixture(scope="module")
def document(demo_server: Server) -> Any:
    return httpx.get(f"{demo_server.url}/openapi.json").json()


@pytest.mark.parametrize(
    ("path", "method", "status", "model"),
    [
        ("/api/v1/chat", "post", "200", ChatResponse),
        ("/api/v1/retrieve", "post", "200", RetrieveResponse),
        ("/api/v1/documents", "post", "202", UploadList),
        ("/api/v1/collections", "post", "201", CollectionOut),
        (
            "/api/v1/conversations/{conversation_id}/messages/{message_id}/feedback",
            "put",
            "200",
            FeedbackOut,
        ),
    ],
)
def test_first_operations_have_examples(
    document: Any, path: str, method: str, status: str, model: type[BaseModel]
) -> None:
    """R9 Of the request, and of a response with every field that it has and no other."""
    operation = document["paths"][path][method]
    (body,) = operation["requestBody"]["content"].values()
    schema = document["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
    assert schema.get("examples") or any("examples" in field for field in schema["properties"].values())
    example = operation["responses"][status]["content"]["application/json"]["example"]
    assert model.model_validate(example).model_dump(mode="json") == example

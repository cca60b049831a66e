"""What every error and every citation of the API must be, whichever test looks at it."""

from typing import Any

import httpx

NOT_FOUND = {
    "es": "No he encontrado información relevante en sus documentos sobre esta pregunta.",
    "fr": "Je n'ai pas trouvé d'information pertinente dans vos documents concernant cette question.",
    "en": "I found no relevant information in your documents about this question.",
}
TRACES_OF_PYTHON = ("Traceback", ".py", "psycopg", "Error(", "site-packages")


def check_error(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """R9 One format for every error; returns what stands in it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = check_error_body(response.json())
    assert error["code"] == code
    assert error["request_id"] == response.headers["x-request-id"]
    assert response.headers["x-content-type-options"] == "nosniff"
    return error


def check_error_body(body: dict[str, Any]) -> dict[str, Any]:
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "details", "request_id"}
    assert error["message"]
    assert isinstance(error["details"], dict)
    assert not [trace for trace in TRACES_OF_PYTHON if trace in str(error)]
    return error


def check_citations(answer: dict[str, Any]) -> None:
    """R8.3 Each citation's quote stands in the content of the source it names, at its offsets."""
    assert answer["citations"]
    sources = {source["number"]: source for source in answer["sources"]}
    for citation in answer["citations"]:
        source = sources[citation["number"]]
        start, end = (citation[name] - source["start_char"] for name in ("start_char", "end_char"))
        assert citation["quote"]
        assert source["content"][start:end] == citation["quote"]
        assert citation["document_id"] == source["document_id"]
        assert f"[{citation['number']}]" in answer["answer"]

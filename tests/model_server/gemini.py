"""Gemini's generateContent and streamGenerateContent, and its embeddings."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.model_server.behaviours import Body
from tests.model_server.contract import RecordedRequest, are_objects, count_words, require
from tests.model_server.vectors import unit_vector

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


class Gemini:
    media_type = "text/event-stream"

    def check(self, request: RecordedRequest) -> None:
        has_key = request.headers.get("x-goog-api-key") or "key=" in request.query
        require(has_key, "Method doesn't allow unregistered callers", 403)
        contents = request.body.get("contents")
        require(are_objects(contents), "* GenerateContentRequest.contents: contents is not specified")
        for content in request.body["contents"]:
            require(content.get("role", "user") in ("user", "model"), "Please use a valid role: user, model.")
            _check_parts(content)
        if instruction := request.body.get("systemInstruction"):
            _check_parts(instruction)
        alt = "alt=sse" in request.query or not self.wants_stream(request)
        require(alt, "only the stream of server-sent events is served here")

    def wants_stream(self, request: RecordedRequest) -> bool:
        return request.path.endswith(":streamGenerateContent")

    def error(self, status: int, message: str, headers: Mapping[str, str]) -> Response:
        return JSONResponse(_error(status, message), status, dict(headers))

    def whole(self, request: RecordedRequest, words: Sequence[str]) -> Body:
        return _candidate(request, "".join(words), finish_reason="STOP", words=words)

    def head(self, request: RecordedRequest) -> str:
        return ""

    def word(self, request: RecordedRequest, word: str) -> str:
        return _event(_candidate(request, word))

    def end(self, request: RecordedRequest, words: Sequence[str]) -> str:
        return _event(_candidate(request, "", finish_reason="STOP", words=words))

    def failure(self, message: str) -> str:
        return _event(_error(500, message))


def _check_parts(content: Any) -> None:
    known = {"text", "inlineData", "fileData", "functionCall", "functionResponse"}
    parts = content.get("parts")
    require(are_objects(parts) and all(known & part.keys() for part in parts), "a part must have one initialized field")


def _error(status: int, message: str) -> Body:
    return {"error": {"code": status, "message": message, "status": STATUS.get(status, "INTERNAL")}}


def _candidate(
    request: RecordedRequest, text: str, *, finish_reason: str | None = None, words: Sequence[str] = ()
) -> Body:
    candidate: Body = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    if finish_reason:
        candidate["finishReason"] = finish_reason
    prompt = count_words([part.get("text") for content in request.body["contents"] for part in content["parts"]])
    usage = {"promptTokenCount": prompt, "candidatesTokenCount": len(words), "totalTokenCount": prompt + len(words)}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": "scripted"}


def _event(data: Body) -> str:
    return f"data: {json.dumps(data)}\r\n\r\n"


def embeddings(body: Body, dimension: int) -> Body:
    return {
        "embeddings": [
            {"values": unit_vector(asked["content"]["parts"][0]["text"], asked.get("outputDimensionality", dimension))}
            for asked in body["requests"]
        ]
    }

"""Gemini's generateContent and streamGenerateContent, and its embeddings."""

import json
import re
from collections.abc import Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.model_server.behaviours import Body
from tests.model_server.contract import (
    RecordedRequest,
    are_objects,
    count_words,
    is_integer,
    is_number,
    is_text,
    require,
)
from tests.model_server.vectors import unit_vector

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
# What a request may hold; it refuses what it does not know.
REQUEST = {
    "contents",
    "systemInstruction",
    "generationConfig",
    "safetySettings",
    "tools",
    "toolConfig",
    "cachedContent",
}
CONTENT = {"role", "parts"}
PART = {"text", "inlineData", "fileData", "functionCall", "functionResponse", "thought", "thoughtSignature"}
NUMBERS = {"temperature", "topP", "topK", "presencePenalty", "frequencyPenalty"}
INTEGERS = {"maxOutputTokens", "candidateCount", "seed", "logprobs"}
GENERATION = (
    NUMBERS
    | INTEGERS
    | {
        "stopSequences",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        "responseModalities",
        "responseLogprobs",
        "thinkingConfig",
        "mediaResolution",
        "speechConfig",
        "imageConfig",
    }
)
EMBED = {"model", "content", "taskType", "title", "outputDimensionality"}
TASKS = {
    "RETRIEVAL_QUERY",
    "RETRIEVAL_DOCUMENT",
    "SEMANTIC_SIMILARITY",
    "CLASSIFICATION",
    "CLUSTERING",
    "QUESTION_ANSWERING",
    "FACT_VERIFICATION",
    "CODE_RETRIEVAL_QUERY",
}
MOST_EMBEDDED = 100  # of one request


class Gemini:
    media_type = "text/event-stream"

    def check(self, request: RecordedRequest) -> None:
        _check_key(request)
        _check_names(request.body, REQUEST)
        _check_generation(request.body.get("generationConfig") or {})
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

    def error(self, status: int, message: str, retry_after: int | None = None) -> Response:
        return JSONResponse(_error(status, message, retry_after), status)

    def whole(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> Body:
        if is_withheld and not words:
            return _blocked()
        return _candidate(request, "".join(words), finish_reason=_reason(is_withheld), words=words)

    def head(self, request: RecordedRequest) -> str:
        return ""

    def word(self, request: RecordedRequest, word: str) -> str:
        return _event(_candidate(request, word))

    def end(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> str:
        if is_withheld and not words:
            return _event(_blocked())
        return _event(_candidate(request, "", finish_reason=_reason(is_withheld), words=words))

    def failure(self, message: str) -> str:
        return _event(_error(500, message))


def _check_key(request: RecordedRequest) -> None:
    has_key = request.headers.get("x-goog-api-key") or "key=" in request.query
    require(has_key, "Method doesn't allow unregistered callers", 403)


def _camel(name: str) -> str:
    """Both ways of writing a name are taken."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _check_names(given: Any, known: set[str]) -> None:
    for name in given:
        require(_camel(name) in known, f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')


def _check_generation(config: Body) -> None:
    _check_names(config, GENERATION)
    for name, value in ((_camel(name), value) for name, value in config.items()):
        fits = (name not in NUMBERS or is_number(value)) and (name not in INTEGERS or is_integer(value))
        require(fits, f"Invalid value at 'generation_config.{name}': {value!r}")


def _check_parts(content: Any) -> None:
    _check_names(content, CONTENT)
    parts = content.get("parts")
    require(are_objects(parts), "a part must have one initialized field")
    for part in parts:
        _check_names(part, PART)
        require(part.keys() & PART, "a part must have one initialized field")


def _reason(is_withheld: bool) -> str:
    return "SAFETY" if is_withheld else "STOP"


def _blocked() -> Body:
    """Of a question that it did not look at."""
    return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "scripted"}


def _error(status: int, message: str, retry_after: int | None = None) -> Body:
    told: Body = {"code": status, "message": message, "status": STATUS.get(status, "INTERNAL")}
    if retry_after is not None:  # here, and in no header
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_after}s"}]
    if message.startswith("API key not valid"):
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    return {"error": told}


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


def check_embeddings(request: RecordedRequest) -> None:
    _check_key(request)
    _check_names(request.body, {"requests"})
    asked = request.body.get("requests")
    require(are_objects(asked), "* BatchEmbedContentsRequest.requests: requests is not specified")
    for each in request.body["requests"]:
        _check_names(each, EMBED)
        require(each.get("taskType", "CLUSTERING") in TASKS, f"Invalid value at 'task_type': {each.get('taskType')!r}")
        is_named = request.path.endswith(f"/{each.get('model')}:batchEmbedContents")
        require(is_named, "the model of each request must be that of the address")
        _check_parts(each.get("content") or {})
        require(all(is_text(part.get("text")) for part in each["content"]["parts"]), "content contains an empty Part")
        require(is_integer(each.get("outputDimensionality", 1)), "Invalid value at 'output_dimensionality'")
    require(len(request.body["requests"]) <= MOST_EMBEDDED, "at most 100 requests can be in one batch")


def embeddings(body: Body, dimension: int) -> Body:
    return {
        "embeddings": [
            {"values": unit_vector(asked["content"]["parts"][0]["text"], asked.get("outputDimensionality", dimension))}
            for asked in body["requests"]
        ]
    }

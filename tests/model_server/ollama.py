"""Ollama's chat, a JSON object a line, and its embeddings."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.model_server.behaviours import Body
from tests.model_server.contract import RecordedRequest, are_objects, count_words, is_text, require
from tests.model_server.vectors import unit_vector


class Ollama:
    media_type = "application/x-ndjson"

    def check(self, request: RecordedRequest) -> None:
        require(is_text(request.body.get("model")), "model is required")
        messages = request.body.get("messages")
        require(are_objects(messages), "json: cannot unmarshal messages: a list of objects is served")
        for message in request.body["messages"]:
            role = message.get("role")
            require(role in ("system", "user", "assistant", "tool"), f"invalid role: {role!r}")
            has_text = isinstance(message.get("content"), str)
            require(has_text, "json: cannot unmarshal into field ChatRequest.messages.content of type string")

    def wants_stream(self, request: RecordedRequest) -> bool:
        return bool(request.body.get("stream", True))

    def error(self, status: int, message: str, headers: Mapping[str, str]) -> Response:
        return JSONResponse({"error": message}, status, dict(headers))

    def whole(self, request: RecordedRequest, words: Sequence[str]) -> Body:
        return _said(request, "".join(words)) | _done(request, words)

    def head(self, request: RecordedRequest) -> str:
        return _line(_said(request, ""))

    def word(self, request: RecordedRequest, word: str) -> str:
        return _line(_said(request, word))

    def end(self, request: RecordedRequest, words: Sequence[str]) -> str:
        return _line(_said(request, "") | _done(request, words))

    def failure(self, message: str) -> str:
        return _line({"error": message})


def _said(request: RecordedRequest, text: str) -> Body:
    return {
        "model": request.body["model"],
        "created_at": datetime.now(UTC).isoformat(),
        "message": {"role": "assistant", "content": text},
        "done": False,
    }


def _done(request: RecordedRequest, words: Sequence[str]) -> Body:
    counts: dict[str, Any] = {
        "prompt_eval_count": count_words([message["content"] for message in request.body["messages"]]),
        "eval_count": len(words),
    }
    nanoseconds = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 1_000)
    return {"done": True, "done_reason": "stop", **counts, **nanoseconds}


def _line(data: Body) -> str:
    return f"{json.dumps(data)}\n"


def embeddings(body: Body, dimension: int) -> Body:
    given = body["input"]
    texts = [given] if isinstance(given, str) else given
    wanted = body.get("dimensions") or dimension
    return {"model": body["model"], "embeddings": [unit_vector(text, wanted) for text in texts]}

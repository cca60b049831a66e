"""Ollama's chat, a JSON object a line, and its embeddings."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
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
    retry_headers,
)
from tests.model_server.vectors import unit_vector

# As its program decodes them; it passes over what it does not know, and takes null for what is not there.
CHAT = {"messages": list, "stream": bool, "options": dict, "tools": list, "think": bool | str, "keep_alive": Any}
EMBED = {"truncate": bool, "options": dict, "dimensions": int}
FLOATS = {"temperature", "top_p", "min_p", "repeat_penalty", "presence_penalty", "frequency_penalty"}
INTEGERS = {"num_ctx", "num_predict", "num_keep", "repeat_last_n", "seed", "top_k"}


class Ollama:
    media_type = "application/x-ndjson"

    def check(self, request: RecordedRequest) -> None:
        _check_fields(request.body, CHAT, "ChatRequest")
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

    def error(self, status: int, message: str, retry_after: int | None = None) -> Response:
        return JSONResponse({"error": message}, status, retry_headers(retry_after))

    def whole(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> Body:
        assert not is_withheld, "it has no filter"
        return _said(request, "".join(words)) | _done(request, words)

    def head(self, request: RecordedRequest) -> str:
        return _line(_said(request, ""))

    def word(self, request: RecordedRequest, word: str) -> str:
        return _line(_said(request, word))

    def end(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> str:
        assert not is_withheld, "it has no filter"
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


def _check_fields(body: Body, kinds: Mapping[str, Any], holder: str) -> None:
    for name, kind in {"model": str, **kinds}.items():
        value = body.get(name)
        fits = value is None or kind is Any or (isinstance(value, kind) and not (kind is int and value is True))
        require(fits, f"json: cannot unmarshal {type(value).__name__} into Go struct field {holder}.{name}")
    for name, value in (body.get("options") or {}).items():
        is_unset = value is None
        require(is_unset or name not in FLOATS or is_number(value), f'option "{name}" must be of type float32')
        require(is_unset or name not in INTEGERS or is_integer(value), f'option "{name}" must be of type integer')


def check_embeddings(request: RecordedRequest) -> None:
    _check_fields(request.body, EMBED, "EmbedRequest")
    require(is_text(request.body.get("model")), "model is required")
    given = request.body.get("input")
    is_list = isinstance(given, list) and all(isinstance(text, str) for text in given)
    require(isinstance(given, str) or is_list, "invalid input type")


def embeddings(body: Body, dimension: int) -> Body:
    given = body["input"]
    texts = [given] if isinstance(given, str) else given
    wanted = body.get("dimensions") or dimension
    return {"model": body["model"], "embeddings": [unit_vector(text, wanted) for text in texts]}

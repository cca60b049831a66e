"""OpenAI's chat completions and embeddings, which many servers speak."""

import json
import time
import uuid
from collections.abc import Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.model_server.behaviours import Body
from tests.model_server.contract import RecordedRequest, count_words, is_text, require, retry_headers
from tests.model_server.vectors import base64_vector, unit_vector


class OpenAI:
    media_type = "text/event-stream"

    def check(self, request: RecordedRequest) -> None:
        body = request.body
        require(is_text(body.get("model")), "you must provide a model parameter")
        messages = body.get("messages")
        require(isinstance(messages, list) and messages, "'messages' must be a list with at least one message")
        for message in body["messages"]:
            _check_message(message)
        allowed = body.get("stream") or body.get("stream_options") is None
        require(allowed, "'stream_options' is only allowed when 'stream' is enabled")

    def wants_stream(self, request: RecordedRequest) -> bool:
        return bool(request.body.get("stream"))

    def error(self, status: int, message: str, retry_after: int | None = None) -> Response:
        kind = "server_error" if status >= 500 else "invalid_request_error"
        code = {401: "invalid_api_key", 404: "unknown_url", 429: "rate_limit_exceeded"}.get(status)
        body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
        return JSONResponse(body, status, retry_headers(retry_after))

    def whole(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> Body:
        message = {"role": "assistant", "content": "".join(words), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(is_withheld)}
        return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(request.body, words)}

    def head(self, request: RecordedRequest) -> str:
        return _delta(request, {"role": "assistant", "content": ""})

    def word(self, request: RecordedRequest, word: str) -> str:
        return _delta(request, {"content": word})

    def end(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> str:
        events = _delta(request, {}, finish_reason=_reason(is_withheld))
        if (request.body.get("stream_options") or {}).get("include_usage"):
            usage = _usage(request.body, words)
            events += _event({**_head(request, "chat.completion.chunk"), "choices": [], "usage": usage})
        return events + "data: [DONE]\n\n"

    def failure(self, message: str) -> str:
        return _event({"error": {"message": message, "type": "server_error", "param": None, "code": None}})


def call_tool(request: RecordedRequest, name: str, arguments: Body) -> Body:
    offered = [tool["function"]["name"] for tool in request.body.get("tools", ())]
    require(name in offered, f"There is no tool {name!r}")
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{uuid.uuid4().hex}", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(request.body, [])}


def _reason(is_withheld: bool) -> str:
    return "content_filter" if is_withheld else "stop"


def _check_message(message: Any) -> None:
    require(isinstance(message, dict), "a message must be an object")
    role, content = message.get("role"), message.get("content")
    require(role in ("system", "developer", "user", "assistant", "tool"), f"Invalid 'role': {role!r}")
    calls_tools = role == "assistant" and message.get("tool_calls")
    known = isinstance(content, str) or _are_parts(content) or (content is None and calls_tools)
    require(known, "'content' must be a string or a list of parts")
    require(role != "tool" or is_text(message.get("tool_call_id")), "Missing 'tool_call_id'")


def _are_parts(content: Any) -> bool:
    """Whether each part has the field that its type names, as in {"type": "text", "text": ...}."""
    is_list = isinstance(content, list) and len(content) > 0
    return is_list and all(isinstance(part, dict) and part.get("type") in part for part in content)


def _head(request: RecordedRequest, kind: str) -> Body:
    model = request.body["model"]
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _usage(body: Body, words: Sequence[str]) -> dict[str, int]:
    prompt, completion = count_words([message.get("content") for message in body["messages"]]), len(words)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _delta(request: RecordedRequest, delta: dict[str, str], finish_reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _event({**_head(request, "chat.completion.chunk"), "choices": [choice]})


def _event(data: Body) -> str:
    return f"data: {json.dumps(data)}\n\n"


def check_embeddings(body: Body) -> None:
    require(is_text(body.get("model")), "you must provide a model parameter")
    texts = _inputs(body)
    whole = isinstance(texts, list) and 0 < len(texts) <= 2048 and all(is_text(text) for text in texts)
    require(whole, "'input' must be a text or 1 to 2048 texts, none of them empty (token ids are not served)")
    known = body.get("encoding_format", "float") in ("float", "base64")
    require(known, "'encoding_format' must be 'float' or 'base64'")


def embeddings(body: Body, dimension: int) -> Body:
    vectors = [unit_vector(text, body.get("dimensions", dimension)) for text in _inputs(body)]
    encode = base64_vector if body.get("encoding_format") == "base64" else list
    data = [{"object": "embedding", "index": index, "embedding": encode(v)} for index, v in enumerate(vectors)]
    tokens = count_words(_inputs(body))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _inputs(body: Body) -> Any:
    given = body.get("input")
    return [given] if isinstance(given, str) else given

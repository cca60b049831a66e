"""A scripted stand-in for an OpenAI-compatible server, and for Ollama's and Gemini's embeddings, over a real socket."""

import argparse
import asyncio
import base64
import contextlib
import hashlib
import json
import math
import re
import socket
import struct
import threading
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers with `text`, or with what it makes of the request's body (called in the server's thread)."""

    text: str | Callable[[Body], str]
    delay_seconds_per_token: float = 0


@dataclass(frozen=True, slots=True)
class Fail:
    status: int
    retry_after: int | None = None  # seconds


@dataclass(frozen=True, slots=True)
class Hang:
    """Sends nothing at all for so long, then an empty 200."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Garbage:
    """A 200 with a web page, as from a proxy's login or a wrong base URL."""


@dataclass(frozen=True, slots=True)
class CutStream:
    """Streams the first words of `text`, then drops the connection; it streams even to a client that did not ask."""

    after_tokens: int
    text: str


Behaviour = Reply | Fail | Hang | Garbage | CutStream
EmbeddingsBehaviour = Fail | Hang | Garbage


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    path: str
    headers: dict[str, str]  # names in lower case
    body: Body  # {} where the request carried no JSON object


class ModelServer:
    """Serves on 127.0.0.1 inside `with`; a request that OpenAI would refuse gets a 400 and uses up no behaviour."""

    def __init__(self, *, default: Behaviour | None = None, dimension: int = 64, port: int = 0) -> None:
        self.default = default or Reply("This is a scripted answer.")
        self.dimension = dimension
        self.disconnects = 0  # clients that left before their answer was whole; closing the server adds none
        self._port = port
        self._requests: list[RecordedRequest] = []
        self._chat_script: deque[Behaviour] = deque()
        self._embeddings_script: deque[EmbeddingsBehaviour] = deque()

    def __enter__(self) -> Self:
        # It listens from here on: a client that is quicker than the thread waits in the backlog.
        listener = socket.create_server(("127.0.0.1", self._port))
        self.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        app = Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])])
        # log_config=None leaves the logging of the process, which a test may look at, as it is.
        config = uvicorn.Config(app, http="h11", lifespan="off", log_config=None, access_log=False)
        self._server = PromptServer(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="model-server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=5)

    # Needs no lock: what the test's thread shares with the server's is one list or deque operation at a time,
    # and only the server's thread counts disconnects.

    @property
    def requests(self) -> list[RecordedRequest]:
        """All requests so far in order of arrival, refused ones included."""
        return list(self._requests)

    def script(self, *behaviours: Behaviour) -> None:
        """Queues one behaviour for each coming chat request; `default` answers when none is left."""
        self._chat_script.extend(behaviours)

    def script_embeddings(self, *behaviours: EmbeddingsBehaviour) -> None:
        """Queues one behaviour for each coming embeddings request; vectors answer when none is left."""
        self._embeddings_script.extend(behaviours)

    async def _answer(self, request: Request) -> ASGIApp:
        body = _json_object(await request.body())
        self._requests.append(RecordedRequest(request.url.path, dict(request.headers), body))
        try:
            return self._respond(request.method, request.url.path, body)
        except BadRequest as exc:
            return _error(400, str(exc))
        except Exception as exc:
            return _error(500, f"The script raised {exc!r}")

    def _respond(self, method: str, path: str, body: Body) -> ASGIApp:
        match method, path:
            case "POST", "/v1/chat/completions":
                check_chat(body)
                return self._perform(self._chat_script.popleft() if self._chat_script else self.default, body)
            case "POST", "/v1/embeddings":
                check_embeddings(body)
                if self._embeddings_script:
                    return self._perform(self._embeddings_script.popleft(), body)
                return JSONResponse(_embeddings(body, self.dimension))
            case "POST", _ if path == "/api/embed" or path.endswith(":batchEmbedContents"):
                if self._embeddings_script:
                    return self._perform(self._embeddings_script.popleft(), body)
                return JSONResponse(_ollama_or_gemini_embeddings(body, self.dimension))
            case "GET", "/v1/models":
                model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
                return JSONResponse({"object": "list", "data": [model]})
        return _error(404, f"Invalid URL ({method} {path})")

    def _perform(self, behaviour: Behaviour, body: Body) -> ASGIApp:
        match behaviour:
            case Fail(status, retry_after):
                return _error(status, f"Scripted failure {status}", retry_after)
            case Hang(seconds):
                return self._watched(Response(), after_seconds=seconds)
            case Garbage():
                return HTMLResponse("<html><body>Please log in.</body></html>")
            case CutStream(after_tokens, text):
                return self._watched(_event_stream(_cut_stream(body, _words(text)[:after_tokens])))
            case Reply(text, delay):
                words = _words(text if isinstance(text, str) else text(body))
                if body.get("stream"):
                    return self._watched(_event_stream(_stream(body, words, delay)))
                return self._watched(JSONResponse(_completion(body, words)), after_seconds=delay * len(words))

    def _watched(self, response: Response, *, after_seconds: float = 0) -> ASGIApp:
        return WatchedResponse(response, after_seconds, on_leaving=self._count_disconnect)

    def _count_disconnect(self) -> None:
        self.disconnects += 1


class PromptServer(uvicorn.Server):
    """Stops within milliseconds, where uvicorn takes tenths of a second and then waits for answers that hang."""

    async def main_loop(self) -> None:
        while not self.should_exit:
            await asyncio.sleep(0.005)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in self.servers:
            listener.close()
        unfinished = list(self.server_state.tasks)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0)  # the connections close in the loop's next round


@dataclass(frozen=True, slots=True)
class WatchedResponse:
    """Sends `response` after a wait, and tells when the client leaves before it is whole."""

    response: Response
    after_seconds: float
    on_leaving: Callable[[], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(scope, send))
        leaving = asyncio.create_task(_client_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            else:
                self.on_leaving()
        finally:
            sending.cancel()
            leaving.cancel()

    async def _send(self, scope: Scope, send: Send) -> None:
        await asyncio.sleep(self.after_seconds)
        await self.response(scope, _receive_nothing, send)


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _receive_nothing() -> Message:
    """Keeps a response from watching for the client's leaving itself, which would hide it from WatchedResponse."""
    never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return await never


def _json_object(raw: bytes) -> Body:
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


class BadRequest(Exception):
    pass


def _require(condition: object, message: str) -> None:
    if not condition:
        raise BadRequest(message)


def check_chat(body: Body) -> None:
    _require(_is_text(body.get("model")), "you must provide a model parameter")
    messages = body.get("messages")
    _require(isinstance(messages, list) and messages, "'messages' must be a list with at least one message")
    for message in body["messages"]:
        _check_message(message)
    allowed = body.get("stream") or body.get("stream_options") is None
    _require(allowed, "'stream_options' is only allowed when 'stream' is enabled")


def _check_message(message: Any) -> None:
    _require(isinstance(message, dict), "a message must be an object")
    role, content = message.get("role"), message.get("content")
    _require(role in ("system", "developer", "user", "assistant", "tool"), f"Invalid 'role': {role!r}")
    calls_tools = role == "assistant" and message.get("tool_calls")
    known = isinstance(content, str) or _are_parts(content) or (content is None and calls_tools)
    _require(known, "'content' must be a string or a list of parts")
    _require(role != "tool" or _is_text(message.get("tool_call_id")), "Missing 'tool_call_id'")


def _are_parts(content: Any) -> bool:
    """Whether each part has the field that its type names, as in {"type": "text", "text": ...}."""
    is_list = isinstance(content, list) and len(content) > 0
    return is_list and all(isinstance(part, dict) and part.get("type") in part for part in content)


def check_embeddings(body: Body) -> None:
    _require(_is_text(body.get("model")), "you must provide a model parameter")
    texts = _inputs(body)
    whole = isinstance(texts, list) and 0 < len(texts) <= 2048 and all(_is_text(text) for text in texts)
    _require(whole, "'input' must be a text or 1 to 2048 texts, none of them empty (token ids are not served)")
    known = body.get("encoding_format", "float") in ("float", "base64")
    _require(known, "'encoding_format' must be 'float' or 'base64'")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _inputs(body: Body) -> Any:
    given = body.get("input")
    return [given] if isinstance(given, str) else given


def _error(status: int, message: str, retry_after: int | None = None) -> Response:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    code = {401: "invalid_api_key", 404: "unknown_url", 429: "rate_limit_exceeded"}.get(status)
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return JSONResponse({"error": {"message": message, "type": kind, "param": None, "code": code}}, status, headers)


def _words(text: str) -> list[str]:
    """The tokens of this server: words with the space before them, so that joining them gives the text again."""
    return re.findall(r"\s*\S+|\s+", text)


def _completion(body: Body, words: Sequence[str]) -> Body:
    message = {"role": "assistant", "content": "".join(words), "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(body, len(words))}


def _head(body: Body, kind: str) -> Body:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": body["model"]}


def _usage(body: Body, completion_tokens: int) -> dict[str, int]:
    prompt_tokens = sum(len(_words(str(message.get("content")))) for message in body["messages"])
    total_tokens = prompt_tokens + completion_tokens
    return {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": total_tokens}


def _event_stream(events: AsyncIterator[str]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream")


async def _stream(body: Body, words: Sequence[str], delay_seconds: float) -> AsyncIterator[str]:
    head = _head(body, "chat.completion.chunk")
    async for event in _word_events(head, words, delay_seconds):
        yield event
    yield _delta_event(head, {}, finish_reason="stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _event({**head, "choices": [], "usage": _usage(body, len(words))})
    yield "data: [DONE]\n\n"


async def _cut_stream(body: Body, words: Sequence[str]) -> AsyncIterator[str]:
    async for event in _word_events(_head(body, "chat.completion.chunk"), words, delay_seconds=0):
        yield event
    raise ConnectionResetError("scripted")  # uvicorn closes the connection of a response that failed half-way


async def _word_events(head: Body, words: Sequence[str], delay_seconds: float) -> AsyncIterator[str]:
    yield _delta_event(head, {"role": "assistant", "content": ""})
    for word in words:
        await asyncio.sleep(delay_seconds)
        yield _delta_event(head, {"content": word})


def _delta_event(head: Body, delta: dict[str, str], finish_reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _event({**head, "choices": [choice]})


def _event(data: Body) -> str:
    return f"data: {json.dumps(data)}\n\n"


def _embeddings(body: Body, dimension: int) -> Body:
    vectors = [unit_vector(text, body.get("dimensions", dimension)) for text in _inputs(body)]
    encode = _base64 if body.get("encoding_format") == "base64" else list
    data = [{"object": "embedding", "index": index, "embedding": encode(v)} for index, v in enumerate(vectors)]
    tokens = sum(len(_words(text)) for text in _inputs(body))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _ollama_or_gemini_embeddings(body: Body, dimension: int) -> Body:
    if "requests" not in body:
        dimension = body.get("dimensions") or dimension
        return {"model": body["model"], "embeddings": [unit_vector(text, dimension) for text in _inputs(body)]}
    return {
        "embeddings": [
            {"values": unit_vector(asked["content"]["parts"][0]["text"], asked.get("outputDimensionality", dimension))}
            for asked in body["requests"]
        ]
    }


def unit_vector(text: str, dimension: int) -> list[float]:
    """The embedding of a text: of length 1, and for different texts as good as unrelated."""
    values = struct.unpack(f"<{dimension}i", hashlib.shake_256(text.encode()).digest(4 * dimension))
    length = math.hypot(*values)
    return [value / length for value in values]


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="a free one by default")
    parser.add_argument("--reply", help="the answer to every chat request")
    given = parser.parse_args()
    with ModelServer(port=given.port, default=given.reply and Reply(given.reply)) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()

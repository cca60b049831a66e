"""The server: it records what it is asked, and does with it what its script says."""

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.model_server import gemini, ollama, openai
from tests.model_server.behaviours import (
    Behaviour,
    Body,
    CallTool,
    CutStream,
    Each,
    EmbeddingsBehaviour,
    Empty,
    Fail,
    Garbage,
    Half,
    Hang,
    Paced,
    Reply,
    Withhold,
)
from tests.model_server.contract import Contract, RecordedRequest, Refusal, split_words


class ModelServer:
    """Serves on 127.0.0.1 inside `with`; what the provider would refuse gets its 400 and uses up no behaviour."""

    def __init__(self, *, default: Behaviour | None = None, dimension: int = 64, port: int = 0) -> None:
        self.default = default or Reply("This is a scripted answer.")
        self.dimension = dimension
        self.embeddings_delay_seconds = 0.0
        self.disconnects = 0  # clients that left before their answer was whole; closing the server adds none
        self.most_at_once = 0  # chat requests
        self._open_ones: set[int] = set()
        self._port = port
        self._requests: list[RecordedRequest] = []
        self._chat_script: deque[Behaviour] = deque()
        self._embeddings_script: deque[EmbeddingsBehaviour] = deque()

    def __enter__(self) -> Self:
        # It listens from here on: a client that is quicker than the thread waits in the backlog.
        listener = socket.create_server(("127.0.0.1", self._port))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"  # what Ollama's and Gemini's clients want
        self.base_url = f"{self.url}/v1"  # what OpenAI's wants
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
    # and only the server's thread counts.

    @property
    def requests(self) -> list[RecordedRequest]:
        """All requests so far in order of arrival, refused ones included."""
        return list(self._requests)

    def script(self, *behaviours: Behaviour) -> None:
        """Queues one behaviour for each coming chat request; `default` answers when none is left."""
        self._chat_script.extend(behaviours)

    def settle(self, seconds: float = 30) -> None:
        """Waits until no answer is on its way, so many seconds at most, and forgets what is left of the script."""
        deadline = time.monotonic() + seconds
        while self._open_ones and time.monotonic() < deadline:
            time.sleep(0.01)
        self._chat_script.clear()

    def script_embeddings(self, *behaviours: EmbeddingsBehaviour) -> None:
        """Queues one behaviour for each coming embeddings request; vectors answer when none is left."""
        self._embeddings_script.extend(behaviours)

    async def _answer(self, request: Request) -> ASGIApp:
        body = _json_object(await request.body())
        asked = RecordedRequest(request.url.path, dict(request.headers), body, request.url.query)
        self._requests.append(asked)
        contract = _contract(asked.path)
        try:
            return self._respond(request.method, asked, contract)
        except Refusal as exc:
            return contract.error(exc.status, str(exc))
        except Exception as exc:
            return contract.error(500, f"The script raised {exc!r}")

    def _respond(self, method: str, asked: RecordedRequest, contract: Contract) -> ASGIApp:
        path, body = asked.path, asked.body
        match method, path:
            case "POST", _ if path in ("/v1/chat/completions", "/api/chat") or path.endswith("enerateContent"):
                contract.check(asked)
                behaviour = self._chat_script.popleft() if self._chat_script else self.default
                return self._counted(self._perform(behaviour, asked, contract))
            case "POST", "/v1/embeddings":
                openai.check_embeddings(body)
                return self._embed(asked, contract, openai.embeddings)
            case "POST", "/api/embed":
                ollama.check_embeddings(asked)
                return self._embed(asked, contract, ollama.embeddings)
            case "POST", _ if path.endswith(":batchEmbedContents"):
                gemini.check_embeddings(asked)
                return self._embed(asked, contract, gemini.embeddings)
            case "GET", "/v1/models":
                model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}
                return JSONResponse({"object": "list", "data": [model]})
        return contract.error(404, f"Invalid URL ({method} {path})")

    def _embed(self, asked: RecordedRequest, contract: Contract, embed: Callable[[Body, int], Body]) -> ASGIApp:
        behaviour = self._embeddings_script.popleft() if self._embeddings_script else None
        if behaviour is not None and not isinstance(behaviour, Half | Empty):
            return self._perform(behaviour, asked, contract)
        vectors = embed(asked.body, self.dimension)
        if isinstance(behaviour, Half):
            return StreamingResponse(_half(json.dumps(vectors)), media_type="application/json")
        if isinstance(behaviour, Empty):
            vectors = {name: [] if isinstance(value, list) else value for name, value in vectors.items()}
        return self._watched(JSONResponse(vectors), after_seconds=self.embeddings_delay_seconds)

    def _perform(self, behaviour: Behaviour, asked: RecordedRequest, contract: Contract) -> ASGIApp:
        match behaviour:
            case Each(choose):
                return self._perform(choose(asked.body), asked, contract)
            case CallTool(name, arguments):
                return JSONResponse(openai.call_tool(asked, name, arguments))
            case Fail(status, retry_after, message):
                return contract.error(status, message or f"Scripted failure {status}", retry_after)
            case Hang(seconds):
                return self._watched(Response(), after_seconds=seconds)
            case Garbage():
                return HTMLResponse("<html><body>Please log in.</body></html>")
            case CutStream():
                return self._watched(_streamed(contract, _cut_stream(contract, asked, behaviour)))
            case Withhold(after_tokens, text):
                words = split_words(text)[:after_tokens]
                if contract.wants_stream(asked):
                    return self._watched(_streamed(contract, _stream(contract, asked, words, 0, is_withheld=True)))
                return JSONResponse(contract.whole(asked, words, is_withheld=True))
            case Paced(text):
                return self._watched(_streamed(contract, _stream(contract, asked, split_words(text), behaviour)))
            case Reply(text, delay):
                words = split_words(text if isinstance(text, str) else text(asked.body))
                if contract.wants_stream(asked):
                    return self._watched(_streamed(contract, _stream(contract, asked, words, delay)))
                whole = JSONResponse(contract.whole(asked, words))
                return self._watched(whole, after_seconds=delay * len(words))

    def _watched(self, response: Response, *, after_seconds: float = 0) -> ASGIApp:
        return WatchedResponse(response, after_seconds, on_leaving=self._count_disconnect)

    def _count_disconnect(self) -> None:
        self.disconnects += 1

    def _counted(self, app: ASGIApp) -> ASGIApp:
        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            open_ones = self._open_ones
            open_ones.add(id(app))
            self.most_at_once = max(self.most_at_once, len(open_ones))

            async def send_on(message: Message) -> None:
                if message["type"] == "http.response.body" and not message.get("more_body"):
                    open_ones.discard(id(app))  # before the client knows, who may ask again at once
                await send(message)

            try:
                await app(scope, receive, send_on)
            finally:
                open_ones.discard(id(app))

        return counted


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


def _contract(path: str) -> Contract:
    if path.startswith("/api/"):
        return ollama.Ollama()
    return gemini.Gemini() if "/models/" in path and ":" in path else openai.OpenAI()


def _streamed(contract: Contract, events: AsyncIterator[str]) -> Response:
    return StreamingResponse(events, media_type=contract.media_type)


async def _stream(
    contract: Contract,
    asked: RecordedRequest,
    words: Sequence[str],
    pace: float | Paced,
    *,
    is_withheld: bool = False,
) -> AsyncIterator[str]:
    async for event in _words(contract, asked, words, pace):
        yield event
    yield contract.end(asked, words, is_withheld=is_withheld)


async def _half(answer: str) -> AsyncIterator[str]:
    yield answer[: len(answer) // 2]
    raise ConnectionResetError("scripted")


async def _cut_stream(contract: Contract, asked: RecordedRequest, cut: CutStream) -> AsyncIterator[str]:
    async for event in _words(contract, asked, split_words(cut.text)[: cut.after_tokens], 0):
        yield event
    match cut.ending:
        case "drop":
            raise ConnectionResetError("scripted")  # uvicorn closes the connection of a response that failed half-way
        case "stall":
            await asyncio.sleep(3600)
        case "error":
            yield contract.failure("Scripted failure within the stream")


async def _words(
    contract: Contract, asked: RecordedRequest, words: Sequence[str], pace: float | Paced
) -> AsyncIterator[str]:
    """Wait before each word: so many seconds, or for the client."""
    if head := contract.head(asked):
        yield head
    for number, word in enumerate(words, start=1):
        if isinstance(pace, Paced):
            while not pace.may_write(number):
                await asyncio.sleep(0.002)
        else:
            await asyncio.sleep(pace)
        yield contract.word(asked, word)

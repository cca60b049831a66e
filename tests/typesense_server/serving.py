"""The server: it asks for its key, answers or refuses, and fails where a test tells it to."""

import asyncio
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.model_server.behaviours import Fail, Garbage, Hang
from tests.model_server.serving import PromptServer
from tests.typesense_server.collection import Collection
from tests.typesense_server.contract import Refusal, Values, check_names, require, unsigned
from tests.typesense_server.filters import parse_filter
from tests.typesense_server.searching import PARAMETERS, search, selected

KEY = "a key that may read and write"
MOST_QUERY_CHARS, MOST_SEARCHES = 4000, 50
ACTIONS = {"create", "upsert"}


@dataclass(frozen=True, slots=True)
class Cut:
    """Begins an answer, and drops the connection."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A 200 with this as JSON, as from another service."""

    value: Any


Fault = Fail | Hang | Garbage | Cut | Saying


class TypesenseServer:
    """Serves on 127.0.0.1 inside `with`; what it is told it keeps while it is away."""

    def __init__(self) -> None:
        self.key = KEY
        self.collections: dict[str, Collection] = {}
        self.asked: list[tuple[str, str]] = []  # method and path, in order
        self.refuses: Callable[[Values], bool] = lambda document: False  # of what is imported
        self._faults: deque[tuple[str, Fault]] = deque()
        self._port = 0

    def __enter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        app = Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST", "DELETE"])])
        config = uvicorn.Config(app, http="h11", lifespan="off", log_config=None, access_log=False)
        self._server = PromptServer(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="typesense", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=5)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Nothing listens at its address meanwhile."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def fail(self, *faults: Fault, path: str = "") -> None:
        """One for each coming request whose path ends so."""
        self._faults.extend((path, fault) for fault in faults)

    def recover(self) -> None:
        self._faults.clear()

    def reset(self) -> None:
        """As new."""
        self.collections.clear()
        self.asked.clear()
        self.recover()
        self.refuses = lambda document: False

    async def _answer(self, request: Request) -> ASGIApp:
        body = await request.body()
        self.asked.append((request.method, request.url.path))
        if self._faults and request.url.path.endswith(self._faults[0][0]):
            return await _faulty(self._faults.popleft()[1])
        try:
            return self._respond(request, body)
        except Refusal as exc:
            return JSONResponse({"message": str(exc)}, exc.status)

    def _respond(self, request: Request, body: bytes) -> Response:
        parts = [part for part in request.url.path.split("/") if part]
        query = dict(request.query_params)
        if (request.method, parts) == ("GET", ["health"]):
            return JSONResponse({"ok": True})
        forbidden = "Forbidden - a valid `x-typesense-api-key` header must be sent."
        require(request.headers.get("x-typesense-api-key") == self.key, 401, forbidden)
        is_long = len(request.url.query) > MOST_QUERY_CHARS and parts[-1:] == ["search"]
        too_long = f"Query string exceeds max allowed length of {MOST_QUERY_CHARS}. Use the /multi_search end-point"
        require(not is_long, 400, f"{too_long} for larger payloads.")
        match request.method, parts:
            case "GET", ["collections"]:
                check_names(query, set())
                return JSONResponse([collection.told() for collection in self.collections.values()])
            case "POST", ["collections"]:
                return JSONResponse(self._create(_read(body)), 201)
            case "POST", ["multi_search"]:
                return JSONResponse(self._search_many(_read(body), query))
            case "GET" | "DELETE" as method, ["collections", name]:
                told = self._collection(name).told()
                if method == "DELETE":
                    del self.collections[name]
                return JSONResponse(told)
            case method, ["collections", name, "documents", *rest]:
                return self._use(method, self._collection(name), rest, query, body)
        raise Refusal(404, "Not Found")

    def _collection(self, name: str) -> Collection:
        require(name in self.collections, 404, "Not found.")
        return self.collections[name]

    def _create(self, schema: Values) -> Values:
        collection = Collection(schema)
        name = schema["name"]
        require(name not in self.collections, 409, f"A collection with name `{name}` already exists.")
        self.collections[name] = collection
        return collection.told()

    def _use(self, method: str, collection: Collection, rest: list[str], query: Values, body: bytes) -> Response:
        match method, rest:
            case "POST", ["import"]:
                return PlainTextResponse(self._import(collection, query, body.decode()))
            case "GET", ["export"]:
                check_names(query, {"filter_by", "include_fields", "exclude_fields"})
                found = _filtered(collection, query)
                return PlainTextResponse("\n".join(json.dumps(selected(document, query)) for document in found))
            case "GET", ["search"]:
                return JSONResponse(search(collection, query))
            case "DELETE", []:
                check_names(query, {"filter_by", "batch_size"})
                require(query.get("filter_by"), 400, "Parameter `filter_by` must be provided.")
                deleted = _filtered(collection, query)
                for document in deleted:
                    del collection.documents[document["id"]]
                return JSONResponse({"num_deleted": len(deleted)})
        raise Refusal(404, "Not Found")

    def _import(self, collection: Collection, query: Values, text: str) -> str:
        """A line a document, whatever becomes of the others."""
        check_names(query, {"action", "batch_size"})
        unsigned(query, "batch_size", 40)
        action = query.get("action", "create")
        require(action in ACTIONS, 400, "Parameter `action` must be a create|upsert.")
        require(text.strip(), 400, "The request body was empty. So, no chance to import the documents.")
        return "\n".join(self._import_line(collection, line, action) for line in text.strip().split("\n"))

    def _import_line(self, collection: Collection, line: str, action: str) -> str:
        try:
            document = json.loads(line)
            require(isinstance(document, dict), 400, "Bad JSON: not a properly formed document.")
            require(not self.refuses(document), 500, "Rejecting write: running out of resource type: OUT_OF_MEMORY.")
            known = f"A document with id {document.get('id')} already exists."
            require(action == "upsert" or document.get("id") not in collection.documents, 409, known)
            collection.put(document)
        except (Refusal, json.JSONDecodeError) as exc:
            code = exc.status if isinstance(exc, Refusal) else 400
            return json.dumps({"code": code, "document": line, "error": str(exc), "success": False})
        return json.dumps({"success": True})

    def _search_many(self, body: Values, query: Values) -> Values:
        check_names(body, {"searches", "union"})
        require(body.get("union", False) is False, 400, "Union search is not served here.")
        searches = body.get("searches")
        require(isinstance(searches, list), 400, "Missing `searches` array.")
        limit = unsigned(query, "limit_multi_searches", MOST_SEARCHES)
        too_many = "Number of multi searches exceeds `limit_multi_searches` parameter."
        require(len(searches or []) <= limit, 400, too_many)
        check_names(query, PARAMETERS | {"limit_multi_searches"})
        common = {name: value for name, value in query.items() if name != "limit_multi_searches"}
        return {"results": [self._search_one({**common, **one}) for one in searches or []]}

    def _search_one(self, parameters: Values) -> Values:
        """One that is refused spoils no other."""
        try:
            collection = self._collection(str(parameters.pop("collection", "")))
            return search(collection, parameters)
        except Refusal as exc:
            return {"code": exc.status, "error": str(exc)}


def _filtered(collection: Collection, query: Values) -> list[Values]:
    holds = parse_filter(query.get("filter_by", ""), collection)
    return [document for document in collection.documents.values() if holds(document)]


def _read(body: bytes) -> Values:
    try:
        value: Any = json.loads(body)
    except ValueError:
        raise Refusal(400, "Bad JSON.") from None
    require(isinstance(value, dict), 400, "Bad JSON.")
    return dict(value)


async def _faulty(fault: Fault) -> ASGIApp:
    match fault:
        case Fail(status):
            return JSONResponse({"message": "Not Ready or Lagging"}, status)
        case Hang(seconds):
            await asyncio.sleep(seconds)
            return Response()
        case Garbage():
            return HTMLResponse("<html><body>Please log in.</body></html>")
        case Saying(value):
            return JSONResponse(value)
        case Cut():
            return _cut


async def _cut(scope: Scope, receive: Receive, send: Send) -> None:
    """h11 drops the connection of an answer that is shorter than it said."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
    await send({"type": "http.response.body", "body": b'{"results": [', "more_body": True})
    raise ConnectionResetError

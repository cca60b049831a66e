"""Limits on the size and speed of a request's head and body."""

import asyncio
import re
import time
from contextlib import suppress
from typing import Any

import h11
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.errors import error_response
from graphrag.config.settings import Settings
from graphrag.errors import CausewayError, RequestTimeout, RequestTooLarge
from graphrag.observability.telemetry import log

LEAST_RATE = 1_000  # bytes a second, beyond the seconds that every body has: a byte now and then is no body
LINGER_SECONDS = 30  # a client that is still sending finds its answer only when it has done
UPLOADS = re.compile(r"/api/v1/documents(?:/[0-9a-fA-F-]*/?)?")  # new ones, or one in place of another
# Texts, golden cases and inputs of embeddings that are sent together: other JSON is the request of one thing.
BULK = re.compile(r"/api/v1/(?:collections/[^/]+/documents|golden-cases/import)/?|/v1/embeddings/?")
DISCONNECT: Message = {"type": "http.disconnect"}


class BodyLimits:
    """Plain ASGI, so that a stream's reader is seen leaving."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._most_bytes(scope["path"], headers.get("content-type", ""))
        watched = _Body(scope, receive, send, limit, self._settings.access.request_seconds)
        if int(headers.get("content-length", 0)) > limit:  # the server has refused what is no number
            await watched.refuse(too_large(limit))
            return
        await self._app(scope, watched.receive, watched.send)

    def _most_bytes(self, path: str, content_type: str) -> int:
        access = self._settings.access
        if content_type.lower().startswith("multipart/form-data") and UPLOADS.fullmatch(path):
            return access.max_request_bytes
        return access.max_bulk_bytes if BULK.fullmatch(path) else access.max_json_bytes


class _Body:
    """One request's. Once it is refused, the application finds that the client has left, and is no longer heard."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int, seconds: float) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._limit = limit
        self._seconds = seconds
        self._began = time.monotonic()
        self._size = 0
        self._is_whole = False
        self._has_answer = False
        self._is_refused = False

    async def receive(self) -> Message:
        if self._is_refused:
            return DISCONNECT
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout(self._patience()):
                message = await self._receive()
        except TimeoutError:
            return await self._give_up(RequestTimeout("The body came too slowly.", seconds=self._seconds))
        self._size += len(message.get("body", b""))
        self._is_whole = not message.get("more_body")
        return await self._give_up(too_large(self._limit)) if self._size > self._limit else message

    async def send(self, message: Message) -> None:
        if not self._is_refused:
            self._has_answer = True
            await self._send(message)

    async def refuse(self, error: CausewayError) -> None:
        """Answers, and takes what is still on its way: closed at once, the connection would swallow the answer."""
        self._is_refused = True
        response = error_response(error, Request(self._scope))
        response.headers["Connection"] = "close"
        headers = response.raw_headers
        await self._send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        await self._send({"type": "http.response.body", "body": response.body, "more_body": True})
        if isinstance(error, RequestTooLarge):
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    await self._take_the_rest()
        await self._send({"type": "http.response.body", "body": b""})

    def _patience(self) -> float:
        """Seconds until the next part must be there."""
        latest = self._began + self._seconds + self._size / LEAST_RATE
        return min(self._seconds, latest - time.monotonic())

    async def _give_up(self, error: CausewayError) -> Message:
        if not self._has_answer:
            await self.refuse(error)
        return DISCONNECT

    async def _take_the_rest(self) -> None:
        while not self._is_whole:
            message = await self._receive()
            self._is_whole = not message.get("more_body")


def too_large(limit: int) -> RequestTooLarge:
    return RequestTooLarge(f"The request is larger than {limit} bytes.", limit=limit)


HEAD_SECONDS = 30  # for a request's first line and headers, from their first byte or the connection's beginning


class _StrictParser(h11.Connection):
    """Refuses a body of two lengths, which a proxy may end elsewhere than h11 does: what follows would be smuggled."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event


class Connection(H11Protocol):
    """h11 limits a head to 64 kB; uvicorn waits for its end for ever, and for that of a body that nobody reads."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = _StrictParser(h11.SERVER)
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if not self._is_idle():
            self._stop_watching()
        elif self._patience is None:
            is_kept = self.cycle is not None and self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
            seconds = self.timeout_keep_alive if is_kept else HEAD_SECONDS
            self._patience = self.loop.call_later(seconds, self._give_up)

    def _is_idle(self) -> bool:
        """Return whether no request is being answered.

        That is before a request, or after an answer while the rest of an unread body arrives.
        """
        is_answered = self.cycle is not None and self.cycle.response_complete
        return self.conn.their_state is h11.IDLE or (is_answered and self.conn.their_state is h11.SEND_BODY)

    def _stop_watching(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        log.info("a client that sends no request was dropped")
        self.transport.close()

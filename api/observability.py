"""A request's identity: an id in every log line, answer and error; and the headers that every answer has."""

from uuid import uuid4

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What another site's page may do with an answer: nothing. Neither frame it, nor load it as its own script or image.
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FRAMED_NOWHERE = "frame-ancestors 'none'"


def identity_headers(request_id: str) -> dict[str, str]:
    return {"X-Request-ID": request_id, **SAFE}


class RequestIdentity:
    """Plain ASGI: a middleware that wraps the response would keep a client's leaving from the stream."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(identity_headers(request_id))
                headers.setdefault("Content-Security-Policy", FRAMED_NOWHERE)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._app(scope, receive, send_with_id)

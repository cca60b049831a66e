"""A request's identity: an id in every log line, answer and error."""

from uuid import uuid4

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def identity_headers(request_id: str) -> dict[str, str]:
    return {"X-Request-ID": request_id, "X-Content-Type-Options": "nosniff"}


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
                MutableHeaders(scope=message).update(identity_headers(request_id))
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._app(scope, receive, send_with_id)

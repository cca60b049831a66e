"""Observability of every request: its id in each log line, answer and error, its trace, a last line, counts."""

import re
import time
from uuid import uuid4

from opentelemetry.trace import Span, SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphrag.observability.metrics import HTTP_REQUESTS, HTTP_SECONDS
from graphrag.observability.request_context import RequestRecord, begin_record
from graphrag.observability.telemetry import log
from graphrag.observability.tracing import current_parent, first_span, trace_id

# What another site's page may do with an answer: nothing. Neither frame it, nor load it as its own script or image.
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FRAMED_NOWHERE = "frame-ancestors 'none'"
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
NO_ROUTE = "none"  # what is refused before its route is looked for, and what has none
UNVERSIONED = re.compile("^/api/(?!v1/)")  # another name of the same: nothing behind knows it
LEFT = 499  # nobody is there to read a status


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
        scope["path"] = UNVERSIONED.sub("/api/v1/", scope["path"])
        started, status = time.perf_counter(), LEFT
        request_id = uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        # It stays: what is told of the request after its end, by tasks and by the server, has its id too.
        record = begin_record(request_id=request_id)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(identity_headers(request_id) | traced)
                headers.setdefault("Content-Security-Policy", FRAMED_NOWHERE)
            await send(message)

        with first_span(_method(scope), Headers(scope=scope).get("traceparent", ""), SpanKind.SERVER) as span:
            traced = _traced(span, record)
            try:
                await self._app(scope, receive, send_with_id)
            except Exception:
                status = 500
                raise
            finally:
                _tell(scope, record, status, time.perf_counter() - started, span)


def _traced(span: Span, record: RequestRecord) -> dict[str, str]:
    """The header that tells the trace (W3C Trace Context, level 2); none where nothing is traced."""
    if not (known := trace_id(span)):
        return {}
    record.identity["trace_id"] = known
    return {"traceresponse": current_parent()}


def _tell(scope: Scope, record: RequestRecord, status: int, seconds: float, span: Span) -> None:
    method, route = _method(scope), route_of(scope)
    HTTP_REQUESTS.labels(method=method, route=route, status=f"{status // 100}xx").inc()
    HTTP_SECONDS.labels(method=method, route=route).observe(seconds)
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
    write = log.warning if status >= 500 or record.degraded or record.slow else log.info
    told = {"method": method, "route": route, "status": status, "milliseconds": round(seconds * 1000, 2)}
    write("request", **record.describe() | told)


def _method(scope: Scope) -> str:
    """One of few: a metric has a value for each."""
    method: str = scope["method"]
    return method if method in METHODS else "other"


def route_of(scope: Scope) -> str:
    """Its template, as in /api/v1/documents/{document_id}: neither ids nor names."""
    # Of a route that was included, scope["route"] knows no more than its own part of the path.
    route = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    template: str | None = getattr(route, "path_format", None) or getattr(route, "path", None)
    if template is None:
        return f"{scope['root_path']}/{{path}}" if scope.get("root_path") else NO_ROUTE
    return template

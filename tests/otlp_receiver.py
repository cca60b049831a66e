"""A collector of traces: what is sent to it by OTLP over HTTP is kept, as it was sent."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

WAIT_SECONDS = 30


@dataclass(frozen=True)
class Span:
    name: str
    id: str
    parent: str  # its id; "" of the first of a trace
    trace: str
    service: str
    attributes: dict[str, Any]
    is_error: bool
    told: str  # all that was sent of it


@dataclass
class Receiver:
    url: str = ""
    spans: list[Span] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}

    def trace(self, trace_id: str, *, first: str) -> list[Span]:
        """Its spans, once the one of that name is among them: it ends last."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            found = [span for span in list(self.spans) if span.trace == trace_id]
            if any(span.name == first for span in found):
                return found
            assert time.monotonic() < until, sorted(span.name for span in found)
            time.sleep(0.05)


@contextmanager
def otlp_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.spans.extend(_spans(ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            """Not into the test's output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield receiver
        server.shutdown()


def _spans(request: ExportTraceServiceRequest) -> Iterator[Span]:
    for resource in request.resource_spans:
        service = _values(resource.resource.attributes)["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                identity = span.span_id.hex(), span.parent_span_id.hex(), span.trace_id.hex()
                yield Span(span.name, *identity, service, _values(span.attributes), span.status.code == 2, str(span))


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: each.value.int_value or each.value.string_value for each in attributes}

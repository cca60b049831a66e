"""Traces for OpenTelemetry, where its standard variables ask for them; else spans cost nothing and go nowhere."""

import atexit
import logging
import os
import sys
import threading
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from graphrag import DISTRIBUTION
from graphrag.errors import InvalidSettings, MissingExtra, install_command

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter


ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
END_SECONDS = 2  # at the process's end, for a collector that does not answer
_tracer = trace.get_tracer("causeway")
_propagator = TraceContextTextMapPropagator()


def configure_tracing() -> None:
    """Configure tracing; pending spans are exported at the process's end. Raises MissingExtra or InvalidSettings."""
    exporter = _wanted()
    if exporter == "none":
        return
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        opened = _open(exporter)
    except ModuleNotFoundError as exc:
        raise MissingExtra.of("OTEL_TRACES_EXPORTER", install_command("otel")) from exc
    name = os.environ.get("OTEL_SERVICE_NAME") or "causeway"
    # A collector that is away is told of once a batch, not at each attempt.
    logging.getLogger("opentelemetry.exporter.otlp").setLevel(logging.ERROR)
    resource = Resource.create({"service.name": name, "service.version": version(DISTRIBUTION)})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(opened))
    trace.set_tracer_provider(provider)

    def send_the_rest() -> None:
        watchdog = threading.Timer(END_SECONDS, opened.shutdown)
        watchdog.daemon = True
        watchdog.start()
        provider.shutdown()
        watchdog.cancel()

    atexit.register(send_the_rest)


def _wanted() -> str:
    """otlp, console or none."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return "none"
    has_endpoint = any(os.environ.get(name) for name in ENDPOINTS)
    return os.environ.get("OTEL_TRACES_EXPORTER") or ("otlp" if has_endpoint else "none")


def _open(exporter: str) -> "SpanExporter":
    """Raises InvalidSettings or ModuleNotFoundError."""
    if exporter == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)  # standard output is for answers, and for MCP
    if exporter != "otlp":
        raise InvalidSettings(f"OTEL_TRACES_EXPORTER={exporter}: otlp, console and none are known.")
    protocol = next((told for name in PROTOCOLS if (told := os.environ.get(name))), "http/protobuf")
    if protocol != "http/protobuf":
        raise InvalidSettings(f"OTEL_EXPORTER_OTLP_PROTOCOL={protocol}: traces are sent by http/protobuf alone.")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def span(name: str) -> "_Within":
    """Start a span within the current one."""
    return _Within(_tracer.start_span(name))


def first_span(name: str, parent: str, kind: trace.SpanKind) -> "_Within":
    """Start the root span of a request or a job, within its sender's trace where one is named (W3C `traceparent`)."""
    sender = _propagator.extract({"traceparent": parent}, context=Context())
    return _Within(_tracer.start_span(name, context=sender, kind=kind))


class _Within:
    """A span as context manager: a quarter of the cost of OpenTelemetry's use_span, 20 times a question."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def __enter__(self) -> trace.Span:
        is_known = self._span.get_span_context().is_valid  # else nothing is traced, and nobody asks for it
        self._token = attach(trace.set_span_in_context(self._span)) if is_known else None
        return self._span

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._token:
            detach(self._token)
        if isinstance(error, Exception):
            fail(self._span, error)
        self._span.end()


def call_span(name: str, attributes: Mapping[str, str]) -> trace.Span:
    """Start the span of a call to another service; the caller ends it, and no span is its child.

    Attributes are kinds, numbers and names of ours, never a word of anybody's.
    """
    return _tracer.start_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes)


def fail(span: trace.Span, error: BaseException) -> None:
    """Mark the span as failed with the error's kind, never its message."""
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(trace.StatusCode.ERROR)


def current_parent() -> str:
    """The current span as a `traceparent`; empty where nothing is traced."""
    carrier: dict[str, str] = {}
    if trace.get_current_span().is_recording():
        _propagator.inject(carrier)
    return carrier.get("traceparent", "")


def trace_id(span: trace.Span) -> str:
    """32 hexadecimal digits; empty where nothing is traced."""
    context = span.get_span_context()
    return trace.format_trace_id(context.trace_id) if context.is_valid and span.is_recording() else ""

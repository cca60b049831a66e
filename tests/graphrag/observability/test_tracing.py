"""Where traces are sent, and what keeps them from being sent."""

import io
import sys

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client import REGISTRY

from graphrag.errors import InvalidSettings, MissingExtra
from graphrag.llm.resilient_chat_model import model_call
from graphrag.observability.tracing import configure_tracing, current_parent, first_span, trace_id

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_nothing_is_set_up_where_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.2 Not even the extra is needed."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    configure_tracing()
    for name, value in (("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")):
        with monkeypatch.context() as patch:
            patch.setenv(ENDPOINT, "http://127.0.0.1:4318")
            patch.setenv(name, value)
            configure_tracing()


@pytest.mark.parametrize("module", ["opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """R11.2"""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:4318")
    with pytest.raises(MissingExtra, match=r"make install WITH=otel"):
        configure_tracing()


@pytest.mark.parametrize(
    ("variable", "value"), [("OTEL_TRACES_EXPORTER", "jaeger"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]
)
def test_what_is_not_spoken_is_refused_at_once(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """R11.2 Not in the background, where nobody reads it."""
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:4318")
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidSettings, match=f"{variable}={value}"):
        configure_tracing()


def test_traces_for_the_terminal_are_no_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.2, R9.4 Standard output is for answers, and MCP is spoken over it."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    set_up: list[TracerProvider] = []
    monkeypatch.setattr(trace, "set_tracer_provider", set_up.append)
    monkeypatch.setattr("sys.stderr", errors := io.StringIO())
    monkeypatch.setattr("sys.stdout", output := io.StringIO())
    configure_tracing()
    set_up[0].get_tracer("causeway").start_span("told").end()
    set_up[0].force_flush()
    assert '"told"' in errors.getvalue()
    assert not output.getvalue()


def test_without_traces_a_sender_s_is_not_passed_on() -> None:
    """R11.2 No header and no log line tells of a trace that there is none of."""
    with first_span("GET", SENT, trace.SpanKind.SERVER) as span:
        assert trace_id(span) == current_parent() == ""


def test_tokens_are_counted_as_the_provider_tells_them() -> None:
    """R11.2 Of a whole answer, and of a stream, one of whose pieces tells them."""

    def counted(kind: str) -> float:
        return REGISTRY.get_sample_value("causeway_model_tokens_total", {"model": "openai:counted", "kind": kind}) or 0

    usage = UsageMetadata(input_tokens=7, output_tokens=3, total_tokens=10)
    pieces = [AIMessageChunk(content="Yes"), AIMessageChunk(content="", usage_metadata=usage)]
    for messages in ([AIMessage("Yes", usage_metadata=usage)], pieces):
        before = counted("input"), counted("output")
        with model_call("openai:counted", "counted") as call:
            for message in messages:
                call.take(message)
        assert (counted("input"), counted("output")) == (before[0] + 7, before[1] + 3)


@pytest.mark.parametrize(("error", "outcome"), [(ValueError, "failed"), (GeneratorExit, "left")])
def test_how_a_call_ended_is_counted(error: type[BaseException], outcome: str) -> None:
    """R11.2 A reader who leaves is no failure of the model."""
    labels = {"model": "openai:counted", "outcome": outcome}
    before = REGISTRY.get_sample_value("causeway_model_calls_total", labels) or 0
    with pytest.raises(error), model_call("openai:counted", "counted"):
        raise error
    assert REGISTRY.get_sample_value("causeway_model_calls_total", labels) == before + 1

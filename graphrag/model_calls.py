"""What is told of every call of a chat model: a span by OpenTelemetry's conventions for generative AI, time, tokens."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, BaseMessage

from graphrag.metrics import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from graphrag.tracing import call_span, fail


@dataclass(slots=True)
class ModelCall:
    tokens: dict[str, int] = field(default_factory=dict)  # input, output; as far as the provider tells them

    def take(self, message: BaseMessage) -> None:
        """A message, or a piece of one: a stream tells its tokens in one of its pieces."""
        if isinstance(message, AIMessage) and (usage := message.usage_metadata):
            for kind, count in (("input", usage["input_tokens"]), ("output", usage["output_tokens"])):
                self.tokens[kind] = self.tokens.get(kind, 0) + count


@contextmanager
def model_call(name: str, model: str) -> Iterator[ModelCall]:
    """`name`: "provider:model", and what for. Around a generator too: nothing of it is set for who takes its values."""
    call, outcome, started = ModelCall(), "left", time.perf_counter()
    provider = name.partition(":")[0]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    for kind in ("input", "output"):  # 0 where the provider tells none
        MODEL_TOKENS.labels(model=name, kind=kind)
    span = call_span(f"chat {model}", attributes)
    try:
        yield call
        outcome = "answered"
    except Exception as exc:
        outcome = "failed"
        fail(span, exc)
        raise
    finally:
        for kind, count in call.tokens.items():
            span.set_attribute(f"gen_ai.usage.{kind}_tokens", count)
            MODEL_TOKENS.labels(model=name, kind=kind).inc(count)
        MODEL_CALLS.labels(model=name, outcome=outcome).inc()
        MODEL_SECONDS.labels(model=name).observe(time.perf_counter() - started)
        span.end()

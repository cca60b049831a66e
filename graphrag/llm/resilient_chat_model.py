"""A provider's chat model behind a guard: itself a chat model, which fails with ProviderError alone."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import Field, SkipValidation

from graphrag.llm.guard import Guard, NothingSaid, Speech, check_not_held_back
from graphrag.observability.metrics import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from graphrag.observability.tracing import call_span, fail


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


class ResilientChatModel(BaseChatModel):
    """Asynchronous only. Its calls are no runs of their own within it: what is traced is traced once."""

    inner: SkipValidation[BaseChatModel] = Field(repr=False)
    guard: SkipValidation[Guard] = Field(repr=False)

    @property
    def model_name(self) -> str:
        return str(getattr(self.inner, "model_name", None) or getattr(self.inner, "model", None) or self.guard.name)

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop, **kwargs)

    def within(self, seconds: float, *, purpose: str) -> "ResilientChatModel":
        """Return the model for calls with less time, whose timeouts don't affect the others."""
        return ResilientChatModel(inner=self.inner, guard=self.guard.within(seconds, purpose=purpose))

    def in_background(self) -> "ResilientChatModel":
        """Return the model for background calls, which yield to interactive ones."""
        return ResilientChatModel(inner=self.inner, guard=self.guard.in_background())

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        structured = self.inner.with_structured_output(schema, include_raw=include_raw, **kwargs)

        async def ask(question: LanguageModelInput, config: RunnableConfig) -> Any:
            with model_call(self.guard.name, self.model_name):
                return await self.guard.call(lambda: structured.ainvoke(question, config))

        return RunnableLambda(ask)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("a guarded model is asked with ainvoke or astream")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with model_call(self.guard.name, self.model_name) as call:
            result = await self.guard.call(lambda: self._whole(messages, stop, kwargs))
            call.take(result.generations[0].message)
            return result

    async def _whole(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> ChatResult:
        result = await self.inner._agenerate(messages, stop=stop, **kwargs)
        check_not_held_back({**_told(result.generations[0]), **(result.llm_output or {})})
        if not _is_word(result.generations[0]):
            raise NothingSaid
        return result

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async def begin() -> AsyncGenerator[ChatGenerationChunk, None]:
            chunks = self.inner._astream(messages, stop=stop, **kwargs)
            async with aclosing(cast(AsyncGenerator[ChatGenerationChunk, None], chunks)):
                async for chunk in chunks:
                    check_not_held_back(_told(chunk))
                    yield chunk

        with model_call(self.guard.name, self.model_name) as call:
            async with aclosing(self.guard.stream(Speech(begin, _is_word, _is_end))) as chunks:
                async for chunk in chunks:
                    call.take(chunk.message)
                    yield chunk


def in_background(model: BaseChatModel) -> BaseChatModel:
    """One that nobody guards needs no turns."""
    return model.in_background() if isinstance(model, ResilientChatModel) else model


def _is_word(generation: ChatGeneration) -> bool:
    calls = getattr(generation.message, "tool_calls", None) or getattr(generation.message, "tool_call_chunks", None)
    return bool(generation.text.strip() or calls)


def _is_end(chunk: ChatGenerationChunk) -> bool:
    """Return whether the chunk ends the answer, by OpenAI's and Gemini's key or by Ollama's."""
    return bool(_told(chunk).get("finish_reason") or _told(chunk).get("done_reason"))


def _told(generation: ChatGeneration) -> dict[str, Any]:
    return {**generation.message.response_metadata, **(generation.generation_info or {})}

"""A provider's chat model behind a guard: itself a chat model, which fails with ProviderError alone."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import Field, SkipValidation

from graphrag.guard import Guard, NothingSaid, Speech
from graphrag.held_back import check_not_held_back
from graphrag.model_calls import model_call


class GuardedChatModel(BaseChatModel):
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

    def within(self, seconds: float, *, purpose: str) -> "GuardedChatModel":
        """For calls that have less time, which may fail by that without harm to the others."""
        return GuardedChatModel(inner=self.inner, guard=self.guard.within(seconds, purpose=purpose))

    def in_background(self) -> "GuardedChatModel":
        """For calls that nobody waits for: people's calls come first."""
        return GuardedChatModel(inner=self.inner, guard=self.guard.in_background())

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
    return model.in_background() if isinstance(model, GuardedChatModel) else model


def _is_word(generation: ChatGeneration) -> bool:
    calls = getattr(generation.message, "tool_calls", None) or getattr(generation.message, "tool_call_chunks", None)
    return bool(generation.text.strip() or calls)


def _is_end(chunk: ChatGenerationChunk) -> bool:
    """By the word for it that OpenAI and Gemini have, or Ollama's."""
    return bool(_told(chunk).get("finish_reason") or _told(chunk).get("done_reason"))


def _told(generation: ChatGeneration) -> dict[str, Any]:
    return {**generation.message.response_metadata, **(generation.generation_info or {})}

"""A chat model without a model: it answers with the evidence's own sentences, each with its mark, and streams them."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from graphrag.extractive_answers.chain_wording import ToldChain
from graphrag.extractive_answers.composition import AnswerRequest, OwnSentences, compose_answer
from graphrag.extractive_answers.statements import Excerpt

BRIEF = "brief"  # the key in the last message's additional_kwargs
_TOKEN = re.compile(r"\S+\s*")


def brief(
    question: str,
    *,
    language: str,
    parts: tuple[str, ...],
    excerpts: list[Excerpt],
    not_found: str,
    lead: str,
    no_part: str,
    today: date,
    chains: Sequence[ToldChain] = (),
    compares: bool = False,
) -> dict[str, Any]:
    """Return the message payload that this model reads instead of the prompt's words; other models ignore it.

    `lead` opens an answer that is not in the question's language; `not_found` is said where nothing answers, `no_part`
    where nothing answers {part}. `chains`, the best first, are told before anything else. A question that `compares`
    has the compared things as its parts.
    """
    return {
        BRIEF: {
            "question": question,
            "language": language,
            "parts": parts,
            "excerpts": excerpts,
            "not_found": not_found,
            "lead": lead,
            "no_part": no_part,
            "today": today,
            "chains": chains,
            "compares": compares,
        }
    }


class ExtractiveChatModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "extractive"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(_answer(messages)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for token in _TOKEN.findall(_answer(messages)):
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for token in _TOKEN.findall(await asyncio.to_thread(_answer, messages)):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=token))
            if run_manager:
                await run_manager.on_llm_new_token(token, chunk=chunk)
            yield chunk


def _answer(messages: list[BaseMessage]) -> str:
    given: Mapping[str, Any] | None = messages[-1].additional_kwargs.get(BRIEF) if messages else None
    if given is None:
        raise ValueError("the extractive model reads a brief in the last message's additional_kwargs")
    return compose_answer(
        AnswerRequest(given["question"], given["language"], given["today"], given["parts"], given["compares"]),
        given["excerpts"],
        chains=given["chains"],
        own=OwnSentences(given["not_found"], given["lead"], given["no_part"]),
    )

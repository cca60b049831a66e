"""Chat model without a language model: answer a prompt with its excerpts' own sentences, each with its mark."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from graphrag.extractive_answers.composition import OWN_SENTENCES, AnswerRequest, compose_answer
from graphrag.extractive_answers.posed_questions import mark_posed
from graphrag.extractive_answers.prompt_format import AnswerPrompt, parse_date_line, parse_prompt
from graphrag.extractive_answers.statements import Excerpt
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Intent

_TOKEN = re.compile(r"\S+\s*")


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
    """Answer the prompt that any chat model is given. Raise ValueError for messages of another form."""
    told = parse_date_line(messages)
    if told is None:
        raise ValueError("the extractive model reads the prompts of answers only")
    language, today = told
    own = OWN_SENTENCES[language]
    prompt = parse_prompt(messages[-1].text)
    if prompt is None:
        return own.no_chat_model
    asked = read_request(prompt, language, today)
    chains = prompt.chains if prompt.analysis.intent is Intent.CAUSAL else ()
    return compose_answer(asked, read_excerpts(prompt, asked), chains=chains, own=own)


def read_request(prompt: AnswerPrompt, language: str, today: date) -> AnswerRequest:
    analysis = prompt.analysis
    question = analysis.standalone or prompt.question  # the history is not read
    return AnswerRequest(
        question, language, today, analysis.parts, analysis.intent is Intent.COMPARATIVE, analysis.direction
    )


def read_excerpts(prompt: AnswerPrompt, asked: AnswerRequest) -> list[Excerpt]:
    """Return a prompt's excerpts, with what is an order to a model, or answers the question there, marked."""
    quotes_instructions = bool(find_instructions(prompt.question))
    excerpts = [
        excerpt if quotes_instructions else replace(excerpt, suspicious=find_instructions(excerpt.text))
        for excerpt in prompt.excerpts
    ]
    return [mark_posed((asked.question, *asked.parts), asked.language, excerpt) for excerpt in excerpts]

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

from graphrag.answer_extraction import Excerpt, extract_answer
from graphrag.chain_wording import ToldChain, word_chain

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
    today: date,
    chains: Sequence[ToldChain] = (),
) -> dict[str, Any]:
    """What this model reads instead of the prompt's words; other models ignore it.

    `lead` opens an answer that is not in the question's language; `not_found` is said where nothing answers. `chains`,
    the best first, are told before anything else.
    """
    return {
        BRIEF: {
            "question": question,
            "language": language,
            "parts": parts,
            "excerpts": excerpts,
            "not_found": not_found,
            "lead": lead,
            "today": today,
            "chains": chains,
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
    statements = extract_answer(
        given["question"],
        given["excerpts"],
        language=given["language"],
        parts=given["parts"],
        today=given["today"],
    )
    statements = word_chain(given["chains"], statements, given["excerpts"])
    if not statements:
        return str(given["not_found"])
    lead = f"{given['lead']} " if statements[0].language != given["language"] else ""
    if len(statements) > 1 and all(statement.is_row for statement in statements):
        lines = [lead.strip(), *(f"- {row.text} [{row.number}]" for row in statements)]
        return "\n".join(line for line in lines if line)
    return lead + " ".join(f"{statement.text} [{statement.number}]" for statement in statements)

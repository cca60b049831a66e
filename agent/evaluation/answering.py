"""One golden question, answered as a person's would be, and how long that took."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.messages import is_not_found
from agent.verification.checking import Verification
from graphrag.errors import ProviderError
from graphrag.models import Collection, Passage
from graphrag.rehearsal import rehearsal
from graphrag.services import Services
from graphrag.telemetry import log


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What a person would have been shown, and what it was made of."""

    verification: Verification
    passages: tuple[Passage, ...]
    is_refusal: bool  # «no relevant information …»
    chat_model: str | None  # None: it was refused without asking one
    failed: tuple[str, ...]  # stages that were done without
    milliseconds: float
    first_token_milliseconds: float | None


async def answer_question(
    question: str, *, services: Services, collection: Collection, retrieval: Mapping[str, Any]
) -> GivenAnswer | None:
    """By the agent's own graph, without a conversation, as a rehearsal. None: no model answered."""
    context = Context(services=services, owner_id=collection.owner_id, opened=collection, retrieval=dict(retrieval))
    try:
        with rehearsal():
            return await _answer(question, context)
    except ProviderError as exc:
        log.warning("golden question without an answer", error=exc)
        return None


async def _answer(question: str, context: Context) -> GivenAnswer:
    state: dict[str, Any] = {}
    first: float | None = None
    started = perf_counter()
    parts = graph.astream({"messages": [HumanMessage(question)]}, context=context, stream_mode=["custom", "values"])
    async with aclosing(cast(AsyncGenerator[tuple[str, Any], None], parts)) as stream:
        async for mode, payload in stream:
            if mode == "values":
                state = payload
            elif payload["event"] == "token" and first is None:
                first = _since(started)
    return _given(state, milliseconds=_since(started), first_token_milliseconds=first)


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)


def _given(state: dict[str, Any], **times: Any) -> GivenAnswer:
    verification: Verification = state["verification"]
    return GivenAnswer(
        verification=verification,
        passages=tuple(state["passages"]),
        is_refusal=is_not_found(verification.answer, state["query"].language),
        chat_model=state["chat_model"],
        failed=tuple(dict.fromkeys(state["degraded"])),
        **times,
    )

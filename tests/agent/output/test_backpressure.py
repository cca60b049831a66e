"""How far a model is read ahead of whoever takes the events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from agent.context import Context
from agent.graph import graph
from agent.output.backpressure import MAX_EVENTS_AHEAD, Backpressure
from agent.output.events import stream_answer
from api.streaming.streams import Streams
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import open_library, with_parts

WORDS = 20 * MAX_EVENTS_AHEAD


class CountingModel(BaseChatModel):
    """Writes one word after the other, as fast as they are taken."""

    written: list[str]

    @property
    def _llm_type(self) -> str:
        return "counting"

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for number in range(WORDS):
            await asyncio.sleep(0)
            self.written.append(f"word{number} ")
            yield ChatGenerationChunk(message=AIMessageChunk(content=self.written[-1]))


async def test_a_model_waits_for_whoever_takes_the_events(registry: EmbeddingRegistry) -> None:
    """Back-pressure: through the graph, whose own queue has no end; taken on, the answer is whole."""
    model = CountingModel(written=[])
    services = await open_library(registry, store=InMemoryStore())
    services = with_parts(services, chat_model=model)
    context = Context(services=services, rag_enabled=False)
    async with aclosing(stream_answer(graph, [HumanMessage("Hello?")], context)) as events:
        while (event := await anext(events))["event"] != "token":
            pass
        await asyncio.sleep(0.2)
        assert len(model.written) < 3 * MAX_EVENTS_AHEAD
        taken = [event, *[event async for event in events]]
    assert len(model.written) == WORDS
    texts = [event["data"]["text"] for event in taken if event["event"] == "token"]
    assert "".join(texts).strip() == taken[-1]["data"]["answer"] == "".join(model.written).strip()


async def test_where_nobody_counts_nothing_waits() -> None:
    """Back-pressure: LangGraph Studio takes events without saying so."""
    written: list[int] = []
    backpressure = Backpressure()
    write = backpressure.counted(written.append)
    for number in range(WORDS):
        write(number)
        await backpressure.room()
    assert written == list(range(WORDS))


class DeafModel(CountingModel):
    """Loses the first cancellation, as a client does that waits by Python 3.11's `asyncio.wait_for`."""

    async def _astream(self, *given: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            self.written.append("word ")
            yield ChatGenerationChunk(message=AIMessageChunk(content=self.written[-1]))


async def test_an_answer_ends_though_its_cancellation_was_lost(registry: EmbeddingRegistry) -> None:
    """R9.2 stopped, and at the end of the process."""
    model = DeafModel(written=[])
    services = await open_library(registry, store=InMemoryStore())
    services = with_parts(services, chat_model=model)
    streams = Streams(services.settings)
    for _ in range(3):
        stream = streams.start(
            stream_answer(graph, [HumanMessage("Hello?")], Context(services=services, rag_enabled=False)), "ana"
        )
        async for event in stream.follow():
            if b"event: token" in event:
                break
        streams.cancel(stream)
    async with asyncio.timeout(10):
        await streams.close()
    written = len(model.written)
    await asyncio.sleep(0.1)
    assert len(model.written) == written

"""Requests of OpenAI's clients as questions, and answers in OpenAI's format."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.output.events import Event
from agent.output.json_schema import AnswerSchema
from agent.state import MAX_MESSAGES
from api.openai.schemas import (
    Answered,
    AnswerMessage,
    ChatMessage,
    Choice,
    Completion,
    CompletionRequest,
    ResponseRequest,
    Usage,
)
from api.schemas.rendering import Footnotes, definitions, with_footnotes, without_footnotes
from api.streaming.streams import SharedStreams, Stream
from graphrag.errors import UnsupportedParameter
from graphrag.linguistics.language import visible
from graphrag.observability.telemetry import log

MOST_INSTRUCTIONS = 4_000  # characters, as a collection's own system prompt may have
MOST_EARLIER_CHARS = 20_000  # of one message: no prompt shows as much, and finding the topic takes 2 s a million
# What would change the answer of OpenAI's models. Clients send some of it by default, so it is no error.
NOT_USED = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "reasoning",
    "reasoning_effort",
    "verbosity",
    "prediction",
    "web_search_options",
)


@dataclass(frozen=True, slots=True)
class OpenAIQuestion:
    messages: list[AnyMessage]  # the last is the question
    instructions: str
    warnings: list[str]
    answer_schema: AnswerSchema | None  # of an answer as JSON


def read_request(body: CompletionRequest | ResponseRequest) -> OpenAIQuestion:
    """Raises UnsupportedParameter or InvalidSchema."""
    _refuse(body)
    said = [message for message in body.messages if message.role in ("user", "assistant")]
    texts = [visible(message.text).strip() for message in body.messages if message.role in ("system", "developer")]
    instructions = "\n\n".join(filter(None, texts))
    given = body.model_extra or {}
    warnings = [f"{name} is not used" for name in NOT_USED if given.get(name) not in (None, [], {})]
    if any(message.other_parts for message in said):
        warnings.append("only the text of earlier messages is read")
    if any(message.role in ("tool", "function") for message in body.messages):
        warnings.append("messages of tools are not read")
    if len(instructions) > MOST_INSTRUCTIONS:
        warnings.append(f"system messages of more than {MOST_INSTRUCTIONS} characters are not used")
        instructions = ""
    schema = body.format.read() if body.format else None
    return OpenAIQuestion(_messages(said[-MAX_MESSAGES:]), instructions, warnings, schema)


def _refuse(body: CompletionRequest | ResponseRequest) -> None:
    question = next(message for message in reversed(body.messages) if message.role == "user")
    unsupported = [name for name, is_asked_for in body.unsupported.items() if is_asked_for]
    unsupported += [f"{body.MESSAGES}.content.{kind}" for kind in question.other_parts]
    for name in unsupported:
        raise UnsupportedParameter(f"{name} is not supported here.", param=name)


def _messages(said: list[ChatMessage]) -> list[AnyMessage]:
    earlier = [(message.role, visible(message.text)) for message in said[:-1]]
    history: list[AnyMessage] = [
        HumanMessage(text[:MOST_EARLIER_CHARS])
        if role == "user"
        else AIMessage(without_footnotes(text)[:MOST_EARLIER_CHARS])
        for role, text in earlier
        if text.strip()
    ]
    return [*history, HumanMessage(said[-1].text)]


Done = Mapping[str, Any]  # the data of an answer's last event
UsageOf = Callable[[Done], Awaitable[Usage]]
_EVENT = re.compile(rb"^event: ([\w.]+)\ndata: (.*)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Head:
    """Fields that every part of one answer repeats."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_urlsafe(16)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def chunk(self, delta: Mapping[str, str], finish_reason: str | None = None, **more: Any) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self.event("chunk", choices=[choice], **more)

    def event(self, name: str, **data: Any) -> Event:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        return {"event": name, "data": head | data}


def write_completion(head: Head, done: Done, usage: Usage, asked: OpenAIQuestion) -> Completion:
    content = with_footnotes(done["answer"], sources=len(done["sources"]), citations=done["citations"])
    message = _as_json(done) if asked.answer_schema else AnswerMessage(content=content)
    return Completion(
        id=head.id,
        created=head.created,
        model=head.model,
        choices=[Choice(message=message)],
        usage=usage,
        citations=done["citations"],
        causeway=describe_answered(done, asked.warnings),
    )


def _as_json(done: Done) -> AnswerMessage:
    """Return the message that is JSON, or a refusal where the answer is none."""
    text = done["answer"]
    return AnswerMessage(content=text) if done.get("is_json") else AnswerMessage(content=None, refusal=text)


def describe_answered(done: Done, warnings: list[str]) -> Answered:
    return Answered.model_validate({**done, "warnings": [*done["warnings"], *warnings]})


async def write_chunks(
    events: AsyncGenerator[Event, None], head: Head, *, asked: OpenAIQuestion, usage_of: UsageOf | None
) -> AsyncGenerator[Event, None]:
    """Yield the tokens as they come, then the footnotes, then a chunk with the answer's findings.

    JSON comes whole. With `usage_of` one more chunk has the usage.
    """
    footnotes = Footnotes()
    yield head.chunk({"role": "assistant", "content": ""})
    async with aclosing(events) as parts:
        async for event in parts:
            data = event["data"]
            match event["event"]:
                case "sources":
                    footnotes.known = len(data["sources"])
                case "token" if not asked.answer_schema:
                    if text := footnotes.feed(data["text"]):
                        yield head.chunk({"content": text})
                case "done":
                    if asked.answer_schema:
                        yield head.chunk(_as_json(data).model_dump(exclude={"role"}, exclude_none=True))
                    elif text := footnotes.flush() + definitions(data["citations"]):
                        yield head.chunk({"content": text})
                    answered = describe_answered(data, asked.warnings).model_dump(mode="json")
                    yield head.chunk({}, "stop", citations=data["citations"], causeway=answered)
                    if usage_of:
                        usage = await usage_of(data)
                        yield head.event("chunk", choices=[], usage=usage.model_dump())
                    yield {"event": "done", "data": {}}


class ClientStream(EventSourceResponse):
    """A stream's events without numbers, to the one reader there is: its leaving stops the model's work."""

    def __init__(self, stream: Stream, streams: SharedStreams) -> None:
        super().__init__(
            _chunks(stream),
            ping=streams.settings.streams.stream_heartbeat_seconds,
            send_timeout=streams.settings.streams.stream_stalled_seconds,
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
        self._stream, self._streams = stream, streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._streams.reading(self._stream):
                await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.info("a reader that takes nothing was dropped")
        finally:
            self._streams.cancel(self._stream)


async def _chunks(stream: Stream) -> AsyncIterator[bytes]:
    """One that was broken off has no [DONE]. Events of a response have names, chunks of a completion have none."""
    async for logged in stream.follow():
        for name, data in _EVENT.findall(logged):
            if name.startswith(b"response."):
                yield b"event: " + name + b"\n"
            if name != b"done":
                yield b"data: " + data + b"\n\n"
            if name in (b"done", b"error"):
                yield b"data: [DONE]\n\n"

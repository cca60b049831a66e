"""Answers in OpenAI's shape, whole and as a stream of chunks."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.events import Event
from api.footnotes import Footnotes, definitions, with_footnotes
from api.openai_schemas import Answered, AnswerMessage, Choice, Completion, Usage
from api.shared_streams import SharedStreams
from api.streams import Stream
from graphrag.telemetry import log

Done = Mapping[str, Any]  # the data of an answer's last event
UsageOf = Callable[[Done], Awaitable[Usage]]
_EVENT = re.compile(rb"^event: (\w+)\ndata: (.*)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Head:
    """What every part of one answer says of itself."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_urlsafe(16)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def chunk(self, delta: Mapping[str, str], finish_reason: str | None = None, **more: Any) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self.event("chunk", choices=[choice], **more)

    def event(self, name: str, **data: Any) -> Event:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        return {"event": name, "data": head | data}


def write_completion(head: Head, done: Done, usage: Usage, warnings: list[str]) -> Completion:
    content = with_footnotes(done["answer"], sources=len(done["sources"]), citations=done["citations"])
    return Completion(
        id=head.id,
        created=head.created,
        model=head.model,
        choices=[Choice(message=AnswerMessage(content=content))],
        usage=usage,
        citations=done["citations"],
        causeway=_answered(done, warnings),
    )


def _answered(done: Done, warnings: list[str]) -> Answered:
    return Answered.model_validate({**done, "warnings": [*done["warnings"], *warnings]})


async def write_chunks(
    events: AsyncGenerator[Event, None], head: Head, *, warnings: list[str], usage_of: UsageOf | None
) -> AsyncGenerator[Event, None]:
    """The tokens as they come, the footnotes after them; then what was found out of the answer, in the last chunk that
    has a choice. With `usage_of` one more tells the usage.
    """
    footnotes = Footnotes()
    yield head.chunk({"role": "assistant", "content": ""})
    async with aclosing(events) as parts:
        async for event in parts:
            data = event["data"]
            match event["event"]:
                case "sources":
                    footnotes.known = len(data["sources"])
                case "token":
                    if text := footnotes.feed(data["text"]):
                        yield head.chunk({"content": text})
                case "done":
                    if text := footnotes.flush() + definitions(data["citations"]):
                        yield head.chunk({"content": text})
                    answered = _answered(data, warnings).model_dump(mode="json")
                    yield head.chunk({}, "stop", citations=data["citations"], causeway=answered)
                    if usage_of:
                        usage = await usage_of(data)
                        yield head.event("chunk", choices=[], usage=usage.model_dump())
                    yield {"event": "done", "data": {}}


class CompletionStream(EventSourceResponse):
    """A stream's chunks without names and numbers, to the one reader there is: its leaving stops the model's work."""

    def __init__(self, stream: Stream, streams: SharedStreams) -> None:
        super().__init__(
            _chunks(stream),
            ping=streams.settings.stream_heartbeat_seconds,
            send_timeout=streams.settings.stream_stalled_seconds,
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
    """One that was broken off has no [DONE]."""
    async for logged in stream.follow():
        for name, data in _EVENT.findall(logged):
            if name != b"done":
                yield b"data: " + data + b"\n\n"
            if name in (b"done", b"error"):
                yield b"data: [DONE]\n\n"

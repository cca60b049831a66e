"""Events of an answer as Server-Sent Events. Once the stream has begun, a failure is an event too."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi import Request
from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.output.events import Event
from api.errors import describe_error
from api.streaming.streams import RemoteStream, SharedStreams, Stream, encode
from graphrag.errors import DatabaseUnavailable, StreamInterrupted
from graphrag.observability.telemetry import log

# One event, as a reader of the stream sees it.
EVENT_STREAM: dict[str, Any] = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "For Last-Event-ID"},
                "event": {"type": "string"},
                "data": {"type": "string", "contentMediaType": "application/json"},
                "retry": {"type": "integer", "description": "Milliseconds after which a client resumes"},
            },
        }
    }
}


class StreamResponse(EventSourceResponse):
    """A stream's events after one of them, to one reader; its leaving leaves the stream to others, or to its end."""

    def __init__(self, stream: Stream | RemoteStream, streams: SharedStreams, *, after: int = 0) -> None:
        super().__init__(
            stream.follow(after),
            ping=streams.settings.streams.stream_heartbeat_seconds,
            send_timeout=streams.settings.streams.stream_stalled_seconds,
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Stream-Id": stream.id},
        )
        self._stream_id, self._after = stream.id, after
        self._reading = streams.reading(stream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body_iterator = self._with_failure(self.body_iterator, Request(scope))
        with self._reading:
            try:
                await super().__call__(scope, receive, send)
            except SendTimeoutError:
                log.info("a reader that takes nothing was dropped")

    async def _with_failure(self, parts: AsyncIterable[Any], request: Request) -> AsyncIterator[Any]:
        """Turn a failure that ends the stream early into an event, in this reader's language."""
        number = self._after - 1  # of the block before the first event
        try:
            async for part in parts:
                yield part
                number += 1
        except StreamInterrupted as exc:
            yield encode(describe_failure(exc, request), f"{self._stream_id}:{number + 1}")
        except DatabaseUnavailable as exc:  # the stream may well go on: whoever comes back misses nothing
            yield encode(describe_failure(exc, request), f"{self._stream_id}:{max(number, 0)}")


async def with_errors(events: AsyncGenerator[Event, None], request: Request) -> AsyncGenerator[Event, None]:
    """A failure as the last event, in the reader's language, with what of the answer there is."""
    try:
        async with aclosing(events) as parts:
            async for event in parts:
                yield event
    except Exception as exc:
        yield describe_failure(exc, request)


def describe_failure(exc: Exception, request: Request) -> Event:
    _, body = describe_error(exc, request)
    partial = body["error"]["details"].pop("partial_answer", "")
    return {"event": "error", "data": {**body, "partial_answer": partial}}

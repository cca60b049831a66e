"""Events of an answer as Server-Sent Events. Once the stream has begun, a failure is an event too."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import Request
from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.events import Event
from api.error_handlers import describe_error
from api.streams import Stream, Streams
from graphrag.telemetry import log


class StreamResponse(EventSourceResponse):
    """A stream's events after one of them, to one reader; its leaving leaves the stream to others, or to its end."""

    def __init__(self, stream: Stream, streams: Streams, *, after: int = 0) -> None:
        super().__init__(
            stream.follow(after),
            ping=streams.settings.stream_heartbeat_seconds,
            send_timeout=streams.settings.stream_stalled_seconds,
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Stream-Id": stream.id},
        )
        self._reading = streams.reading(stream)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._reading:
            try:
                await super().__call__(scope, receive, send)
            except SendTimeoutError:
                log.info("a reader that takes nothing was dropped")


async def with_errors(events: AsyncGenerator[Event, None], request: Request) -> AsyncGenerator[Event, None]:
    """A failure as the last event, in the reader's language, with what of the answer there is."""
    try:
        async with aclosing(events) as parts:
            async for event in parts:
                yield event
    except Exception as exc:
        _, body = describe_error(exc, request)
        partial = body["error"]["details"].pop("partial_answer", "")
        yield {"event": "error", "data": {**body, "partial_answer": partial}}

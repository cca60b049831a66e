"""Events of an answer as Server-Sent Events. Once the stream has begun, a failure is an event too."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from anyio import create_memory_object_stream
from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from agent.events import Event
from api.error_handlers import describe_error

HEARTBEAT_SECONDS = 15


def event_stream(events: AsyncGenerator[Event, None], request: Request) -> EventSourceResponse:
    """The client's leaving closes `events`, and with it the graph and the model call."""
    return EventSourceResponse(
        _numbered(_in_a_task_of_its_own(_with_errors(events, request))),
        ping=HEARTBEAT_SECONDS,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _numbered(events: AsyncGenerator[Event, None]) -> AsyncIterator[ServerSentEvent]:
    number = 0
    async with aclosing(events) as parts:
        async for event in parts:
            number += 1
            data = json.dumps(event["data"], ensure_ascii=False)
            yield ServerSentEvent(data, event=event["event"], id=str(number))


async def _in_a_task_of_its_own(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """Cancelled once, so that the graph can stop its nodes.

    anyio cancels the response's own task again and again, which breaks LangGraph's cleanup off and leaves them running.
    """
    sending, receiving = create_memory_object_stream[Event]()

    async def fill() -> None:
        async with sending, aclosing(events) as parts:
            async for event in parts:
                await sending.send(event)

    filling = asyncio.create_task(fill())
    try:
        async with receiving:
            async for event in receiving:
                yield event
        await filling
    finally:
        filling.cancel()


async def _with_errors(events: AsyncGenerator[Event, None], request: Request) -> AsyncGenerator[Event, None]:
    try:
        async with aclosing(events) as parts:
            async for event in parts:
                yield event
    except Exception as exc:
        _, body = describe_error(exc, request)
        partial = body["error"]["details"].pop("partial_answer", "")
        yield {"event": "error", "data": {**body, "partial_answer": partial}}

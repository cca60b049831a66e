"""Streams that have begun: read on after a cut connection, stopped before their end."""

from fastapi import APIRouter, Response
from sse_starlette import EventSourceResponse

from api.dependencies import LastEventId, OwnerDep, StreamsDep
from api.openapi_document import EVENT_STREAM
from api.schemas import errors
from api.sse import StreamResponse
from graphrag.errors import StreamNotFound

router = APIRouter(tags=["chat"], responses=errors(404))


@router.get(
    "/chat/stream/{stream_id}",
    summary="Read a stream on, after an event or from its beginning",
    description="204 where nothing comes after the event: it tells an EventSource not to come back.",
    response_class=EventSourceResponse,
    responses={200: {"content": EVENT_STREAM}, 204: {"description": "That event was the last"}},
)
async def read_on(stream_id: str, streams: StreamsDep, owner: OwnerDep, last_event_id: LastEventId = "") -> Response:
    stream, after = await streams.find_event(last_event_id or f"{stream_id}:0", owner)
    if stream.id != stream_id:
        raise StreamNotFound("The event is of another stream: ask again.")
    if stream.ended and after == len(stream):
        return Response(status_code=204)
    return StreamResponse(stream, streams, after=after)


@router.delete("/chat/stream/{stream_id}", status_code=204, summary="Stop an answer, and the model that writes it")
async def stop(stream_id: str, streams: StreamsDep, owner: OwnerDep) -> None:
    await streams.stop(stream_id, owner)

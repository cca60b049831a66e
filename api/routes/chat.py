"""Questions and answers, whole or streamed."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from sse_starlette import EventSourceResponse
from starlette.requests import ClientDisconnect

from agent.context import Context
from agent.conversation.service import BranchPoint, ConversationService
from agent.graph import graph
from agent.output.events import Event, last_of, stream_answer
from api.dependencies import ConversingDep, LastEventId, OwnerDep, ServicesDep, StreamsDep
from api.middleware.json_bodies import JsonRoute
from api.schemas.fields import ChatRequest, ChatResponse, errors
from api.schemas.rendering import with_html
from api.streaming.sse import EVENT_STREAM, StreamResponse, with_errors
from api.timed_search import answering
from graphrag.errors import DatabaseFull, DatabaseUnavailable
from graphrag.models import Collection
from graphrag.models.conversations import Turn
from graphrag.query_transformation.transformation import check_question
from graphrag.resilience.cancellation import cancel_surely
from graphrag.retrieval.filters import parse_filters

T = TypeVar("T")
router = APIRouter(route_class=JsonRoute, tags=["chat"], responses=errors(400, 404, 502, 504))


async def checked_context(body: ChatRequest, services: ServicesDep, owner: OwnerDep) -> Context:
    """Checked before a stream begins, so that what is wrong with the request still has its HTTP status."""
    if body.question is not None:
        check_question(body.question, max_chars=services.settings.search.max_question_chars)
    parse_filters(body.filters)
    names = body.collection_names
    if body.conversation_id and not names:
        names = (await services.conversations.find(owner, body.conversation_id)).collections
    opened: tuple[Collection, ...] = ()
    if body.rag_enabled and services.settings.chat.enabled:
        opened = await services.collections.open_all(owner, names or [None])
        for collection in opened:
            await services.collections.embedding_model(collection)
    return Context(
        rag_enabled=body.rag_enabled,
        top_k=body.top_k,
        retrieval=body.retrieval,
        filters=body.filters,
        owner_id=owner,
        opened=opened,
        services=services,
    )


async def while_client_waits(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The client's leaving stops the graph and the model call. Raises ClientDisconnect."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_client_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        cancel_surely(working)
        leaving.cancel()


async def _client_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


ContextDep = Annotated[Context, Depends(checked_context)]


def to_messages(body: ChatRequest) -> list[AnyMessage]:
    return [
        HumanMessage(message.content) if message.role == "user" else AIMessage(message.content)
        for message in body.messages
    ]


async def events_of(
    body: ChatRequest, context: ContextDep, conversing: ConversingDep
) -> tuple[AsyncGenerator[Event, None], dict[str, str]]:
    """The events of the answer, and headers that name what is kept. Raises ConversationNotFound or MessageNotFound."""
    if body.messages:
        return stream_answer(graph, to_messages(body), context), {}
    place = BranchPoint(body.conversation_id, body.parent_id, body.edit_message_id, body.regenerate_message_id)
    names = body.collection_names if context.opened else ()
    events, turn = await begin_answer(body.message or "", place, context, conversing, collections=names)
    if turn is None:
        return events, {}
    return events, {"X-Conversation-Id": str(turn.conversation.id), "X-Question-Id": str(turn.question.id)}


async def begin_answer(
    question: str, place: BranchPoint, context: Context, conversing: ConversationService, *, collections: Sequence[str]
) -> tuple[AsyncGenerator[Event, None], Turn | None]:
    """Return the events of an answer in a stored conversation; without a turn, the database stores nothing now.

    Raises ConversationNotFound, MessageNotFound or DatabaseUnavailable.
    """
    try:
        turn = await conversing.begin(context.owner_id, question, place, collections=collections)
    except DatabaseUnavailable as exc:
        can_read = isinstance(exc, DatabaseFull)  # the documents, and what was said before
        if place.conversation_id or (context.opened and not can_read):
            raise
        return stream_answer(graph, [HumanMessage(question)], replace(context, degraded=("save",))), None
    return conversing.answer(turn, context), turn


@router.post("/chat", summary="Answer a question with verified citations")
async def chat(body: ChatRequest, context: ContextDep, conversing: ConversingDep, request: Request) -> ChatResponse:
    async with answering(context.services, context.owner_id) as slot:
        events, _ = await events_of(body, replace(context, slot=slot), conversing)
        return ChatResponse.model_validate(await while_client_waits(request, last_of(with_html(events))))


@router.post(
    "/chat/stream",
    summary="Answer a question as a stream of Server-Sent Events",
    description="Events: status, sources, token, citation, done; error instead of done on failure. Each has an id. "
    "Repeat the request with the id of the last received event as `Last-Event-ID` to resume after it. "
    "The headers X-Conversation-Id and X-Question-Id identify the stored conversation and question.",
    response_class=EventSourceResponse,
    responses={200: {"content": EVENT_STREAM}},
)
async def chat_stream(
    body: ChatRequest,
    services: ServicesDep,
    conversing: ConversingDep,
    streams: StreamsDep,
    owner: OwnerDep,
    request: Request,
    last_event_id: LastEventId = "",
) -> EventSourceResponse:
    if last_event_id:
        found, after = await streams.find_event(last_event_id, owner)
        return StreamResponse(found, streams, after=after)
    context = await checked_context(body, services, owner)
    async with answering(services, owner) as slot, streams.admitted(owner) as stream_id:
        events, named = await events_of(body, replace(context, slot=slot), conversing)
        stream = streams.start(with_errors(with_html(events), request), owner, stream_id)
        stream.at_end(slot.keep())
    response = StreamResponse(stream, streams)
    response.headers.update(named)
    return response

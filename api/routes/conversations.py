"""Conversations: listed, read, named, deleted. Questions are asked in them by POST /chat."""

import asyncio
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.conversation_schemas import (
    ConversationIn,
    ConversationList,
    ConversationOut,
    ConversationWithMessages,
    MessageOut,
    TitleIn,
)
from api.dependencies import OwnerDep, ServicesDep
from api.schemas import errors
from graphrag.conversation_branches import branch, versions
from graphrag.errors import MessageNotFound

router = APIRouter(prefix="/conversations", tags=["conversations"], responses=errors(400, 404))


@router.post("", status_code=201, summary="Begin a conversation without a question yet")
async def make(body: ConversationIn, services: ServicesDep, owner: OwnerDep) -> ConversationOut:
    if body.collection:
        await services.collection(owner, body.collection)
    made = await services.conversations.make(owner, title=body.title, collection=body.collection)
    await services.retention.forget(owner)
    return ConversationOut.of(made)


@router.get("", summary="Your conversations, the latest first")
async def list_conversations(
    services: ServicesDep,
    owner: OwnerDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[UUID | None, Query(description="The last conversation of the page before")] = None,
) -> ConversationList:
    found = await services.conversations.list_all(owner, limit=limit, before=before)
    return ConversationList(conversations=[ConversationOut.of(conversation) for conversation in found])


@router.get("/{conversation_id}", summary="A conversation with the messages of one branch")
async def read(
    conversation_id: UUID,
    services: ServicesDep,
    owner: OwnerDep,
    message_id: Annotated[
        UUID | None, Query(description="Whose branch is shown; without one, that of the last answer")
    ] = None,
) -> ConversationWithMessages:
    conversation, outline = await asyncio.gather(
        services.conversations.find(owner, conversation_id), services.conversations.outline(owner, conversation_id)
    )
    if message_id and message_id not in outline:
        raise MessageNotFound(f"There is no message {message_id}.", message_id=str(message_id))
    shown = branch(outline, message_id or conversation.leaf_id)
    messages, feedback = await asyncio.gather(
        services.conversations.read(owner, shown), services.feedback.of(owner, shown)
    )
    known = versions(outline)
    return ConversationWithMessages(
        **ConversationOut.of(conversation).model_dump(),
        messages=[
            MessageOut.of(message, known[message.id], [one for one in feedback if one.message_id == message.id])
            for message in messages
        ],
    )


@router.patch("/{conversation_id}", summary="Give a conversation another title, which then stays")
async def rename(conversation_id: UUID, body: TitleIn, services: ServicesDep, owner: OwnerDep) -> ConversationOut:
    return ConversationOut.of(await services.conversations.rename(owner, conversation_id, body.title))


@router.delete("/{conversation_id}", status_code=204, summary="Delete a conversation with all that was said in it")
async def delete(conversation_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
    await services.conversations.delete(owner, conversation_id)

"""Conversations: listed, read, exported, changed, deleted."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from babel.dates import format_datetime
from fastapi import APIRouter, Query, Request, Response

from api.dependencies import OwnerDep, ServicesDep
from api.errors import request_language
from api.schemas.conversations import (
    ConversationChange,
    ConversationIds,
    ConversationIn,
    ConversationList,
    ConversationOut,
    ConversationWithMessages,
    DeletedConversations,
    MessageList,
    MessageOut,
)
from api.schemas.fields import Cursor, Limit, Storable, cut, errors, read_cursor
from graphrag.errors import MessageNotFound
from graphrag.linguistics.rules import read_texts
from graphrag.models.conversations import Conversation, Message, Outline, branch, versions
from graphrag.services import Services

WORDS = read_texts("api.routes", "conversations")


def to_markdown(conversation: ConversationWithMessages, language: str) -> str:
    words = WORDS[language]
    parts = [f"# {_line(conversation.title) or words['untitled']}", _time(conversation.created_at, language)]
    for message in conversation.messages:
        parts += _message(message, words, language)
    return "\n\n".join(parts) + "\n"


def _message(message: MessageOut, words: Mapping[str, str], language: str) -> Iterator[str]:
    yield f"## {words[message.role]} · {_time(message.created_at, language)}"
    if message.content:
        yield message.content
    if message.status != "complete":
        yield f"*{words[message.status]}*"
    if message.details.get("erased"):
        yield f"*{words['erased']}*"
    if cited := list(dict.fromkeys(map(_citation, message.details.get("citations", ())))):
        yield "\n".join([f"### {words['citations']}", "", *filter(None, cited)])


def _citation(citation: Mapping[str, Any]) -> str:
    """Empty for a statement that has none."""
    sentence = citation.get("sentence")
    return f"- [{citation['number']}] {_line(sentence)} ({_line(citation['filename'])})" if sentence else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _time(moment: datetime, language: str) -> str:
    return format_datetime(moment, "long", locale=language)


BranchOf = Annotated[UUID | None, Query(description="Message whose branch is returned; default: the last answer")]
MARKDOWN = "text/markdown; charset=utf-8"
EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {"text/markdown": {"schema": {"type": "string"}}}}
}
router = APIRouter(prefix="/conversations", tags=["conversations"], responses=errors(400, 404))


@router.post("", status_code=201, summary="Begin a conversation without a question yet")
async def make(body: ConversationIn, services: ServicesDep, owner: OwnerDep) -> ConversationOut:
    if body.collection:
        await services.collections.open(owner, body.collection)
    made = await services.conversations.make(owner, title=body.title, collection=body.collection)
    await services.jobs.retention.forget(owner)
    return ConversationOut.of(made)


@router.get("", summary="List your conversations, the latest first")
async def list_conversations(
    services: ServicesDep,
    owner: OwnerDep,
    query: Annotated[Storable, Query(max_length=200, description="Part of the title, case-insensitive")] = "",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ConversationList:
    after = read_cursor(cursor, tuple[datetime, UUID])
    found = await services.conversations.list_all(owner, limit=limit + 1, after=after, query=query)
    page, following = cut(found, limit, lambda conversation: (conversation.updated_at, conversation.id))
    return ConversationList(conversations=[ConversationOut.of(each) for each in page], next_cursor=following)


@router.post("/bulk-delete", summary="Delete several conversations with their messages")
async def delete_several(body: ConversationIds, services: ServicesDep, owner: OwnerDep) -> DeletedConversations:
    ids = list(dict.fromkeys(body.ids))
    deleted = await services.conversations.delete_all(owner, ids)
    return DeletedConversations(
        deleted=[known for known in ids if known in deleted], not_found=[each for each in ids if each not in deleted]
    )


@router.get("/{conversation_id:uuid}", summary="Get a conversation with the messages of one branch")
async def read(
    conversation_id: UUID, services: ServicesDep, owner: OwnerDep, message_id: BranchOf = None
) -> ConversationWithMessages:
    return await _read(services, owner, conversation_id, message_id)


@router.patch("/{conversation_id:uuid}", summary="Change the title or the collection of a conversation")
async def change(
    conversation_id: UUID, body: ConversationChange, services: ServicesDep, owner: OwnerDep
) -> ConversationOut:
    changed = await services.conversations.find(owner, conversation_id)
    if "collection" in body.model_fields_set:
        if body.collection:
            await services.collections.open(owner, body.collection)
        changed = await services.conversations.ask_of(owner, conversation_id, body.collection)
    if body.title:
        changed = await services.conversations.rename(owner, conversation_id, body.title)
    return ConversationOut.of(changed)


@router.delete("/{conversation_id:uuid}", status_code=204, summary="Delete a conversation with all that was said in it")
async def delete(conversation_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
    await services.conversations.delete(owner, conversation_id)


@router.get(
    "/{conversation_id:uuid}/messages",
    summary="List a conversation's messages, oldest first",
    description="The messages form a tree: versions of a message share their `parent_id`.",
)
async def list_messages(
    conversation_id: UUID,
    services: ServicesDep,
    owner: OwnerDep,
    scope: Annotated[Literal["all", "branch"], Query(description="All versions, or those of one branch")] = "all",
    message_id: BranchOf = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> MessageList:
    conversation, outline = await _outline(services, owner, conversation_id, message_id)
    wanted = _branch(conversation, outline, message_id) if scope == "branch" or message_id else list(outline)
    after = read_cursor(cursor, tuple[datetime, UUID])
    found = await services.conversations.read_page(owner, wanted, limit=limit + 1, after=after)
    page, following = cut(found, limit, lambda message: (message.created_at, message.id))
    return MessageList(messages=await _describe(services, owner, page, outline), next_cursor=following)


@router.get("/{conversation_id:uuid}/messages/{message_id:uuid}", summary="Get a message")
async def read_message(conversation_id: UUID, message_id: UUID, services: ServicesDep, owner: OwnerDep) -> MessageOut:
    message = await services.conversations.find_message(owner, conversation_id, message_id)
    outline = await services.conversations.outline(owner, conversation_id)
    (described,) = await _describe(services, owner, [message], {**outline, message_id: message.parent_id})
    return described


@router.delete(
    "/{conversation_id:uuid}/messages/{message_id:uuid}",
    status_code=204,
    summary="Delete a message and everything after it",
    description="Other versions of it are kept; the branch of the latest one becomes current.",
)
async def delete_message(conversation_id: UUID, message_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
    await services.conversations.delete_message(owner, conversation_id, message_id)


@router.get(
    "/{conversation_id:uuid}/export",
    summary="Export a branch of a conversation with its citations",
    description="JSON is the same as GET /conversations/{conversation_id}; Markdown headings are in the language "
    "of Accept-Language.",
    response_model=ConversationWithMessages,
    responses=EXPORTED,
)
async def export(
    conversation_id: UUID,
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    format: Annotated[Literal["markdown", "json"], Query()] = "markdown",
    message_id: BranchOf = None,
) -> Response:
    found = await _read(services, owner, conversation_id, message_id)
    kind, ending = (MARKDOWN, "md") if format == "markdown" else ("application/json", "json")
    text = to_markdown(found, request_language(request)) if format == "markdown" else found.model_dump_json(indent=2)
    named = {"Content-Disposition": f'attachment; filename="conversation-{conversation_id}.{ending}"'}
    return Response(text.encode(errors="replace"), media_type=kind, headers=named)


async def _read(
    services: Services, owner: str, conversation_id: UUID, message_id: UUID | None
) -> ConversationWithMessages:
    conversation, outline = await _outline(services, owner, conversation_id, message_id)
    messages = await services.conversations.read(owner, _branch(conversation, outline, message_id))
    described = await _describe(services, owner, messages, outline)
    return ConversationWithMessages(**ConversationOut.of(conversation).model_dump(), messages=described)


async def _outline(
    services: Services, owner: str, conversation_id: UUID, message_id: UUID | None
) -> tuple[Conversation, Outline]:
    """Raises ConversationNotFound or MessageNotFound."""
    conversation, outline = await asyncio.gather(
        services.conversations.find(owner, conversation_id), services.conversations.outline(owner, conversation_id)
    )
    if message_id and message_id not in outline:
        raise MessageNotFound(f"There is no message {message_id}.", message_id=str(message_id))
    return conversation, outline


def _branch(conversation: Conversation, outline: Outline, message_id: UUID | None) -> list[UUID]:
    leaf_id = conversation.leaf_id if conversation.leaf_id in outline else None  # it was deleted just now
    return branch(outline, message_id or leaf_id)


async def _describe(services: Services, owner: str, messages: list[Message], outline: Outline) -> list[MessageOut]:
    feedback = await services.feedback.of(owner, [message.id for message in messages])
    known = versions(outline)
    return [
        MessageOut.of(
            message,
            known.get(message.id, [message.id]),  # none other is known of one that was said just now
            [one for one in feedback if one.message_id == message.id],
        )
        for message in messages
    ]

"""Conversations: listed, read, exported, changed, deleted."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from api.dependencies import OwnerDep, ServicesDep
from api.errors import request_language
from api.middleware.json_bodies import JsonRoute
from api.middleware.rate_limits import RateLimits, network_of
from api.routes.document import find as find_document
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
    SharedConversationOut,
    ShareOut,
)
from api.schemas.exports import language_of, to_docx, to_markdown
from api.schemas.fields import Cursor, Limit, Storable, cut, errors, read_cursor
from graphrag.errors import MessageNotFound, TableUnavailable
from graphrag.models.conversations import Conversation, Message, Outline, branch, last_answer, versions
from graphrag.services import Services
from graphrag.table_queries.exports import read_query, run_query, write_csv

BranchOf = Annotated[UUID | None, Query(description="Message whose branch is returned; default: the last answer")]
FORMATS = {  # the media type and the ending of a file
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    "json": ("application/json", "json"),
}
EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file",
        "content": {
            "text/markdown": {"schema": {"type": "string"}},
            FORMATS["docx"][0]: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
CSV_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {"text/csv": {"schema": {"type": "string"}}}}
}
UNLISTED = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}
shared_router = APIRouter(tags=["conversations"])
router = APIRouter(route_class=JsonRoute, prefix="/conversations", tags=["conversations"], responses=errors(400, 404))


@router.post("", status_code=201, summary="Begin a conversation without a question yet")
async def create_conversation(body: ConversationIn, services: ServicesDep, owner: OwnerDep) -> ConversationOut:
    names = body.collection_names
    await services.collections.open_all(owner, names)
    made = await services.conversations.make(owner, title=body.title, collections=names)
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
async def delete_conversations(body: ConversationIds, services: ServicesDep, owner: OwnerDep) -> DeletedConversations:
    ids = list(dict.fromkeys(body.ids))
    deleted = await services.conversations.delete_all(owner, ids)
    return DeletedConversations(
        deleted=[known for known in ids if known in deleted], not_found=[each for each in ids if each not in deleted]
    )


@router.get("/{conversation_id:uuid}", summary="Get a conversation with the messages of one branch")
async def get_conversation(
    conversation_id: UUID, services: ServicesDep, owner: OwnerDep, message_id: BranchOf = None
) -> ConversationWithMessages:
    return await _read(services, owner, conversation_id, message_id)


@router.patch("/{conversation_id:uuid}", summary="Change the title or the collection of a conversation")
async def change_conversation(
    conversation_id: UUID, body: ConversationChange, services: ServicesDep, owner: OwnerDep
) -> ConversationOut:
    changed = await services.conversations.find(owner, conversation_id)
    if body.changes_collections:
        names = body.collection_names
        await services.collections.open_all(owner, names)
        changed = await services.conversations.ask_of(owner, conversation_id, names)
    if body.title:
        changed = await services.conversations.rename(owner, conversation_id, body.title)
    return ConversationOut.of(changed)


@router.delete("/{conversation_id:uuid}", status_code=204, summary="Delete a conversation with all that was said in it")
async def delete_conversation(conversation_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
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
async def get_message(conversation_id: UUID, message_id: UUID, services: ServicesDep, owner: OwnerDep) -> MessageOut:
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
    summary="Export a branch of a conversation, or one answer, with its citations",
    description="JSON is the same as GET /conversations/{conversation_id}. Headings are in the language of the last "
    "answer, else in that of Accept-Language. Word files need the extra `docx`: 409 without it.",
    response_model=ConversationWithMessages,
    responses=EXPORTED | errors(409),
)
async def export_conversation(
    conversation_id: UUID,
    services: ServicesDep,
    owner: OwnerDep,
    request: Request,
    format: Annotated[Literal["markdown", "docx", "json"], Query()] = "markdown",
    scope: Annotated[
        Literal["branch", "answer"], Query(description="The branch, or the answer of `message_id` with its question")
    ] = "branch",
    message_id: BranchOf = None,
) -> Response:
    found = await _read(services, owner, conversation_id, message_id)
    if scope == "answer":
        ids = [message.id for message in found.messages]
        question = (ids.index(message_id) if message_id else len(ids) - 1) // 2 * 2  # questions and answers alternate
        found.messages = found.messages[question : question + 2]
    language = language_of(found) or request_language(request)
    if format == "docx":
        content = await asyncio.to_thread(to_docx, found, language)
    else:
        text = to_markdown(found, language) if format == "markdown" else found.model_dump_json(indent=2)
        content = text.encode(errors="replace")
    kind, ending = FORMATS[format]
    named = {"Content-Disposition": f'attachment; filename="conversation-{conversation_id}.{ending}"'}
    return Response(content, media_type=kind, headers=named)


@router.post(
    "/{conversation_id:uuid}/share",
    status_code=201,
    summary="Make a link that shows a conversation to whoever has it",
    description="The link needs no key. It shows the conversation up to `message_id`, by default to the last answer, "
    "with quotes but without documents; nothing that is said later. It holds until it is taken back, or the "
    "conversation is deleted. It can't be shown again: each call makes another one.",
)
async def share_conversation(
    conversation_id: UUID, services: ServicesDep, owner: OwnerDep, message_id: BranchOf = None
) -> ShareOut:
    shown = _branch(*await _outline(services, owner, conversation_id, message_id), message_id)
    if not shown:
        raise MessageNotFound("Nothing has been said in this conversation.", message_id="")
    last = message_id or last_answer(shown) or shown[-1]
    token = await services.conversations.share(owner, conversation_id, last)
    return ShareOut(token=token, path=f"/shared#{token}")


@router.delete("/{conversation_id:uuid}/share", status_code=204, summary="Take back all links to a conversation")
async def unshare_conversation(conversation_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
    await services.conversations.unshare(owner, conversation_id)


async def count_visit(request: Request) -> None:
    """Count a request to a link by address. Raises RateLimited."""
    rates: RateLimits = request.app.state.rates
    await rates.count(request, f"shared links from {network_of(request.client.host if request.client else '')}")


@shared_router.get(
    "/shared",
    summary="Read a conversation by a link to it",
    description="Without a key. The token stands in a header, and in the page's address after the #, so that no log of "
    "addresses has it.",
    dependencies=[Depends(count_visit)],
)
async def read_shared_conversation(
    services: ServicesDep,
    response: Response,
    token: Annotated[str, Header(alias="X-Share-Token", description="Of the link")] = "",
) -> SharedConversationOut:
    response.headers.update(UNLISTED)
    return SharedConversationOut.of(await services.conversations.read_shared(token))


@router.get(
    "/{conversation_id:uuid}/messages/{message_id:uuid}/table.csv",
    summary="Download the table that an answer was computed from",
    description="Every row that the value comes from, or every group with its value: `table` of the answer has the "
    "first ones. UTF-8 with a byte order mark, RFC 4180; a cell that a spreadsheet would take for a formula begins "
    "with an apostrophe. The plan is run again: 409 if a document was changed or deleted since the answer.",
    response_class=Response,
    responses=CSV_FILE | errors(409),
)
async def export_table(
    conversation_id: UUID, message_id: UUID, services: ServicesDep, owner: OwnerDep, request: Request
) -> Response:
    message = await services.conversations.find_message(owner, conversation_id, message_id)
    if not (described := (message.details.get("table") or {}).get("query")):
        reason = "table_changed" if message.details.get("erased") else "not_computed"
        raise TableUnavailable(f"Message {message_id} has no table.", reason=reason)
    query = read_query(described)
    of_tables = [await find_document(table.document_id, services, owner, request) for table in query.tables]
    collections = list({found.collection.id: found.collection for found in of_tables}.values())
    found = await run_query(query, store=services.store, collections=collections)
    text = await asyncio.to_thread(write_csv, found, message.details["language"])
    named = {"Content-Disposition": f'attachment; filename="table-{message_id}.csv"'}
    return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=named)


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

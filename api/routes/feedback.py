"""Thumbs up or down, for an answer or for one of its citations."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import Field

from api.dependencies import OwnerDep, ServicesDep
from api.middleware.json_bodies import JsonRoute
from api.schemas.conversations import CollectionName, FeedbackIn, FeedbackList, FeedbackOut, RatedAnswerOut
from api.schemas.fields import Cursor, Flag, Limit, cut, errors, read_cursor
from graphrag.retrieval.collections import DEFAULT_COLLECTION
from graphrag.services import Services

ANSWER = "/conversations/{conversation_id:uuid}/messages/{message_id:uuid}/feedback"
CITATION = "/conversations/{conversation_id:uuid}/messages/{message_id:uuid}/citations/{citation}/feedback"
MOST_CITATIONS = 10_000
Citation = Annotated[int, Path(ge=1, le=MOST_CITATIONS, description="Number of the citation in the answer, from 1")]
Rated = Annotated[int, Field(ge=0, le=MOST_CITATIONS)]  # a citation; 0: the answer itself
router = APIRouter(route_class=JsonRoute, tags=["feedback"], responses=errors(400, 404))


@router.put(
    ANSWER,
    summary="Set your feedback on an answer",
    description="Negative feedback also proposes the question as a golden case: GET /golden-cases/proposals.",
)
async def rate_answer(
    conversation_id: UUID, message_id: UUID, body: FeedbackIn, services: ServicesDep, owner: OwnerDep
) -> FeedbackOut:
    given = await services.feedback.rate(
        owner,
        conversation_id,
        message_id,
        rating=body.rating,
        comment=body.comment,
        default_collection=_default(services),
    )
    return FeedbackOut.of(given)


@router.put(CITATION, summary="Set your feedback on a citation")
async def rate_citation(
    conversation_id: UUID,
    message_id: UUID,
    citation: Citation,
    body: FeedbackIn,
    services: ServicesDep,
    owner: OwnerDep,
) -> FeedbackOut:
    given = await services.feedback.rate(
        owner,
        conversation_id,
        message_id,
        citation=citation,
        rating=body.rating,
        comment=body.comment,
        default_collection=_default(services),
    )
    return FeedbackOut.of(given)


@router.delete(ANSWER, status_code=204, summary="Take back what you said of an answer")
async def unrate_answer(conversation_id: UUID, message_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
    await services.feedback.unrate(owner, conversation_id, message_id, default_collection=_default(services))


@router.delete(CITATION, status_code=204, summary="Take back what you said of a citation")
async def unrate_citation(
    conversation_id: UUID, message_id: UUID, citation: Citation, services: ServicesDep, owner: OwnerDep
) -> None:
    await services.feedback.unrate(
        owner, conversation_id, message_id, citation=citation, default_collection=_default(services)
    )


@router.get("/feedback", summary="List your feedback, the latest first, with questions and answers")
async def list_feedback(
    services: ServicesDep,
    owner: OwnerDep,
    good: Annotated[Flag | None, Query(description="true: only positive; false: only negative")] = None,
    conversation_id: Annotated[UUID | None, Query(description="Only feedback on this conversation")] = None,
    collection: Annotated[
        CollectionName | None, Query(description="Only feedback on conversations with this collection")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> FeedbackList:
    rating: Literal[-1, 1] | None = None if good is None else 1 if good else -1
    if conversation_id:
        await services.conversations.find(owner, conversation_id)
    asked = (await services.collections.open(owner, collection)).name if collection else None
    found = await services.feedback.list_all(
        owner,
        rating=rating,
        conversation_id=conversation_id,
        collection=asked,
        default_collection=_default(services),
        limit=limit + 1,
        after=read_cursor(cursor, tuple[datetime, UUID, Rated]),
    )
    page, following = cut(
        found, limit, lambda rated: (rated.feedback.updated_at, rated.feedback.message_id, rated.feedback.citation)
    )
    return FeedbackList(feedback=[RatedAnswerOut.of_answer(rated) for rated in page], next_cursor=following)


def _default(services: Services) -> str:
    return services.settings.storage.collection or DEFAULT_COLLECTION

"""Thumbs up or down, for an answer or for one of its citations."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query

from api.conversation_schemas import FeedbackIn, FeedbackList, FeedbackOut, RatedAnswerOut
from api.dependencies import OwnerDep, ServicesDep
from api.schemas import errors

ANSWER = "/conversations/{conversation_id}/messages/{message_id}/feedback"
CITATION = "/conversations/{conversation_id}/messages/{message_id}/citations/{citation}/feedback"
MOST_CITATIONS = 10_000
Citation = Annotated[int, Path(ge=1, le=MOST_CITATIONS, description="Of the answer's citations, from 1")]
router = APIRouter(tags=["feedback"], responses=errors(400, 404))


@router.put(ANSWER, summary="Say what you think of an answer, in place of what you said before")
async def rate_answer(
    conversation_id: UUID, message_id: UUID, body: FeedbackIn, services: ServicesDep, owner: OwnerDep
) -> FeedbackOut:
    given = await services.feedback.rate(owner, conversation_id, message_id, rating=body.rating, comment=body.comment)
    return FeedbackOut.of(given)


@router.put(CITATION, summary="Say what you think of a citation, in place of what you said before")
async def rate_citation(
    conversation_id: UUID,
    message_id: UUID,
    citation: Citation,
    body: FeedbackIn,
    services: ServicesDep,
    owner: OwnerDep,
) -> FeedbackOut:
    given = await services.feedback.rate(
        owner, conversation_id, message_id, citation=citation, rating=body.rating, comment=body.comment
    )
    return FeedbackOut.of(given)


@router.delete(ANSWER, status_code=204, summary="Take back what you said of an answer")
async def unrate_answer(conversation_id: UUID, message_id: UUID, services: ServicesDep, owner: OwnerDep) -> None:
    await services.feedback.unrate(owner, conversation_id, message_id)


@router.delete(CITATION, status_code=204, summary="Take back what you said of a citation")
async def unrate_citation(
    conversation_id: UUID, message_id: UUID, citation: Citation, services: ServicesDep, owner: OwnerDep
) -> None:
    await services.feedback.unrate(owner, conversation_id, message_id, citation=citation)


@router.get("/feedback", summary="What you said, the latest first, each with its question and answer")
async def list_feedback(
    services: ServicesDep,
    owner: OwnerDep,
    good: Annotated[bool | None, Query(description="true: thumbs up alone; false: thumbs down alone")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> FeedbackList:
    rating: Literal[-1, 1] | None = None if good is None else 1 if good else -1
    found = await services.feedback.list_all(owner, rating=rating, limit=limit)
    return FeedbackList(feedback=[RatedAnswerOut.of_answer(rated) for rated in found])

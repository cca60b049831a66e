"""Proposed golden cases: from a thumbs-down, or from documents; a person accepts or rejects them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from agent.proposing.proposing import propose_cases
from api.dependencies import CollectionQuery, OwnerDep, ServicesDep, WriterDep
from api.golden_schemas import GoldenCaseOut
from api.pagination import Cursor, Limit, cut, read_cursor
from api.proposal_schemas import AcceptanceIn, ProposalList, ProposalOrder, ProposalOut, ProposedOut
from api.schemas import errors
from graphrag.proposal_models import Origin, ProposalState

NOTHING_CHANGED = AcceptanceIn()
router = APIRouter(prefix="/golden-cases/proposals", tags=["golden cases"], responses=errors(400, 404))


@router.post(
    "",
    summary="Propose golden cases from documents",
    description="Questions that the documents answer, with the sentence that does; none that is known already.",
)
async def propose(body: ProposalOrder, services: ServicesDep, owner: WriterDep) -> ProposedOut:
    proposed = await propose_cases(
        await services.collection(owner, body.collection),
        services=services,
        documents=body.documents,
        limit=body.limit,
        method=body.by,
        max_calls=body.max_calls,
    )
    return ProposedOut.of(proposed)


@router.get("", summary="A collection's proposed golden cases, in the order in which they came")
async def list_proposals(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionQuery = None,
    state: ProposalState | None = None,
    origin: Origin | None = None,
    case_id: Annotated[UUID | None, Query(description="What became this golden case")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ProposalList:
    found = await services.proposals.list_all(
        await services.collection(owner, collection),
        state=state,
        origin=origin,
        case_id=case_id,
        limit=limit + 1,
        after=read_cursor(cursor, tuple[datetime, UUID]),
    )
    page, following = cut(found, limit, lambda proposal: (proposal.created_at, proposal.id))
    return ProposalList(proposals=[ProposalOut.of(proposal) for proposal in page], next_cursor=following)


@router.get("/{proposal_id:uuid}", summary="A proposed golden case")
async def read(proposal_id: UUID, services: ServicesDep, owner: OwnerDep) -> ProposalOut:
    return ProposalOut.of(await services.proposals.find(owner, proposal_id))


@router.post(
    "/{proposal_id:uuid}/accept",
    status_code=201,
    summary="Make it a golden case, with what you change of it",
    responses=errors(409),
)
async def accept(
    proposal_id: UUID, services: ServicesDep, owner: WriterDep, body: AcceptanceIn = NOTHING_CHANGED
) -> GoldenCaseOut:
    case_id = await services.proposals.accept(owner, proposal_id, body.edits())
    return GoldenCaseOut.of(await services.golden.find(owner, case_id))


@router.post("/{proposal_id:uuid}/reject", summary="Do not propose it again", responses=errors(409))
async def reject(proposal_id: UUID, services: ServicesDep, owner: WriterDep) -> ProposalOut:
    return ProposalOut.of(await services.proposals.reject(owner, proposal_id))

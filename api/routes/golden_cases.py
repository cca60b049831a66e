"""Golden cases and proposed ones."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from agent.proposals.proposals import propose_cases
from api.dependencies import CollectionQuery, OwnerDep, ServicesDep, WriterDep
from api.middleware.json_bodies import JsonRoute
from api.schemas.fields import Cursor, Flag, Limit, Storable, cut, errors, read_cursor
from api.schemas.golden import (
    AcceptanceIn,
    CollectionChoice,
    GoldenCaseIn,
    GoldenCaseList,
    GoldenCaseOut,
    GoldenExport,
    GoldenImport,
    GoldenImportOut,
    NewGoldenCase,
    ProposalList,
    ProposalOrder,
    ProposalOut,
    ProposedOut,
    ValidationOut,
    VersionIn,
    VersionList,
    VersionNumber,
    VersionOut,
    VersionWithCases,
    export_golden,
)
from graphrag.models.evaluation import Category, Difficulty, Origin, ProposalState

VersionPath = Annotated[VersionNumber, Path(description="From 1")]
router = APIRouter(route_class=JsonRoute, prefix="/golden-cases", tags=["golden cases"], responses=errors(400, 404))


@router.post("", status_code=201, summary="Add a golden case", responses=errors(409))
async def add_golden_case(body: NewGoldenCase, services: ServicesDep, owner: WriterDep) -> GoldenCaseOut:
    collection = await services.collections.open(owner, body.collection)
    written = await services.golden.add(collection, [body.draft()])
    return GoldenCaseOut.of(await services.golden.find(owner, written.added[0]))


@router.get("", summary="List a collection's golden cases, oldest first")
async def list_golden_cases(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionQuery = None,
    category: Category | None = None,
    difficulty: Difficulty | None = None,
    query: Annotated[
        Storable | None, Query(max_length=4_000, description="Part of the question, ignoring case and accents")
    ] = None,
    broken: Annotated[
        Flag | None, Query(description="true: only cases that refer to a deleted document; false: only the others")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> GoldenCaseList:
    after = read_cursor(cursor, tuple[datetime, UUID])
    found = await services.golden.list_all(
        await services.collections.open(owner, collection),
        category=category,
        difficulty=difficulty,
        query=query,
        broken=broken,
        limit=limit + 1,
        after=after,
    )
    page, following = cut(found, limit, lambda case: (case.created_at, case.id))
    return GoldenCaseList(cases=[GoldenCaseOut.of(case) for case in page], next_cursor=following)


@router.post(
    "/import",
    summary="Import golden cases, all of them or none",
    description="Documents are named by id, source or filename. `details.index` of an error is the first invalid case.",
    responses=errors(409),
)
async def import_golden_cases(body: GoldenImport, services: ServicesDep, owner: WriterDep) -> GoldenImportOut:
    collection = await services.collections.open(owner, body.collection)
    return GoldenImportOut.of(await services.golden.add(collection, body.drafts(), existing=body.existing))


@router.get("/export", summary="Export all golden cases in the format of POST /golden-cases/import")
async def export_golden_cases(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionQuery = None,
    version: Annotated[VersionNumber | None, Query(description="Default: the current cases")] = None,
) -> GoldenExport:
    return await export_golden(services.golden, await services.collections.open(owner, collection), version=version)


@router.post("/validate", summary="Check that the documents of the golden cases still exist")
async def validate_golden_cases(body: CollectionChoice, services: ServicesDep, owner: WriterDep) -> ValidationOut:
    valid, broken = await services.golden.validate(await services.collections.open(owner, body.collection))
    return ValidationOut(valid=valid, broken=broken)


@router.post("/versions", status_code=201, summary="Keep the golden cases as they are now, as a version")
async def add_golden_version(body: VersionIn, services: ServicesDep, owner: WriterDep) -> VersionOut:
    collection = await services.collections.open(owner, body.collection)
    return VersionOut.of(await services.golden.add_version(collection, body.name))


@router.get("/versions", summary="List the versions of a collection's golden cases, the latest first")
async def list_golden_versions(
    services: ServicesDep, owner: OwnerDep, collection: CollectionQuery = None, limit: Limit = 50, cursor: Cursor = None
) -> VersionList:
    before = read_cursor(cursor, tuple[VersionNumber])
    found = await services.golden.list_versions(
        await services.collections.open(owner, collection), limit=limit + 1, before=before[0] if before else None
    )
    page, following = cut(found, limit, lambda version: (version.number,))
    return VersionList(versions=[VersionOut.of(version) for version in page], next_cursor=following)


@router.get("/versions/{number}", summary="Get a version with its golden cases")
async def get_golden_version(
    number: VersionPath,
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionQuery = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> VersionWithCases:
    (after,) = read_cursor(cursor, tuple[VersionNumber]) or (0,)
    version, cases = await services.golden.read_version(await services.collections.open(owner, collection), number)
    places = range(after, len(cases))
    page, following = cut(places[: limit + 1], limit, lambda place: (place + 1,))
    shown = [GoldenCaseOut.of(cases[place]) for place in page]
    return VersionWithCases(**VersionOut.of(version).model_dump(), cases=shown, next_cursor=following)


@router.get("/{case_id:uuid}", summary="Get a golden case")
async def get_golden_case(case_id: UUID, services: ServicesDep, owner: OwnerDep) -> GoldenCaseOut:
    return GoldenCaseOut.of(await services.golden.find(owner, case_id))


@router.put("/{case_id:uuid}", summary="Replace a golden case", responses=errors(409))
async def replace_golden_case(
    case_id: UUID, body: GoldenCaseIn, services: ServicesDep, owner: WriterDep
) -> GoldenCaseOut:
    return GoldenCaseOut.of(await services.golden.replace(owner, case_id, body.draft()))


@router.delete("/{case_id:uuid}", status_code=204, summary="Delete a golden case; versions and runs keep it")
async def delete_golden_case(case_id: UUID, services: ServicesDep, owner: WriterDep) -> None:
    await services.golden.delete(owner, case_id)


NOTHING_CHANGED = AcceptanceIn()
proposals_router = APIRouter(
    route_class=JsonRoute, prefix="/golden-cases/proposals", tags=["golden cases"], responses=errors(400, 404)
)


@proposals_router.post(
    "",
    summary="Propose golden cases from documents",
    description="Questions that the documents answer, each with its answering sentence. Known ones are skipped.",
)
async def propose_golden_cases(body: ProposalOrder, services: ServicesDep, owner: WriterDep) -> ProposedOut:
    proposed = await propose_cases(
        await services.collections.open(owner, body.collection),
        services=services,
        documents=body.documents,
        limit=body.limit,
        method=body.by,
        max_calls=body.max_calls,
    )
    return ProposedOut.of(proposed)


@proposals_router.get("", summary="List a collection's proposals, oldest first")
async def list_proposals(
    services: ServicesDep,
    owner: OwnerDep,
    collection: CollectionQuery = None,
    state: ProposalState | None = None,
    origin: Origin | None = None,
    case_id: Annotated[UUID | None, Query(description="The proposal that became this golden case")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ProposalList:
    found = await services.proposals.list_all(
        await services.collections.open(owner, collection),
        state=state,
        origin=origin,
        case_id=case_id,
        limit=limit + 1,
        after=read_cursor(cursor, tuple[datetime, UUID]),
    )
    page, following = cut(found, limit, lambda proposal: (proposal.created_at, proposal.id))
    return ProposalList(proposals=[ProposalOut.of(proposal) for proposal in page], next_cursor=following)


@proposals_router.get("/{proposal_id:uuid}", summary="Get a proposal")
async def get_proposal(proposal_id: UUID, services: ServicesDep, owner: OwnerDep) -> ProposalOut:
    return ProposalOut.of(await services.proposals.find(owner, proposal_id))


@proposals_router.post(
    "/{proposal_id:uuid}/accept",
    status_code=201,
    summary="Accept a proposal as a golden case, with changes",
    responses=errors(409),
)
async def accept_proposal(
    proposal_id: UUID, services: ServicesDep, owner: WriterDep, body: AcceptanceIn = NOTHING_CHANGED
) -> GoldenCaseOut:
    case_id = await services.proposals.accept(owner, proposal_id, body.edits())
    return GoldenCaseOut.of(await services.golden.find(owner, case_id))


@proposals_router.post(
    "/{proposal_id:uuid}/reject", summary="Reject a proposal; it is not proposed again", responses=errors(409)
)
async def reject_proposal(proposal_id: UUID, services: ServicesDep, owner: WriterDep) -> ProposalOut:
    return ProposalOut.of(await services.proposals.reject(owner, proposal_id))

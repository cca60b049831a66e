"""Proposed golden cases in PostgreSQL, apart from the cases themselves until a person accepts them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import InvalidGoldenCase
from graphrag.models import Collection
from graphrag.models.evaluation import (
    CaseDraft,
    CaseEdits,
    CaseProposal,
    DocumentProposal,
    Origin,
    ProposalDecided,
    ProposalNotFound,
    ProposalState,
    query_key,
)
from graphrag.stores.postgres.golden import add_cases, lock_cases, writing_cases
from graphrag.stores.postgres.rows import ListPosition

QUERIES = queries(Path(__file__).with_name("proposals.sql"))
COLUMNS = [field.name for field in fields(CaseProposal) if field.name not in ("id", "state")]
NO_DOCUMENTS = "relevant_document_ids: say which documents answer it; none of them ([]): the collection holds no answer"


@dataclass(frozen=True, slots=True)
class ProposalStore:
    """Raises ProposalNotFound for another owner's, too, in the same words."""

    database: Database

    async def add(self, collection: Collection, made: Sequence[DocumentProposal]) -> list[CaseProposal]:
        """Add the proposals that are new, and return them.

        New ones are neither golden cases nor proposed before, and their documents have not changed. Raises
        CollectionNotFound.
        """
        async with writing_cases(self.database, collection) as connection:
            rows = await _new_rows(connection, collection, made)
            async with connection.cursor() as cursor:
                await cursor.executemany(QUERIES["insert"], rows)
            return [await _find(connection, row["proposal_id"]) for row in rows]

    async def find_known(self, collection: Collection, keys: Sequence[str]) -> set[str]:
        """Keys of questions that are golden cases, or were proposed before."""
        async with self.database.transaction(collection.owner_id) as connection:
            return await _find_known(connection, collection, keys)

    async def find(self, owner_id: str, proposal_id: UUID) -> CaseProposal:
        async with self.database.transaction(owner_id) as connection:
            return await _find(connection, proposal_id)

    async def list_all(
        self,
        collection: Collection,
        *,
        state: ProposalState | None = None,
        origin: Origin | None = None,
        case_id: UUID | None = None,
        limit: int | None = None,
        after: ListPosition | None = None,
    ) -> list[CaseProposal]:
        """List proposals in the order in which they were made; `case_id` selects those that became this golden case."""
        created_at, proposal_id = after or (None, None)
        values = {
            "collection_id": collection.id,
            "state": state,
            "origin": origin,
            "case_id": case_id,
            "created_at": created_at,
            "proposal_id": proposal_id,
            "limit": limit,
        }
        async with self.database.transaction(collection.owner_id) as connection:
            return [_read(row) for row in await fetch(connection, QUERIES["list"], values)]

    async def accept(self, owner_id: str, proposal_id: UUID, edits: CaseEdits | None = None) -> UUID:
        """Accept a proposal and return the id of its golden case.

        Raises ProposalDecided, GoldenCaseExists, or InvalidGoldenCase, also if nobody has said which documents are
        relevant.
        """
        async with self.database.transaction(owner_id) as connection:
            proposal, collection_id = await _undecided(connection, proposal_id)
            drafts = [_edited(proposal, edits or CaseEdits())]
            key = {"collection_id": collection_id, "owner_id": owner_id}
            (case_id,) = (await add_cases(connection, key, drafts)).added
            await _decide(connection, proposal_id, ProposalState.ACCEPTED, case_id)
        return case_id

    async def reject(self, owner_id: str, proposal_id: UUID) -> CaseProposal:
        """Reject a proposal, so that it is not proposed again. Raises ProposalDecided."""
        async with self.database.transaction(owner_id) as connection:
            await _undecided(connection, proposal_id)
            await _decide(connection, proposal_id, ProposalState.REJECTED)
            return await _find(connection, proposal_id)


async def _new_rows(
    connection: Connection, collection: Collection, made: Sequence[DocumentProposal]
) -> list[dict[str, Any]]:
    key = {"collection_id": collection.id, "owner_id": collection.owner_id}
    values = {"collection_id": collection.id, "documents": sorted({of.document_id for of in made})}
    there = {
        (row["document_id"], row["content_hash"]) for row in await fetch(connection, QUERIES["lock_documents"], values)
    }
    by_key = {query_key(of.query): of for of in reversed(made) if (of.document_id, of.content_hash) in there}
    known = await _find_known(connection, collection, list(by_key)) | {""}
    return [
        key | _row(of) | {"proposal_id": uuid4(), "query_key": query_key(of.query)}
        for of in made
        if by_key.get(query_key(of.query)) is of and query_key(of.query) not in known
    ]


async def _find_known(connection: Connection, collection: Collection, keys: Sequence[str]) -> set[str]:
    values = {"collection_id": collection.id, "keys": [*keys]}
    return {row["query_key"] for row in await fetch(connection, QUERIES["find_known"], values)}


def _row(made: DocumentProposal) -> dict[str, Any]:
    values = {field.name: getattr(made, field.name) for field in fields(made)}
    lists = {"tags": [*made.tags], "candidate_document_ids": [*made.candidate_document_ids]}
    return values | lists | {"relevant_document_ids": [made.document_id]}


async def _undecided(connection: Connection, proposal_id: UUID) -> tuple[CaseProposal, UUID]:
    """Return an undecided proposal and its collection, whose cases are locked until the transaction ends."""
    rows = await fetch(connection, QUERIES["find"], {"proposal_id": proposal_id})
    if not rows:
        raise _no_proposal(proposal_id)
    await lock_cases(connection, rows[0]["collection_id"])
    proposal = await _find(connection, proposal_id)
    if proposal.state is not ProposalState.PROPOSED:
        raise ProposalDecided(
            f"The proposal {proposal_id} is {proposal.state} already.", proposal=str(proposal_id), state=proposal.state
        )
    return proposal, rows[0]["collection_id"]


def _edited(proposal: CaseProposal, edits: CaseEdits) -> CaseDraft:
    if not proposal.relevant_document_ids and edits.documents is None:
        raise InvalidGoldenCase(f"case 0: {NO_DOCUMENTS}.", reason=NO_DOCUMENTS, index=0)
    given = {field.name: getattr(edits, field.name) for field in fields(edits)}
    changes: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return replace(proposal.draft(), **{name: value for name, value in changes.items() if value is not None})


async def _decide(connection: Connection, proposal_id: UUID, state: ProposalState, case_id: UUID | None = None) -> None:
    await connection.execute(QUERIES["decide"], {"proposal_id": proposal_id, "state": state, "case_id": case_id})


async def _find(connection: Connection, proposal_id: UUID) -> CaseProposal:
    rows = await fetch(connection, QUERIES["find"], {"proposal_id": proposal_id})
    if not rows:
        raise _no_proposal(proposal_id)
    return _read(rows[0])


def _read(row: Mapping[str, Any]) -> CaseProposal:
    values: dict[str, Any] = {name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in COLUMNS}
    return CaseProposal(id=row["proposal_id"], state=ProposalState(row["state"]), **values)


def _no_proposal(proposal_id: UUID) -> ProposalNotFound:
    return ProposalNotFound(f"There is no proposed golden case {proposal_id}.", proposal=str(proposal_id))

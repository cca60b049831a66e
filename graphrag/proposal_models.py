"""The nouns of proposed golden cases: what feedback or a document proposes, until a person decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Literal
from uuid import UUID

from graphrag.errors import CausewayError
from graphrag.evaluation_models import CaseDraft, Category, Difficulty, DocumentReference

Origin = Literal["feedback", "document"]
Method = Literal["rules", "model"]


class ProposalState(StrEnum):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class DocumentProposal:
    """A question that a document answers, as it was made from its text."""

    query: str
    document_id: UUID
    content_hash: str  # of the document that was read
    expected_answer: str
    quote: str  # of the document: what answers
    category: Category
    difficulty: Difficulty
    tags: tuple[str, ...] = ()
    method: Method = "rules"
    candidate_document_ids: tuple[UUID, ...] = ()  # that may answer it, too; the likeliest first


@dataclass(frozen=True, slots=True)
class CaseProposal:
    """In no run, export or version. Words of a document or a conversation that is gone are "" in it."""

    id: UUID
    state: ProposalState
    origin: Origin
    method: Method
    query: str
    relevant_document_ids: tuple[UUID, ...]
    candidate_document_ids: tuple[UUID, ...]  # that may be relevant, too; the likeliest first
    expected_answer: str
    quote: str
    category: Category
    difficulty: Difficulty
    tags: tuple[str, ...]
    reason: str  # what a person said of the answer
    conversation_id: UUID | None
    message_id: UUID | None  # the answer that was rated
    document_id: UUID | None
    case_id: UUID | None  # the golden case that became of it
    created_at: datetime
    decided_at: datetime | None

    def draft(self) -> CaseDraft:
        documents = tuple(DocumentReference(id=document) for document in self.relevant_document_ids)
        return CaseDraft(self.query, documents, self.expected_answer, self.category, self.difficulty, self.tags)


@dataclass(frozen=True, slots=True)
class CaseEdits:
    """What a person changes of a proposal; None: it stays as it was proposed."""

    query: str | None = None
    documents: Sequence[DocumentReference] | None = None
    expected_answer: str | None = None
    category: Category | None = None
    difficulty: Difficulty | None = None
    tags: Sequence[str] | None = None


class ProposalNotFound(CausewayError):
    """`details`: proposal."""

    code: ClassVar[str] = "proposal_not_found"


class ProposalDecided(CausewayError):
    """`details`: proposal, state."""

    code: ClassVar[str] = "proposal_decided"

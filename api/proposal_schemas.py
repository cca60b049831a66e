"""What the HTTP API takes and gives of proposed golden cases."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.proposing.proposing import Proposed
from api.golden_schemas import EXAMPLE, EXAMPLE_ID, NO_ANSWER, CollectionChoice, Question, ShortText
from api.pagination import Page
from api.schemas import Storable
from graphrag.evaluation_models import Category, Difficulty, DocumentReference
from graphrag.proposal_models import CaseEdits, CaseProposal, Method, Origin, ProposalState

MOST_PROPOSALS = 100  # of one request


class ProposalOrder(CollectionChoice):
    model_config = ConfigDict(json_schema_extra={"examples": [{"collection": "demo", "limit": 5, "by": "rules"}]})

    documents: list[ShortText] = Field(
        default=[], max_length=1_000, description="By id, source or filename; none of them: all of the collection"
    )
    limit: int = Field(default=20, ge=1, le=MOST_PROPOSALS, description="New ones, at most")
    by: Literal["rules", "model"] = Field(
        default="rules", description="model: the chat model, a call a document; where it can't, the rules"
    )
    max_calls: Annotated[int, Field(ge=0, le=1_000)] | None = Field(
        default=None, description="Of the chat model; RAG_PROPOSAL_CALLS at most, and without it"
    )


class AcceptanceIn(BaseModel):
    """What a person changes; what is left out, or null, stays as it was proposed."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"difficulty": "hard", "relevant_document_ids": [EXAMPLE_ID]}, EXAMPLE]},
    )

    query: Question | None = None
    relevant_document_ids: Annotated[list[UUID], Field(max_length=1_000)] | None = Field(
        default=None, description=f"Needed where none are proposed. {NO_ANSWER}"
    )
    expected_answer: Annotated[Storable, StringConstraints(max_length=20_000)] | None = None
    category: Category | None = None
    difficulty: Difficulty | None = None
    tags: Annotated[list[Annotated[ShortText, StringConstraints(max_length=100)]], Field(max_length=50)] | None = None

    def edits(self) -> CaseEdits:
        ids = self.relevant_document_ids
        documents = None if ids is None else tuple(DocumentReference(id=document) for document in ids)
        return CaseEdits(self.query, documents, self.expected_answer, self.category, self.difficulty, self.tags)


class ProposalOut(BaseModel):
    id: UUID
    state: ProposalState
    origin: Origin = Field(description="feedback: a thumbs-down; document: made from its text")
    method: Method
    query: str = Field(description="Empty where its document or its conversation is gone")
    relevant_document_ids: list[UUID] = Field(description="Proposed as relevant; none: say which when you accept")
    candidate_document_ids: list[UUID] = Field(description="That may be relevant, too; the likeliest first")
    expected_answer: str
    quote: str = Field(description="Of the document: what answers")
    category: Category
    difficulty: Difficulty = Field(
        description="From a document: hard where retrieval does not find it among the first ten, easy where it is the "
        "first and the question has its words; from feedback: hard"
    )
    tags: list[str]
    reason: str = Field(description="What was said of the answer")
    conversation_id: UUID | None
    message_id: UUID | None = Field(description="The answer that was rated")
    document_id: UUID | None
    case_id: UUID | None = Field(description="The golden case that became of it")
    created_at: datetime
    decided_at: datetime | None

    @classmethod
    def of(cls, proposal: CaseProposal) -> "ProposalOut":
        return cls.model_validate(proposal, from_attributes=True)


class ProposalList(Page):
    proposals: list[ProposalOut]


class ProposedOut(BaseModel):
    proposals: list[ProposalOut] = Field(description="The new ones; none where all questions are known already")
    method: Method = Field(description="rules: the chat model was not asked, or gave nothing that holds")
    calls: int = Field(description="Of the chat model")
    warnings: list[str]

    @classmethod
    def of(cls, proposed: Proposed) -> "ProposedOut":
        return cls(
            proposals=[ProposalOut.of(proposal) for proposal in proposed.proposals],
            method=proposed.method,
            calls=proposed.calls,
            warnings=list(proposed.warnings),
        )

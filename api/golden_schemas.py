"""What the HTTP API takes and gives of golden cases."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from api.pagination import Page
from api.schemas import Storable
from graphrag.evaluation_models import (
    CaseDraft,
    Category,
    Difficulty,
    DocumentReference,
    GoldenCase,
    GoldenVersion,
)
from graphrag.stores.golden_drafts import Written

EXAMPLE: dict[str, Any] = {
    "query": "¿Por qué se retiró el lote A-2517?",
    "expected_answer": "Porque el horno H2 lo coció a menos temperatura.",
    "category": "causal",
    "difficulty": "hard",
    "tags": ["horno"],
}
EXAMPLE_ID = "0b0e7a4e-6f0c-5c8e-9d55-0c1f3a5d2b11"

Question = Annotated[Storable, StringConstraints(min_length=1, max_length=4_000)]
Name = Annotated[Storable, StringConstraints(max_length=200)]
ShortText = Annotated[Storable, StringConstraints(min_length=1, max_length=1_000)]
VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]
NO_ANSWER = "None of them: the collection holds no answer, and the case counts in latencies alone"


class CollectionChoice(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"collection": "demo"}]})

    collection: ShortText | None = Field(default=None, description="Without one, the default one")


class CaseFields(BaseModel):
    query: Question
    expected_answer: Annotated[Storable, StringConstraints(max_length=20_000)] = ""
    category: Category
    difficulty: Difficulty = "medium"
    tags: list[Annotated[ShortText, StringConstraints(max_length=100)]] = Field(default=[], max_length=50)

    def draft_of(self, documents: Iterable[DocumentReference]) -> CaseDraft:
        return CaseDraft(
            self.query, tuple(documents), self.expected_answer, self.category, self.difficulty, tuple(self.tags)
        )


class GoldenCaseIn(CaseFields):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [EXAMPLE | {"relevant_document_ids": [EXAMPLE_ID]}]}
    )

    relevant_document_ids: list[UUID] = Field(max_length=1_000, description=NO_ANSWER)

    def draft(self) -> CaseDraft:
        return self.draft_of(DocumentReference(id=document) for document in self.relevant_document_ids)


class NewGoldenCase(GoldenCaseIn, CollectionChoice):
    model_config = ConfigDict(
        json_schema_extra={"examples": [EXAMPLE | {"collection": "demo", "relevant_document_ids": [EXAMPLE_ID]}]}
    )


class GoldenImportOut(BaseModel):
    added: int
    replaced: int
    kept: int = Field(description="That were there already, and stay as they were")

    @classmethod
    def of(cls, written: Written) -> "GoldenImportOut":
        return cls(added=len(written.added), replaced=written.replaced, kept=written.kept)


class GoldenCaseOut(BaseModel):
    id: UUID
    query: str
    relevant_document_ids: list[UUID]
    missing_document_ids: list[UUID] = Field(
        description="Of the relevant ones, those that have been deleted: runs skip the case until it is mended"
    )
    expected_answer: str
    category: Category
    difficulty: Difficulty
    tags: list[str]
    last_validated_at: datetime = Field(description="When all of its documents were last seen to be there")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, case: GoldenCase) -> "GoldenCaseOut":
        return cls.model_validate(case, from_attributes=True)


class GoldenCaseList(Page):
    cases: list[GoldenCaseOut]


class ValidationOut(BaseModel):
    valid: int
    broken: int = Field(description="That name a deleted document: GET /golden-cases?broken=true")


class VersionIn(CollectionChoice):
    model_config = ConfigDict(json_schema_extra={"examples": [{"collection": "demo", "name": "before the new corpus"}]})

    name: Name = ""


class VersionOut(BaseModel):
    number: int
    name: str
    case_count: int
    content_hash: str = Field(description="The same for the same cases, in whatever order")
    created_at: datetime

    @classmethod
    def of(cls, version: GoldenVersion) -> "VersionOut":
        return cls.model_validate(version, from_attributes=True)


class VersionList(Page):
    versions: list[VersionOut]


class VersionWithCases(VersionOut, Page):
    cases: list[GoldenCaseOut]

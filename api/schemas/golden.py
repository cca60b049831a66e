"""Schemas of golden cases, of proposals, and of files of golden cases."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from agent.proposals.proposals import Proposed
from api.schemas.fields import Page, Storable
from graphrag.errors import InvalidGoldenCase
from graphrag.models import Collection
from graphrag.models.evaluation import (
    CaseDraft,
    CaseEdits,
    CaseProposal,
    Category,
    Difficulty,
    DocumentReference,
    Existing,
    GoldenCase,
    GoldenVersion,
    Method,
    Origin,
    ProposalState,
)
from graphrag.stores.postgres.golden import GoldenStore, ImportedCases

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
    def of(cls, written: ImportedCases) -> "GoldenImportOut":
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
    """Edits of a proposal; an absent or null field stays as proposed."""

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


MOST_CASES = 10_000
DocumentName = Annotated[Storable, StringConstraints(min_length=1)]


class Reference(BaseModel):
    """A document by any of its names: its id, or that of another installation; its source; its filename."""

    model_config = ConfigDict(extra="ignore")

    id: UUID | None = None
    source: DocumentName | None = None
    filename: DocumentName | None = None

    def read(self) -> DocumentReference:
        return DocumentReference(self.id, self.source, self.filename)


class FileCase(CaseFields):
    """A case of a file. What else the file says of it is passed over."""

    model_config = ConfigDict(extra="ignore")

    relevant_documents: list[Reference | DocumentName] = Field(
        default=[], max_length=1_000, description=f"Each by its names, or by one of them as a text. {NO_ANSWER}"
    )

    def draft(self) -> CaseDraft:
        return self.draft_of(
            DocumentReference.named(name) if isinstance(name, str) else name.read() for name in self.relevant_documents
        )

    @classmethod
    def of(cls, case: GoldenCase, names: Mapping[UUID, DocumentReference]) -> "FileCase":
        known = [names.get(document, DocumentReference(document)) for document in case.relevant_document_ids]
        return cls(
            query=case.query,
            expected_answer=case.expected_answer,
            category=case.category,
            difficulty=case.difficulty,
            tags=list(case.tags),
            relevant_documents=[Reference(id=of.id, source=of.source, filename=of.filename) for of in known],
        )


class GoldenImport(CollectionChoice):
    model_config = ConfigDict(
        extra="ignore",  # an export says more
        json_schema_extra={
            "examples": [
                {"collection": "demo", "cases": [EXAMPLE | {"relevant_documents": ["informe-calidad-horno-h2.md"]}]}
            ]
        },
    )

    existing: Existing = Field(
        default="refuse",
        description="What becomes of a question that is there already: no case at all is taken; or it stays as it is; "
        "or it becomes as the file has it",
    )
    cases: list[FileCase] = Field(max_length=MOST_CASES)

    @field_validator("cases", mode="wrap")
    @classmethod
    def _name_the_bad_one(cls, value: Any, read: ValidatorFunctionWrapHandler) -> Any:
        """Raises InvalidGoldenCase."""
        try:
            return read(value)
        except ValidationError as exc:
            place, message = exc.errors()[0]["loc"], exc.errors()[0]["msg"]
            if not place or not isinstance(place[0], int):
                raise
            reason = f"{'.'.join(map(str, place[1:]))}: {message}".removeprefix(": ")
            raise InvalidGoldenCase(f"case {place[0]}: {reason}.", reason=reason, index=place[0]) from exc

    def drafts(self) -> list[CaseDraft]:
        return [case.draft() for case in self.cases]


class GoldenExport(BaseModel):
    """`POST /golden-cases/import` takes it, here or in another installation that has documents of the same names."""

    collection: str
    version: int | None = Field(description="null: the cases as they are now")
    exported_at: datetime
    cases: list[FileCase]

    @classmethod
    def of(
        cls,
        collection: str,
        version: int | None,
        cases: Sequence[GoldenCase],
        names: Mapping[UUID, DocumentReference],
    ) -> "GoldenExport":
        written = [FileCase.of(case, names) for case in cases]
        return cls(collection=collection, version=version, exported_at=datetime.now(UTC), cases=written)


async def export_golden(golden: GoldenStore, collection: Collection, *, version: int | None) -> GoldenExport:
    """Raises GoldenVersionNotFound."""
    if version is None:
        cases = await golden.list_all(collection)
    else:
        _, cases = await golden.read_version(collection, version)
    named = {document for case in cases for document in case.relevant_document_ids}
    return GoldenExport.of(collection.name, version, cases, await golden.name_documents(collection, named))


def read_golden_file(path: Path) -> GoldenImport:
    """An export, or a list of cases. Raises InvalidGoldenCase."""
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"))
        return GoldenImport.model_validate({"cases": values} if isinstance(values, list) else values)
    except OSError as exc:
        raise InvalidGoldenCase(f"{path}: {exc.strerror}.", reason=str(exc.strerror)) from exc
    except ValidationError as exc:
        reason = f"{'.'.join(map(str, exc.errors()[0]['loc']))}: {exc.errors()[0]['msg']}"
        raise InvalidGoldenCase(f"{path}: {reason}.", reason=reason) from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidGoldenCase(f"{path}: not JSON in UTF-8 ({exc}).", reason=str(exc)) from exc

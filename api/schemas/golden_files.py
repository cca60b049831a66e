"""Files of golden cases, over HTTP and on the command line: read into a collection, written from one."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
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

from api.schemas.fields import Storable
from api.schemas.golden import EXAMPLE, NO_ANSWER, CaseFields, CollectionChoice
from graphrag.errors import InvalidGoldenCase
from graphrag.models import Collection
from graphrag.models.evaluation import CaseDraft, DocumentReference, Existing, GoldenCase
from graphrag.stores.postgres.golden import GoldenStore

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

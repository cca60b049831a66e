"""Golden cases and their versions in PostgreSQL."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb
from pydantic import TypeAdapter

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import (
    CollectionNotFound,
    GoldenCaseExists,
    GoldenCaseNotFound,
    GoldenVersionNotFound,
    InvalidGoldenCase,
)
from graphrag.models import Collection
from graphrag.models.evaluation import (
    CaseDraft,
    Category,
    Difficulty,
    DocumentReference,
    Existing,
    GoldenCase,
    GoldenVersion,
    hash_cases,
    query_key,
)
from graphrag.stores.postgres.rows import ListPosition

Lookup = Callable[[Sequence[DocumentReference]], Awaitable[Sequence[DocumentReference]]]
Name = tuple[str, UUID | str]  # of what kind it is, and itself


@dataclass(frozen=True, slots=True)
class ImportedCases:
    added: tuple[UUID, ...]  # in the order of their drafts
    replaced: int
    kept: int  # that were there already, and stay as they were


def check_drafts(drafts: Sequence[CaseDraft]) -> None:
    """Raises InvalidGoldenCase for a question without a word, or one that another of them asks, too."""
    first: dict[str, int] = {}
    for index, draft in enumerate(drafts):
        key = query_key(draft.query)
        if not key:
            raise InvalidGoldenCase(f"case {index}: the question is empty.", reason="query: it is empty", index=index)
        if (same := first.setdefault(key, index)) != index:
            reason = f"query: case {same} asks the same"
            raise InvalidGoldenCase(f"case {index}: {reason}.", reason=reason, index=index)


async def resolve_drafts(drafts: Sequence[CaseDraft], key: Mapping[str, Any], find: Lookup) -> list[dict[str, Any]]:
    """A row each. Raises InvalidGoldenCase where a document is not in the collection."""
    names = [name for draft in drafts for name in draft.documents]
    known = _by_name(await find(names)) if names else {}
    return [
        {
            **key,
            "query": draft.query,
            "query_key": query_key(draft.query),
            "relevant_document_ids": _resolve(draft, known, index),
            "expected_answer": draft.expected_answer,
            "category": draft.category,
            "difficulty": draft.difficulty,
            "tags": list(dict.fromkeys(draft.tags)),
        }
        for index, draft in enumerate(drafts)
    ]


def _resolve(draft: CaseDraft, known: Mapping[Name, Sequence[UUID]], index: int) -> list[UUID]:
    found: dict[UUID, None] = {}
    for document in draft.documents:
        matches = next((known[name] for name in _names(document) if name in known), ())
        if len(matches) != 1:
            wrong = "several documents of the collection have this name" if matches else "not in the collection"
            reason = f"relevant documents: {document}: {wrong}"
            raise InvalidGoldenCase(f"case {index}: {reason}.", reason=reason, index=index)
        found[matches[0]] = None
    return list(found)


def _by_name(documents: Sequence[DocumentReference]) -> Mapping[Name, Sequence[UUID]]:
    """An id or a source is one document's alone; of a filename there may be several."""
    found: dict[Name, list[UUID]] = {}
    for document in documents:
        for name in _names(document):
            if document.id:
                found.setdefault(name, []).append(document.id)
    return found


def _names(document: DocumentReference) -> list[Name]:
    """The surest first."""
    names = (("id", document.id), ("source", document.source), ("filename", document.filename))
    return [(kind, name) for kind, name in names if name]


QUERIES = queries(Path(__file__).with_name("golden.sql"))
CASES = TypeAdapter(tuple[GoldenCase, ...])  # as a version keeps them
UNKEPT = {"__all__": {"missing_document_ids"}}  # it is another matter every time
COLUMNS = [field.name for field in fields(GoldenCase) if field.name != "id"]


@dataclass(frozen=True, slots=True)
class GoldenStore:
    """Raises GoldenCaseNotFound for another owner's, too, in the same words."""

    database: Database

    async def add(
        self, collection: Collection, drafts: Sequence[CaseDraft], *, existing: Existing = "refuse"
    ) -> ImportedCases:
        """All of them or none. Raises InvalidGoldenCase, GoldenCaseExists or CollectionNotFound."""
        check_drafts(drafts)  # before the database is asked
        async with writing_cases(self.database, collection) as connection:
            key = {"collection_id": collection.id, "owner_id": collection.owner_id}
            return await add_cases(connection, key, drafts, existing=existing)

    async def replace(self, owner_id: str, case_id: UUID, draft: CaseDraft) -> GoldenCase:
        """Raises InvalidGoldenCase or GoldenCaseExists, too."""
        check_drafts([draft])
        async with self.database.transaction(owner_id) as connection:
            collection_id = (await _find(connection, case_id))["collection_id"]
            await lock_cases(connection, collection_id)
            key = {"collection_id": collection_id, "owner_id": owner_id}
            (row,) = await resolve_drafts([draft], key, lambda names: _documents(connection, key, names))
            same = await fetch(connection, QUERIES["find_same"], key | {"keys": [row["query_key"]]})
            _refuse({of["query_key"]: of["case_id"] for of in same if of["case_id"] != case_id}, [row])
            await connection.execute(QUERIES["update"], row | {"case_id": case_id})
            return _read(await _find(connection, case_id))

    async def find(self, owner_id: str, case_id: UUID) -> GoldenCase:
        async with self.database.transaction(owner_id) as connection:
            return _read(await _find(connection, case_id))

    async def list_all(
        self,
        collection: Collection,
        *,
        category: Category | None = None,
        difficulty: Difficulty | None = None,
        query: str | None = None,
        broken: bool | None = None,
        limit: int | None = None,
        after: ListPosition | None = None,
    ) -> list[GoldenCase]:
        """List golden cases in the order in which they were added.

        `query` is a part of the question, without regard to case and accents; `broken` selects the cases that name a
        deleted document, or those that don't.
        """
        created_at, case_id = after or (None, None)
        values = {
            "collection_id": collection.id,
            "created_at": created_at,
            "case_id": case_id,
            "category": category,
            "difficulty": difficulty,
            "query": query,
            "broken": broken,
            "limit": limit,
        }
        async with self.database.transaction(collection.owner_id) as connection:
            return [_read(row) for row in await fetch(connection, QUERIES["list"], values)]

    async def delete(self, owner_id: str, case_id: UUID) -> None:
        async with self.database.transaction(owner_id) as connection:
            if not (await connection.execute(QUERIES["delete"], {"case_id": case_id})).rowcount:
                raise _no_case(case_id)

    async def validate(self, collection: Collection) -> tuple[int, int]:
        """Note with the cases whether their documents exist; return how many are valid and how many broken."""
        key = {"collection_id": collection.id}
        async with self.database.transaction(collection.owner_id) as connection:
            valid = (await connection.execute(QUERIES["validate"], key)).rowcount
            (row,) = await fetch(connection, QUERIES["count_broken"], key)
        return valid, row["cases"]

    async def name_documents(self, collection: Collection, ids: Iterable[UUID]) -> dict[UUID, DocumentReference]:
        """Return references to those of the documents that exist."""
        values = {"collection_id": collection.id, "ids": [*ids]}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["name_documents"], values)
        return {row["document_id"]: _reference(row) for row in rows}

    async def add_version(self, collection: Collection, name: str = "") -> GoldenVersion:
        """Freeze the current cases as a new version. Raises CollectionNotFound."""
        async with writing_cases(self.database, collection) as connection:
            rows = await fetch(connection, QUERIES["list"], _everything(collection))
            cases = [_read(row) for row in rows]
            values = {
                "collection_id": collection.id,
                "owner_id": collection.owner_id,
                "name": name,
                "content_hash": hash_cases(cases),
                "case_count": len(cases),
                "cases": Jsonb(CASES.dump_python(tuple(cases), mode="json", exclude=UNKEPT)),
            }
            (row,) = await fetch(connection, QUERIES["add_version"], values)
        return _read_version(row)

    async def list_versions(
        self, collection: Collection, *, limit: int | None = None, before: int | None = None
    ) -> list[GoldenVersion]:
        """The latest first."""
        values = {"collection_id": collection.id, "limit": limit, "before": before}
        async with self.database.transaction(collection.owner_id) as connection:
            return [_read_version(row) for row in await fetch(connection, QUERIES["list_versions"], values)]

    async def read_version(self, collection: Collection, number: int) -> tuple[GoldenVersion, list[GoldenCase]]:
        """Return a version and its cases, with those of their documents that were deleted.

        Raises GoldenVersionNotFound.
        """
        key = {"collection_id": collection.id}
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_version"], key | {"number": number})
            if not rows:
                raise GoldenVersionNotFound(f"There is no version {number} of the golden cases.", version=number)
            cases = CASES.validate_python(rows[0]["cases"])
            named = {document for case in cases for document in case.relevant_document_ids}
            (found,) = await fetch(connection, QUERIES["find_missing"], key | {"ids": [*named]})
        missing = set(found["missing"])
        return _read_version(rows[0]), [_missing_of(case, missing) for case in cases]


@asynccontextmanager
async def writing_cases(database: Database, collection: Collection) -> AsyncIterator[Connection]:
    """A transaction, in which nobody else writes cases of the collection. Raises CollectionNotFound."""
    async with database.transaction(collection.owner_id) as connection:
        if not await fetch(connection, QUERIES["find_collection"], {"collection_id": collection.id}):
            raise CollectionNotFound(f"There is no collection {collection.name!r}.", name=collection.name, known=[])
        await lock_cases(connection, collection.id)
        yield connection


async def lock_cases(connection: Connection, collection_id: UUID) -> None:
    await connection.execute(QUERIES["lock"], {"collection_id": collection_id})


async def add_cases(
    connection: Connection, key: Mapping[str, Any], drafts: Sequence[CaseDraft], *, existing: Existing = "refuse"
) -> ImportedCases:
    """Add cases to a collection whose cases are locked; `key` has collection_id and owner_id."""
    check_drafts(drafts)
    resolved = await resolve_drafts(drafts, key, lambda names: _documents(connection, key, names))
    rows = [row | {"case_id": uuid4()} for row in resolved]
    same = await _find_same(connection, key, rows)
    if existing == "refuse":
        _refuse(same, rows)
    new = [row for row in rows if row["query_key"] not in same]
    known = [row | {"case_id": same[row["query_key"]]} for row in rows if row["query_key"] in same]
    replaced = known if existing == "replace" else []
    async with connection.cursor() as cursor:
        await cursor.executemany(QUERIES["insert"], new)
        await cursor.executemany(QUERIES["update"], replaced)
    return ImportedCases(tuple(row["case_id"] for row in new), len(replaced), len(known) - len(replaced))


async def _documents(
    connection: Connection, key: Mapping[str, Any], names: Sequence[DocumentReference]
) -> list[DocumentReference]:
    values = {
        **key,
        "ids": [name.id for name in names if name.id],
        "sources": [name.source for name in names if name.source],
        "filenames": [name.filename for name in names if name.filename],
    }
    return [_reference(row) for row in await fetch(connection, QUERIES["find_documents"], values)]


async def _find(connection: Connection, case_id: UUID) -> dict[str, Any]:
    rows = await fetch(connection, QUERIES["find"], {"case_id": case_id})
    if not rows:
        raise _no_case(case_id)
    return rows[0]


async def _find_same(
    connection: Connection, key: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> dict[str, UUID]:
    values = {**key, "keys": [row["query_key"] for row in rows]}
    return {row["query_key"]: row["case_id"] for row in await fetch(connection, QUERIES["find_same"], values)}


def _refuse(same: Mapping[str, UUID], rows: Sequence[Mapping[str, Any]]) -> None:
    for index, row in enumerate(rows):
        if case_id := same.get(row["query_key"]):
            message = (
                f"The golden case {case_id} asks the same. Change that one, or import with --existing keep or replace."
            )
            raise GoldenCaseExists(message, case=str(case_id), index=index)


def _everything(collection: Collection) -> dict[str, Any]:
    unset = dict.fromkeys(("created_at", "case_id", "category", "difficulty", "query", "broken", "limit"))
    return {"collection_id": collection.id, **unset}


def _reference(row: Mapping[str, Any]) -> DocumentReference:
    return DocumentReference(row["document_id"], row["source"], row["filename"])


def _read(row: Mapping[str, Any]) -> GoldenCase:
    values: dict[str, Any] = {name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in COLUMNS}
    return GoldenCase(id=row["case_id"], **values)


def _read_version(row: Mapping[str, Any]) -> GoldenVersion:
    return GoldenVersion(row["number"], row["name"], row["case_count"], row["content_hash"], row["created_at"])


def _missing_of(case: GoldenCase, missing: set[UUID]) -> GoldenCase:
    return replace(case, missing_document_ids=tuple(of for of in case.relevant_document_ids if of in missing))


def _no_case(case_id: UUID) -> GoldenCaseNotFound:
    return GoldenCaseNotFound(f"There is no golden case {case_id}.", case=str(case_id))

"""Golden cases on their way in: checked, their documents found by whatever name they go by."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from graphrag.evaluation_errors import InvalidGoldenCase
from graphrag.evaluation_models import CaseDraft, DocumentReference, query_key

Lookup = Callable[[Sequence[DocumentReference]], Awaitable[Sequence[DocumentReference]]]
Name = tuple[str, UUID | str]  # of what kind it is, and itself


@dataclass(frozen=True, slots=True)
class Written:
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

"""Golden cases on their way in: checked, their documents found by whatever name they go by."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from graphrag.errors import InvalidGoldenCase
from graphrag.evaluation_models import CaseDraft, DocumentReference, query_key

Lookup = Callable[[Sequence[DocumentReference]], Awaitable[Sequence[DocumentReference]]]


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
    known = await find(names) if names else []
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


def _resolve(draft: CaseDraft, known: Sequence[DocumentReference], index: int) -> list[UUID]:
    found: dict[UUID, None] = {}
    for name in draft.documents:
        matches = _matches(name, known)
        if len(matches) != 1:
            wrong = "several documents of the collection have this name" if matches else "not in the collection"
            reason = f"relevant documents: {name}: {wrong}"
            raise InvalidGoldenCase(f"case {index}: {reason}.", reason=reason, index=index)
        found[matches[0]] = None
    return list(found)


def _matches(name: DocumentReference, known: Sequence[DocumentReference]) -> list[UUID]:
    """An id or a source is one document's alone; of a filename there may be several."""
    by_name = (
        [of.id for of in known if of.id and name.id == of.id],
        [of.id for of in known if of.id and name.source and name.source == of.source],
        [of.id for of in known if of.id and name.filename and name.filename == of.filename],
    )
    return next((matches for matches in by_name if matches), [])

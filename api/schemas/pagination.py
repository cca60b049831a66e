"""Lists a page at a time. A cursor says after which entry the next page begins: new ones repeat and hide none."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field, TypeAdapter

from graphrag.errors import InvalidCursor

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])
MOST_CHARS = 2_000

Limit = Annotated[int, Query(ge=1, le=200, description="Entries a page")]
Cursor = Annotated[
    str | None, Query(max_length=MOST_CHARS, description="`next_cursor` of the page before; without one, the first")
]


class Page(BaseModel):
    """Fields that every list has beside its entries."""

    next_cursor: str | None = Field(default=None, description="For the page after this one; null: this is the last")


def read_cursor(cursor: str | None, kind: type[K]) -> K | None:
    """The place that a list of this kind of keys has given, as `tuple[datetime, UUID]`. Raises InvalidCursor."""
    if cursor is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(json.loads(urlsafe_b64decode(cursor.encode())))
    except (ValueError, RecursionError) as exc:
        raise InvalidCursor(f"{cursor!r} is no cursor of this list.") from exc


def cut(entries: Sequence[T], limit: int, key: Callable[[T], tuple[Any, ...]]) -> tuple[list[T], str | None]:
    """The page, and its `next_cursor`; `entries` are up to one more than its limit."""
    page = list(entries[:limit])
    return page, write_cursor(key(page[-1])) if len(entries) > limit else None


def write_cursor(key: Sequence[Any]) -> str:
    return urlsafe_b64encode(json.dumps(key, default=_written, separators=(",", ":")).encode()).decode()


def _written(value: object) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)

"""Filters as a request writes them: an allow-listed key, and a value or a list of values."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import PurePath
from typing import Any, Final

from graphrag.errors import InvalidFilter
from graphrag.models import Document, Filters

FIELDS: Final = {
    "document_type": "document_types",
    "language": "languages",
    "source_type": "source_types",
    "processing_strategy": "processing_strategies",
    "tags": "tags",
    "filename": "filenames",
}
DATES: Final = ("created_from", "created_until")  # ISO 8601; a date is its midnight, and without a zone it is UTC
KNOWN: Final = (*FIELDS, *DATES)
MOST_VALUES: Final = 100
_NOT_TEXT: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")  # the database takes no NUL and no half of a pair


def parse_filters(given: Mapping[str, Any]) -> Filters:
    """Parse filters; without any, every document matches. Raises InvalidFilter, which names the known keys."""
    unknown = [key for key in given if key not in KNOWN]
    if unknown:
        raise _invalid("unknown_filter", unknown[0], f"There is no filter {unknown[0]!r}.")
    values: dict[str, Any] = {
        FIELDS.get(key, key): _texts(key, value) if key in FIELDS else _moment(key, value)
        for key, value in given.items()
    }
    return Filters(**values)


def lets_through(filters: Filters, document: Document) -> bool:
    """Return whether the filters match the document, by the rules of the database's query."""
    kinds = {document.media_type, PurePath(document.filename).suffix.lstrip(".").lower()}
    return (
        (not filters.document_types or bool(kinds & {kind.lower() for kind in filters.document_types}))
        and (not filters.languages or document.language in filters.languages)
        and (not filters.source_types or document.source_type in filters.source_types)
        and (not filters.processing_strategies or document.processing_strategy in filters.processing_strategies)
        and (not filters.tags or bool(set(document.tags) & set(filters.tags)))
        and (not filters.filenames or document.filename.lower() in {name.lower() for name in filters.filenames})
        and (filters.created_from is None or document.created_at >= filters.created_from)
        and (filters.created_until is None or document.created_at < filters.created_until)
    )


def _texts(key: str, value: object) -> tuple[str, ...]:
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else [value]
    if len(values) > MOST_VALUES or not all(_is_text(value) for value in values):
        raise _invalid("filter_value", key, f"Filter {key!r} takes a text, or at most {MOST_VALUES} of them.")
    return tuple(value.lower() if key == "language" else value for value in map(str, values))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not _NOT_TEXT.search(value)


def _moment(key: str, value: object) -> datetime:
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(_iso(value))
    except (TypeError, ValueError) as exc:
        raise _invalid("filter_date", key, f"Filter {key!r} takes a date such as 2025-03-31.") from exc
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _iso(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise TypeError("no date")
    return value


def _invalid(reason: str, key: str, problem: str) -> InvalidFilter:
    return InvalidFilter(f"{problem} Known: {', '.join(KNOWN)}.", reason=reason, key=key, known=list(KNOWN))

"""The chunk store's SQL by name, and its rows as models and back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, queries
from graphrag.models import Chunk, Document, SourceLocation, Span, TemporalContext
from graphrag.models.conversations import Conversation, Message, MessageStatus
from graphrag.models.ingestion import DocumentExcerpt, IndexedDocument
from graphrag.parsers.source_locations import cite_location

ListPosition = tuple[datetime, UUID]  # of an entry in a list: when it was made, and its id
QUERIES = queries(Path(__file__).with_name("postgres.sql"))
STORED_TOGETHER = 1_000  # rows of a statement


async def lock_owner(connection: Connection, owner_id: str) -> None:
    """Lock the owner until the transaction ends, so that two requests can't use the same last room of a quota."""
    await connection.execute(QUERIES["lock_owner"], {"owner_id": owner_id})


def to_columns(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, list[Any]]]:
    """Yield the rows' values by their names, `STORED_TOGETHER` rows at a time."""
    remaining = iter(rows)
    while together := list(islice(remaining, STORED_TOGETHER)):
        yield {name: [row[name] for row in together] for name in together[0]}


DOCUMENT_COLUMNS = [field.name for field in fields(Document) if field.name != "id"]
LISTS = ("tags", "authors", "keywords", "warnings")
CHUNK_COLUMNS = ["content", "start_char", "end_char", "window_start", "context"]


def read_document(row: Mapping[str, Any]) -> Document:
    values = {name: row[name] for name in DOCUMENT_COLUMNS}
    return Document(id=row["document_id"], **values | {name: tuple(row[name]) for name in LISTS})


def to_document_row(document: Document) -> dict[str, Any]:
    values = {name: getattr(document, name) for name in DOCUMENT_COLUMNS}
    values |= {"document_id": document.id, "metadata": Jsonb(dict(document.metadata))}
    return values | {name: list(getattr(document, name)) for name in LISTS}


def read_chunk(row: Mapping[str, Any]) -> Chunk:
    return Chunk(
        id=row["chunk_id"],
        index=row["chunk_index"],
        document=read_document(row),
        locations=tuple(_read_location(location) for location in row["places"]),
        headers=tuple(row["headers"]),
        parent=None if row["parent_start"] is None else Span(row["parent_start"], row["parent_end"]),
        **{name: row[name] for name in CHUNK_COLUMNS},
    )


def to_chunk_rows(indexed: IndexedDocument) -> Iterator[dict[str, Any]]:
    for chunk, said in zip(indexed.chunks, indexed.situations or [None] * len(indexed.chunks), strict=True):
        yield _to_chunk_row(chunk) | {"situation": said or ""}


def _to_chunk_row(chunk: Chunk) -> dict[str, Any]:
    return {name: getattr(chunk, name) for name in CHUNK_COLUMNS} | {
        "document_id": chunk.document.id,
        "chunk_id": chunk.id,
        "chunk_index": chunk.index,
        "language": chunk.document.language,
        "expires_at": chunk.document.expires_at,
        "places": Jsonb([_to_json(location) for location in chunk.locations]),
        "headers": Jsonb(chunk.headers),
        "parent_start": chunk.parent and chunk.parent.start,
        "parent_end": chunk.parent and chunk.parent.end,
    }


def to_embedding_rows(indexed: IndexedDocument, *, has_contextual: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of the chunks' vectors.

    Where the collection has contextual vectors, a chunk without one gets its plain vector for both kinds.
    """
    contextual = indexed.contextual_vectors or (indexed.vectors if has_contextual else None)
    expires_at = indexed.document.expires_at
    for kind, vectors in (("content", indexed.vectors), ("contextual", contextual)):
        if vectors is not None:
            for chunk, vector in zip(indexed.chunks, vectors, strict=True):
                embedding = HalfVector(list(vector))
                yield {"chunk_id": chunk.id, "kind": kind, "embedding": embedding, "expires_at": expires_at}


def _to_json(location: SourceLocation) -> list[Any]:
    """[start, end, page, sheet, cells, time, file, is recognized], without what is empty at the end.

    A time is [first day, period, change, label].
    """
    time = location.temporal
    values = [
        *(location.start_char, location.end_char, location.page, location.sheet, location.cells),
        time and [time.date.isoformat(), time.period, time.change, time.label],
        location.file,
        location.is_recognized,
    ]
    while not values[-1] and len(values) > _FEWEST_VALUES:
        values.pop()
    return values


def _read_location(values: list[Any]) -> SourceLocation:
    start, end, page, sheet, cells, time, file, is_recognized = [*values, *_EMPTY_VALUES[len(values) :]]
    temporal = TemporalContext(date.fromisoformat(time[0]), *time[1:]) if time else None
    return SourceLocation(start, end, page, sheet, cells, temporal, file, is_recognized)


_FEWEST_VALUES = 5  # of a location
_EMPTY_VALUES: list[Any] = [0, 0, None, "", "", None, "", False]


def read_conversation(row: Mapping[str, Any]) -> Conversation:
    return Conversation(
        row["conversation_id"],
        row["title"],
        tuple(name for name in (row["collection"], *row["other_collections"]) if name),
        row["leaf_id"],
        row["created_at"],
        row["updated_at"],
        row["erasures"],
        row["is_shared"],
    )


def read_message(row: Mapping[str, Any]) -> Message:
    return Message(
        row["message_id"],
        row["conversation_id"],
        row["parent_id"],
        row["role"],
        row["content"],
        MessageStatus(row["status"]),
        row["created_at"],
        row["details"],
        row["checkpoint_id"],
    )


def without_nul(value: Any) -> Any:
    """PostgreSQL holds none, neither in text nor in JSON."""
    match value:
        case str():
            return value.replace("\0", "")
        case list():
            return [without_nul(part) for part in value]
        case dict():
            return {key: without_nul(part) for key, part in value.items()}
    return value


def cut_excerpt(
    document: Document, chunks: Sequence[Chunk], span: Span, around: Span, *, length: int, line_ends: int
) -> DocumentExcerpt:
    """`chunks` hold `around`, in order; `line_ends` stand in those before them."""
    text = "".join(chunk.content for chunk in chunks)
    text_start = chunks[0].start_char if chunks else length
    start = min(max(0, around.start - text_start), len(text))
    end = max(start, min(around.end - text_start, len(text)))
    if around.start:  # the rest of a line that begins before
        start = max(start, text.find("\n", start, max(start, span.start - text_start)) + 1)
    if around.end < length:
        line_end = text.rfind("\n", max(start, span.end - text_start), end)
        end = end if line_end == -1 else line_end
    return DocumentExcerpt(
        chunks[0].document if chunks else document,  # it may have been replaced meanwhile
        text[start:end],
        text_start + start,
        text_start + end,
        length,
        first_line=line_ends + text.count("\n", 0, start) + 1,
        location=cite_location(
            [location for chunk in chunks for location in chunk.locations],
            span.start,
            span.end,
            text=text,
            text_start=text_start,
            headers=_headers(chunks, span.start),
        ),
    )


def _headers(chunks: Sequence[Chunk], start: int) -> tuple[str, ...]:
    return next((chunk.headers for chunk in chunks if chunk.start_char <= start < chunk.end_char), ())

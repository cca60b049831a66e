"""The nouns as rows of postgres.sql, and back."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import date
from typing import Any

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from graphrag.ingestion_models import IndexedDocument
from graphrag.models import Chunk, Document, Place, Span, TemporalContext

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
        places=tuple(_read_place(place) for place in row["places"]),
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
        "places": Jsonb([_to_json(place) for place in chunk.places]),
        "headers": list(chunk.headers),
        "parent_start": chunk.parent and chunk.parent.start,
        "parent_end": chunk.parent and chunk.parent.end,
    }


def to_embedding_rows(indexed: IndexedDocument, model: str, *, has_contextual: bool) -> Iterator[dict[str, Any]]:
    """Of both kinds where all chunks have both: a chunk without a vector in context is found by its plain one."""
    contextual = indexed.contextual_vectors or (indexed.vectors if has_contextual else None)
    for kind, vectors in (("content", indexed.vectors), ("contextual", contextual)):
        if vectors is not None:
            for chunk, vector in zip(indexed.chunks, vectors, strict=True):
                embedding = HalfVector(list(vector))
                expires_at = indexed.document.expires_at
                yield {
                    "chunk_id": chunk.id,
                    "model": model,
                    "kind": kind,
                    "embedding": embedding,
                    "expires_at": expires_at,
                }


def _to_json(place: Place) -> list[Any]:
    """[start, end, page, sheet, cells], and for a time [first day, period, change, label]."""
    time = place.temporal
    values = [place.start_char, place.end_char, place.page, place.sheet, place.cells]
    return [*values, [time.date.isoformat(), time.period, time.change, time.label]] if time else values


def _read_place(values: list[Any]) -> Place:
    start, end, page, sheet, cells, *rest = values
    time = TemporalContext(date.fromisoformat(rest[0][0]), *rest[0][1:]) if rest else None
    return Place(start, end, page, sheet, cells, time)

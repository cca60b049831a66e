"""Metadata filters as conditions of a search. Keys are columns of ours, values are always bound."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from graphrag.database import Connection
from graphrag.models import EVERYTHING, Collection, Filters
from graphrag.stores.queries import QUERIES, fetch

FEW_DOCUMENTS, FEW_CHUNKS = 1_000, 5_000  # all of which are looked at, rather than all that matches and then the filter


@dataclass(frozen=True, slots=True)
class Restriction:
    condition: str = "true"  # on a row with collection_id and document_id
    values: dict[str, Any] = field(default_factory=dict)
    is_narrow: bool = False


async def restrict(connection: Connection, collection: Collection, filters: Filters) -> Restriction:
    if filters == EVERYTHING:
        return Restriction()
    values = {"collection_id": collection.id, "filters": _as_json(filters)}
    rows = await fetch(connection, QUERIES["find_matching_documents"], values | {"limit": FEW_DOCUMENTS + 1})
    if len(rows) > FEW_DOCUMENTS:
        return Restriction(
            "document_id IN (SELECT causeway.matching_documents(%(collection_id)s, %(filters)s))", values
        )
    named = {"collection_id": collection.id, "documents": [row["document_id"] for row in rows]}
    (size,) = await fetch(connection, QUERIES["count_chunks"], named | {"limit": FEW_CHUNKS + 1})
    return Restriction("document_id = ANY (%(documents)s)", named, is_narrow=size["chunks"] <= FEW_CHUNKS)


def _as_json(filters: Filters) -> Jsonb:
    given = {field.name: getattr(filters, field.name) for field in fields(filters)}
    dates = {name: value.isoformat() for name, value in given.items() if isinstance(value, datetime)}
    return Jsonb({name: list(values) for name, values in given.items() if isinstance(values, tuple) and values} | dates)

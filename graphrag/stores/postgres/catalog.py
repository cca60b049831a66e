"""A collection's documents as their owner sees them: those that are stored and those on their way in, in one list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.models import Collection, Document, Span
from graphrag.models.ingestion import DocumentExcerpt, Ingestion, IngestionStatus
from graphrag.stores.postgres.ingestions import read_ingestion
from graphrag.stores.postgres.rows import ListPosition, cut_excerpt, read_chunk, read_document

QUERIES = queries(Path(__file__).with_name("catalog.sql"))
BEGINNING = (datetime(1, 1, 2, tzinfo=UTC), UUID(int=0))  # before every entry


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A document, its ingestion or both: a text added without a file has no ingestion, a new file no document yet."""

    id: UUID
    document: Document | None
    ingestion: Ingestion | None

    @property
    def position(self) -> ListPosition:
        known = self.ingestion or self.document
        assert known is not None
        return known.created_at, self.id


@dataclass(frozen=True, slots=True)
class Criteria:
    """All that are given hold; of the tags any will do."""

    status: str | None = None
    filename: str | None = None  # a part of it, whatever its case and accents
    tags: tuple[str, ...] = ()


ALL = Criteria()


@dataclass(frozen=True, slots=True)
class Facets:
    """The values that the search filters can take in a collection."""

    document_count: int
    languages: list[str]
    document_types: list[str]  # the endings of their names
    tags: list[str]
    filenames: list[str]
    created_first: datetime | None
    created_last: datetime | None


@dataclass(frozen=True, slots=True)
class Catalog:
    database: Database

    async def page(
        self, collection: Collection, criteria: Criteria = ALL, *, limit: int, after: ListPosition | None = None
    ) -> list[CatalogEntry]:
        """List a page of entries by the time when they were added first."""
        created_at, document_id = after or BEGINNING
        values = {
            "collection_id": collection.id,
            "created_at": created_at,
            "document_id": document_id,
            "status": criteria.status,
            "filename": criteria.filename,
            "tags": [*criteria.tags],
            "limit": limit,
        }
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["page"], values)
            return await _read(connection, collection, [row["document_id"] for row in rows])

    async def excerpt(
        self, document: Document, span: Span, *, owner_id: str, before: int, after: int
    ) -> DocumentExcerpt:
        """Return the text of the span with `before` and `after` characters around it, extended to the end of a line."""
        start, end = max(0, span.start - before), max(span.end + after, span.start + 1)
        values = {
            "collection_id": document.collection_id,
            "document_id": document.id,
            "start_char": start,
            "end_char": end,
        }
        async with self.database.transaction(owner_id) as connection:
            chunks = [read_chunk(row) for row in await fetch(connection, QUERIES["read_text"], values)]
            (measured,) = await fetch(connection, QUERIES["measure_text"], values)
        return cut_excerpt(document, chunks, span, Span(start, end), **measured)

    async def find(self, collection: Collection, documents: Sequence[UUID]) -> list[CatalogEntry]:
        """Return the entries of these documents in this order; missing ones are left out."""
        async with self.database.transaction(collection.owner_id) as connection:
            return await _read(connection, collection, documents)

    async def facets(self, collection: Collection, *, limit: int) -> Facets:
        """Return the values of the filters, at most `limit` tags and file names in alphabetical order."""
        async with self.database.transaction(collection.owner_id) as connection:
            (row,) = await fetch(connection, QUERIES["facets"], {"collection_id": collection.id, "limit": limit})
            return Facets(**row)


async def _read(connection: Connection, collection: Collection, documents: Sequence[UUID]) -> list[CatalogEntry]:
    values = {"collection_id": collection.id, "documents": [*documents]}
    ingestions = [read_ingestion(row) for row in await fetch(connection, QUERIES["find_ingestions"], values)]
    stored = {
        row["document_id"]: read_document(row) for row in await fetch(connection, QUERIES["find_documents"], values)
    }
    under_way = {of.document_id: of for of in ingestions if of.document_id in stored or not _has_ended_well(of)}
    return [
        CatalogEntry(key, stored.get(key), under_way.get(key)) for key in documents if key in stored or key in under_way
    ]


def _has_ended_well(ingestion: Ingestion) -> bool:
    """Its document's time is over then, if there is none."""
    return ingestion.status is IngestionStatus.INDEXED

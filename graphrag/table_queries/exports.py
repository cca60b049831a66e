"""Queries of computed answers run again, and all of their rows or groups as CSV."""

import asyncio
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from graphrag.errors import TableUnavailable
from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.models import Collection
from graphrag.protocols import ChunkStore, read_from_each
from graphrag.table_queries.answers import AnsweredPlan, describe_operation
from graphrag.table_queries.joins import join_tables
from graphrag.table_queries.plans import QueryResult, TableQuery, run_plan

_QUERIES = TypeAdapter(TableQuery)
BYTE_ORDER_MARK = "\ufeff"  # without it, Excel takes UTF-8 for the system's own encoding
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(?:[€$£] ?)?\d[\d., \u00a0\u202f]*(?:[eE][+-]?\d+)?[%€$£]?")
DECIMALS = 6  # of a computed value: sums of cents are not exact in binary


def describe_query(query: TableQuery) -> dict[str, Any]:
    """Return a query as JSON has it, which `read_query` reads."""
    described: dict[str, Any] = _QUERIES.dump_python(query, mode="json", exclude_defaults=True)
    return described


def read_query(described: Mapping[str, Any]) -> TableQuery:
    return _QUERIES.validate_python(described)


async def run_query(query: TableQuery, *, store: ChunkStore, collections: Sequence[Collection]) -> AnsweredPlan:
    """Run a query over the documents of its tables. Raises TableUnavailable where one has another content by now."""
    ids = list({each.document_id for each in query.tables})
    documents = {
        document.id: document
        for collection in collections
        for document in await store.find_documents(collection, ids=ids)
    }
    stored = await read_from_each(collections, lambda each: store.read_tables(each, ids))
    for each in query.tables:
        document = documents.get(each.document_id)
        is_same = document is not None and document.content_hash == each.content_hash
        if not is_same or each.number >= len(stored.get(each.document_id, ())):
            raise TableUnavailable(f"Document {each.document_id} has changed.", reason="table_changed")
    data = [stored[each.document_id][each.number] for each in query.tables]
    found = await asyncio.to_thread(_run, query, data)
    if found is None:
        raise TableUnavailable("The tables are read in another way by now.", reason="table_changed")
    table, result = found
    return AnsweredPlan(documents[query.tables[0].document_id], table, query.plan, result, query.tables)


def _run(query: TableQuery, data: Iterable[bytes]) -> tuple[TypedTable, QueryResult] | None:
    own, *others = map(TypedTable.from_bytes, data)
    joined = (table for number, _, table in join_tables([own, *others]) if number == 0)
    table = next(joined, None) if others else own
    result = run_plan(table, query.plan) if table else None
    return (table, result) if table and result else None


def write_csv(found: AnsweredPlan, language: str) -> str:
    """Return every row that a plan's value comes from, or every group with its value, as RFC 4180 has it."""
    table, plan, result = found.table, found.plan, found.result
    lines: Iterator[Iterable[str]]
    if result.groups and plan.per is not None:
        headers: Iterable[str] = (table.headers[plan.per], describe_operation(table, plan, language))
        lines = ((label, _plain(value)) for label, value in result.values)
    else:
        headers, lines = table.headers, (table.cells(row) for row in result.rows)
    written = io.StringIO(newline="")
    writer = csv.writer(written)  # lines end in CR LF, cells are quoted where they must be
    writer.writerows([escape_formula(cell) for cell in line] for line in (headers, *lines))
    return BYTE_ORDER_MARK + written.getvalue()


def _plain(value: float) -> str:
    number = round(value, DECIMALS)
    return str(int(number)) if number.is_integer() else str(number)


def escape_formula(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula (OWASP, CSV injection); a number is none."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell

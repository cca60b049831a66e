"""All rows and groups of a computed answer as CSV."""

import csv
import io
import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import TableUnavailable
from graphrag.models import Collection, Document
from graphrag.table_queries.answers import AnsweredPlan, best_plan
from graphrag.table_queries.exports import (
    BYTE_ORDER_MARK,
    describe_query,
    escape_formula,
    read_query,
    run_query,
    write_csv,
)
from graphrag.table_queries.plans import TableQuery
from graphrag.testing.in_memory_store import InMemoryStore
from tests.graphrag.table_queries.books import INVOICES, SALES, read_book


def find(question: str, language: str = "es", **sheets: Any) -> AnsweredPlan:
    document, _, tables = read_book(sheets or {"Facturas": INVOICES}, language=language)
    found = best_plan(question, [(document, table.to_bytes()) for table in tables], language=language)
    assert found is not None
    return found


def read(text: str) -> list[list[str]]:
    assert text.startswith(BYTE_ORDER_MARK)
    return list(csv.reader(io.StringIO(text[1:], newline="")))


def test_every_row_is_written_not_only_those_that_are_shown() -> None:
    """R8.3, R9.1 With the headers, in the order of the sheet, each line ended as RFC 4180 has it."""
    rows: list[list[Any]] = [["Pedido", "Ventas (€)"], *([f"P-{number}", number] for number in range(1, 31))]
    text = write_csv(find("¿Cuánto es el total de ventas?", Hoja=rows), "es")
    assert read(text) == [[str(cell) for cell in row] for row in rows]
    assert text.count("\r\n") == len(rows) == text.count("\n")


def test_groups_are_written_with_plain_numbers() -> None:
    """R8.3 A program reads them: no unit, a dot before the decimals."""
    text = write_csv(find("¿Cuánto hemos facturado por cliente?"), "es")
    assert read(text) == [
        ["Cliente", "suma de «Importe (€)»"],
        ["Óptica Lledó", "3390"],
        ["Talleres Gómez", "2260.5"],
        ["Panadería Sol", "155.25"],
    ]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("-15", "-15"),
        ("-1.200,50 €", "-1.200,50 €"),
        ("+34 600 123 456", "+34 600 123 456"),
        ("Óptica = Lledó", "Óptica = Lledó"),
    ],
)
def test_no_cell_is_a_formula(cell: str, written: str) -> None:
    """Security 9 OWASP's CSV injection; a negative number stays one."""
    found = find("¿Cuánto es el total de importe?", Hoja=[["Cliente", "Importe (€)"], ["Luna", 5], ["Sol", 7]])
    client, amount = found.table.columns
    table = replace(found.table, columns=[replace(client, header=cell, texts=("", cell, "Sol")), amount])
    header, row, _ = read(write_csv(replace(found, table=table), "es"))
    assert header[0] == row[0] == written


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), min_size=1, max_size=6))
def test_what_is_written_is_read_again(cells: list[str]) -> None:
    """R9.1 Whatever a cell holds: a quote, a comma, a line break; only formulas get an apostrophe."""
    written = io.StringIO(newline="")
    csv.writer(written).writerow([escape_formula(cell) for cell in cells])
    [back] = csv.reader(io.StringIO(written.getvalue(), newline=""))
    assert [cell.removeprefix("'") for cell in back] == [cell.removeprefix("'") for cell in cells]
    assert not any(cell[:1] in "=@\t\r" for cell in back if cell)


@pytest.mark.parametrize(
    "question",
    ["¿Cuánto nos debe Óptica Lledó?", "¿Cuánto hemos facturado por mes?", "¿Qué facturas de febrero están sin pagar?"],
)
def test_a_query_is_the_same_from_json(question: str) -> None:
    """R8.3 As an answer's message stores it."""
    found = find(question)
    query = TableQuery(found.references, found.plan)
    assert read_query(json.loads(json.dumps(describe_query(query)))) == query


class OneBook(InMemoryStore):
    """A store that holds one document with its tables."""

    def __init__(self, document: Document, tables: list[bytes]) -> None:
        super().__init__()
        self.document, self.tables = document, tables

    async def find_documents(self, collection: Collection, **wanted: Any) -> list[Document]:
        return [self.document] if self.document.id in wanted["ids"] else []

    async def read_tables(self, collection: Collection, documents: Any) -> dict[UUID, list[bytes]]:
        return {self.document.id: self.tables}


async def test_a_query_runs_again_over_what_is_stored() -> None:
    """R8.3, R8.4 Two tables joined as well; not over another version of the document."""
    customers = [["Client", "City"], ["Talleres Gómez", "Lyon"], ["Óptica Lledó", "Nîmes"], ["Panadería Sol", "Lyon"]]
    sheets = {"Facturas": INVOICES, "Clientes": customers}
    document, _, tables = read_book(sheets, language="es")
    data = [table.to_bytes() for table in tables]
    found = best_plan("¿Cuánto hemos facturado a clientes de Lyon?", [(document, each) for each in data], language="es")
    assert found is not None
    assert [each.number for each in found.references] == [0, 1]
    collection = Collection(document.id, "local", "libros", "model")
    query = TableQuery(found.references, found.plan)
    again = await run_query(query, store=OneBook(document, data), collections=[collection])
    assert (again.result, again.table.headers) == (found.result, found.table.headers)
    for store in (OneBook(document, []), OneBook(read_book({"F": SALES})[0], data)):
        with pytest.raises(TableUnavailable):
            await run_query(query, store=store, collections=[collection])

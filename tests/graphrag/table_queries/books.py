"""Documents with tables, their chunks and their typed tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.tables.typed_tables import TypedTable, typed_tables
from graphrag.models import Chunk, Document
from graphrag.parsers.parsing import parse
from tests.factories import make_chunk, make_document
from tests.graphrag.parsers.documents import make_xlsx

CHUNK_ROWS = 7  # a table is in several chunks
INVOICES: Sequence[Sequence[Any]] = [
    ["Nº factura", "Cliente", "Fecha", "Vencimiento", "Importe (€)", "Estado"],
    ["F-101", "Talleres Gómez", "2025-01-10", "2025-02-10", 1200.5, "Pagada"],
    ["F-102", "Óptica Lledó", "2025-01-22", "2025-02-22", 300, "Pendiente"],
    ["F-103", "Talleres Gómez", "2025-02-03", "2025-03-03", 450, "Pendiente"],
    ["F-104", "Panadería Sol", "2025-02-17", "2025-03-17", 80.25, "Pagada"],
    ["F-105", "Óptica Lledó", "2025-02-20", "2025-03-20", 990, "Pendiente"],
    ["F-106", "Talleres Gómez", "2025-03-05", "2025-04-05", 610, "Pagada"],
    ["F-107", "Panadería Sol", "2025-03-11", "2025-04-11", 75, "Pendiente"],
    ["F-108", "Óptica Lledó", "2025-03-28", "2025-04-28", 2100, "Pagada"],
    ["Total", None, None, None, 5805.75, None],
]
STOCK: Sequence[Sequence[Any]] = [
    ["Item", "Stock", "Minimum", "Unit price", "Fragile"],
    ["Glass jar", 40, 50, "£1.20", "Yes"],
    ["Oak board", 12, 10, "£14.00", "No"],
    ["Hinge", 300, 120, "£0.80", "No"],
    ["Mirror", 3, 8, "£22.50", "Yes"],
]
SALES: Sequence[Sequence[Any]] = [
    ["Rayon", "Produit", "Janvier", "Février", "Mars", "Total"],
    ["Pains", "Baguette", 100, 120, 90, 310],
    [None, "Seigle", 40, 35, 50, 125],
    ["Gâteaux", "Flan", 60, 80, 20, 160],
    [None, "Éclair", 30, 20, 25, 75],
]


def read_book(
    sheets: Mapping[str, Sequence[Sequence[Any]]], *, filename: str = "libro.xlsx", language: str = "es"
) -> tuple[Document, list[Chunk], list[TypedTable]]:
    """A workbook's document, its chunks, each a few rows with their headers, and its tables."""
    parsed = parse(make_xlsx(sheets), filename=filename, limits=ParsingLimits())
    document = make_document(filename=filename, title=filename.rpartition(".")[0], language=language)
    chunks: list[Chunk] = []
    start = 0
    for table in parsed.tables:
        for first in range(0, len(table.rows), CHUNK_ROWS):
            end = table.rows[min(first + CHUNK_ROWS, len(table.rows)) - 1].end_char
            text = parsed.text[start:end]
            chunks.append(
                make_chunk(
                    text,
                    document=document,
                    index=len(chunks),
                    start_char=start,
                    end_char=end,
                    headers=table.headers,
                    locations=tuple(each for each in parsed.locations if start <= each.start_char < end),
                )
            )
            start = end
    return document, chunks, typed_tables(parsed, document, [chunk.start_char for chunk in chunks])


def read_sheet(rows: Sequence[Sequence[Any]], *, language: str = "es", name: str = "Hoja") -> TypedTable:
    _, _, (table,) = read_book({name: rows}, language=language)
    return TypedTable.from_bytes(table.to_bytes())

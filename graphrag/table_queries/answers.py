"""Answers that are computed from whole tables: the value, what was computed, and the rows that it comes from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from uuid import UUID

from graphrag.extractive_answers.statements import without_marks
from graphrag.extractive_answers.table_answers import row_label
from graphrag.linguistics.cell_values import Number
from graphrag.linguistics.language import labelled
from graphrag.linguistics.numbers import Quantity, write_number, write_quantity
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Chunk, Document, Hit, Passage
from graphrag.table_queries.plans import Aggregate, QueryResult, TablePlan, describe_filter, run_plan
from graphrag.table_queries.reading import read_plan
from graphrag.table_queries.tables import QueryRow, QueryTable, read_tables
from graphrag.table_queries.words import question_rules

SHOWN_ROWS, LISTED_ROWS = 10, 30  # of what a value comes from, of what was asked for
MOST_SHORT = 280  # characters of a short answer
_CENT = Decimal("0.01")
_ISO_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?")


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """`text` is Markdown with marks; passage n has mark n, and is the row n.

    `plan` says what was computed, of `row_count` rows, of which `rows` are the first; they have a cell a header.
    """

    text: str
    passages: tuple[Passage, ...]
    plan: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_count: int


def table_documents(hits: Sequence[Hit]) -> list[Document]:
    """Return the documents whose tables the hits are of, the best first."""
    of_tables = (hit.chunk for hit in hits if hit.chunk.headers or any(each.cells for each in hit.chunk.locations))
    found = {chunk.document.id: chunk.document for chunk in of_tables if not chunk.document.is_elsewhere}
    return list(found.values())


def answer_from_tables(
    question: str, documents: Sequence[Document], chunks: Mapping[UUID, Sequence[Chunk]], *, language: str
) -> ComputedAnswer | None:
    """Return the answer that some table gives whose words the question is understood by best; None where none does.

    `chunks`: all of each document.
    """
    best: tuple[int, QueryTable, TablePlan, QueryResult] | None = None
    for document in documents:
        for table in read_tables(document, chunks.get(document.id, ())):
            read = read_plan(question, table, language=language)
            if read and (best is None or read.understood > best[0]) and (result := run_plan(table, read.plan)):
                best = read.understood, table, read.plan, result
    return _write(*best[1:], language=language) if best else None


def _write(table: QueryTable, plan: TablePlan, result: QueryResult, *, language: str) -> ComputedAnswer | None:
    is_listed = plan.aggregate in (Aggregate.LIST, Aggregate.CELL)
    shown = list(dict.fromkeys(result.rows))[: LISTED_ROWS if is_listed else SHOWN_ROWS]
    short, described = _short(table, plan, result, language), _describe(table, plan, result, language)
    # A name may be of a row that is not shown.
    if not short or any(map(find_instructions, (short, described, *(row.text for row in shown)))):
        return None
    computed = f"**{without_marks(short)}** — {without_marks(described)}."
    rows = [f"{without_marks(row.text)} [{number}]" for number, row in enumerate(shown, start=1)]
    if plan.aggregate is Aggregate.CELL or not rows:
        lines = [f"{computed} [1]"] if rows else [computed]
    else:
        lines = [computed, *(f"- {row}" for row in rows)]
    if (more := len(set(result.rows)) - len(shown)) > 0:
        lines.append(f"- {question_rules().words[language]['more'].format(n=write_number(more, language))}")
    passages = tuple(_passage(table, row, computed) for row in shown)
    cells = tuple(row.cells for row in shown)
    return ComputedAnswer("\n".join(lines), passages, described, table.headers, cells, len(set(result.rows)))


def _passage(table: QueryTable, row: QueryRow, computed: str) -> Passage:
    return Passage(
        document=table.document,
        chunk_index=row.chunk_index,
        start_char=row.start_char,
        end_char=row.end_char,
        content=row.text,
        matches=((row.start_char, row.end_char),),
        score=1.0,
        locations=row.locations,
        headers=row.headers,
        computed=computed,
    )


def _short(table: QueryTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    labels = [_label(label, language) for label, _ in result.values]
    match plan.aggregate:
        case Aggregate.LIST:
            text = ", ".join(labels)
            return text if len(text) <= MOST_SHORT else f"{text[:MOST_SHORT].rpartition(', ')[0]}…"
        case Aggregate.CELL:
            return _cell(table, plan, result, language)
        case Aggregate.MAXIMUM | Aggregate.MINIMUM:
            return _number(table, plan, result.values[0][1], language) if plan.asks_value else ", ".join(labels)
        case Aggregate.DIFFERENCE:
            return _number(table, plan, result.values[0][1] - result.values[1][1], language)
    return _number(table, plan, result.values[0][1], language)


def _label(cell: str, language: str) -> str:
    """Return a cell as its table writes it; a date of a spreadsheet in words."""
    return row_label(cell, language) if _ISO_DATE.fullmatch(cell) else cell


def _cell(table: QueryTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    column = table.columns[plan.column or 0]
    cell = result.values[0][0]
    row = next(number for number, row in enumerate(table.rows) if row == result.rows[0])
    value = column.numbers[row]
    return _label(cell, language) if value is None or column.unit else _number(table, plan, value, language)


def _number(table: QueryTable, plan: TablePlan, value: Number, language: str) -> str:
    """Write a value with the unit of its column."""
    rounded = float(Decimal(str(value)).quantize(_CENT, ROUND_HALF_UP))
    if plan.aggregate is Aggregate.SHARE:
        return write_quantity(Quantity(rounded, rounded, "%"), language)
    unit = table.columns[plan.column].unit if plan.column is not None else ""
    unit = unit or next((sign for sign in "€$£%" if plan.column is not None and sign in table.headers[plan.column]), "")
    return write_quantity(Quantity(rounded, rounded, unit), language)


def _describe(table: QueryTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    """Return what was computed, of which rows: «suma de «Importe» donde Estado = Pendiente (7 de 31 filas)»."""
    words = question_rules().words[language]
    column = table.headers[plan.column] if plan.column is not None else ""
    name = {Aggregate.CELL: "cell", Aggregate.COUNT: "count", Aggregate.LIST: "count"}.get(
        plan.aggregate, plan.aggregate
    )
    if plan.aggregate is Aggregate.SHARE and plan.column is None:
        name = "count_share"
    if plan.column is None and plan.aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM):
        name = "count"
    said = words[name].format(column=column)
    if plan.aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM) or plan.alternatives:
        compared = ", ".join(
            labelled(_label(label, language), _said(table, plan, value, language), language)
            for label, value in result.values
        )
        said = f"{compared} ({said})"
    if plan.filters:
        said += f" {words['where']} {'; '.join(describe_filter(table, each) for each in plan.filters)}"
    count = len(set(result.rows))
    return f"{said} ({words['rows'].format(n=write_number(count, language), all=write_number(result.of, language))})"


def _said(table: QueryTable, plan: TablePlan, value: Number, language: str) -> str:
    if plan.column is not None and table.columns[plan.column].is_time:
        return row_label(date.fromordinal(int(value)).isoformat(), language)
    return _number(table, plan, value, language)

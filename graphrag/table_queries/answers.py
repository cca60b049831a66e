"""Answers that are computed from whole tables: the value, what was computed, and the rows that it comes from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from math import isnan
from uuid import UUID

from graphrag.extractive_answers.statements import without_marks
from graphrag.extractive_answers.table_answers import row_label
from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.linguistics.language import fold, labelled
from graphrag.linguistics.numbers import Quantity, write_number, write_quantity
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Chunk, Document, Passage
from graphrag.parsers.source_locations import overlapping
from graphrag.table_queries.plans import Aggregate, QueryResult, TablePlan, describe_filter, run_plan, select_rows
from graphrag.table_queries.reading import asks_to_compute, read_plan
from graphrag.table_queries.scoring import likely_plan
from graphrag.table_queries.words import QuestionReading, question_rules

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


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """`is_of_rows`: no plan was found, and no row is named that would answer by itself."""

    computed: ComputedAnswer | None
    is_of_rows: bool = False


@dataclass(frozen=True, slots=True)
class AnsweredPlan:
    """A plan that a document's table answers, and what it gives."""

    document: Document
    table: TypedTable
    plan: TablePlan
    result: QueryResult

    @property
    def shown(self) -> list[int]:
        """The rows that the answer shows, each line of the document once."""
        rows = {self.table.starts[row]: row for row in reversed(self.result.rows)}
        is_listed = self.plan.aggregate in (Aggregate.LIST, Aggregate.CELL)
        return list(reversed(rows.values()))[: LISTED_ROWS if is_listed else SHOWN_ROWS]

    @property
    def spans(self) -> list[tuple[UUID, int, int]]:
        """The chunks that these rows are of, as `read_chunks` wants them."""
        chunks = sorted({int(self.table.chunks[row]) for row in self.shown})
        return [(self.document.id, chunk, chunk) for chunk in chunks]


def best_plan(question: str, tables: Sequence[tuple[Document, bytes]], *, language: str) -> AnsweredPlan | None:
    """Return the plan of the table by which the question is understood best; None where none gives an answer."""
    read = [(document, TypedTable.from_bytes(data)) for document, data in tables]
    best: tuple[float, AnsweredPlan] | None = None
    for document, table in read:
        found = read_plan(question, table, language=language)
        if found and (best is None or found.understood > best[0]) and (result := run_plan(table, found.plan)):
            best = found.understood, AnsweredPlan(document, table, found.plan, result)
    for document, table in () if best else [pair for pair in read if pair[0] is read[0][0]]:
        likely = likely_plan(question, table, language=language)
        if likely and (best is None or likely.score > best[0]):
            best = likely.score, AnsweredPlan(document, table, likely.plan, likely.result)
    return best[1] if best else None


def is_told_by_text(question: str, tables: Sequence[tuple[Document, bytes]], *, language: str) -> bool:
    """Return whether a question without a plan may be answered by what is written in the document of the tables.

    By a row, if the values that it names are of one alone; by the sentences on changes that are computed beside it.
    """
    if question_rules().changed.search(fold(question)):
        return True
    if asks_to_compute(question):
        return False
    readings = (QuestionReading(question, language, TypedTable.from_bytes(data)) for _, data in tables)
    named = ((reading.table, tuple(each for each, _ in reading.values)) for reading in readings)
    return any(filters and len(select_rows(table, filters)) == 1 for table, filters in named)


def write_answer(found: AnsweredPlan, chunks: Sequence[Chunk], *, language: str) -> ComputedAnswer | None:
    """Return the answer in words; None where a row is an order to a model, or is in its document no more."""
    table, plan, result = found.table, found.plan, found.result
    short, described = _short(table, plan, result, language), _describe(table, plan, result, language)
    computed = f"**{without_marks(short)}** — {without_marks(described)}."
    by_index = {chunk.index: chunk for chunk in chunks}
    passages = [
        _passage(by_index[int(table.chunks[row])], int(table.starts[row]), int(table.ends[row]), computed)
        for row in found.shown
        if int(table.chunks[row]) in by_index
    ]
    texts = [_row_text(passage.content, table, row) for passage, row in zip(passages, found.shown, strict=False)]
    # A name may be of a row that is not shown.
    if not short or len(passages) < len(found.shown) or any(map(find_instructions, (short, described, *texts))):
        return None
    rows = [f"{without_marks(text)} [{number}]" for number, text in enumerate(texts, start=1)]
    if plan.aggregate is Aggregate.CELL or not rows:
        lines = [f"{computed} [1]"] if rows else [computed]
    else:
        lines = [computed, *(f"- {row}" for row in rows)]
    row_count = len(set(table.starts[list(result.rows)].tolist()))
    if (more := row_count - len(rows)) > 0:
        lines.append(f"- {question_rules().words[language]['more'].format(n=write_number(more, language))}")
    cells = tuple(table.cells(row) for row in found.shown)
    return ComputedAnswer("\n".join(lines), tuple(passages), described, table.headers, cells, row_count)


def _passage(chunk: Chunk, start: int, end: int, computed: str) -> Passage:
    content = chunk.content[start - chunk.start_char : end - chunk.start_char]
    end = start + len(content)  # a long row goes on in the next chunk
    return Passage(
        document=chunk.document,
        chunk_index=chunk.index,
        start_char=start,
        end_char=end,
        content=content,
        matches=((start, end),),
        score=1.0,
        locations=overlapping(chunk.locations, start, end)[:1],
        headers=chunk.headers,
        computed=computed,
    )


def _row_text(content: str, table: TypedTable, row: int) -> str:
    """Return a row as it is read: one of Markdown with the names of its cells, as those of sheets have them."""
    if not content.startswith("|"):
        return content
    return "; ".join(f"{column.header}: {column.cell(row)}" for column in table.columns if column.cell(row))


def _short(table: TypedTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    labels = [_label(label, language) for label, _ in result.values]
    if plan.per is not None:
        return _listed(
            labelled(label, _number(table, plan, value, language), language)
            for label, (_, value) in zip(labels, result.values, strict=True)
        )
    match plan.aggregate:
        case Aggregate.LIST:
            return _listed(labels)
        case Aggregate.CELL:
            return _cell(table, plan, result, language)
        case Aggregate.MAXIMUM | Aggregate.MINIMUM:
            return _number(table, plan, result.values[0][1], language) if plan.asks_value else ", ".join(labels)
        case Aggregate.DIFFERENCE:
            return _number(table, plan, result.values[0][1] - result.values[1][1], language)
    return _number(table, plan, result.values[0][1], language)


def _listed(texts: Iterable[str]) -> str:
    text = ", ".join(texts)
    return text if len(text) <= MOST_SHORT else f"{text[:MOST_SHORT].rpartition(', ')[0]}…"


def _label(cell: str, language: str) -> str:
    """Return a cell as its table writes it; a date of a spreadsheet in words."""
    return row_label(cell, language) if _ISO_DATE.fullmatch(cell) else cell


def _cell(table: TypedTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    column = table.columns[plan.column or 0]
    cell = result.values[0][0]
    value = float(column.numbers[result.rows[0]])
    return _label(cell, language) if isnan(value) or column.unit else _number(table, plan, value, language)


def _number(table: TypedTable, plan: TablePlan, value: float, language: str) -> str:
    """Write a value with the unit of its column."""
    rounded = float(Decimal(str(value)).quantize(_CENT, ROUND_HALF_UP))
    if plan.aggregate is Aggregate.SHARE:
        return write_quantity(Quantity(rounded, rounded, "%"), language)
    unit = table.columns[plan.column].unit if plan.column is not None else ""
    unit = unit or next((sign for sign in "€$£%" if plan.column is not None and sign in table.headers[plan.column]), "")
    return write_quantity(Quantity(rounded, rounded, unit), language)


def _describe(table: TypedTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    """Return what was computed, of which rows: «suma de «Importe» donde Estado = Pendiente (7 de 31 filas)»."""
    words = question_rules().words[language]
    column = table.headers[plan.column] if plan.column is not None else ""
    names: dict[Aggregate, str] = {Aggregate.CELL: "cell", Aggregate.COUNT: "count", Aggregate.LIST: "count"}
    name = names.get(plan.aggregate, plan.aggregate)
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
    if plan.step:
        said += f", {words[plan.step]}"
    if plan.per is not None:
        said += words["per"].format(column=table.headers[plan.per])
    if plan.filters:
        said += f" {words['where']} {'; '.join(describe_filter(table, each) for each in plan.filters)}"
    count, of = (write_number(number, language) for number in (len(set(result.rows)), len(table)))
    return f"{said} ({words['rows'].format(n=count, all=of)})"


def _said(table: TypedTable, plan: TablePlan, value: float, language: str) -> str:
    if plan.column is not None and table.columns[plan.column].is_time:
        return row_label(date.fromordinal(int(value)).isoformat(), language)
    return _number(table, plan, value, language)

"""Answers that are computed from whole tables: the value, what was computed, and the rows that it comes from."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
from graphrag.table_queries.columns import currency_column, in_one_currency, is_money_column, mixed_currencies
from graphrag.table_queries.joins import join_tables, reads_joined
from graphrag.table_queries.plans import (
    Aggregate,
    PeriodChange,
    QueryResult,
    TablePlan,
    TableQuery,
    TableReference,
    are_days,
    describe_filter,
    run_plan,
    select_rows,
)
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

    `plan` says what was computed, of `row_count` rows, of which `rows` are the first, or the first of `group_count`
    groups with their values; they have a cell a header. `values` are the groups' numbers, `is_series` if they are of
    periods, in order.
    """

    text: str
    passages: tuple[Passage, ...]
    plan: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_count: int
    query: TableQuery
    values: tuple[float, ...] = ()
    group_count: int | None = None
    is_series: bool = False


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """`is_of_rows`: no plan was found, and no row and no text of the sheet would answer by itself."""

    computed: ComputedAnswer | None
    is_of_rows: bool = False
    note: str = ""  # why, of a question that is of rows


@dataclass(frozen=True, slots=True)
class AnsweredPlan:
    """A plan that a document's table answers, and what it gives."""

    document: Document
    table: TypedTable
    plan: TablePlan
    result: QueryResult
    references: tuple[TableReference, ...]  # of the table, and of one that is joined to it

    @property
    def is_series(self) -> bool:
        """Return whether there is a value for each of several periods, in order, none left out."""
        is_of_time = self.plan.per is not None and self.table.columns[self.plan.per].is_time
        return bool(self.result.groups) and is_of_time and self.plan.change in (None, PeriodChange.EACH)

    @property
    def shown(self) -> list[int]:
        """The rows that the answer shows, each line of the document once; of a value for each, the first of each."""
        if self.result.groups:
            return [rows[0] for rows in self.result.groups[:LISTED_ROWS]]
        rows = {self.table.starts[row]: row for row in reversed(self.result.rows)}
        is_listed = self.plan.aggregate in (Aggregate.LIST, Aggregate.CELL)
        return list(reversed(rows.values()))[: LISTED_ROWS if is_listed else SHOWN_ROWS]

    @property
    def spans(self) -> list[tuple[UUID, int, int]]:
        """The chunks that these rows are of, as `read_chunks` wants them."""
        chunks = sorted({int(self.table.chunks[row]) for row in self.shown})
        return [(self.document.id, chunk, chunk) for chunk in chunks]


def best_plan(
    question: str, tables: Sequence[tuple[Document, bytes]], *, language: str, only_sure: bool = False
) -> AnsweredPlan | None:
    """Return the plan of the table by which the question is understood best; None where none gives an answer.

    Two tables are joined where the question is understood better so. Unless `only_sure`, the likeliest of the first
    document where a word is left in all.
    """
    read = [(document, TypedTable.from_bytes(data)) for document, data in tables]
    refer = refer_to_tables([document for document, _ in read])
    alone = [(*pair, pair[1], (reference,)) for pair, reference in zip(read, refer, strict=True)]
    joined = (
        (*read[number], table, (refer[number], refer[other]))
        for number, other, table in join_tables([table for _, table in read])
    )
    best: tuple[float, AnsweredPlan] | None = None
    for document, own, table, references in (*alone, *joined):
        found = read_plan(question, table, language=language)
        is_better = found and (best is None or found.understood > best[0])
        is_needed = found and (table is own or reads_joined(found.plan, len(own.columns)))
        plan = in_one_currency(table, found.plan) if found and is_better and is_needed else None
        if found and plan and (result := run_plan(table, plan)):
            best = found.understood, AnsweredPlan(document, table, plan, result, references)
    of_first = [each for each in alone if each[0] is read[0][0]]
    for document, table, _, references in () if best or only_sure else of_first:
        likely = likely_plan(question, table, language=language)
        is_whole = likely is not None and in_one_currency(table, likely.plan) == likely.plan
        if likely and is_whole and (best is None or likely.score > best[0]):
            best = likely.score, AnsweredPlan(document, table, likely.plan, likely.result, references)
    return best[1] if best else None


def refer_to_tables(documents: Sequence[Document]) -> list[TableReference]:
    """Return the reference of each table, given its document; tables of a document follow each other in its order."""
    counts: Counter[UUID] = Counter()
    references = []
    for document in documents:
        references.append(TableReference(document.id, document.content_hash, counts[document.id]))
        counts[document.id] += 1
    return references


def is_of_sheet(question: str, tables: Sequence[tuple[Document, bytes]], *, language: str) -> bool:
    """Return whether a question without a plan is about a document's sheets, of which no text answers it.

    A row may, if the values that the question names are of one alone, and so may the changes that are told beside a
    sheet.
    """
    read = [table for table in (TypedTable.from_bytes(data) for _, data in tables) if table.is_sheet]
    if not read or question_rules().changed.search(fold(question)):
        return False
    if asks_to_compute(question):
        return True
    readings = (QuestionReading(question, language, table) for table in read)
    named = ((reading.table, tuple(each for each, _ in reading.values)) for reading in readings)
    return not any(filters and len(select_rows(table, filters)) == 1 for table, filters in named)


def explain_no_plan(table: TypedTable, language: str) -> str:
    """Return which columns there are, or which one has amounts of several currencies, for a question without a plan."""
    words = question_rules().words[language]
    currency = currency_column(table)
    for column in table.columns:
        found = mixed_currencies(column)
        if not found and currency is not None and column.role and not column.unit and is_money_column(column):
            found = tuple(table.columns[currency].values)
        if len(found) > 1:
            return words["currencies"].format(column=column.header, currencies=_listed(found))
    return words["columns"].format(columns=_listed(column.header for column in table.columns))


def write_answer(found: AnsweredPlan, chunks: Sequence[Chunk], *, language: str) -> ComputedAnswer | None:
    """Return the answer in words; None where a row is an order to a model, or is in its document no more."""
    table, plan, result = found.table, found.plan, found.result
    short, described = _short(table, plan, result, language), _describe(table, plan, result, language)
    computed = f"**{without_marks(short)}** — {without_marks(described)}."
    by_index = {chunk.index: chunk for chunk in chunks}
    groups = _groups(found, language)
    told = [f"{computed}\n{labelled(*group, language)}" for group in groups] or [computed] * len(found.shown)
    passages = [
        _passage(by_index[int(table.chunks[row])], int(table.starts[row]), int(table.ends[row]), said)
        for row, said in zip(found.shown, told, strict=True)
        if int(table.chunks[row]) in by_index
    ]
    texts = [_row_text(passage.content, table, row) for passage, row in zip(passages, found.shown, strict=False)]
    # A name may be of a row that is not shown.
    if not short or len(passages) < len(found.shown) or any(map(find_instructions, (short, described, *texts))):
        return None
    said = [labelled(*group, language) for group in groups] or texts
    rows = [f"{without_marks(text)} [{number}]" for number, text in enumerate(said, start=1)]
    if plan.aggregate is Aggregate.CELL or not rows:
        lines = [f"{computed} [1]"] if rows else [computed]
    else:
        lines = [computed, *(f"- {row}" for row in rows)]
    row_count = len(set(table.starts[list(result.rows)].tolist()))
    if (more := (len(result.groups) or row_count) - len(rows)) > 0:
        lines.append(f"- {question_rules().words[language]['more'].format(n=write_number(more, language))}")
    headers, cells = table.headers, tuple(table.cells(row) for row in found.shown)
    if groups and plan.per is not None:
        headers, cells = (table.headers[plan.per], describe_operation(table, plan, language)), tuple(groups)
    return ComputedAnswer(
        "\n".join(lines),
        tuple(passages),
        described,
        headers,
        cells,
        row_count,
        TableQuery(found.references, plan),
        tuple(value for _, value in result.values[: len(groups)]),
        len(result.groups) or None,
        is_series=found.is_series,
    )


def tells_more(line: str) -> bool:
    """Return whether a line tells how many rows more there are, in any language: no document states that."""
    for before, _, after in (words["more"].partition("{n}") for words in question_rules().words.values()):
        number = line.strip().removeprefix(before).removesuffix(after)
        if line.strip() == f"{before}{number}{after}" and not re.search(r"[^\W\d]", number):
            return True
    return False


def _groups(found: AnsweredPlan, language: str) -> list[tuple[str, str]]:
    """Return what each has of which a value is asked for each, as far as it is shown."""
    values = found.result.values if found.result.groups else ()
    return [
        (_label(label, language), _number(found.table, found.plan, value, language))
        for label, value in values[:LISTED_ROWS]
    ]


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
            (
                labelled(label, _number(table, plan, value, language), language)
                for label, (_, value) in zip(labels, result.values, strict=True)
            ),
            "; ",  # numbers have commas
        )
    match plan.aggregate:
        case Aggregate.LIST:
            return _listed(labels)
        case Aggregate.CELL:
            return _cell(table, plan, result, language)
        case Aggregate.MAXIMUM | Aggregate.MINIMUM:
            return _number(table, plan, result.values[0][1], language) if plan.asks_value else ", ".join(labels)
        case Aggregate.DIFFERENCE if plan.change:
            (_, before), (_, after) = result.values
            change = 100 * (after - before) / before if plan.in_percent else after - before
            return _number(table, plan, change, language)
        case Aggregate.DIFFERENCE if not plan.asks_value:
            return labels[0]
        case Aggregate.DIFFERENCE:
            return _number(table, plan, result.values[0][1] - result.values[1][1], language)
    return _number(table, plan, result.values[0][1], language)


def _listed(texts: Iterable[str], between: str = ", ") -> str:
    text = between.join(texts)
    return text if len(text) <= MOST_SHORT else f"{text[:MOST_SHORT].rpartition(between)[0]}…"


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
    sign = "+" if plan.change and rounded > 0 else ""
    if plan.aggregate is Aggregate.SHARE or plan.in_percent:
        return sign + write_quantity(Quantity(rounded, rounded, "%"), language)
    unit = table.columns[plan.column].unit if plan.column is not None else ""
    unit = unit or next((sign for sign in "€$£%" if plan.column is not None and sign in table.headers[plan.column]), "")
    return sign + write_quantity(Quantity(rounded, rounded, unit), language)


def _describe(table: TypedTable, plan: TablePlan, result: QueryResult, language: str) -> str:
    """Return what was computed, of which rows: «suma de «Importe» donde Estado = Pendiente (7 de 31 filas)»."""
    words = question_rules().words[language]
    said = describe_operation(table, plan, language)
    if plan.aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM) or plan.alternatives:
        of_each = replace(plan, change=None, in_percent=False)
        compared = "; ".join(
            labelled(_label(label, language), _said(table, of_each, value, language), language)
            for label, value in result.values
        )
        said = f"{compared} ({said})"
    if plan.step:
        said += f", {words[plan.step]}"
    if plan.per is not None:
        said += words["per"].format(column=table.headers[plan.per])
    if filters := (*plan.filters, *(plan.base if plan.change else ())):
        said += f" {words['where']} {'; '.join(describe_filter(table, each) for each in filters)}"
    count, of = (write_number(number, language) for number in (len(set(result.rows)), len(table)))
    return f"{said} ({words['rows'].format(n=count, all=of)})"


def describe_operation(table: TypedTable, plan: TablePlan, language: str) -> str:
    """Return what was computed, of which column: «suma de «Importe»»."""
    words = question_rules().words[language]
    column = table.headers[plan.column] if plan.column is not None else ""
    if plan.arithmetic:
        operation, other = plan.arithmetic
        column += f" {operation} {table.headers[other]}"
    names: dict[Aggregate, str] = {Aggregate.CELL: "cell", Aggregate.COUNT: "count", Aggregate.LIST: "count"}
    name = names.get(plan.aggregate, plan.aggregate)
    if plan.aggregate is Aggregate.SHARE and plan.column is None:
        name = "count_share"
    if plan.column is None and plan.aggregate in (Aggregate.MAXIMUM, Aggregate.MINIMUM):
        name = "count"
    if plan.change:
        name = f"change_{plan.change}"
    said = words[name].format(column=column)
    said = words["greatest"].format(changes=said) if plan.is_greatest else said
    return said + words["in_percent"] if plan.in_percent else said


def _said(table: TypedTable, plan: TablePlan, value: float, language: str) -> str:
    if are_days(table, plan):
        return row_label(date.fromordinal(int(value)).isoformat(), language)
    return _number(table, plan, value, language)

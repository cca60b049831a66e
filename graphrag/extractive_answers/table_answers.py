"""Tables in the evidence: their rows, their columns of numbers, and what is late."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import groupby, pairwise

from graphrag.extractive_answers.statements import Excerpt
from graphrag.linguistics.cell_values import Number, read_numbers, read_periods
from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import fold
from graphrag.linguistics.numbers import Quantity, write_number, write_quantity
from graphrag.linguistics.periods import Period, name, of_day
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, read_rules
from graphrag.linguistics.sentences import plain
from graphrag.models import Table, TableRow
from graphrag.parsers.markdown_tables import read_markdown_tables
from graphrag.parsers.source_locations import named_cells


class TableAnswerRules(Rules):
    late_asked: AnyCase
    listed: AnyCase
    late_cause: AnyCase
    due: Pattern
    done: Pattern
    state: Pattern
    is_open: Pattern
    is_done: Pattern
    is_dropped: Pattern
    sentences: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def _rules() -> TableAnswerRules:
    return read_rules(TableAnswerRules, "graphrag.extractive_answers", "table_answers")


@dataclass(frozen=True, slots=True)
class Late:
    row: int  # of those given, from 0
    due: date
    done: date | None
    days: int


@dataclass(frozen=True, slots=True)
class _Columns:
    due: int
    done: int | None
    state: int | None


def asks_what_is_late(question: str) -> bool:
    """Return whether the question asks for late items, not for the reason."""
    return bool(
        _rules().late_asked.search(question) and _rules().listed.search(question)
    ) and not _rules().late_cause.search(question)


def late_rows(headers: Sequence[str], rows: Sequence[Mapping[int, str]], *, today: date, language: str) -> list[Late]:
    """Return the rows (header's number → text) that were done late, or are open and due.

    The table must say by a date or a state what is done. Cancelled rows are not late.
    """
    columns = _date_columns(headers)
    if columns is None:
        return []
    due, done = _dates(rows, columns.due, language), _dates(rows, columns.done, language)
    found = []
    for index, row in enumerate(rows):
        is_unread = columns.done is not None and columns.done in row and index not in done
        state = fold(row.get(columns.state, "")) if columns.state is not None else ""
        late = None if is_unread else _late(index, due.get(index), done.get(index), state, today)
        if late:
            found.append(late)
    return sorted(found, key=lambda late: (late.done is not None, late.due))


def _late(row: int, due: date | None, done: date | None, state: str, today: date) -> Late | None:
    if due is None or _rules().is_dropped.search(state):
        return None
    if done:
        return Late(row, due, done, (done - due).days) if done > due else None
    is_done = _rules().is_done.search(state) and not _rules().is_open.search(state)
    return Late(row, due, None, (today - due).days) if today > due and not is_done else None


def _date_columns(headers: Sequence[str]) -> _Columns | None:
    folded = [fold(header) for header in headers]
    state = next((place for place, header in enumerate(folded) if _rules().state.search(header)), None)
    due = [place for place, header in enumerate(folded) if _rules().due.search(header)]
    done = [place for place, header in enumerate(folded) if _rules().done.search(header) and place not in (*due, state)]
    dated = [place for place in done if re.search(r"\b(?:fecha|date|dia|jour|day|el|le|on)\b", folded[place])] or done
    if due and (dated or state is not None):
        return _Columns(due[0], dated[0] if dated else None, state)
    if dated and state is not None:  # «Fecha de entrega» beside «Estado» is when it is to be delivered
        return _Columns(dated[0], None, state)
    return None


def say_late(late: Late, *, today: date, language: str) -> str:
    """«13 días de retraso el 2 de febrero de 2026», as of today where it is still open."""
    one, many, still, was = _rules().sentences[language]
    days = (one if late.days == 1 else many).format(days=late.days)
    return (was if late.done else still).format(days=days, today=name(of_day(today), language))


def _dates(rows: Sequence[Mapping[int, str]], column: int | None, language: str) -> dict[int, date]:
    if column is None:
        return {}
    periods = read_periods({row.get(column, "") for row in rows} - {""}, language=language)
    days = {text: period.first_day for text, period in periods.items() if period.unit == "day"}
    return {index: day for index, row in enumerate(rows) if (day := days.get(row.get(column, "")))}


@dataclass(frozen=True, slots=True)
class SeenRow:
    text: str  # as a reader is shown it
    cells: dict[int, str]  # by the number of their header


@dataclass(frozen=True, slots=True)
class SeenTable:
    excerpt: Excerpt
    headers: tuple[str, ...]
    rows: tuple[SeenRow, ...]


def tables(excerpt: Excerpt) -> list[SeenTable]:
    """Return the tables that the excerpt holds a part of."""
    return list(_of_sheet(excerpt) if excerpt.headers else _of_markdown(excerpt))


def _of_sheet(excerpt: Excerpt) -> Iterator[SeenTable]:
    lines = [excerpt.text[span.start : span.end].strip() for span in excerpt.sentences]
    read = [SeenRow(line, {number: value for number, _, value in named_cells(line, excerpt.headers)}) for line in lines]
    for is_row, rows in groupby(read, key=lambda row: bool(row.cells)):
        if is_row:
            yield SeenTable(excerpt, excerpt.headers, tuple(rows))


def _of_markdown(excerpt: Excerpt) -> Iterator[SeenTable]:
    for table in read_markdown_tables(excerpt.text):
        yield SeenTable(excerpt, table.headers, tuple(SeenRow(_named(table, row), _texts(row)) for row in table.rows))


def markdown_rows(text: str) -> dict[str, str]:
    """Return the display text of each row of the Markdown tables but their headers, by the row without its bars."""
    shown: dict[str, str] = {}
    for table in read_markdown_tables(text):
        shown[" · ".join(table.headers)] = ""
        shown |= {plain(text[row.start_char : row.end_char]): _named(table, row) for row in table.rows}
    return shown


def _named(table: Table, row: TableRow) -> str:
    """«Mes: junio; Ventas: 120»: as the rows of a spreadsheet are written."""
    cells = zip(table.headers, row.values, strict=False)
    return "; ".join(f"{header}: {cell}" if header else str(cell) for header, cell in cells if cell)


def _texts(row: TableRow) -> dict[int, str]:
    return {number: str(cell or "") for number, cell in enumerate(row.values)}


MIN_ROWS = 2
_YEARS = frozenset(("ano", "annee", "an", "year"))  # headers whose numbers are no amounts
_TOTAL_ROW = re.compile(r"(?:sub-?|gran |grand |sous-?)?(?:total|suma|sum|somme|media|promedio|moyenne|average|mean)")
_SIGN = re.compile(r"[€£$%]")
_UNIT = re.compile(r"\(([^\W\d][^\s()]{0,7})\)")


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    rows: tuple[SeenRow, ...]  # without totals
    values: tuple[Number, ...]
    total: SeenRow | None
    number: int  # of its header
    labels: int  # number of the header of what names the rows

    def write(self, value: float, language: str) -> str:
        """Return the value with the unit of its header: «Ventas (€)», «2025 (kWh)»."""
        sign, unit = _SIGN.search(self.header), _UNIT.search(self.header)
        if sign or not unit:
            return write_quantity(Quantity(value, value, sign[0] if sign else ""), language)
        return f"{write_number(value, language)} {unit[1]}"


def is_total(label: str) -> bool:
    return _TOTAL_ROW.match(fold(label)) is not None


def _values(rows: Sequence[SeenRow], number: int, language: str) -> tuple[Number, ...]:
    """Empty where a row has none, or dates."""
    texts = [row.cells.get(number, "") for row in rows]
    if any(parse_period(text) and not text.isdecimal() for text in texts):
        return ()
    read = read_numbers(set(texts), language=language).values
    return tuple(read[text] for text in texts) if all(text in read for text in texts) else ()


def row_label(cell: str, language: str) -> str:
    """«Diciembre de 2025» where it is the first day of a month."""
    period: Period | None = parse_period(cell)
    if period is None:
        return cell
    day = period.first_day
    of_month = period.within("month") if period.unit == "day" and day and day.day == 1 else None
    text = name(of_month or period, language)
    return text[:1].upper() + text[1:]


def numeric_columns(table: SeenTable) -> list[_Column]:
    """Return the columns of numbers, but of years and row numbers; the first other column names their rows."""
    rows = tuple(row for row in table.rows if not is_total(row.cells.get(0, "")))
    if len(rows) < MIN_ROWS:
        return []
    values = {number: _values(rows, number, table.excerpt.language) for number in range(len(table.headers))}
    labels = next((number for number, found in values.items() if not found), 0)
    totals = [row for row in table.rows if row not in rows]
    return [
        _Column(table.headers[number], rows, found, totals[0] if len(totals) == 1 else None, number, labels)
        for number, found in values.items()
        if found and fold(table.headers[number]) not in _YEARS and not _counts_up(found)
    ]


def _counts_up(values: Sequence[Number]) -> bool:
    return all(later - earlier == 1 for earlier, later in pairwise(values))

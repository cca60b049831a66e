"""Answers computed from tables in the evidence: extremes, sums, means, late rows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import groupby, pairwise
from math import fsum, isclose
from typing import Literal

from graphrag.extractive_answers.statements import Excerpt, ExtractedStatement
from graphrag.linguistics.cell_values import Number, read_numbers, read_periods
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import content_words, fold, labelled, stem, words
from graphrag.linguistics.numbers import Quantity, write_number, write_quantity
from graphrag.linguistics.periods import Period, name, of_day
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, read_rules
from graphrag.linguistics.sentences import plain
from graphrag.parsers.source_locations import named_cells

Reckoning = Literal["maximum", "minimum", "total", "mean"]


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
    asked: dict[Reckoning, Pattern]
    of: dict[str, dict[str, str]]


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


_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class SeenRow:
    text: str  # as a reader is shown it
    cells: dict[int, str]  # by the number of their header


@dataclass(frozen=True, slots=True)
class SeenTable:
    excerpt: Excerpt
    headers: tuple[str, ...]
    rows: tuple[SeenRow, ...]


def whole_tables(excerpt: Excerpt) -> list[SeenTable]:
    """Return the tables that neither begin nor end with the excerpt, which may have cut them."""
    return [table for table, is_whole in _read(excerpt) if is_whole]


def tables(excerpt: Excerpt) -> list[SeenTable]:
    """Return the tables that the excerpt holds a part of."""
    return [table for table, _ in _read(excerpt)]


def _read(excerpt: Excerpt) -> Iterator[tuple[SeenTable, bool]]:
    return _of_sheet(excerpt) if excerpt.headers else _of_markdown(excerpt)


def _of_sheet(excerpt: Excerpt) -> Iterator[tuple[SeenTable, bool]]:
    lines = [excerpt.text[span.start : span.end].strip() for span in excerpt.sentences]
    read = [SeenRow(line, {number: value for number, _, value in named_cells(line, excerpt.headers)}) for line in lines]
    blocks = [(is_row, list(rows)) for is_row, rows in groupby(read, key=lambda row: bool(row.cells))]
    for place, (is_row, rows) in enumerate(blocks):
        if is_row:
            begins = place > 0 or excerpt.start_char == 0
            yield SeenTable(excerpt, excerpt.headers, tuple(rows)), begins and place < len(blocks) - 1


def _of_markdown(excerpt: Excerpt) -> Iterator[tuple[SeenTable, bool]]:
    lines = excerpt.text.splitlines()
    for headers, first, last in _markdown_tables(lines):
        rows = [_markdown_row(headers, line) for line in lines[first:last]]
        yield SeenTable(excerpt, headers, tuple(rows)), any(rest.strip() for rest in lines[last:])


def markdown_rows(text: str) -> dict[str, str]:
    """Return the display text of each row of the Markdown tables but their headers, by the row without its bars."""
    lines = text.splitlines()
    shown: dict[str, str] = {}
    for headers, first, last in _markdown_tables(lines):
        shown[plain(lines[first - 2])] = ""
        shown |= {plain(line): _markdown_row(headers, line).text for line in lines[first:last]}
    return shown


def _markdown_tables(lines: list[str]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Headers, and the lines of the rows: the first and the one after the last."""
    for number, line in enumerate(lines[1:], start=1):
        if _RULE.fullmatch(line) and "|" in line and "|" in lines[number - 1]:
            first = last = number + 1
            while last < len(lines) and "|" in lines[last]:
                last += 1
            yield tuple(plain(cell) for cell in _cells(lines[number - 1])), first, last


def _markdown_row(headers: tuple[str, ...], line: str) -> SeenRow:
    """«Mes: junio; Ventas: 120»: as the rows of a spreadsheet are written."""
    cells = [plain(cell) for cell in _cells(line)]
    named = [(header, cell) for header, cell in zip(headers, cells, strict=False) if cell]
    text = "; ".join(f"{header}: {cell}" if header else cell for header, cell in named)
    return SeenRow(text, dict(enumerate(cells[: len(headers)])))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(line.strip().removeprefix("|").removesuffix("|"))]


MIN_ROWS = 2
MAX_TERMS = 24  # of a sum that is written out
_CAUSE = re.compile(r"\bpor que\b|\bpourquoi\b|\bwhy\b|\bhow come\b")
_YEARS = frozenset(("ano", "annee", "an", "year"))  # headers whose numbers are no amounts
_YEAR = re.compile(r"(?:19|20)\d\d")
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


def answer_from_table(question: str, excerpts: Sequence[Excerpt], *, language: str) -> ExtractedStatement | None:
    """Answer from the first table that has the rows and the column that are asked for; None where there is none."""
    asked = _asked(question)
    if asked is None:
        return None
    for excerpt in excerpts:
        columns = [column for table in whole_tables(excerpt) for column in _columns(question, table, asked, language)]
        if len(columns) == 1 and (text := _SAYS[asked](columns[0], asked, excerpt, language)):
            return ExtractedStatement(text, excerpt.number, language, 1.0, is_row=True)
    return None


def _asked(question: str) -> Reckoning | None:
    """One thing alone, and not why."""
    folded = fold(question).replace("’", "'")
    if _CAUSE.search(folded):
        return None
    found = [kind for kind, pattern in _rules().asked.items() if pattern.search(folded)]
    return found[0] if len(found) == 1 else None


def is_total(label: str) -> bool:
    return _TOTAL_ROW.match(fold(label)) is not None


def _columns(question: str, table: SeenTable, asked: Reckoning, language: str) -> Iterator[_Column]:
    """Yield the columns that the question names, if it asks for all rows of the table."""
    rows = [row for row in table.rows if not is_total(row.cells.get(0, ""))]
    if len(rows) < MIN_ROWS or _asks_for_less(question, table, rows):
        return
    wanted = {stem(word, language) for word in content_words(question, language) if word.isalpha()}
    named = [
        number
        for number, header in enumerate(table.headers)
        if wanted & {stem(word, language) for word in words(header)}
    ]
    numeric = {
        number: values
        for number in named
        if fold(table.headers[number]) not in _YEARS and (values := _values(rows, number, table.excerpt.language))
    }
    labels = [number for number in named if number not in numeric]
    best = _most_named(question, table, list(numeric), language)
    if best is None or (asked in ("maximum", "minimum") and len(labels) != 1):
        return
    totals = [row for row in table.rows if row not in rows]
    total = totals[0] if len(totals) == 1 else None
    yield _Column(table.headers[best], tuple(rows), numeric[best], total, best, labels[0] if labels else 0)


def _most_named(question: str, table: SeenTable, numeric: list[int], language: str) -> int | None:
    """The one of which the question has most words: «2025 (kWh)» beside «2024 (kWh)»."""
    wanted = {stem(word, language) for word in words(question)}
    counts = {
        number: len(wanted & {stem(word, language) for word in words(table.headers[number])}) for number in numeric
    }
    best = [number for number in numeric if counts[number] == max(counts.values())]
    return best[0] if len(best) == 1 else None


def _asks_for_less(question: str, table: SeenTable, rows: Sequence[SeenRow]) -> bool:
    """A month, a name or a year that not all of the table is of."""
    asked = words(question)
    held = {fold(word) for word in words(f"{table.excerpt.title} {table.excerpt.text}")}
    named = {fold(word) for word in asked[1:] if word[:1].isupper() or word.isdecimal()}
    years = {int(word) for word in named if _YEAR.fullmatch(word)}
    periods = (parse_period(row.cells.get(0, "")) for row in rows)
    is_of_other_years = bool(years and {period.year for period in periods if period and period.year} - years)
    labels = {fold(word) for row in rows for word in words(row.cells.get(0, "")) if not word.isdecimal()}
    elsewhere = {fold(word) for header in table.headers for word in words(header)}
    is_of_some_rows = {fold(word) for word in asked} & (labels | set(months()) - elsewhere)
    return bool(named - held or is_of_other_years or is_of_some_rows)


def _values(rows: Sequence[SeenRow], number: int, language: str) -> tuple[Number, ...]:
    """Empty where a row has none, or dates."""
    texts = [row.cells.get(number, "") for row in rows]
    if any(parse_period(text) and not text.isdecimal() for text in texts):
        return ()
    read = read_numbers(set(texts), language=language).values
    return tuple(read[text] for text in texts) if all(text in read for text in texts) else ()


def _extreme(column: _Column, asked: Reckoning, excerpt: Excerpt, language: str) -> str | None:
    """The row that has it; where several rows are of one label, the label's with its terms."""
    groups = _by_label(column)
    sums = {label: fsum(values) for label, values in groups.items()}
    best = max(sums.values()) if asked == "maximum" else min(sums.values())
    labels = [label for label, value in sums.items() if isclose(value, best)]
    if len(labels) > 1 or len(groups) < MIN_ROWS:
        return None
    values, of = groups[labels[0]], _rules().of[language][asked].format(column=column.header)
    value = column.write(best, language)
    if len(values) > 1:
        terms = _terms(values, language)
        said = labelled(row_label(labels[0], language), f"{terms} = {value} ({of})", language)
        return f"{said}." if terms else None
    row = next(row for row in column.rows if row.cells.get(column.labels, "") == labels[0])
    return f"{labelled(row_label(labels[0], language), f'{value} ({of})', language)} — {row.text}."


def _by_label(column: _Column) -> dict[str, list[Number]]:
    groups: dict[str, list[Number]] = {}
    for row, value in zip(column.rows, column.values, strict=True):
        groups.setdefault(row.cells.get(column.labels, ""), []).append(value)
    return groups


def row_label(cell: str, language: str) -> str:
    """«Diciembre de 2025» where it is the first day of a month."""
    period: Period | None = parse_period(cell)
    if period is None:
        return cell
    day = period.first_day
    of_month = period.within("month") if period.unit == "day" and day and day.day == 1 else None
    text = name(of_month or period, language)
    return text[:1].upper() + text[1:]


def _total(column: _Column, asked: Reckoning, excerpt: Excerpt, language: str) -> str | None:
    terms, value = _terms(column.values, language), fsum(column.values)
    if terms is None:
        return None
    said = labelled(column.header, f"{terms} = {column.write(value, language)}", language)
    total = _values([column.total], column.number, excerpt.language) if column.total else ()
    is_told = bool(total) and isclose(total[0], value, rel_tol=1e-6)
    return f"{said} — {column.total.text}." if column.total and is_told else f"{said}."


def _mean(column: _Column, asked: Reckoning, excerpt: Excerpt, language: str) -> str | None:
    terms, count = _terms(column.values, language), len(column.values)
    mean = column.write(round(fsum(column.values) / count, 2), language)
    return f"{labelled(column.header, f'({terms}) / {count} = {mean}', language)}." if terms else None


def _terms(values: Sequence[Number], language: str) -> str | None:
    """None where they are too many to be read."""
    return " + ".join(write_number(value, language) for value in values) if len(values) <= MAX_TERMS else None


_SAYS = {"maximum": _extreme, "minimum": _extreme, "total": _total, "mean": _mean}


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

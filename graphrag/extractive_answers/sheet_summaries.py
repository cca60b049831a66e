"""Descriptions of spreadsheets: columns, rows and period, the totals that they state, extremes and counted values."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.summary_candidates import Sheet, SummarySource, summary_rules
from graphrag.extractive_answers.table_answers import SeenTable, is_total, numeric_columns, row_label, tables
from graphrag.linguistics.cell_values import read_periods
from graphrag.linguistics.language import labelled
from graphrag.linguistics.numbers import write_number
from graphrag.linguistics.periods import Unit, name, of_day, spoken
from graphrag.models import Span

MAX_COLUMNS = 8  # that are named
MAX_MEASURES = 2  # columns of which extremes are given
MAX_COUNTED, MIN_COUNTED_ROWS = 6, 5  # different values of a column that are counted


@dataclass(frozen=True, slots=True)
class SheetLine:
    sheet: str
    text: str
    start: int
    end: int
    is_computed: bool


def describe_sheets(document: SummarySource, language: str) -> list[SheetLine]:
    """Return first what every sheet holds, then what can be said of the rows of each, in turns."""
    described = [list(_describe(document, sheet, spoken(language))) for sheet in document.sheets if sheet.rows]
    depth = max(map(len, described), default=0)
    return [lines[place] for place in range(depth) for lines in described if place < len(lines)]


def _describe(document: SummarySource, sheet: Sheet, language: str) -> Iterator[SheetLine]:
    rows, table = _read_table(document, sheet)
    if not table.rows:
        return
    whole = Span(rows[0].start, rows[-1].end)
    places = {document.text[row.start : row.end].strip(): row for row in rows}
    wording = summary_rules().sentences[language]

    def computed(said: str) -> SheetLine:
        return SheetLine(sheet.name, said, whole.start, whole.end, is_computed=True)

    held = [row for row in table.rows if not is_total(row.cells.get(0, ""))]
    count = wording["one_row"] if len(held) == 1 else wording["rows"].format(count=write_number(len(held), language))
    columns = [header for header in sheet.headers if header]
    names = ", ".join(columns[:MAX_COLUMNS]) + (", …" if len(columns) > MAX_COLUMNS else "")
    yield computed(wording["holds"].format(rows=count, columns=names) + _period(table, language))
    for row in table.rows:
        if is_total(row.cells.get(0, "")) and row.text in places:
            yield SheetLine(sheet.name, row.text, places[row.text].start, places[row.text].end, is_computed=False)
    yield from map(computed, _extremes(table, language))
    yield from map(computed, _counts(table, len(held), language))


def last_day(document: SummarySource, today: date) -> date | None:
    """Return the last day, today at most, of which a sheet of the document has a row."""
    days = [day for sheet in document.sheets if sheet.rows for day in _days(_read_table(document, sheet)[1])]
    return max((day for day in days if day <= today), default=None)


def _read_table(document: SummarySource, sheet: Sheet) -> tuple[list[Span], SeenTable]:
    rows = [_trimmed(document.text, row) for row in sheet.rows]
    start = rows[0].start
    spans = tuple(Span(row.start - start, row.end - start) for row in rows)
    text = document.text[start : rows[-1].end]
    excerpt = Excerpt(0, document.title, text, document.language, rows=spans, headers=sheet.headers)
    return rows, SeenTable(excerpt, sheet.headers, tuple(row for part in tables(excerpt) for row in part.rows))


def _trimmed(text: str, row: Span) -> Span:
    written = text[row.start : row.end].rstrip()
    return Span(row.start, row.start + len(written))


def _period(table: SeenTable, language: str) -> str:
    """Return «, de enero de 2025 a diciembre de 2025»; "" where the table has no column of dates."""
    days = _days(table)
    if not days:
        return ""
    key: Unit = "month" if all(day.day == 1 for day in days) else "day"
    first, last = (name(of_day(day).within(key) or of_day(day), language) for day in (min(days), max(days)))
    return summary_rules().sentences[language][f"{key}s"].format(first=first, last=last)


def _days(table: SeenTable) -> list[date]:
    """Return the days of the first column of dates."""
    for number in range(len(table.headers)):
        texts = {row.cells.get(number, "") for row in table.rows} - {""}
        periods = read_periods(texts, language=table.excerpt.language).values()
        days = [period.first_day for period in periods if period.first_day is not None]
        if len(days) > 1 and len(days) >= len(texts) - 1:  # but a total's row
            return days
    return []


def _extremes(table: SeenTable, language: str) -> Iterator[str]:
    wording = summary_rules().sentences[language]["extremes"]
    for column in numeric_columns(table)[:MAX_MEASURES]:
        ranked = sorted(zip(column.values, column.rows, strict=True), key=lambda pair: pair[0])
        if len({value for value, _ in ranked[:2]}) + len({value for value, _ in ranked[-2:]}) < 4:
            continue  # several rows have it
        (lowest, low), (highest, high) = ranked[0], ranked[-1]
        labels = [row_label(row.cells.get(column.labels, ""), language) for row in (low, high)]
        if all(labels):
            yield wording.format(
                column=column.header,
                highest=column.write(highest, language),
                lowest=column.write(lowest, language),
                highest_label=labels[1],
                lowest_label=labels[0],
            )


def _counts(table: SeenTable, count: int, language: str) -> Iterator[str]:
    """Yield how often a column has each of its values, of the column with the fewest of them."""
    columns = []
    for number in range(1, len(table.headers)):
        values = Counter(row.cells.get(number, "") for row in table.rows if not is_total(row.cells.get(0, "")))
        is_wordy = all(value and not any(map(str.isdigit, value)) for value in values)
        if is_wordy and 1 < len(values) <= MAX_COUNTED and count >= MIN_COUNTED_ROWS and 2 * len(values) <= count:
            columns.append((len(values), number, values))
    if columns:
        _, number, counted = min(columns, key=lambda column: column[:2])
        shown = ", ".join(f"{value} {write_number(times, language)}" for value, times in counted.most_common())
        yield labelled(table.headers[number], shown, language)

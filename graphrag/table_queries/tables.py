"""Whole tables of a document, put together again from its stored chunks, with typed columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from babel.dates import format_date

from graphrag.ingestion.tables.columns import Column, Role, total_rows, type_columns
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import fold
from graphrag.models import Chunk, Document, SourceLocation
from graphrag.models.documents import Table, TableRow
from graphrag.parsers.source_locations import named_cells

FEWEST_ROWS = 2
FEWEST_LETTERS = 3  # of an abbreviated month
FEWEST_MONTHS = 3  # columns that are named after months, from which they are values of one column
MOST_FILLED = 0.7  # of a column whose empty cells repeat the one above
NO_YEAR = 2000
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
SHEET = {"es": "Hoja", "fr": "Feuille", "en": "Sheet"}
MONTH = {"es": "Mes", "fr": "Mois", "en": "Month"}
_NUMBERING = re.compile(r"(?:n[º°o.]+|num(?:ero)?|number|id|ref(?:erenc\w+)?|code?|codigo)\b|#")
YEAR = {"es": "Año", "fr": "Année", "en": "Year"}
_SERIES = re.compile(r"(\D{0,20}?)\s*(\d{1,4})")
VALUE = {"es": "Valor", "fr": "Valeur", "en": "Value"}


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A row as its document's text has it, [start_char, end_char), and its cells, "" where there is none."""

    text: str
    start_char: int
    end_char: int
    cells: tuple[str, ...]
    chunk_index: int
    locations: tuple[SourceLocation, ...] = ()
    headers: tuple[str, ...] = ()  # as the text names its cells

    @property
    def sheet(self) -> str:
        return self.locations[0].sheet if self.locations else ""


@dataclass(frozen=True)
class QueryTable:
    """A table without its totals. `about`: its title, captions and sheets, which say what its rows are."""

    document: Document
    headers: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    columns: Sequence[Column]
    about: str

    @property
    def language(self) -> str:
        return self.document.language


def read_tables(document: Document, chunks: Sequence[Chunk]) -> list[QueryTable]:
    """Return the document's tables; sheets of one shape are one table, with the sheet as a column."""
    found: dict[tuple[str, ...], list[QueryRow]] = {}
    captions: dict[tuple[str, ...], list[str]] = {}
    for chunk in chunks:
        for row in _rows(chunk) if chunk.headers else ():
            if row.cells:
                found.setdefault(chunk.headers, []).append(row)
            else:
                captions.setdefault(chunk.headers, []).append(row.text)
    sheets = dict.fromkeys(row.sheet for rows in found.values() for row in rows)
    tables = []
    for headers, rows in found.items():
        about = " ".join([document.title, document.filename, *sheets, *captions.get(headers, ())])
        if sum(map(bool, headers)) > 1 and (table := _table(document, headers, rows, about)):
            tables.append(table)
    return tables


def _rows(chunk: Chunk) -> Iterator[QueryRow]:
    """Yield the lines of a chunk; a line that is no row has no cells."""
    start = chunk.start_char
    for line in chunk.content.splitlines(keepends=True):
        text = line.strip()
        at = start + line.find(text)
        if text:
            values = {number: value for number, _, value in named_cells(text, chunk.headers)}
            cells = tuple(values.get(number, "") for number in range(len(chunk.headers))) if values else ()
            places = tuple(each for each in chunk.locations if each.start_char <= at < each.end_char)[:1]
            yield QueryRow(text, at, at + len(text), cells, chunk.index, places, chunk.headers)
        start += len(line)


def _table(document: Document, headers: tuple[str, ...], given: Sequence[QueryRow], about: str) -> QueryTable | None:
    language, year = document.language, _year_of(about)
    rows = given
    if len({row.sheet for row in rows}) > 1:
        headers = (*headers, SHEET.get(language, SHEET["en"]))
        rows = [replace(row, cells=(*row.cells, row.sheet)) for row in rows]
    rows = _filled(rows)
    columns = _columns(headers, rows, language, year)
    totals = total_rows(_model(headers, rows), columns)
    kept = [row for number, row in enumerate(rows) if number not in totals]
    if len(kept) < FEWEST_ROWS:
        return None
    headers, unpivoted = _unpivoted(headers, kept, language)
    return QueryTable(document, headers, tuple(unpivoted), _columns(headers, unpivoted, language, year), about)


def _model(headers: tuple[str, ...], rows: Sequence[QueryRow]) -> Table:
    made = (
        TableRow(row.start_char, row.end_char, number, tuple(cell or None for cell in row.cells))
        for number, row in enumerate(rows, start=1)
    )
    return Table("", headers, 0, tuple(made))


def _columns(headers: tuple[str, ...], rows: Sequence[QueryRow], language: str, year: int) -> Sequence[Column]:
    return [_completed(column, year) for column in type_columns(_model(headers, rows), language=language, year=year)]


def _year_of(about: str) -> int:
    """Return the year of dates that name none: the only one of the table's titles, else a year of nobody."""
    years = set(_YEAR.findall(about))
    return int(years.pop()) if len(years) == 1 else NO_YEAR


def _completed(column: Column, year: int) -> Column:
    """Return the column with the year of its months; numbers that only number the rows, «Nº socio», are codes."""
    if column.is_time:
        return replace(column, values=[period and period.of_year(year) for period in column.periods])
    known = [number for number in column.numbers if number is not None]
    is_numbering = _NUMBERING.match(fold(column.header)) and len(set(known)) == len(known)
    return replace(column, role=Role.CODE) if column.role and is_numbering else column


def _filled(rows: Sequence[QueryRow]) -> Sequence[QueryRow]:
    """Fill the empty cells of a first column that names groups: each stands for those below it."""
    first = [row.cells[0] for row in rows]
    is_grouped = first[0] and sum(map(bool, first)) <= MOST_FILLED * len(first) and len(rows[0].cells) > 1
    if not is_grouped or any(not cell and not any(row.cells[1:]) for cell, row in zip(first, rows, strict=True)):
        return rows
    filled, above = [], ""
    for row in rows:
        above = row.cells[0] or above
        filled.append(replace(row, cells=(above, *row.cells[1:])))
    return filled


def _unpivoted(
    headers: tuple[str, ...], rows: Sequence[QueryRow], language: str
) -> tuple[tuple[str, ...], Sequence[QueryRow]]:
    """Turn columns that are named after months, years or numbered alike into a column of these and one of values."""
    spread = {number: month for number, header in enumerate(headers) if (month := _month(header, language))}
    series = MONTH.get(language, MONTH["en"])
    if len(spread) < FEWEST_MONTHS:
        series, spread = _numbered(headers, language)
    if len(spread) < FEWEST_MONTHS:
        return headers, rows
    kept = [number for number, header in enumerate(headers) if number not in spread and not _is_total(header)]
    names = tuple(headers[number] for number in kept)
    return (*names, series, VALUE.get(language, VALUE["en"])), [
        replace(row, cells=(*(row.cells[number] for number in kept), month, row.cells[number]))
        for row in rows
        for number, month in spread.items()
        if row.cells[number]
    ]


def _month(header: str, language: str) -> str:
    """Return the month or quarter that a header is, abbreviated or not, or its last part; "" where it is none."""
    name = header.rpartition(" / ")[2].strip()
    period = parse_period(name)
    if period and period.unit in ("month", "quarter"):
        return name
    begun = fold(name).rstrip(".")
    numbers = {number for month, number in months().items() if len(begun) >= FEWEST_LETTERS and month.startswith(begun)}
    return str(format_date(date(NO_YEAR, numbers.pop(), 1), "MMMM", locale=language)) if len(numbers) == 1 else ""


def _numbered(headers: tuple[str, ...], language: str) -> tuple[str, dict[int, str]]:
    """Return what «Semana 1», «Semana 2» … are, and these headers; years are the years."""
    found: dict[str, dict[int, str]] = {}
    for number, header in enumerate(headers):
        if match := _SERIES.fullmatch(header.strip()):
            is_year = not match[1] and _YEAR.fullmatch(match[2]) is not None
            if match[1] or is_year:
                found.setdefault(match[1].strip(), {})[number] = header.strip()
    name, members = max(found.items(), key=lambda item: len(item[1]), default=("", {}))
    return name or YEAR.get(language, YEAR["en"]), members


def _is_total(header: str) -> bool:
    return fold(header).strip(" .:").startswith("total")

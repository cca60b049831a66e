"""A document's tables as they are queried: typed columns without totals, stored beside the chunks as arrays."""

import io
import json
import re
import zipfile
from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from babel.dates import format_date
from numpy.typing import NDArray

from graphrag.ingestion.tables.columns import Column, Role, total_rows, type_columns
from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import ANSWER_LANGUAGES, fold
from graphrag.linguistics.periods import Days
from graphrag.models import Cell, Document, ParsedText, Table, TableRow
from graphrag.parsers.markdown_tables import caption_over, read_markdown_tables
from graphrag.parsers.spreadsheet import written

FEWEST_ROWS = 2
FEWEST_LETTERS = 3  # of an abbreviated month
FEWEST_MONTHS = 3  # columns that are named after months, from which they are values of one column
MOST_FILLED = 0.7  # of a column whose empty cells repeat the one above
MOST_CAPTION_CHARACTERS = 300
MOST_COLUMNS = 200  # of a table that questions are put to
NO_YEAR = 2000
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
SHEET = {"es": "Hoja", "fr": "Feuille", "en": "Sheet"}
SECTION = {"es": "Sección", "fr": "Section", "en": "Section"}
MONTH = {"es": "Mes", "fr": "Mois", "en": "Month"}
YEAR = {"es": "Año", "fr": "Année", "en": "Year"}
KIND = {"es": "Tipo", "fr": "Type", "en": "Type"}
VALUE = {"es": "Valor", "fr": "Valeur", "en": "Value"}
_NUMBERING = re.compile(r"(?:n[º°o.]+|num(?:ero)?|number|id|ref(?:erenc\w+)?|code?|codigo)(?!\w)|#")
_SERIES = re.compile(r"(\D{0,20}?)\s*(\d{1,4})")

Integers = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TypedColumn:
    """A column of n cells, each of them one of `texts`; numbers and days of what it is.

    `codes`: (n,), the place of each cell among the texts, of which the first is "". `numbers`: (n,), NaN where a cell
    is none. `first_days`, `last_days`: (n,), ordinals of the period that a cell is, 0 where it is none.
    """

    header: str
    role: Role | None
    unit: str
    texts: Sequence[str]
    codes: Integers
    numbers: Floats
    first_days: Integers
    last_days: Integers

    @cached_property
    def is_time(self) -> bool:
        return bool(self.first_days.any())

    @property
    def is_text(self) -> bool:
        return self.role is None and not self.is_time

    def is_complete(self, rows: tuple[int]) -> bool:
        """Return whether it has as many cells, each with its text, and values of the types that it declares."""
        arrays = (self.codes, self.numbers, self.first_days, self.last_days)
        texts = (self.header, self.unit, *self.texts)
        return (
            all(array.shape == rows for array in arrays)
            and self.numbers.dtype == np.float64
            and all(days.dtype == np.int32 for days in (self.first_days, self.last_days))
            and all(isinstance(text, str) for text in texts)
            and _are_within(self.codes, 0, len(self.texts) - 1)
        )

    def cell(self, row: int) -> str:
        return self.texts[int(self.codes[row])]

    @property
    def values(self) -> Sequence[str]:
        """Its different cells, without the empty one."""
        return self.texts[1:]


@dataclass(frozen=True)
class TypedTable:
    """A table of n rows. `about`: its document's and its own titles, which say what its rows are.

    `is_sheet`: its document is a table, not a text with one, of which a question may be about something else.

    `starts`, `ends`: (n,), the characters of the document that a row is; `chunks`: (n,), the chunk that it begins in.
    """

    language: str
    is_sheet: bool
    about: str
    columns: Sequence[TypedColumn]
    starts: Integers
    ends: Integers
    chunks: Integers

    @cached_property
    def headers(self) -> tuple[str, ...]:
        return tuple(column.header for column in self.columns)

    def __len__(self) -> int:
        return len(self.starts)

    def cells(self, row: int) -> tuple[str, ...]:
        return tuple(column.cell(row) for column in self.columns)

    def to_bytes(self) -> bytes:
        """Return what `from_bytes` reads: arrays as numpy's npz has them, and texts as JSON."""
        told = [[column.header, column.role, column.unit, column.texts] for column in self.columns]
        arrays: dict[str, Any] = {"starts": self.starts, "ends": self.ends, "chunks": self.chunks}
        arrays["texts"] = np.frombuffer(
            json.dumps([self.language, self.is_sheet, self.about, told]).encode(), dtype=np.uint8
        )
        for place, column in enumerate(self.columns):
            arrays[f"codes{place}"] = column.codes
            if column.is_time:
                arrays |= {f"first{place}": column.first_days, f"last{place}": column.last_days}
            elif not column.is_text:
                arrays[f"numbers{place}"] = column.numbers
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "TypedTable":
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            language, is_sheet, about, told = json.loads(arrays["texts"].tobytes())
            starts = arrays["starts"]
            nothing, no_number = np.zeros(len(starts), np.int32), np.full(len(starts), np.nan)
            columns = [
                TypedColumn(
                    header,
                    role and Role(role),
                    unit,
                    texts,
                    arrays[f"codes{place}"],
                    arrays.get(f"numbers{place}", no_number),
                    arrays.get(f"first{place}", nothing),
                    arrays.get(f"last{place}", nothing),
                )
                for place, (header, role, unit, texts) in enumerate(told)
            ]
            return cls(language, is_sheet, about, columns, starts, arrays["ends"], arrays["chunks"])

    @classmethod
    def from_untrusted_bytes(cls, data: bytes, *, characters: int, chunks: int) -> "TypedTable":
        """Read a table of a text of so many characters and chunks. Raises ValueError where `to_bytes` writes no such.

        Its arrays are not compressed, so they are no larger than the data.
        """
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
        is_stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        if not is_stored or sum(entry.file_size for entry in entries) > len(data):
            raise ValueError("a table's arrays are compressed")
        table = cls.from_bytes(data)
        rows = (len(table),)
        is_within = (
            table.starts.shape == table.ends.shape == table.chunks.shape == rows
            and _are_within(table.starts, 0, characters)
            and _are_within(table.ends, 0, characters)
            and _are_within(table.chunks, 0, chunks - 1)
            and all(column.is_complete(rows) for column in table.columns)
        )
        if not (is_within and isinstance(table.language, str) and isinstance(table.about, str)):
            raise ValueError("a table has cells or rows that are not there")
        return table


def _are_within(numbers: Integers, least: int, most: int) -> bool:
    return numbers.dtype == np.int32 and bool(((least <= numbers) & (numbers <= most)).all())


@dataclass(frozen=True, slots=True)
class _Row:
    start: int
    end: int
    group: str  # sheet or section
    values: tuple[Cell, ...]


def typed_tables(parsed: ParsedText, document: Document, chunk_starts: Sequence[int]) -> list[TypedTable]:
    """Return the tables, those of one shape as one, with the sheet or section as a column.

    Each has two columns to MOST_COLUMNS.
    """
    is_sheet = bool(parsed.tables)
    tables = parsed.tables or list(read_markdown_tables(parsed.text, parsed.headings))
    sheets = dict.fromkeys(table.sheet for table in tables)
    found: dict[tuple[str, ...], list[Table]] = {}
    for table in tables:
        if sum(map(bool, table.headers)) > 1 and len(table.headers) <= MOST_COLUMNS and table.rows:
            found.setdefault(table.headers, []).append(table)
    captions = _captions(parsed)
    made = []
    for headers, parts in found.items():
        said = captions.get(headers, ()) if is_sheet else [caption_over(parsed.text, table) for table in parts]
        named = sheets if is_sheet else dict.fromkeys(table.sheet for table in parts)
        about = " ".join(dict.fromkeys([document.title, document.filename, *named, *said]))
        rows = [_row(table, row, len(headers)) for table in parts for row in table.rows]
        if typed := _typed_table(headers, rows, is_sheet, about, document.language, chunk_starts):
            made.append(typed)
    return made


def _captions(parsed: ParsedText) -> dict[tuple[str, ...], list[str]]:
    """Return what is written over the tables of sheets, by their headers."""
    captions: dict[tuple[str, ...], list[str]] = {}
    end = 0
    for table in parsed.tables:
        if table.rows:
            over = parsed.text[max(end, table.rows[0].start_char - MOST_CAPTION_CHARACTERS) : table.rows[0].start_char]
            captions.setdefault(table.headers, []).append(" ".join(over.split()))
            end = table.rows[-1].end_char
    return captions


def _row(table: Table, row: TableRow, width: int) -> _Row:
    return _Row(row.start_char, row.end_char, table.sheet, (*row.values, *[None] * (width - len(row.values)))[:width])


def _typed_table(
    headers: tuple[str, ...],
    rows: Sequence[_Row],
    is_sheet: bool,
    about: str,
    language: str,
    chunk_starts: Sequence[int],
) -> TypedTable | None:
    year = _year_of(about)
    if len({row.group for row in rows}) > 1:
        header, names = _group_column({row.group for row in rows}, is_sheet, language)
        headers = (*headers, header)
        rows = [replace(row, values=(*row.values, names[row.group])) for row in rows]
    rows = _filled(rows)
    model = _model(headers, rows)
    read = type_columns(model, language=language, year=year)
    if totals := total_rows(model, read):
        rows = [row for number, row in enumerate(rows) if number not in totals]
    if len(rows) < FEWEST_ROWS:
        return None
    headers, unpivoted = _unpivoted(headers, rows, language)
    if totals or unpivoted is not rows:
        rows = unpivoted
        read = type_columns(_model(headers, rows), language=language, year=year)
    columns = [_typed_column(column, [row.values[place] for row in rows], year) for place, column in enumerate(read)]
    starts = np.array([row.start for row in rows], np.int32)
    chunks = np.array([bisect_right(chunk_starts, row.start) - 1 for row in rows], np.int32)
    return TypedTable(language, is_sheet, about, columns, starts, np.array([row.end for row in rows], np.int32), chunks)


def _group_column(groups: Set[str], is_sheet: bool, language: str) -> tuple[str, Mapping[str, str]]:
    """Return the header of the column that names sheets or sections, and its cells: months, where all are named so."""
    spread = {group: _month(group, language) for group in groups}
    if all(spread.values()):
        return MONTH.get(language, MONTH["en"]), spread
    return (SHEET if is_sheet else SECTION).get(language, SHEET["en"]), {group: group for group in groups}


def _model(headers: tuple[str, ...], rows: Sequence[_Row]) -> Table:
    made = (TableRow(row.start, row.end, number, row.values) for number, row in enumerate(rows, start=1))
    return Table("", headers, 0, tuple(made))


def _typed_column(column: Column, cells: Sequence[Cell], year: int) -> TypedColumn:
    """Give months their year; numbers that only number the rows, «Nº socio», are codes."""
    shown = ["" if cell is None else written(cell) for cell in cells]
    spelled: dict[str, str] = {}  # «sí» is «Sí»
    spelling = [spelled.setdefault(" ".join(text.split()).casefold() or text, text) for text in shown]
    places = {text: place for place, text in enumerate(dict.fromkeys(["", *spelling]))}
    codes = np.array([places[text] for text in spelling], np.int32)
    days: list[Days | None] = [None] * len(cells)
    if column.is_time:
        known = {period: period.of_year(year).days for period in set(column.periods) if period}
        days = [known.get(period) if period else None for period in column.periods]
    numbers = np.array([np.nan if value is None else value for value in column.numbers], np.float64)
    told = numbers[~np.isnan(numbers)]
    is_numbering = _NUMBERING.match(fold(column.header)) and len(np.unique(told)) == len(told)
    return TypedColumn(
        column.header,
        Role.CODE if column.role and is_numbering else column.role,
        column.unit,
        tuple(places),
        codes,
        numbers,
        np.array([each[0].toordinal() if each else 0 for each in days], np.int32),
        np.array([each[1].toordinal() if each else 0 for each in days], np.int32),
    )


def _year_of(about: str) -> int:
    """Return the year of dates that name none: the only one of the table's titles, else a year of nobody."""
    years = set(_YEAR.findall(about))
    return int(years.pop()) if len(years) == 1 else NO_YEAR


def _filled(rows: Sequence[_Row]) -> Sequence[_Row]:
    """Fill the empty cells of a first column that names groups: each stands for those below it."""
    first = [row.values[0] for row in rows]
    is_grouped = first[0] is not None and len(first) - first.count(None) <= MOST_FILLED * len(first)
    if not is_grouped or any(set(row.values) == {None} for row in rows):
        return rows
    filled, above = [], None
    for row in rows:
        above = above if row.values[0] is None else row.values[0]
        filled.append(replace(row, values=(above, *row.values[1:])))
    return filled


def _unpivoted(headers: tuple[str, ...], rows: Sequence[_Row], language: str) -> tuple[tuple[str, ...], Sequence[_Row]]:
    """Turn columns that are named after months, years or numbered alike into a column of these and one of values."""
    spread = {number: month for number, header in enumerate(headers) if (month := _month(header, language))}
    series = MONTH.get(language, MONTH["en"])
    if len(spread) < FEWEST_MONTHS:
        series, spread = _numbered(headers, language)
    if len(spread) < FEWEST_MONTHS:
        return headers, rows
    kept = [number for number, header in enumerate(headers) if number not in spread and not _is_total(header)]
    over = {number: headers[number].rpartition(" / ")[0] for number in spread}  # «Budget / T1», «Actual / T1»
    if all(map(_YEAR.fullmatch, over.values())):  # «2024 / T1»
        spread = {number: f"{month} {over[number]}" for number, month in spread.items()}
        over = dict.fromkeys(over, "")
    has_kinds = len(set(over.values())) > 1
    names = [*(headers[number] for number in kept), *([KIND.get(language, KIND["en"])] if has_kinds else [])]
    return (*names, series, VALUE.get(language, VALUE["en"])), [
        replace(
            row,
            values=(
                *(row.values[number] for number in kept),
                *([over[number]] if has_kinds else []),
                month,
                row.values[number],
            ),
        )
        for row in rows
        for number, month in spread.items()
        if row.values[number] is not None
    ]


def _month(header: str, language: str) -> str:
    """Return the month or quarter that a header is, abbreviated or not, or its last part; "" where it is none."""
    name = header.rpartition(" / ")[2].strip()
    period = parse_period(name)
    if period and period.unit in ("month", "quarter"):
        return name
    begun = fold(name).rstrip(".")
    numbers = {number for month, number in months().items() if len(begun) >= FEWEST_LETTERS and month.startswith(begun)}
    if len(numbers) != 1:
        return ""
    locale = language if language in ANSWER_LANGUAGES else "en"
    return str(format_date(date(NO_YEAR, numbers.pop(), 1), "MMMM", locale=locale))


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

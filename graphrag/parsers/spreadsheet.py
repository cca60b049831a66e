"""Workbooks and CSV files, and the rows around a cell."""

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import groupby, pairwise
from xml.etree import ElementTree

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Cell, ParsedText, SourceLocation, Table, TableRow
from graphrag.models.ingestion import NO_CELLS, CellsRequest, CellsView, SheetRow
from graphrag.parsers.detection import CSV, XLSX
from graphrag.parsers.source_locations import corners, letters
from graphrag.parsers.text import TextBuilder, clean, decode

Row = Sequence[Cell]
DELIMITERS = ",;\t|"
_SAMPLE_LINES = 200
_VALUE = re.compile(r"[\W\d]*\d[\W\d]*")
_FEWEST_YEARS = 3  # that follow one another and are headers, whatever is below: kilos may look like years
_MOST_HEADER_CHARACTERS = 80
YEARS = range(1900, 2101)
_STYLES = "xl/styles.xml"
_STYLED = re.compile(rb"""<(?:\w+:)?c\s(?=[^>]*?\br="([A-Z]{1,3}\d{1,7})")[^>]*?\bs="(\d{1,6})\"""")
_SHEET_PART = re.compile(r"xl/worksheets/[^/]+\.xml")
_WITHOUT_VALUE = re.compile(
    rb"""<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3}\d{1,7})"[^>]*>\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)"""
    rb"""\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"""
)
csv.field_size_limit(2**31 - 1)  # a cell may be as long as the file


def parse_workbook(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large or empty."""
    try:
        data, far_cells = _without_far_cells(data) if media_type == XLSX else (data, [])
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [
            (sheet.name, *_filled(workbook, sheet.name))
            for sheet in workbook.sheets_metadata
            if sheet.typ == SheetTypeEnum.WorkSheet
        ]
        formats = _read_formats(data, [sheet[0] for sheet in sheets]) if media_type == XLSX else _Formats({}, ())
    except PasswordError as exc:
        raise UnreadableDocument(
            "the file is protected by a password: save it without one", reason="encrypted"
        ) from exc
    except (CalamineError, zipfile.BadZipFile, ElementTree.ParseError) as exc:
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc
    builder = TextBuilder(limits.characters)
    for name, first_row, first_column, rows in sheets:
        shown = _as_percentages(rows, first_row, first_column, formats.percentages.get(name, frozenset()))
        builder.tables += _add_sheet(builder, name, first_row, first_column, shown)
    return builder.parsed(media_type, warnings=tuple(_warnings(formats.without_value, far_cells)))


def _without_far_cells(data: bytes) -> tuple[bytes, list[str]]:
    """Return the workbook without cells that stand far from all others, and the names of those with a value.

    The reader keeps every place in between: a word in the last row and column would take it more memory than there is.
    """
    far: list[str] = []
    trimmed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(trimmed, "w", zipfile.ZIP_DEFLATED) as copy:
        sheets = [name for name in archive.namelist() if _SHEET_PART.fullmatch(name)]
        cut = {name: part for name in sheets if (part := _trimmed(archive.read(name), far)) is not None}
        for name in archive.namelist() if cut else ():
            copy.writestr(name, cut[name] if name in cut else archive.read(name))
    return (trimmed.getvalue(), far) if cut else (data, [])


def _trimmed(sheet: bytes, far: list[str]) -> bytes | None:
    """Return a sheet up to the first wide gaps between its rows and columns; None where it is small or has none."""
    written = _DIMENSION.search(sheet[:_SHEET_BEGINNING])
    edges = corners(written[1].decode()) if written else None
    if edges and (edges[1][0] - edges[0][0] + 1) * (edges[1][1] - edges[0][1] + 1) <= _LARGE:
        return None
    places = [(each[1], int(each[2])) for each in _CELL.finditer(sheet)]
    last_row = _edge({row for _, row in places}, _ROW_GAP)
    numbers = {name: edge[0][0] for name, _ in places if (edge := corners(f"{name.decode()}1"))}
    last_column = _edge({numbers[name] for name, row in places if row <= last_row}, _COLUMN_GAP)

    def keep(cell: re.Match[bytes]) -> bytes:
        if int(cell[2]) <= last_row and numbers[cell[1]] <= last_column:
            return cell[0]
        if b"<v" in cell[0] or b"<is" in cell[0]:
            far.append(f"{cell[1].decode()}{cell[2].decode()}")
        return b""

    kept = _CELL.sub(keep, sheet)
    return _DIMENSION.sub(b"", kept, count=1) if len(kept) < len(sheet) else None


def _edge(places: Set[int], gap: int) -> int:
    """Return the last place before a gap that is wider; the last of all where there is none."""
    ordered = sorted(places)
    return next((before for before, after in pairwise(ordered) if after - before > gap), ordered[-1] if ordered else 0)


_DIMENSION = re.compile(rb"""<(?:\w+:)?dimension\s[^>]*?\bref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"[^>]*?/>""")
_CELL = re.compile(rb"""<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})(\d{1,7})"(?:[^>]*?/>|[^>]*>.*?</(?:\w+:)?c>)""", re.DOTALL)
_SHEET_BEGINNING = 4_096  # bytes
_LARGE = 5_000_000  # places of a sheet; more are looked at for gaps
_ROW_GAP, _COLUMN_GAP = 10_000, 200


@dataclass(frozen=True, slots=True)
class _Formats:
    """Formats of a workbook's cells: by sheet, those that are percentages (row, column)."""

    percentages: Mapping[str, Set[tuple[int, int]]]
    without_value: Sequence[str]  # cells of formulas


def _read_formats(data: bytes, sheets: Sequence[str]) -> _Formats:
    """Read the sheets' own parts. Raises zipfile.BadZipFile or ParseError."""
    percentages: dict[str, Set[tuple[int, int]]] = {}
    without_value: list[str] = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if _SHEET_PART.fullmatch(name)}
        styles = _percent_styles(archive.read(_STYLES)) if _STYLES in archive.namelist() else frozenset()
        names = _sheet_parts(archive) if styles else {}
    for part in parts.values():
        without_value += [cell.decode() for cell in _WITHOUT_VALUE.findall(part)]
    for sheet in sheets if styles else ():
        found = _STYLED.findall(parts.get(names.get(sheet, ""), b""))
        cells = (corners(reference.decode()) for reference, style in found if int(style) in styles)
        percentages[sheet] = {(row - 1, column) for edges in cells if edges for column, row in edges[:1]}
    return _Formats(percentages, without_value)


def _percent_styles(styles: bytes) -> frozenset[int]:
    root = ElementTree.fromstring(styles)
    formats = {int(each.get("numFmtId", 0)): each.get("formatCode", "") for each in root.iterfind(".//{*}numFmt")}
    cells = root.findall(".//{*}cellXfs/{*}xf")
    kinds = [int(each.get("numFmtId", 0)) for each in cells]
    return frozenset(number for number, kind in enumerate(kinds) if kind in (9, 10) or "%" in formats.get(kind, ""))


def _sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """The parts by the names of their sheets."""
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {each.get("Id"): each.get("Target", "").removeprefix("/xl/") for each in relations}
    sheets = ElementTree.fromstring(archive.read("xl/workbook.xml")).iterfind(".//{*}sheets/{*}sheet")
    ids = {each.get("name", ""): next((v for k, v in each.items() if k.endswith("}id")), None) for each in sheets}
    return {name: f"xl/{targets.get(key, '')}" for name, key in ids.items()}


def _as_percentages(
    rows: list[list[Cell]], first_row: int, first_column: int, cells: Set[tuple[int, int]]
) -> list[list[Cell]]:
    """Write .125 as «12.5 %» where that is how the sheet shows it."""
    for row, column in cells:
        row, column = row - first_row, column - first_column
        if 0 <= row < len(rows) and 0 <= column < len(rows[row]):
            value = rows[row][column]
            if isinstance(value, int | float) and not isinstance(value, bool):
                rows[row][column] = f"{value * 100:.10g} %"
    return rows


def _warnings(cells: Sequence[str], far: Sequence[str]) -> Iterator[str]:
    """A formula's value is only known where the program that wrote the file has stored it."""
    if far:
        yield f"{len(far)} cells far from the others are not read (the first is {far[0]})"
    if cells:
        yield (
            f"{len(cells)} formulas have no stored value, so their cells are empty (the first is {cells[0]}):"
            " open the file in a spreadsheet program and save it"
        )


def _filled(workbook: CalamineWorkbook, name: str) -> tuple[int, int, list[list[Cell]]]:
    """The first row and column that hold anything, from 0, and the rows from there on."""
    sheet = workbook.get_sheet_by_name(name)
    first_row, first_column = sheet.start or (0, 0)
    return first_row, first_column, [[_known(cell) for cell in row] for row in sheet.to_python(skip_empty_area=True)]


def _known(cell: Cell | str) -> Cell:
    if isinstance(cell, str):
        text = cell if cell.isascii() and cell.isprintable() else clean(cell)
        return " ".join(text.split()) or None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def parse_csv(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encoding, too_large or empty."""
    text = decode(data, limits=limits)
    rows = [
        [_known(cell) for cell in row] for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    ]
    builder = TextBuilder(limits.characters)
    builder.tables += _add_sheet(builder, "", 0, 0, rows)
    return builder.parsed(CSV)


def _delimiter(text: str) -> str:
    """Return the delimiter that cuts most lines into the same number of parts, more than one."""
    lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]

    def agreement(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        most = max(set(widths), key=widths.count, default=1)
        return (widths.count(most), most) if most > 1 else (0, 0)

    return max(DELIMITERS, key=agreement)


def _add_sheet(
    builder: TextBuilder, name: str, first_row: int, first_column: int, rows: Sequence[Row]
) -> Iterator[Table]:
    if name and any(_is_filled(row) for row in rows):
        builder.add(name, level=1)
    for start, end in _side_by_side(rows):
        yield from _add_block(builder, name, first_row, first_column + start, [row[start:end] for row in rows])


def _side_by_side(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """Columns, [start, end), of tables beside each other: with empty columns between them, and not of the same rows."""
    width = max(map(len, rows), default=0)
    filled = [
        {number for number, row in enumerate(rows) if row[at : at + 1] not in ([], [None])} for at in range(width)
    ]
    bands = [list(places) for is_any, places in groupby(range(width), key=lambda at: bool(filled[at])) if is_any]
    held = [set().union(*(filled[at] for at in band)) for band in bands]
    are_apart = len({max(lines) for lines in held}) == len(bands) and all(len(band) > 1 for band in bands)
    return [(band[0], band[-1] + 1) for band in bands] if len(bands) > 1 and are_apart else [(0, width)]


def _add_block(
    builder: TextBuilder, name: str, first_row: int, first_column: int, rows: Sequence[Row]
) -> Iterator[Table]:
    numbered = [(number, row) for number, row in enumerate(rows, start=first_row + 1)]
    headers: list[str] = []
    widest = max((_width(row) for row in rows), default=0)
    for filled, group in groupby(numbered, key=lambda numbered_row: _is_filled(numbered_row[1])):
        if not filled:
            continue
        block = list(group)
        is_caption = not headers and widest > 1 and all(_width(row) == 1 for _, row in block)  # over a table
        captions, found, body = (block, [], []) if is_caption else _split(block)
        for number, row in captions:
            _add_row(builder, name, number, first_column, row, [])
        # A blank line inside a table does not end it.
        headers = found or (headers if not captions and body and len(headers) == len(body[0][1]) else [])
        lines = [_add_row(builder, name, number, first_column, row, headers) for number, row in body]
        if headers and lines:
            yield Table(name, tuple(headers), first_column, tuple(lines))


def add_records(builder: TextBuilder, name: str, headers: tuple[str, ...], rows: Sequence[Row]) -> None:
    """Append objects that have the same keys, as a sheet whose first row are these."""
    known = ([_known(cell) for cell in row] for row in rows)
    lines = [
        _add_row(builder, name, number, 0, row, headers) for number, row in enumerate(known, start=2) if _is_filled(row)
    ]
    builder.tables.append(Table(name, headers, 0, tuple(lines)))


def _is_filled(row: Row) -> bool:
    return any(cell is not None for cell in row)


def _width(row: Row) -> int:
    return sum(cell is not None for cell in row)


def _split(block: list[tuple[int, Row]]) -> tuple[list[tuple[int, Row]], list[str], list[tuple[int, Row]]]:
    """Lines over the table, its headers, its rows."""
    width = max(sum(cell is not None for cell in row) for _, row in block)
    start = 0
    while start < len(block) - 1 and width > 1 and sum(cell is not None for cell in block[start][1]) == 1:
        start += 1
    rows = [row for _, row in block[start:]]
    if len(rows) > 2 and (joined := _joined_header(rows[0], rows[1], rows[2:])):
        return block[:start], joined, block[start + 2 :]
    if len(rows) > 1 and _is_header(rows[0], rows[1:]):
        return block[:start], _headers(rows[0]), block[start + 1 :]
    return [], [], block


def _joined_header(upper: Row, lower: Row, below: Sequence[Row]) -> list[str] | None:
    """Return the names of two rows of headers, «Budget / T1», «2024 / T1»; None where they are not such.

    The cells to the right of a name in the upper row are empty, as of merged cells, and named in the lower one.
    """
    width = max(len(upper), len(lower))
    above, under = ([*row, *[None] * (width - len(row))] for row in (upper, lower))
    is_spanned = any(
        above[at] is None and above[at - 1] is not None and under[at - 1] is not None for at in range(1, width)
    )
    names_groups = all(isinstance(cell, str | None) or _is_year(cell) for cell in above)
    if not is_spanned or not names_groups or not all(isinstance(cell, str | None) for cell in under):
        return None
    if any(isinstance(cell, str) and _VALUE.fullmatch(cell) for cell in under):  # of a file whose cells are all text
        return None
    names: list[Cell] = []
    group: Cell = None
    for over, name in zip(above, under, strict=True):
        group = over if over is not None else group if name is not None else None
        names.append(f"{group} / {name}" if group and name else group or name)
    return _headers(names) if None not in names and _is_header(names, below) else None


def _is_header(row: Row, below: Sequence[Row]) -> bool:
    """Short and different names, over something that is not only that."""
    names = [cell for cell in row if cell is not None]
    years = [cell for cell in names if isinstance(cell, int) and _is_year(cell)]
    is_series = len(years) >= _FEWEST_YEARS and years == list(range(years[0], years[0] + len(years)))
    if not all(
        (is_series and _is_year(cell)) or _can_name(cell, [other[place : place + 1] for other in below])
        for place, cell in enumerate(row)
    ):
        return False
    if len(set(names)) < len(names) or len(names) < max(sum(c is not None for c in other) for other in below[:20]) - 1:
        return False
    if len(names) > 1:
        return True
    numbers_below = any(not isinstance(cell, str) for other in below for cell in other if cell is not None)
    return isinstance(names[0], str) and (numbers_below or len(below) > 1)


def _can_name(cell: Cell, column: Sequence[Row]) -> bool:
    """A text; a date or a year over a column of something else."""
    if cell is None or isinstance(cell, str):
        return cell is None or len(cell) <= _MOST_HEADER_CHARACTERS
    if isinstance(cell, date):
        return not any(isinstance(other, date) for part in column for other in part)
    return _is_year(cell) and not any(_is_year(other) for part in column for other in part)


def _is_year(cell: Cell) -> bool:
    return type(cell) is int and cell in YEARS


def _headers(row: Row) -> list[str]:
    return ["" if cell is None else _name(cell) for cell in row]


def _name(cell: Cell) -> str:
    if isinstance(cell, date) and cell.day == 1:  # of its month, as spreadsheets keep these
        return cell.strftime("%Y-%m")
    return written(cell).rstrip(":")


def _add_row(
    builder: TextBuilder, sheet: str, number: int, first_column: int, row: Row, headers: Sequence[str]
) -> TableRow:
    named = zip(row, [*headers, *[""] * len(row)], strict=False)
    parts = [f"{header}: {written(cell)}" if header else written(cell) for cell, header in named if cell is not None]
    span = builder.add("; ".join(parts), gap="\n")
    filled = [place for place, cell in enumerate(row) if cell is not None]
    if span.end > span.start:
        first, last = (f"{letters(first_column + place)}{number}" for place in (filled[0], filled[-1]))
        cells = first if first == last else f"{first}:{last}"
        builder.locations.append(SourceLocation(span.start, span.end, sheet=sheet, cells=cells))
    return TableRow(span.start, span.end, number, tuple(row))


def written(cell: Cell) -> str:
    """Return a cell as written into the text: ISO 8601 dates, numbers without a thousands separator."""
    match cell:
        case str():
            return cell
        case bool():
            return str(cell).lower()
        case datetime():
            return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ", "minutes")
        case date() | time():
            return cell.isoformat()
        case timedelta():
            return str(cell)
        case float():
            return f"{cell:.10g}"
    return str(cell)


MOST_ROWS = 100


def view_cells(parsed: ParsedText, request: CellsRequest) -> CellsView:
    edges = corners(request.cells)
    if edges is None:
        return NO_CELLS
    (_, first), (_, last) = edges
    tables = [table for table in parsed.tables if table.sheet == request.sheet]
    asked = next((table for table in tables if any(first <= row.number <= last for row in table.rows)), None)
    if asked is None:
        return NO_CELLS
    rows = [
        SheetRow(row.number, tuple("" if cell is None else written(cell) for cell in row.values))
        for table in tables
        if _shape(table) == _shape(asked)  # a blank line does not end it
        for row in table.rows
        if first - request.around <= row.number <= last + request.around
    ]
    columns = tuple(letters(asked.first_column + place) for place in range(len(asked.headers)))
    return CellsView(columns, asked.headers, tuple(rows[:MOST_ROWS]))


def _shape(table: Table) -> tuple[int, tuple[str, ...]]:
    return table.first_column, table.headers

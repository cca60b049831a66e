"""Source locations of a span of text in its file: page, sheet and cells."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Chunk, SourceLocation, Span

_CELL = re.compile(r"([A-Z]+)(\d+)")


def letters(column: int) -> str:
    """Return a spreadsheet's name of a column, counted from 0: A … Z, AA, AB."""
    written = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        written = chr(ord("A") + rest) + written
    return written


def cell_range(first: tuple[int, int], last: tuple[int, int]) -> str:
    """Return the name of a range of cells («A2:F2») from two corners: columns from 0, rows from 1."""
    names = [f"{letters(column)}{row}" for column, row in (first, last)]
    return names[0] if first == last else ":".join(names)


def corners(cells: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the corners of a range of cells: «A2:F2» gives ((0, 2), (5, 2))."""
    found = [(_column(name), int(row)) for name, row in _CELL.findall(cells)]
    return (found[0], found[-1]) if found else None


def _column(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def union(cells: Iterable[str]) -> str:
    """The smallest range that holds them all."""
    found = [corner for each in cells for corner in corners(each) or ()]
    if not found:
        return ""
    columns, rows = [column for column, _ in found], [row for _, row in found]
    return cell_range((min(columns), min(rows)), (max(columns), max(rows)))


def overlapping(locations: Iterable[SourceLocation], start: int, end: int) -> tuple[SourceLocation, ...]:
    """Return the locations that overlap [start, end), each once, in their order."""
    found = {location for location in locations if location.start_char < end and start < location.end_char}
    return tuple(sorted(found, key=lambda location: (location.start_char, location.end_char)))


def rows_within(locations: Iterable[SourceLocation], start: int) -> tuple[Span, ...]:
    """Return the spans of a spreadsheet's rows, relative to a text that begins at `start`."""
    return tuple(
        Span(location.start_char - start, location.end_char - start) for location in locations if location.cells
    )


def split_rows(text: str, locations: Sequence[SourceLocation], *, start: int = 0) -> tuple[Span, ...]:
    """Split a text that begins at `start` into sentences and a spreadsheet's rows; the spans tile the text."""
    return split_around_rows(text, rows_within(locations, start))


def split_around_rows(text: str, rows: Sequence[Span]) -> tuple[Span, ...]:
    """Split a text into sentences, of which each row is one; the spans tile the text."""
    if not rows:
        return split_sentences(text)
    cuts = sorted({edge for row in rows for edge in (row.start, row.end)})
    inner = [cut for cut in cuts if 0 < cut < len(text)]
    begun = {row.start for row in rows} | ({0} if rows[0].start < 0 else set())
    spans: list[Span] = []
    for begin, end in pairwise([0, *inner, len(text)]):
        if begin in begun:
            spans.append(Span(begin, end))
        elif spans and not text[begin:end].strip():
            spans[-1] = Span(spans[-1].start, end)
        else:
            spans += [Span(begin + span.start, begin + span.end) for span in split_sentences(text[begin:end])]
    return tuple(spans)


def named_cells(line: str, headers: Sequence[str]) -> list[tuple[int, Span, str]]:
    """The parts of a row that is written «Header: value; Header: value»: header's number, span and value of each."""
    starts: list[tuple[int, int]] = []
    position = 0
    for number, header in enumerate(headers):
        if not header:
            continue
        opening = f"{header}: "
        if not starts and line.startswith(opening):
            starts.append((number, 0))
            position = len(opening)
        elif (found := line.find(f"; {opening}", position)) != -1 and starts:
            starts.append((number, found + 2))
            position = found + 2 + len(opening)
    ends = [*(start - 2 for _, start in starts[1:]), *([len(line)] if starts else [])]
    return [
        (number, Span(start, end), line[start + len(headers[number]) + 2 : end])
        for (number, start), end in zip(starts, ends, strict=True)
    ]


def cite_location(
    locations: Sequence[SourceLocation],
    start: int,
    end: int,
    *,
    text: str,
    text_start: int,
    headers: Sequence[str] = (),
) -> SourceLocation | None:
    """Return the location of [start, end) as exactly as it is known.

    That is the cell that holds it, its row, or the rows that it overlaps; the page on which it begins. `text` begins at
    `text_start` and contains the span; `headers` are its rows' headers.
    """
    touched = overlapping(locations, start, max(end, start + 1))
    if not touched:
        return None
    first = touched[0]
    if len(touched) == 1:
        return replace(first, start_char=start, end_char=end, cells=_cell(first, start, end, text, text_start, headers))
    same_sheet = [location.cells for location in touched if location.sheet == first.sheet and location.cells]
    times = {location.temporal for location in touched}
    temporal = times.pop() if len(times) == 1 else None
    is_recognized = any(location.is_recognized for location in touched)
    return replace(
        first,
        start_char=start,
        end_char=end,
        cells=union(same_sheet),
        temporal=temporal,
        is_recognized=is_recognized,
    )


def describe_location(chunk: Chunk) -> dict[str, Any]:
    """Return a chunk's location in its file as JSON values."""
    location = cite_location(
        chunk.locations,
        chunk.start_char,
        chunk.end_char,
        text=chunk.content,
        text_start=chunk.start_char,
        headers=chunk.headers,
    )
    time = location.temporal if location else None
    return {
        "page": location.page if location else None,
        "sheet_name": (location and location.sheet) or None,
        "cell_ref": (location and location.cells) or None,
        "file": (location and location.file) or None,
        "is_recognized": location.is_recognized if location else None,
        "headers": list(chunk.headers),
        "temporal_context": time and asdict(time) | {"date": time.date.isoformat()},
    }


def _cell(location: SourceLocation, start: int, end: int, text: str, text_start: int, headers: Sequence[str]) -> str:
    """The location's cells, or the one of them."""
    edges = corners(location.cells)
    if edges is None or edges[0][1] != edges[1][1] or not headers or location.start_char < text_start:
        return location.cells
    line = text[location.start_char - text_start : location.end_char - text_start]
    parts = named_cells(line, headers)
    if not parts or not all(headers[parts[0][0] : parts[-1][0] + 1]):
        return location.cells
    (first_column, row), (last_column, _) = edges
    if parts[-1][0] - parts[0][0] != last_column - first_column:
        return location.cells
    for number, span, _ in parts:
        if location.start_char + span.start <= start and end <= location.start_char + span.end:
            column = first_column + number - parts[0][0]
            return cell_range((column, row), (column, row))
    return location.cells

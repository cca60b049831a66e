"""Tables that an excerpt holds from their first row to their last: a spreadsheet's, or Markdown's."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from graphrag.extractive_answers.extraction import Excerpt
from graphrag.places import named_cells, split_rows
from graphrag.sentences import plain

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
    """Not those that begin or end where the excerpt does: it may have cut them."""
    return [table for table, is_whole in _read(excerpt) if is_whole]


def tables(excerpt: Excerpt) -> list[SeenTable]:
    """What the excerpt holds of any."""
    return [table for table, _ in _read(excerpt)]


def _read(excerpt: Excerpt) -> Iterator[tuple[SeenTable, bool]]:
    return _of_sheet(excerpt) if excerpt.headers else _of_markdown(excerpt)


def _of_sheet(excerpt: Excerpt) -> Iterator[tuple[SeenTable, bool]]:
    lines = [
        excerpt.text[span.start : span.end].strip()
        for span in split_rows(excerpt.text, excerpt.places, start=excerpt.start_char)
    ]
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
    """How each row of the text's Markdown tables is shown, by how it reads without its bars; headers are not."""
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

"""What can be computed of a document's tables, added to its text: totals, extremes, means and trends, each with the
cells that it comes from. No model guesses any of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

from graphrag.ingestion.cleaning import clean
from graphrag.ingestion.computed_lines import Wording
from graphrag.ingestion.grid import Grid
from graphrag.ingestion.typed_columns import total_rows, type_columns
from graphrag.models import Heading, ParsedText, Place, Table
from graphrag.places import corners

MOST_LINES = 400  # of a document
CAPTION_ROWS = 3  # between a table's first row and the line over it: the headers, perhaps a blank line
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")


def with_computed(parsed: ParsedText, *, language: str) -> ParsedText:
    """The text with lines at its end, in the language as far as it is ours, else in English; no offset moves. The rows'
    places get the time that they are of, and how they stand to the period before."""
    grids = [_grid(parsed, table, language) for table in _joined(parsed.tables) if table.rows]
    times = {start: time for grid in grids for start, time in grid.times()}
    places = tuple(
        Place(place.start_char, place.end_char, place.page, place.sheet, place.cells, times[place.start_char])
        if place.temporal is None and place.cells and place.start_char in times
        else place
        for place in parsed.places
    )
    return _extended(replace(parsed, places=places), grids, language)


def _joined(tables: Sequence[Table]) -> Iterator[Table]:
    """A blank line inside a table does not end it."""
    for (sheet, headers, first_column), parts in groupby(tables, key=lambda t: (t.sheet, t.headers, t.first_column)):
        yield Table(sheet, headers, first_column, tuple(chain.from_iterable(part.rows for part in parts)))


def _grid(parsed: ParsedText, table: Table, language: str) -> Grid:
    caption = _caption(parsed, table)
    found = {int(year) for text in (table.sheet, caption, *table.headers) for year in _YEAR.findall(text)}
    year = found.pop() if len(found) == 1 else 0
    columns = type_columns(table, language=language, year=year)
    return Grid(table, caption, columns, total_rows(table, columns), year, language)


def _caption(parsed: ParsedText, table: Table) -> str:
    """The line over the table, which holds one cell."""
    start, row = table.rows[0].start_char, table.rows[0].number
    above = [place for place in parsed.places if place.end_char < start and place.sheet == table.sheet]
    last = above[-1] if above else None
    edges = corners(last.cells) if last else None
    is_caption = last and edges and edges[0] == edges[1] and edges[0][1] >= row - CAPTION_ROWS
    return parsed.text[last.start_char : last.end_char] if last and is_caption else ""


def _extended(parsed: ParsedText, grids: Sequence[Grid], language: str) -> ParsedText:
    text, left = [parsed.text], MOST_LINES
    length = len(parsed.text)
    headings, places = list(parsed.headings), list(parsed.places)
    for (sheet, caption), together in groupby(grids, key=lambda grid: (grid.table.sheet, grid.caption)):
        lines = [line for grid in together for line in grid.lines()][:left]
        left -= len(lines)
        if not lines:
            continue
        if sheet:
            of = ", ".join(part for part in (sheet, caption) if part)
            heading = _one_line(Wording(language).say("heading", sheet=of))
            headings.append(Heading(1, heading, length + 2))
            text.append(f"\n\n{heading}")
            length += 2 + len(heading)
        for number, line in enumerate(lines):
            gap, sentence = "\n" if number else "\n\n", _one_line(line.text)
            start = length + len(gap)
            text += [gap, sentence]
            length = start + len(sentence)
            places.append(Place(start, length, sheet=sheet, cells=line.cells, temporal=line.temporal))
    return replace(parsed, text="".join(text), headings=tuple(headings), places=tuple(places))


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())

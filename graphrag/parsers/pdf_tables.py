"""Tables of PDF pages, found by ruling lines and by the alignment of words.

What could as well be text in columns, a form, an index, code or a letterhead is left as it is.
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_double, c_float
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium_c

from graphrag.parsers.text import Cell, write_table

MIN_ROWS = 3
MAX_COLUMNS = 40
MAX_OBJECTS = 5_000  # of a page whose ruling lines are read
MAX_RULES = 2_000
_WORD_GAP = 0.8  # of a word's height; a wider one separates cells
_PART_GAP = 1.3  # of the usual height of a page's letters; a wider one may separate cells
_ROW_GAP = 3.5  # times a line's height; a row does not follow after a wider one
_LEAN = 1.5  # points that a ruling line may lean, and its parts may lie apart
_RULE_GAP = 150  # points between two lines of one table
_HEADER_HEIGHT = 2  # times a line's height
_BAND_LINES = 4  # on average, between two ruling lines across a table
_RULED = 0.6  # of a table's width or height is taken by a line that divides it
_CROSSED = 0.25  # of the lines may cross the gap between two columns: headers and titles
_CELL_LINES = 12  # in a cell of a table without ruling lines
_MAX_RISE = 2 * _CELL_LINES  # times the height of letters, from the end of a cell to the top of the next
_WIDE_PITCH = 1.2  # times the distance of two lines in a cell is that of two rows at least
_LINE_PITCH = 1.25  # times a line's height is the most from one line of a cell to the next
_NUMERIC = 0.6  # of a column's cells
_FILLED = 0.9  # of the cells, in a table without ruling lines and numbers
_PROSE_WORDS = 4  # of a line in a cell, on average, where a column is running text
_FEATURES = 0.4  # of the lines or cells are those of an index, of code or of a form
_LINE = re.compile(r"\S(?:[^\r\n]*\S)?")
_WORD = re.compile(r"[^\s\ufffe]+\ufffe?")  # pdfium's mark of a hyphen at a line's end
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:\ufffe|([-\u2010]))\n(?=[^\W\d_])")
_NUMBER = re.compile(
    r"[-+−–(]?[$€£]?\s?\d[\d.,'’\s/-]*\)?\s?(?:%|‰|[$€£]|[^\W\d_]{1,4}[²³]?|°C)?|[-–—]|n/?[ad]\.?", re.IGNORECASE
)
_MARKER = re.compile(r"[•·*–—▪◦-]|\(?\[?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)\]:]{0,2}")
_LEADERS = re.compile(r"(?:\. ?){4,}|…{2,}|_{3,}")
_CODE = re.compile(r"[{};#]|\w\(|==|=>|:=| = ")
_LABEL = re.compile(r":(?:\s|$)")


@dataclass(slots=True)
class _Box:
    """Words, or a region: its sides in points; words have `start` and `end` in the page's text."""

    left: float
    bottom: float
    right: float
    top: float
    start: int = 0
    end: int = 0

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        return (self.bottom + self.top) / 2

    def __or__(self, other: "_Box") -> "_Box":
        return _Box(
            min(self.left, other.left),
            min(self.bottom, other.bottom),
            max(self.right, other.right),
            max(self.top, other.top),
            min(self.start, other.start),
            max(self.end, other.end),
        )


Line = list[_Box]
Rule = tuple[float, float, float]  # position, from, to


@dataclass(frozen=True, slots=True)
class _Rules:
    across: Sequence[Rule]
    down: Sequence[Rule]


def write_tables(page: Any, printed: Any, text: str) -> str:
    """Return a page's text, as pdfium gives it, with its tables in Markdown."""
    heights = _heights(printed)
    if len(heights) < MIN_ROWS:
        return text
    rules = _read_rules(page)
    regions = list(_regions(rules.across))
    lines = [line for line in _lines(printed, text, heights, regions, rules.down) if line]
    parts: list[str] = []
    end = 0
    for region, group in groupby(lines, key=lambda line: next((each for each in regions if _is_in(line, each)), None)):
        run = list(group)
        table = _write(run, rules, text) if region else ""
        tables = [(run, table)] if table else [(block, _write(block, rules, text)) for block in _blocks(run)]
        for block, written in tables:
            if written:
                parts += [text[end : block[0][0].start], f"{written}\r\n"]
                end = block[-1][-1].end
    return "".join([*parts, text[end:]])


def _heights(printed: Any) -> list[float]:
    """Return the heights on the page at which parts of its text stand beside each other, in ascending order."""
    left, top, right, bottom = c_double(), c_double(), c_double(), c_double()
    parts: list[tuple[float, float, float, float]] = []
    for number in range(pdfium_c.FPDFText_CountRects(printed, 0, -1)):
        pdfium_c.FPDFText_GetRect(printed, number, left, top, right, bottom)
        parts.append((left.value, bottom.value, right.value, top.value))
    height = median(part[3] - part[1] for part in parts) if parts else 0
    heights: list[float] = []
    for (last_left, last_low, last_right, last_high), (begin, low, _, high) in pairwise(parts):
        is_gap = low < last_high and last_low < high and begin - last_right > _PART_GAP * height
        if is_gap or (begin > last_left and height < low - last_low < _MAX_RISE * height):
            heights += [(low + high) / 2, (last_low + last_high) / 2]
    return sorted(heights)


def _read_rules(page: Any) -> _Rules:
    """Return the straight lines and the edges of the rectangles that are drawn across and down the page."""
    count = pdfium_c.FPDFPage_CountObjects(page)
    across: list[Rule] = []
    down: list[Rule] = []
    for number in range(count if count <= MAX_OBJECTS else 0):
        path = pdfium_c.FPDFPage_GetObject(page, number)
        if pdfium_c.FPDFPageObj_GetType(path) == pdfium_c.FPDF_PAGEOBJ_PATH and len(across) + len(down) < MAX_RULES:
            for (x0, y0), (x1, y1) in _edges_of(path):
                if abs(y0 - y1) <= _LEAN < abs(x0 - x1):
                    across.append((y0, min(x0, x1), max(x0, x1)))
                elif abs(x0 - x1) <= _LEAN < abs(y0 - y1):
                    down.append((x0, min(y0, y1), max(y0, y1)))
    return _Rules(_united(across), _united(down))


def _edges_of(path: Any) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the straight parts of a path, from and to."""
    x, y = c_float(), c_float()
    matrix = pdfium_c.FS_MATRIX(1, 0, 0, 1, 0, 0)
    pdfium_c.FPDFPageObj_GetMatrix(path, matrix)
    first = before = (0.0, 0.0)
    for number in range(min(pdfium_c.FPDFPath_CountSegments(path), MAX_RULES)):
        segment = pdfium_c.FPDFPath_GetPathSegment(path, number)
        pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        match pdfium_c.FPDFPathSegment_GetType(segment):
            case pdfium_c.FPDF_SEGMENT_MOVETO:
                first = point
            case pdfium_c.FPDF_SEGMENT_LINETO:
                yield before, point
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            yield point, first
        before = point


def _united(rules: Iterable[Rule]) -> list[Rule]:
    """Unite the parts of a line, and lines that nearly coincide."""
    united: list[Rule] = []
    for position, low, high in sorted(rules, key=lambda rule: (round(rule[0] / (2 * _LEAN)), rule[1])):
        if united and abs(united[-1][0] - position) <= 2 * _LEAN and low <= united[-1][2] + 2 * _LEAN:
            before = united.pop()
            united.append((before[0], before[1], max(before[2], high)))
        else:
            united.append((position, low, high))
    return united


def _regions(across: Sequence[Rule]) -> Iterator[_Box]:
    """Yield the regions between at least three lines of one width, none far below the one before."""
    widths: dict[tuple[int, int], list[float]] = defaultdict(list)
    for position, low, high in across:
        widths[round(low / 5), round(high / 5)].append(position)
    for (left, right), positions in widths.items():
        run: list[float] = []
        for position in (*sorted(positions), float("inf")):
            if run and position - run[-1] > _RULE_GAP:
                if len(run) >= MIN_ROWS:
                    yield _Box(5 * left - 5, run[0], 5 * right + 5, run[-1])
                run = []
            run.append(position)


def _is_in(line: Line, region: _Box) -> bool:
    """Return whether a line stands between a region's ruling lines, or as a row of headers above them."""
    top = region.top + (_HEADER_HEIGHT * line[0].height if len(line) > 1 else 0)
    is_between = all(region.left < part.left and part.right < region.right for part in line)
    return is_between and region.bottom < line[0].middle < top


def _lines(
    printed: Any, text: str, heights: Sequence[float], regions: Sequence[_Box], walls: Sequence[Rule]
) -> Iterator[Line]:
    """Yield the parts of each line of the text: words that neither a wide gap nor a ruling line separates.

    A line at none of the heights and in no region is one part: running text takes little time.
    """
    for line in _LINE.finditer(text):
        whole = _box(printed, line)
        place = bisect(heights, whole.bottom)
        is_beside = place < len(heights) and heights[place] < whole.top
        if is_beside or any(_is_in([whole], region) for region in regions):
            yield list(_parts(printed, _WORD.finditer(text, line.start(), line.end()), walls))
        elif whole.height > 0:
            yield [whole]


def _parts(printed: Any, words: Iterable[re.Match[str]], walls: Sequence[Rule]) -> Iterator[_Box]:
    part: _Box | None = None
    for found in words:
        word = _box(printed, found)
        if part and _is_joined(part, word, walls):
            part |= word
        elif word.height > 0:
            if part:
                yield part
            part = word
    if part:
        yield part


def _box(printed: Any, found: re.Match[str]) -> _Box:
    """Return the box of a stretch of text, from those of its first and its last character."""
    start, end = found.span()
    index, measure = pdfium_c.FPDFText_GetCharIndexFromTextIndex, pdfium_c.FPDFText_GetLooseCharBox
    first, last = pdfium_c.FS_RECTF(), pdfium_c.FS_RECTF()
    measure(printed, index(printed, start), first)
    measure(printed, index(printed, end - 1), last)
    return _Box(min(first.left, last.left), first.bottom, max(first.right, last.right), first.top, start, end)


def _is_joined(part: _Box, word: _Box, walls: Sequence[Rule]) -> bool:
    gap = word.left - part.right
    height = max(part.height, word.height)
    if not -height < gap < _WORD_GAP * height or abs(part.middle - word.middle) > height:
        return False
    return gap < _LEAN or not any(
        part.right - _LEAN < x < word.left + _LEAN and low < word.middle < high for x, low, high in walls
    )


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield runs of lines whose parts stand beside each other, with the single ones that go on in a cell."""
    beside = [len(line) > 1 for line in lines]
    tops = [line[0].middle for line in lines]  # of the row that a line is of, as far as it is known
    for place, (line, following) in enumerate(pairwise(lines)):
        height = following[0].height
        if (
            height / 2 < following[0].middle - line[-1].middle < _CELL_LINES * height
            and following[0].left > line[0].left
        ):
            beside[place + 1] = True  # the next cell of a row, after one of several lines
            for back in range(place, max(-1, place - _CELL_LINES), -1):
                if lines[back][0].middle > following[0].top:
                    break
                beside[back] = True
                tops[back] = max(tops[back], following[0].middle)
    block: list[Line] = []
    lowest = 0.0
    for line, is_beside, top in zip(lines, beside, tops, strict=True):
        if block and not (lowest - top < _ROW_GAP * line[0].height and (is_beside or _goes_on(block, line))):
            yield block
            block = []
        if block or is_beside:
            low = min(part.middle for part in line)
            lowest = min(lowest, low) if block else low
            block.append(line)
    if block:
        yield block


def _goes_on(block: Sequence[Line], line: Line) -> bool:
    """Return whether a line begins below a part of the line before other than the block's first column."""
    left = min(line[0].left for line in block)
    return line[0].left > left + line[0].height and any(abs(line[0].left - part.left) < 2 for part in block[-1])


def _write(block: Sequence[Line], rules: _Rules, text: str) -> str:
    """Return a block of lines as a table in Markdown; empty if it is none."""
    parts = [part for line in block for part in line]
    whole = parts[0]
    for part in parts:
        whole |= part
    lines = _levels(parts)
    margin = whole.height / len(lines)
    across = _dividing(rules.across, whole.left, whole.right, whole.bottom - margin, whole.top + margin)
    walls = _dividing(rules.down, whole.bottom, whole.top, whole.left, whole.right)
    edges = _edges(lines, walls)
    is_whole = sum(_count(text, part.start, part.end) for part in parts) == _count(text, whole.start, whole.end)
    if not is_whole or not 0 < len(edges) < MAX_COLUMNS:
        return ""
    bands = [list(band) for _, band in groupby(lines, key=lambda line: bisect(across, line[0].middle))]
    is_grid = bool(walls) and len(across) >= MIN_ROWS
    is_ruled = is_grid or (len(bands) >= MIN_ROWS and len(lines) <= _BAND_LINES * len(bands))
    layout = _Layout(text, edges)
    rows = [row for band in bands for row in layout.rows(band, is_row=is_ruled)]
    if len(rows) < (2 if is_grid else MIN_ROWS) or not (
        is_ruled or layout.is_table(rows, has_rules=len(across) > 1 and len(bands) > 1)
    ):
        return ""
    return write_table([layout.cells(row) for row in rows])


def _count(text: str, start: int, end: int) -> int:
    """Return the number of characters that are no space."""
    return sum(map(len, text[start:end].split()))


def _levels(parts: Sequence[_Box]) -> list[Line]:
    """Return the parts by their height on the page, from its top, each level from left to right."""
    levels: list[Line] = []
    for part in sorted(parts, key=lambda part: -part.middle):
        if levels and levels[-1][0].middle - part.middle < 0.4 * min(part.height, levels[-1][0].height):
            levels[-1].append(part)
        else:
            levels.append([part])
    return [sorted(level, key=lambda part: part.left) for level in levels]


def _dividing(rules: Sequence[Rule], low: float, high: float, first: float, last: float) -> list[float]:
    """Return the positions between `first` and `last` of the rules that take most of the way from `low` to `high`."""
    lengths: dict[float, float] = {}
    for position, begin, end in sorted(rule for rule in rules if first < rule[0] < last):
        before = next(reversed(lengths), position)
        same = before if position - before <= 2 * _LEAN else position
        lengths[same] = lengths.get(same, 0) + max(0, min(end, high) - max(begin, low))
    return [position for position, length in lengths.items() if length >= _RULED * (high - low)]


def _edges(lines: Sequence[Line], walls: Sequence[float]) -> list[float]:
    """Return where columns meet: at ruling lines, or in the middle of gaps that few lines cross."""
    changes = sorted(chain.from_iterable(((part.left, 1), (part.right, -1)) for line in lines for part in line))
    height = max(part.height for line in lines for part in line)
    most = int(_CROSSED * len(lines))
    edges: list[float] = []
    crossing = 0
    gap: list[tuple[int, float, float]] = []  # crossing, and minus the width of stretches that few lines cross, begin
    for (begin, change), (end, _) in pairwise(changes):
        crossing += change
        if crossing <= most:
            gap.append((crossing, begin - end, begin))
        elif gap:
            last = max(low - width for _, width, low in gap)
            if last - gap[0][2] > height / 2 and gap[0][2] > changes[0][0]:
                _, width, low = min(gap)
                edges.append(low - width / 2)
            gap = []
    return sorted({*walls, *(edge for edge in edges if all(abs(edge - wall) > 2 * height for wall in walls))})


@dataclass(frozen=True, slots=True)
class _Layout:
    text: str  # of the page
    edges: Sequence[float]  # between columns

    def rows(self, lines: Sequence[Line], *, is_row: bool) -> Iterator[list[Line]]:
        """Yield the lines of each row; `is_row`: they are one if they can be, since they stand between ruling lines."""
        if is_row and not self._has_numbers_below_each_other(lines):
            yield list(lines)
            return
        drops = [line[0].middle - following[0].middle for line, following in pairwise(lines)]
        pitch = max(_WIDE_PITCH * min(drops, default=0), _LINE_PITCH * lines[0][0].height)
        groups: list[list[Line]] = [[lines[0]]]
        for line, drop in zip(lines[1:], drops, strict=True):
            if drop > pitch:
                groups.append([line])
            else:
                groups[-1].append(line)
        for group in groups:
            is_one = len(groups) >= MIN_ROWS or self._are_parts(group)
            is_one = is_one and not self._has_numbers_below_each_other(group)
            yield from [group] if is_one else self._unwrapped(group)

    def _are_parts(self, lines: Sequence[Line]) -> bool:
        """Return whether lines fill different columns, as those of cells with different numbers of lines do."""
        filled = {frozenset(self._columns(line)) for line in lines}
        return 1 < len(filled) > len(lines) / 2

    def _unwrapped(self, lines: Sequence[Line]) -> Iterator[list[Line]]:
        """Yield a row a line, with the lines below in which words alone go on, but not those of the first column."""
        row: list[Line] = []
        for line in lines:
            columns = self._columns(line)
            is_rest = 0 not in columns and len(columns) <= (len(self.edges) + 1) / 2
            if row and not (is_rest and not any(map(self._is_number, line))):
                yield row
                row = []
            row.append(line)
        yield row

    def _columns(self, line: Line) -> set[int]:
        return {self._span(part)[0] for part in line}

    def _has_numbers_below_each_other(self, lines: Sequence[Line]) -> bool:
        columns = [self._span(part)[0] for line in lines for part in line if self._is_number(part)]
        return len(columns) > len(set(columns))

    def _is_number(self, part: _Box) -> bool:
        return _NUMBER.fullmatch(self.text, part.start, part.end) is not None

    def _span(self, part: _Box) -> tuple[int, int]:
        """Return the first and the last column of a part."""
        return bisect(self.edges, part.left + _LEAN), bisect(self.edges, part.right - _LEAN)

    def cells(self, row: Sequence[Line]) -> list[Cell]:
        parts = sorted((*self._span(part), -part.middle, part.start, part.end) for line in row for part in line)
        cells: list[Cell] = []
        column = 0
        while column <= len(self.edges):
            last = column
            texts: list[str] = []
            while parts and parts[0][0] <= last:
                _, end, _, start, stop = parts.pop(0)
                last = max(last, end)
                texts.append(self.text[start:stop])
            cells.append(Cell(_HYPHEN.sub(r"\1", "\n".join(texts)), last - column + 1))
            column = last + 1
        return cells

    def is_table(self, rows: Sequence[Sequence[Line]], *, has_rules: bool) -> bool:
        """Return whether rows that nothing frames are those of a table rather than text side by side."""
        table = [self.cells(row) for row in rows]
        columns = [[cell.text for cell in column] for column in zip(*map(_placed, table), strict=True)]
        texts = [text for column in columns for text in column if text]
        if len(texts) < 2 * len(rows) or any(
            sum(pattern.search(text) is not None for text in texts) >= _FEATURES * len(texts) / len(columns)
            for pattern in (_LEADERS, _CODE, _LABEL)
        ):
            return False
        prose = sum(map(_is_prose, columns))
        has_numbers = any(map(_is_numeric, columns[1:]))
        if len(columns) == 2:
            is_list = all(_MARKER.fullmatch(text) for text in columns[0] if text)
            is_full = len(texts) >= _FILLED * 2 * len(rows)
            return is_full and not (prose or is_list or _is_ascending(columns[1])) and (has_numbers or has_rules)
        is_full = len(rows) > MIN_ROWS and len(texts) >= _FILLED * len(rows) * len(columns)
        return has_rules or (prose < 2 and (has_numbers or is_full))


def _placed(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield a row's cells, and empty ones where a merged one goes on."""
    for cell in cells:
        yield cell
        yield from [Cell("")] * (cell.columns - 1)


def _is_prose(column: Sequence[str]) -> bool:
    lines = [line for text in column for line in text.split("\n") if line]
    return sum(len(line.split()) for line in lines) >= _PROSE_WORDS * len(lines)


def _is_numeric(column: Sequence[str]) -> bool:
    filled = [text for text in column[1:] if text]
    numbers = sum(_NUMBER.fullmatch(text) is not None for text in filled)
    return numbers >= max(2, _NUMERIC * len(filled))


def _is_ascending(column: Sequence[str]) -> bool:
    """Return whether a column holds page numbers, from a table of contents."""
    numbers = [int(text) for text in column if text.isdecimal()]
    return len(numbers) >= len(column) - 1 and all(number <= following for number, following in pairwise(numbers))

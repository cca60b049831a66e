"""Texts of files: decoding, cleaning, building with headings and locations; tables, plain text and Markdown.

Bytes are decoded by byte order mark, zero bytes of UTF-16 and UTF-32, as UTF-8, as declared, by the likeliest charset.
"""

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, takewhile, zip_longest
from typing import Any

from charset_normalizer import from_bytes
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText, SourceLocation, Span, Table, TableRow
from graphrag.parsers.detection import MARKDOWN, SUBTITLES, marked_charset
from graphrag.parsers.markup import find_headings, join_cues

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c]|\x85|\u2028|\u2029")
_TRAILING_SPACE = re.compile(r"[ \t]+(?=\n|$)")
_BLANK_LINES = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Compose Unicode, unify line ends, remove control characters, trailing space and repeated blank lines."""
    text = _LINE_END.sub("\n", text)
    text = _CONTROL.sub("", text)
    text = unicodedata.normalize("NFC", text)
    text = _TRAILING_SPACE.sub("", text)
    return _BLANK_LINES.sub("\n\n", text).strip()


def holds_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Cell of a table; `columns` and `rows` that it takes, more than one where it is merged."""

    text: str
    columns: int = 1
    rows: int = 1
    is_header: bool = False


MAX_HEADER_ROWS = 3
MAX_REPEATED_CHARS = 200  # of a merged cell's text; a longer one is written once
MAX_REPEATS = 100_000  # of the merged cells of a table
_EMPTY = Cell("")


def write_table(rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table in Markdown: its title as a line, a header, a rule, and a line for each row that holds text.

    A merged cell is repeated at each of its places; rows of headers are joined («Budget 2025 / T1»); if none is marked,
    merged cells tell how many there are. One column is written as lines, one row without a rule.
    """
    grid = [row for row in _without_empty_columns(_expand(rows)) if any(cell.text for cell in row)]
    titles: list[str] = []
    while len(grid) > 1 and _is_title(grid[0], grid[1]):
        titles.append(grid.pop(0)[0].text)
    if max(map(len, grid), default=0) < 2 or (len(grid) == 1 and any("\n" in cell.text for cell in grid[0])):
        return "\n".join([*titles, *(cell.text for cell in dict.fromkeys(chain.from_iterable(grid)))])
    if len(grid) == 1:
        return "\n".join([*titles, _row(cell.text for cell in grid[0])])
    count = min(_count_headers(grid), MAX_HEADER_ROWS, len(grid) - 1)
    rule = ["---"] * max(map(len, grid))
    spaces = [_EMPTY] * len(rule)  # Markdown wants as many headers as rules
    headers = (_join_headers(cells) for cells in zip_longest(spaces, *grid[:count], fillvalue=_EMPTY))
    return "\n".join([*titles, _row(headers), _row(rule), *(_row(_texts(row)) for row in grid[count:])])


def _expand(rows: Sequence[Sequence[Cell]]) -> Iterator[list[Cell]]:
    """Yield rows with a merged cell at each of its places, unless these are too many."""
    spare = MAX_REPEATS
    above: dict[int, tuple[Cell, int]] = {}  # by column: a merged cell and the rows that it takes from here on
    for number, row in enumerate(rows):
        cells, line, below = deque(row), list[Cell](), dict[int, tuple[Cell, int]]()
        while cells or len(line) in above:
            column, width = len(line), 1
            if column in above:
                cell, height = above[column]
            else:
                cell = cells.popleft()
                width, height = max(1, cell.columns), max(1, min(cell.rows, len(rows) - number))
                if width * height > spare:
                    width = height = 1
                spare -= width * height - 1
            repeated = cell if len(cell.text) <= MAX_REPEATED_CHARS else _EMPTY
            line += [cell, *[repeated] * (width - 1)]
            if height > 1:
                below |= dict.fromkeys(range(column, column + width), (repeated, height - 1))
        above = below
        yield line


def _without_empty_columns(grid: Iterable[list[Cell]]) -> list[list[Cell]]:
    """Return the columns in which a cell with text begins."""
    rows = list(grid)
    begun = {
        column
        for row in rows
        for column, (before, cell) in enumerate(pairwise([_EMPTY, *row]))
        if cell.text and cell is not before
    }
    return [[cell for column, cell in enumerate(row) if column in begun] for row in rows]


def _is_title(row: Sequence[Cell], following: Sequence[Cell]) -> bool:
    """Return whether a row is one cell, merged or the only one with text, above a row of several."""
    is_alone = len(set(row)) == 1 or not any(cell.text for cell in row[1:])
    return is_alone and bool(row[0].text) and len({cell for cell in following if cell.text}) > 1


def _count_headers(grid: Sequence[Sequence[Cell]]) -> int:
    """Return the number of first rows that are marked; else one more than those whose merged cells divide below."""
    marked = sum(1 for _ in takewhile(lambda row: all(cell.is_header or not cell.text for cell in row), grid))
    return marked or 1 + sum(1 for _ in takewhile(lambda pair: _is_divided(*pair), pairwise(grid)))


def _is_divided(row: Sequence[Cell], below: Sequence[Cell]) -> bool:
    widths = Counter(row)
    others = [pair for pair in zip(row, below, strict=False) if widths[pair[0]] == 1]
    return bool(others) and len(others) < len(row) and all(a is b or not (a.text and b.text) for a, b in others)


def _join_headers(cells: Iterable[Cell]) -> str:
    return " / ".join(dict.fromkeys(cell.text for cell in cells if cell.text))


def _texts(row: Sequence[Cell]) -> list[str]:
    """Return the cells' texts; that of a cell that takes the whole row once."""
    cells = row if len(set(row)) > 1 else [row[0], *[_EMPTY] * (len(row) - 1)]
    return [cell.text for cell in cells]


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(' '.join(text.split()).replace('|', '/') for text in texts)} |"


@dataclass(slots=True)
class TextBuilder:
    """Its text is clean: cleaning it again changes nothing, so every offset holds."""

    most: int  # characters
    headings: list[Heading] = field(default_factory=list)
    locations: list[SourceLocation] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def length(self) -> int:
        return self._length

    def add(self, block: str, *, level: int | None = None, gap: str = "\n\n") -> Span:
        """Append a block and return its span, which is empty if cleaning left nothing.

        A heading has a level, from 1. Raises UnreadableDocument: too_large.
        """
        block = clean(block) if level is None else " ".join(clean(block).split())
        if not block:
            return Span(self._length, self._length)
        if self._parts:
            self._append(gap)
        start = self._length
        self._append(block)
        if level is not None:
            self.headings.append(Heading(level, block, start))
        return Span(start, self._length)

    def add_page(self, number: int, added: Sequence[Span], *, is_recognized: bool = False) -> None:
        """Note the page that these blocks are on, where any is not empty."""
        if spans := [span for span in added if span.end > span.start]:
            self.locations.append(
                SourceLocation(spans[0].start, spans[-1].end, page=number, is_recognized=is_recognized)
            )

    def include(self, parsed: ParsedText, *, level: int, name: str = "") -> None:
        """Append another text, its headings below `level`; that of a file in this one below its name, a heading.

        Raises UnreadableDocument: too_large.
        """
        if not parsed.text:
            return
        name = " ".join(clean(name).split())
        self.add(name, level=level)
        if self._parts:
            self._append("\n\n")
        start = self._length
        self._append(parsed.text)
        self.headings += [replace(h, level=h.level + level, start_char=h.start_char + start) for h in parsed.headings]
        self.locations += [
            replace(
                location,
                start_char=location.start_char + start,
                end_char=location.end_char + start,
                file=_path(name, location.file),
                sheet=_path(name, location.sheet) if location.cells else "",
            )
            for location in parsed.locations
        ]
        self.tables += [
            replace(table, sheet=_path(name, table.sheet), rows=tuple(_shifted(table.rows, start)))
            for table in parsed.tables
        ]

    def parsed(self, media_type: str, **facts: Any) -> ParsedText:
        """Return the whole. Raises UnreadableDocument: empty."""
        if not holds_words(text := self.text):
            raise UnreadableDocument("the file holds no text", reason="empty")
        return ParsedText(text, media_type, tuple(self.headings), tuple(self.locations), tuple(self.tables), **facts)

    def _append(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
        if self._length > self.most:
            raise UnreadableDocument(f"the file holds more than {self.most:,} characters", reason="too_large")


def _path(*names: str) -> str:
    return "/".join(filter(None, names))


def _shifted(rows: Iterable[TableRow], by: int) -> Iterator[TableRow]:
    for row in rows:
        yield replace(row, start_char=row.start_char + by, end_char=row.end_char + by)


# A header or footer that says nothing else.
PAGE_NUMBER = re.compile(r"\W*(?:p(?:[aá]g(?:ina|e|\.)?|\.)?\W*)?\d+(?:\W*(?:de|of|sur)?\W*\d+)?\W*", re.IGNORECASE)
CUT = "\ufffe"  # in the text of a PDF: a hyphen at a line's end, and the end of the line
_HYPHENATED = re.compile(rf"(?<=[^\W\d_])(?:[-\u00ad\u2010]\n|{CUT}\n?)(?=[^\W\d_])")
_WORD_BEFORE, _WORD_AFTER = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")
_LONGEST_WORD = 40
# Words before and after a hyphen that is their own, where it also stands at a line's end.
_BEFORE_HYPHEN = frozenset(
    "peut celui celle ceux celles quelques vis soi rendez après avant demi vingt trente quarante cinquante soixante"
    " quatre well self half twenty thirty forty fifty sixty seventy eighty ninety".split()
)
_AFTER_HYPHEN = frozenset(
    "il ils elle elles nous vous moi toi lui là même mêmes dessus dessous delà devant être parole dire"
    " based called driven known level oriented related scale specific term year".split()
)


def word_joiner(pages: Sequence[str]) -> Callable[[str], str]:
    """Return what joins words that a hyphen cuts at a line's end, unless compounds have it or `pages` do elsewhere."""
    written = {word.lower() for page in pages for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", page)}
    return lambda text: _HYPHENATED.sub(lambda cut: _joint(cut, written), text).replace(CUT, "-")


def _joint(cut: re.Match[str], written: set[str]) -> str:
    before = _WORD_BEFORE.search(cut.string[max(0, cut.start() - _LONGEST_WORD) : cut.start()])
    after = _WORD_AFTER.match(cut.string, cut.end())
    assert before is not None  # the pattern stands between two letters
    assert after is not None
    first, last = before[0].lower(), after[0].lower()
    is_compound = first in _BEFORE_HYPHEN or last in _AFTER_HYPHEN or min(len(first), len(last)) == 1
    return "-" if is_compound or after[0][0].isupper() or f"{first}-{last}" in written else ""


LEGACY_CHARSETS = ["cp1252", "cp850", "mac_roman"]  # what the likeliest comes first; Latin-1 is read as its superset
VALID_PER_ERROR = 10  # accented characters that are good UTF-8 for each that is not; in cp1252 hardly any is
_SAMPLE = 4_096  # characters
_WESTERN_SAMPLE = 1_000_000  # bytes
_LOWER = "áéíóúüñàâçèêëîïôùûœæäöãõß"
_MARKED = re.compile(r"(?s)(?=(.)([^\x00-\x7f])(.))")  # a character of the upper half between its neighbours
_MOST_CONTROLS = 0.02  # of the characters; random bytes have five times as many


def decode(data: bytes, *, limits: ParsingLimits, declared: str | None = None) -> str:
    """Raises UnreadableDocument: too_large, unsupported where it is no text, encoding where its charset isn't known."""
    text = _decode(data, declared)
    if len(text) > limits.characters:
        raise UnreadableDocument(f"the file holds more than {limits.characters:,} characters", reason="too_large")
    controls = sum(character < " " and character not in "\t\n\r\f\x0b\x1b" for character in text[:_SAMPLE])
    if controls > _MOST_CONTROLS * min(len(text), _SAMPLE):
        raise UnreadableDocument("the file is not text", reason="unsupported")
    return text


def _decode(data: bytes, declared: str | None) -> str:
    if charset := marked_charset(data):
        return data.decode(charset, errors="replace")
    if b"\0" in data:
        raise UnreadableDocument("the file is not text: it holds NUL bytes", reason="unsupported")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_broken(data, declared)


def _decode_broken(data: bytes, declared: str | None) -> str:
    text = data.decode("utf-8", errors="replace")
    errors = text.count("\ufffd")
    if sum(character > "\x7f" for character in text) - errors >= VALID_PER_ERROR * errors:
        return text
    if declared:
        try:
            return data.decode(declared)
        except (LookupError, UnicodeDecodeError):
            pass  # it declares wrongly: guess
    if western := _western(data):
        return data.decode(western, errors="replace")
    best = from_bytes(data, cp_isolation=LEGACY_CHARSETS).best()
    if best is None:
        raise UnreadableDocument("the file's character encoding is not known", reason="encoding")
    return str(best)


def _western(data: bytes) -> str | None:
    """The charset in which the upper half's characters stand where Spanish, French or English puts them."""
    sample = b" %b " % data[:_WESTERN_SAMPLE]
    scores = {charset: _score(sample.decode(charset, errors="replace")) for charset in LEGACY_CHARSETS}
    best = max(LEGACY_CHARSETS, key=lambda charset: scores[charset])
    return best if scores[best] > 0 else None


def _score(text: str) -> int:
    return sum(1 if _is_in_place(*match.groups()) else -1 for match in _MARKED.finditer(text))


def _is_in_place(before: str, mark: str, after: str) -> bool:
    if mark in _LOWER:
        return True
    if mark.lower() in _LOWER:
        return not before.islower()
    if mark in "¿¡«“‘„":
        return not before.isalpha()
    if mark in "»”…":
        return not after.isalpha()
    if mark == "’":
        return before.isalpha()
    if mark in "–—":
        return not before.isalpha() and not after.isalpha()
    return mark in "°ºª€\u00a0" and not (before.isalpha() and after.isalpha())


LONGEST_MARKDOWN = 3_000_000  # characters; dense with marks they take ten seconds
_LINES = MarkdownIt("commonmark")
_BLOCKS = MarkdownIt("commonmark").disable("inline")  # only headings' own marks are looked at
_FRONT_MATTER = re.compile(r"---\n(?=[\w-]+:)(?:.*\n)*?---(?:\n|$)")  # to CommonMark its last line is a heading


def parse_text(data: bytes, *, media_type: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: unsupported, encoding, too_large or empty."""
    text = clean(decode(data, limits=limits))
    if media_type == SUBTITLES:
        text = join_cues(text)
    if not holds_words(text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    if media_type != MARKDOWN:
        return ParsedText(text, media_type, tuple(find_headings(text, media_type)))
    if len(text) > LONGEST_MARKDOWN:
        return ParsedText(text, media_type, warnings=("the text is too long to look for its headings",))
    return ParsedText(text, media_type, tuple(_markdown_headings(text)))


def _markdown_headings(text: str) -> Iterator[Heading]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    front_matter = _FRONT_MATTER.match(text)
    first = front_matter.end() if front_matter else 0
    references: dict[str, Any] = {}
    for opening, inline in pairwise(_BLOCKS.parse(text, references)):
        if opening.type == "heading_open" and opening.map:
            start, visible = starts[opening.map[0]], _visible(_LINES.parseInline(inline.content, references))
            if visible and start >= first:
                yield Heading(int(opening.tag[1:]), visible, start)


def _visible(tokens: Sequence[Token]) -> str:
    """Return the visible text of Markdown tokens: no marks, no tags, no addresses of links."""
    parts = (part for token in tokens for part in token.children or [])
    texts = (" " if part.type.endswith("break") else part.content for part in parts if part.type != "html_inline")
    return " ".join("".join(texts).split())

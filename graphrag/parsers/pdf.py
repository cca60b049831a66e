"""PDF files through pypdfium2: text in reading order, headings by print size, pictures of pages."""

import re
import struct
import unicodedata
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_int
from dataclasses import dataclass
from itertools import groupby, product
from math import sqrt
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText, SourceLocation
from graphrag.models.ingestion import Box, PageRequest, PageView
from graphrag.parsers.detection import PDF
from graphrag.parsers.pdf_tables import write_tables
from graphrag.parsers.text import TextBuilder, clean
from graphrag.parsers.wire import PNG

LARGER = 1.15  # than the text's print
LEVELS = 4
_LONGEST = 200  # characters
_MOST = 0.2  # of a text's characters: where more are large, size says nothing


@dataclass(frozen=True, slots=True)
class PrintedLine:
    text: str
    size: float  # of its print, in points


def find_headings(
    text: str, locations: Sequence[SourceLocation], pages: Sequence[Sequence[PrintedLine]]
) -> list[Heading]:
    """`pages`: the lines of each page, from 1."""
    sizes = Counter[float]()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    if not sizes:
        return []
    body = max(sizes, key=lambda size: sizes[size])
    large = sorted((size for size in sizes if size >= LARGER * body), reverse=True)
    if sum(sizes[size] for size in large) > _MOST * sizes.total():
        return []
    levels = {size: min(level, LEVELS) for level, size in enumerate(large, start=1)}
    return [
        heading
        for location in locations
        if location.page
        for heading in _on_page(text, location, pages[location.page - 1], levels)
    ]


def _on_page(
    text: str, location: SourceLocation, lines: Sequence[PrintedLine], levels: dict[float, int]
) -> Iterator[Heading]:
    """Lines of one size, one after the other, are one heading."""
    after = location.start_char
    for size, group in groupby(lines, key=lambda line: line.size):
        if size not in levels:
            continue
        parts = [clean(line.text) for line in group]
        written = "\n".join(parts)
        start = text.find(written, after, location.end_char)
        is_in_line = text[max(0, start - 1) : start].strip() != ""  # of a table
        if start < 0 or is_in_line or len(written) > _LONGEST or sum(map(str.isalpha, written)) < 2:
            continue
        after = start + len(written)
        yield Heading(levels[size], " ".join(written.split()), start)


FEW_CHARACTERS = 8  # on a page with an image: it was scanned
MARGIN_LINES = 3  # at a page's top and bottom, where headers and footers stand
REPEATED = 0.5  # of the pages hold it
_FEWEST_PAGES = 3
_NUMBER = re.compile(r"(?<!\d)(\d{1,6})(?!\d)")
_MOST_NUMBERS = 3  # of a header's, that may be the page's
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[^\W\d_])")
_WORD_BEFORE, _WORD_AFTER = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class _Page:
    text: str = ""
    lines: tuple[PrintedLine, ...] = ()
    is_scanned: bool = False  # an image of a page
    is_broken: bool = False


def parse_pdf(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large, scanned or empty."""
    document = open_pdf(data)
    if len(document) > limits.pages:
        raise UnreadableDocument(f"the file has more than {limits.pages:,} pages", reason="too_large")
    pages = list(_read_pages(document, limits))
    scanned = [number for number, page in enumerate(pages, start=1) if page.is_scanned]
    broken = [number for number, page in enumerate(pages, start=1) if page.is_broken]
    builder = TextBuilder(limits.characters)
    texts = join_words(without_repeated_lines([page.text for page in pages]))
    for number, text in enumerate(texts, start=1):
        span = builder.add(text)
        if span.end > span.start:
            builder.locations.append(SourceLocation(span.start, span.end, page=number))
    text = builder.text
    if not any(character.isalnum() for character in text):
        raise _without_text(scanned, broken)
    metadata = _metadata(document)
    return ParsedText(
        text,
        PDF,
        tuple(find_headings(text, builder.locations, [page.lines for page in pages])),
        locations=tuple(builder.locations),
        title=metadata.get("Title", ""),
        authors=(metadata.get("Author", ""),),
        warnings=tuple(_warnings(scanned, broken)),
    )


def open_pdf(data: bytes) -> Any:
    """A pypdfium2.PdfDocument. Raises UnreadableDocument: encrypted or damaged."""
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as exc:
        if "password" in str(exc).lower():
            raise UnreadableDocument(
                "the file is protected by a password: save it without one", reason="encrypted"
            ) from exc
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc


def _read_pages(document: Any, limits: ParsingLimits) -> Iterator[_Page]:
    """Raises UnreadableDocument: too_large."""
    characters = 0
    for number in range(len(document)):
        try:
            page = _read_page(document[number])
        except pdfium.PdfiumError:
            page = _Page(is_broken=True)
        characters += len(page.text)
        if characters > limits.characters:
            raise UnreadableDocument(f"the file holds more than {limits.characters:,} characters", reason="too_large")
        yield page


def _read_page(page: Any) -> _Page:
    try:
        printed = page.get_textpage()
        written = printed.get_text_range()
        text = write_tables(page, printed, written).replace("\r\n", "\n").replace("\ufffe", "")
        few = len(text.strip()) < FEW_CHARACTERS
        images = page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3) if few else ()
        return _Page(text, tuple(_lines(printed, written)), is_scanned=any(True for _ in images))
    finally:
        page.close()


def _lines(printed: Any, written: str) -> Iterator[PrintedLine]:
    start = 0
    for text in written.split("\r\n"):
        if text.strip():
            place = start + len(text) - len(text.lstrip())
            character = pdfium_c.FPDFText_GetCharIndexFromTextIndex(printed, place)
            yield PrintedLine(text.replace("\ufffe", ""), _size(printed, character))
        start += len(text) + 2


def _size(printed: Any, character: int) -> float:
    """Return a character's printed size in points; 0 for text that stands upright.

    Many files set every character in one size and scale it, so the font size alone doesn't tell.
    """
    matrix = pdfium_c.FS_MATRIX()
    size = float(pdfium_c.FPDFText_GetFontSize(printed, character))
    scale = abs(matrix.d) if pdfium_c.FPDFText_GetMatrix(printed, character, matrix) else 1.0
    return round(2 * size * scale) / 2


def _without_text(scanned: Sequence[int], broken: Sequence[int]) -> UnreadableDocument:
    if scanned:
        return UnreadableDocument(
            "the file has no text layer: its pages are images; run character recognition (OCR) on it first",
            reason="scanned",
        )
    if broken:
        return UnreadableDocument("none of the file's pages can be read", reason="damaged")
    return UnreadableDocument("the file holds no text", reason="empty")


def _warnings(scanned: Sequence[int], broken: Sequence[int]) -> Iterator[str]:
    if scanned:
        yield f"pages without a text layer: {_ranges(scanned)}"
    if broken:
        yield f"pages that can't be read: {_ranges(broken)}"


def _ranges(numbers: Sequence[int]) -> str:
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1] = [ranges[-1][0], number]
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges)


def _metadata(document: Any) -> dict[str, str]:
    found = {key: " ".join(value.split()) for key, value in document.get_metadata_dict().items()}
    # What a word processor makes of an untitled file says nothing.
    if re.search(r"^untitled|\.(docx?|pptx?|xlsx?|indd|dvi|tex|ps)$|^microsoft word", found.get("Title", ""), re.I):
        found["Title"] = ""
    return found


def without_repeated_lines(pages: Sequence[str]) -> list[str]:
    """Remove headers and footers that at least half of the pages share, apart from their page number."""
    lines = [page.strip().split("\n") for page in pages]
    filled = sum(page != [""] for page in lines)
    if filled < _FEWEST_PAGES:
        return list(pages)
    counts = Counter(
        shape
        for number, page in enumerate(lines)
        for shape in {s for i in _margin(page) for s in _shapes(page[i], number)}
    )
    repeated = {shape for shape, count in counts.items() if count >= REPEATED * filled}
    return [_without(page, number, repeated) for number, page in enumerate(lines)]


def _margin(lines: Sequence[str]) -> Iterable[int]:
    return {*range(min(MARGIN_LINES, len(lines))), *range(max(0, len(lines) - MARGIN_LINES), len(lines))}


def _without(lines: Sequence[str], number: int, repeated: set[str]) -> str:
    gone = {place for place in _margin(lines) if not repeated.isdisjoint(_shapes(lines[place], number))}
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def _shapes(line: str, page: int) -> set[str]:
    """Return the line as it is, and with page numbers replaced by their difference from the page's number.

    So «3 of 9» and «4 of 9» share a shape, but «Total 120» and «Total 87» don't; a table's rows have none.
    """
    if not line.strip() or line.startswith("| "):
        return set()
    if _ROMAN.fullmatch(line.strip()):
        return {"#"}
    parts = _NUMBER.split(" ".join(line.split()), maxsplit=_MOST_NUMBERS)
    choices = [(part, f"#{int(part) - page}") if place % 2 else (part,) for place, part in enumerate(parts)]
    return {"".join(choice) for choice in product(*choices)}


def join_words(pages: Sequence[str]) -> list[str]:
    """Join words that a hyphen cuts at a line's end, unless the text writes the hyphen elsewhere too."""
    written = {word.lower() for page in pages for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", page)}
    return [_HYPHENATED.sub(lambda cut: _joint(cut, written), page) for page in pages]


def _joint(cut: re.Match[str], written: set[str]) -> str:
    before = _WORD_BEFORE.search(cut.string[max(0, cut.start() - _LONGEST_WORD) : cut.start()])
    after = _WORD_AFTER.match(cut.string, cut.end())
    assert before is not None  # the pattern stands between two letters
    assert after is not None
    if after[0][0].isupper() or f"{before[0]}-{after[0]}".lower() in written:
        return "-"
    return ""


MOST_PIXELS = 4_000_000  # of a picture, whatever the page's shape: 1600 × 2263 is an A4 page
FEWEST_CHARACTERS = 12  # of the part of a quote that goes on on another page
MOST_BOXES = 200
_GRID = 1_000_000  # to which pdfium rounds coordinates
_COMPRESSION = 4
Span = tuple[int, int]  # of pdfium's characters


def view_page(data: bytes, request: PageRequest) -> PageView:
    """Raises UnreadableDocument, PdfiumError."""
    document = open_pdf(data)
    if not 1 <= request.number <= len(document):
        return PageView(len(document))
    page = document[request.number - 1]
    width, height = page.get_size()
    boxes = tuple(_boxes(page, request.quote))[:MOST_BOXES] if request.quote else ()
    picture = _picture(page, request.width) if request.width else b""
    return PageView(len(document), width, height, boxes, picture)


def _picture(page: Any, width: int) -> bytes:
    points = page.get_width() * page.get_height()
    scale = min(width / page.get_width(), sqrt(MOST_PIXELS / points))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    return _png(bitmap.to_numpy()[:, :, :3])


def _png(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Encode rows of RGB pixels as PNG. W3C Portable Network Graphics, section 5."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter: 0, none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack("!2I5B", width, height, 8, 2, 0, 0, 0)  # 8 bits, true colour
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), _COMPRESSION)), (b"IEND", b""))
    return PNG + b"".join(
        struct.pack("!I", len(body)) + kind + body + struct.pack("!I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def _boxes(page: Any, quote: str) -> Iterator[Box]:
    """A line each."""
    printed = page.get_textpage()
    for start, end in _find(printed, quote):
        for number in range(printed.count_rects(start, end - start)):
            left, bottom, right, top = printed.get_rect(number)
            (x0, y0), (x1, y1) = _to_page_shares(page, left, top), _to_page_shares(page, right, bottom)
            yield Box(min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0))


def _to_page_shares(page: Any, x: float, y: float) -> tuple[float, float]:
    """Return the point in shares of the page as displayed: rotated, and cut to its crop box."""
    across, down = c_int(), c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, across, down)
    return across.value / _GRID, down.value / _GRID


def _find(printed: Any, quote: str) -> Iterator[Span]:
    """Yield the spans of the quote on the page; else of its beginning and end, as far as the page has them."""
    written = [chr(pdfium_c.FPDFText_GetUnicode(printed, place)) for place in range(printed.count_chars())]
    characters = [(letter, place) for place, character in enumerate(written) for letter in _letters(character)]
    page = "".join(letter for letter, _ in characters)
    for part in _parts(quote, page):
        start = page.find(part)
        while start != -1:
            last = start + len(part) - 1
            yield _with_marks(written, characters[start][1], characters[last][1] + 1)
            start = page.find(part, last + 1)


def _with_marks(written: Sequence[str], start: int, end: int) -> Span:
    """Extend the span by the punctuation and quotation marks around it."""
    while start > 0 and _is_mark(written[start - 1]):
        start -= 1
    while end < len(written) and _is_mark(written[end]):
        end += 1
    return start, end


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def _parts(quote: str, page: str) -> Iterator[str]:
    """Yield the letters of what the page has of a quote: of a table's row, the cells if they stand apart."""
    whole = _letters(quote)
    if whole in page:
        yield from [whole] if whole else []
    elif "|" in quote:
        yield from (cell for cell in map(_letters, quote.split("|")) if len(cell) >= FEWEST_CHARACTERS and cell in page)
    else:
        yield from _ends(whole, page)


def _ends(quote: str, page: str) -> Iterator[str]:
    lengths = range(1, len(quote))
    head = bisect_left(lengths, True, key=lambda length: quote[:length] not in page)
    tail = bisect_left(lengths, True, key=lambda length: quote[-length:] not in page)
    for part in (quote[:head], quote[len(quote) - tail :]):
        if len(part) >= FEWEST_CHARACTERS:
            yield part


def _letters(text: str) -> str:
    """Letters and digits alone: lines, hyphens, ligatures and accents are written in many ways."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())

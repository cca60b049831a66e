"""PDF files through pypdfium2: text in reading order, headings by print size, pictures of pages."""

import re
import struct
import unicodedata
import zlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from ctypes import c_int, c_uint, create_string_buffer
from dataclasses import dataclass, replace
from itertools import count, groupby, islice, product
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText, SourceLocation
from graphrag.models.ingestion import Box, PageRequest, PageView
from graphrag.parsers.detection import PDF, PNG
from graphrag.parsers.pdf_tables import write_tables
from graphrag.parsers.recognition import INSTALL, UNRECOGNIZED, Recognizer
from graphrag.parsers.text import TextBuilder, clean, holds_words, word_joiner

LARGER = 1.08  # than the text's print
_SMALLEST = 0.9  # of the text's print, for a heading in bold or another look
LEVELS = 4
_LONGEST = 200  # characters
_LONGEST_LESSER = 120  # characters of a heading that is as large as the text
_MOST = 0.2  # of a text's characters: where more stand out, their print says nothing
_FEWEST_ALIKE, _ALIKE = 3, 0.8  # groups of lines in another look, and their share that may be headings
_MOST_LINES = 2  # of a heading that only another look or its letters tell
_FEWEST_BETWEEN = 3  # lines from one numbered line to the next, on average: in a list there are fewer
_FONT_NAME = 128  # bytes of it
_BOLD = re.compile(r"bold|black|heavy|semibold|demi|[-,]bd|cmbx", re.IGNORECASE)
_LEADER = re.compile(r"(?:\. ?){4}")  # of a table of contents
_HEADING_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)[.)]?\s+(?=[^\W\d_])")
_FEWEST_OUTLINED, _OUTLINED = (
    2,
    0.5,
)  # headings found of an outline, and their share of it, for it to be that of the text
_MOST_OUTLINED = 2_000


class Print(NamedTuple):
    """The look of a line in print."""

    size: float  # in points
    is_bold: bool
    font: str = ""
    color: int = 0  # RGB


@dataclass(frozen=True, slots=True)
class PrintedLine:
    text: str
    print: Print


def find_headings(
    text: str, locations: Sequence[SourceLocation], pages: Sequence[Sequence[PrintedLine]]
) -> list[Heading]:
    """Return lines in larger print than the text, in bold or another look; where they are few, numbered ones too.

    Or those in capitals, if none is numbered. `pages` are the lines of each, from 1.
    """
    groups = [[(kind, list(lines)) for kind, lines in groupby(page, key=_look)] for page in pages]
    levels = _print_levels([group for page in groups for group in page])
    found = _locate(text, locations, [[(levels.get(kind, 0), lines) for kind, lines in page] for page in groups])
    if len(found) < _FEWEST_ALIKE:
        above = max((heading.level for heading in found), default=0)
        found += _locate(text, locations, list(_written_levels(pages, above)))
    return sorted({heading.start_char: heading for heading in found}.values(), key=lambda each: each.start_char)


def _look(line: PrintedLine) -> Print:
    return line.print


Group = tuple[Print, list[PrintedLine]]  # lines in one print, one after the other


def _print_levels(groups: Sequence[Group]) -> dict[Print, int]:
    """Return the levels of the prints that headings are in: the larger ones, bold ones, those of another look."""
    prints = Counter[Print]()
    by_print = defaultdict[Print, list[str]](list)
    for kind, lines in groups:
        prints[kind] += sum(len(line.text) for line in lines)
        by_print[kind] += ["\n".join(line.text for line in lines)]
    if not prints:
        return {}
    body = max(prints, key=lambda each: prints[each])
    large = {each for each in prints if each.size >= LARGER * body.size}
    if sum(prints[each] for each in large) > _MOST * prints.total():
        return {}
    rest = {each for each in prints if each.size >= _SMALLEST * body.size} - large
    bold = {each for each in rest if each.is_bold and not body.is_bold}
    other = {
        each
        for each in rest - bold
        if each[2:] != body[2:] and len(by_print[each]) >= _FEWEST_ALIKE and _are_titles(by_print[each])
    }
    levels: dict[Print, int] = {}
    for kinds in (large, bold, other):
        if sum(prints[each] for each in levels.keys() | kinds) <= _MOST * prints.total():
            sizes = sorted({each.size for each in kinds}, reverse=True)
            above = max(levels.values(), default=0)
            levels |= {each: min(above + sizes.index(each.size) + 1, LEVELS) for each in kinds}
    return {each: level if each in large else -level for each, level in levels.items()}


def _are_titles(groups: Sequence[str]) -> bool:
    return sum(map(_is_title, groups)) >= _ALIKE * len(groups)


def _is_title(written: str) -> bool:
    begins = next((character for character in written if character.isalnum()), "")
    is_short = written.count("\n") < _MOST_LINES and len(written) <= _LONGEST_LESSER
    return is_short and not begins.islower() and not written.rstrip().endswith((".", ",", ";"))


def _written_levels(
    pages: Sequence[Sequence[PrintedLine]], above: int
) -> Iterator[list[tuple[int, list[PrintedLine]]]]:
    """Yield each page's lines with the levels of those that are numbered as sections, or else in capitals."""
    texts = [line.text.strip() for page in pages for line in page]
    levels = _numbered_levels(texts)
    if not levels:
        capitals = [place for place, text in enumerate(texts) if text.isupper() and _is_title(text)]
        is_rare = _FEWEST_ALIKE <= len(capitals) <= _MOST * len(texts)
        levels = dict.fromkeys(capitals if is_rare else (), 1)
    in_order = (-min(above + levels[place], LEVELS) if place in levels else 0 for place in count())
    for page in pages:
        yield [(next(in_order), [line]) for line in page]


def _numbered_levels(texts: Sequence[str]) -> dict[int, int]:
    """Return the levels of lines whose numbers follow each other as those of sections: «1», «1.1», «1.2», «2»."""
    levels: dict[int, int] = {}
    last: tuple[int, ...] = (0,)
    for place, text in enumerate(texts):
        if (written := _HEADING_NUMBER.match(text)) and _is_title(text):
            number = tuple(map(int, written[1].split(".")))
            nexts = [(*last, 1), (last[0] + 1, 1), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))]
            if number in nexts:
                levels[place], last = len(number), number
    is_list = len(levels) < _FEWEST_ALIKE or max(levels) - min(levels) < _FEWEST_BETWEEN * (len(levels) - 1)
    return {} if is_list else levels


def _locate(
    text: str,
    locations: Sequence[SourceLocation],
    pages: Sequence[Sequence[tuple[int, Sequence[PrintedLine]]]],
) -> list[Heading]:
    """Return the headings among lines with levels; a level below zero is that of lines as large as the text."""
    headings = []
    for location in locations:
        after = location.start_char
        for level, lines in pages[location.page - 1] if location.page else ():
            for written in _divided("\n".join(clean(line.text) for line in lines)) if level else ():
                is_sentence = level < 0 and (len(written) > _LONGEST_LESSER or written.endswith((".", ",", ";")))
                is_title = (
                    len(written) <= _LONGEST and sum(map(str.isalpha, written)) > 1 and not _LEADER.search(written)
                )
                start = _find_lines(text, written, after, location.end_char) if is_title and not is_sentence else -1
                if start >= 0:
                    after = start + len(written)
                    headings.append(Heading(abs(level), " ".join(written.split()), start))
    return headings


def _is_heading(written: str, level: int) -> bool:
    is_sentence = level < 0 and (len(written) > _LONGEST_LESSER or written.endswith((".", ",", ";")))
    is_title = len(written) <= _LONGEST and sum(map(str.isalpha, written)) > 1 and not _LEADER.search(written)
    return is_title and not is_sentence


def _divided(lines: str) -> list[str]:
    """Return headings that follow each other in one print: each begins with a number."""
    return re.split(r"\n(?=\d{1,2}(?:\.\d{1,2})*[.)]?\s)", lines)


def _find_lines(text: str, lines: str, start: int, end: int) -> int:
    """Return where these lines begin as whole ones; -1 where they don't: in a table they are cells."""
    while (place := text.find(lines, start, end)) >= 0:
        after = place + len(lines)
        if text[max(0, place - 1) : place] in ("", "\n") and text[after : after + 1] in ("", "\n"):
            return place
        start = place + 1
    return -1


def _outlined(document: Any, text: str, locations: Sequence[SourceLocation]) -> list[Heading]:
    """Return the headings that the file's outline (its bookmarks) names, if it is one of this text."""
    pages = {location.page: location for location in locations}
    found, count = list[Heading](), 0
    for entry in islice(document.get_toc(), _MOST_OUTLINED):
        title, destination = clean(entry.get_title()).split(), entry.get_dest()
        count += 1
        location = pages.get((destination.get_index() or 0) + 1) if destination else None
        if title and location:
            words = r"\s+".join(map(re.escape, title))
            line = re.compile(rf"^(?:[\w.]{{1,12}}[ .)]+)?{words}[ .]*$", re.IGNORECASE | re.MULTILINE)
            if match := line.search(text, location.start_char, location.end_char):
                found.append(Heading(entry.level + 1, " ".join(match[0].split()), match.start()))
    is_of_text = len(found) >= max(_FEWEST_OUTLINED, _OUTLINED * count)
    return (
        sorted({each.start_char: each for each in found}.values(), key=lambda each: each.start_char)
        if is_of_text
        else []
    )


FEW_CHARACTERS = 8  # on a page with an image: it was scanned
MARGIN_LINES = 3  # at a page's top and bottom, where headers and footers stand
SCAN_DOTS = 300  # an inch, with which tesseract reads best
MOST_SCAN_PIXELS = 12_000_000  # an A4 page has 9 million so
_POINTS = 72  # an inch
REPEATED = 0.5  # of the pages hold it
_FEWEST_PAGES = 3
_NUMBER = re.compile(r"(?<!\d)(\d{1,6})(?!\d)")
_MOST_NUMBERS = 3  # of a header's, that may be the page's
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Page:
    text: str = ""
    lines: tuple[PrintedLine, ...] = ()
    is_scanned: bool = False  # an image of a page
    is_recognized: bool = False  # and its text was
    is_broken: bool = False


def parse_pdf(data: bytes, *, limits: ParsingLimits, recognizer: Recognizer) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large, scanned, unrecognized or empty."""
    document = open_pdf(data)
    if len(document) > limits.pages:
        raise UnreadableDocument(f"the file has more than {limits.pages:,} pages", reason="too_large")
    pages = list(_read_pages(document, limits))
    if recognizer.is_available:
        pages = list(_recognized(document, pages, recognizer))
    scanned = [number for number, page in enumerate(pages, start=1) if page.is_scanned and not page.is_recognized]
    recognized = [number for number, page in enumerate(pages, start=1) if page.is_recognized]
    broken = [number for number, page in enumerate(pages, start=1) if page.is_broken]
    builder = TextBuilder(limits.characters)
    texts = without_repeated_lines([page.text for page in pages])
    join = word_joiner(texts)
    for number, text in enumerate(texts, start=1):
        builder.add_page(number, [builder.add(join(text))], is_recognized=pages[number - 1].is_recognized)
    text = builder.text
    if not holds_words(text):
        raise _without_text(scanned, broken, is_tried=recognizer.is_available)
    metadata = _metadata(document)
    return ParsedText(
        text,
        PDF,
        tuple(
            _outlined(document, text, builder.locations)
            or find_headings(text, builder.locations, [_joined(page.lines, join) for page in pages])
        ),
        locations=tuple(builder.locations),
        title=metadata.get("Title", ""),
        authors=(metadata.get("Author", ""),),
        warnings=tuple(_warnings(scanned, recognized, broken)),
    )


def _joined(lines: Sequence[PrintedLine], join: Callable[[str], str]) -> list[PrintedLine]:
    return [replace(line, text=join(line.text)) for line in lines]


def _recognized(document: Any, pages: Sequence[_Page], recognizer: Recognizer) -> Iterator[_Page]:
    """Yield the pages, those that were scanned with the text of their picture."""
    for number, page in enumerate(pages):
        text = None
        if page.is_scanned:
            with suppress(UnreadableDocument, pdfium.PdfiumError):
                text = recognizer.recognize(_scan(document[number]))
        yield replace(page, text=text, is_recognized=True) if text else page


def _scan(page: Any) -> bytes:
    """Return a page as a grey picture in the Netpbm format."""
    width, height = page.get_size()
    scale = min(SCAN_DOTS / _POINTS, sqrt(MOST_SCAN_PIXELS / max(width * height, 1)))
    pixels = page.render(scale=scale, grayscale=True).to_numpy()
    page.close()
    header = b"P5 %d %d 255\n" % (pixels.shape[1], pixels.shape[0])
    return header + bytes(pixels.tobytes())


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
        text = write_tables(page, printed, written).replace("\r\n", "\n")
        few = len(text.strip()) < FEW_CHARACTERS
        images = page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3) if few else ()
        return _Page(text, tuple(_lines(printed, written)), is_scanned=any(True for _ in images))
    finally:
        page.close()


def _lines(printed: Any, written: str) -> Iterator[PrintedLine]:
    start = 0
    for text in written.split("\r\n"):
        if text.strip():
            first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip()) - 1
            ends = [pdfium_c.FPDFText_GetCharIndexFromTextIndex(printed, place) for place in (first, last)]
            fonts = {_font(printed, character) for character in ends}
            look = Print(
                _size(printed, ends[0]),
                is_bold=all(map(_BOLD.search, fonts)),
                font=fonts.pop() if len(fonts) == 1 else "",
                color=_color(printed, ends[0]),
            )
            yield PrintedLine(text, look)
        start += len(text) + 2


def _font(printed: Any, character: int) -> str:
    """Return the name of a character's font; that of a part of a font without the part's mark, «ABCDEF+»."""
    name = create_string_buffer(_FONT_NAME)
    length = pdfium_c.FPDFText_GetFontInfo(printed, character, name, _FONT_NAME, c_int())
    return name.value.decode("latin-1").rpartition("+")[2] if length > 0 else ""


def _color(printed: Any, character: int) -> int:
    shares = [c_uint() for _ in range(4)]
    pdfium_c.FPDFText_GetFillColor(printed, character, *shares)
    red, green, blue, _ = (share.value for share in shares)
    return red << 16 | green << 8 | blue


def _size(printed: Any, character: int) -> float:
    """Return a character's printed size in points; 0 for text that stands upright.

    Many files set every character in one size and scale it, so the font size alone doesn't tell.
    """
    matrix = pdfium_c.FS_MATRIX()
    size = float(pdfium_c.FPDFText_GetFontSize(printed, character))
    scale = abs(matrix.d) if pdfium_c.FPDFText_GetMatrix(printed, character, matrix) else 1.0
    return round(2 * size * scale) / 2


def _without_text(scanned: Sequence[int], broken: Sequence[int], *, is_tried: bool) -> UnreadableDocument:
    if scanned and is_tried:
        return UnreadableDocument(UNRECOGNIZED, reason="unrecognized")
    if scanned:
        return UnreadableDocument(f"the file has no text layer, and its pages are images: {INSTALL}", reason="scanned")
    if broken:
        return UnreadableDocument("none of the file's pages can be read", reason="damaged")
    return UnreadableDocument("the file holds no text", reason="empty")


def _warnings(scanned: Sequence[int], recognized: Sequence[int], broken: Sequence[int]) -> Iterator[str]:
    if recognized:
        yield f"pages whose text was recognised (OCR) and may hold errors: {_ranges(recognized)}"
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

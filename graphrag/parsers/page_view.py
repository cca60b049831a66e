"""A page of a PDF as a picture, and where on it a quote stands."""

import struct
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from ctypes import c_int
from math import sqrt
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium_c

from graphrag.models.ingestion import Box, PageRequest, PageView
from graphrag.parsers.pdf import open_pdf
from graphrag.parsers.wire import PNG

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
            (x0, y0), (x1, y1) = _on_page(page, left, top), _on_page(page, right, bottom)
            yield Box(min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0))


def _on_page(page: Any, x: float, y: float) -> tuple[float, float]:
    """Return the point in shares of the page as displayed: rotated, and cut to its crop box."""
    across, down = c_int(), c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, across, down)
    return across.value / _GRID, down.value / _GRID


def _find(printed: Any, quote: str) -> Iterator[Span]:
    """Yield the spans of the quote on the page; else of its beginning and end, as far as the page has them."""
    written = [chr(pdfium_c.FPDFText_GetUnicode(printed, place)) for place in range(printed.count_chars())]
    characters = [(letter, place) for place, character in enumerate(written) for letter in _letters(character)]
    page = "".join(letter for letter, _ in characters)
    for part in _parts(_letters(quote), page):
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
    if quote in page:
        yield from [quote] if quote else []
        return
    lengths = range(1, len(quote))
    head = bisect_left(lengths, True, key=lambda length: quote[:length] not in page)
    tail = bisect_left(lengths, True, key=lambda length: quote[-length:] not in page)
    for part in (quote[:head], quote[len(quote) - tail :]):
        if len(part) >= FEWEST_CHARACTERS:
            yield part


def _letters(text: str) -> str:
    """Letters and digits alone: lines, hyphens, ligatures and accents are written in many ways."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text).casefold() if letter.isalnum())

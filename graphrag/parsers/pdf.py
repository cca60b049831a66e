"""PDF through pypdfium2: a page's text in reading order, without what every page repeats."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText, Place
from graphrag.parsers.detection import PDF
from graphrag.parsers.text_builder import TextBuilder
from graphrag.settings import ParsingLimits

FEW_CHARACTERS = 8  # on a page with an image: it was scanned
MARGIN_LINES = 3  # at a page's top and bottom, where headers and footers stand
REPEATED = 0.5  # of the pages hold it
_FEWEST_PAGES = 3
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[^\W\d_])")
_WORD_BEFORE, _WORD_AFTER = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")
_LONGEST_WORD = 40


def parse_pdf(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: encrypted, damaged, too_large, scanned or empty."""
    document = _open(data)
    if len(document) > limits.pages:
        raise UnreadableDocument(f"the file has more than {limits.pages:,} pages", reason="too_large")
    pages: list[str] = []
    scanned: list[int] = []
    broken: list[int] = []
    characters = 0
    for number in range(1, len(document) + 1):
        try:
            text, is_scanned = _read_page(document, number)
        except pdfium.PdfiumError:
            text, is_scanned = "", False
            broken.append(number)
        if is_scanned:
            scanned.append(number)
        characters += len(text)
        if characters > limits.characters:
            raise UnreadableDocument(f"the file holds more than {limits.characters:,} characters", reason="too_large")
        pages.append(text)
    if not any(text.strip() for text in pages):
        raise _without_text(scanned, broken)
    metadata = _metadata(document)
    builder = TextBuilder()
    for number, text in enumerate(join_words(without_repeated_lines(pages)), start=1):
        span = builder.add(text)
        if span.end > span.start:
            builder.places.append(Place(span.start, span.end, page=number))
    return ParsedText(
        builder.text,
        PDF,
        places=tuple(builder.places),
        title=metadata.get("Title", ""),
        authors=tuple(author for author in [metadata.get("Author", "")] if author),
        warnings=tuple(_warnings(scanned, broken)),
    )


def _open(data: bytes) -> Any:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as exc:
        if "password" in str(exc).lower():
            raise UnreadableDocument(
                "the file is protected by a password: save it without one", reason="encrypted"
            ) from exc
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc


def _read_page(document: Any, number: int) -> tuple[str, bool]:
    """Its text, and whether it is an image of a page."""
    page = document[number - 1]
    try:
        text = page.get_textpage().get_text_range().replace("\r\n", "\n").replace("\ufffe", "")
        few = len(text.strip()) < FEW_CHARACTERS
        return text, few and any(True for _ in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    finally:
        page.close()


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
    """Without the headers and footers that at least half of the pages share, whatever their numbers are."""
    lines = [page.strip().split("\n") for page in pages]
    filled = [page for page in lines if page != [""]]
    if len(filled) < _FEWEST_PAGES:
        return list(pages)
    counts = Counter(line for page in filled for line in {_shape(page[place]) for place in _margin(page)})
    repeated = {shape for shape, count in counts.items() if shape and count >= REPEATED * len(filled)}
    return [_without(page, repeated) for page in lines]


def _margin(lines: Sequence[str]) -> Iterable[int]:
    return {*range(min(MARGIN_LINES, len(lines))), *range(max(0, len(lines) - MARGIN_LINES), len(lines))}


def _without(lines: Sequence[str], repeated: set[str]) -> str:
    gone = {place for place in _margin(lines) if _shape(lines[place]) in repeated}
    return "\n".join(line for place, line in enumerate(lines) if place not in gone)


def _shape(line: str) -> str:
    return _NUMBER.sub("#", " ".join(line.split()))


def join_words(pages: Sequence[str]) -> list[str]:
    """Words cut by a hyphen at a line's end, whole again; a hyphen stays that the text writes elsewhere too."""
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

"""Texts of files: decoding, cleaning, building with headings and locations; plain text and Markdown.

Bytes are decoded by byte order mark, zero bytes of UTF-16, as UTF-8, as declared, by the likeliest charset.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from charset_normalizer import from_bytes
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, ParsedText, SourceLocation, Span
from graphrag.parsers.detection import MARKDOWN

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


def as_rows(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """«| Cliente | Total |»: a line a row, as in Markdown; empty rows are left out."""
    for row in cells:
        values = [" ".join(cell.split()).replace("|", "/") for cell in row]
        if any(values):
            yield f"| {' | '.join(values)} |"


@dataclass(slots=True)
class TextBuilder:
    """Its text is clean: cleaning it again changes nothing, so every offset holds."""

    most: int  # characters
    headings: list[Heading] = field(default_factory=list)
    locations: list[SourceLocation] = field(default_factory=list)
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

    def _append(self, part: str) -> None:
        self._parts.append(part)
        self._length += len(part)
        if self._length > self.most:
            raise UnreadableDocument(f"the file holds more than {self.most:,} characters", reason="too_large")


BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
LEGACY_CHARSETS = ["cp1252", "cp850", "mac_roman"]  # what the likeliest comes first; Latin-1 is read as its superset
VALID_PER_ERROR = 10  # accented characters that are good UTF-8 for each that is not; in cp1252 hardly any is
_SAMPLE = 4_096  # bytes
_WESTERN_SAMPLE = 1_000_000  # bytes
_LOWER = "áéíóúüñàâçèêëîïôùûœæäöãõß"
_MARKED = re.compile(r"(?s)(?=(.)([^\x00-\x7f])(.))")  # a character of the upper half between its neighbours
_MOST_ZEROS, _FEWEST_ZEROS = 0.05, 0.3  # of the bytes at the other and at one parity, in Western text as UTF-16
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
    for bom, encoding in BOMS.items():
        if data.startswith(bom):
            return data.decode(encoding, errors="replace")
    if len(data) % 2 == 0 and (utf16 := _utf16(data[:_SAMPLE])):
        return data.decode(utf16, errors="replace")
    if b"\0" in data:
        raise UnreadableDocument("the file is not text: it holds NUL bytes", reason="unsupported")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_broken(data, declared)


def _utf16(sample: bytes) -> str | None:
    pairs = len(sample) // 2
    if not pairs:
        return None
    first, second = (sample[parity::2].count(0) / pairs for parity in (0, 1))
    if second >= _FEWEST_ZEROS and first <= _MOST_ZEROS:
        return "utf-16-le"
    return "utf-16-be" if first >= _FEWEST_ZEROS and second <= _MOST_ZEROS else None


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
    if not any(character.isalnum() for character in text):
        raise UnreadableDocument("the file holds no text", reason="empty")
    if media_type != MARKDOWN:
        return ParsedText(text, media_type)
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

"""The canonical text of a document, which is stored, searched and quoted."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from graphrag.errors import UnreadableDocument
from graphrag.models import Heading, SourceLocation, Span

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

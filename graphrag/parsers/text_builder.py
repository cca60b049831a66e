"""The canonical text grows block by block; what is said of a block refers to where it came to stand."""

from dataclasses import dataclass, field

from graphrag.errors import UnreadableDocument
from graphrag.ingestion.cleaning import clean
from graphrag.models import Heading, Place, Span


@dataclass(slots=True)
class TextBuilder:
    """Its text is clean: cleaning it again changes nothing, so every offset holds."""

    most: int  # characters
    headings: list[Heading] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def length(self) -> int:
        return self._length

    def add(self, block: str, *, level: int | None = None, gap: str = "\n\n") -> Span:
        """Where the block stands; an empty span where nothing is left of it. A heading has a level, from 1.

        Raises UnreadableDocument: too_large.
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

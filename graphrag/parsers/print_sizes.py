"""Headings of a PDF: short lines in larger print than most of its text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from graphrag.ingestion.cleaning import clean
from graphrag.models import Heading, Place

LARGER = 1.15  # than the text's print
LEVELS = 4
_LONGEST = 200  # characters
_MOST = 0.2  # of a text's characters: where more are large, size says nothing


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    size: float  # of its print, in points


def find_headings(text: str, places: Sequence[Place], pages: Sequence[Sequence[Line]]) -> list[Heading]:
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
        heading for place in places if place.page for heading in _on_page(text, place, pages[place.page - 1], levels)
    ]


def _on_page(text: str, place: Place, lines: Sequence[Line], levels: dict[float, int]) -> Iterator[Heading]:
    """Lines of one size, one after the other, are one heading."""
    after = place.start_char
    for size, group in groupby(lines, key=lambda line: line.size):
        if size not in levels:
            continue
        parts = [clean(line.text) for line in group]
        written = "\n".join(parts)
        start = text.find(written, after, place.end_char)
        if start < 0 or len(written) > _LONGEST or sum(map(str.isalpha, written)) < 2:
            continue
        after = start + len(written)
        yield Heading(levels[size], " ".join(written.split()), start)

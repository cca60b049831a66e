"""How a text is seen before it is packed: by sentences, paragraphs, sections, meaning, rows or mere words."""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from graphrag.models import ParsedText, Span
from graphrag.sentences import split_sentences

_PARAGRAPH_END = re.compile(r"\n\s*\n")
_WORD_END = re.compile(r"\s+")
SECTION_CHARS = (200, 8_000)  # of sections that are worth chunks of their own, in the median
FEWEST_SECTIONS = 3
SHORT_LINE_CHARS = 200  # text with shorter paragraphs is a list of notes rather than prose
DIPS = 0.2  # of the places between sentences are taken to be changes of subject, where the meaning differs most
NEIGHBOURS = 2  # sentences on either side that are compared


@dataclass(frozen=True, slots=True)
class Division:
    """Pieces that stay whole where they can, and where a chunk begins in any case."""

    pieces: Sequence[Span]  # they tile the text
    breaks: Set[int] = frozenset()  # characters at which pieces begin


Divide = Callable[[ParsedText], Division]
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def by_sentences(parsed: ParsedText) -> Division:
    return Division(split_sentences(parsed.text))


def by_words(parsed: ParsedText) -> Division:
    """Windows of a fixed length, wherever their ends fall."""
    return Division(_cut(parsed.text, [match.end() for match in _WORD_END.finditer(parsed.text)]))


def by_paragraphs(parsed: ParsedText) -> Division:
    return Division(_cut(parsed.text, [match.end() for match in _PARAGRAPH_END.finditer(parsed.text)]))


def by_headings(parsed: ParsedText) -> Division:
    """A section a chunk. A heading right under another one begins none."""
    starts = [heading.start_char for heading in parsed.headings]
    ends = [parsed.text.find("\n", start) for start in starts]
    begun = {
        start
        for start, before in zip(starts, [0, *ends], strict=False)
        if before == -1 or parsed.text[before:start].strip()
    }
    cuts = sorted({span.start for span in split_sentences(parsed.text)} | begun)
    return Division(_cut(parsed.text, cuts), frozenset(begun))


def by_rows(parsed: ParsedText) -> Division:
    """A spreadsheet's rows; each table begins a chunk."""
    begun = {table.rows[0].start_char for table in parsed.tables if table.rows}
    cuts = {place.start_char for place in parsed.places} | {heading.start_char for heading in parsed.headings} | begun
    return Division(_cut(parsed.text, sorted(cuts)), frozenset(begun))


def by_meaning(parsed: ParsedText, *, embed: Embed) -> Division:
    """A chunk ends where the sentences before and after have least in common: TextTiling (Hearst 1997) with vectors."""
    sentences = split_sentences(parsed.text)
    if len(sentences) <= 2 * NEIGHBOURS:
        return Division(sentences)
    vectors = np.asarray(embed([parsed.text[span.start : span.end] for span in sentences]), dtype=np.float32)
    sums = np.concatenate([np.zeros((1, vectors.shape[1]), dtype=np.float32), vectors.cumsum(axis=0)])
    places = np.arange(1, len(sentences))
    before = sums[places] - sums[np.maximum(places - NEIGHBOURS, 0)]
    after = sums[np.minimum(places + NEIGHBOURS, len(sentences))] - sums[places]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    alike = (before * after).sum(axis=1) / np.maximum(lengths, 1e-9)
    around = np.pad(alike, 1, constant_values=np.inf)
    is_lowest = (alike <= around[:-2]) & (alike < around[2:])
    dips = places[is_lowest & (alike <= np.quantile(alike, DIPS))]
    return Division(sentences, frozenset(sentences[place].start for place in dips))


def choose(parsed: ParsedText) -> Divide:
    """What suits the text, always the same for the same text."""
    if parsed.tables:
        return by_rows
    starts = [heading.start_char for heading in parsed.headings]
    sections = [end - start for start, end in pairwise([*starts, len(parsed.text)])]
    if len(sections) >= FEWEST_SECTIONS and SECTION_CHARS[0] <= np.median(sections) <= SECTION_CHARS[1]:
        return by_headings
    paragraphs = by_paragraphs(parsed).pieces
    if len(paragraphs) >= FEWEST_SECTIONS and np.median([p.end - p.start for p in paragraphs]) <= SHORT_LINE_CHARS:
        return by_paragraphs
    return by_sentences


def _cut(text: str, cuts: Sequence[int]) -> list[Span]:
    return [Span(start, end) for start, end in pairwise([0, *(cut for cut in cuts if 0 < cut < len(text)), len(text)])]

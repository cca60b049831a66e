"""Pieces of a text (division.py) packed into runs of at most so many tokens."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from graphrag.ingestion.division import Division
from graphrag.models import ParsedText, Span
from graphrag.sentences import is_heading, split_sentences

TokenCounter = Callable[[Sequence[str]], list[int]]
_CLAUSE_END = re.compile(r"(?<=[,;:–—،؛])\s+|(?<=[、，；：])|\n+")
_WORD_END = re.compile(r"\s+")
_JOINER = "\u200d"  # of the parts of one emoji


@dataclass(frozen=True, slots=True)
class Piece:
    span: Span
    tokens: int


def pack(
    parsed: ParsedText, division: Division, *, count_tokens: TokenCounter, max_tokens: int
) -> tuple[list[Piece], list[int]]:
    """The pieces, those too long cut up, and the indexes of those that begin a run.

    A piece is cut between its sentences, then at their clauses, then between words, then anywhere. A heading stays with
    what follows it.
    """
    whole = _measure(parsed.text, division.pieces, count_tokens)
    pieces = [part for piece in whole for part in _split_long(parsed.text, piece, count_tokens, max_tokens)]
    return pieces, list(_beginnings(parsed, pieces, division, max_tokens))


def overlap_start(pieces: Sequence[Piece], index: int, division: Division, *, overlap_tokens: int) -> int:
    """Where the whole pieces of at most so many tokens before this one begin. What begins something new has none."""
    first, total = index, 0
    while first > 0 and (division.runs_on or pieces[first].span.start not in division.breaks):
        total += pieces[first - 1].tokens
        if total > overlap_tokens:
            break
        first -= 1
    return pieces[first].span.start


def _measure(text: str, spans: Sequence[Span], count_tokens: TokenCounter) -> list[Piece]:
    counts = count_tokens([text[span.start : span.end] for span in spans])
    return [Piece(span, tokens) for span, tokens in zip(spans, counts, strict=True)]


def _beginnings(parsed: ParsedText, pieces: Sequence[Piece], division: Division, max_tokens: int) -> Iterator[int]:
    headings = {heading.start_char for heading in parsed.headings}
    yield 0
    start, total = 0, 0
    for index, piece in enumerate(pieces):
        if index > start and piece.span.start in division.breaks:
            start, total = index, 0
            yield start
        elif index > start and total + piece.tokens > max_tokens:
            start = _before_headings(parsed.text, pieces, start, index, headings)
            total = sum(kept.tokens for kept in pieces[start:index])
            if total + piece.tokens > max_tokens:
                start, total = index, 0
            yield start
        total += piece.tokens


def _before_headings(text: str, pieces: Sequence[Piece], start: int, index: int, headings: Set[int]) -> int:
    end = index
    while end - 1 > start and _is_heading(text, pieces[end - 1].span, headings):
        end -= 1
    return end


def _is_heading(text: str, span: Span, headings: Set[int]) -> bool:
    written = text[span.start : span.end]
    return is_heading(written) or (span.start in headings and "\n" not in written.strip())


def _split_long(text: str, piece: Piece, count_tokens: TokenCounter, max_tokens: int) -> list[Piece]:
    if piece.tokens <= max_tokens:
        return [piece]
    for cuts in _cuts(text, piece.span, max_tokens):
        if cuts:
            parts = [Span(*pair) for pair in pairwise([piece.span.start, *cuts, piece.span.end])]
            joined = _join(_measure(text, parts, count_tokens), max_tokens)
            return [small for part in joined for small in _split_long(text, part, count_tokens, max_tokens)]
    return [piece]


def _cuts(text: str, span: Span, max_tokens: int) -> Iterator[list[int]]:
    """Where it could be cut, best first."""
    yield [span.start + sentence.start for sentence in split_sentences(text[span.start : span.end])[1:]]
    for boundary in (_CLAUSE_END, _WORD_END):
        ends = (match.end() for match in boundary.finditer(text, span.start, span.end))
        yield [end for end in ends if span.start < end < span.end]
    length = min(max_tokens, (span.end - span.start + 1) // 2)
    yield list(_cuts_anywhere(text, span, length))


def _cuts_anywhere(text: str, span: Span, length: int) -> Iterator[int]:
    """Every so many characters, or before, where that keeps together what is seen as one."""
    start = span.start
    while length and start + length < span.end:
        cut = start + length
        while cut > start and _continues(text, cut):
            cut -= 1
        start = cut if cut > start else start + length
        yield start


def _continues(text: str, cut: int) -> bool:
    """Whether the character there is part of the one before it."""
    return unicodedata.combining(text[cut]) > 0 or _JOINER in text[cut - 1 : cut + 1] or text[cut] in "\ufe0e\ufe0f"


def _join(pieces: Sequence[Piece], max_tokens: int) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].tokens + piece.tokens <= max_tokens:
            joined[-1] = Piece(Span(joined[-1].span.start, piece.span.end), joined[-1].tokens + piece.tokens)
        else:
            joined.append(piece)
    return joined

"""Chunks: pieces of a text (division.py) packed up to a number of tokens. Their spans tile the text."""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from graphrag.ingestion.division import Division, by_sentences
from graphrag.models import Heading, ParsedText, Span
from graphrag.sentences import is_heading, split_sentences

TokenCounter = Callable[[Sequence[str]], list[int]]
CONTEXT_SEPARATOR = " › "
_CLAUSE_END = re.compile(r"(?<=[,;:–—])\s+|\n+")
_WORD_END = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """[start, end) of the text; the embedding begins at `window_start`, in the chunk before."""

    start: int
    end: int
    window_start: int
    context: str


def chunk(
    parsed: ParsedText,
    *,
    title: str,
    count_tokens: TokenCounter,
    max_tokens: int,
    overlap_tokens: int,
    divide: Callable[[ParsedText], Division] = by_sentences,
) -> list[ChunkSpan]:
    """At most `max_tokens` a chunk (its overlap not counted); a piece longer than that is cut between its sentences,
    then at their clauses, then between words, then anywhere. A heading stays with what follows it."""
    division = divide(parsed)
    pieces = _measure(parsed.text, division.pieces, count_tokens)
    pieces = [part for piece in pieces for part in _split_long(parsed.text, piece, count_tokens, max_tokens)]
    chunks = []
    start = 0
    for end in [*_breaks(parsed.text, pieces, division.breaks, max_tokens), len(pieces)]:
        window = _overlap_start(pieces, start, overlap_tokens)
        first = pieces[start].span.start
        context = _context(parsed, title, first)
        chunks.append(ChunkSpan(first, pieces[end - 1].span.end, pieces[window].span.start, context))
        start = end
    return chunks


@dataclass(frozen=True, slots=True)
class _Piece:
    span: Span
    tokens: int


def _measure(text: str, spans: Sequence[Span], count_tokens: TokenCounter) -> list[_Piece]:
    counts = count_tokens([text[span.start : span.end] for span in spans])
    return [_Piece(span, tokens) for span, tokens in zip(spans, counts, strict=True)]


def _breaks(text: str, pieces: Sequence[_Piece], demanded: Set[int], max_tokens: int) -> Iterator[int]:
    """Indexes of the pieces that begin a new chunk."""
    start, total = 0, 0
    for index, piece in enumerate(pieces):
        if index > start and piece.span.start in demanded:
            start, total = index, 0
            yield start
        elif index > start and total + piece.tokens > max_tokens:
            start = _before_headings(text, pieces, start, index)
            total = sum(kept.tokens for kept in pieces[start:index])
            if total + piece.tokens > max_tokens:
                start, total = index, 0
            yield start
        total += piece.tokens


def _before_headings(text: str, pieces: Sequence[_Piece], start: int, index: int) -> int:
    end = index
    while end - 1 > start and is_heading(text[pieces[end - 1].span.start : pieces[end - 1].span.end]):
        end -= 1
    return end


def _overlap_start(pieces: Sequence[_Piece], start: int, overlap_tokens: int) -> int:
    window, total = start, 0
    while window > 0 and total + pieces[window - 1].tokens <= overlap_tokens:
        window -= 1
        total += pieces[window].tokens
    return window


def _context(parsed: ParsedText, title: str, start: int) -> str:
    """The title, and the headings that stand over the chunk's beginning."""
    path: list[Heading] = []
    for heading in parsed.headings:
        if heading.start_char > start:
            break
        path = [above for above in path if above.level < heading.level] + [heading]
    return CONTEXT_SEPARATOR.join(dict.fromkeys([title, *(heading.text for heading in path)]))


def _split_long(text: str, piece: _Piece, count_tokens: TokenCounter, max_tokens: int) -> list[_Piece]:
    if piece.tokens <= max_tokens:
        return [piece]
    for cuts in _cuts(text, piece.span):
        if cuts:
            parts = [Span(*pair) for pair in pairwise([piece.span.start, *cuts, piece.span.end])]
            packed = _pack(_measure(text, parts, count_tokens), max_tokens)
            return [small for part in packed for small in _split_long(text, part, count_tokens, max_tokens)]
    middle = (piece.span.start + piece.span.end) // 2
    if middle == piece.span.start:
        return [piece]
    halves = _measure(text, [Span(piece.span.start, middle), Span(middle, piece.span.end)], count_tokens)
    return [small for half in halves for small in _split_long(text, half, count_tokens, max_tokens)]


def _cuts(text: str, span: Span) -> Iterator[list[int]]:
    """Where it could be cut, best first."""
    yield [span.start + sentence.start for sentence in split_sentences(text[span.start : span.end])[1:]]
    for boundary in (_CLAUSE_END, _WORD_END):
        ends = (match.end() for match in boundary.finditer(text, span.start, span.end))
        yield [end for end in ends if span.start < end < span.end]


def _pack(pieces: Sequence[_Piece], max_tokens: int) -> list[_Piece]:
    packed: list[_Piece] = []
    for piece in pieces:
        if packed and packed[-1].tokens + piece.tokens <= max_tokens:
            packed[-1] = _Piece(Span(packed[-1].span.start, piece.span.end), packed[-1].tokens + piece.tokens)
        else:
            packed.append(piece)
    return packed

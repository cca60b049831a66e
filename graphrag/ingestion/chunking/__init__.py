"""Chunking of a parsed text by its strategy: small chunks, their parents and their source locations."""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeVar

from graphrag.config.settings import PACKAGES, IngestionConfig, has_splitter
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.chunking.division import (
    DIVISIONS,
    Division,
    Embed,
    TokenCounter,
    by_meaning,
    by_sentences,
    by_splitter,
    choose,
    has_rows,
    overlap_start,
    pack,
)
from graphrag.models import Chunking, Heading, ParsedText, SourceLocation, Span

_T = TypeVar("_T")
CONTEXT_SEPARATOR = " › "
MOST_CHILDREN = 16  # of one parent
SMALLEST_PARENT = 0.25  # of the length wanted; a shorter one takes in the section that follows


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """[start, end) of the text; the embedding begins at `window_start`, in the chunk before. The rest as in Chunk."""

    start: int
    end: int
    window_start: int
    context: str
    locations: tuple[SourceLocation, ...] = ()
    headers: tuple[str, ...] = ()
    parent: Span | None = None


@dataclass(frozen=True, slots=True)
class Chunked:
    strategy: Chunking  # the one that was taken, never «auto»
    spans: list[ChunkSpan]


def chunk_document(
    parsed: ParsedText,
    *,
    title: str,
    config: IngestionConfig,
    count_tokens: TokenCounter,
    embed: Embed | None,
    most: int = sys.maxsize,
) -> Chunked:
    """Divide a document into chunks, at least one if its text is not empty; `embed` allows division by meaning.

    Raises UnreadableDocument where it has more than `most`.
    """
    strategy = resolve(parsed, config.chunking, can_embed=embed is not None)
    if strategy == "none":
        return Chunked(strategy, _placed(parsed, [ChunkSpan(0, len(parsed.text), 0, title)]))
    is_small = strategy == "parent_child"
    max_tokens = config.child_tokens if is_small else config.chunk_tokens
    if strategy == "semantic" and embed:
        division = by_meaning(parsed, embed=embed)
    elif strategy in PACKAGES:
        division = by_splitter(parsed, chunking=strategy, count_tokens=count_tokens, max_tokens=max_tokens, embed=embed)
    else:
        division = DIVISIONS[strategy](parsed)
    spans = _chunks(
        parsed,
        division,
        title=title,
        count_tokens=count_tokens,
        max_tokens=max_tokens,
        overlap_tokens=0 if is_small or strategy == "rows" else config.chunk_overlap_tokens,
    )
    if len(spans) > most:
        raise UnreadableDocument(f"the document has more than {most:,} chunks", reason="too_many_chunks")
    if is_small:
        spans = _with_parents(spans, division, config.parent_child_chars)
    return Chunked(strategy, _placed(parsed, spans))


def resolve(parsed: ParsedText, chunking: Chunking, *, can_embed: bool) -> Chunking:
    """The strategy that is taken; sentences where the one that was asked for has nothing to go by."""
    if chunking == "auto":
        return choose(parsed)
    is_possible = {"semantic": can_embed, "llama_index_semantic": can_embed, "rows": has_rows(parsed)}
    return chunking if is_possible.get(chunking, True) and has_splitter(chunking) else "sentence"


def chunk(
    parsed: ParsedText,
    *,
    title: str,
    count_tokens: TokenCounter,
    max_tokens: int,
    overlap_tokens: int,
    divide: Callable[[ParsedText], Division] = by_sentences,
) -> list[ChunkSpan]:
    """Divide a text into chunks of at most `max_tokens` tokens, not counting their overlap."""
    division = divide(parsed)
    return _chunks(
        parsed,
        division,
        title=title,
        count_tokens=count_tokens,
        max_tokens=max_tokens,
        overlap_tokens=overlap_tokens,
    )


def _chunks(
    parsed: ParsedText,
    division: Division,
    *,
    title: str,
    count_tokens: TokenCounter,
    max_tokens: int,
    overlap_tokens: int,
) -> list[ChunkSpan]:
    pieces, beginnings = pack(parsed, division, count_tokens=count_tokens, max_tokens=max_tokens)
    starts = [pieces[index].span.start for index in beginnings]
    windows = [overlap_start(pieces, index, division, overlap_tokens=overlap_tokens) for index in beginnings]
    ends = [*starts[1:], len(parsed.text)]
    return list(map(ChunkSpan, starts, ends, windows, _contexts(parsed, title, starts)))


def _contexts(parsed: ParsedText, title: str, starts: Sequence[int]) -> Iterator[str]:
    """The title, and the headings that stand over each beginning."""
    path: list[Heading] = []
    headings = iter(parsed.headings)
    following = next(headings, None)
    for start in starts:
        while following is not None and following.start_char <= start:
            level = following.level
            path = [above for above in path if above.level < level] + [following]
            following = next(headings, None)
        yield CONTEXT_SEPARATOR.join(dict.fromkeys([title, *(heading.text for heading in path)]))


def _with_parents(spans: Sequence[ChunkSpan], division: Division, parent_chars: int) -> list[ChunkSpan]:
    found = []
    for family in _families(spans, division, parent_chars):
        parent = Span(family[0].start, family[-1].end)
        found += [replace(child, parent=parent) for child in family]
    return found


def _families(spans: Sequence[ChunkSpan], division: Division, parent_chars: int) -> Iterator[list[ChunkSpan]]:
    """Group neighbours into parents of at most `parent_chars` characters, about equally long within a section.

    A section has its own parents, unless the one before it left a short one.
    """
    family: list[ChunkSpan] = []
    for section in _sections(spans, division):
        length = section[-1].end - section[0].start
        enough = length / -(-length // parent_chars)
        if family and family[-1].end - family[0].start >= SMALLEST_PARENT * parent_chars:
            yield family
            family = []
        for child in section:
            is_full = len(family) == MOST_CHILDREN or (family and child.end - family[0].start > parent_chars)
            if is_full or (family and family[-1].end - family[0].start >= enough):
                yield family
                family = []
            family.append(child)
    yield family


def _sections(spans: Sequence[ChunkSpan], division: Division) -> Iterator[list[ChunkSpan]]:
    section: list[ChunkSpan] = []
    for span in spans:
        if section and span.start in division.breaks:
            yield section
            section = []
        section.append(span)
    yield section


def _placed(parsed: ParsedText, spans: Sequence[ChunkSpan]) -> list[ChunkSpan]:
    """Add to each chunk its source locations, and its rows' headers if all rows have the same."""
    locations = _overlapping(
        spans, [(location.start_char, location.end_char, location) for location in parsed.locations]
    )
    tables = [
        (table.rows[0].start_char, table.rows[-1].end_char, table.headers) for table in parsed.tables if table.rows
    ]
    headers = map(set, _overlapping(spans, tables))
    return [
        replace(span, locations=current, headers=next(iter(names)) if len(names) == 1 else ())
        for span, current, names in zip(spans, locations, headers, strict=True)
    ]


def _overlapping(spans: Sequence[ChunkSpan], items: Sequence[tuple[int, int, _T]]) -> Iterator[tuple[_T, ...]]:
    """Yield, for each span, the items (start, end, value) that overlap it, by their start."""
    coming = deque(sorted(items, key=itemgetter(0)))
    current: list[tuple[int, int, _T]] = []
    for span in spans:
        current = [item for item in current if item[1] > span.start]
        while coming and coming[0][0] < span.end:
            current.append(coming.popleft())
        yield tuple(value for _, _, value in current)

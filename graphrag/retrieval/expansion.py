"""Expansion of hits to passages: each grows by its neighbours, adjacent ones merge, what does not answer is cut."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from uuid import UUID

from graphrag.ingestion.chunking import MOST_CHILDREN
from graphrag.linguistics.paragraphs import ITEMS, find_paragraphs
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Chunk, Collection, Document, Hit, Passage, Span
from graphrag.parsers.source_locations import overlapping
from graphrag.protocols import ChunkStore, read_from_each
from graphrag.rerankers.bundled import QuestionWords, cover_sentences

CHUNKS_OF_SECTION = 8  # read on either side of a hit


@dataclass(frozen=True, slots=True)
class ExpansionWindow:
    """Extent to which a hit grows.

    A small chunk is read as its parent; any other with some sentences on either side, or, with `parent_chars`, with
    the chunks of its section up to about that length. With a `question`, the sentences are counted from those that
    hold its words instead, and what is before and after them is cut.
    """

    window_sentences: int = 0
    parent_chars: int = 0
    parents: bool = True
    least_share: float = 0.0  # of the best hit's score; hits below it are not read
    question: QuestionWords | None = None
    least_coverage: float = 0.0  # of what a passage's best sentence holds of the question; others do not match

    def chunks(self, chunk: Chunk) -> int:
        """Return the number of chunks to read on either side."""
        if self.parents and chunk.parent:
            return MOST_CHILDREN - 1
        # A chunk holds at least one sentence, so this many chunks hold the window.
        return CHUNKS_OF_SECTION if self.parent_chars else self.window_sentences

    def before(self, chunk: Chunk, run: Sequence[Chunk]) -> str:
        """Return the text to add from the chunks that precede it without a gap, in their order."""
        if self.parents and chunk.parent:
            return "".join(other.content for other in run if other.parent == chunk.parent)
        if self.parent_chars:
            return "".join(reversed(self._of_section(chunk, reversed(run))))
        text = "".join(other.content for other in run)
        spans = split_sentences(text)[-self.window_sentences :] if self.window_sentences else []
        return text[spans[0].start :] if spans else ""

    def after(self, chunk: Chunk, run: Sequence[Chunk]) -> str:
        if self.parents and chunk.parent:
            return "".join(other.content for other in run if other.parent == chunk.parent)
        if self.parent_chars:
            return "".join(self._of_section(chunk, run))
        text = "".join(other.content for other in run)
        spans = split_sentences(text)[: self.window_sentences]
        return text[: spans[-1].end] if spans else ""

    def worthy(self, hits: Sequence[Hit]) -> list[Hit]:
        best = max((hit.score for hit in hits), default=0.0)
        return [hit for hit in hits if hit.score >= self.least_share * best]

    def _of_section(self, chunk: Chunk, nearest_first: Iterable[Chunk]) -> list[str]:
        left = (self.parent_chars - len(chunk.content)) // 2
        texts = []
        for other in nearest_first:
            left -= len(other.content)
            if left < 0 or other.context != chunk.context:
                break
            texts.append(other.content)
        return texts


NOWHERE = ExpansionWindow(parents=False)


async def expand(
    hits: Sequence[Hit],
    *,
    store: ChunkStore,
    collections: Sequence[Collection],
    window: ExpansionWindow,
    max_chars: int,
    max_share: float = 1.0,
) -> list[Passage]:
    """Expand hits to passages in the order of their best hit, together at most `max_chars` characters.

    The first may be longer by itself. If several documents were found, none has more than `max_share` of the
    characters.
    """
    read = window.worthy(hits)
    counts = [window.chunks(hit.chunk) for hit in read]
    spans = [
        (hit.chunk.document.id, max(0, hit.chunk.index - count), hit.chunk.index + count)
        for hit, count in zip(read, counts, strict=True)
        if not hit.chunk.document.is_elsewhere
    ]
    is_read = bool(spans) and any(counts)
    neighbours = await read_from_each(collections, lambda each: store.read_chunks(each, spans)) if is_read else {}
    return passages(read, neighbours, window=window, max_chars=max_chars, max_share=max_share)


def passages(
    hits: Sequence[Hit],
    neighbours: Mapping[UUID, Sequence[Chunk]],
    *,
    window: ExpansionWindow,
    max_chars: int,
    max_share: float = 1.0,
) -> list[Passage]:
    """Expand hits to passages; a hit without neighbours is its own passage, which is the fallback.

    If the characters run short, the neighbours go first, then the least relevant hits.
    """
    is_shared = len({hit.chunk.document.id for hit in hits}) > 1
    room = _Room(max_chars, int(max_share * max_chars) if is_shared else max_chars)
    kept: list[Passage] = []
    for group in _groups(_affordable(hits, room), neighbours, window):
        chunks, document = _by_index(group, neighbours), group[0].chunk.document
        passage = cut(_passage(group, chunks, window), group, window)
        if len(passage.content) > room.left(document):
            passage = cut(_passage(group, chunks, NOWHERE), group, window)
        if len(passage.content) <= room.left(document) or not kept:
            kept.append(passage)
            room.take(document, len(passage.content))
    return kept


@dataclass(slots=True)
class _Room:
    """Characters, of which one document takes only so many: nobody fills an answer with a source of their own."""

    total: int
    of_document: int
    taken: Counter[UUID] = field(default_factory=Counter)

    def left(self, document: Document) -> int:
        return min(self.total - self.taken.total(), self.of_document - self.taken[document.id])

    def take(self, document: Document, chars: int) -> None:
        self.taken[document.id] += chars


def _affordable(hits: Sequence[Hit], room: _Room) -> list[Hit]:
    """The first hits whose own text fits; at least one."""
    tried = _Room(room.total, room.of_document)
    kept: list[Hit] = []
    for hit in hits:
        document, chars = hit.chunk.document, len(hit.chunk.content)
        if tried.taken.total() + chars > tried.total:
            break
        if chars <= tried.left(document):
            kept.append(hit)
            tried.take(document, chars)
    return kept or list(hits[:1])


def _groups(
    hits: Sequence[Hit], neighbours: Mapping[UUID, Sequence[Chunk]], window: ExpansionWindow
) -> list[list[Hit]]:
    """Hits of one document whose surroundings meet, together; in the order of their best hit."""
    rank = {hit.chunk.id: place for place, hit in enumerate(hits)}
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: (str(hit.chunk.document.id), hit.chunk.index)):
        before = groups[-1][-1] if groups else None
        is_here = not hit.chunk.document.is_elsewhere  # another service may number and measure as it likes
        if before and is_here and before.chunk.document.id == hit.chunk.document.id:
            chunks = _by_index([before, hit], neighbours)
            if _touch(before.chunk, hit.chunk, chunks, window):
                groups[-1].append(hit)
                continue
        groups.append([hit])
    return sorted(groups, key=lambda group: min(rank[hit.chunk.id] for hit in group))


def _by_index(hits: Sequence[Hit], neighbours: Mapping[UUID, Sequence[Chunk]]) -> dict[int, Chunk]:
    around = neighbours.get(hits[0].chunk.document.id, ())
    return {chunk.index: chunk for chunk in [*around, *(hit.chunk for hit in hits)]}


def _touch(before: Chunk, after: Chunk, chunks: Mapping[int, Chunk], window: ExpansionWindow) -> bool:
    """Return whether what is added after one reaches what is added before the other."""
    between = [chunks[index] for index in range(before.index + 1, after.index) if index in chunks]
    chars = sum(len(chunk.content) for chunk in between)
    if chars != after.start_char - before.end_char:
        return False
    return len(window.after(before, between)) + len(window.before(after, between)) >= chars


def _passage(group: Sequence[Hit], chunks: Mapping[int, Chunk], window: ExpansionWindow) -> Passage:
    first, last = group[0].chunk, group[-1].chunk
    lead = window.before(first, _run(chunks, first.index, -1))
    tail = window.after(last, _run(chunks, last.index, +1))
    body = "".join(chunks[index].content for index in range(first.index, last.index + 1))
    best = max(group, key=lambda hit: hit.score)
    start, end = first.start_char - len(lead), last.end_char + len(tail)
    return Passage(
        document=first.document,
        chunk_index=best.chunk.index,
        start_char=start,
        end_char=end,
        content=lead + body + tail,
        matches=tuple((hit.chunk.start_char, hit.chunk.end_char) for hit in group),
        score=best.score,
        locations=overlapping(chain.from_iterable(chunk.locations for chunk in chunks.values()), start, end),
        headers=best.chunk.headers or next((hit.chunk.headers for hit in group if hit.chunk.headers), ()),
    )


def cut(passage: Passage, group: Sequence[Hit], window: ExpansionWindow) -> Passage:
    """Return the passage from its first sentence that matches the question to its last, with the window around them.

    Lists stay whole. So do the rows of tables, parents and sections, and the text of other services.
    """
    is_whole = passage.headers or any(location.cells for location in passage.locations) or window.parent_chars
    is_parent = window.parents and any(hit.chunk.parent for hit in group)
    if window.question is None or is_whole or is_parent or passage.document.is_elsewhere:
        return passage
    coverage = cover_sentences(window.question, passage.content, passage.document.language)
    least = window.least_coverage * max(coverage, default=0.0)
    matching = [place for place, share in enumerate(coverage) if share >= least] or [0]
    spans = split_sentences(passage.content) or [Span(0, 0)]
    first = max(0, matching[0] - window.window_sentences)
    last = min(len(spans) - 1, matching[-1] + window.window_sentences)
    start, end = spans[first].start, spans[last].end
    for block in _lists(passage.content):
        if block.start < end and start < block.end:
            start, end = min(start, block.start), max(end, block.end)
    return passage if end - start == len(passage.content) else clip(passage, start, end)


def _lists(text: str) -> Iterator[Span]:
    """Yield each list of a text, with the line that ends with a colon before it."""
    block: Span | None = None
    for paragraph in find_paragraphs(text):
        if paragraph.kind in ITEMS:
            block = Span(block.start if block else paragraph.start, paragraph.end)
            continue
        if block:
            yield block
        is_lead = text[paragraph.start : paragraph.end].rstrip().endswith(":")
        block = Span(paragraph.start, paragraph.end) if is_lead else None
    if block:
        yield block


def clip(passage: Passage, start: int, end: int) -> Passage:
    """[start, end) of its text, without the white space at the end."""
    content = passage.content[start:end].rstrip()
    first, last = passage.start_char + start, passage.start_char + start + len(content)
    matches = tuple((max(first, a), min(last, b)) for a, b in passage.matches if a < last and first < b)
    return replace(
        passage,
        start_char=first,
        end_char=last,
        content=content,
        matches=matches or ((first, last),),
        locations=overlapping(passage.locations, first, last),
    )


def _run(chunks: Mapping[int, Chunk], index: int, step: int) -> list[Chunk]:
    """The chunks that follow (or, with step -1, precede) a chunk without a gap, in their order."""
    run = []
    while (index := index + step) in chunks:
        run.append(chunks[index])
    return run[::step]

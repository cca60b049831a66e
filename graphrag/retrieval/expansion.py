"""From hits to passages: each grows by the sentences around it, and neighbours merge. Never across documents."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from uuid import UUID

from graphrag.models import Chunk, Collection, Hit, Passage
from graphrag.protocols import ChunkStore
from graphrag.sentences import split_sentences


async def expand(
    hits: Sequence[Hit], *, store: ChunkStore, collection: Collection, window_sentences: int, max_chars: int
) -> list[Passage]:
    """Passages in the order of their best hit, together at most `max_chars`; the first may be longer by itself."""
    # A chunk holds at least one sentence, so this many chunks hold the window.
    spans = [
        (hit.chunk.document.id, max(0, hit.chunk.index - window_sentences), hit.chunk.index + window_sentences)
        for hit in hits
    ]
    neighbours = await store.read_chunks(collection, spans) if window_sentences and hits else {}
    return passages(hits, neighbours, window_sentences=window_sentences, max_chars=max_chars)


def passages(
    hits: Sequence[Hit], neighbours: Mapping[UUID, Sequence[Chunk]], *, window_sentences: int, max_chars: int
) -> list[Passage]:
    """Without neighbours every hit is its own passage: the fallback where expansion fails.

    Where the characters run short the surroundings go first, then the least relevant hits.
    """
    kept: list[Passage] = []
    left = max_chars
    for group in _groups(_affordable(hits, max_chars), neighbours, window_sentences):
        chunks = _by_index(group, neighbours)
        passage = _passage(group, chunks, window_sentences)
        if len(passage.content) > left:
            passage = _passage(group, chunks, 0)
        if len(passage.content) <= left or not kept:
            kept.append(passage)
            left -= len(passage.content)
    return kept


def _affordable(hits: Sequence[Hit], max_chars: int) -> list[Hit]:
    """The first hits whose own text fits; at least one."""
    used = list(accumulate(len(hit.chunk.content) for hit in hits))
    return [hit for hit, chars in zip(hits, used, strict=True) if chars <= max_chars] or list(hits[:1])


def _groups(hits: Sequence[Hit], neighbours: Mapping[UUID, Sequence[Chunk]], window: int) -> list[list[Hit]]:
    """Hits of one document whose windows meet, together; in the order of their best hit."""
    rank = {hit.chunk.id: place for place, hit in enumerate(hits)}
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: (str(hit.chunk.document.id), hit.chunk.index)):
        before = groups[-1][-1] if groups else None
        if before and before.chunk.document.id == hit.chunk.document.id:
            chunks = _by_index([before, hit], neighbours)
            if _touch(before.chunk, hit.chunk, chunks, window):
                groups[-1].append(hit)
                continue
        groups.append([hit])
    return sorted(groups, key=lambda group: min(rank[hit.chunk.id] for hit in group))


def _by_index(hits: Sequence[Hit], neighbours: Mapping[UUID, Sequence[Chunk]]) -> dict[int, Chunk]:
    around = neighbours.get(hits[0].chunk.document.id, ())
    return {chunk.index: chunk for chunk in [*around, *(hit.chunk for hit in hits)]}


def _touch(before: Chunk, after: Chunk, chunks: Mapping[int, Chunk], window: int) -> bool:
    """Whether what is added after one reaches what is added before the other."""
    between = "".join(chunks[index].content for index in range(before.index + 1, after.index) if index in chunks)
    if len(between) != after.start_char - before.end_char:
        return False
    return len(_tail(between, window)) + len(_lead(between, window)) >= len(between)


def _passage(group: Sequence[Hit], chunks: Mapping[int, Chunk], window: int) -> Passage:
    first, last = group[0].chunk, group[-1].chunk
    lead = _tail(_run(chunks, first.index, -1), window)
    tail = _lead(_run(chunks, last.index, +1), window)
    body = "".join(chunks[index].content for index in range(first.index, last.index + 1))
    best = max(group, key=lambda hit: hit.score)
    return Passage(
        document=first.document,
        chunk_index=best.chunk.index,
        start_char=first.start_char - len(lead),
        end_char=last.end_char + len(tail),
        content=lead + body + tail,
        matches=tuple((hit.chunk.start_char, hit.chunk.end_char) for hit in group),
        score=best.score,
    )


def _run(chunks: Mapping[int, Chunk], index: int, step: int) -> str:
    """The text of the chunks that follow (or, with step -1, precede) a chunk without a gap."""
    texts = []
    while (index := index + step) in chunks:
        texts.append(chunks[index].content)
    return "".join(texts[::step])


def _lead(text: str, sentences: int) -> str:
    """Its first sentences."""
    spans = split_sentences(text)[:sentences]
    return text[: spans[-1].end] if spans else ""


def _tail(text: str, sentences: int) -> str:
    """Its last sentences."""
    spans = split_sentences(text)[-sentences:] if sentences else []
    return text[spans[0].start :] if spans else ""

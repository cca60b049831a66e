"""From hits to passages: each grows by the sentences around it, and neighbours merge. Never across documents."""

from collections.abc import Sequence
from itertools import pairwise
from uuid import UUID

from graphrag.models import Chunk, Collection, Hit, Passage
from graphrag.protocols import ChunkStore
from graphrag.sentences import split_sentences


async def expand(
    hits: Sequence[Hit], *, store: ChunkStore, collection: Collection, window_sentences: int, max_chars: int
) -> list[Passage]:
    """Passages in the order of their best hit; the least relevant are left out once `max_chars` are used up."""
    spans = [(hit.chunk.document.id, max(0, hit.chunk.index - 1), hit.chunk.index + 1) for hit in hits]
    neighbours = await store.read_chunks(collection, spans) if window_sentences and hits else {}
    return passages(hits, neighbours, window_sentences=window_sentences, max_chars=max_chars)


def passages(
    hits: Sequence[Hit], neighbours: dict[UUID, list[Chunk]], *, window_sentences: int, max_chars: int
) -> list[Passage]:
    """Without neighbours every hit is its own passage: the fallback where expansion fails."""
    by_document: dict[UUID, list[Hit]] = {}
    kept: list[Hit] = []
    used = 0
    for hit in hits:
        used += len(hit.chunk.content)
        if used > max_chars and kept:
            break
        kept.append(hit)
        by_document.setdefault(hit.chunk.document.id, []).append(hit)
    grown = [
        passage
        for document, found in by_document.items()
        for passage in _document_passages(found, neighbours.get(document, []), window_sentences)
    ]
    rank = {(hit.chunk.document.id, hit.chunk.index): place for place, hit in enumerate(kept)}
    return sorted(grown, key=lambda passage: rank[passage.document.id, passage.chunk_index])


def _document_passages(hits: Sequence[Hit], neighbours: Sequence[Chunk], window: int) -> list[Passage]:
    chunks = {chunk.index: chunk for chunk in [*neighbours, *(hit.chunk for hit in hits)]}
    ordered = sorted(hits, key=lambda hit: hit.chunk.index)
    groups: list[list[Hit]] = [ordered[:1]]
    for before, after in pairwise(ordered):
        if _touch(before.chunk, after.chunk, chunks, window):
            groups[-1].append(after)
        else:
            groups.append([after])
    return [_passage(group, chunks, window) for group in groups]


def _touch(before: Chunk, after: Chunk, chunks: dict[int, Chunk], window: int) -> bool:
    """Whether what is added after one reaches what is added before the other."""
    if after.index == before.index + 1:
        return True
    between = chunks.get(before.index + 1)
    if after.index != before.index + 2 or between is None:
        return False
    return len(_tail(between.content, window)) + len(_lead(between.content, window)) >= len(between.content)


def _passage(group: Sequence[Hit], chunks: dict[int, Chunk], window: int) -> Passage:
    first, last = group[0].chunk, group[-1].chunk
    before, after = chunks.get(first.index - 1), chunks.get(last.index + 1)
    lead = _tail(before.content, window) if before else ""
    tail = _lead(after.content, window) if after else ""
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


def _lead(text: str, sentences: int) -> str:
    spans = split_sentences(text)[:sentences]
    return text[: spans[-1].end] if spans else ""


def _tail(text: str, sentences: int) -> str:
    spans = split_sentences(text)[-sentences:] if sentences else []
    return text[spans[0].start :] if spans else ""

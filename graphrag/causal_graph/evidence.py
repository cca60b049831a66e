"""The chunks that causal chains were read from, among those that were searched."""

from collections.abc import Sequence
from dataclasses import replace

from graphrag.graph_models import CausalEdge, CausalPath
from graphrag.models import Chunk, Collection, Hit
from graphrag.protocols import ChunkStore

SCORE = "path"  # the stage's name in a hit's scores
LEADING = 0.55  # score from which a path is surely about the question: what states it is read first


async def read_hits(paths: Sequence[CausalPath], *, store: ChunkStore, collection: Collection) -> list[Hit]:
    """The chunks of the paths' quotes, the best path's first, each once; their score is their path's."""
    edges = [(edge, path.score) for path in paths for edge in path.edges]
    # A quote of two sentences may end in the chunk after the one that it begins in.
    spans = [(edge.document.id, edge.chunk_index, edge.chunk_index + 1) for edge, _ in edges]
    chunks = await store.read_chunks(collection, spans) if spans else {}
    hits: dict[object, Hit] = {}
    for edge, score in edges:
        for chunk in chunks.get(edge.document.id, ()):
            if holds_of(chunk, edge):
                hits.setdefault(chunk.id, Hit(chunk, score, {SCORE: score}))
    return list(hits.values())


def holds_of(chunk: Chunk, edge: CausalEdge) -> bool:
    """Whether it holds a part of the link's quote."""
    is_its = chunk.document.id == edge.document.id
    return is_its and chunk.start_char < edge.end_char and edge.start_char < chunk.end_char


def join(found: Sequence[Hit], stating: Sequence[Hit], paths: Sequence[CausalPath], *, top_k: int) -> list[Hit]:
    """The `top_k` best of what was found and what states a path; before them, where the best path is surely about the
    question, its chunks in the order of its links, with the best's score.
    """
    known = {hit.chunk.id for hit in found}
    both = list(found)
    for hit in stating:
        if hit.chunk.id not in known:
            # What was found keeps its order, which is not by score alone.
            place = next((place for place in range(len(both), 0, -1) if both[place - 1].score >= hit.score), 0)
            both.insert(place, hit)
    if not paths or paths[0].score < LEADING:
        return both[:top_k]
    leading = {
        hit.chunk.id: replace(hit, score=max(hit.score for hit in both))
        for edge in paths[0].edges
        for hit in sorted(both, key=lambda hit: hit.chunk.index)
        if holds_of(hit.chunk, edge)
    }
    return [*leading.values(), *(hit for hit in both[:top_k] if hit.chunk.id not in leading)]

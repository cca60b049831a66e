"""What a search finds, described for who reads JSON: the same from every door."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from graphrag.models import Chunk, Hit, Passage, TransformedQuery
from graphrag.places import describe_place
from graphrag.retrieval.search import SearchResult
from graphrag.retrieval.trace import Leg, Trace

MOST_LEGS, MOST_SHOWN, MOST_CHARS, MOST_TEXT = 24, 20, 500, 2_000  # of what is told of one search


def describe(found: SearchResult) -> dict[str, Any]:
    """All but the hits."""
    return {"degraded": list(found.failed), "strategy": found.strategy, "warnings": list(found.warnings)}


def describe_hits(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [_describe_hit(hit) for hit in hits]


def _describe_hit(hit: Hit) -> dict[str, Any]:
    chunk, document = hit.chunk, hit.chunk.document
    return {
        "chunk_id": str(chunk.id),
        "document_id": str(document.id),
        "chunk_index": chunk.index,
        "content": chunk.content,
        "score": hit.score,
        "scores": dict(hit.scores),
        "created_at": document.created_at.isoformat(),
        "metadata": describe_metadata(hit),
    }


def describe_metadata(hit: Hit) -> dict[str, Any]:
    chunk, document = hit.chunk, hit.chunk.document
    return {
        "filename": document.filename,
        "title": document.title,
        "language": document.language,
        "source_type": document.source_type,
        "context": chunk.context,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "tags": list(document.tags),
        "document_metadata": dict(document.metadata),
        **describe_place(chunk),
    }


def describe_trace(trace: Trace, *, timings: dict[str, float], caches: dict[str, dict[str, int]]) -> dict[str, Any]:
    rankings = {name: _describe_ranking(hits) for name, hits in trace.rankings.items()}
    return {
        "query": _describe_query(trace.query) if trace.query else None,
        "strategy": trace.strategy,
        "reason": trace.reason,
        "legs": [_describe_leg(leg) for leg in trace.legs[:MOST_LEGS]],
        "fused": rankings.get("fusion"),
        "reranked": rankings.get("rerank"),
        "graph": rankings.get("graph"),
        "expanded": None if trace.passages is None else [_describe_passage(*at) for at in enumerate(trace.passages, 1)],
        "chunks": {str(key): _describe_chunk(chunk) for key, chunk in _shown_chunks(trace).items()},
        "timings_ms": dict(timings),
        "embedding_model": trace.model,
        "config": trace.config.model_dump() if trace.config else None,
        "caches": caches,
    }


def _describe_query(query: TransformedQuery) -> dict[str, Any]:
    return {
        "language": query.language,
        "intent": query.intent.value,
        "direction": query.direction,
        "is_multi_hop": query.is_multi_hop,
        "sub_queries": [part[:MOST_CHARS] for part in query.sub_queries],
        "entities": [name[:MOST_CHARS] for name in query.entities[:MOST_SHOWN]],
        "search_text": query.standalone[:MOST_CHARS],
        "hypothetical_answer": query.hypothetical_answer[:MOST_CHARS],
    }


def _describe_leg(leg: Leg) -> dict[str, Any]:
    told = {"leg": leg.name, "text": leg.text[:MOST_CHARS], "files": list(leg.files), "failure": leg.failure}
    return told | _describe_ranking(leg.hits)


def _describe_ranking(hits: Sequence[Hit]) -> dict[str, Any]:
    return {"total": len(hits), "hits": [_describe_rank(*place) for place in enumerate(hits[:MOST_SHOWN], start=1)]}


def _describe_rank(rank: int, hit: Hit) -> dict[str, Any]:
    chunk = hit.chunk
    return {
        "rank": rank,
        "chunk_id": str(chunk.id),
        "document_id": str(chunk.document.id),
        "chunk_index": chunk.index,
        "score": hit.score,
    }


def _describe_passage(rank: int, passage: Passage) -> dict[str, Any]:
    return {
        "rank": rank,
        "document_id": str(passage.document.id),
        "chunk_index": passage.chunk_index,
        "score": passage.score,
        "filename": passage.document.filename,
        "content": passage.content[:MOST_TEXT],
    }


def _shown_chunks(trace: Trace) -> dict[UUID, Chunk]:
    rankings = [*trace.rankings.values(), *(leg.hits for leg in trace.legs[:MOST_LEGS])]
    return {hit.chunk.id: hit.chunk for hits in rankings for hit in hits[:MOST_SHOWN]}


def _describe_chunk(chunk: Chunk) -> dict[str, Any]:
    document = chunk.document
    return {"filename": document.filename, "context": chunk.context, "content": chunk.content[:MOST_TEXT]}

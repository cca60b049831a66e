"""Passages that no word of the question leads to, found through names by personalised PageRank.

After HippoRAG (Gutiérrez et al. 2024), without a model: passages and the names in them are the nodes.
"""

import asyncio
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from math import exp, log, sqrt
from uuid import UUID

import numpy as np
from scipy.sparse import csr_array

from graphrag.linguistics.language import content_stems
from graphrag.linguistics.names import names_in
from graphrag.models import Hit, TransformedQuery
from graphrag.models.graph import MentionEdge
from graphrag.protocols import GraphStore
from graphrag.retrieval.query import Query

SEEDS = 10  # of what was found, from which the walk begins
SHARPNESS = 10  # of their scores: .1 more is e times as likely a beginning
TITLE_SHARE = 0.5  # as likely as all seeds together begins it at documents whose title the question names
RESTART = 0.5
STEPS = 3
WIDTH = 50  # chunks that each step of the walk reaches: 200 find no more, in four times the time
CANDIDATES = 50
SOURCES = 5  # passages whose gaps another one may fill
GAIN, REPETITION = 10, 2  # of the share of the question's words, against the logarithm of the walk's probability
GAPS = 2  # words of the question that the best hit lacks, from which another passage may be needed
LEAST_GAIN = 0.15  # of the question's words, weighted, that another passage must add


def leads_on(query: TransformedQuery, hits: Sequence[Hit]) -> bool:
    """Return whether one passage may not be enough: the question says so, or the best hit lacks some of its words.

    A hit in another language lacks all of them, and that says nothing.
    """
    if not hits or query.is_multi_hop:
        return bool(hits)
    return hits[0].chunk.document.language == query.language and len(_asked(query) - _stems(hits[0])) >= GAPS


async def expand_by_graph(query: Query, hits: Sequence[Hit], *, graph: GraphStore) -> list[Hit]:
    """Return the hits and what they lead to, best first.

    The hits stay as they are where nothing that shares a name with them says more of what the question asks.
    """
    transformed, collection, filters = query.transformed, query.collection, query.filters
    titled = await graph.find_titles(collection, list(names_in(transformed.standalone)), filters=filters)
    beginnings = _beginnings(hits[:SEEDS], titled)
    edges = await graph.find_mention_neighbourhood(collection, list(beginnings), (), width=WIDTH, filters=filters)
    if not edges and not transformed.is_multi_hop:  # none shares a name with another
        return list(hits)
    reached = await asyncio.to_thread(walk, edges, beginnings, chunk_count=collection.chunk_count)
    likely = sorted(reached, key=lambda chunk: (-reached[chunk], chunk))[:CANDIDATES]
    known = {hit.chunk.id: hit for hit in hits}
    missing = [chunk for chunk in likely if chunk not in known]
    known |= {hit.chunk.id: hit for hit in await graph.read_hits(collection, missing, filters=filters)}
    candidates = [known[chunk] for chunk in likely if chunk in known]
    ordered = await asyncio.to_thread(complement, transformed, candidates, reached, edges)
    placed = {hit.chunk.id for hit in ordered}
    return _scored([*ordered, *(hit for hit in hits if hit.chunk.id not in placed)], reached) if ordered else list(hits)


def _beginnings(hits: Sequence[Hit], titled: Mapping[str, Sequence[UUID]]) -> dict[UUID, float]:
    """Return the restart probabilities, which sum to 1."""
    weights = {hit.chunk.id: exp(SHARPNESS * (hit.score - hits[0].score)) for hit in hits}
    total = sum(weights.values())
    shares = {chunk: weight / total for chunk, weight in weights.items()}
    named = [chunk for chunks in titled.values() for chunk in chunks]
    for chunk in named:
        shares[chunk] = shares.get(chunk, 0.0) + TITLE_SHARE / len(named)
    total = sum(shares.values())
    return {chunk: share / total for chunk, share in shares.items()}


def walk(edges: Sequence[MentionEdge], beginnings: Mapping[UUID, float], *, chunk_count: int) -> dict[UUID, float]:
    """Return each chunk's probability after STEPS of a walk from chunk to name to chunk that restarts with RESTART."""
    chunks = list(dict.fromkeys([*beginnings, *(edge.chunk_id for edge in edges)]))
    keys = list(dict.fromkeys(edge.key for edge in edges))
    row = dict(zip(chunks, range(len(chunks)), strict=True))
    column = dict(zip(keys, range(len(keys)), strict=True))
    weights = [edge.weight * log(max(chunk_count, edge.chunk_count + 1) / edge.chunk_count) for edge in edges]
    places = ([row[edge.chunk_id] for edge in edges], [column[edge.key] for edge in edges])
    mentions = csr_array((weights, places), shape=(len(chunks), len(keys)))
    to_names, to_chunks = _stochastic(mentions), _stochastic(mentions.T.tocsr())
    start = np.array([beginnings.get(chunk, 0.0) for chunk in chunks])
    likely = start
    for _ in range(STEPS):
        likely = RESTART * start + (1 - RESTART) * ((likely @ to_names) @ to_chunks)
    return {chunk: float(share) for chunk, share in zip(chunks, likely, strict=True) if share > 0}


def _stochastic(matrix: csr_array) -> csr_array:
    """Return the matrix with rows that sum to 1, or to 0."""
    sums = matrix.sum(axis=1)
    return csr_array(matrix.multiply((1 / np.where(sums > 0, sums, 1))[:, None]))


def complement(
    query: TransformedQuery, hits: Sequence[Hit], reached: Mapping[UUID, float], edges: Sequence[MentionEdge]
) -> list[Hit]:
    """Reorder the hits behind the first, so that passages with new words of the question come earlier.

    A passage with words of the question that the likely passages sharing a name with it lack goes before one that
    repeats theirs. Empty if none adds enough.
    """
    held, asked = [_stems(hit) for hit in hits], _asked(query)
    weights = {word: log(1 + len(held) / (1 + sum(word in words for words in held))) for word in asked}
    total = sum(weights.values()) or 1.0
    names: dict[UUID, set[str]] = {hit.chunk.id: set() for hit in hits}
    for edge in edges:
        if edge.chunk_id in names:
            names[edge.chunk_id].add(edge.key)

    def share(words: Set[str]) -> float:
        return sum(weights[word] for word in words & asked) / total

    def gain(number: int) -> float:
        """Return the gain over the likely passages, each weighted by its probability."""
        chunk = hits[number].chunk.id
        return max(
            (
                share(held[number] - held[source]) * sqrt(reached[hits[source].chunk.id] / reached[hits[0].chunk.id])
                for source in range(min(SOURCES, len(hits)))
                if source != number and names[chunk] & names[hits[source].chunk.id]
            ),
            default=0.0,
        )

    gains = [gain(number) for number in range(len(hits))]
    if not query.is_multi_hop and max(gains, default=0.0) <= LEAST_GAIN:
        return []
    values = [
        log(reached[hit.chunk.id]) + GAIN * gains[number] - REPETITION * share(held[number])
        for number, hit in enumerate(hits)
    ]
    return [*hits[:1], *(hits[number] for number in sorted(range(1, len(hits)), key=lambda n: -values[n]))]


def _asked(query: TransformedQuery) -> set[str]:
    return content_stems(query.standalone, query.language)


def _stems(hit: Hit) -> set[str]:
    chunk, language = hit.chunk, hit.chunk.document.language
    return content_stems(f"{chunk.context}\n{chunk.content}", language)


def _scored(hits: Sequence[Hit], reached: Mapping[UUID, float]) -> list[Hit]:
    """Return the hits with scores that never rise, so that sorting by score keeps the order."""
    scored: list[Hit] = []
    for hit in hits:
        most = scored[-1].score if scored else max(other.score for other in hits)
        score = min(hit.score, most) if hit.score else most
        scored.append(replace(hit, score=score, scores={**hit.scores, "graph": reached.get(hit.chunk.id, 0.0)}))
    return scored

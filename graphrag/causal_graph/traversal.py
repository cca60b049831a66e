"""Causal chains: the neighbourhood of a question's entities, the paths in it, and their evidence."""

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from uuid import UUID

import networkx as nx

from graphrag.causal_graph.link_scoring import LinkScorer
from graphrag.causal_graph.question import CausalQuestion, forms, holds, read_question
from graphrag.models import EVERYTHING, Chunk, Collection, Filters, Hit, TransformedQuery
from graphrag.models.graph import LINK_THRESHOLD, CausalEdge, CausalNeighbourhood, CausalPath
from graphrag.protocols import ChunkStore, GraphStore, read_from_each

MAX_EDGES = 3
MOST_LINKS = 120  # that are compared with one another, the nearest
FAN = 8  # links that are followed from one, the surest
LEAST_LINK_SCORE = 0.3  # below it two links have nothing to do with each other
SAME = 0.75  # similarity from which a chain that comes to an entity has come back to the other


@dataclass(frozen=True)
class Chains:
    """The causal chains for one question.

    The nodes are the links: one follows another if its cause is the other's effect.
    """

    neighbourhood: CausalNeighbourhood
    question: CausalQuestion
    link_threshold: float

    @cached_property
    def edges(self) -> dict[UUID, CausalEdge]:
        """Return the surest edge between each two entities, by id."""
        kept: dict[tuple[UUID, UUID], CausalEdge] = {}
        nearest = self.neighbourhood.edges[:MOST_LINKS]
        for edge in sorted(nearest, key=lambda edge: (-edge.confidence, str(edge.id))):
            if edge.cause.id != edge.effect.id:
                kept.setdefault((edge.cause.id, edge.effect.id), edge)
        return {edge.id: edge for edge in kept.values()}

    @cached_property
    def links(self) -> dict[tuple[UUID, UUID], float]:
        found: dict[tuple[UUID, UUID], float] = {}
        for link in self.neighbourhood.links:
            for pair in ((link.entity_id, link.other_id), (link.other_id, link.entity_id)):
                found[pair] = max(link.similarity, found.get(pair, 0.0))
        return found

    @cached_property
    def starts(self) -> dict[UUID, float]:
        """Return the score of each start, including entities that mean nearly what the question means."""
        given = dict(self.neighbourhood.starts)
        scores = dict(given)
        for (entity, other), similarity in self.links.items():
            if start := given.get(entity):
                scores[other] = max(start * similarity, scores.get(other, 0.0))
        return scores

    @cached_property
    def graph(self) -> "nx.DiGraph[UUID]":
        graph: nx.DiGraph[UUID] = nx.DiGraph()
        graph.add_nodes_from(self.edges)
        arcs = [
            (link_score * one.confidence * other.confidence, one.id, other.id)
            for one in self.edges.values()
            for other in self.link_scorer.followers(one)
            if (link_score := self.link_scorer.between(one, other)) >= LEAST_LINK_SCORE
        ]
        for _, one, other in sorted(arcs, key=lambda arc: (-arc[0], str(arc[1]), str(arc[2]))):
            if graph.out_degree(one) < FAN and graph.in_degree(other) < FAN:
                graph.add_edge(one, other)
        return graph

    def meant(self, entity: UUID) -> float:
        return self.starts.get(entity, 0.0)

    def same(self, one: UUID, other: UUID) -> float:
        return 1.0 if one == other else self.links.get((one, other), 0.0)

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Rarity of the question's words among the links, in [0, 1]: a word that all hold discriminates nothing."""
        texts = [forms(edge.quote, edge.document.language) for edge in self.edges.values()]
        counts = {word: sum(holds(text, word) for text in texts) for word in self.question.words}
        most = math.log(1 + len(texts))
        return {word: math.log(1 + len(texts) / (1 + count)) / most for word, count in counts.items()}

    @cached_property
    def link_scorer(self) -> LinkScorer:
        frequencies = dict(self.neighbourhood.frequencies)
        return LinkScorer(self.edges.values(), self.links, frequencies, threshold=self.link_threshold)

    def all(self) -> Iterator[tuple[CausalEdge, ...]]:
        found: set[tuple[UUID, ...]] = set()
        if self.question.direction != "effects":
            ends = [edge.id for edge in self.edges.values() if self.meant(edge.effect.id)]
            found.update(path[::-1] for path in _simple_paths(self.graph.reverse(copy=False), ends))
        if self.question.direction != "causes":
            beginnings = [edge.id for edge in self.edges.values() if self.meant(edge.cause.id)]
            found.update(_simple_paths(self.graph, beginnings))
        for path in sorted(found, key=lambda path: (len(path), [str(edge) for edge in path])):
            edges = tuple(self.edges[edge] for edge in path)
            if not self._returns(edges):
                yield edges

    def _returns(self, edges: Sequence[CausalEdge]) -> bool:
        """Return whether the path revisits an entity, or one that means nearly the same.

        The two ends of one link may be alike: a price that rises because a price has risen.
        """
        entities = [edges[0].cause.id, *(edge.effect.id for edge in edges)]
        return len(set(entities)) < len(entities) or any(
            self.same(one, other) >= SAME
            for place, one in enumerate(entities)
            for other in entities[: max(0, place - 1)]
        )


def _simple_paths(graph: "nx.DiGraph[UUID]", starts: Iterable[UUID]) -> Iterator[tuple[UUID, ...]]:
    for start in starts:
        yield (start,)
        reachable = set(graph) - {start}
        if reachable:
            yield from map(tuple, nx.all_simple_paths(graph, start, reachable, cutoff=MAX_EDGES - 1))


NEAR = 8  # hits whose chunks are taken to be about the question
SURE = 0.5  # confidence from which a link holds as part of a chain
JOINED = 0.45  # and link_score from which two hold together
RELEVANT = 0.3  # below it a path is about something else
CONTEXT = 300  # characters before a quote, of which it may speak
NO_CHUNKS: Mapping[UUID, Chunk] = MappingProxyType({})
WHOLE = 0.05  # what each further sure link adds to the score: the whole chain is the better explanation
# What a word of the question counts outside the asked cause or effect.
OTHER_LINKS, TITLE, BEFORE, OTHER_END, QUOTE = 0.3, 0.4, 0.5, 0.5, 0.7


async def find_paths(
    query: TransformedQuery,
    hits: Sequence[Hit] = (),
    *,
    graph: GraphStore,
    collection: Collection,
    filters: Filters = EVERYTHING,
    link_threshold: float = LINK_THRESHOLD,
    limit: int = 5,
) -> list[CausalPath]:
    """Return causal chains that answer the question, best first, scores in [0, 1].

    A chain has at most MAX_EDGES links and ends in the effect whose causes are asked for, or begins in the cause whose
    effects are. The list is empty if the documents state none about the question. Links of two documents are joined
    from a confidence of `link_threshold`.

    `hits` are the results of a search for the question, best first: their relations may be meant, whatever their words.
    """
    question = read_question(query)
    if not question.weights:
        return []
    near = {hit.chunk.id: hit.score for hit in hits[:NEAR] if hit.score > 0}
    neighbourhood = await graph.find_causal_neighbourhood(
        collection, question.words, near=near, direction=question.direction, depth=MAX_EDGES, filters=filters
    )
    chunks = {hit.chunk.id: hit.chunk for hit in hits[:NEAR]}
    ranked = await asyncio.to_thread(rank_paths, neighbourhood, question, chunks, link_threshold=link_threshold)
    return ranked[:limit]


def rank_paths(
    neighbourhood: CausalNeighbourhood,
    question: CausalQuestion,
    chunks: Mapping[UUID, Chunk] = NO_CHUNKS,
    *,
    link_threshold: float = LINK_THRESHOLD,
) -> list[CausalPath]:
    """Rank the chains, best first; of equal ones the direct before the indirect.

    A chain that is part of a longer sure one, or that rewords a better one, is left out.
    """
    chains = Chains(neighbourhood, question, link_threshold)
    judged = [path for edges in chains.all() if (path := _judge(edges, chains, question, chunks)).score > 0]
    ordered = sorted(judged, key=lambda path: (-path.score, len(path.edges), [str(edge.id) for edge in path.edges]))
    return list(_distinct(ordered, chains))


def _judge(
    edges: Sequence[CausalEdge], chains: Chains, question: CausalQuestion, chunks: Mapping[UUID, Chunk]
) -> CausalPath:
    """Score a chain.

    If every link is sure, it counts as much as the link that answers, and a little more for each other link; else all
    doubts add up.
    """
    relevance = max(
        relevance_of(edges, asked, is_effect, chains.meant(entity_id), question, _before(asked, chunks), chains.rarity)
        for asked, is_effect, entity_id in _asked_ends(edges, question)
    )
    if relevance < RELEVANT:
        return CausalPath(tuple(edges), 0.0)
    links = [edge.confidence for edge in edges]
    link_scores = tuple(chains.link_scorer.between(one, other) for one, other in pairwise(edges))
    if min(links) >= SURE and min(link_scores, default=1.0) >= JOINED:
        asked = links[0] if question.direction == "effects" else links[-1]
        surety = (1 + asked) / 2 * (1 + WHOLE * (len(edges) - 1))
    else:
        surety = math.prod([*links, *link_scores])
    return CausalPath(tuple(edges), min(1.0, relevance * surety), link_scores)


def _asked_ends(edges: Sequence[CausalEdge], question: CausalQuestion) -> Iterator[tuple[CausalEdge, bool, UUID]]:
    """The links that touch what is asked for, whether by their effect, and that entity."""
    if question.direction != "effects":
        yield edges[-1], True, edges[-1].effect.id
    if question.direction != "causes":
        yield edges[0], False, edges[0].cause.id


def relevance_of(
    edges: Sequence[CausalEdge],
    asked: CausalEdge,
    is_effect: bool,
    meant: float,
    question: CausalQuestion,
    before: str,
    rarity: Mapping[str, float],
) -> float:
    """Return, in [0, 1], how surely the question means the asked end and how much of it the chain contains.

    Words that only the other end of the asked link contains don't count: «why did the buyer leave?» is not answered by
    the effects of his leaving.
    """
    entity, other = (asked.effect, asked.cause) if is_effect else (asked.cause, asked.effect)
    said = _said_of(entity.name, other.name, asked.quote)
    if not meant or question.contradicts(f"{entity.name} {said}"):
        return 0.0
    language = asked.document.language
    rest = frozenset().union(*(forms(edge.quote, edge.document.language) for edge in edges if edge is not asked))
    others = forms(other.name, language)
    held = question.share(
        [
            (forms(entity.name, language), 1.0),
            (forms(said, language), QUOTE),
            (forms(asked.document.title, language), TITLE),
            (forms(before, language), BEFORE),
            (rest - others, OTHER_LINKS),
            (others & question.names, OTHER_END),
        ],
        rarity,
    )
    return (meant + held) / 2


def _said_of(entity: str, other: str, quote: str) -> str:
    """The part of the quote that is not about the link's other end."""
    at, there = quote.find(entity), quote.find(other)
    if at < 0 or there < 0:
        return quote.replace(other, " ")
    return f"{quote[:there]} {quote[at:]}" if there < at else quote[:there]


def _before(edge: CausalEdge, chunks: Mapping[UUID, Chunk]) -> str:
    """Return the text before the quote in its paragraph; of one that it opens, the paragraph before."""
    chunk = chunks.get(edge.chunk_id)
    text = chunk.content[: edge.start_char - chunk.start_char][-CONTEXT:] if chunk else ""
    before, _, here = text.rpartition("\n\n")
    return here if here.strip() else before.rpartition("\n\n")[2]


def _distinct(ordered: Sequence[CausalPath], chains: Chains) -> Iterator[CausalPath]:
    kept: list[CausalPath] = []
    for path in ordered:
        longer = [other for other in ordered if len(other.edges) > len(path.edges) and other.score >= path.score]
        if any(_contains(other, path) for other in longer):
            continue
        if not any(_says_the_same(path, other, chains) for other in kept):
            kept.append(path)
            yield path


def _contains(longer: CausalPath, path: CausalPath) -> bool:
    ids, wanted = [edge.id for edge in longer.edges], [edge.id for edge in path.edges]
    return any(ids[start : start + len(wanted)] == wanted for start in range(len(ids) - len(wanted) + 1))


def _says_the_same(path: CausalPath, other: CausalPath, chains: Chains) -> bool:
    return len(path.edges) == len(other.edges) and all(
        chains.same(one.cause.id, another.cause.id) and chains.same(one.effect.id, another.effect.id)
        for one, another in zip(path.edges, other.edges, strict=True)
    )


SCORE = "path"  # the stage's name in a hit's scores
LEADING = 0.55  # score from which a path is surely about the question: what states it is read first


async def read_hits(paths: Sequence[CausalPath], *, store: ChunkStore, collections: Sequence[Collection]) -> list[Hit]:
    """The chunks of the paths' quotes, the best path's first, each once; their score is their path's."""
    edges = [(edge, path.score) for path in paths for edge in path.edges]
    # A quote of two sentences may end in the chunk after the one that it begins in.
    spans = [(edge.document.id, edge.chunk_index, edge.chunk_index + 1) for edge, _ in edges]
    chunks = await read_from_each(collections, lambda each: store.read_chunks(each, spans)) if spans else {}
    hits: dict[object, Hit] = {}
    for edge, score in edges:
        for chunk in chunks.get(edge.document.id, ()):
            if holds_of(chunk, edge):
                hits.setdefault(chunk.id, Hit(chunk, score, {SCORE: score}))
    return list(hits.values())


def holds_of(chunk: Chunk, edge: CausalEdge) -> bool:
    """Return whether the chunk holds a part of the link's quote."""
    is_its = chunk.document.id == edge.document.id
    return is_its and chunk.start_char < edge.end_char and edge.start_char < chunk.end_char


def join(found: Sequence[Hit], stating: Sequence[Hit], paths: Sequence[CausalPath], *, top_k: int) -> list[Hit]:
    """Return the `top_k` best of the found hits and of those that state a chain.

    If the best chain is surely about the question, its chunks come first, in the order of its links, with the best
    hit's score.
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

"""A neighbourhood of the causal graph as chains: which links follow one another, and every simple path through them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import networkx as nx

from graphrag.causal_graph.joints import Joints
from graphrag.causal_graph.question import CausalQuestion, forms, holds
from graphrag.graph_models import CausalEdge, CausalNeighbourhood

MAX_EDGES = 3
MOST_LINKS = 120  # that are compared with one another, the nearest
FAN = 8  # links that are followed from one, the surest
LEAST_JOINT = 0.3  # below it two links have nothing to do with each other
SAME = 0.75  # similarity from which a chain that comes to an entity has come back to the other


@dataclass(frozen=True)
class Chains:
    """For one question. The nodes are the links: one follows another where its cause is the other's effect."""

    neighbourhood: CausalNeighbourhood
    question: CausalQuestion

    @cached_property
    def edges(self) -> dict[UUID, CausalEdge]:
        """Of several that join the same two, the surest."""
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
        """Also those that only mean nearly what the question means."""
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
            (joint * one.confidence * other.confidence, one.id, other.id)
            for one in self.edges.values()
            for other in self.joints.followers(one)
            if (joint := self.joints.between(one, other)) >= LEAST_JOINT
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
        """Of the question's words among the links, in [0, 1]: what all of them hold tells none from another."""
        texts = [forms(edge.quote, edge.document.language) for edge in self.edges.values()]
        counts = {word: sum(holds(text, word) for text in texts) for word in self.question.words}
        most = math.log(1 + len(texts))
        return {word: math.log(1 + len(texts) / (1 + count)) / most for word, count in counts.items()}

    @cached_property
    def joints(self) -> Joints:
        return Joints(self.edges.values(), self.links)

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
        """Whether it comes back to what it has been at, or to what means nearly that. The two ends of one link may be
        alike: a price that rises because a price has risen.
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

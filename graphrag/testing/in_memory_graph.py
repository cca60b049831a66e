"""A stand-in for tests and notebooks: the graph of a store in memory, made anew for every question."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from graphrag.causal_graph.concepts import BESIDE, choose_links, concept_words, count_roots, rank_starts, roots
from graphrag.causal_graph.document_graph import assemble_edges, assemble_mentions
from graphrag.causal_graph.link_scoring import COMMON
from graphrag.linguistics.language import ANSWER_LANGUAGES, fold
from graphrag.models import EVERYTHING, Collection, Direction, Filters, Hit
from graphrag.models.graph import (
    MOST_CHUNKS,
    TITLE_WEIGHT,
    CausalEdge,
    CausalNeighbourhood,
    Entity,
    EntityLink,
    MentionEdge,
    Polarity,
)
from graphrag.protocols import NOTHING
from graphrag.testing.in_memory_store import InMemoryStore


@dataclass(frozen=True)
class InMemoryGraph:
    """A GraphStore that keeps the promises of one, without speed."""

    store: InMemoryStore

    async def find_causal_neighbourhood(
        self,
        collection: Collection,
        words: Sequence[str],
        *,
        near: Mapping[UUID, float] = NOTHING,
        direction: Direction | None,
        depth: int = 3,
        width: int = 50,
        filters: Filters = EVERYTHING,
    ) -> CausalNeighbourhood:
        everywhere = self._edges(collection, EVERYTHING)
        facts = [edge for edge in self._edges(collection, filters) if edge.polarity is Polarity.FACT]
        directions: list[Direction] = [direction] if direction else ["causes", "effects"]
        starts = _find_starts(facts, words, near, directions)
        links = _find_links(facts)
        walks = [_walk(facts, links, starts, way, depth=depth, width=width) for way in directions]
        found = {edge.id: edge for step in range(depth) for walk in walks for edge in walk[step]}
        entities = {end.id for edge in found.values() for end in (edge.cause, edge.effect)} | set(starts)
        used = [link for link in links if {link.entity_id, link.other_id} <= entities]
        counts = count_roots(end for edge in everywhere for end in (edge.cause, edge.effect))
        here = count_roots(end for edge in found.values() for end in (edge.cause, edge.effect))
        frequencies = tuple((held, min(counts[held], COMMON)) for held, count in here.items() if count > 1)
        return CausalNeighbourhood(tuple(found.values()), tuple(used), tuple(starts.items()), frequencies)

    async def find_mention_neighbourhood(
        self,
        collection: Collection,
        chunks: Sequence[UUID],
        keys: Sequence[str],
        *,
        steps: int = 2,
        width: int = 500,
        filters: Filters = EVERYTHING,
    ) -> list[MentionEdge]:
        everywhere = Counter(edge.key for edge in self._mentions(collection, EVERYTHING, Counter()))
        edges = [edge for edge in self._mentions(collection, filters, everywhere) if edge.chunk_count <= MOST_CHUNKS]
        here, names, seen = set(chunks), set(keys), set(chunks)
        for _ in range(steps):
            names |= {edge.key for edge in edges if edge.chunk_id in here}
            shares: dict[UUID, float] = defaultdict(float)
            for edge in edges:
                if edge.key in names and edge.chunk_id not in seen:
                    shares[edge.chunk_id] += edge.weight / edge.chunk_count
            here = set(sorted(shares, key=lambda chunk: (-shares[chunk], chunk))[:width])
            names, seen = set(), seen | here
        known = [edge for edge in edges if edge.chunk_id in seen]
        shared = Counter(edge.key for edge in known)
        joining = [edge for edge in known if shared[edge.key] > 1 or edge.key in keys]
        return sorted(joining, key=lambda edge: (edge.chunk_id, edge.key))

    async def find_titles(
        self, collection: Collection, keys: Sequence[str], *, filters: Filters = EVERYTHING
    ) -> dict[str, list[UUID]]:
        found: dict[str, dict[UUID, UUID]] = {}
        for indexed in self.store.indexed(collection, filters):
            for chunk, mention in sorted(assemble_mentions(indexed), key=lambda pair: pair[0].index):
                if mention.key in keys and mention.weight >= TITLE_WEIGHT:
                    found.setdefault(mention.key, {}).setdefault(indexed.document.id, chunk.id)
        return {key: [chunk for _, chunk in sorted(titled.items())] for key, titled in found.items()}

    async def read_hits(
        self, collection: Collection, chunks: Sequence[UUID], *, filters: Filters = EVERYTHING
    ) -> list[Hit]:
        known = {
            chunk.id: replace(chunk, document=indexed.document)
            for indexed in self.store.indexed(collection, filters)
            for chunk in indexed.chunks
        }
        return [Hit(known[chunk], 0.0) for chunk in chunks if chunk in known]

    async def list_causal_edges(
        self, collection: Collection, *, entity: str | None = None, limit: int = 200
    ) -> list[CausalEdge]:
        edges = self._edges(collection, EVERYTHING)
        steps = {edge.id: 0 for edge in edges} if entity is None else _distances(edges, entity)
        near = [edge for edge in edges if edge.id in steps]
        return sorted(near, key=lambda edge: (steps[edge.id], -edge.confidence, edge.id))[:limit]

    def _edges(self, collection: Collection, filters: Filters) -> list[CausalEdge]:
        first: dict[UUID, Entity] = {}  # an entity keeps the name that it was first given
        edges = [
            replace(
                edge,
                cause=first.setdefault(edge.cause.id, edge.cause),
                effect=first.setdefault(edge.effect.id, edge.effect),
            )
            for indexed in self.store.indexed(collection)
            for edge in assemble_edges(indexed, collection.id)
        ]
        wanted = {indexed.document.id for indexed in self.store.indexed(collection, filters)}
        return [edge for edge in edges if edge.document.id in wanted]

    def _mentions(self, collection: Collection, filters: Filters, counts: Counter[str]) -> Iterator[MentionEdge]:
        for indexed in self.store.indexed(collection, filters):
            for chunk, mention in assemble_mentions(indexed):
                yield MentionEdge(chunk.id, mention.key, mention.weight, counts[mention.key])


def _words(edges: Sequence[CausalEdge]) -> dict[UUID, list[str]]:
    return {end.id: end.key.split(" ") for edge in edges for end in (edge.cause, edge.effect)}


def _find_starts(
    facts: Sequence[CausalEdge], words: Sequence[str], near: Mapping[UUID, float], directions: Sequence[Direction]
) -> dict[UUID, float]:
    held = _words(facts)
    frequencies = Counter(root for known in held.values() for root in roots(known))
    scores = dict(rank_starts(list(map(fold, words)), held, frequencies))
    beside = {edge.document.id: 0.0 for edge in facts}
    for edge in facts:
        beside[edge.document.id] = max(beside[edge.document.id], near.get(edge.chunk_id, 0.0))
    for edge in facts:
        if score := near.get(edge.chunk_id, beside[edge.document.id] * BESIDE):
            for way in directions:
                end = edge.effect if way == "causes" else edge.cause
                scores[end.id] = max(scores.get(end.id, 0.0), score)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _find_links(facts: Sequence[CausalEdge]) -> list[EntityLink]:
    words = _words(facts)
    links: dict[tuple[UUID, UUID], EntityLink] = {}
    for entity, held in words.items():
        others = {other: known for other, known in words.items() if other != entity}
        for link in choose_links(entity, held, others):
            one, other = sorted((link.entity_id, link.other_id))
            links[one, other] = EntityLink(one, other, link.similarity)
    return [links[pair] for pair in sorted(links)]


def _walk(
    facts: Sequence[CausalEdge],
    links: Sequence[EntityLink],
    starts: Mapping[UUID, float],
    direction: Direction,
    *,
    depth: int,
    width: int,
) -> list[list[CausalEdge]]:
    """The edges of each step."""
    here, seen, steps = dict(starts), set(starts), list[list[CausalEdge]]()
    for _ in range(depth):
        hub = dict(here)
        for one, other, near in _both_ways(links):
            if one in here and other not in seen:
                hub[other] = max(hub.get(other, 0.0), here[one] * near)
        ends = [(edge, *_ends(edge, direction)) for edge in facts]
        scored = [(hub[start] * edge.confidence, edge, end) for edge, start, end in ends if start in hub]
        taken = sorted(scored, key=lambda found: (-found[0], found[1].id))[:width]
        steps.append([edge for _, edge, _ in taken])
        seen |= set(hub)
        here = {}
        for score, _, end in taken:
            if end not in seen:
                here[end] = max(here.get(end, 0.0), score)
        seen |= set(here)
    return steps


def _ends(edge: CausalEdge, direction: Direction) -> tuple[UUID, UUID]:
    """Return the start and end of a step along the edge in this direction."""
    return (edge.effect.id, edge.cause.id) if direction == "causes" else (edge.cause.id, edge.effect.id)


def _both_ways(links: Sequence[EntityLink]) -> Iterator[tuple[UUID, UUID, float]]:
    for link in links:
        yield link.entity_id, link.other_id, link.similarity
        yield link.other_id, link.entity_id, link.similarity


def _distances(edges: Sequence[CausalEdge], entity: str) -> dict[UUID, int]:
    """Return the distance, 1 or 2, of the edges near entities that contain the words in any answer language."""
    variants = [set(roots(concept_words(entity, language))) for language in ANSWER_LANGUAGES]
    held = {end: set(roots(words)) for end, words in _words(edges).items()}
    reached = {end for end, names in held.items() if any(variant and variant <= names for variant in variants)}
    steps: dict[UUID, int] = {}
    for step in (1, 2):
        found = [edge for edge in edges if {edge.cause.id, edge.effect.id} & reached]
        reached |= {end.id for edge in found for end in (edge.cause, edge.effect)}
        steps = {edge.id: step for edge in found} | steps
    return steps

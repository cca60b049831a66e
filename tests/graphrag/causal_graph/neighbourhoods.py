"""Small causal graphs written by hand: entities by their names, links as «cause → effect»."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from graphrag.causal_graph.concepts import concept_words
from graphrag.models import EVERYTHING, Chunk, Collection, Direction, Document, Filters, Hit
from graphrag.models.graph import (
    CausalEdge,
    CausalNeighbourhood,
    Entity,
    EntityLink,
    MentionEdge,
    Polarity,
    RelationType,
)
from graphrag.protocols import NOTHING
from tests.factories import make_document


def make_entity(name: str, language: str = "es") -> Entity:
    key = " ".join(concept_words(name, language))
    return Entity(uuid5(NAMESPACE_OID, key), key, name)


def make_edge(cause: str, effect: str, *, document: Document | None = None, **overrides: Any) -> CausalEdge:
    """A sure fact whose quote is a sentence of its own."""
    document = document or make_document()
    quote = overrides.get("quote", f"{cause} provocó {effect}.")
    fields: dict[str, Any] = {
        "id": uuid5(NAMESPACE_OID, f"{document.source}: {quote}: {cause} → {effect}"),
        "cause": make_entity(cause, document.language),
        "effect": make_entity(effect, document.language),
        "type": RelationType.CAUSES,
        "polarity": Polarity.FACT,
        "confidence": 0.9,
        "quote": quote,
        "start_char": 0,
        "end_char": len(quote),
        "document": document,
        "chunk_id": uuid5(document.id, "0"),
        "chunk_index": 0,
    }
    return CausalEdge(**fields | overrides)


def edge_in(chunk: Chunk, cause: str, effect: str, quote: str, **overrides: Any) -> CausalEdge:
    """The link that a chunk's sentence states."""
    start = chunk.start_char + chunk.content.index(quote)
    place = {"start_char": start, "end_char": start + len(quote), "chunk_id": chunk.id, "chunk_index": chunk.index}
    return make_edge(cause, effect, document=chunk.document, quote=quote, **place | overrides)


def link(one: str, other: str, similarity: float, *, languages: tuple[str, str] = ("es", "es")) -> EntityLink:
    return EntityLink(make_entity(one, languages[0]).id, make_entity(other, languages[1]).id, similarity)


def make_neighbourhood(
    edges: Sequence[CausalEdge], starts: Sequence[tuple[str, float]] = (), links: Sequence[EntityLink] = ()
) -> CausalNeighbourhood:
    """`starts` by their names, in Spanish."""
    return CausalNeighbourhood(
        tuple(edges), tuple(links), tuple((make_entity(name).id, score) for name, score in starts)
    )


@dataclass
class HandMadeGraph:
    """Gives one neighbourhood to whoever asks, and remembers what was asked. What lies outside the filters' documents
    is not in it.
    """

    neighbourhood: CausalNeighbourhood = field(default_factory=CausalNeighbourhood)
    asked: list[tuple[tuple[str, ...], Direction | None, int]] = field(default_factory=list)
    is_broken: bool = False

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
        if self.is_broken:
            raise ConnectionError("the graph is away, on purpose")
        self.asked.append((tuple(words), direction, depth))
        edges = tuple(
            edge
            for edge in self.neighbourhood.edges
            if not filters.filenames or edge.document.filename in filters.filenames
        )
        return CausalNeighbourhood(edges, self.neighbourhood.links, self.neighbourhood.starts)

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
        return []

    async def find_titles(
        self, collection: Collection, keys: Sequence[str], *, filters: Filters = EVERYTHING
    ) -> dict[str, list[UUID]]:
        return {}

    async def read_hits(
        self, collection: Collection, chunks: Sequence[UUID], *, filters: Filters = EVERYTHING
    ) -> list[Hit]:
        return []

    async def list_causal_edges(
        self, collection: Collection, *, entity: str | None = None, limit: int = 200
    ) -> list[CausalEdge]:
        return list(self.neighbourhood.edges[:limit])

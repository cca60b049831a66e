"""The nouns of the graph: who and what the documents name, and what they say caused what."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from graphrag.models.documents import Document, Span

LINK_THRESHOLD = 0.65  # confidence from which a chain goes from one document to another


class RelationType(StrEnum):
    CAUSES = "CAUSES"
    TRIGGERS = "TRIGGERS"  # one event sets off another at once
    LEADS_TO = "LEADS_TO"  # an outcome


class Polarity(StrEnum):
    """Only a fact is part of a chain: what did not happen, or may, caused nothing."""

    FACT = "fact"
    NEGATED = "negated"
    HYPOTHETICAL = "hypothetical"


@dataclass(frozen=True, slots=True)
class CausalRelation:
    """A statement of a text that one thing causes another; spans are characters of that text."""

    cause: Span
    effect: Span
    quote: Span  # the sentence or two that say so
    type: RelationType
    polarity: Polarity
    confidence: float  # in [0, 1]
    extractor: str = "rules"  # or the chat model's name


TITLE_WEIGHT = 3.0  # of a mention, at least, that is its document's title
MOST_CHUNKS = 100  # that name the same; what more of them name says nothing about any


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text: a person, a place, a product, a title."""

    key: str  # the name as it is in every document: see `naming`
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ChunkGraph:
    """A chunk's contribution to the graph; the spans of its relations are characters of its document."""

    mentions: tuple[Mention, ...] = ()
    relations: tuple[CausalRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """A cause or an effect. Of one collection, so of one owner."""

    id: UUID
    key: str  # its words without case, accents, articles and endings
    name: str  # as a document writes it


@dataclass(frozen=True, slots=True)
class CausalEdge:
    """A relation with the place that says so."""

    id: UUID
    cause: Entity
    effect: Entity
    type: RelationType
    polarity: Polarity
    confidence: float
    quote: str
    start_char: int  # of the quote, in the document
    end_char: int
    document: Document
    chunk_id: UUID
    chunk_index: int
    extractor: str = "rules"


@dataclass(frozen=True, slots=True)
class EntityLink:
    """Two entities that mean nearly the same."""

    entity_id: UUID
    other_id: UUID
    similarity: float  # in (0, 1)


@dataclass(frozen=True, slots=True)
class CausalNeighbourhood:
    """A part of the causal graph: what can be reached from some entities."""

    edges: tuple[CausalEdge, ...] = ()
    links: tuple[EntityLink, ...] = ()
    starts: tuple[tuple[UUID, float], ...] = ()  # entities that the question means, and how surely, in (0, 1]
    frequencies: tuple[tuple[str, int], ...] = ()  # by root that two of its entities share: entities that hold it


@dataclass(frozen=True, slots=True)
class CausalPath:
    """A chain from a cause to its last effect: each edge's effect is, or means nearly, the next one's cause."""

    edges: tuple[CausalEdge, ...]
    score: float
    link_scores: tuple[float, ...] = ()  # in [0, 1]: how surely each edge but the first continues the one before

    @property
    def entities(self) -> tuple[str, ...]:
        return (self.edges[0].cause.name, *(edge.effect.name for edge in self.edges))


@dataclass(frozen=True, slots=True)
class MentionEdge:
    """A chunk's mention of an entity that `chunk_count` chunks of the collection name."""

    chunk_id: UUID
    key: str
    weight: float
    chunk_count: int

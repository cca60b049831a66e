"""Schemas of searches and their results."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from api.schemas.fields import DEGRADED, MAX_OPTIONS, AskedCollections, Text, Whole, check_number
from graphrag.config.settings import RetrievalConfig
from graphrag.models import Chunk, Collection, Hit, Passage, Strategy, TransformedQuery
from graphrag.parsers.source_locations import describe_location
from graphrag.retrieval.filters import DATES, FIELDS, KNOWN, MOST_VALUES
from graphrag.retrieval.query import Leg, SearchResult, Trace

MOST_HITS = 1000
CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
_WORD: Final = {"type": "string", "pattern": r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"}
_WORDS: Final = {"anyOf": [_WORD, {"type": "array", "items": _WORD, "maxItems": MOST_VALUES}]}
_MOMENT: Final = {"type": "string", "format": "date"}
FILTERS: Final = {
    "type": "object",
    "description": f"Which documents are searched, each by a value or a list of alternatives: {', '.join(KNOWN)}; "
    "dates are ISO 8601, a moment of a day too, and the last one is exclusive",
    "properties": {**dict.fromkeys(FIELDS, _WORDS), **dict.fromkeys(DATES, _MOMENT)},
    "additionalProperties": False,
}
# Both are checked where every door has them checked, which tells more precisely what is wrong.
Question = Annotated[
    Text,
    Field(json_schema_extra={"minLength": 1, "pattern": f"^[^{CONTROLS}]*[^\\s{CONTROLS}][^{CONTROLS}]*$"}),
]
# With its bounds before the check: after it, in a union, the description would lose them.
Count = Annotated[int, Field(strict=False, ge=1, le=MOST_HITS), BeforeValidator(check_number)]
FiltersIn = Annotated[dict[Text, Any], Field(max_length=MAX_OPTIONS), WithJsonSchema(FILTERS)]


class RetrieveRequest(AskedCollections):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {"query": "¿Por qué se paró el horno H2?", "top_k": 5, "filters": {"language": "es"}},
                {"query": "cold room", "strategy": "fulltext", "enable_rerank": False, "debug": True},
                {"query": "cold room", "collections": ["demo", "contracts"]},
            ]
        },
    )

    query: Question
    top_k: Count | None = Field(default=None, description="Default: the collection's")
    strategy: Literal["auto", "fulltext", "semantic", "vector", "hybrid"] | None = Field(
        default=None, description="auto: by the question; vector is another name of semantic"
    )
    enable_rerank: bool | None = Field(default=None, description="Reorder what is found by how well it answers")
    filters: FiltersIn = Field(default_factory=dict)
    offset: Whole = Field(default=0, ge=0, le=MOST_HITS, description="Results that are passed over")
    min_score: float = Field(default=0.0, ge=0, le=1, description="Results below it are left out")
    config: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description="In place of the collection's values, where the fields above do not say it; one that is not valid "
        f"is passed over, with a warning: {', '.join(RetrievalConfig.model_fields)}",
    )
    debug: bool = Field(default=False, description="Show what every stage did; no stage is left out for a cache's sake")

    @property
    def overrides(self) -> dict[str, Any]:
        strategy = "semantic" if self.strategy == "vector" else self.strategy
        own = {"top_k": self.top_k, "strategy": strategy, "rerank": self.enable_rerank}
        return {**self.config, **{name: value for name, value in own.items() if value is not None}}


class HitOut(BaseModel):
    chunk_id: UUID
    document_id: UUID
    chunk_index: int
    content: str
    score: float = Field(description="In [0, 1], comparable only within one search")
    scores: dict[str, float] = Field(description="Of each stage")
    created_at: datetime = Field(description="The document's")
    metadata: dict[str, Any] = Field(
        description="The document's collection, names and language, and where in it the chunk stands"
    )


class SearchOut(BaseModel):
    results: list[HitOut] = Field(description="The best first")
    degraded: list[str] = Field(description=DEGRADED)
    strategy: Strategy = Field(description="That was taken")
    warnings: list[str] = Field(description="What of the request was not used, and why")


class PlaceInRanking(BaseModel):
    rank: int
    chunk_id: UUID
    document_id: UUID
    chunk_index: int
    score: float


class Ranking(BaseModel):
    total: int
    hits: list[PlaceInRanking] = Field(description="The first of them")


class LegOut(Ranking):
    """One text, searched for by its words, by its meaning or by another service, in one choice of documents."""

    leg: Literal["fulltext", "vector", "chunkenizer"]
    text: str
    files: list[str] = Field(description="That the question or a filter names; empty: all")
    failure: str = Field(description="An error's code; empty: none")
    collection: str = Field(default="", description="Its name; empty: another service's documents")


class ReadPassage(BaseModel):
    rank: int
    document_id: UUID
    chunk_index: int = Field(description="Of the best hit in it")
    score: float
    filename: str
    content: str = Field(description="Its beginning, where it is long")


class ShownChunk(BaseModel):
    filename: str
    context: str = Field(description="The title and the headings over it")
    content: str = Field(description="Its beginning, where it is long")


class QueryOut(BaseModel):
    language: str
    intent: Literal["factual", "causal", "temporal", "comparative"]
    direction: Literal["causes", "effects"] | None
    is_multi_hop: bool
    sub_queries: list[str]
    entities: list[str]
    search_text: str = Field(description="What is searched for")
    hypothetical_answer: str


class Lookups(BaseModel):
    hits: int
    misses: int


class DebugOut(BaseModel):
    """Outcome of every stage; null where it has not ended."""

    query: QueryOut | None
    strategy: Strategy | None
    reason: str = Field(description="Why this strategy")
    legs: list[LegOut]
    fused: Ranking | None
    reranked: Ranking | None
    graph: Ranking | None
    expanded: list[ReadPassage] | None = Field(description="What an answer would read: hits with what surrounds them")
    chunks: dict[UUID, ShownChunk] = Field(description="All that stand in a ranking, by their ids")
    timings_ms: dict[str, float] = Field(description="By stage; what a stage did twice is added up")
    embedding_model: str
    config: dict[str, Any] | None = Field(description="RetrievalConfig as it was used")
    caches: dict[str, Lookups] = Field(description="What was looked up in each cache")


class RetrieveResponse(SearchOut):
    debug: DebugOut | None = None


class RetrievalOptions(BaseModel):
    """Options that `retrieval` of a question, `config` of a search and `retrieval` of an evaluation accept."""

    collection: str
    values: dict[str, Any] = Field(description="RetrievalConfig as this collection is searched")
    config: dict[str, Any] = Field(description="JSON Schema of RetrievalConfig")
    filters: dict[str, Any] = Field(description="JSON Schema of `filters`")


class ChunkenizerRequest(BaseModel):
    """Chunkenizer's own, and a collection."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "Why did the oven stop?", "top_k": 5}]})

    query: Question
    top_k: Count = 5
    filters: FiltersIn | None = None
    collection: Text | None = Field(default=None, description="Without one, the server's default collection")


class ChunkOut(BaseModel):
    chunk_text: str
    document_id: UUID
    document_name: str
    chunk_index: int
    score: float
    metadata: dict[str, Any]


class ChunkenizerResponse(BaseModel):
    query: str
    results: list[ChunkOut]
    total_results: int


MOST_LEGS, MOST_SHOWN, MOST_CHARS, MOST_TEXT = 24, 20, 500, 2_000  # of what is told of one search


def describe(found: SearchResult) -> dict[str, Any]:
    """All but the hits."""
    return {"degraded": list(found.failed), "strategy": found.strategy, "warnings": list(found.warnings)}


def describe_hits(hits: Sequence[Hit], collections: Sequence[Collection]) -> list[dict[str, Any]]:
    names = {collection.id: collection.name for collection in collections}
    return [_describe_hit(hit, names.get(hit.chunk.document.collection_id, "")) for hit in hits]


def _describe_hit(hit: Hit, collection: str) -> dict[str, Any]:
    chunk, document = hit.chunk, hit.chunk.document
    return {
        "chunk_id": str(chunk.id),
        "document_id": str(document.id),
        "chunk_index": chunk.index,
        "content": chunk.content,
        "score": hit.score,
        "scores": dict(hit.scores),
        "created_at": document.created_at.isoformat(),
        "metadata": {"collection": collection, **describe_metadata(hit)},
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
        **describe_location(chunk),
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
    fields = {"leg": leg.name, "text": leg.text[:MOST_CHARS], "files": list(leg.files), "failure": leg.failure}
    fields["collection"] = leg.collection
    return fields | _describe_ranking(leg.hits)


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

"""A question, the filters of a search, and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from graphrag.models.documents import Chunk, Document, SourceLocation, TemporalContext

FulltextRanking = Literal["bm25", "ts_rank_cd", "index"]
Strategy = Literal["fulltext", "semantic", "hybrid"]
Fusion = Literal["weighted", "rrf"]
Direction = Literal["causes", "effects"]  # which side of a cause a causal question asks for


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters on documents: a field matches any of its values, and an empty field matches every document."""

    document_types: tuple[str, ...] = ()  # "pdf" or "application/pdf"
    languages: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    processing_strategies: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    created_from: datetime | None = None
    created_until: datetime | None = None  # exclusive


EVERYTHING = Filters()


class Synonym(NamedTuple):
    """A word that means what a word of the question does, in its language or another."""

    number: int  # of the question's word, from 0
    language: str
    word: str


@dataclass(frozen=True, slots=True)
class Hit:
    chunk: Chunk
    score: float  # in [0, 1], comparable only within one search
    scores: Mapping[str, float] = field(default_factory=dict)  # stage → its own score


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit in its surroundings: a span of one document that holds one or more hits. What an answer is made from."""

    document: Document
    chunk_index: int  # of the best hit in it
    start_char: int
    end_char: int
    content: str
    matches: tuple[tuple[int, int], ...]  # the hits' own spans
    score: float
    locations: tuple[SourceLocation, ...] = ()  # those that it holds a part of, with the document's offsets
    headers: tuple[str, ...] = ()  # of the table whose rows it holds
    collection: str = ""  # its name; empty: not told, or another service's document
    computed: str = ""  # statements of ours, a line each, that were computed from it and others: it supports these


class Intent(StrEnum):
    FACTUAL = "factual"
    CAUSAL = "causal"
    TEMPORAL = "temporal"
    COMPARATIVE = "comparative"


@dataclass(frozen=True, slots=True)
class TransformedQuery:
    """A question and what was understood of it. `sub_queries` is empty for a simple question."""

    original: str
    language: str
    intent: Intent
    sub_queries: tuple[str, ...] = ()
    direction: Direction | None = None  # of a causal question
    is_multi_hop: bool = False  # one thing must be found first to ask for another
    entities: tuple[str, ...] = ()  # names in it
    dates: tuple[TemporalContext, ...] = ()  # periods named in it
    search_text: str = ""  # what is asked, understood alone, where the question does not say it so: of a follow-up, say
    hypothetical_answer: str = ""  # to an abstract question: what a passage that answers it might say
    strategy: str = ""  # why the question, or another text, is searched for

    @property
    def is_complex(self) -> bool:
        return len(self.sub_queries) > 1

    @property
    def standalone(self) -> str:
        """Return the question that is searched for and answered; the original is the one displayed."""
        return self.search_text or self.original

    @property
    def searches(self) -> tuple[str, ...]:
        return (self.standalone, *self.sub_queries) if self.is_complex else (self.standalone,)

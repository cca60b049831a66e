"""The nouns of experiments: two configurations of a collection that answer at the same time, and what came of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from graphrag.models.documents import Collection

Variant = Literal["A", "B"]  # A: the collection as it is configured
Outcome = Literal["complete", "failed"]


class ExperimentStatus(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What is to be tried, and how often."""

    name: str
    share: float  # of conversations that B answers, in (0, 1]
    retrieval: Mapping[str, Any]  # B's values of RetrievalConfig
    generation: Mapping[str, Any]  # B's values of GenerationConfig
    config_hash_a: str
    config_hash_b: str


@dataclass(frozen=True, slots=True)
class Experiment:
    id: UUID
    owner_id: str
    collection_id: UUID
    collection: str  # its name
    name: str
    share: float
    retrieval: Mapping[str, Any]
    generation: Mapping[str, Any]
    config_hash_a: str  # of all that has a say in an answer, when it began
    config_hash_b: str
    started_at: datetime
    stopped_at: datetime | None

    @property
    def status(self) -> ExperimentStatus:
        return ExperimentStatus.STOPPED if self.stopped_at else ExperimentStatus.RUNNING

    def draw(self, unit_id: UUID) -> Variant:
        """Always the same for the same conversation, in every process; nothing has to be kept for it."""
        digest = hashlib.sha256(self.id.bytes + unit_id.bytes).digest()
        return "B" if int.from_bytes(digest[:8], "big") / 2**64 < self.share else "A"

    def configured(self, collection: Collection, variant: Variant) -> Collection:
        """The collection as this side answers from it."""
        return as_b(collection, self.retrieval, self.generation) if variant == "B" else collection


def as_b(collection: Collection, retrieval: Mapping[str, Any], generation: Mapping[str, Any]) -> Collection:
    return replace(
        collection,
        config={**collection.config, **retrieval},
        generation_config={**collection.generation_config, **generation},
    )


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """How one answer went."""

    outcome: Outcome
    message_id: UUID | None = None  # of the answer, where it is kept
    found: bool = False
    degraded: bool | None = None
    supported: float | None = None  # share of its marks; None: it has none
    first_token_ms: float | None = None
    total_ms: float | None = None


@dataclass(frozen=True, slots=True)
class SideCounts:
    """What one side has answered. Percentiles are of single answers that are complete."""

    variant: Variant
    conversations: int  # and single answers, where no conversation is kept
    answers: int
    unfinished: int  # being written, or whoever asked has left
    failed: int
    degraded: int
    found: int
    liked: int
    disliked: int
    first_token_p50_ms: float | None
    first_token_p95_ms: float | None
    total_p50_ms: float | None
    total_p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Unit:
    """What was drawn for one side: a conversation, or a single answer; with the means of its answers."""

    variant: Variant
    means: Mapping[str, float | None]  # metric → mean; None: none of its answers has one

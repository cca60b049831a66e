"""The nouns of evaluation: golden cases and runs over them, proposed cases, schedules."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from croniter import croniter

from graphrag.errors import CausewayError, InvalidSchedule

Category = Literal["factual", "causal", "temporal", "multi_part"]
Difficulty = Literal["easy", "medium", "hard"]
Judging = Literal["auto", "model", "estimate"]  # auto: by a model where one may read the collection
Existing = Literal["refuse", "keep", "replace"]  # what becomes of a question that is there already
MARKS = " ¿?¡!.…"  # around a question: two that differ in them alone are one


@dataclass(frozen=True, slots=True)
class DocumentReference:
    """A document by any of its names; the first of them that one document alone has is taken."""

    id: UUID | None = None
    source: str | None = None
    filename: str | None = None

    @classmethod
    def named(cls, name: str) -> "DocumentReference":
        """Return a reference from a text that is an id, a source or a filename."""
        try:
            return cls(UUID(name), name, name)
        except ValueError:
            return cls(None, name, name)

    def __str__(self) -> str:
        return self.source or self.filename or str(self.id)


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A golden case as a person enters it."""

    query: str
    documents: tuple[DocumentReference, ...]  # none: the collection holds no answer
    expected_answer: str = ""
    category: Category = "factual"
    difficulty: Difficulty = "medium"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldenCase:
    id: UUID
    query: str
    relevant_document_ids: tuple[UUID, ...]
    expected_answer: str
    category: Category
    difficulty: Difficulty
    tags: tuple[str, ...]
    last_validated_at: datetime
    created_at: datetime
    updated_at: datetime
    missing_document_ids: tuple[UUID, ...] = ()  # of the relevant ones, those that have been deleted


@dataclass(frozen=True, slots=True)
class GoldenVersion:
    """A collection's golden cases as they were once."""

    number: int  # from 1
    name: str
    case_count: int
    content_hash: str
    created_at: datetime


class RunStatus(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED)


class CaseStatus(StrEnum):
    WAITING = "waiting"
    MEASURED = "measured"
    SKIPPED = "skipped"  # a document that it names has been deleted


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The cases and configuration of an evaluation run."""

    name: str
    version: int | None  # of the golden cases; None: those of this moment
    golden_hash: str
    config: Mapping[str, Any]  # all that has a say in the ranking, the answers and their judgement
    embedding_model: str
    warnings: tuple[str, ...]

    @property
    def config_hash(self) -> str:
        """Runs of the same hash measure the same: configuration, embedding model and cases."""
        return canonical_hash(
            {"config": dict(self.config), "embedding_model": self.embedding_model, "golden": self.golden_hash}
        )


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    id: UUID
    owner_id: str
    collection_id: UUID
    collection: str  # its name
    name: str
    status: RunStatus
    version: int | None
    golden_hash: str
    config: Mapping[str, Any]
    embedding_model: str
    config_hash: str
    warnings: tuple[str, ...]
    done: int  # of `total` cases
    total: int
    summary: Mapping[str, Any] | None  # of a run that is done
    reason: str  # why it failed: an error's code
    cause: str
    ticket: UUID  # of the worker that has it in hand
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case as it was when its run was ordered, and what became of it."""

    position: int  # in its run, from 0
    case_id: UUID
    query: str
    category: Category
    difficulty: Difficulty
    relevant_document_ids: tuple[UUID, ...]
    status: CaseStatus = CaseStatus.WAITING
    retrieved_document_ids: tuple[UUID, ...] = ()  # the best first
    missing_document_ids: tuple[UUID, ...] = ()
    rank: int | None = None  # of the first relevant document; None: it was not found
    metrics: Mapping[str, float] = field(default_factory=dict)  # of search and answer, those that are defined
    milliseconds: float | None = None  # of the search
    failed: tuple[str, ...] = ()  # stages that the search did without
    expected_answer: str = ""
    answer_milliseconds: float | None = None  # None: it was not answered
    first_token_milliseconds: float | None = None
    chat_model: str | None = None  # that wrote the answer, by name
    answer_failed: tuple[str, ...] = ()  # stages that the answer did without
    statements: Mapping[str, int] = field(default_factory=dict)  # of the answer: how many, by status of verification
    unjudged: tuple[str, ...] = ()  # metrics of which the judge said nothing usable

    @property
    def key(self) -> str:
        """The same for the same question, in whatever collection."""
        return query_key(self.query)


def query_key(query: str) -> str:
    """Return the same key for questions that differ only in case, spaces and surrounding punctuation.

    It is "" for a question without a letter or digit.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", query).casefold())
    bare = " ".join(folded.split()).strip(MARKS)
    return hashlib.sha256(bare.encode()).hexdigest() if bare else ""


def canonical_hash(value: Any) -> str:
    """SHA-256 of canonical JSON: sorted keys, no spaces, UTF-8."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_cases(cases: Sequence[GoldenCase]) -> str:
    """Return a hash of the cases' content; their order, ids and dates don't count."""
    contents = [
        {
            "query": case.query,
            "relevant_document_ids": sorted(map(str, case.relevant_document_ids)),
            "expected_answer": case.expected_answer,
            "category": case.category,
            "difficulty": case.difficulty,
            "tags": sorted(case.tags),
        }
        for case in cases
    ]
    return canonical_hash(sorted(contents, key=lambda content: str(content["query"])))


Origin = Literal["feedback", "document"]
Method = Literal["rules", "model"]


class ProposalState(StrEnum):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class DocumentProposal:
    """A question that a document answers, as it was made from its text."""

    query: str
    document_id: UUID
    content_hash: str  # of the document that was read
    expected_answer: str
    quote: str  # of the document: what answers
    category: Category
    difficulty: Difficulty
    tags: tuple[str, ...] = ()
    method: Method = "rules"
    candidate_document_ids: tuple[UUID, ...] = ()  # that may answer it, too; the likeliest first


@dataclass(frozen=True, slots=True)
class CaseProposal:
    """A proposed golden case, which no run, export or version contains until it is accepted.

    Words of a deleted document or conversation are "" in it.
    """

    id: UUID
    state: ProposalState
    origin: Origin
    method: Method
    query: str
    relevant_document_ids: tuple[UUID, ...]
    candidate_document_ids: tuple[UUID, ...]  # that may be relevant, too; the likeliest first
    expected_answer: str
    quote: str
    category: Category
    difficulty: Difficulty
    tags: tuple[str, ...]
    reason: str  # what a person said of the answer
    conversation_id: UUID | None
    message_id: UUID | None  # the answer that was rated
    document_id: UUID | None
    case_id: UUID | None  # the golden case that became of it
    created_at: datetime
    decided_at: datetime | None

    def draft(self) -> CaseDraft:
        documents = tuple(DocumentReference(id=document) for document in self.relevant_document_ids)
        return CaseDraft(self.query, documents, self.expected_answer, self.category, self.difficulty, self.tags)


@dataclass(frozen=True, slots=True)
class CaseEdits:
    """A person's changes to a proposal; None leaves a field as proposed."""

    query: str | None = None
    documents: Sequence[DocumentReference] | None = None
    expected_answer: str | None = None
    category: Category | None = None
    difficulty: Difficulty | None = None
    tags: Sequence[str] | None = None


class ProposalNotFound(CausewayError):
    """`details`: proposal."""

    code: ClassVar[str] = "proposal_not_found"


class ProposalDecided(CausewayError):
    """`details`: proposal, state."""

    code: ClassVar[str] = "proposal_decided"


FIELDS = 5  # minute, hour, day of the month, month, day of the week


@dataclass(frozen=True, slots=True)
class Timetable:
    """A cron expression, in the time of a zone of the IANA database."""

    cron: str
    timezone: str = "UTC"

    def following(self, after: datetime) -> datetime:
        """The first time after it, in UTC. Raises InvalidSchedule."""
        zone = self._zone()
        if len(self.cron.split()) != FIELDS:
            raise self._invalid("cron_expression", f"{self.cron!r} has not the five fields of a cron expression")
        try:
            found: datetime = croniter(self.cron, after.astimezone(zone)).get_next(datetime)
        except (ValueError, KeyError, OverflowError) as exc:  # also of a day that never comes, like February 30
            raise self._invalid("cron_expression", f"{self.cron!r} is no cron expression: {exc}") from exc
        return found.astimezone(UTC)

    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.timezone)
        except (ValueError, OSError, LookupError) as exc:
            raise self._invalid("timezone", f"There is no time zone {self.timezone!r}") from exc

    def _invalid(self, reason: str, message: str) -> InvalidSchedule:
        explanation = (
            f'{message}. Write, for three o\'clock each night, "0 3 * * *", and a time zone like Europe/Madrid.'
        )
        return InvalidSchedule(explanation, reason=reason, cron=self.cron, timezone=self.timezone)


@dataclass(frozen=True, slots=True)
class Schedule:
    id: UUID
    owner_id: str
    collection_id: UUID
    collection: str  # its name
    name: str  # of its runs
    cron: str
    timezone: str
    choices: Mapping[str, Any]  # what its runs are ordered with
    due_at: datetime
    last_run_id: UUID | None
    ordered_at: datetime | None  # the last run
    reason: str  # why the last time that it was due ordered nothing: an error's code
    cause: str
    created_at: datetime

    def following(self, now: datetime) -> datetime:
        """Return the next due time after `now`; missed times are skipped."""
        return Timetable(self.cron, self.timezone).following(max(now, self.due_at))

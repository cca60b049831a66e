"""Fields, types and pages of lists that several schemas share."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from graphrag.config.settings import RetrievalConfig
from graphrag.errors import ConflictingCollections, InvalidCursor
from graphrag.retrieval.filters import KNOWN

DEGRADED = "Stages that were left out or failed; with `time` or `load` where that is the reason"
ANSWER_HTML = (
    "The answer for a page, sanitized. Text of a statement is in `span.statement[data-statement]`, by its index in "
    "`statements`; a mark is `span.mark[data-number][data-citation]`, by its place in `citations`, from 1"
)
MAX_MESSAGES = 100
MAX_COLLECTIONS = 8  # of one question
MAX_OPTIONS = 50


def _encodable(text: str) -> str:
    """JSON may hold halves of surrogate pairs, which no answer, no model and no database takes."""
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise ValueError("the text is not valid Unicode") from exc
    return text


def _without_nul(text: str) -> str:
    """Check that PostgreSQL takes the text. As a pattern, generators of requests would write long texts by it."""
    if "\0" in text:
        raise ValueError("the text has a NUL character")
    return text


def check_number(value: object) -> object:
    if isinstance(value, str | bool):
        raise ValueError("it is no number")
    return value


Text = Annotated[str, AfterValidator(_encodable)]
Storable = Annotated[Text, AfterValidator(_without_nul)]


def check_flag(value: object) -> object:
    """Check a flag of a query: pydantic accepts 1, on and y, too."""
    if value not in ("true", "false"):
        raise ValueError("true or false")
    return value


Flag = Annotated[bool, BeforeValidator(check_flag)]
Whole = Annotated[int, Field(strict=False), BeforeValidator(check_number)]  # 5.0 too: JSON Schema calls it an integer
# Without control characters: the database takes no NUL.
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$"), AfterValidator(_encodable)]


class AskedCollections(BaseModel):
    """One collection, or several at once."""

    collection: Text | None = Field(default=None, description="Without one, the server's default collection")
    collections: list[Annotated[Text, StringConstraints(min_length=1)]] = Field(
        default_factory=list,
        max_length=MAX_COLLECTIONS,
        description="Several collections at once, in place of `collection`. Each is searched with its own settings; "
        "those of the first apply to what is done with all that is found: reranking, the number of chunks",
    )

    @property
    def collection_names(self) -> tuple[str, ...]:
        """The names that were given. Raises ConflictingCollections."""
        if self.collection and self.collections:
            raise ConflictingCollections("Give either collection or collections.")
        return tuple(self.collections or filter(None, [self.collection]))


class MessageIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
    content: Text


class ChatRequest(AskedCollections):
    """A question as `message`, which begins or continues a conversation, or the `messages` of one that is not stored.

    The last of `messages` is the question.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"message": "Why was lot A-2517 recalled?"},
                {"message": "Why was lot A-2517 recalled?", "collections": ["demo", "contracts"]},
            ]
        },
    )

    message: Text | None = None
    messages: list[MessageIn] = Field(default_factory=list, max_length=MAX_MESSAGES)
    conversation_id: UUID | None = Field(default=None, description="Without one, `message` begins a conversation")
    parent_id: UUID | None = Field(
        default=None, description="The answer that the question follows; without one, the last that was shown"
    )
    edit_message_id: UUID | None = Field(default=None, description="The question that `message` is another version of")
    regenerate_message_id: UUID | None = Field(
        default=None, description="In place of a message: the answer to make another version of, or its question"
    )
    collection: Text | None = Field(
        default=None, description="Without one, the conversation's, else the server's default collection"
    )
    rag_enabled: StrictBool = Field(default=True, description="false: plain chat, without the documents")
    top_k: Annotated[int, Field(strict=False, ge=1, le=50), BeforeValidator(check_number)] | None = Field(
        default=None, description="Chunks that reach the answer"
    )
    retrieval: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"In place of the collection's values; one that is not valid is passed over, with a warning: "
        f"{', '.join(RetrievalConfig.model_fields)}",
    )
    filters: dict[Text, Any] = Field(
        default_factory=dict,
        max_length=MAX_OPTIONS,
        description=f"Which documents are searched, each by a value or a list of alternatives: {', '.join(KNOWN)}",
    )

    @model_validator(mode="after")
    def _one_question(self) -> "ChatRequest":
        if [self.message is None, not self.messages, self.regenerate_message_id is None].count(False) != 1:
            raise ValueError("give either message or messages, or regenerate_message_id")
        if self.messages and self.messages[-1].role != "user":
            raise ValueError("the last of messages must be the user's")
        return self

    @model_validator(mode="after")
    def _one_place(self) -> "ChatRequest":
        places = [self.parent_id, self.edit_message_id, self.regenerate_message_id]
        if len(places) - places.count(None) > 1:
            raise ValueError("give one of parent_id, edit_message_id and regenerate_message_id")
        if self.conversation_id is None and any(places):
            raise ValueError("parent_id, edit_message_id and regenerate_message_id need conversation_id")
        if self.conversation_id and self.messages:
            raise ValueError("a conversation has its messages: give message")
        return self

    @property
    def question(self) -> str | None:
        """None: one that was asked before."""
        return self.messages[-1].content if self.messages else self.message


class Source(BaseModel):
    number: int = Field(description="The source's mark in the answer: [1]")
    document_id: str
    collection: str = Field(default="", description="Name of its collection; empty: another service has the document")
    filename: str
    title: str
    language: str
    chunk_index: int
    content_hash: str = Field(default="", description="SHA-256 of the file that was read: another version has another")
    elsewhere: bool = Field(default=False, description="Another service has the document: here it can't be opened")
    start_char: int
    end_char: int
    content: str
    score: float


Reason = Literal[
    "number", "date", "name", "unit", "negation", "direction", "role", "quantifier", "modality", "overlap", "model"
]


class CitationOut(BaseModel):
    number: int
    document_id: str
    collection: str = Field(default="", description="Name of the document's collection")
    filename: str
    title: str
    chunk_index: int
    quote: str
    start_char: int
    end_char: int
    status: Literal["supported", "partly", "unsupported"]
    score: float
    statement: str = Field(description="The sentence of the answer, without its marks")
    reasons: list[Reason] = Field(description="Why it is not supported")
    implied: bool = Field(default=False, description="The answer has no mark there; this source carries the statement")
    reference: str = Field(description="[document id:chunk index]")
    sentence: str = Field(description="The citation as a person reads it, in the answer's language")
    first_line: int | None = Field(default=None, description="Of the quote in the document's text, where it is known")
    last_line: int | None = None
    page: int | None = Field(default=None, description="Or slide, from 1")
    sheet: str | None = None
    cell: str | None = Field(default=None, description="Or cells: C12, A2:F2")
    file: str | None = Field(default=None, description="Inside an archive or a message")
    recognized: bool | None = Field(
        default=None, description="Its text was recognised in a picture (OCR): it may hold errors"
    )
    date: str | None = Field(default=None, description="What time the quote is of: its first day")
    trend: str | None = Field(default=None, description="Against the period before, computed from the cells")


class StatementOut(BaseModel):
    """[start, end) of the answer. Its citations are those of its marks; without one, of the source that carries it."""

    statement: str
    start: int
    end: int
    status: Literal["supported", "partly", "unsupported"]
    score: float
    reasons: list[Reason]
    citations: list[CitationOut]


class EdgeOut(BaseModel):
    """A link from a cause to its effect, as one quote states it."""

    cause: str
    effect: str
    type: Literal["CAUSES", "TRIGGERS", "LEADS_TO"]
    confidence: float
    quote: str
    document_id: str
    filename: str
    chunk_index: int
    content_hash: str = Field(default="", description="SHA-256 of the file that was read")
    start_char: int = Field(description="Of the quote, in the document's text")
    end_char: int


class PathEdgeOut(EdgeOut):
    """One link of a path."""

    link_score: float | None = Field(
        default=None, description="In [0, 1]: how surely the edge continues the one before; null for the first"
    )
    source: int | None = Field(description="The number of the source that holds the quote")


class GraphEdgeOut(EdgeOut):
    """One edge of a collection's causal graph; entities with the same id are one."""

    cause_id: UUID
    effect_id: UUID
    polarity: Literal["fact", "negated", "hypothetical"] = Field(
        description="negated: the document denies it; hypothetical: it may be, or it is asked"
    )


class GraphResponse(BaseModel):
    edges: list[GraphEdgeOut] = Field(description="The nearest to what was asked first, then the most confident")


class PathOut(BaseModel):
    """A causal chain: the effect of each edge is, or means nearly, the cause of the next."""

    entities: list[str] = Field(description="From the first cause to the last effect")
    edges: list[PathEdgeOut]
    score: float


class PartOutcome(BaseModel):
    question: str
    outcome: Literal["answered", "closest", "none"]
    short_answer: str
    answer_kind: str


class TableOut(BaseModel):
    """The computation over a table, and the first rows that it comes from."""

    plan: str = Field(description="What was computed, in words: sum of “Amount” where Status = Pending (7 of 31 rows)")
    columns: list[str]
    rows: list[list[str]] = Field(description="The first rows, or the first groups with their values")
    sources: list[int | None] = Field(default=[], description="Number of each row's source, of a group's first row's")
    row_count: int = Field(description="Rows that it comes from, which may be more")
    group_count: int | None = Field(default=None, description="Groups, which may be more; null: there are none")
    values: list[float] = Field(default=[], description="The values of these groups as numbers")
    is_series: bool = Field(default=False, description="The groups are months, quarters or years, in their order")
    query: dict[str, Any] = Field(default={}, description="The plan as …/messages/{message_id}/table.csv runs it again")


class AnswerOutcome(BaseModel):
    """The outcome of an answer, which says nothing of whether its statements are supported."""

    task: str = Field(description="What the message asks for: question, why, list, summarise, catalogue, small_talk …")
    outcome: Literal["answered", "closest", "none"] = Field(
        description="closest: no answer, but the passages nearest to one; none: nothing was found"
    )
    found: bool = Field(description="false: the documents hold no answer")
    short_answer: str = Field(description="The bare value or words that answer, without marks; may be empty")
    answer_kind: str = Field(description="What is asked for: amount, date, person, reason, yes_no, list …")
    parts: list[PartOutcome] = Field(description="The same for each part of a question that has several")
    table: TableOut | None = Field(default=None, description="null: the answer was not computed from a table")


class ChatResponse(AnswerOutcome):
    """`citations` has one entry a mark, in the order of the marks in the answer."""

    answer: str = Field(description="Markdown")
    answer_html: str = Field(description=ANSWER_HTML)
    citations: list[CitationOut]
    statements: list[StatementOut] = Field(description="What the answer states, each checked against the sources")
    sources: list[Source]
    paths: list[PathOut] = Field(description="Causal chains that the documents state, the best first")
    degraded: list[str] = Field(description=DEGRADED)
    degraded_messages: list[str]
    warnings: list[str] = Field(description="What of the request was not used, and why")
    unsupported_statements: list[str]
    reliability: float = Field(description="Passages used / passages at hand")
    language: Literal["es", "fr", "en"]
    intent: Literal["factual", "causal", "temporal", "comparative"]
    chat_model: str | None = Field(description="That wrote the answer; null where none was asked")
    timings_ms: dict[str, float]
    conversation_id: UUID | None = Field(default=None, description="null: the conversation is not kept")
    parent_id: UUID | None = Field(default=None, description="The question's")
    message_id: UUID | None = Field(default=None, description="The answer's")


class ErrorBody(BaseModel):
    code: str
    message: str = Field(description="In the language of Accept-Language: es (default), fr, en")
    details: dict[str, Any]
    request_id: str


class ErrorResponse(BaseModel):
    error: ErrorBody


class EmbeddingModelOut(BaseModel):
    id: str
    name: str
    status: Literal["loaded", "missing"]
    dimensions: int


class CrossEncoderOut(BaseModel):
    model: str
    status: Literal["loaded"]


class BreakerOut(BaseModel):
    """Circuit breaker of a dependency."""

    name: str = Field(description="Of a model, or database, or redis")
    state: Literal["closed", "open", "half_open"] = Field(description="closed: it is used")
    failures: int = Field(description="In a row")
    retry_after: float = Field(description="Seconds until it is tried again")


class Health(BaseModel):
    status: Literal["ok", "degraded"]
    version: str
    database: Literal["ok", "unavailable"]
    chat_model: str
    can_choose_model: bool = Field(description="Whether PUT /models/chosen is allowed: only without authentication")
    embedding_models: list[EmbeddingModelOut]
    cross_encoder: CrossEncoderOut | None = Field(default=None, description="Where one is loaded")
    name_pipelines: list[str] | None = Field(default=None, description="Names and versions of spaCy's, where some are")
    breakers: list[BreakerOut]


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that can fail with these statuses."""
    return {status: {"model": ErrorResponse} for status in statuses}


EntryT = TypeVar("EntryT")
KeyT = TypeVar("KeyT", bound=tuple[Any, ...])
MAX_CURSOR_CHARS = 2_000

Limit = Annotated[int, Query(ge=1, le=200, description="Entries a page")]
Cursor = Annotated[
    str | None,
    Query(max_length=MAX_CURSOR_CHARS, description="`next_cursor` of the page before; without one, the first"),
]


class Page(BaseModel):
    """Fields that every list has beside its entries."""

    next_cursor: str | None = Field(default=None, description="For the page after this one; null: this is the last")


def read_cursor(cursor: str | None, kind: type[KeyT]) -> KeyT | None:
    """The place that a list of this kind of keys has given, as `tuple[datetime, UUID]`. Raises InvalidCursor."""
    if cursor is None:
        return None
    try:
        return TypeAdapter(kind).validate_python(json.loads(urlsafe_b64decode(cursor.encode())))
    except (ValueError, RecursionError) as exc:
        raise InvalidCursor(f"{cursor!r} is no cursor of this list.") from exc


def cut(
    entries: Sequence[EntryT], limit: int, key: Callable[[EntryT], tuple[Any, ...]]
) -> tuple[list[EntryT], str | None]:
    """The page, and its `next_cursor`; `entries` are up to one more than its limit."""
    page = list(entries[:limit])
    return page, write_cursor(key(page[-1])) if len(entries) > limit else None


def write_cursor(key: Sequence[Any]) -> str:
    return urlsafe_b64encode(json.dumps(key, default=_written, separators=(",", ":")).encode()).decode()


def _written(value: object) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)

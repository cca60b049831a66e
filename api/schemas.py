"""What the HTTP API takes and gives."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from graphrag.retrieval.filters import KNOWN
from graphrag.settings import RetrievalConfig

MAX_MESSAGES = 100
MAX_OPTIONS = 50


def _encodable(text: str) -> str:
    """JSON may hold halves of surrogate pairs, which no answer, no model and no database takes."""
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise ValueError("the text is not valid Unicode") from exc
    return text


Text = Annotated[str, AfterValidator(_encodable)]


class Message(BaseModel):
    role: Literal["user", "assistant"]
    content: Text


class ChatRequest(BaseModel):
    """A question as `message`, or a conversation as `messages`, whose last is the question."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"message": "¿Qué provocó la retirada del lote A-2517?"}]}
    )

    message: Text | None = None
    messages: list[Message] = Field(default_factory=list, max_length=MAX_MESSAGES)
    collection: Text | None = Field(default=None, description="Without one, the server's default collection")
    rag_enabled: bool = Field(default=True, description="false: plain chat, without the documents")
    top_k: int | None = Field(default=None, ge=1, le=50, description="Chunks that reach the answer")
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
        if (self.message is None) == (not self.messages):
            raise ValueError("give either message or messages")
        if self.messages and self.messages[-1].role != "user":
            raise ValueError("the last of messages must be the user's")
        return self

    @property
    def question(self) -> str:
        return self.message if self.message is not None else self.messages[-1].content


class Source(BaseModel):
    number: int = Field(description="The source's mark in the answer: [1]")
    document_id: str
    filename: str
    title: str
    language: str
    chunk_index: int
    start_char: int
    end_char: int
    content: str
    score: float


class CitationOut(BaseModel):
    number: int
    document_id: str
    filename: str
    title: str
    chunk_index: int
    quote: str
    start_char: int
    end_char: int
    status: Literal["supported", "partly", "unsupported"]
    score: float
    page: int | None = Field(default=None, description="Or slide, from 1")
    sheet: str | None = None
    cell: str | None = Field(default=None, description="Or cells: C12, A2:F2")
    date: str | None = Field(default=None, description="What time the quote is of: its first day")
    trend: str | None = Field(default=None, description="Against the period before, computed from the cells")


class PathEdgeOut(BaseModel):
    """What one quote states."""

    cause: str
    effect: str
    type: Literal["CAUSES", "TRIGGERS", "LEADS_TO"]
    confidence: float
    quote: str
    document_id: str
    filename: str
    chunk_index: int
    start_char: int = Field(description="Of the quote, in the document's text")
    end_char: int
    source: int | None = Field(description="The number of the source that holds the quote")


class PathOut(BaseModel):
    """A causal chain: the effect of each edge is, or means nearly, the cause of the next."""

    entities: list[str] = Field(description="From the first cause to the last effect")
    edges: list[PathEdgeOut]
    score: float


class ChatResponse(BaseModel):
    """`citations` has one entry a mark, in the order of the marks in the answer."""

    answer: str
    citations: list[CitationOut]
    sources: list[Source]
    paths: list[PathOut] = Field(description="Causal chains that the documents state, the best first")
    degraded: list[str] = Field(description="Stages that failed and were done without")
    degraded_messages: list[str]
    warnings: list[str] = Field(description="What of the request was not used, and why")
    unsupported_statements: list[str]
    found: bool = Field(description="false: the documents hold no answer")
    reliability: float = Field(description="Passages used / passages at hand")
    language: Literal["es", "fr", "en"]
    intent: Literal["factual", "causal", "temporal", "comparative"]
    chat_model: str | None = Field(description="That wrote the answer; null where none was asked")
    timings_ms: dict[str, float]


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
    status: Literal["loaded"]
    dimensions: int


class Health(BaseModel):
    status: Literal["ok", "degraded"]
    version: str
    database: Literal["ok", "unavailable"]
    chat_model: str
    embedding_models: list[EmbeddingModelOut]

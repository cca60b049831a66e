"""Request and response bodies of the OpenAI-compatible API."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from api.schemas.fields import DEGRADED, AnswerOutcome, CitationOut, PathOut, Source, StatementOut, Text

DEFAULT_MODEL = "causeway"  # the server's default collection
MOST_SENT = 2_000  # of which the last are read; clients send a chat whole, however long it is
MOST_PARTS = 200
MOST_TEXTS = 2_048  # as many as OpenAI takes
MOST_TEXT_CHARS = 32_000  # about the 8,192 tokens that OpenAI takes
ModelName = Annotated[
    Text, Field(min_length=1, max_length=500, description=f"A collection; `{DEFAULT_MODEL}` is the default one")
]


class ContentPart(BaseModel):
    type: Text = Field(max_length=100, description="text; others are passed over, but in the question")
    text: Text | None = None


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Text | Annotated[list[ContentPart], Field(max_length=MOST_PARTS)] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text is not None)
        return self.content or ""

    @property
    def other_parts(self) -> list[str]:
        """The types of those that are no text."""
        parts = self.content if isinstance(self.content, list) else []
        return [part.type for part in parts if part.text is None]


class StreamOptions(BaseModel):
    include_usage: bool = Field(default=False, description="A last chunk has the usage, and no choices")


class ResponseFormat(BaseModel):
    type: Text


class CompletionRequest(BaseModel):
    """Other fields of OpenAI's are ignored; `causeway.warnings` names those that would have changed the answer."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "model": DEFAULT_MODEL,
                    "messages": [{"role": "user", "content": "¿Qué provocó la retirada del lote A-2517?"}],
                }
            ]
        },
    )

    model: ModelName
    messages: list[ChatMessage] = Field(
        min_length=1,
        max_length=MOST_SENT,
        description="The user's last one is the question, after which there is no other answer; those of system "
        "and developer are told to the language model after the collection's own system prompt; those of tools are "
        "passed over",
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, description="1: there is one answer")
    tools: list[Any] | None = Field(default=None, description="None are called: such a request is refused")
    functions: list[Any] | None = Field(default=None, description="As tools")
    response_format: ResponseFormat | None = Field(default=None, description="text")
    logprobs: bool | None = Field(default=None, description="There are none: true is refused")
    modalities: list[Text] | None = Field(default=None, description="text")

    @field_validator("messages")
    @classmethod
    def _ends_with_a_question(cls, messages: list[ChatMessage]) -> list[ChatMessage]:
        said = [message for message in messages if message.role in ("user", "assistant")]
        if not said or said[-1].role != "user":
            raise ValueError("the last of messages must be the user's")
        return messages


class Answered(AnswerOutcome):
    """Details of the answer, as in the answer of /api/v1/chat."""

    sources: list[Source]
    statements: list[StatementOut]
    unsupported_statements: list[str]
    paths: list[PathOut]
    reliability: float = Field(description="Passages used / passages at hand")
    degraded: list[str] = Field(description=DEGRADED)
    degraded_messages: list[str]
    warnings: list[str] = Field(description="What of the request was not used, and why")
    language: Literal["es", "fr", "en"]
    intent: Literal["factual", "causal", "temporal", "comparative"]
    chat_model: str | None = Field(description="That wrote the answer; null where none was asked")
    timings_ms: dict[str, float]


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str = Field(description="Its marks [^1] are Markdown footnotes, which stand at its end")
    refusal: None = None


class Choice(BaseModel):
    index: int = 0
    message: AnswerMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class Usage(BaseModel):
    """An estimate, by the bundled model's tokenizer: of the messages and the passages read, and of the answer."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, prompt: int, completion: int) -> Self:
        return cls(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="Seconds since 1970")
    model: str
    choices: list[Choice]
    usage: Usage
    citations: list[CitationOut] = Field(description="One a mark, in the order of the marks in the answer")
    causeway: Answered


class ModelOut(BaseModel):
    id: str = Field(description=f"A collection's name, or `{DEFAULT_MODEL}`: the server's default one")
    object: Literal["model"] = "model"
    created: int = Field(default=0, description="Always 0")
    owned_by: Literal["causeway"] = "causeway"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelOut]


class EmbeddingsRequest(BaseModel):
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"model": DEFAULT_MODEL, "input": ["El horno H2 se paró.", "La cámara fría"]}]},
    )

    model: Text = Field(
        min_length=1,
        max_length=500,
        description="An embedding model's id, or a collection: the model that it is searched with",
    )
    input: (
        Annotated[Text, Field(min_length=1, max_length=MOST_TEXT_CHARS)]
        | Annotated[
            list[Annotated[Text, Field(min_length=1, max_length=MOST_TEXT_CHARS)]],
            Field(min_length=1, max_length=MOST_TEXTS),
        ]
    )
    encoding_format: Literal["float", "base64"] = Field(
        default="float", description="base64: of little-endian 32-bit floats"
    )
    dimensions: int | None = Field(default=None, ge=1, description="The model's own")

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, values: Any) -> Any:
        given = values.get("input") if isinstance(values, dict) else None
        if isinstance(given, list) and any(isinstance(each, int | list) for each in given):
            raise ValueError("input: token ids are not taken, send text (LangChain: check_embedding_ctx_length=False)")
        return values

    @property
    def texts(self) -> list[str]:
        return [self.input] if isinstance(self.input, str) else self.input


class EmbeddingOut(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingsUsage(BaseModel):
    prompt_tokens: int = Field(description="An estimate where the model's tokenizer is not at hand")
    total_tokens: int


class EmbeddingsResponse(BaseModel):
    object: Literal["list"] = "list"
    data: list[EmbeddingOut]
    model: str
    usage: EmbeddingsUsage

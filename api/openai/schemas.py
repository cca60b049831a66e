"""Request and response bodies of the OpenAI-compatible API."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

from agent.output.json_schema import AnswerSchema
from api.schemas.fields import DEGRADED, AnswerOutcome, CitationOut, PathOut, Source, StatementOut, Text

DEFAULT_MODEL = "causeway"  # the server's default collection
FORMATS = ("text", "json_object", "json_schema")
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
    include_usage: StrictBool = Field(default=False, description="A last chunk has the usage, and no choices")


class JsonSchemaFormat(BaseModel):
    name: Text = Field(max_length=64, pattern=r"^[\w-]+$")
    given: dict[str, Any] = Field(
        alias="schema", description="At most 32,000 characters; without pattern, and with references to itself alone"
    )


class ResponseFormat(BaseModel):
    type: Text = Field(description="text, json_object or json_schema; JSON needs a language model")
    json_schema: JsonSchemaFormat | None = Field(default=None, description="For json_schema")

    @model_validator(mode="after")
    def _has_a_schema(self) -> Self:
        if self.type == "json_schema" and self.json_schema is None:
            raise ValueError("json_schema: a schema is missing")
        return self

    def read(self) -> AnswerSchema | None:
        """Return the schema of an answer as JSON. Raise InvalidSchema."""
        if self.type == "json_object":
            return AnswerSchema.any_object()
        return AnswerSchema.read(self.json_schema.name, self.json_schema.given) if self.json_schema else None


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
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, description="1: there is one answer")
    tools: list[Any] | None = Field(default=None, description="None are called: such a request is refused")
    functions: list[Any] | None = Field(default=None, description="As tools")
    response_format: ResponseFormat | None = Field(default=None, description="text, or JSON")
    logprobs: StrictBool | None = Field(default=None, description="There are none: true is refused")
    modalities: list[Text] | None = Field(default=None, description="text")

    MESSAGES: ClassVar = "messages"  # the field's name

    @property
    def format(self) -> ResponseFormat | None:
        return self.response_format

    @field_validator("messages")
    @classmethod
    def _ends_with_a_question(cls, messages: list[ChatMessage]) -> list[ChatMessage]:
        return check_question_is_last(messages)

    @property
    def unsupported(self) -> dict[str, bool]:
        """Parameters that are refused, and whether each is asked for."""
        return {
            "n": self.n not in (None, 1),
            "tools": bool(self.tools),
            "functions": bool(self.functions),
            "response_format": self.response_format is not None and self.response_format.type not in FORMATS,
            "logprobs": bool(self.logprobs),
            "modalities": self.modalities not in (None, [], ["text"]),
        }


def check_question_is_last(messages: list[ChatMessage]) -> list[ChatMessage]:
    said = [message for message in messages if message.role in ("user", "assistant")]
    if not said or said[-1].role != "user":
        raise ValueError("the last of the messages must be the user's")
    return messages


class TextFormat(ResponseFormat):
    """A schema stands beside its type here."""

    @model_validator(mode="before")
    @classmethod
    def _is_beside(cls, given: Any) -> Any:
        is_flat = isinstance(given, dict) and given.get("type") == "json_schema" and "schema" in given
        return {"type": "json_schema", "json_schema": given} if is_flat else given


class TextOptions(BaseModel):
    format: TextFormat | None = Field(default=None, description="text, or JSON")


class ResponseRequest(BaseModel):
    """Other fields of OpenAI's are ignored; `causeway.warnings` names those that would have changed the answer."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "model": DEFAULT_MODEL,
                    "instructions": "Contesta en una frase.",
                    "input": "¿Qué provocó la retirada del lote A-2517?",
                }
            ]
        },
    )

    model: ModelName
    input: Text | Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_SENT)] = Field(
        description="The question, or messages of which the user's last one is the question"
    )
    instructions: Text | None = Field(default=None, description="As system messages: after the collection's own prompt")
    previous_response_id: Text | None = Field(
        default=None, max_length=200, description="A stored response, which `input` goes on from with one question"
    )
    store: StrictBool | None = Field(
        default=None,
        description="false: not stored, so no response can follow it; neither is one with earlier messages in `input`",
    )
    stream: StrictBool | None = None
    text: TextOptions | None = None
    metadata: Annotated[dict[Text, Text], Field(max_length=16)] | None = Field(
        default=None, description="Returned, and not stored"
    )
    tools: list[Any] | None = Field(default=None, description="None are called: such a request is refused")
    background: StrictBool | None = Field(default=None, description="true is refused")
    conversation: Any = Field(default=None, description="Refused: give previous_response_id")
    prompt: Any = Field(default=None, description="Refused: there are no templates here")

    MESSAGES: ClassVar = "input"

    @property
    def format(self) -> ResponseFormat | None:
        return self.text.format if self.text else None

    @field_validator("input")
    @classmethod
    def _asks_last(cls, given: str | list[ChatMessage]) -> str | list[ChatMessage]:
        return given if isinstance(given, str) else check_question_is_last(given)

    @property
    def messages(self) -> list[ChatMessage]:
        """Messages of a chat completion that asks the same."""
        asked = [ChatMessage(role="user", content=self.input)] if isinstance(self.input, str) else self.input
        return [ChatMessage(role="system", content=self.instructions), *asked]

    @property
    def unsupported(self) -> dict[str, bool]:
        return {
            "tools": bool(self.tools),
            "text.format": self.format is not None and self.format.type not in FORMATS,
            "background": bool(self.background),
            "conversation": self.conversation is not None,
            "prompt": self.prompt is not None,
        }


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
    content: str | None = Field(description="Its marks [^1] are Markdown footnotes, which stand at its end; or JSON")
    refusal: str | None = Field(default=None, description="In place of JSON, where the documents hold no answer")


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


class UrlCitation(BaseModel):
    """One citation, at the statement that it proves; those of another service's documents have no address here."""

    type: Literal["url_citation"] = "url_citation"
    start_index: int = Field(description="Of the statement, in characters of the text")
    end_index: int
    title: str = Field(description="The citation as a person reads it, in the answer's language")
    url: str = Field(description="The cited text with its surroundings: GET /api/v1/documents/{id}/text")


class OutputText(BaseModel):
    type: Literal["output_text"] = "output_text"
    text: str = Field(description="Markdown, with marks [1] of its sources")
    annotations: list[UrlCitation]
    logprobs: list[Any] = []


class OutputRefusal(BaseModel):
    """A message in place of JSON, where the documents hold no answer."""

    type: Literal["refusal"] = "refusal"
    refusal: str


class OutputMessage(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["in_progress", "completed"]
    content: list[OutputText | OutputRefusal]


class InputTokensDetails(BaseModel):
    cached_tokens: int = 0
    cache_write_tokens: int = 0


class OutputTokensDetails(BaseModel):
    reasoning_tokens: int = 0


class ResponseUsage(BaseModel):
    """The same estimate as a chat completion's."""

    input_tokens: int
    input_tokens_details: InputTokensDetails = InputTokensDetails()
    output_tokens: int
    output_tokens_details: OutputTokensDetails = OutputTokensDetails()
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> Self:
        return cls(
            input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, total_tokens=usage.total_tokens
        )


class ResponseOut(BaseModel):
    id: str
    object: Literal["response"] = "response"
    created_at: int = Field(description="Seconds since 1970")
    status: Literal["in_progress", "completed"]
    model: str
    output: list[OutputMessage]
    instructions: str | None
    previous_response_id: str | None
    store: bool = Field(description="Whether previous_response_id may name it")
    metadata: dict[str, str]
    text: TextOptions = TextOptions(format=TextFormat(type="text"))
    tools: list[Any] = []
    tool_choice: Literal["none"] = "none"
    parallel_tool_calls: bool = False
    error: None = None
    incomplete_details: None = None
    usage: ResponseUsage | None = None
    citations: list[CitationOut] = Field(default=[], description="One a mark, in the order of the marks in the answer")
    causeway: Answered | None = Field(default=None, description="null while it is in progress")


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

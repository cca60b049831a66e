"""The service's settings of chat models, of what they are given, and of what becomes of a conversation."""

from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator
from pydantic_settings import NoDecode


class ChatConfig(BaseModel):
    """The chat model, its context and its limits."""

    enabled: bool = Field(default=True, description="Answer from documents; false: plain chat with the model")
    chat_fallbacks: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Models asked in this order where the chat model fails before its first word, separated by commas; "
        "at last answers are extractive",
    )
    chat_first_token_seconds: PositiveFloat = Field(
        default=30, description="Longest wait for an answer's first token, all retries together"
    )
    chat_token_seconds: PositiveFloat = Field(default=20, description="Longest wait from token to token")
    chat_timeout_seconds: PositiveFloat = Field(default=120, description="Longest time for a whole answer")
    chat_max_retries: NonNegativeInt = Field(
        default=2, description="Times that one model is asked again, before the first token"
    )
    chat_concurrency: PositiveInt = Field(default=4, description="Calls to one model at the same time, in one process")
    chat_queue: NonNegativeInt = Field(
        default=32, description="Calls that wait for their turn with one model; the others go to the next model"
    )
    chat_breaker_failures: PositiveInt = Field(
        default=3, description="Failures in a row after which a model is left alone"
    )
    chat_breaker_seconds: PositiveFloat = Field(
        default=30, description="How long it is left alone; then one call finds out"
    )
    chat_top_k: PositiveInt = Field(default=5, description="Chunks that an answer is made from")
    max_context_chars: PositiveInt = Field(default=8_000, description="Characters of excerpts that a model is given")
    max_context_tokens: PositiveInt = Field(default=3_000, description="Tokens of these excerpts; both limits hold")
    max_document_share: float = Field(
        default=0.6, gt=0, le=1, description="Share of the excerpts that one document may have where others were found"
    )
    history_messages: NonNegativeInt = Field(
        default=8, description="Messages of the conversation that a model is given"
    )
    history_chars: NonNegativeInt = Field(default=4_000, description="Characters of these messages")
    verify_with_model: bool = Field(
        default=False, description="The chat model judges an answer's statements beside the rules: a call an answer"
    )
    verify_timeout_seconds: PositiveFloat = Field(
        default=10, description="Longest time for that call; then the rules' result stands"
    )
    title_refinement: bool | None = Field(
        default=None,
        description="The chat model writes a conversation's title: a call a conversation; unset: as "
        "`RAG_QUERY_REFINEMENT`",
    )
    conversation_days: PositiveInt | None = Field(
        default=None, description="A conversation is deleted after so long without a message; unset: it is kept"
    )

    @field_validator("chat_fallbacks", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

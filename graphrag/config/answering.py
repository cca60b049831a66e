"""Settings of chat models, search, evaluation and proposed cases."""

import re
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
)
from pydantic_settings import NoDecode

LIKELY_PROVIDERS = {  # by how the vendor's models are called
    "openai": r"gpt|o\d|chatgpt",
    "anthropic": r"claude",
    "google_genai": r"gemini",
    "mistralai": r"mi[sx]tral",
    "ollama": r"llama|qwen|phi|gemma|deepseek",
}


def provider_and_model(name: object) -> object:
    """Return a model's name, None where answers are extractive. Raises ValueError without a provider."""
    if name in ("", "extractive"):
        return None
    if not isinstance(name, str) or ":" in name:
        return name
    likely = next((of for of, pattern in LIKELY_PROVIDERS.items() if re.match(pattern, name)), None)
    example = f"{likely}:{name}" if likely else "openai:gpt-5 or ollama:llama3.1"
    raise ValueError(f"it has the form provider:model, such as {example}")


class ChatConfig(BaseModel):
    """The chat model, its context and its limits."""

    model_config = ConfigDict(frozen=True)

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


class SearchConfig(BaseModel):
    """Questions, reranking, results that are kept."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    max_question_chars: PositiveInt = Field(default=4_000, description="Longest question")
    retrieve_timeout_seconds: PositiveFloat = Field(
        default=2, description="Longest time of a search without an answer over HTTP"
    )
    query_refinement: bool = Field(
        default=True,
        description="The chat model, where there is one, refines what the rules understand: a call a question",
    )
    # The search waits for it, and loses little without it.
    transform_timeout_seconds: PositiveFloat = Field(
        default=1.5, description="Longest time for that call; then what the rules understand stands"
    )
    # So many hold 99 % of the ten best of 300,000 chunks.
    fulltext_candidates: PositiveInt = Field(
        default=400,
        description="Chunks that BM25 ranks exactly; at most ten times as many, or 5,000, are looked at for them",
    )
    reranker: Literal["bundled", "cross_encoder", "llm"] = Field(
        default="bundled",
        description="What orders the hits: rules on words, a sentence-transformers model (needs the extra "
        "`local-models`), the chat model; each falls back to the one before it",
    )
    reranker_model: str | None = Field(default=None, description="Folder of the cross-encoder")
    diversity: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Weight of being different from better hits (maximal marginal relevance); 0: none",
    )
    query_cache_seconds: NonNegativeInt = Field(
        default=300, description="How long a result is kept, unless its collection changes; 0: not at all"
    )
    chunkenizer_url: SecretStr | None = Field(
        default=None,
        validation_alias="CHUNKENIZER_API_URL",
        description="Another service whose `POST /search` is asked, too, as http://HOST:PORT: a Chunkenizer or a "
        "Causeway; everybody's questions go there",
    )
    chunkenizer_api_key: SecretStr | None = Field(default=None, description="Its key, sent as a bearer token")
    chunkenizer_timeout_seconds: PositiveFloat = Field(
        default=1.5, description="Longest time for its answer; then what the collection has stands alone"
    )

    @field_validator("chunkenizer_url", "chunkenizer_api_key", mode="before")
    @classmethod
    def _absent_when_empty(cls, value: object) -> object:
        return None if value == "" else value


class EvaluationConfig(BaseModel):
    """Evaluations."""

    model_config = ConfigDict(frozen=True)

    judge_model: str | None = Field(
        default=None,
        description='Model that judges answers in evaluations, "provider:model"; unset: the chat model; where there is '
        "none, declared estimates stand in",
    )
    judge_timeout_seconds: PositiveFloat = Field(
        default=60, description="Longest time for one verdict; then the answer is unjudged"
    )

    @field_validator("judge_model", mode="before")
    @classmethod
    def _names_a_provider(cls, name: object) -> object:
        return provider_and_model(name)


class ProposalLimits(BaseModel):
    """Proposed golden cases."""

    model_config = ConfigDict(frozen=True)

    proposal_calls: NonNegativeInt = Field(
        default=20, description="Most calls of the chat model that one request or command makes; 0: none"
    )
    proposal_seconds: PositiveFloat = Field(
        default=60, description="Longest time for the chat model in one request; then rules propose"
    )

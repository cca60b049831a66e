"""Settings of chat models, search, evaluation and proposed cases."""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

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

MODEL_ADDRESS = re.compile(r"https?://[\w.:\[\]-]+(?:/[\w./-]*)?")

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


def is_model_address(text: str) -> bool:
    """Return whether it is a plain http address: without a password, a query or a fragment."""
    try:
        parts = urlsplit(text)
        return bool(MODEL_ADDRESS.fullmatch(text) and parts.hostname and parts.port != 0)
    except ValueError:  # of a port or an IPv6 address that is none
        return False


class ChatConfig(BaseModel):
    """Chat model, context and limits."""

    model_config = ConfigDict(frozen=True)

    enabled: bool = Field(default=True, description="Answer from documents; false: plain chat with the model")
    chat_fallbacks: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Models to try in this order if the chat model fails before its first token, separated by "
        "commas; the last fallback is an extractive answer",
    )
    model_servers: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(
            "http://127.0.0.1:11434/v1",  # Ollama
            "http://127.0.0.1:1234/v1",  # LM Studio
            "http://127.0.0.1:8080/v1",  # llama.cpp
            "http://127.0.0.1:8000/v1",  # vLLM
        ),
        description="Addresses where the page looks for OpenAI-compatible servers, separated by commas: those of "
        "Ollama, LM Studio, llama.cpp and vLLM; other machines are asked only if they are listed",
    )
    chat_first_token_seconds: PositiveFloat = Field(
        default=30, description="Timeout of an answer's first token, including retries"
    )
    chat_token_seconds: PositiveFloat = Field(default=20, description="Timeout between tokens")
    chat_timeout_seconds: PositiveFloat = Field(default=120, description="Timeout of a whole answer")
    chat_max_retries: NonNegativeInt = Field(default=2, description="Retries per model, before the first token")
    chat_concurrency: PositiveInt = Field(default=4, description="Concurrent calls to one model, per process")
    chat_queue: NonNegativeInt = Field(
        default=32, description="Calls queued for one model; further calls use the next model"
    )
    chat_breaker_failures: PositiveInt = Field(
        default=3, description="Consecutive failures after which a model's circuit opens"
    )
    chat_breaker_seconds: PositiveFloat = Field(
        default=30, description="How long the circuit stays open; then one call probes the model"
    )
    chat_top_k: PositiveInt = Field(default=5, description="Chunks used for an answer")
    max_context_chars: PositiveInt = Field(default=8_000, description="Maximum characters of excerpts in a prompt")
    max_context_tokens: PositiveInt = Field(
        default=3_000, description="Maximum tokens of excerpts in a prompt; both limits apply"
    )
    max_document_share: float = Field(
        default=0.6, gt=0, le=1, description="Maximum share of the excerpts for one document if others were found"
    )
    history_messages: NonNegativeInt = Field(default=8, description="Maximum messages of the conversation in a prompt")
    history_chars: NonNegativeInt = Field(default=4_000, description="Maximum characters of these messages")
    verify_with_model: bool = Field(
        default=False,
        description="The chat model judges an answer's statements in addition to the rules: one call per answer",
    )
    verify_timeout_seconds: PositiveFloat = Field(
        default=10, description="Timeout of that call; then the rules' result stands"
    )
    title_refinement: bool | None = Field(
        default=None,
        description="The chat model writes a conversation's title: one call per conversation; unset: as "
        "`RAG_QUERY_REFINEMENT`",
    )
    conversation_days: PositiveInt | None = Field(
        default=None, description="Days without a message after which a conversation is deleted; unset: never"
    )

    @field_validator("chat_fallbacks", "model_servers", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(filter(None, (part.strip().rstrip("/") for part in value.split(","))))

    @field_validator("model_servers")
    @classmethod
    def _are_addresses(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for address in addresses:
            if not is_model_address(address):
                raise ValueError(f"{address!r} is no address: write http://HOST:PORT/v1")
        return addresses


class SearchConfig(BaseModel):
    """Query transformation, reranking, query cache."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    max_question_chars: PositiveInt = Field(default=4_000, description="Maximum length of a question")
    retrieve_timeout_seconds: PositiveFloat = Field(
        default=2, description="Timeout of a search without an answer over HTTP"
    )
    query_refinement: bool = Field(
        default=True,
        description="The chat model refines the query transformation: one call per question",
    )
    # The search waits for it, and loses little without it.
    transform_timeout_seconds: PositiveFloat = Field(
        default=1.5, description="Timeout of that call; then the rules' result stands"
    )
    # So many hold 99 % of the ten best of 300,000 chunks.
    fulltext_candidates: PositiveInt = Field(
        default=400,
        description="Chunks that BM25 ranks exactly, selected from at most ten times as many, or 5,000",
    )
    reranker: Literal["bundled", "cross_encoder", "llm"] = Field(
        default="bundled",
        description="Reranker: rules on words, a sentence-transformers cross-encoder (needs the extra `local- "
        "models`), or the chat model; failures fall back to the bundled one",
    )
    reranker_model: str | None = Field(default=None, description="Folder of the cross-encoder")
    diversity: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Weight of diversity (maximal marginal relevance); 0: none",
    )
    query_cache_seconds: NonNegativeInt = Field(
        default=300, description="Lifetime of cached search results, unless the collection changes; 0: no cache"
    )
    chunkenizer_url: SecretStr | None = Field(
        default=None,
        validation_alias="CHUNKENIZER_API_URL",
        description="Chunkenizer, or another Causeway, to search as well, as http://HOST:PORT; it receives all "
        "owners' questions",
    )
    chunkenizer_api_key: SecretStr | None = Field(
        default=None, description="API key of that service, sent as a bearer token"
    )
    chunkenizer_timeout_seconds: PositiveFloat = Field(
        default=1.5, description="Timeout of that service; then only the collection's hits are used"
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
        description='Model that judges answers in evaluations, as "provider:model"; unset: the chat model, else '
        "declared estimates",
    )
    judge_timeout_seconds: PositiveFloat = Field(
        default=60, description="Timeout of one verdict; then the answer counts as not judged"
    )

    @field_validator("judge_model", mode="before")
    @classmethod
    def _names_a_provider(cls, name: object) -> object:
        return provider_and_model(name)


class ProposalLimits(BaseModel):
    """Proposed golden cases."""

    model_config = ConfigDict(frozen=True)

    proposal_calls: NonNegativeInt = Field(
        default=20, description="Maximum calls of the chat model per request or command; 0: none"
    )
    proposal_seconds: PositiveFloat = Field(
        default=60, description="Time limit of the chat model per request; then rules propose questions"
    )

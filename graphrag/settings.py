"""Every knob, by stage, checked at start. Only the doors (API, command line, Studio) make one from the environment."""

import os
import reprlib
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from graphrag.access_limits import AccessLimits
from graphrag.authentication.configuration import AuthenticationConfig
from graphrag.database_limits import DatabaseLimits
from graphrag.errors import InvalidSettings
from graphrag.evaluation_settings import EvaluationConfig
from graphrag.load_limits import LoadLimits
from graphrag.models import Chunking, FulltextRanking, Fusion, Strategy
from graphrag.observation import Observation
from graphrag.proposal_limits import ProposalLimits


def default_home() -> Path:
    # The embedded server runs as another user when we are root, who must be able to enter every parent folder.
    return Path("/var/lib/causeway") if os.name == "posix" and os.geteuid() == 0 else user_data_path("causeway")


class CollectionConfig(BaseModel):
    """Knobs that a collection can have values of its own for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """These values alone, as they are kept with a collection. Raises InvalidSettings."""
        try:
            return cls.model_validate(values).model_dump(include=set(values))
        except ValidationError as exc:
            first = exc.errors()[0]
            wrong = f"{'.'.join(map(str, first['loc']))}: {first['msg']}. Known: {', '.join(cls.model_fields)}."
            raise InvalidSettings(wrong, reason=wrong) from exc

    def overridden(self, values: Mapping[str, Any]) -> tuple[Self, list[str]]:
        """With these values instead; one that is not valid is passed over, with a warning."""
        config, warnings = self, []
        for name, value in values.items():
            try:
                config = type(self).model_validate(config.model_dump() | {name: value})
            except ValidationError as exc:
                shown = name if name in type(self).model_fields else reprlib.repr(name)
                warnings.append(f"{shown}={reprlib.repr(value)} is not used: {exc.errors()[0]['msg']}")
        return config, warnings


class RetrievalConfig(CollectionConfig):
    """How a search is done: the service's settings, then the collection's own values, then the request's."""

    strategy: Literal["auto"] | Strategy = Field(default="auto", description="auto: by the question")
    fulltext_ranking: FulltextRanking = Field(default="bm25", description="ts_rank_cd is PostgreSQL's own")
    fusion: Fusion | None = Field(default=None, description="Of full text and vectors; None: the embedding model's")
    rrf_k: int = Field(default=60, ge=1, le=10_000, description="Of fusion rrf: with less, first places count more")
    vector_weight: float | None = Field(
        default=None, ge=0, le=1, description="Of vectors beside full text; None: the embedding model's"
    )
    candidates_per_leg: int = Field(default=50, ge=1, le=1000, description="Of full text and vectors each")
    rerank: bool = Field(default=True, description="Reorder what is found by how well it answers")
    rerank_candidates: int = Field(default=50, ge=1, le=200, description="The best so many are reordered")
    graph: bool = Field(default=True, description="Follow names from passage to passage where the question needs it")
    top_k: int = Field(default=10, ge=1, le=1000, description="Chunks that are found")
    window_sentences: int = Field(default=2, ge=0, le=50, description="Around a hit, on either side")
    least_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Of the best hit's score: what is below it is not read for a simple question",
    )
    parent_chars: int = Field(default=0, ge=0, le=20_000, description="Length of its section instead; 0: sentences")

    @property
    def candidates(self) -> int:
        """How many chunks each leg is asked for, and the search gives at most."""
        return max(self.candidates_per_leg, self.top_k)


class ParsingLimits(BaseModel):
    """Of one file, in the process that parses it."""

    model_config = ConfigDict(frozen=True)

    seconds: PositiveFloat = 30
    memory_bytes: PositiveInt = 2_000_000_000
    processes: PositiveInt = Field(default_factory=lambda: os.cpu_count() or 1, description="At the same time")
    pages: PositiveInt = 5_000
    characters: PositiveInt = 30_000_000
    archive_bytes: PositiveInt = Field(default=256_000_000, description="Unpacked, of all entries together")
    archive_entry_bytes: PositiveInt = 128_000_000
    archive_ratio: PositiveInt = Field(default=200, description="Unpacked to packed; honest files have 38 at most")


class IngestionConfig(CollectionConfig):
    """How documents are ingested: the service's settings, then the collection's own values."""

    chunking: Chunking = "auto"
    chunk_tokens: int = Field(default=512, ge=1, le=8_000)
    chunk_overlap_tokens: int = Field(default=50, ge=0, le=1_000)
    child_tokens: int = Field(default=128, ge=16, le=8_000, description="Of parent_child's small chunks")
    parent_child_chars: int = Field(default=2_000, ge=200, le=20_000, description="Of the stretch that is read instead")
    contextual_embeddings: bool = Field(default=False, description="A chat model situates each chunk (a call a chunk)")
    time_to_live_hours: float | None = Field(
        default=None, gt=0, le=1_000_000, description="None: documents stay; 24 is usual"
    )


class GenerationConfig(CollectionConfig):
    """How answers are written: the service's settings, then the collection's own values."""

    chat_model: str | None = Field(
        default=None,
        description='Of the service, "provider:model", else answers are extractive; of a collection, one of those that '
        'the service has, or "extractive"',
    )
    system_prompt: str = Field(default="", max_length=4_000, description="Said to the model after our own rules")

    @field_validator("system_prompt")
    @classmethod
    def _printable(cls, text: str) -> str:
        if any(unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t" for character in text):
            raise ValueError("it has control characters")
        return text


class Settings(
    BaseSettings,
    AccessLimits,
    AuthenticationConfig,
    EvaluationConfig,
    Observation,
    LoadLimits,
    ProposalLimits,
    DatabaseLimits,
    RetrievalConfig,
    IngestionConfig,
    GenerationConfig,
):
    """Read from RAG_… variables, but for the few with a name of their own."""

    model_config = SettingsConfigDict(
        env_prefix="RAG_", env_nested_delimiter="__", populate_by_name=True, extra="ignore", frozen=True
    )

    @property
    def retrieval(self) -> RetrievalConfig:
        return RetrievalConfig.model_validate({name: getattr(self, name) for name in RetrievalConfig.model_fields})

    @property
    def ingestion(self) -> IngestionConfig:
        return IngestionConfig.model_validate({name: getattr(self, name) for name in IngestionConfig.model_fields})

    @property
    def generation(self) -> GenerationConfig:
        return GenerationConfig.model_validate({name: getattr(self, name) for name in GenerationConfig.model_fields})

    # Where things are
    home: Path = Field(default_factory=default_home, validation_alias="CAUSEWAY_HOME")
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    redis_url: SecretStr | None = Field(
        default=None, validation_alias="REDIS_URL", description="The cache's; without one, it is in the database"
    )
    embeddings_config: Path | None = Field(default=None, validation_alias="EMBEDDINGS_CONFIG")
    collection: str | None = Field(default=None, min_length=1, description="Asked when a request names none")

    # Files
    files_url: str | None = Field(
        default=None, description="file:///FOLDER or s3://BUCKET/PREFIX; without one, the home's folder «files»"
    )
    files_endpoint: str | None = Field(default=None, validation_alias="AWS_ENDPOINT_URL", description="MinIO's address")
    files_timeout_seconds: PositiveFloat = 30

    # Ingestion
    max_file_bytes: PositiveInt = 10_000_000
    max_documents: PositiveInt = Field(default=100, description="A collection's, over HTTP; none from the command line")
    embedding_batch_size: PositiveInt = 100
    parsing: ParsingLimits = ParsingLimits()
    graph_max_calls: NonNegativeInt = Field(
        default=0, description="To the chat model for causal relations, in one run; 0: rules alone find them"
    )
    worker: bool = Field(default=True, description="Whether the service does its ingestion jobs itself")
    worker_jobs: PositiveInt = Field(default=3, description="At the same time")

    # Retrieval
    max_question_chars: PositiveInt = 4_000
    retrieve_timeout_seconds: PositiveFloat = Field(default=2, description="Of a search without an answer")
    query_refinement: bool = Field(
        default=True, description="By the chat model, where one is configured: a call a question"
    )
    # The search waits for it, and loses little without it.
    transform_timeout_seconds: PositiveFloat = Field(default=1.5, description="Of the chat model; the rules need none")
    # So many hold 99 % of the ten best of 300,000 chunks. At most ten times as many are looked at, or 5,000.
    fulltext_candidates: PositiveInt = 400
    reranker: Literal["bundled", "cross_encoder", "llm"] = "bundled"
    reranker_model: str | None = Field(default=None, description="The cross-encoder's folder")
    diversity: float = Field(default=0.0, ge=0, le=1, description="Of what is reranked: maximal marginal relevance")
    query_cache_seconds: NonNegativeInt = Field(default=300, description="0: every search is made anew")

    # Generation
    enabled: bool = True
    chat_fallbacks: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Asked in this order, separated by commas, where the chat model fails; then extractive"
    )
    chat_top_k: PositiveInt = 5
    chat_first_token_seconds: PositiveFloat = Field(default=30, description="With all retries")
    chat_token_seconds: PositiveFloat = Field(default=20, description="From token to token")
    chat_timeout_seconds: PositiveFloat = Field(default=120, description="Of a whole answer")
    chat_max_retries: NonNegativeInt = Field(default=2, description="Before the first token")
    chat_concurrency: PositiveInt = Field(default=4, description="Calls to one model at the same time, in one process")
    chat_queue: NonNegativeInt = Field(default=32, description="Calls that wait for their turn with one model")
    chat_breaker_failures: PositiveInt = Field(default=3, description="In a row, after which a model is left alone")
    chat_breaker_seconds: PositiveFloat = Field(default=30, description="So long; then one call finds out")
    verify_with_model: bool = Field(default=False, description="By the chat model, beside the rules: a call an answer")
    verify_timeout_seconds: PositiveFloat = Field(
        default=10, description="Of the chat model; then the rules' result stands"
    )
    max_context_chars: PositiveInt = 8_000
    max_context_tokens: PositiveInt = 3_000
    max_document_share: float = Field(
        default=0.6, gt=0, le=1, description="Of the context that one document takes where others were found"
    )
    history_messages: NonNegativeInt = 8
    history_chars: NonNegativeInt = 4_000
    title_refinement: bool | None = Field(
        default=None, description="A call of the chat model a conversation; None: where query_refinement is on"
    )
    conversation_days: PositiveInt | None = Field(default=None, description="Without a message; None: they are kept")

    # Streams
    stream_heartbeat_seconds: PositiveFloat = Field(default=15, description="Between comments for proxies")
    stream_grace_seconds: NonNegativeFloat = Field(default=3, description="Without a reader; then it is stopped")
    stream_kept_seconds: NonNegativeFloat = Field(default=60, description="When whole, for a reader that comes back")
    stream_stalled_seconds: PositiveFloat = Field(default=30, description="A reader that takes nothing is dropped")
    streams_per_owner: PositiveInt = Field(default=100, description="At the same time, kept ones included")

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"

    @field_validator(
        "database_url",
        "redis_url",
        "embeddings_config",
        "collection",
        "chat_model",
        "api_key",
        "files_url",
        "files_endpoint",
        mode="before",
    )
    @classmethod
    def _unset_when_empty(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("chat_model")
    @classmethod
    def _none_for_extractive(cls, name: str | None) -> str | None:
        return None if name == "extractive" else name

    @field_validator("chat_fallbacks", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @classmethod
    def from_environment(cls) -> "Settings":
        """Raises InvalidSettings that names the variable, in one line."""
        try:
            return cls()
        except ValidationError as exc:
            first = exc.errors()[0]
            name = str(first["loc"][0])
            variable = name if name.isupper() else f"RAG_{name.upper()}"
            raise InvalidSettings(f"{variable}: {first['msg']} (given: {first['input']!r})") from exc

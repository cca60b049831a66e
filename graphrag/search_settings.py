"""The service's settings of searches that a collection or a request has no values of its own for."""

from typing import Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt, SecretStr, field_validator


class SearchConfig(BaseModel):
    """Questions, reranking, results that are kept."""

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

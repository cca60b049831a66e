"""The service's settings of what is worth a warning, and of how owners are told apart in logs."""

from typing import Literal

from pydantic import BaseModel, Field, PositiveFloat, SecretStr


class Observation(BaseModel):
    """Logs and warnings."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="What is logged, as JSON lines on standard error"
    )
    slow_retrieval_seconds: PositiveFloat = Field(
        default=2, description="A search that takes longer is warned of, once a minute"
    )
    slow_fulltext_seconds: PositiveFloat = Field(default=0.2, description="Full text that takes longer")
    slow_rerank_seconds: PositiveFloat = Field(default=1, description="Reranking that takes longer")
    slow_transform_seconds: PositiveFloat = Field(
        default=0.3, description="Understanding a question by rules, if it takes longer"
    )
    slow_expand_seconds: PositiveFloat = Field(default=0.1, description="Reading around the hits, if it takes longer")
    slow_graph_seconds: PositiveFloat = Field(default=0.5, description="Following causes or names, if it takes longer")
    slow_first_token_seconds: PositiveFloat = Field(default=2, description="An answer's first word that takes longer")
    log_salt: SecretStr | None = Field(
        default=None,
        description="What owners' marks in logs are made with, the same for all processes; unset: a file in "
        "`CAUSEWAY_HOME` holds it",
    )

    @property
    def slow_seconds(self) -> dict[str, float]:
        """By stage."""
        return {
            "search": self.slow_retrieval_seconds,
            "retrieve": self.slow_retrieval_seconds,
            "fulltext": self.slow_fulltext_seconds,
            "rerank": self.slow_rerank_seconds,
            "transform": self.slow_transform_seconds,
            "expand": self.slow_expand_seconds,
            "associate": self.slow_graph_seconds,
            "traverse": self.slow_graph_seconds,
            "first_token": self.slow_first_token_seconds,
        }

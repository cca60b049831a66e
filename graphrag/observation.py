"""The service's settings of what is worth a warning, and of how owners are told apart in logs."""

from pydantic import BaseModel, Field, PositiveFloat, SecretStr


class Observation(BaseModel):
    slow_retrieval_seconds: PositiveFloat = Field(default=2, description="A search that takes longer is warned of")
    slow_fulltext_seconds: PositiveFloat = Field(default=0.2, description="… its full text")
    slow_rerank_seconds: PositiveFloat = Field(default=1, description="… its reranking")
    slow_transform_seconds: PositiveFloat = Field(default=0.3, description="… what the rules understand of a question")
    slow_expand_seconds: PositiveFloat = Field(default=0.1, description="… reading what surrounds the hits")
    slow_graph_seconds: PositiveFloat = Field(default=0.5, description="… following causes or names")
    slow_first_token_seconds: PositiveFloat = Field(default=2, description="… an answer's first word")
    log_salt: SecretStr | None = Field(
        default=None,
        description="What owners' marks in logs are made with, the same for all processes; without one, a file of "
        "CAUSEWAY_HOME holds it",
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

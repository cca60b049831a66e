"""The service's settings of how answers are judged in evaluations."""

from pydantic import BaseModel, Field, PositiveFloat, field_validator


class EvaluationConfig(BaseModel):
    """Evaluations."""

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
    def _no_judge_that_quotes(cls, name: object) -> object:
        return None if name in ("", "extractive") else name

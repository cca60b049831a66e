"""embeddings.yml: which embedding models there are, and how each is reached."""

from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, model_validator

from graphrag.errors import InvalidSettings
from graphrag.models import Fusion

PACKAGED_CONFIG = Path(__file__).with_name("embeddings.yml")
EXAMPLE = "embeddings:\n  - id: bundled\n    provider: bundled"
PACKAGED_DIMENSIONS = {"bundled": 256, "e5": 384}  # by provider, of the models that packages of Causeway's bring


class ModelEntry(BaseModel):
    """Keys are the vendors' own variables in the environment: none is written here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    provider: Literal["bundled", "e5", "openai", "ollama", "google_genai", "sentence-transformers"] = (
        "sentence-transformers"
    )
    path: Path | None = Field(default=None, description="The folder of a saved model; relative to this file")
    model: str = Field(default="", description="The vendor's name for it")
    base_url: str | None = Field(default=None, description="Of a server that speaks like the vendor's")
    dimensions: PositiveInt | None = Field(default=None, description="None: as many as the model has")
    query_prefix: str | None = Field(default=None, description="What the model wants before a question: «query: »")
    document_prefix: str | None = Field(default=None, description="And before a text that is to be found")
    timeout_seconds: PositiveFloat = Field(default=60, description="Of one call")
    query_timeout_seconds: PositiveFloat = Field(
        default=1.5, description="Of a question's embedding, with all retries; then it is searched without"
    )
    fusion_weight: float = Field(default=0.5, ge=0, le=1)
    fusion: Fusion = "weighted"

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        is_local = self.provider == "sentence-transformers"
        if "provider" not in self.model_fields_set and self.path is None:
            raise ValueError("name a provider, or the path of a saved model")
        if self.path and not is_local:
            raise ValueError(f"path is for models on this machine, not for {self.provider}")
        is_own = self.provider in PACKAGED_DIMENSIONS
        if not is_own and not self.model and not self.path:
            raise ValueError(f"{self.provider} needs model: the vendor's name for it")
        if self.base_url and (is_local or is_own):
            raise ValueError(f"base_url is for servers, not for {self.provider}")
        if self.dimensions and is_own:
            dimensions = PACKAGED_DIMENSIONS[self.provider]
            raise ValueError(f"the model of {self.provider} has {dimensions} dimensions, no more and no less")
        return self

    @property
    def name(self) -> str:
        """Name of the model that its vectors depend on, for caches."""
        return self.model or (str(self.path) if self.path else self.id)

    @property
    def is_remote(self) -> bool:
        return self.provider in {"openai", "ollama", "google_genai"}


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid")

    embeddings: Annotated[list[ModelEntry], Field(min_length=1)]


def read_entries(file: Path) -> list[ModelEntry]:
    """Raises InvalidSettings: the cause and an example."""
    try:
        entries = _Config.model_validate(yaml.safe_load(file.read_text(encoding="utf-8"))).embeddings
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise _invalid(file, str(exc)) from exc
    except ValidationError as exc:
        raise _invalid(file, "; ".join(map(_describe, exc.errors()))) from exc
    ids = [entry.id for entry in entries]
    if twice := {model_id for model_id in ids if ids.count(model_id) > 1}:
        raise _invalid(file, f"id {sorted(twice)} stands twice")
    return [
        entry.model_copy(update={"path": (file.parent / entry.path).resolve()}) if entry.path else entry
        for entry in entries
    ]


def _describe(error: object) -> str:
    assert isinstance(error, dict)
    return f"{'.'.join(map(str, error['loc']))}: {error['msg'].removeprefix('Value error, ')}"


def _invalid(file: Path, cause: str) -> InvalidSettings:
    return InvalidSettings(f"Embeddings configuration {file}: {cause}\nExample:\n{EXAMPLE}")

"""Which embedding models there are (embeddings.yml), loaded and checked at start."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphrag.errors import EmbeddingModelUnavailable, InvalidSettings, ProviderError
from graphrag.models import Fusion
from graphrag.telemetry import log

PACKAGED_CONFIG = Path(__file__).with_name("embeddings.yml")
EXAMPLE = "embeddings:\n  - id: bundled\n    provider: bundled"
STRONG = 0.5  # fusion_weight of a model whose vectors may be trusted alone
CHARACTERS_PER_TOKEN = 4  # for models whose tokenizer we do not have


class Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    provider: Literal["bundled", "openai"]
    model: str = ""
    fusion_weight: float = Field(default=0.5, ge=0, le=1)
    fusion: Fusion = "weighted"


class Config(BaseModel):
    model_config = ConfigDict(extra="forbid")

    embeddings: Annotated[list[Entry], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    id: str
    name: str
    dimensions: int
    fusion_weight: float  # of its vectors; full text has the rest
    embeddings: Embeddings
    fusion: Fusion = "weighted"
    is_quick: bool = False  # quicker than a look-up in a cache

    @property
    def is_strong(self) -> bool:
        """Whether its vectors find as well without full text as with it."""
        return self.fusion_weight >= STRONG

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        counter = getattr(self.embeddings, "count_tokens", None)
        if counter is not None:
            return list(counter(texts))
        return [-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One batched call; order kept. Raises ProviderError."""
        try:
            return await self.embeddings.aembed_documents(list(texts))
        except Exception as exc:  # every vendor has its own tree
            raise ProviderError(f"Embedding model {self.id!r}: {exc!r}") from exc


class EmbeddingRegistry:
    def __init__(self, models: Sequence[EmbeddingModel]) -> None:
        self.models = {model.id: model for model in models}
        self.default = models[0].id

    def get(self, model_id: str) -> EmbeddingModel:
        try:
            return self.models[model_id]
        except KeyError:
            known = sorted(self.models)
            raise EmbeddingModelUnavailable(
                f"Embedding model {model_id!r} not loaded. Available: {', '.join(known)}", model=model_id, known=known
            ) from None


def load_registry(path: Path | None = None) -> EmbeddingRegistry:
    """Loads every model of the file, by default the packaged one. Raises InvalidSettings: the cause and an example."""
    path = path or PACKAGED_CONFIG
    return EmbeddingRegistry([_load(entry, path) for entry in _read(path).embeddings])


def _read(path: Path) -> Config:
    try:
        config = Config.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as exc:
        raise InvalidSettings(f"Embeddings configuration {path}: {exc}\nExample:\n{EXAMPLE}") from exc
    except ValidationError as exc:
        causes = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())
        raise InvalidSettings(f"Embeddings configuration {path}: {causes}\nExample:\n{EXAMPLE}") from exc
    ids = [entry.id for entry in config.embeddings]
    if twice := {model_id for model_id in ids if ids.count(model_id) > 1}:
        raise InvalidSettings(f"Embeddings configuration {path}: id {sorted(twice)} stands twice\nExample:\n{EXAMPLE}")
    return config


def _load(entry: Entry, path: Path) -> EmbeddingModel:
    try:
        embeddings = _open(entry)
        dimensions = len(embeddings.embed_query("dimensions"))
    except Exception as exc:
        raise InvalidSettings(
            f"Embedding model {entry.id!r} of {path} could not be loaded: {exc}\nExample:\n{EXAMPLE}"
        ) from exc
    log.info("embedding model loaded", model=entry.id, dimensions=dimensions)
    return EmbeddingModel(
        entry.id,
        entry.model or entry.id,
        dimensions,
        entry.fusion_weight,
        embeddings,
        fusion=entry.fusion,
        is_quick=entry.provider == "bundled",
    )


def _open(entry: Entry) -> Embeddings:
    if entry.provider == "bundled":
        from graphrag.embeddings.bundled import BundledEmbeddings

        return BundledEmbeddings()
    from langchain_openai import OpenAIEmbeddings

    # Without a check of the length: the tokenizer's tables would be fetched from the network.
    return OpenAIEmbeddings(
        model=entry.model, base_url=os.environ.get("OPENAI_BASE_URL"), check_embedding_ctx_length=False
    )

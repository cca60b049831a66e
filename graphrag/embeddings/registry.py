"""The loaded embedding models, called in batches and through a cache."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from graphrag.embeddings.configuration import EXAMPLE, PACKAGED_CONFIG, PACKAGED_DIMENSIONS, ModelEntry, read_entries
from graphrag.embeddings.providers import open_embeddings
from graphrag.embeddings.word_vectors import Counting, estimate_tokens
from graphrag.errors import EmbeddingModelUnavailable, InvalidSettings, MissingExtra, ProviderError
from graphrag.llm.guard import is_outage, way_out
from graphrag.models import Fusion
from graphrag.observability.logging import without_secrets
from graphrag.observability.telemetry import count_lookups, log
from graphrag.protocols import Cache
from graphrag.resilience.circuit_breaker import CircuitBreaker
from graphrag.resilience.retry import FOR_DOCUMENTS, FOR_QUERIES, Patience, in_time, persevere, persevere_blocking

STRONG = 0.5  # fusion_weight of a model whose vectors may be trusted alone
LARGEST = float(np.finfo(np.float16).max)  # vectors are kept in half precision
FAILURES, LEFT_ALONE_SECONDS = 3, 30  # of questions: after so many in a row, the next ones are searched without
Call = Callable[[list[str]], Awaitable[list[list[float]]]]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    id: str
    name: str
    dimensions: int
    fusion_weight: float  # of its vectors; full text has the rest
    embeddings: Embeddings
    provider: str = ""
    fusion: Fusion = "weighted"
    is_quick: bool = False  # hardly slower than a look-up in a cache, or quicker
    timeout_seconds: float | None = None  # of one call; None for a model on this machine
    patience: Patience = FOR_DOCUMENTS
    query_patience: Patience = FOR_QUERIES
    breaker: CircuitBreaker | None = None  # of questions' embedding; None for a model on this machine

    @property
    def is_installed(self) -> bool:
        """True where it gives vectors at all: the bundled one may have no wheel for this platform."""
        return bool(getattr(self.embeddings, "is_installed", True))

    @property
    def is_strong(self) -> bool:
        """True where its vectors find as well without full text as with it."""
        return self.fusion_weight >= STRONG

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        counter = getattr(self.embeddings, "count_tokens", None)
        if counter is not None:
            return list(counter(texts))
        return estimate_tokens(texts)

    @property
    def counting(self) -> Counting:
        """Return where its tokens are counted: only a model that counts by itself is needed for it."""
        is_able = hasattr(self.embeddings, "count_tokens")
        return getattr(self.embeddings, "counting", "model") if is_able else "characters"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Texts that are to be found, in one batched call; order kept. Raises ProviderError."""
        return await self._embed(self.embeddings.aembed_documents, texts, self.patience)

    async def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed questions, which some models distinguish from texts. Raises ProviderError."""
        call = getattr(self.embeddings, "aembed_queries", self.embeddings.aembed_documents)
        with self.breaker.watch() if self.breaker else nullcontext():
            return await self._embed(call, texts, self.query_patience)

    async def _embed(self, call: Call, texts: Sequence[str], patience: Patience) -> list[list[float]]:
        if not texts:
            return []
        try:
            vectors = await persevere(lambda: in_time(call(list(texts)), self.timeout_seconds), patience)
            return self._checked(vectors, len(texts))
        except Exception as exc:  # every vendor has its own tree
            told = without_secrets(repr(exc)) + way_out(self.provider, self.name, exc)
            raise ProviderError(f"Embedding model {self.id!r}: {told}") from exc

    def _checked(self, vectors: list[list[float]], count: int) -> list[list[float]]:
        """Return the vectors, or raise ValueError unless their count, dimensions and values are valid."""
        if len(vectors) != count:
            raise ValueError(f"{len(vectors)} vectors came for {count} texts")
        if wrong := {len(vector) for vector in vectors} - {self.dimensions}:
            raise ValueError(f"vectors of {sorted(wrong)} dimensions came, not of {self.dimensions}")
        # Not a number is not smaller than anything.
        if not np.all(np.abs(np.asarray(vectors, dtype=np.float64)) < LARGEST):
            raise ValueError("vectors came that hold what is no number")
        return vectors


class EmbeddingRegistry:
    """The embedding models by id; given a function, they are loaded by `load`, or at their first use."""

    def __init__(self, models: Sequence[EmbeddingModel] | Callable[[], Sequence[EmbeddingModel]]) -> None:
        self._given = models
        self._loading = Lock()

    @cached_property
    def models(self) -> dict[str, EmbeddingModel]:
        with self._loading:  # two threads may ask at once
            if callable(self._given):
                self._given = self._given()
            return {model.id: model for model in self._given}

    @property
    def default(self) -> str:
        return next(iter(self.models))

    def load(self) -> None:
        """Raises InvalidSettings or MissingExtra."""
        _ = self.models

    def load_for_questions(self) -> None:
        """Load what the default model embeds questions with, where it loads that late: the first would wait for it."""
        load = getattr(self.models[self.default].embeddings, "load_for_questions", None)
        if load is not None:
            load()

    def get(self, model_id: str) -> EmbeddingModel:
        try:
            return self.models[model_id]
        except KeyError:
            known = sorted(self.models)
            raise EmbeddingModelUnavailable(
                f"Embedding model {model_id!r} not loaded. Available: {', '.join(known)}", model=model_id, known=known
            ) from None


def load_registry(path: Path | None = None, *, may_download: bool = False) -> EmbeddingRegistry:
    """Return the models of `load_models`, loaded. Raises InvalidSettings or MissingExtra."""
    return EmbeddingRegistry(load_models(path, may_download=may_download))


def load_models(path: Path | None = None, *, may_download: bool = False) -> list[EmbeddingModel]:
    """Load and try every model of the file, by default the packaged one; without E5 where it has no wheel.

    Raises InvalidSettings (the cause and an example) or MissingExtra.
    """
    path = path or PACKAGED_CONFIG
    models = [_load(entry, path, may_download=may_download) for entry in read_entries(path)]
    return [model for model in models if model.is_installed or model.provider == "bundled"] or models


def _load(entry: ModelEntry, path: Path, *, may_download: bool) -> EmbeddingModel:
    try:
        embeddings = open_embeddings(entry, may_download=may_download)
        if entry.provider == "e5":  # is not opened before its first use
            dimensions = PACKAGED_DIMENSIONS["e5"]
        else:
            dimensions = len(persevere_blocking(lambda: embeddings.embed_query("dimensions"), FOR_DOCUMENTS))
        if entry.dimensions not in (None, dimensions):
            raise ValueError(f"it gives {dimensions} dimensions, not the {entry.dimensions} that were asked for")
    except MissingExtra:
        raise
    except Exception as exc:
        told = without_secrets(str(exc)).rstrip(".") + way_out(entry.provider, entry.model, exc)
        raise InvalidSettings(
            f"Embedding model {entry.id!r} of {path} could not be loaded: {told}\nExample:\n{EXAMPLE}"
        ) from exc
    log.info("embedding model loaded", model=entry.id, provider=entry.provider, dimensions=dimensions)
    remote: dict[str, Any] = {}
    if entry.is_remote:
        remote = {
            "timeout_seconds": entry.timeout_seconds,
            "query_patience": replace(FOR_QUERIES, deadline_seconds=entry.query_timeout_seconds),
            "breaker": CircuitBreaker(
                f"embeddings {entry.id}", failures=FAILURES, seconds=LEFT_ALONE_SECONDS, is_outage=is_outage
            ),
        }
    return EmbeddingModel(
        entry.id,
        entry.name,
        dimensions,
        entry.fusion_weight,
        embeddings,
        entry.provider,
        fusion=entry.fusion,
        is_quick=entry.provider in PACKAGED_DIMENSIONS,
        **remote,
    )


@dataclass(frozen=True, slots=True)
class FailedBatch:
    indices: range  # of its texts among all
    cause: str


async def embed_batches(
    texts: Sequence[str], model: EmbeddingModel, *, batch_size: int = 100, max_concurrency: int = 4
) -> tuple[list[list[float] | None], list[FailedBatch]]:
    """Return a vector for each text, in order, None for those of failed batches, and these failures."""
    batches = [range(start, min(start + batch_size, len(texts))) for start in range(0, len(texts), batch_size)]
    turns = asyncio.Semaphore(max_concurrency)

    async def embed(batch: range) -> list[list[float]] | FailedBatch:
        async with turns:
            try:
                return await model.embed([texts[index] for index in batch])
            except ProviderError as exc:
                log.warning("batch not embedded", model=model.id, texts=len(batch), error=exc)
                return FailedBatch(batch, str(exc))

    vectors: list[list[float] | None] = [None] * len(texts)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(embed(batch)) for batch in batches]
    results = [task.result() for task in tasks]
    for batch, result in zip(batches, results, strict=True):
        if not isinstance(result, FailedBatch):
            vectors[batch.start : batch.stop] = result
    return vectors, [result for result in results if isinstance(result, FailedBatch)]


KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedEmbeddingModel(EmbeddingModel):
    """One owner's: what others had embedded stays their own."""

    owner_id: str
    cache: Cache

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return await self._known_or("document", texts, lambda missing: EmbeddingModel.embed(self, missing))

    async def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return await self._known_or("query", texts, lambda missing: EmbeddingModel.embed_queries(self, missing))

    async def _known_or(
        self, role: str, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[list[list[float]]]]
    ) -> list[list[float]]:
        keys = [self._key(role, text) for text in texts]
        known = await self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        count_lookups("embeddings", hits=sum(key in known for key in keys), misses=sum(key in missing for key in keys))
        if missing:
            vectors = await embed(list(missing.values()))
            packed = [np.asarray(vector, dtype="<f4").tobytes() for vector in vectors]
            fresh = dict(zip(missing, packed, strict=True))
            await self._write(fresh)
            known |= fresh
        return [np.frombuffer(known[key], dtype="<f4").tolist() for key in keys]

    def _key(self, role: str, text: str) -> str:
        identity = "\0".join([self.id, self.name, str(self.dimensions), role, text])
        return f"embedding:{hashlib.sha256(identity.encode(errors='surrogatepass')).hexdigest()}"

    async def _read(self, keys: Sequence[str]) -> dict[str, bytes]:
        try:
            return dict(await self.cache.get_many(self.owner_id, list(dict.fromkeys(keys)))) if keys else {}
        except Exception as exc:  # a cache may be anybody's
            log.warning("cache failed, continuing without it", cache="embeddings", error=exc)
            return {}

    async def _write(self, values: Mapping[str, bytes]) -> None:
        try:
            await self.cache.set_many(self.owner_id, values, seconds=KEPT_SECONDS)
        except Exception as exc:
            log.warning("cache failed, continuing without it", cache="embeddings", error=exc)


def cached(model: EmbeddingModel, *, cache: Cache, owner_id: str) -> EmbeddingModel:
    """The model itself where it is about as quick as a look-up."""
    if model.is_quick:
        return model
    values = {field.name: getattr(model, field.name) for field in fields(EmbeddingModel)}
    return CachedEmbeddingModel(**values, owner_id=owner_id, cache=cache)

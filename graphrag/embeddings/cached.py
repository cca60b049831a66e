"""An embedding model that asks its vendor only for texts that it has not seen today."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.protocols import Cache
from graphrag.telemetry import count_lookups, log

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
            log.warning("cache failed, done without", cache="embeddings", error=exc)
            return {}

    async def _write(self, values: Mapping[str, bytes]) -> None:
        try:
            await self.cache.set_many(self.owner_id, values, seconds=KEPT_SECONDS)
        except Exception as exc:
            log.warning("cache failed, done without", cache="embeddings", error=exc)


def cached(model: EmbeddingModel, *, cache: Cache, owner_id: str) -> EmbeddingModel:
    """The model itself where it is quicker than a look-up."""
    if model.is_quick:
        return model
    values = {field.name: getattr(model, field.name) for field in fields(EmbeddingModel)}
    return CachedEmbeddingModel(**values, owner_id=owner_id, cache=cache)

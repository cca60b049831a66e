"""An owner's collections by name, and the models and configurations that apply to each."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphrag.config.settings import GenerationConfig, RetrievalConfig, Settings
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry, cached
from graphrag.errors import CollectionNotFound
from graphrag.llm.chat_models import NamedModel, beginning_with
from graphrag.models import Collection
from graphrag.models.evaluation import canonical_hash
from graphrag.models.ingestion import checked_name
from graphrag.observability.request_context import identify
from graphrag.observability.telemetry import log
from graphrag.protocols import Cache, ChunkStore

DEFAULT_COLLECTION = "default"
HASH_CHARS = 12  # of a configuration's hash in logs


@dataclass(frozen=True)
class Collections:
    settings: Settings
    store: ChunkStore
    embeddings: EmbeddingRegistry
    chat_models: tuple[NamedModel, ...]
    cache: Cache | None  # of embeddings; None: each is computed
    has_other_documents: bool = False  # another service's, which are searched with any collection

    async def open(self, owner_id: str, name: str | None) -> Collection:
        """Return the named collection, else the default one.

        The default one is created where the owner has none and another service has documents too. Raises
        CollectionNotFound.
        """
        (collection,) = await self.open_all(owner_id, [name])
        return collection

    async def open_all(self, owner_id: str, names: Sequence[str | None]) -> tuple[Collection, ...]:
        """Return the collections as `open` does, in the order of the names, each once."""
        known = {collection.name: collection for collection in await self.store.list_collections(owner_id)}
        found = [await self._choose(owner_id, name, known) for name in names]
        return tuple({collection.id: collection for collection in found}.values())

    async def _choose(self, owner_id: str, name: str | None, by_name: Mapping[str, Collection]) -> Collection:
        wanted = name or self.default_name(list(by_name))
        if wanted in by_name:
            return by_name[wanted]
        if self.has_other_documents and not name and not by_name:
            return await self.create(owner_id, None)
        if not by_name and not name:
            none = "There is no collection yet: run `causeway ingest PATH`."
            raise CollectionNotFound(none, reason="no_collections", name=wanted, known=[])
        names = ", ".join(by_name) or "none yet: run `causeway ingest PATH`"
        raise CollectionNotFound(
            f"There is no collection {wanted!r}. Known: {names}.", name=wanted, known=list(by_name)
        )

    def default_name(self, known: Sequence[str]) -> str:
        """Return the collection to use where none is named: RAG_COLLECTION, else «default», else the only one."""
        if self.settings.storage.collection is None and DEFAULT_COLLECTION not in known and len(known) == 1:
            return known[0]
        return self.settings.storage.collection or DEFAULT_COLLECTION

    async def create(self, owner_id: str, name: str | None) -> Collection:
        """Return the named collection, created where there is none. Raises InvalidCollectionName."""
        default = await asyncio.to_thread(lambda: self.embeddings.default)  # loads the models
        wanted = checked_name(name or self.settings.storage.collection or DEFAULT_COLLECTION)
        return await self.store.create_collection(owner_id, wanted, embedding_model=default)

    async def embedding_model(self, collection: Collection) -> EmbeddingModel:
        """Raises EmbeddingModelUnavailable."""
        model = await asyncio.to_thread(self.embeddings.get, collection.embedding_model)
        return cached(model, cache=self.cache, owner_id=collection.owner_id) if self.cache else model

    def retrieval_config(
        self, collection: Collection, overrides: Mapping[str, Any], *, top_k: int | None = None
    ) -> tuple[RetrievalConfig, list[str]]:
        """Return the service's values, overridden by the collection's, then by the request's.

        An invalid value is ignored, with a warning. `top_k` stands in for the service's own.
        """
        config = self.settings.retrieval.model_copy(update={"top_k": top_k} if top_k else {})
        config, of_collection = config.overridden(collection.config)
        config, of_request = config.overridden(overrides)
        ignored = [*of_collection, *of_request]
        identify(collection=str(collection.id), config=self._hash(collection, config)[:HASH_CHARS])
        log.info("retrieval configuration", **config.model_dump())
        if ignored:
            log.warning("retrieval configuration", ignored=len(ignored))
        return config, ignored

    def generation_config(self, collection: Collection | None) -> tuple[GenerationConfig, list[str]]:
        """Return the service's values, overridden by the collection's; an invalid one is ignored, with a warning."""
        return self.settings.generation.overridden(collection.generation_config if collection else {})

    def may_read(self, *collections: Collection) -> bool:
        """Return whether the service's chat model may read the collections for other purposes than answering.

        It may not if one of them has a model of its own.
        """
        configs = (self.generation_config(collection)[0] for collection in collections)
        first = self.chat_models[0]
        return all(beginning_with(config.chat_model, self.chat_models)[0][0] is first for config in configs)

    def _hash(self, collection: Collection, config: RetrievalConfig) -> str:
        """Return a hash of all that has a say in an answer, but for the documents; logs show its first characters."""
        generation, _ = self.generation_config(collection)
        model = beginning_with(generation.chat_model, self.chat_models)[0][0].name
        return canonical_hash(
            {
                "retrieval": config.model_dump(mode="json"),
                "generation": {"chat_model": model, "system_prompt": generation.system_prompt},
                "embedding_model": collection.embedding_model,
            }
        )

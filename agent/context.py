"""What a run is given: who asks, over which collection, and the means to answer."""

from dataclasses import field
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import ConfigDict, Field, InstanceOf, model_validator
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ArgsKwargs

from graphrag.authentication.identity import REFUSED
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import Unauthorized
from graphrag.load import Place
from graphrag.models import Collection
from graphrag.retrieval.query_cache import UNCACHED, QueryCache
from graphrag.services import Services, shared_services

OF_THE_DOORS = {"owner_id", "opened", "is_measured", "degraded", "place"}


@dataclass(frozen=True, config=ConfigDict(arbitrary_types_allowed=True))
class Context:
    """LangGraph Studio shows and accepts the described fields only; identity and services come from the doors."""

    collection: Annotated[str | None, Field(description="The collection asked; empty: the default one")] = None
    instructions: SkipJsonSchema[str] = ""  # a client's own, said to the model after the collection's system prompt
    rag_enabled: Annotated[bool, Field(description="Search the documents; false: plain chat with the model")] = True
    rerank: Annotated[bool, Field(description="Reorder what was found by how well it answers")] = True
    top_k: Annotated[int | None, Field(description="Chunks that reach the answer", ge=1, le=50)] = None
    retrieval: Annotated[
        dict[str, Any], Field(description="How to search: strategy, fusion, vector_weight, candidates_per_leg …")
    ] = field(default_factory=dict)
    filters: Annotated[
        dict[str, Any], Field(description="Which documents: language, tags, filename, created_from …")
    ] = field(default_factory=dict)
    services: SkipJsonSchema[InstanceOf[Services]] = field(default_factory=shared_services)
    owner_id: SkipJsonSchema[str] = Field(default_factory=lambda given: given["services"].settings.owner)
    # The collection, where a door has read it for this question.
    opened: SkipJsonSchema[InstanceOf[Collection] | None] = None
    is_measured: SkipJsonSchema[bool] = False  # then nothing is taken from a cache
    degraded: SkipJsonSchema[tuple[str, ...]] = ()  # what the door does without already
    place: SkipJsonSchema[InstanceOf[Place]] = field(default_factory=Place)  # among those for whom is searched

    @property
    def query_cache(self) -> QueryCache:
        return UNCACHED if self.is_measured else self.services.query_cache

    async def embedding_model(self, collection: Collection) -> EmbeddingModel:
        """Raises EmbeddingModelUnavailable."""
        if self.is_measured:
            return self.services.embeddings.get(collection.embedding_model)
        return await self.services.embedding_model(collection)

    @model_validator(mode="before")
    @classmethod
    def _only_a_door_says_who_asks(cls, given: Any) -> Any:
        """A door hands its services over, which no client can: who has none names no owner either."""
        named = (given.kwargs or {}) if isinstance(given, ArgsKwargs) else given
        if OF_THE_DOORS & named.keys() and not isinstance(named.get("services"), Services):
            raise ValueError("who asks is not the client's to say")
        return given


def owner_of(runtime: Runtime[Context]) -> str:
    """Who was identified by LangGraph's server, or by the door that began the run. Raises Unauthorized."""
    context, server = runtime.context, runtime.server_info
    if server is None:
        return context.owner_id
    if server.user is not None:
        return server.user.identity
    if context.services.settings.auth != "none":  # a server of LangGraph's that was told to ask nobody
        raise Unauthorized(REFUSED)
    return context.owner_id

"""What a run is given: who asks, over which collection, and the means to answer."""

from dataclasses import field
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema

from graphrag.models import LOCAL_OWNER, Collection
from graphrag.services import Services, shared_services


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
    owner_id: SkipJsonSchema[str] = LOCAL_OWNER
    opened: SkipJsonSchema[Collection | None] = None  # the collection, where a door has read it for this question
    services: SkipJsonSchema[Services] = field(default_factory=shared_services)

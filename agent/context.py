"""Context of a run: who asks, over which collections, and the services to answer with."""

from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Any, Self

from langgraph.runtime import Runtime
from pydantic import ConfigDict, Field, InstanceOf, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ArgsKwargs

from agent.output.backpressure import Backpressure
from agent.output.json_schema import AnswerSchema
from graphrag.authentication.identity import REFUSED
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import InvalidSettings, Unauthorized
from graphrag.llm.chat_models import NamedModel
from graphrag.models import Collection
from graphrag.observability.request_context import current_context
from graphrag.resilience.load_shedding import Slot
from graphrag.retrieval.filters import DATES, FIELDS
from graphrag.retrieval.pipeline import RetrievalPipeline
from graphrag.services import Services, shared_services

SERVER_FIELDS = {"owner_id", "opened", "degraded", "slot", "backpressure", "answer_schema"}


# Values are checked by the pipeline, as for every interface; a default would override the collection's own.
FILTERS = {
    **{key: {"type": ["string", "array"], "items": {"type": "string"}} for key in FIELDS},
    **{key: {"type": "string", "format": "date"} for key in DATES},
}
RETRIEVAL = {
    name: {key: value for key, value in schema.items() if key != "default"}
    for name, schema in RetrievalConfig.model_json_schema()["properties"].items()
}


def studio_field(node: str, description: str, **schema: Any) -> Any:
    """Return a field that LangGraph Studio shows beside a node."""
    return Field(description=description, json_schema_extra={"langgraph_nodes": [node], **schema})


@dataclass(frozen=True, config=ConfigDict(arbitrary_types_allowed=True))
class Context:
    """Options of a question."""

    # LangGraph Studio shows and accepts the described fields only; identity and services come from the interfaces.

    collection: Annotated[
        str | None, studio_field("retrieve", "The collection that is asked, by name; empty: the service's own")
    ] = None
    collections: Annotated[
        tuple[str, ...], studio_field("retrieve", "Several collections that are asked at once, in place of one")
    ] = ()
    rag_enabled: Annotated[
        bool, studio_field("transform", "Answer from the documents; off: plain chat with the model, without them")
    ] = True
    filters: Annotated[
        dict[str, Any],
        studio_field("retrieve", "Which documents are searched; none: all", properties=FILTERS),
    ] = field(default_factory=dict)
    retrieval: Annotated[
        dict[str, Any],
        studio_field(
            "retrieve", "How they are searched; what is left out is as the collection has it", properties=RETRIEVAL
        ),
    ] = field(default_factory=dict)
    rerank: Annotated[bool, studio_field("rerank", "Reorder what was found by how well it answers")] = True
    top_k: Annotated[
        int | None,
        studio_field("rerank", "Chunks that reach the answer; empty: as the collection or the service has it"),
        Field(ge=1, le=50),
    ] = None
    chat_model: Annotated[
        str | None,
        studio_field(
            "generate",
            "Who writes the answer: a model of the service's, provider:model, or extractive; empty: the collection's",
        ),
    ] = None
    instructions: Annotated[
        str, studio_field("generate", "Said to the model after the collection's system prompt", langgraph_type="prompt")
    ] = ""
    services: SkipJsonSchema[InstanceOf[Services]] = field(default_factory=shared_services)
    owner_id: SkipJsonSchema[str] = Field(default_factory=lambda given: given["services"].owner)
    # The collections, if the interface has read them for this question.
    opened: SkipJsonSchema[tuple[InstanceOf[Collection], ...]] = ()
    answer_schema: SkipJsonSchema[InstanceOf[AnswerSchema] | None] = None  # of an answer as JSON
    degraded: SkipJsonSchema[tuple[str, ...]] = ()  # what the interface degrades before the run
    slot: SkipJsonSchema[InstanceOf[Slot]] = field(default_factory=Slot)  # of the admission control
    backpressure: SkipJsonSchema[InstanceOf[Backpressure]] = field(default_factory=Backpressure)

    @property
    def searches(self) -> bool:
        return self.rag_enabled and self.services.settings.chat.enabled

    @property
    def pipeline(self) -> RetrievalPipeline:
        return self.services.retrieval.measured() if current_context().is_evaluation else self.services.retrieval

    @property
    def chat_models(self) -> Sequence[NamedModel]:
        if current_context().is_evaluation:
            return self.services.background_chat_models
        return self.services.model_choice.before(self.services.chat_models)

    @model_validator(mode="wrap")
    @classmethod
    def _check(cls, given: Any, build: ModelWrapValidatorHandler[Self]) -> Self:
        """Raise ValueError where a client sets fields of the server: without services, no owner may be named.

        Raises InvalidSettings for any other wrong value, in one line.
        """
        named = (given.kwargs or {}) if isinstance(given, ArgsKwargs) else given
        if SERVER_FIELDS & named.keys() and not isinstance(named.get("services"), Services):
            raise ValueError("who asks is not the client's to say")
        try:
            return build(given)
        except ValidationError as exc:
            first = exc.errors()[0]
            raise InvalidSettings(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from None


def owner_of(runtime: Runtime[Context]) -> str:
    """Return the owner that LangGraph's server or the interface that began the run identified. Raises Unauthorized."""
    context, server = runtime.context, runtime.server_info
    if server is None:
        return context.owner_id
    if server.user is not None:
        return server.user.identity
    if context.services.settings.authentication.auth != "none":  # LangGraph's server runs without authentication
        raise Unauthorized(REFUSED)
    return context.owner_id

"""Wrappers of the graph's nodes: spans, the time for preparation, Studio's stored stages."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cache, wraps
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from langgraph.channels import LastValue, UntrackedValue
from langgraph.errors import InvalidUpdateError
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime
from pydantic import TypeAdapter, ValidationError

from agent.context import Context
from graphrag.models import Collection
from graphrag.observability.tracing import span
from graphrag.resilience.deadline import opening

P = ParamSpec("P")
T = TypeVar("T")


def in_span(node: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Trace a node, keeping its signature, from which LangGraph knows what to pass."""

    @wraps(node)
    async def traced(*args: P.args, **kwargs: P.kwargs) -> T:
        with span(f"node {node.__name__}"):
            return await node(*args, **kwargs)

    return traced


S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


class Node(Protocol[S_contra]):
    def __call__(self, state: S_contra, runtime: Runtime[Context]) -> Awaitable[dict[str, Any]]: ...


def preparing(node: Node[S]) -> Node[S]:
    """Trace a preparing node and set its deadline.

    All such nodes share the first part of the answer's time; without a deadline they may use all of it.
    """

    @in_span
    @wraps(node)
    async def prepare(state: S, runtime: Runtime[Context]) -> dict[str, Any]:
        with opening(runtime.context.services.settings.load.preparation_seconds):
            return await node(state, runtime)

    return prepare


NEVER_STORED = {"candidates"}  # three quarters of a checkpoint's bytes: nodes search again instead


def keep_debug_state(builder: StateGraph[Any, Any, Any, Any]) -> StateGraph[Any, Any, Any, Any]:
    for name, channel in builder.channels.items():
        if isinstance(channel, UntrackedValue) and name not in NEVER_STORED:
            builder.channels[name] = DebugStateChannel(channel.typ, name)
    return builder


class DebugStateChannel(LastValue[Any]):
    """Store a value as JSON in checkpoints, whose own format turns tuples into lists; Studio's edits are JSON, too."""

    def update(self, values: Sequence[Any]) -> bool:
        return super().update([self._read(value) for value in values])

    def checkpoint(self) -> Any:
        return _adapter(self.typ).dump_python(self.value, mode="json") if self.is_available() else self.value

    def from_checkpoint(self, checkpoint: Any) -> Self:
        kept = super().from_checkpoint(checkpoint)
        if kept.is_available():
            kept.value = _adapter(self.typ).validate_python(checkpoint)
        return kept

    def _read(self, value: Any) -> Any:
        if self.key == "collections" and not all(isinstance(each, Collection) for each in value):
            raise InvalidUpdateError("Which collections are searched is the context's to say.")
        try:
            return _adapter(self.typ).validate_python(value)
        except ValidationError as exc:
            raise InvalidUpdateError(f"{self.key}: {exc.errors()[0]['msg']}") from exc


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)

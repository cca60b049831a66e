"""Stages' outputs in LangGraph Studio's threads: a run stops before a node and goes on, or is made again from there."""

from collections.abc import Sequence
from functools import cache
from typing import Any, Self

from langgraph.channels import LastValue, UntrackedValue
from langgraph.errors import InvalidUpdateError
from langgraph.graph import StateGraph
from pydantic import TypeAdapter, ValidationError

from graphrag.models import Collection


def keeping_stages(builder: StateGraph[Any, Any, Any, Any]) -> StateGraph[Any, Any, Any, Any]:
    for name, channel in builder.channels.items():
        if isinstance(channel, UntrackedValue):
            builder.channels[name] = KeptValue(channel.typ, name)
    return builder


class KeptValue(LastValue[Any]):
    """JSON in checkpoints, whose own format makes lists of tuples. What a person edits in Studio is JSON too."""

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
        if self.typ is Collection and not isinstance(value, Collection):
            raise InvalidUpdateError("Which collection is searched is the context's to say.")
        try:
            return _adapter(self.typ).validate_python(value)
        except ValidationError as exc:
            raise InvalidUpdateError(f"{self.key}: {exc.errors()[0]['msg']}") from exc


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)

"""What comes before an answer's first word, in the time that there is for it."""

from collections.abc import Awaitable
from functools import wraps
from typing import Any, Protocol, TypeVar

from langgraph.runtime import Runtime

from agent.context import Context
from agent.node_spans import in_span
from graphrag.deadline import opening

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


class Node(Protocol[S_contra]):
    def __call__(self, state: S_contra, runtime: Runtime[Context]) -> Awaitable[dict[str, Any]]: ...


def preparing(node: Node[S]) -> Node[S]:
    """In a span. All such nodes have the same beginning of the answer's time; without a deadline, all the time."""

    @in_span
    @wraps(node)
    async def prepare(state: S, runtime: Runtime[Context]) -> dict[str, Any]:
        with opening(runtime.context.services.settings.preparation_seconds):
            return await node(state, runtime)

    return prepare

"""A span around each node of the graph: what its stages and calls belong to."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from graphrag.tracing import span

P = ParamSpec("P")
T = TypeVar("T")


def in_span(node: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """With the node's signature, by which LangGraph knows what to hand it."""

    @wraps(node)
    async def traced(*args: P.args, **kwargs: P.kwargs) -> T:
        with span(f"node {node.__name__}"):
            return await node(*args, **kwargs)

    return traced

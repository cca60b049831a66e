"""Whether a question is asked to measure, by nobody. Then nothing is taken from a cache, and no metric of the service's
searches and answers counts it: neither its misses nor its failures are what people meet, and alerts wait for.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

P = ParamSpec("P")
_is_rehearsal: ContextVar[bool] = ContextVar("is_rehearsal", default=False)


def is_rehearsal() -> bool:
    return _is_rehearsal.get()


@contextmanager
def rehearsal() -> Iterator[None]:
    """Everything awaited or begun inside."""
    token = _is_rehearsal.set(True)
    try:
        yield
    finally:
        _is_rehearsal.reset(token)


def of_people(tell: Callable[P, None]) -> Callable[P, None]:
    """What is told of people's questions alone."""

    @wraps(tell)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        if not is_rehearsal():
            tell(*args, **kwargs)

    return told

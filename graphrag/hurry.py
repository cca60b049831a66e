"""Whether somebody waits for what is done: a statement of the database has less time then."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_hurried: ContextVar[bool] = ContextVar("is_hurried", default=False)


def is_hurried() -> bool:
    return _is_hurried.get()


@contextmanager
def hurried(waits: bool = True) -> Iterator[None]:
    """Everything awaited or begun inside; with False, what takes its time though a request waits: deleting much."""
    token = _is_hurried.set(waits)
    try:
        yield
    finally:
        _is_hurried.reset(token)

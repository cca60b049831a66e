"""Search indexes beside PostgreSQL."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def slices(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Return the values, `size` of them at a time: as many as one call of an index takes."""
    return (values[start : start + size] for start in range(0, len(values), size))

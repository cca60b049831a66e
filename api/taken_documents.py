"""What is said where documents can't be taken, and nothing of them is kept."""

from collections.abc import Iterator
from contextlib import contextmanager

from graphrag.errors import DatabaseFull, DatabaseUnavailable, IndexingUnavailable


@contextmanager
def told_as_indexing() -> Iterator[None]:
    """Raises IndexingUnavailable in place of DatabaseUnavailable."""
    try:
        yield
    except DatabaseFull:
        raise
    except DatabaseUnavailable as exc:
        raise IndexingUnavailable(
            "Nothing is indexed while the database is away: send it again.", **exc.details
        ) from exc

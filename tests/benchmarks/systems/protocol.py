"""What the benchmark asks of a system, and where a system lives while it is measured."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from tests.benchmarks.corpus import Passage
from tests.benchmarks.vectors import Matrix, Precomputed

# Of a question and a number of hits: the hits' rows, best first.
Search = Callable[[str, int], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Workplace:
    folder: Path  # empty
    database: str  # the connection string of an empty PostgreSQL database, as its superuser
    embeddings: Precomputed
    language: str
    deadline: float  # of the ingestion, by time.monotonic()

    def check_deadline(self) -> None:
        """For loops that asyncio can't interrupt."""
        if time.monotonic() > self.deadline:
            raise TimeoutError


@dataclass(frozen=True, slots=True)
class Batch:
    """Passages whose rows are numbered from `first`; no document is in two batches."""

    first: int
    passages: Sequence[Passage]
    vectors: Matrix

    @property
    def rows(self) -> range:
        return range(self.first, self.first + len(self.passages))

    @property
    def contents(self) -> list[str]:
        return [passage.content for passage in self.passages]


class System(Protocol):
    @classmethod
    async def open(cls, workplace: Workplace) -> Self: ...

    @property
    def searches(self) -> Mapping[str, Search]:
        """Each is a line of the report; the first needs no name."""
        ...

    async def add(self, batch: Batch) -> None: ...

    async def build_indexes(self) -> None:
        """Once, after the last batch; what its documentation tells to do after a load."""
        ...

    async def size_bytes(self) -> int: ...

    async def close(self) -> None: ...


@runtime_checkable
class Approximate(Protocol):
    """A system one of whose searches has an exact, slow form."""

    approximate: str  # the search's name

    async def exact(self, question: str, k: int) -> Sequence[int]: ...


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

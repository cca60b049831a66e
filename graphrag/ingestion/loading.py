"""Files of this machine → a collection. Some worker must be at work meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from uuid import UUID

from graphrag.errors import UnreadableDocument
from graphrag.ingestion.library import Library
from graphrag.ingestion.sources import SourceFile, read_file, refused, source_of
from graphrag.ingestion_models import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.models import Chunking, Collection

READ_FILES = 50  # at once
MOST_WAITING = 500  # documents; further files are read when some of these have ended
POLL_SECONDS = 0.1
FINAL = {IngestionStatus.INDEXED, IngestionStatus.ERROR}


@dataclass(frozen=True, slots=True)
class Loading:
    library: Library
    collection: Collection
    chunking: Chunking | None = None  # None: the collection's

    async def load(self, files: Sequence[Path]) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        """One outcome a file, as each ends; in between, how far one is that is under way.

        Raises DatabaseUnavailable or FileUnavailable.
        """
        copies: list[Path] = []
        async for step in self._load(files):
            if isinstance(step, IngestionOutcome) and step.is_copy:
                copies.append(Path(step.source))  # of a document that may itself be replaced before the end
            else:
                yield step
        async for step in self._load(copies):
            yield step

    async def _load(self, files: Sequence[Path]) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        waiting: set[UUID] = set()
        for paths in _batches(files):
            for outcome in await self._add(paths):
                if outcome.status is IngestionStatus.UPLOADED and outcome.document_id:
                    waiting.add(outcome.document_id)
                else:
                    yield outcome
            async for step in wait_for(waiting, library=self.library, collection=self.collection, until=MOST_WAITING):
                yield step
        async for step in wait_for(waiting, library=self.library, collection=self.collection):
            yield step

    async def _add(self, paths: Sequence[Path]) -> list[IngestionOutcome]:
        sources, outcomes = await asyncio.to_thread(_read, paths, self.library.max_file_bytes)
        sources = [replace(source, chunking=self.chunking) for source in sources]
        return [*outcomes, *await self.library.add(self.collection, sources)]


async def wait_for(
    waiting: set[UUID], *, library: Library, collection: Collection, until: int = 0
) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
    """How far they are, until so few are still under way. What ends is taken out of `waiting`."""
    while len(waiting) > until:
        states = await library.ingestions.find_states(collection, [*waiting])
        finished = [document for document, status in states.items() if status in FINAL]
        underway = [document for document, status in states.items() if status is IngestionStatus.PROCESSING]
        waiting &= states.keys()  # the others were deleted meanwhile
        for ingestion in await library.ingestions.find(collection, finished + underway[:1]):
            if ingestion.status in FINAL:
                waiting.discard(ingestion.document_id)
                yield _outcome(ingestion)
            else:
                yield ingestion
        if len(waiting) > until:
            await asyncio.sleep(POLL_SECONDS)


def _batches(files: Sequence[Path]) -> Iterator[list[Path]]:
    remaining = iter(files)
    while batch := list(islice(remaining, READ_FILES)):
        yield batch


def _read(paths: Sequence[Path], max_bytes: int) -> tuple[list[SourceFile], list[IngestionOutcome]]:
    sources, outcomes = [], []
    for path in paths:
        try:
            sources.append(read_file(path, max_bytes=max_bytes))
        except UnreadableDocument as exc:
            outcomes.append(refused(source_of(path), exc))
    return sources, outcomes


def _outcome(ingestion: Ingestion) -> IngestionOutcome:
    is_indexed = ingestion.status is IngestionStatus.INDEXED
    return IngestionOutcome(
        ingestion.source,
        ingestion.status,
        ingestion.document_id,
        chunks=ingestion.total if is_indexed else 0,
        cause=ingestion.cause,
        reason=ingestion.reason,
    )

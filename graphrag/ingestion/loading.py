"""Files of this machine → a collection. Some worker must be at work meanwhile."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from uuid import UUID

from graphrag.errors import UnreadableDocument
from graphrag.ingestion.library import Library
from graphrag.ingestion.sources import SourceFile, read_file, source_of
from graphrag.models import Collection, Ingestion, IngestionOutcome, IngestionStatus

READ_FILES = 50  # at once
MOST_WAITING = 500  # documents; further files are read when some of these have ended
POLL_SECONDS = 0.1
FINAL = {IngestionStatus.INDEXED, IngestionStatus.ERROR}


@dataclass(frozen=True, slots=True)
class Loading:
    library: Library
    collection: Collection

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
            async for step in self._wait(waiting, until=MOST_WAITING):
                yield step
        async for step in self._wait(waiting, until=0):
            yield step

    async def _add(self, paths: Sequence[Path]) -> list[IngestionOutcome]:
        sources, outcomes = await asyncio.to_thread(_read, paths, self.library.max_file_bytes)
        return [*outcomes, *await self.library.add(self.collection, sources)]

    async def _wait(self, waiting: set[UUID], *, until: int) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        """What ends is taken out of `waiting`."""
        while len(waiting) > until:
            known = {of.document_id: of for of in await self.library.ingestions.find(self.collection, [*waiting])}
            for document in waiting - known.keys():  # deleted meanwhile
                waiting.discard(document)
            for ingestion in known.values():
                if ingestion.status in FINAL:
                    waiting.discard(ingestion.document_id)
                    yield _outcome(ingestion)
                elif ingestion.status is IngestionStatus.PROCESSING:
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
            outcomes.append(
                IngestionOutcome(source_of(path), IngestionStatus.ERROR, cause=str(exc), reason=exc.details["reason"])
            )
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

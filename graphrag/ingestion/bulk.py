"""Ingest files of this machine, rechunk stored documents, and estimate what a chat model would cost."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from graphrag.causal_graph.model_extraction import ExtractionEstimate, ModelExtractor
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import IndexUnavailable, UnreadableDocument
from graphrag.ingestion.pipeline import Pipeline, Prepared
from graphrag.ingestion.service import DocumentService
from graphrag.ingestion.sources import SourceFile, SourceText, batched, read_file, refused, source_of
from graphrag.models import Chunking, Collection, Document
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.observability.telemetry import log

READ_FILES, READ_BYTES = 50, 100_000_000  # at once
MOST_WAITING = 500  # documents; further files are read when some of these have ended
POLL_SECONDS = 0.1  # or as many milliseconds as there are documents under way: the database has their work to do
FINAL = {IngestionStatus.INDEXED, IngestionStatus.ERROR}


@dataclass(frozen=True, slots=True)
class Loading:
    service: DocumentService
    collection: Collection
    chunking: Chunking | None = None  # None: the collection's
    folders: Sequence[Path] = ()  # all of whose files are loaded: what is no longer there has been renamed or deleted

    async def load(self, files: Sequence[Path]) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        """One outcome a file, as each ends; in between, how far one is that is under way. A worker must be running.

        The collection is optimized for search at the end. Raises DatabaseUnavailable or FileUnavailable.
        """
        has_changed = False
        async for step in self._load_copies_last(files):
            has_changed |= isinstance(step, IngestionOutcome) and step.status is IngestionStatus.INDEXED
            yield step
        if has_changed:
            with suppress(IndexUnavailable):  # the worker's own job tries again
                await self.service.store.optimize(self.collection)

    async def _load_copies_last(self, files: Sequence[Path]) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        known = await self.service.ingestions.list_copies(self.collection)
        gone = await asyncio.to_thread(lambda: [source for source in known if self._has_moved(source)])
        await self.service.ingestions.set_copies(self.collection, dict.fromkeys(gone))
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
        for paths in batched(files, _size, most=READ_FILES, most_bytes=READ_BYTES):
            for outcome in await self._add(paths):
                if outcome.status is IngestionStatus.UPLOADED and outcome.document_id:
                    waiting.add(outcome.document_id)
                else:
                    yield outcome
            async for step in wait_for(waiting, service=self.service, collection=self.collection, until=MOST_WAITING):
                yield step
        async for step in wait_for(waiting, service=self.service, collection=self.collection):
            yield step

    async def _add(self, paths: Sequence[Path]) -> list[IngestionOutcome]:
        sources, outcomes = await asyncio.to_thread(_read, paths, self.service.max_file_bytes)
        sources = [replace(source, chunking=self.chunking) for source in sources]
        renamed = await self.service.rename(self.collection, sources, self._has_moved)
        added = await self.service.add(self.collection, sources)
        return [*outcomes, *(replace(outcome, renamed_from=renamed.get(outcome.source)) for outcome in added)]

    def _has_moved(self, source: str) -> bool:
        is_ours = any(Path(source).is_relative_to(source_of(folder)) for folder in self.folders)
        return is_ours and not os.path.lexists(source)


async def wait_for(
    waiting: set[UUID], *, service: DocumentService, collection: Collection, until: int = 0
) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
    """Yield the documents' progress until at most `until` are under way; remove finished ones from `waiting`."""
    while len(waiting) > until:
        states = await service.ingestions.find_states(collection, [*waiting])
        finished = [document for document, status in states.items() if status in FINAL]
        underway = [document for document, status in states.items() if status is IngestionStatus.PROCESSING]
        waiting.intersection_update(states)  # the others were deleted meanwhile
        for ingestion in await service.ingestions.find(collection, finished + underway[:1]):
            if ingestion.status in FINAL:
                waiting.discard(ingestion.document_id)
                yield _outcome(ingestion)
            else:
                yield ingestion
        if len(waiting) > until:
            await asyncio.sleep(max(POLL_SECONDS, len(waiting) / 1_000))


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


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


STEP_DOCUMENTS = 20
MOST_CHUNKS = 2**31 - 1  # the last index that the store knows


@dataclass(frozen=True, slots=True)
class Rechunking:
    service: DocumentService
    pipeline: Pipeline
    collection: Collection
    model: EmbeddingModel

    async def rechunk(
        self, documents: Sequence[Document], *, chunking: Chunking
    ) -> AsyncGenerator[IngestionOutcome | Ingestion, None]:
        """Chunk documents anew; yield an outcome for each.

        A document is read from its file if that is stored, else from its stored text. A worker must be running. Raises
        DatabaseUnavailable or CollectionChanged.
        """
        for start in range(0, len(documents), STEP_DOCUMENTS):
            step = documents[start : start + STEP_DOCUMENTS]
            with_files = {
                of.document_id for of in await self.service.ingestions.find(self.collection, [d.id for d in step])
            }
            texts = [await self._text(document, chunking) for document in step if document.id not in with_files]
            for outcome in await self.pipeline.ingest(texts, collection=self.collection, model=self.model):
                yield outcome
            await self.service.restart(self.collection, [*with_files], chunking=chunking)
            async for progress in wait_for(with_files, service=self.service, collection=self.collection):
                yield progress
            log.info("documents chunked anew", done=start + len(step), total=len(documents), chunking=chunking)

    async def _text(self, document: Document, chunking: Chunking) -> SourceText:
        chunks = await self.service.store.read_chunks(self.collection, [(document.id, 0, MOST_CHUNKS)])
        return SourceText(
            document.source,
            "".join(chunk.content for chunk in chunks[document.id]),
            title=document.title,
            language=document.language,
            source_type=document.source_type,
            tags=document.tags,
            chunking=chunking,
            created_at=document.created_at,
            expires_at=document.expires_at,
            metadata=document.metadata,
        )


async def estimate_relations(
    files: Sequence[Path],
    *,
    pipeline: Pipeline,
    extractor: ModelExtractor,
    collection: Collection,
    model: EmbeddingModel,
) -> ExtractionEstimate:
    """Estimate the model's calls and tokens for the files, without what is cached.

    A file that can't be read costs nothing.
    """
    config = pipeline.settings.ingestion.overridden(collection.ingestion_config)[0]
    calls = tokens = 0
    for file in files:
        try:
            source = await asyncio.to_thread(
                read_file, file, max_bytes=pipeline.settings.ingestion_limits.max_file_bytes
            )
        except UnreadableDocument:
            continue
        prepared = await pipeline.read(source, collection, model, config)
        if isinstance(prepared, Prepared):
            cost = await extractor.estimate(prepared.chunks, owner_id=collection.owner_id)
            calls, tokens = calls + cost.calls, tokens + cost.tokens
    return ExtractionEstimate(calls, tokens)

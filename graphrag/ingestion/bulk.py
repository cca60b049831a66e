"""Ingest files of this machine, rechunk stored documents, and estimate what a chat model would cost."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from uuid import UUID

from graphrag.causal_graph.model_extraction import ExtractionEstimate, ModelExtractor
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.pipeline import Pipeline, Prepared
from graphrag.ingestion.service import DocumentService
from graphrag.ingestion.sources import SourceFile, SourceText, read_file, refused, source_of
from graphrag.models import Chunking, Collection, Document
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.observability.telemetry import log

READ_FILES = 50  # at once
MOST_WAITING = 500  # documents; further files are read when some of these have ended
POLL_SECONDS = 0.1
FINAL = {IngestionStatus.INDEXED, IngestionStatus.ERROR}


@dataclass(frozen=True, slots=True)
class Loading:
    service: DocumentService
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
            async for step in wait_for(waiting, service=self.service, collection=self.collection, until=MOST_WAITING):
                yield step
        async for step in wait_for(waiting, service=self.service, collection=self.collection):
            yield step

    async def _add(self, paths: Sequence[Path]) -> list[IngestionOutcome]:
        sources, outcomes = await asyncio.to_thread(_read, paths, self.service.max_file_bytes)
        sources = [replace(source, chunking=self.chunking) for source in sources]
        return [*outcomes, *await self.service.add(self.collection, sources)]


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

"""Background jobs: ingestion, deletion, retention."""

import asyncio
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import UUID

from graphrag.db.database import Connection
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError, FileUnavailable
from graphrag.file_storage import read_original
from graphrag.ingestion.pipeline import Pipeline, Progress
from graphrag.ingestion.queue import Queue
from graphrag.ingestion.service import DocumentService, file_key, folder_key
from graphrag.ingestion.sources import SourceFile
from graphrag.models import Collection
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.observability.metrics import FILES
from graphrag.stores.postgres.conversations import Conversations
from graphrag.stores.postgres.idempotency import IdempotencyKeys


@dataclass(frozen=True, slots=True)
class Retention:
    conversations: Conversations
    queue: Queue
    days: int | None  # None: for ever

    async def forget(self, owner_id: str) -> None:
        """Deletes those whose time is over; when the next one's is, a job does it."""
        if self.days is None:
            return
        retention = timedelta(days=self.days)
        oldest = await self.conversations.purge(owner_id, retention)
        if oldest is not None:
            await self.queue.defer_forgetting(owner_id, oldest + retention)


UNDER_WAY = {IngestionStatus.UPLOADED, IngestionStatus.PROCESSING}
LOST_FILES = {"missing": "file_unavailable", "file_damaged": "file_damaged"}  # an ingestion's reason, by the error's
UNEXPECTED = "an error of ours, which the service's log describes"


class Models(Protocol):
    async def embedding_model(self, collection: Collection) -> EmbeddingModel: ...


@dataclass(frozen=True, slots=True)
class Jobs:
    service: DocumentService
    pipeline: Pipeline
    models: Models
    retention: Retention

    async def ingest(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None:
        collection = await self._collection(owner_id, collection_id)
        if collection is None:
            return
        known = await self.service.ingestions.find(collection, documents)
        # If a worker died of one, others shall not be taken for it: each is done alone, those that stalled most last.
        suspects = [[of.document_id] for of in sorted(known, key=lambda of: of.stalls) if of.stalls]
        for together in ([of.document_id for of in known if not of.stalls], *suspects):
            if begun := await self.service.ingestions.begin(collection, together):
                await self._ingest(collection, {ingestion.ticket: ingestion for ingestion in begun})
                await self.service.queue.defer_optimization(collection)
        await self.tidy_files(owner_id, collection_id, documents)

    async def count_stall(
        self, connection: Connection, owner_id: str, collection_id: UUID, documents: Sequence[UUID]
    ) -> None:
        await self.service.ingestions.count_stall(connection, collection_id, documents)

    async def give_up(
        self, owner_id: str, collection_id: UUID, documents: Sequence[UUID], error: BaseException
    ) -> None:
        if collection := await self._collection(owner_id, collection_id):
            unfinished = await self.service.ingestions.find(collection, documents)
            cause, reason = (str(error), error.code) if isinstance(error, CausewayError) else (UNEXPECTED, "internal")
            await self.service.ingestions.fail(collection, unfinished, cause=cause, reason=reason)

    async def tidy_files(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None:
        """Removes what is left of deleted documents, and of older versions of the others."""
        files, erasure = self.service.files, self.service.erasure
        collection = await self._collection(owner_id, collection_id)
        if collection is None:
            return await self.clear(owner_id, collection_id)
        await erasure.erase(owner_id)
        known = {ingestion.document_id for ingestion in await self.service.ingestions.find(collection, documents)}
        await self.service.store.delete_documents(collection, [of for of in documents if of not in known])
        removed: list[str] = []
        try:
            async with self.service.ingestions.tidying(collection, documents) as current:
                for document in documents:
                    folder = folder_key(collection_id, document)
                    if document not in current:
                        removed.append(folder)
                    elif current[document].status is IngestionStatus.INDEXED:
                        removed += [key for key in await files.list(folder) if key != file_key(current[document])]
                for key in removed:
                    await files.delete(key)
        finally:  # tried again, it would not know those that it has deleted
            for key in removed:
                await erasure.forget(owner_id, key)

    async def clear(self, owner_id: str, collection_id: UUID) -> None:
        """Removes a collection, which whoever ordered it to be deleted may be about to do, and what is left of it."""
        if collection := await self._collection(owner_id, collection_id):
            await self.service.store.delete_collection(collection)
        await self.service.erasure.erase(owner_id)
        await self.service.files.delete(str(collection_id))
        await self.service.erasure.forget(owner_id, str(collection_id))

    async def purge(self, owner_id: str, collection_id: UUID) -> None:
        """Deletes the documents whose time has come; one whose newer version is on its way waits for that."""
        if collection := await self._collection(owner_id, collection_id):
            expired = await self.service.ingestions.find_expired(collection)
            states = await self.service.ingestions.find_states(collection, expired)
            renewed = {document for document, status in states.items() if status in UNDER_WAY}
            await self.service.purge(collection, [of for of in expired if of not in renewed])
            if renewed:
                await self.service.queue.defer_purge(collection, datetime.now(UTC))

    async def forget_conversations(self, owner_id: str) -> None:
        await self.retention.forget(owner_id)

    async def forget_idempotency_keys(self, owner_id: str) -> None:
        queue = self.service.queue
        await IdempotencyKeys(queue.database, queue.defer_forgetting_keys).purge(owner_id)

    async def optimize(self, owner_id: str, collection_id: UUID) -> None:
        if collection := await self._collection(owner_id, collection_id):
            await self.service.store.optimize(collection)

    async def _ingest(self, collection: Collection, begun: Mapping[UUID, Ingestion]) -> None:
        async def report(progress: Sequence[Progress]) -> Set[str]:
            known = [(begun[of.ticket], of.stage, of.done, of.total) for of in progress if of.ticket]
            wanted = await self.service.ingestions.report(collection, known) if known else set()
            return {of.source for of, *_ in known if of.ticket not in wanted}

        model = await self.models.embedding_model(collection)
        sources = [
            source
            for source in await asyncio.gather(*(self._source(collection, ingestion) for ingestion in begun.values()))
            if source is not None
        ]
        outcomes = await self.pipeline.ingest(sources, collection=collection, model=model, report=report)
        for source, outcome in zip(sources, outcomes, strict=True):
            FILES.labels(status=outcome.status.value).inc()
            assert source.ticket is not None
            if outcome.status is IngestionStatus.ERROR:
                await self._fail(collection, begun[source.ticket], outcome)
            elif outcome.expires_at:
                await self.service.queue.defer_purge(collection, outcome.expires_at)

    async def _source(self, collection: Collection, ingestion: Ingestion) -> SourceFile | None:
        try:
            return SourceFile.of(ingestion, await read_original(self.service.files, file_key(ingestion)))
        except FileUnavailable as exc:
            reason = LOST_FILES.get(exc.details["reason"])
            if reason is None:  # its storage may be back soon
                raise
            await self.service.ingestions.fail(collection, [ingestion], cause=str(exc), reason=reason)
            return None

    async def _fail(self, collection: Collection, ingestion: Ingestion, outcome: IngestionOutcome) -> None:
        chunks = [str(chunk) for chunk in outcome.failed_chunks]
        await self.service.ingestions.fail(
            collection,
            [ingestion],
            cause=outcome.cause,
            reason=outcome.reason,
            failed_batches=[{"chunks": chunks, "cause": outcome.cause}] if chunks else [],
        )

    async def _collection(self, owner_id: str, collection_id: UUID) -> Collection | None:
        known = await self.service.store.list_collections(owner_id)
        return next((collection for collection in known if collection.id == collection_id), None)

"""Add, replace and delete the documents of a collection."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import DocumentNotFound, FileUnavailable, InvalidDocuments, ProviderError
from graphrag.ingestion.enrichment import title_of_name
from graphrag.ingestion.outbox import Outbox
from graphrag.ingestion.pipeline import Pipeline
from graphrag.ingestion.queue import Queue
from graphrag.ingestion.sources import (
    SourceFile,
    SourceText,
    batched,
    document_id,
    duplicate_source,
    refused,
    too_large,
)
from graphrag.models import Collection, Document
from graphrag.models.ingestion import Ingestion, IngestionOutcome, IngestionStatus
from graphrag.observability.request_context import changed_context
from graphrag.parsers.text import clean, holds_words
from graphrag.protocols import ChunkStore, FileStorage
from graphrag.stores.postgres.erasure import BATCH, Erasure
from graphrag.stores.postgres.ingestions import Ingestions

KEPT_BYTES = 100_000_000  # in memory, of the files that are stored at the same time
DELETED_TOGETHER = 100  # documents, whose collection's other writers wait meanwhile


@dataclass(frozen=True, slots=True)
class DocumentService:
    store: ChunkStore
    ingestions: Ingestions
    files: FileStorage
    queue: Queue
    max_file_bytes: int
    erasure: Erasure
    outbox: Outbox

    async def add(
        self,
        collection: Collection,
        sources: Sequence[SourceFile],
        *,
        most_documents: int | None = None,
        seen: Ingestion | None = None,
        is_from_outbox: bool = False,
    ) -> list[IngestionOutcome]:
        """Add files and return an outcome for each, in order: uploaded, unchanged, or an error.

        A file replaces the document of its source, which stays as it is until the new ingestion has succeeded. A file
        that is beyond a quota has that error.

        Raises CollectionNotFound, QuotaExceeded if all are beyond one, DatabaseUnavailable, FileUnavailable, or
        PreconditionFailed if the ingestion in `seen` is no longer the document's last: then none was accepted.
        """
        if not is_from_outbox:
            await self.outbox.remove(collection, {document_id(collection.id, source.source) for source in sources})
        new_ids = {source.source: document_id(collection.id, source.source) for source in sources}
        owned = await self.ingestions.find_sources(collection, [*new_ids], [*new_ids.values()])
        # A document that was renamed has kept the id that its old source would get.
        ids = {of: owned.get(of) or (uuid4() if key in owned.values() else key) for of, key in new_ids.items()}
        known = await self._known(collection, sources, ids)
        outcomes: list[IngestionOutcome] = []
        new: dict[UUID, tuple[Ingestion, SourceFile]] = {}
        for source in sources:
            if source.byte_count > self.max_file_bytes:
                outcomes.append(refused(source.source, too_large(self.max_file_bytes)))
            elif ids[source.source] in new and source.content_hash not in known:
                outcomes.append(refused(source.source, duplicate_source()))
            elif source.content_hash in known and (
                source.source not in owned or known[source.content_hash].source == source.source
            ):
                outcomes.append(_unchanged(source, known[source.content_hash]))
            else:
                ingestion = _ingestion(collection, source, ids[source.source])
                new[ingestion.document_id] = (ingestion, source)
                known[source.content_hash] = ingestion
                outcomes.append(IngestionOutcome(source.source, IngestionStatus.UPLOADED, ingestion.document_id))
        if new:

            async def keep(accepted: Sequence[Ingestion]) -> None:
                for batch in batched(accepted, lambda of: of.byte_count, most=len(accepted), most_bytes=KEPT_BYTES):
                    await asyncio.gather(*(self._keep(of, new[of.document_id][1]) for of in batch))

            beyond = await self.ingestions.register(
                collection,
                [ingestion for ingestion, _ in new.values()],
                keep=keep,
                defer=self.queue.defer_ingestion,
                most_documents=most_documents,
                seen=seen,
            )
            if all(outcome.document_id in beyond for outcome in outcomes):
                raise next(iter(beyond.values()))
            outcomes = [
                refused(of.source, beyond[of.document_id]) if of.document_id in beyond else of for of in outcomes
            ]
        copies = {outcome.source: outcome.document_id for outcome in outcomes if outcome.is_copy}
        await self.ingestions.set_copies(collection, dict.fromkeys(ids) | copies)
        return outcomes

    async def _keep(self, ingestion: Ingestion, source: SourceFile) -> None:
        await self.files.put(file_key(ingestion), await source.read())

    async def rename(
        self, collection: Collection, sources: Sequence[SourceFile], has_moved: Callable[[str], bool]
    ) -> dict[str, str]:
        """Rename documents whose file has become one of these, and return the old sources by the new ones.

        `has_moved`: whether the file of a source is no longer there.
        """
        ended = await self.ingestions.find_ended(collection, [source.content_hash for source in sources])
        moved = [ingestion for ingestion in ended if await asyncio.to_thread(has_moved, ingestion.source)]
        if not moved:
            return {}
        owned = await self.ingestions.find_sources(collection, [source.source for source in sources])
        renamed: dict[str, str] = {}
        for source in sources:
            same = [of for of in moved if of.content_hash == source.content_hash]
            if source.source in owned or not same:
                continue
            titles = title_of_name(same[0].filename), title_of_name(source.filename)
            if await self.ingestions.rename(
                collection, same[0], source=source.source, filename=source.filename, titles=titles
            ):
                renamed[source.source] = same[0].source
                moved.remove(same[0])
        return renamed

    async def restart(
        self, collection: Collection, documents: Sequence[UUID], *, seen: Ingestion | None = None, **options: Any
    ) -> list[Ingestion]:
        """Reads those documents' files anew, as they are kept: after an error, or with other `options` (chunking).

        Without those that have none and those that are under way already, which go on. Raises PreconditionFailed.
        """
        defer = self.queue.defer_ingestion
        return await self.ingestions.restart(collection, documents, defer=defer, seen=seen, **options)

    async def cancel(self, collection: Collection, documents: Sequence[UUID]) -> list[Ingestion]:
        """Cancel the ingestions under way and return them; stored documents stay."""
        return await self.ingestions.cancel(collection, documents)

    async def delete(self, collection: Collection, document: UUID, *, seen: Ingestion | None = None) -> None:
        """Delete a document with its file and pending ingestions.

        Raises DocumentNotFound or PreconditionFailed.
        """
        await self.outbox.remove(collection, {document})
        if not await self._delete(collection, [document], seen=seen):
            raise DocumentNotFound(f"There is no document {document}.", document=str(document))

    async def delete_many(self, collection: Collection, documents: Sequence[UUID]) -> list[UUID]:
        """Delete documents and return the ids of those that existed; each hundred is deleted in one transaction."""
        await self.outbox.remove(collection, set(documents))
        return await self.purge(collection, documents)

    async def purge(self, collection: Collection, documents: Sequence[UUID]) -> list[UUID]:
        """The same for what has expired: a newer version that waits to come in stays."""
        deleted: list[UUID] = []
        for start in range(0, len(documents), DELETED_TOGETHER):
            deleted += await self._delete(collection, documents[start : start + DELETED_TOGETHER])
        return deleted

    async def _delete(
        self, collection: Collection, documents: Sequence[UUID], *, seen: Ingestion | None = None
    ) -> list[UUID]:
        with changed_context(is_interactive=False):
            ingested = await self.ingestions.delete(collection, documents, defer=self.queue.defer_tidying, seen=seen)
            stored = await self.store.delete_documents(collection, documents)
        with suppress(FileUnavailable):  # the deferred job tries again
            async with self.ingestions.tidying(collection, ingested) as come_again:
                folders = [folder_key(collection.id, of) for of in ingested if of not in come_again]
                await asyncio.gather(*(self.files.delete(folder) for folder in folders))
        await self.erasure.erase(collection.owner_id, most=BATCH)  # the deferred job does the others
        return list(dict.fromkeys([*ingested, *stored]))

    async def delete_collection(self, collection: Collection) -> bool:
        """False where there was none."""
        with changed_context(is_interactive=False):
            await self.outbox.remove(collection)
            await self.ingestions.delete(collection, [], defer=self.queue.defer_clearing)
            was_there = await self.store.delete_collection(collection)
        with suppress(FileUnavailable):
            await self.files.delete(str(collection.id))
        await self.erasure.erase(collection.owner_id, most=BATCH)
        return was_there

    async def _known(
        self, collection: Collection, sources: Sequence[SourceFile], ids: Mapping[str, UUID]
    ) -> dict[str, Ingestion | Document]:
        """Contents that are stored or on their way, of documents that no newer version is about to replace."""
        hashes = [source.content_hash for source in sources]
        stored = await self.store.find_documents(collection, content_hashes=hashes)
        waiting = await self.ingestions.find_waiting(collection, hashes)
        latest = await self.ingestions.find(collection, [document.id for document in stored])
        newest = defaultdict[UUID, set[str]](set)
        for of in latest:
            newest[of.document_id].add(of.content_hash)
        for source in sources:
            newest[ids[source.source]].add(source.content_hash)
        known = [(document.id, document) for document in stored] + [(of.document_id, of) for of in waiting.values()]
        return {of.content_hash: of for key, of in known if newest[key] <= {of.content_hash}}


def folder_key(collection_id: UUID, document: UUID) -> str:
    return f"{collection_id}/{document}"


def file_key(ingestion: Ingestion) -> str:
    """Return the file's key in the file storage, which doesn't contain its name."""
    return f"{folder_key(ingestion.collection_id, ingestion.document_id)}/{ingestion.content_hash}"


def _ingestion(collection: Collection, source: SourceFile, document: UUID) -> Ingestion:
    now = datetime.now(UTC)
    return Ingestion(
        collection_id=collection.id,
        document_id=document,
        ticket=uuid4(),
        source=source.source,
        filename=source.filename,
        content_hash=source.content_hash,
        byte_count=source.byte_count,
        options=source.options(),
        status=IngestionStatus.UPLOADED,
        created_at=now,
        updated_at=now,
    )


def _unchanged(source: SourceFile, known: Ingestion | Document) -> IngestionOutcome:
    identity = known.id if isinstance(known, Document) else known.document_id
    if known.source == source.source and isinstance(known, Ingestion):
        return IngestionOutcome(source.source, IngestionStatus.UPLOADED, identity)
    same_as = None if known.source == source.source else known.filename
    return IngestionOutcome(source.source, IngestionStatus.UNCHANGED, identity, same_as=same_as)


async def store_texts(
    texts: Sequence[SourceText],
    *,
    collection: Collection,
    service: DocumentService,
    pipeline: Pipeline,
    model: EmbeddingModel,
    most_documents: int | None = None,
) -> list[IngestionOutcome]:
    """Store texts and return an outcome for each, in order: indexed, unchanged, or refused by the embedding model.

    A text replaces the document of its source; all are embedded together.

    Raises InvalidDocuments, QuotaExceeded, CollectionChanged, or ProviderError if the model refused all: then none was
    stored.
    """
    _check(texts, service.max_file_bytes)
    ids = [document_id(collection.id, text.source) for text in texts]
    if files := {of.document_id for of in await service.ingestions.find(collection, ids)}:
        raise invalid(min(map(ids.index, files)), "a file has this source: choose another one")
    if most_documents is not None:
        await service.ingestions.check_room(collection, ids, most_documents)
    stored = {document.id: document for document in await service.store.find_documents(collection, ids=ids)}
    known = {text.source: stored.get(key) for text, key in zip(texts, ids, strict=True)}
    changed = [_in_place_of(known[text.source], text) for text in texts if not _is_same(text, known[text.source])]
    made = await pipeline.ingest(changed, collection=collection, model=model) if changed else []
    if changed and all(outcome.status is IngestionStatus.ERROR for outcome in made):
        raise ProviderError(made[0].cause)
    await _plan(made, collection, service)
    outcomes = {outcome.source: outcome for outcome in made}
    return [outcomes.get(text.source) or _unchanged_text(text, key) for text, key in zip(texts, ids, strict=True)]


def invalid(index: int, problem: str, **details: str) -> InvalidDocuments:
    message = f"Document {index} (counting from 0) is not valid: {problem}."
    return InvalidDocuments(message, reason="invalid_document", index=index, problem=problem, **details)


def _check(texts: Sequence[SourceText], max_bytes: int) -> None:
    seen: set[str] = set()
    for index, text in enumerate(texts):
        if not holds_words(text.text):
            raise invalid(index, "text: it holds no words", field="text")
        if text.byte_count > max_bytes:
            raise invalid(index, f"text: it is larger than {max_bytes} bytes", field="text")
        if text.source in seen:
            raise invalid(index, "source: another one of the same source came with it", field="source")
        seen.add(text.source)


def _is_same(text: SourceText, known: Document | None) -> bool:
    if known is None or known.content_hash != text.content_hash:
        return False
    is_titled = text.title is None or known.title == " ".join(clean(text.title).split())
    return is_titled and dict(known.metadata) == dict(text.metadata) and known.tags == text.tags


def _in_place_of(known: Document | None, text: SourceText) -> SourceText:
    return replace(text, created_at=known.created_at) if known else text


def _unchanged_text(text: SourceText, key: UUID) -> IngestionOutcome:
    return IngestionOutcome(text.source, IngestionStatus.UNCHANGED, key)


async def _plan(outcomes: Sequence[IngestionOutcome], collection: Collection, service: DocumentService) -> None:
    """Queue later work on the outcomes: purging at their expiry, and optimization."""
    for expires_at in {outcome.expires_at for outcome in outcomes if outcome.expires_at}:
        await service.queue.defer_purge(collection, expires_at)
    if outcomes:
        await service.queue.defer_optimization(collection)

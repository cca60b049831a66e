"""Files and texts → stored documents, each in one transaction: a document is found whole or not at all."""

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from uuid import UUID, uuid5

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import UnreadableDocument
from graphrag.ingestion import enrichment
from graphrag.ingestion.chunking import chunk
from graphrag.ingestion.cleaning import clean
from graphrag.ingestion.parsing import parse
from graphrag.models import (
    Chunk,
    Collection,
    Document,
    IndexedDocument,
    IngestionOutcome,
    IngestionStatus,
    ParsedText,
)
from graphrag.protocols import ChunkStore
from graphrag.settings import Settings
from graphrag.telemetry import log, stage

PLAIN_TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that is in no file, with what its sender knows of it. Nothing in it is read as Markdown."""

    source: str  # unique in its collection, like a file's path
    text: str
    title: str | None = None  # None: made from the text
    language: str | None = None  # None: detected
    source_type: str = "text"
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None  # None: now
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    store: ChunkStore
    settings: Settings

    async def ingest_file(self, path: Path, *, collection: Collection, model: EmbeddingModel) -> IngestionOutcome:
        """Never raises for what is wrong with one file: the outcome says it."""
        source = _source(path)
        try:
            data = await asyncio.to_thread(self._read, path)
            return await self.ingest_bytes(data, source=source, filename=path.name, collection=collection, model=model)
        except UnreadableDocument as exc:
            cause = str(exc)
        except OSError as exc:
            cause = f"the file can't be read: {exc.strerror}"
        log.warning("document not indexed", cause=cause)
        return IngestionOutcome(source, IngestionStatus.ERROR, cause=cause)

    async def ingest_bytes(
        self, data: bytes, *, source: str, filename: str, collection: Collection, model: EmbeddingModel
    ) -> IngestionOutcome:
        """Replaces the document of that source. Bytes that the collection already holds change nothing.

        Raises UnreadableDocument, ProviderError, DatabaseUnavailable.
        """
        content_hash = hashlib.sha256(data).hexdigest()
        if found := await self.store.find_document(collection, content_hash=content_hash):
            cause = "" if found.source == source else f"the same content as {found.filename}"
            return IngestionOutcome(source, IngestionStatus.UNCHANGED, cause=cause)
        with stage("parse"):
            parsed = await asyncio.to_thread(parse, data, filename=filename)
        document = describe(parsed, source=source, filename=filename, content_hash=content_hash, collection=collection)
        with stage("chunk"):
            chunks = await asyncio.to_thread(self._chunk, parsed, document, model)
        with stage("embed"):
            vectors = await self._embed([embedded_text(parsed, chunk) for chunk in chunks], model)
        with stage("store"):
            await self.store.put_documents(collection, [IndexedDocument(document, chunks, vectors)])
        return IngestionOutcome(source, IngestionStatus.INDEXED, chunks=len(chunks))

    async def ingest_texts(
        self, texts: Sequence[SourceText], *, collection: Collection, model: EmbeddingModel
    ) -> list[IngestionOutcome]:
        """One outcome a text, in order. Each replaces the document of its source; all are stored in one transaction,
        but for those that can't be, whose outcome says why.

        Raises ProviderError, DatabaseUnavailable.
        """
        failed = _unusable(texts)
        usable = [text for number, text in enumerate(texts) if number not in failed]
        with stage("chunk"):
            prepared = await asyncio.to_thread(self._prepare, usable, collection, model)
        with stage("embed"):
            vectors = iter(await self._embed([embedded for item in prepared for embedded in item.embedded], model))
        indexed = [
            IndexedDocument(item.document, item.chunks, list(islice(vectors, len(item.chunks)))) for item in prepared
        ]
        if indexed:
            with stage("store"):
                await self.store.put_documents(collection, indexed)
        stored = {
            item.document.source: IngestionOutcome(
                item.document.source, IngestionStatus.INDEXED, chunks=len(item.chunks)
            )
            for item in indexed
        }
        return [failed.get(number) or stored[text.source] for number, text in enumerate(texts)]

    def _prepare(self, texts: Sequence[SourceText], collection: Collection, model: EmbeddingModel) -> list["_Prepared"]:
        now = datetime.now(UTC)
        prepared = []
        for text in texts:
            parsed = ParsedText(clean(text.text), PLAIN_TEXT)
            document = describe_text(text, parsed, collection=collection, now=now)
            chunks = self._chunk(parsed, document, model)
            prepared.append(_Prepared(document, chunks, [embedded_text(parsed, chunk) for chunk in chunks]))
        return prepared

    def _read(self, path: Path) -> bytes:
        if path.stat().st_size > self.settings.max_file_bytes:
            limit = self.settings.max_file_bytes
            raise UnreadableDocument(
                f"the file is larger than {limit:,} bytes (RAG_MAX_FILE_BYTES)", reason="too_large"
            )
        return path.read_bytes()

    def _chunk(self, parsed: ParsedText, document: Document, model: EmbeddingModel) -> list[Chunk]:
        spans = chunk(
            parsed,
            title=document.title,
            count_tokens=model.count_tokens,
            max_tokens=self.settings.chunk_tokens,
            overlap_tokens=self.settings.chunk_overlap_tokens,
        )
        return [
            Chunk(
                id=uuid5(document.id, f"{document.content_hash}:{index}"),
                index=index,
                content=parsed.text[span.start : span.end],
                start_char=span.start,
                end_char=span.end,
                window_start=span.window_start,
                context=span.context,
                document=document,
            )
            for index, span in enumerate(spans)
        ]

    async def _embed(self, texts: Sequence[str], model: EmbeddingModel) -> list[list[float]]:
        size = self.settings.embedding_batch_size
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        return [vector for batch in batches for vector in await model.embed(batch)]


@dataclass(frozen=True, slots=True)
class _Prepared:
    document: Document
    chunks: list[Chunk]
    embedded: list[str]  # what is embedded for each chunk


def embedded_text(parsed: ParsedText, chunk: Chunk) -> str:
    return f"{chunk.context}\n{parsed.text[chunk.window_start : chunk.end_char]}"


def describe(parsed: ParsedText, *, source: str, filename: str, content_hash: str, collection: Collection) -> Document:
    return Document(
        id=document_id(collection.id, source),
        collection_id=collection.id,
        source=source,
        filename=filename,
        media_type=parsed.media_type,
        content_hash=content_hash,
        language=enrichment.detect_language(parsed),
        title=enrichment.title(parsed, filename=filename),
        created_at=datetime.now(UTC),
    )


def describe_text(text: SourceText, parsed: ParsedText, *, collection: Collection, now: datetime) -> Document:
    title = (
        enrichment.title(parsed, filename=text.source) if text.title is None else " ".join(clean(text.title).split())
    )
    return Document(
        id=document_id(collection.id, text.source),
        collection_id=collection.id,
        source=text.source,
        filename=text.source,
        media_type=parsed.media_type,
        content_hash=hash_text(text.text),
        language=text.language or enrichment.detect_language(parsed),
        title=title,
        created_at=text.created_at or now,
        source_type=text.source_type,
        tags=text.tags,
        expires_at=text.expires_at,
    )


def hash_text(text: str) -> str:
    """That of a file that holds the text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def holds_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _unusable(texts: Sequence[SourceText]) -> dict[int, IngestionOutcome]:
    """By the text's number."""
    outcomes = {}
    sources: set[str] = set()
    for number, text in enumerate(texts):
        if text.source in sources:
            cause = "a text of the same source came with it"
        elif not holds_words(text.text):
            cause = "it holds no text"
        else:
            sources.add(text.source)
            continue
        outcomes[number] = IngestionOutcome(text.source, IngestionStatus.ERROR, cause=cause)
    return outcomes


def document_id(collection_id: UUID, source: str) -> UUID:
    """The same for every version of a document, so that a new one takes the place of the old."""
    return uuid5(collection_id, source)


def _source(path: Path) -> str:
    return os.path.abspath(path)  # not resolved: a link is what the person named


async def ingest_files(
    paths: Sequence[Path], *, pipeline: Pipeline, collection: Collection, model: EmbeddingModel
) -> AsyncGenerator[IngestionOutcome, None]:
    """One outcome a file, as each ends. Raises DatabaseUnavailable or ProviderError: then nothing can be stored."""
    copies = []
    for path in paths:
        outcome = await pipeline.ingest_file(path, collection=collection, model=model)
        if outcome.is_copy:
            copies.append(path)  # of a document that may itself be replaced before the end
        else:
            yield outcome
    for path in copies:
        yield await pipeline.ingest_file(path, collection=collection, model=model)


def find_files(paths: Iterable[Path]) -> list[Path]:
    """The files themselves and those in folders, at any depth, without hidden ones; sorted, each once.

    A path that does not exist stays in the list: reading it gives its error.
    """
    return sorted({file for path in paths for file in (_visible_files(path) if path.is_dir() else [path])})


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        is_dangling = path.is_symlink() and not path.exists()
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if (path.is_file() or is_dangling) and not is_hidden:
            yield path

"""Files and texts → stored documents: read, chunked, embedded, and stored at once and whole, or not at all."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from uuid import UUID, uuid5

from langchain_core.language_models import BaseChatModel

from graphrag.causal_graph.document_graph import chunk_graphs, with_names, with_relations
from graphrag.causal_graph.model_extraction import ModelExtractor
from graphrag.config.settings import IngestionConfig, Settings
from graphrag.embeddings.registry import EmbeddingModel, embed_batches
from graphrag.errors import UnreadableDocument
from graphrag.ingestion import enrichment
from graphrag.ingestion.chunking import chunk_document
from graphrag.ingestion.chunking.division import Embed
from graphrag.ingestion.contextualization import contextual_text, embedded_text, situate
from graphrag.ingestion.enrichment import MOST_PHRASES, Keyphrase, phrases, with_keywords
from graphrag.ingestion.sources import Source, SourceFile, duplicate_source, refused
from graphrag.ingestion.tables.computed_tables import with_computed
from graphrag.ingestion.tables.typed_tables import typed_tables
from graphrag.linguistics.names import NameRecognizer
from graphrag.models import Chunk, Collection, Document, ParsedText
from graphrag.models.graph import ChunkGraph
from graphrag.models.ingestion import IndexedDocument, IngestionOutcome, IngestionStatus
from graphrag.observability.telemetry import log, stage
from graphrag.parsers.text import clean, holds_words
from graphrag.protocols import Cache, ChunkStore, Parser

PLAIN_TEXT = "text/plain"
Vector = list[float]
REPORTED_CHUNKS = 1_000  # between two reports of a long embedding


@dataclass(frozen=True, slots=True)
class Progress:
    source: Source
    stage: str
    done: int = 0
    total: int = 0

    @property
    def ticket(self) -> UUID | None:
        return _ticket(self.source)


Report = Callable[[Sequence[Progress]], Awaitable[None]]


async def report_nothing(progress: Sequence[Progress]) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document before its embedding."""

    source: Source
    document: Document
    chunks: list[Chunk]
    embedded: list[str]  # what is embedded for each chunk
    text: str
    graph: list[ChunkGraph]
    tables: list[bytes]
    phrases: list[Keyphrase]  # of which keywords are chosen by meaning; empty: they are not

    def with_document(self, document: Document) -> "Prepared":
        return replace(self, document=document, chunks=[replace(chunk, document=document) for chunk in self.chunks])

    def in_stage(self, stage: str, done: int = 0) -> Progress:
        return Progress(self.source, stage, min(max(done, 0), len(self.chunks)), len(self.chunks))


@dataclass(frozen=True, slots=True)
class Pipeline:
    store: ChunkStore
    settings: Settings
    parser: Parser
    cache: Cache
    embed_meaning: Embed  # for the boundaries of semantic chunks: a model that costs nothing
    chat_model: BaseChatModel | None = None  # for contextual embeddings
    relation_extractor: ModelExtractor | None = None  # beside the rules
    may_read: Callable[[Collection], bool] = lambda _: True  # whether these two are given a collection's documents
    name_recognizer: NameRecognizer | None = None  # beside the rules, and on this machine

    async def ingest(
        self,
        sources: Sequence[Source],
        *,
        collection: Collection,
        model: EmbeddingModel,
        report: Report = report_nothing,
    ) -> list[IngestionOutcome]:
        """Ingest sources and return an outcome for each, in order; an error in one doesn't affect the others.

        Each replaces the document of its source; all are stored in one transaction.

        Raises DatabaseUnavailable, CollectionChanged or CollectionNotFound: then nothing was stored.
        """
        config = self.settings.ingestion.overridden(collection.ingestion_config)[0]
        first = {source.source: source for source in reversed(sources)}
        await report([Progress(source, "parse") for source in first.values()])
        read = await asyncio.gather(*(self.read(source, collection, model, config) for source in first.values()))
        prepared = [item for item in read if isinstance(item, Prepared)]
        outcomes = {outcome.source: outcome for outcome in read if isinstance(outcome, IngestionOutcome)}
        indexed = []
        async for item in self._embed(prepared, collection, model, config, report):
            if isinstance(item, IndexedDocument):
                indexed.append(item)
            else:
                outcomes[item.source] = item
        await report([item.in_stage("store", len(item.chunks)) for item in prepared])
        with stage("store"):
            stored = set(await self.store.put_documents(collection, indexed)) if indexed else set()
        outcomes |= {item.document.source: _outcome(item, is_stored=item.document.id in stored) for item in indexed}
        return [
            outcomes[source.source] if source is first[source.source] else refused(source.source, duplicate_source())
            for source in sources
        ]

    async def read(
        self, source: Source, collection: Collection, model: EmbeddingModel, config: IngestionConfig
    ) -> Prepared | IngestionOutcome:
        try:
            with stage("parse"):
                parsed = await self._parse(source)
            with stage("chunk"):
                return await asyncio.to_thread(self._chunk, source, parsed, collection, model, config)
        except UnreadableDocument as exc:
            log.warning("document not indexed", error=exc)
            return refused(source.source, exc)

    async def _parse(self, source: Source) -> ParsedText:
        if isinstance(source, SourceFile):
            return await self.parser.parse(source.data, filename=source.filename)
        if not holds_words(source.text):
            raise UnreadableDocument("it holds no text", reason="empty")
        return ParsedText(clean(source.text), PLAIN_TEXT)

    def _chunk(
        self,
        source: Source,
        parsed: ParsedText,
        collection: Collection,
        model: EmbeddingModel,
        config: IngestionConfig,
    ) -> Prepared:
        document = enrichment.describe(source, parsed, collection=collection, config=config)
        ranked = phrases(parsed, document.language) if config.keywords == "embeddings" else ()
        given, parsed = parsed, with_computed(parsed, language=document.language)
        if source.chunking:
            config = config.model_copy(update={"chunking": source.chunking})
        chunked = chunk_document(
            parsed, title=document.title, config=config, count_tokens=model.count_tokens, embed=self.embed_meaning
        )
        document = replace(document, processing_strategy=chunked.strategy)
        chunks = [
            Chunk(
                id=uuid5(document.id, f"{document.content_hash}:{chunked.strategy}:{index}"),
                index=index,
                content=parsed.text[span.start : span.end],
                start_char=span.start,
                end_char=span.end,
                window_start=span.window_start,
                context=span.context,
                document=document,
                locations=span.locations,
                headers=span.headers,
                parent=span.parent,
            )
            for index, span in enumerate(chunked.spans)
        ]
        embedded = [
            embedded_text(chunk.context, parsed.text[chunk.window_start : chunk.end_char], is_table=bool(chunk.headers))
            for chunk in chunks
        ]
        graph = chunk_graphs(parsed.text, chunks, language=document.language)
        tables = [table.to_bytes() for table in typed_tables(given, document, [chunk.start_char for chunk in chunks])]
        phrases_left = [*islice(ranked, MOST_PHRASES)]
        return Prepared(source, document, chunks, embedded, parsed.text, graph, tables, phrases_left)

    async def _embed(
        self,
        prepared: Sequence[Prepared],
        collection: Collection,
        model: EmbeddingModel,
        config: IngestionConfig,
        report: Report,
    ) -> AsyncIterator[IndexedDocument | IngestionOutcome]:
        """A document that has all its vectors, or the outcome of one that has not."""
        with stage("embed"):
            plain, cause = await self._embed_texts(prepared, [item.embedded for item in prepared], model, report)
            prepared = await self._choose_keywords(prepared, plain, model, report)
        contextual: Sequence[Sequence[Vector | None]] = [[] for _ in prepared]
        situations: Sequence[list[str | None]] = [[] for _ in prepared]
        if config.contextual_embeddings and self.chat_model and self.may_read(collection):
            with stage("contextualize"):
                situations = [await self._situate(item, collection, self.chat_model, report) for item in prepared]
            situated = [
                [contextual_text(said, text) for said, text in zip(described, item.embedded, strict=True)]
                for described, item in zip(situations, prepared, strict=True)
            ]
            with stage("embed"):
                contextual, _ = await self._embed_texts(prepared, situated, model, report)
        for item, vectors, in_context, described in zip(prepared, plain, contextual, situations, strict=True):
            complete = [vector for vector in vectors if vector is not None]
            if len(complete) < len(vectors):
                yield _failed(item, vectors, cause)
                continue
            # A chunk that could not be embedded in its context is found as it stands.
            both = [vector or plain for vector, plain in zip(in_context, complete, strict=bool(in_context))]
            graph = await self._complete_graph(item, collection, report)
            ticket = _ticket(item.source)
            yield IndexedDocument(
                item.document,
                item.chunks,
                complete,
                both or None,
                ticket,
                situations=described or None,
                tables=item.tables,
                graph=graph,
            )

    async def _choose_keywords(
        self,
        prepared: Sequence[Prepared],
        vectors: Sequence[Sequence[Vector | None]],
        model: EmbeddingModel,
        report: Report,
    ) -> list[Prepared]:
        """Choose keywords by embeddings for the documents that ask for it and whose chunks have all their vectors."""
        texts = [
            [] if None in chunks else [phrase.text for phrase in item.phrases]
            for item, chunks in zip(prepared, vectors, strict=True)
        ]
        found, _ = await self._embed_texts(prepared, texts, model, report)
        return [
            item.with_document(with_keywords(item.document, item.phrases, names, chunks=chunks)) if names else item
            for item, names, chunks in zip(prepared, found, vectors, strict=True)
        ]

    async def _embed_texts(
        self, prepared: Sequence[Prepared], texts: Sequence[Sequence[str]], model: EmbeddingModel, report: Report
    ) -> tuple[list[list[Vector | None]], str]:
        """Each document's vectors, None where a batch failed, and why the first of these did."""
        flat = [text for of_document in texts for text in of_document]
        starts = [0, *accumulate(map(len, texts))]
        vectors: list[Vector | None] = []
        cause = ""
        for start in range(0, len(flat), REPORTED_CHUNKS):
            await report([item.in_stage("embed", start - first) for item, first in zip(prepared, starts, strict=False)])
            part = flat[start : start + REPORTED_CHUNKS]
            found, failures = await embed_batches(
                part, model, batch_size=self.settings.ingestion_limits.embedding_batch_size
            )
            vectors += found
            cause = cause or next((failure.cause for failure in failures), "")
        return [vectors[first:last] for first, last in pairwise(starts)], cause

    async def _situate(
        self, item: Prepared, collection: Collection, chat_model: BaseChatModel, report: Report
    ) -> list[str | None]:
        """Return a model's description of each chunk's place in its document."""
        await report([item.in_stage("contextualize")])
        return await situate(
            item.chunks,
            document=item.document,
            text=item.text,
            chat_model=chat_model,
            cache=self.cache,
            owner_id=collection.owner_id,
        )

    async def _complete_graph(self, item: Prepared, collection: Collection, report: Report) -> Sequence[ChunkGraph]:
        """Add names and relations found by models to the rules' graph, where the settings allow them."""
        if self.name_recognizer:
            await report([item.in_stage("graph")])
        graph = await with_names(item.graph, item.chunks, self.name_recognizer, language=item.document.language)
        if self.relation_extractor is None or not self.may_read(collection):
            return graph
        await report([item.in_stage("graph")])
        found = await self.relation_extractor.extract(item.chunks, owner_id=collection.owner_id)
        return with_relations(graph, found)


def _ticket(source: Source) -> UUID | None:
    return source.ticket if isinstance(source, SourceFile) else None


def _outcome(item: IndexedDocument, *, is_stored: bool) -> IngestionOutcome:
    document = item.document
    if is_stored:
        return IngestionOutcome(
            document.source, IngestionStatus.INDEXED, document.id, len(item.chunks), expires_at=document.expires_at
        )
    cause = "it was cancelled, or a newer version came"
    return IngestionOutcome(document.source, IngestionStatus.ERROR, document.id, cause=cause, reason="cancelled")


def _failed(item: Prepared, vectors: Sequence[Vector | None], cause: str) -> IngestionOutcome:
    missing = tuple(chunk.id for chunk, vector in zip(item.chunks, vectors, strict=True) if vector is None)
    document = item.document
    return IngestionOutcome(
        document.source, IngestionStatus.ERROR, document.id, cause=cause, reason="embedding", failed_chunks=missing
    )

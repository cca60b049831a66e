"""Files and texts → stored documents: prepared, embedded, and stored at once and whole, or not at all."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from uuid import UUID

import numpy as np
from langchain_core.language_models import BaseChatModel

from graphrag.causal_graph.document_graph import with_names
from graphrag.causal_graph.model_extraction import ModelExtractor, with_relations
from graphrag.config.settings import IngestionConfig, Settings
from graphrag.embeddings.registry import EmbeddingModel, embed_batches
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.contextualization import contextual_text, embedded_text, situate
from graphrag.ingestion.enrichment import Keyphrase, different
from graphrag.ingestion.prepared import Preparation, Preparer
from graphrag.ingestion.sources import Source, cancelled, duplicate_source, refused
from graphrag.linguistics.names import NameRecognizer
from graphrag.models import Chunk, Collection, Document
from graphrag.models.graph import ChunkGraph
from graphrag.models.ingestion import IndexedDocument, IngestionOutcome, IngestionStatus
from graphrag.observability.telemetry import log, stage
from graphrag.protocols import Cache, ChunkStore
from graphrag.rerankers.mmr import cosines, pick

Vector = list[float]
REPORTED_CHUNKS = 1_000  # between two reports of a long embedding
DIVERSITY = 0.2  # of keywords
NOT_EMBEDDED = "its keywords are not chosen by meaning: the embedding model failed"
WATCHED_SECONDS = 0.5  # between two reports of a preparation, which ends soon after its document is cancelled


@dataclass(frozen=True, slots=True)
class Progress:
    source: Source
    stage: str
    done: int = 0
    total: int = 0

    @property
    def ticket(self) -> UUID | None:
        return self.source.ticket


Report = Callable[[Sequence[Progress]], Awaitable[Set[str]]]  # returns the sources that are no longer wanted


async def report_nothing(progress: Sequence[Progress]) -> Set[str]:
    """Ignore the progress."""
    return frozenset()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document before its embedding."""

    source: Source
    document: Document
    chunks: list[Chunk]
    embedded: list[str]  # what is embedded for each chunk
    text: str
    graph: Sequence[ChunkGraph]
    tables: Sequence[bytes]
    phrases: Sequence[Keyphrase]  # of which keywords are chosen by meaning; empty: they are not

    @classmethod
    def of(cls, source: Source, made: Preparation, collection: Collection, config: IngestionConfig) -> "Prepared":
        document = made.document(source, collection.id, config)
        chunks = made.chunks(document)
        embedded = [
            embedded_text(chunk.context, made.text[chunk.window_start : chunk.end_char], is_table=bool(chunk.headers))
            for chunk in chunks
        ]
        return cls(source, document, chunks, embedded, made.text, made.graph, made.tables, made.phrases)

    def with_document(self, document: Document) -> "Prepared":
        return replace(self, document=document, chunks=[replace(chunk, document=document) for chunk in self.chunks])

    def in_stage(self, stage: str, done: int = 0) -> Progress:
        return Progress(self.source, stage, min(max(done, 0), len(self.chunks)), len(self.chunks))


@dataclass(frozen=True, slots=True)
class Pipeline:
    store: ChunkStore
    settings: Settings
    preparer: Preparer
    cache: Cache
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
        read = await self._read_all([*first.values()], collection, model, config, report)
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

    async def _read_all(
        self,
        sources: Sequence[Source],
        collection: Collection,
        model: EmbeddingModel,
        config: IngestionConfig,
        report: Report,
    ) -> list[Prepared | IngestionOutcome]:
        """Prepare the sources, some at a time so that other jobs have their turns; those not wanted are cancelled."""
        turns = asyncio.Semaphore(self.settings.ingestion_limits.parsing.processes)

        async def read(source: Source) -> Prepared | IngestionOutcome:
            async with turns:
                return await self.read(source, collection, model, config)

        tasks = {source.source: asyncio.create_task(read(source)) for source in sources}
        try:
            pending = set(tasks.values())
            while pending:
                unwanted = await report([Progress(of, "parse") for of in sources if not tasks[of.source].done()])
                for name in unwanted:
                    tasks[name].cancel()
                _, pending = await asyncio.wait(pending, timeout=WATCHED_SECONDS)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return [refused(name, cancelled()) if task.cancelled() else task.result() for name, task in tasks.items()]

    async def read(
        self, source: Source, collection: Collection, model: EmbeddingModel, config: IngestionConfig
    ) -> Prepared | IngestionOutcome:
        try:
            with stage("prepare"):
                made = await self.preparer.prepare(source, config=config, model=model)
        except UnreadableDocument as exc:
            log.warning("document not indexed", error=exc)
            return refused(source.source, exc)
        return Prepared.of(source, made, collection, config)

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
            yield IndexedDocument(
                item.document,
                item.chunks,
                complete,
                both or None,
                item.source.ticket,
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
        """Each document's vectors, None where a batch failed or it is not wanted, and why the first of these are."""
        flat = [(item.source.source, text) for item, own in zip(prepared, texts, strict=True) for text in own]
        starts = [0, *accumulate(map(len, texts))]
        vectors: list[Vector | None] = [None] * len(flat)
        cause = ""
        for start in range(0, len(flat), REPORTED_CHUNKS):
            unwanted = await report(
                [item.in_stage("embed", start - first) for item, first in zip(prepared, starts, strict=False)]
            )
            part = range(start, min(start + REPORTED_CHUNKS, len(flat)))
            wanted = [place for place in part if flat[place][0] not in unwanted]
            found, failures = await embed_batches(
                [flat[place][1] for place in wanted],
                model,
                batch_size=self.settings.ingestion_limits.embedding_batch_size,
            )
            for place, vector in zip(wanted, found, strict=True):
                vectors[place] = vector
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


def _outcome(item: IndexedDocument, *, is_stored: bool) -> IngestionOutcome:
    document = item.document
    if is_stored:
        return IngestionOutcome(
            document.source, IngestionStatus.INDEXED, document.id, len(item.chunks), expires_at=document.expires_at
        )
    return refused(document.source, cancelled())


def _failed(item: Prepared, vectors: Sequence[Vector | None], cause: str) -> IngestionOutcome:
    missing = tuple(chunk.id for chunk, vector in zip(item.chunks, vectors, strict=True) if vector is None)
    document = item.document
    return IngestionOutcome(
        document.source, IngestionStatus.ERROR, document.id, cause=cause, reason="embedding", failed_chunks=missing
    )


def with_keywords(
    document: Document,
    phrases: Sequence[Keyphrase],
    vectors: Sequence[Sequence[float] | None],
    *,
    chunks: Sequence[Vector | None],
) -> Document:
    """Choose a document's keywords by the vectors of its phrases and chunks.

    If a phrase has no vector, the document keeps its keywords and gets a warning.
    """
    known = [vector for vector in vectors if vector is not None]
    if len(known) < len(phrases):
        return replace(document, warnings=(*document.warnings, NOT_EMBEDDED))
    whole = np.mean([vector for vector in chunks if vector is not None], axis=0)
    relevances = cosines([whole, *known])[0, 1:].tolist()
    order = pick(relevances, known, diversity=DIVERSITY, top_k=len(phrases))
    return replace(document, keywords=different(phrases[index] for index, _ in order))

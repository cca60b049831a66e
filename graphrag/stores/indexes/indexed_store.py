"""PostgreSQL's store with another system that finds its chunks: what is true is in PostgreSQL alone."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from graphrag.db.database import Database, fetch
from graphrag.errors import CausewayError, IndexUnavailable, ProviderError
from graphrag.models import EVERYTHING, Collection, Filters, FulltextRanking, Hit, Synonym, VectorKind
from graphrag.models.ingestion import Candidate, IndexedDocument
from graphrag.observability.telemetry import log
from graphrag.protocols import ChunkIndex
from graphrag.resilience.circuit_breaker import CircuitBreaker
from graphrag.stores.indexes.reconciliation import QUERIES, Reconciliation, entries_of, entry_ids
from graphrag.stores.postgres.chunks import PostgresStore
from graphrag.stores.postgres.graph import PostgresGraph
from graphrag.stores.postgres.search import restrict

FAILURES, LEFT_ALONE_SECONDS = 2, 10  # nobody waits for one that is away again and again
SPARE = 2  # times as many candidates as wanted: some are stale, or not let through
Ask = Callable[[list[UUID] | None, int], Awaitable[list[Candidate]]]


class IndexedStore(PostgresStore):
    """Searches by the index what PostgreSQL lets through. Where the index fails or is behind, PostgreSQL searches."""

    def __init__(self, database: Database, index: ChunkIndex, **options: Any) -> None:
        """`options`: PostgresStore's."""
        super().__init__(database, **options)
        self.breaker = CircuitBreaker(
            index.name, failures=FAILURES, seconds=LEFT_ALONE_SECONDS, is_outage=lambda _: True
        )
        self._index = index
        self._is_open = False
        self._opening = asyncio.Lock()
        self._graph = PostgresGraph(database)
        self._reconciliation = Reconciliation(database, index)

    async def open(self) -> None:
        """Open the index unless it is open; its first use does it too.

        Raises IndexUnavailable, InvalidSettings or MissingExtra.
        """
        async with self._opening:
            if not self._is_open:
                await self._index.open()
                self._is_open = True

    async def close(self) -> None:
        await self._index.close()
        self._is_open = False

    async def put_documents(self, collection: Collection, documents: Sequence[IndexedDocument]) -> list[UUID]:
        """Raises IndexUnavailable, too: then nothing was stored."""
        entries = [entry for indexed in documents for entry in entries_of(collection, indexed)]
        ids = [indexed.document.id for indexed in documents]
        await self.open()
        before = await self._index.list_entries(collection, ids)
        try:
            # Entries never change: to put one again would wear a graph of neighbours out.
            await self._index.put(collection, [entry for entry in entries if entry.id not in before])
            stored = await super().put_documents(collection, documents)
        except BaseException:
            new = {entry.id for entry in entries} - before
            await self._try(collection, self._index.delete(collection, [*new]))
            raise
        await self._try(collection, self._reconciliation.run(collection, ids))
        return stored

    async def delete_documents(self, collection: Collection, documents: Sequence[UUID]) -> list[UUID]:
        """Raises IndexUnavailable: nothing is left there of what is gone here."""
        await self.open()
        await self._index.delete_documents(collection, documents)
        return await super().delete_documents(collection, documents)

    async def delete_collection(self, collection: Collection) -> bool:
        """Raises IndexUnavailable."""
        await self.open()
        await self._index.delete_collection(collection)
        return await super().delete_collection(collection)

    async def optimize(self, collection: Collection) -> None:
        """The index has what PostgreSQL has from then on. Raises IndexUnavailable."""
        await super().optimize(collection)
        await self.open()
        await self._index.delete_expired()
        for current in await self.list_collections(collection.owner_id):
            if current.id == collection.id:  # with the embedding model that it has now
                await self._reconciliation.run(current)

    async def search_fulltext(
        self,
        collection: Collection,
        words: Sequence[str],
        *,
        phrases: Sequence[str] = (),
        synonyms: Sequence[Synonym] = (),
        filters: Filters = EVERYTHING,
        ranking: FulltextRanking = "bm25",
        limit: int,
    ) -> list[Hit]:
        hits = None
        if ranking == "index" and self._index.ranks_words:

            async def ask(documents: list[UUID] | None, count: int) -> list[Candidate]:
                return await self._index.search_words(collection, words, documents=documents, limit=count)

            hits = await self._search(collection, ask, filters=filters, phrases=phrases, limit=limit)
        if hits is None:
            return await super().search_fulltext(
                collection,
                words,
                phrases=phrases,
                synonyms=synonyms,
                filters=filters,
                ranking=ranking,
                limit=limit,
            )
        return [replace(hit, scores={"fulltext": hit.score}) for hit in hits]

    async def search_vectors(
        self, collection: Collection, vector: Sequence[float], *, filters: Filters = EVERYTHING, limit: int
    ) -> list[Hit]:
        kind = self._kind(collection)

        async def ask(documents: list[UUID] | None, count: int) -> list[Candidate]:
            return await self._index.search_vectors(collection, vector, kind=kind, documents=documents, limit=count)

        hits = await self._search(collection, ask, kind=kind, filters=filters, limit=limit)
        if hits is None:
            return await super().search_vectors(collection, vector, filters=filters, limit=limit)
        return [replace(hit, scores={"vector": hit.score}) for hit in hits]

    async def _search(
        self,
        collection: Collection,
        ask: Ask,
        *,
        kind: VectorKind = "content",
        filters: Filters,
        phrases: Sequence[str] = (),
        limit: int,
    ) -> list[Hit] | None:
        """None where PostgreSQL is to be asked instead: the index fails, or it does not know what there is by now."""
        documents = await self._documents(collection, filters)
        asked = limit * SPARE
        while documents != []:
            try:
                with self._watched():
                    await self.open()
                    candidates = await ask(documents, asked)
            except IndexUnavailable as exc:
                log.warning("index failed, PostgreSQL searches instead", index=self._index.name, error=exc)
                return None
            hits = await self._read(collection, candidates, kind, filters, phrases)
            if len(hits) >= limit:
                return hits[:limit]
            if len(candidates) < asked:
                knows_all = 0 < len({candidate.chunk_id for candidate in candidates}) == len(hits)
                return hits if knows_all else None
            asked *= 2
        return []

    async def _documents(self, collection: Collection, filters: Filters) -> list[UUID] | None:
        """Return the documents that match the filters; None if they are too many to be listed."""
        async with self._database.transaction(collection.owner_id) as connection:
            return (await restrict(connection, collection, filters)).values.get("documents")

    async def _read(
        self,
        collection: Collection,
        candidates: Sequence[Candidate],
        kind: VectorKind,
        filters: Filters,
        phrases: Sequence[str],
    ) -> list[Hit]:
        """Read the candidates' current chunks from PostgreSQL, best first; outdated entries are left out."""
        chunks = list({candidate.chunk_id for candidate in candidates})
        if phrases:
            chunks = await self._holding(collection, chunks, phrases)
        known = {hit.chunk.id: hit for hit in await self._graph.read_hits(collection, chunks, filters=filters)}
        valid = {entry for hit in known.values() for entry in entry_ids(collection, hit.chunk, kind)}
        scores: dict[UUID, float] = {}
        for candidate in candidates:
            if candidate.entry_id in valid:
                scores[candidate.chunk_id] = max(candidate.score, scores.get(candidate.chunk_id, 0.0))
        return sorted((replace(known[chunk], score=score) for chunk, score in scores.items()), key=_order)

    async def _holding(self, collection: Collection, chunks: list[UUID], phrases: Sequence[str]) -> list[UUID]:
        values = {"collection_id": collection.id, "chunks": chunks, "phrases": list(phrases)}
        async with self._database.transaction(collection.owner_id) as connection:
            return [row["chunk_id"] for row in await fetch(connection, QUERIES["find_phrases"], values)]

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            with self.breaker.watch():
                yield
        except ProviderError as exc:
            raise IndexUnavailable(str(exc), index=self._index.name) from exc

    async def _try(self, collection: Collection, step: Awaitable[None]) -> None:
        """Await the step and log a failure: searches ignore outdated entries, the next `optimize` repairs them."""
        try:
            await step
        except CausewayError as exc:
            log.warning("index not updated", index=self._index.name, collection=str(collection.id), error=exc)


def _order(hit: Hit) -> tuple[float, float, str]:
    return (-hit.score, -hit.chunk.document.created_at.timestamp(), str(hit.chunk.id))

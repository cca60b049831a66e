"""A collection moves to another embedding model while it is searched and written to.

Not a ChunkStore's verb: what makes it safe are PostgreSQL's locks. The other model's vectors are added beside those
that searches use; when none is missing, one transaction makes them the collection's. The old ones stay, to go back to.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from pgvector import HalfVector

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.embeddings.registry import EmbeddingModel, embed_batches
from graphrag.errors import CollectionNotFound, InvalidSettings, ProviderError
from graphrag.ingestion.contextualization import contextual_text, embedded_text
from graphrag.models import Collection, VectorKind
from graphrag.observability.telemetry import log
from graphrag.stores.postgres import search
from graphrag.stores.postgres.chunks import maintenance

QUERIES = queries(Path(__file__).with_name("reembedding.sql"))
BATCHES = 4  # that are embedded at the same time
BEGINNING = (UUID(int=0), -1)  # before every chunk
Row = Mapping[str, Any]
Report = Callable[[int, int], None]


def report_nothing(done: int, total: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class EmbeddingMigration:
    """Ended at any moment, even by kill -9, it goes on where it was when it is run again: it makes what is missing."""

    database: Database
    collection: Collection
    batch_size: int = 100

    async def previous_model(self) -> str:
        """Raises InvalidSettings where there is nothing to go back to."""
        previous: str | None = (await self._state())["previous_embedding_model"]
        if previous is None:
            name = self.collection.name
            told = f"The collection {name!r} has had no other embedding model."
            raise InvalidSettings(told, reason="no_previous_model", collection=name)
        return previous

    async def run(self, model: EmbeddingModel, *, report: Report = report_nothing) -> None:
        """Embed the collection's chunks with the model, then switch its searches to that model.

        Raises ProviderError, CollectionNotFound, or InvalidSettings if another migration is running.
        """
        async with self._alone():
            state = await self._begin(model)
            while True:
                await self._fill(model, report)
                await self._build_index(model)
                if await self._switch(model):
                    break
            await self._drop_others(model.id, state["embedding_model"])
        log.info("collection moved", collection=str(self.collection.id), old=state["embedding_model"], new=model.id)

    async def prepare(self, model: EmbeddingModel, *, report: Report = report_nothing) -> None:
        """Embed the collection's chunks with the model beside its own, which its searches keep; `run` goes on there.

        Raises as `run` does.
        """
        async with self._alone():
            await self._begin(model)
            await self._fill(model, report)

    async def _begin(self, model: EmbeddingModel) -> Row:
        state = await self._state()
        if state["embedding_model"] == model.id:
            name = self.collection.name
            told = f"The collection {name!r} has the embedding model {model.id!r}."
            raise InvalidSettings(told, reason="same_model", collection=name, model=model.id)
        await self._drop_others(state["embedding_model"], state["previous_embedding_model"], model.id)
        return state

    async def _fill(self, model: EmbeddingModel, report: Report) -> None:
        """Embed chunks until none is missing; uploads with the collection's current model continue meanwhile."""
        while True:
            state = await self._state()
            missing = await self._count_missing(model, state)
            total, done, place = state["chunk_count"], max(0, state["chunk_count"] - missing), BEGINNING
            report(done, total)
            if not missing:
                return
            while rows := await self._find_missing(model, state, place):
                await self._embed(rows, model, state)
                done += len(rows)
                place = rows[-1]["document_id"], rows[-1]["chunk_index"]
                report(min(done, total), total)

    async def _switch(self, model: EmbeddingModel) -> bool:
        """False where so much has come in since that writers would wait for long."""
        async with self._transaction() as connection:
            (state,) = await fetch(connection, QUERIES["lock_state"], self._key())
            rows = await self._missing(connection, model, state, BEGINNING)
            if len(rows) == self.batch_size * BATCHES:
                return False
            await self._add(connection, rows, await self._embeddings(rows, model, state), model)
            await connection.execute(QUERIES["switch"], self._key(model=model.id))
        return True

    async def _embed(self, rows: Sequence[Row], model: EmbeddingModel, state: Row) -> None:
        embeddings = await self._embeddings(rows, model, state)
        async with self._transaction() as connection:
            await self._add(connection, rows, embeddings, model)

    async def _embeddings(
        self, rows: Sequence[Row], model: EmbeddingModel, state: Row
    ) -> Mapping[VectorKind, list[list[float]]]:
        plain = [
            embedded_text(row["context"], f"{row['overlap']}{row['content']}", is_table=bool(row["headers"]))
            for row in rows
        ]
        content = await self._embed_all(plain, model)
        if not state["has_contextual"]:
            return {"content": content}
        situated = [number for number, row in enumerate(rows) if row["situation"]]
        in_their_context = [contextual_text(rows[number]["situation"], plain[number]) for number in situated]
        in_context = dict(zip(situated, await self._embed_all(in_their_context, model), strict=True))
        return {
            "content": content,
            "contextual": [in_context.get(number, vector) for number, vector in enumerate(content)],
        }

    async def _embed_all(self, texts: Sequence[str], model: EmbeddingModel) -> list[list[float]]:
        found, failed = await embed_batches(texts, model, batch_size=self.batch_size, max_concurrency=BATCHES)
        if failed:
            raise ProviderError(f"{failed[0].cause}. What was embedded is kept: run it again to go on.")
        return [vector for vector in found if vector is not None]

    async def _add(
        self,
        connection: Connection,
        rows: Sequence[Row],
        embeddings: Mapping[VectorKind, list[list[float]]],
        model: EmbeddingModel,
    ) -> None:
        added = [
            self._key(**row, model=model.id, kind=kind, embedding=HalfVector(vector))
            for kind, of_kind in embeddings.items()
            for row, vector in zip(rows, of_kind, strict=True)
        ]
        async with connection.cursor() as cursor:
            await cursor.executemany(QUERIES["add_vector"], added)

    async def _build_index(self, model: EmbeddingModel) -> None:
        state = await self._state()
        if state["chunk_count"] <= search.EXACT_CHUNKS or model.dimensions > search.MOST_DIMENSIONS:
            return
        kinds: list[VectorKind] = ["content", "contextual"] if state["has_contextual"] else ["content"]
        async with maintenance(self.database) as connection:
            for kind in kinds:
                await search.build_index(connection, self.collection.id, model.id, model.dimensions, kind=kind)

    async def _drop_others(self, *models: str | None) -> None:
        async with self._transaction() as connection:
            await connection.execute(QUERIES["drop_others"], self._key(models=[model for model in models if model]))

    async def _state(self) -> Row:
        async with self._transaction() as connection:
            rows = await fetch(connection, QUERIES["read_state"], self._key())
        if not rows:
            name = self.collection.name
            raise CollectionNotFound(f"There is no collection {name!r}.", name=name, known=[])
        return rows[0]

    async def _count_missing(self, model: EmbeddingModel, state: Row) -> int:
        values = self._key(model=model.id, kinds=_kinds(state))
        async with self._transaction() as connection:
            (row,) = await fetch(connection, QUERIES["count_missing"], values)
        return int(row["chunks"])

    async def _find_missing(self, model: EmbeddingModel, state: Row, place: tuple[UUID, int]) -> list[dict[str, Any]]:
        async with self._transaction() as connection:
            return await self._missing(connection, model, state, place)

    async def _missing(
        self, connection: Connection, model: EmbeddingModel, state: Row, place: tuple[UUID, int]
    ) -> list[dict[str, Any]]:
        document_id, chunk_index = place
        return await fetch(
            connection,
            QUERIES["find_missing"],
            self._key(
                model=model.id,
                kinds=_kinds(state),
                document_id=document_id,
                chunk_index=chunk_index,
                limit=self.batch_size * BATCHES,
            ),
        )

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        async with self.database.try_lock(QUERIES["lock_migration"], self._key()) as is_free:
            if not is_free:
                name = self.collection.name
                told = f"The collection {name!r} is moving to another embedding model already."
                raise InvalidSettings(told, reason="model_changing", collection=name)
            yield

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Connection]:
        async with self.database.transaction(self.collection.owner_id) as connection:
            yield connection

    def _key(self, **values: Any) -> dict[str, Any]:
        return {"collection_id": self.collection.id, **values}


def _kinds(state: Row) -> int:
    return 2 if state["has_contextual"] else 1

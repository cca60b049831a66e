"""A collection moves to another embedding model: whole, at once, and back."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CollectionChanged, CollectionNotFound, InvalidSettings, ProviderError
from graphrag.ingestion.contextualization import TABLE_CHARS, embedded_text
from graphrag.ingestion.reembedding import BATCHES, EmbeddingMigration
from graphrag.models import Chunk, Collection, Document
from graphrag.models.ingestion import IndexedDocument
from graphrag.services import Services, open_services
from graphrag.stores.postgres import search
from graphrag.testing.in_memory_store import FailingEmbeddings
from tests.benchmarks import reembedding
from tests.factories import make_chunk, make_document
from tests.graphrag.embeddings.stubborn import ScriptedEmbeddings, make_model

WORDS = ["horno", "gas", "pieza"]


class Counting(ScriptedEmbeddings):
    """How often each of the words is in a text, and its length; in an order of its own, so that models differ."""

    def __init__(self, order: Sequence[int]) -> None:
        super().__init__()
        self.order = order
        self.before: Callable[[], None] | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        if self.before:
            self.before()
        counts = [[*(float(text.count(word)) for word in WORDS), len(text) / 100, 0.0] for text in texts]
        return [[count[place] for place in self.order] for count in counts]


def model(name: str, order: Sequence[int]) -> EmbeddingModel:
    return replace(make_model(dimensions=len(order)), id=name, embeddings=Counting(order))


OLD, NEW, NEWER = model("old", [0, 1, 2, 3]), model("new", [3, 2, 1, 0, 4]), model("newer", [1, 0, 3, 2])


@dataclass
class Moving:
    services: Services
    collection: Collection

    @property
    def migration(self) -> EmbeddingMigration:
        return EmbeddingMigration(self.services.database, self.collection, batch_size=5)

    async def refresh(self) -> Collection:
        self.collection = await self.services.collections.open(self.collection.owner_id, self.collection.name)
        return self.collection

    async def put(
        self,
        *texts: str,
        model: EmbeddingModel = OLD,
        situations: Sequence[str | None] | None = None,
        headers: tuple[str, ...] = (),
        **fields: Any,
    ) -> Document:
        """As the pipeline does: with an overlap of five characters."""
        document = make_document(collection_id=self.collection.id, title="Título", **fields)
        text, chunks = "".join(texts), list[Chunk]()
        for index, content in enumerate(texts):
            start = sum(map(len, texts[:index]))
            chunks.append(
                make_chunk(
                    content, document=document, index=index, start_char=start, window_start=max(0, start - 5),
                    context=f"Título › {index}", headers=headers,
                )
            )  # fmt: skip
        embedded = [
            embedded_text(chunk.context, text[chunk.window_start : chunk.end_char], is_table=bool(headers))
            for chunk in chunks
        ]
        plain = await model.embed(embedded)
        in_context = None
        if situations:
            told = zip(situations, embedded, strict=True)
            in_context = await model.embed([f"{said}\n{text}" if said else text for said, text in told])
        indexed = IndexedDocument(document, chunks, plain, in_context, situations=situations)
        await self.services.store.put_documents(self.collection, [indexed])
        return document

    async def kept(self) -> dict[str, dict[tuple[Any, str], list[float]]]:
        """By model: by chunk and kind."""
        query = "SELECT chunk_id, model, kind, embedding FROM chunk_embeddings WHERE collection_id = %s"
        found: dict[str, dict[tuple[Any, str], list[float]]] = {}
        async with self.services.database.transaction(self.collection.owner_id) as connection:
            for row in await (await connection.execute(query, [self.collection.id])).fetchall():
                vector: Any = row["embedding"]
                found.setdefault(str(row["model"]), {})[row["chunk_id"], str(row["kind"])] = vector.to_list()
        return found

    async def near(self, text: str, model: EmbeddingModel, limit: int = 3) -> list[str]:
        (vector,) = await model.embed([text])
        found = await self.services.store.search_vectors(await self.refresh(), vector, limit=limit)
        return [hit.chunk.content for hit in found]


def calls(model: EmbeddingModel) -> list[list[str]]:
    assert isinstance(model.embeddings, Counting)
    return model.embeddings.calls


def fresh(model: EmbeddingModel) -> EmbeddingModel:
    assert isinstance(model.embeddings, Counting)
    return replace(model, embeddings=Counting(model.embeddings.order))


@pytest.fixture
async def moving(services: Services, owner: str) -> Moving:
    return Moving(services, await services.store.create_collection(owner, "notes", embedding_model="old"))


def alike(found: dict[Any, list[float]], other: dict[Any, list[float]]) -> bool:
    """The same of each chunk, but for the order that is each model's own."""
    return found.keys() == other.keys() and all(
        [found[key][place] for place in (0, 1, 2, 3)] == [other[key][place] for place in (3, 2, 1, 0)] for key in found
    )


async def test_every_chunk_is_embedded_as_it_was_when_it_came_in(moving: Moving) -> None:
    """R3.8 with its headings and its overlap; searched with the new model from then on; the old vectors stay."""
    for number in range(4):
        await moving.put(*[f"El horno {number}. ", "Una pieza de gas. ", "Nada más."] * 3)
    told: list[tuple[int, int]] = []
    revision = (await moving.refresh()).revision
    new = fresh(NEW)
    await moving.migration.run(new, report=lambda done, total: told.append((done, total)))
    assert (await moving.refresh()).embedding_model == "new"
    assert moving.collection.revision > revision
    kept = await moving.kept()
    assert len(kept["new"]) == len(kept["old"]) == 36
    assert alike(kept["old"], kept["new"])
    assert await moving.near("gas gas", NEW) == await moving.near("gas gas", NEW)
    assert told[0] == (0, 36)
    assert told[-1] == (36, 36)
    assert told == sorted(told)
    assert max(len(batch) for batch in calls(new)) == 5


async def test_the_first_rows_of_a_table_are_embedded(moving: Moving) -> None:
    """R3.8, R2.3 as they were when it came in: rows are alike, and full text finds each of them."""
    rows = "Pieza: gas; Horno: 7\n" * 40
    assert embedded_text("Hoja", rows, is_table=True) == f"Hoja\n{rows[:TABLE_CHARS]}"
    await moving.put(rows, rows, headers=("Pieza", "Horno"))
    new = fresh(NEW)
    await moving.migration.run(new)
    assert max(len(text) for batch in calls(new) for text in batch) < TABLE_CHARS + 20
    kept = await moving.kept()
    assert alike(kept["old"], kept["new"])


async def test_vectors_can_be_had_before_the_collection_moves(moving: Moving) -> None:
    """R3.8 to measure the other model; a move then goes on from there."""
    await moving.put("El horno 7. ", "Gas.")
    new = fresh(NEW)
    await moving.migration.prepare(new)
    assert (await moving.refresh()).embedding_model == "old"
    assert len((await moving.kept())["new"]) == 2
    asked = len(calls(new))
    await moving.migration.run(new)
    assert len(calls(new)) == asked
    assert (await moving.refresh()).embedding_model == "new"
    with pytest.raises(InvalidSettings):
        await moving.migration.prepare(new)


async def test_it_goes_on_where_it_was(moving: Moving) -> None:
    """R3.8 what was embedded is kept when a provider fails; the collection is still the old model's."""
    for number in range(8):
        await moving.put(*[f"El horno {number}. ", "Gas."] * 5)
    broken = fresh(NEW)
    assert isinstance(broken.embeddings, Counting)

    def fail_in_the_middle() -> None:
        if len(calls(broken)) > BATCHES * 2:
            raise ValueError("the model is gone, on purpose")

    broken.embeddings.before = fail_in_the_middle
    with pytest.raises(ProviderError, match="run it again to go on"):
        await moving.migration.run(broken)
    assert (await moving.refresh()).embedding_model == "old"
    assert len((await moving.kept())["new"]) == 2 * BATCHES * 5
    again = fresh(NEW)
    await moving.migration.run(again)
    assert sum(map(len, calls(again))) == 80 - 2 * BATCHES * 5
    kept = await moving.kept()
    assert alike(kept["old"], kept["new"])


async def test_it_goes_back_with_what_came_since(moving: Moving) -> None:
    """R3.8 --rollback: only what the old model has not seen is embedded; and forth again."""
    await moving.put("El horno. ", "El gas.")
    await moving.migration.run(NEW)
    await moving.refresh()
    await moving.put("La pieza.", model=NEW)
    assert await moving.migration.previous_model() == "old"
    old = fresh(OLD)
    await moving.migration.run(old)
    assert (await moving.refresh()).embedding_model == "old"
    assert calls(old) == [["Título › 0\nLa pieza."]]
    kept = await moving.kept()
    assert len(kept["old"]) == 3
    assert alike(kept["old"], kept["new"])
    assert await moving.migration.previous_model() == "new"
    new = fresh(NEW)
    await moving.migration.run(new)
    assert calls(new) == []


async def test_there_is_no_way_back_from_the_first_model(moving: Moving) -> None:
    with pytest.raises(InvalidSettings, match="notes"):
        await moving.migration.previous_model()


async def test_vectors_that_nobody_goes_back_to_are_removed(moving: Moving) -> None:
    """R3.8 neither the current model's nor the previous one's; also those of a move that was given up."""
    await moving.put("El horno. ", "El gas.")
    await moving.migration.run(NEW)
    assert set(await moving.kept()) == {"old", "new"}
    await moving.migration.run(NEWER)
    assert set(await moving.kept()) == {"new", "newer"}
    broken = replace(OLD, embeddings=FailingEmbeddings())
    with pytest.raises(ProviderError):
        await moving.migration.run(broken)
    assert set(await moving.kept()) == {"new", "newer"}


async def test_whoever_uploads_meanwhile_is_told(moving: Moving) -> None:
    """R3.8 what comes in before the switch is moved too; with the old model's vectors nothing comes in after it."""
    await moving.put("El horno.")
    new, loop = fresh(NEW), asyncio.get_running_loop()
    assert isinstance(new.embeddings, Counting)
    late = iter(range(3))

    def upload() -> None:
        if (number := next(late, None)) is not None:
            asyncio.run_coroutine_threadsafe(moving.put(f"Tarde {number}."), loop).result(20)

    new.embeddings.before = upload
    await moving.migration.run(new)
    kept = await moving.kept()
    assert len(kept["new"]) == 4
    assert alike(kept["old"], kept["new"])
    with pytest.raises(CollectionChanged, match="from the embedding model 'old' to 'new'"):
        await moving.put("Demasiado tarde.")
    await moving.refresh()
    await moving.put("A tiempo.", model=NEW)
    assert len((await moving.kept())["new"]) == 5


async def test_a_document_that_is_replaced_meanwhile_gets_no_vector_of_the_old_text(moving: Moving) -> None:
    """R3.8 also where its chunks have the ids of those before."""
    first = await moving.put("El horno viejo.", source="a")
    gone = await moving.put("La pieza.", source="b")
    new, loop = fresh(NEW), asyncio.get_running_loop()
    assert isinstance(new.embeddings, Counting)
    (hit,) = await moving.services.store.search_fulltext(moving.collection, ["viejo"], limit=1)

    async def replace_and_delete() -> None:
        document = replace(first)
        chunk = replace(hit.chunk, content="gas gas gas gas", end_char=15, document=document)
        (vector,) = await OLD.embed([f"{chunk.context}\ngas gas gas gas"])
        await moving.services.store.put_documents(moving.collection, [IndexedDocument(document, [chunk], [vector])])
        await moving.services.store.delete_document(moving.collection, gone.id)

    def interfere() -> None:
        new.embeddings.before = None  # type: ignore[attr-defined]  # it is a Counting
        asyncio.run_coroutine_threadsafe(replace_and_delete(), loop).result(20)

    new.embeddings.before = interfere
    await moving.migration.run(new)
    kept = await moving.kept()
    assert list(kept["new"]) == [(hit.chunk.id, "content")]
    assert alike(kept["old"], kept["new"])
    assert kept["new"][hit.chunk.id, "content"][2] == 4.0


async def test_vectors_in_context_move_too(moving: Moving) -> None:
    """R3.7, R3.8 with what was said of a chunk then, and without asking again."""
    await moving.put("El horno. ", "El gas.", situations=["De la pieza.", None])
    await moving.refresh()
    await moving.put("Sin contexto.")
    await moving.migration.run(NEW)
    kept = await moving.kept()
    assert len(kept["new"]) == 6
    assert alike(kept["old"], kept["new"])
    in_context = [vector for (_, kind), vector in kept["new"].items() if kind == "contextual"]
    assert sorted(vector[1] for vector in in_context) == [0.0, 0.0, 1.0]


async def test_two_moves_of_one_collection_do_not_meet(moving: Moving) -> None:
    """R3.8"""
    await moving.put("El horno.")
    new, loop = fresh(NEW), asyncio.get_running_loop()
    assert isinstance(new.embeddings, Counting)
    refused = []

    def start_another() -> None:
        try:
            asyncio.run_coroutine_threadsafe(moving.migration.run(NEWER), loop).result(20)
        except InvalidSettings as exc:
            refused.append(str(exc))

    new.embeddings.before = start_another
    await moving.migration.run(new)
    assert refused == ["The collection 'notes' is moving to another embedding model already."]
    assert (await moving.refresh()).embedding_model == "new"
    await moving.migration.run(NEWER)
    assert (await moving.refresh()).embedding_model == "newer"


async def test_moves_that_are_none_are_refused(moving: Moving) -> None:
    """R3.8, R4.8"""
    await moving.put("El horno.")
    with pytest.raises(InvalidSettings, match="has the embedding model 'old'"):
        await moving.migration.run(OLD)
    stranger = replace(moving.migration, collection=replace(moving.collection, owner_id="somebody-else"))
    for attempt in (stranger.run(NEW), stranger.previous_model()):
        with pytest.raises(CollectionNotFound):
            await attempt
    assert set(await moving.kept()) == {"old"}


async def test_an_empty_collection_just_changes_its_model(moving: Moving) -> None:
    await moving.migration.run(NEW)
    assert (await moving.refresh()).embedding_model == "new"


@pytest.mark.slow
async def test_a_big_collection_has_its_index_before_the_switch(
    make_database: Callable[[], str], owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3.8 no search is slower afterwards."""
    monkeypatch.setattr(search, "EXACT_CHUNKS", 10)
    services = open_services(Settings.from_environment(database_url=SecretStr(make_database())))
    moving = Moving(services, await services.store.create_collection(owner, "notes", embedding_model="old"))
    await moving.put(*[f"El horno {number}. " for number in range(30)])
    await moving.migration.run(NEW)
    async with services.database.transaction(owner) as connection:
        found = await connection.execute("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%%hnsw%%'")
        definitions = [str(row["indexdef"]) for row in await found.fetchall()]
    assert len(definitions) == 1
    assert "'new'" in definitions[0]
    assert "halfvec(5)" in definitions[0]
    await services.close()


@pytest.mark.slow
async def test_no_search_fails_while_a_collection_moves(make_database: Callable[[], str], owner: str) -> None:
    """R3.8 2,000 chunks, 4 clients, uploads: 0 failed searches, results of one model at a time."""
    settings = Settings.from_environment(database_url=SecretStr(make_database()), query_cache_seconds=0)
    services = open_services(settings, embeddings=reembedding.two_models(seconds_a_batch=0.05))
    collection = await services.store.create_collection(owner, "moving", embedding_model=reembedding.OLD)
    await reembedding.fill(services, collection, 2_000)
    report = await reembedding.move_under_load(services, collection, searchers=4)
    assert report.failures == []
    assert report.strange == 0
    assert report.searches[reembedding.OLD] > 10
    assert report.searches[reembedding.NEW] > 10
    assert report.uploads > 0
    moved = Moving(services, collection)
    kept = await moved.kept()
    assert len(kept[reembedding.NEW]) == 2_000 + report.uploads
    await services.close()

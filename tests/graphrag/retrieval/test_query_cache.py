"""Results of searches, kept for a while."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry
from graphrag.models import EVERYTHING, Collection, Filters, Hit
from graphrag.models.ingestion import IndexedDocument
from graphrag.query_transformation.transformation import transform
from graphrag.retrieval import hybrid
from graphrag.retrieval.hybrid import UNCACHED, QueryCache
from graphrag.retrieval.query import Retrieval
from graphrag.testing.in_memory_store import InMemoryStore
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document, make_hit, make_pipeline, make_query
from tests.graphrag.embeddings.stubborn import failing

QUESTION = "¿Qué le pasó al horno?"


class CountingStore(InMemoryStore):
    """Counts its searches by words, of which every search that is made has one."""

    def __init__(self) -> None:
        super().__init__()
        self.searches = 0

    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        self.searches += 1
        return await super().search_fulltext(collection, words, **options)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Bench:
    def __init__(self, store: CountingStore, collection: Collection, model: EmbeddingModel, seconds: float) -> None:
        self.store, self.collection, self.model, self.clock = store, collection, model, Clock()
        self.cache = QueryCache(seconds, clock=self.clock)

    async def put(self, text: str, **fields: Any) -> None:
        document = make_document(collection_id=self.collection.id, **fields)
        vectors = await self.model.embed([text])
        await self.store.put_documents(self.collection, [IndexedDocument(document, tile(document, [text]), vectors)])

    async def refreshed(self) -> Collection:
        (collection,) = await self.store.list_collections(self.collection.owner_id)
        return collection

    async def retrieve(
        self,
        question: str = QUESTION,
        *,
        collection: Collection | None = None,
        filters: Filters = EVERYTHING,
        **config: Any,
    ) -> Retrieval:
        return await self.cache.retrieve(
            make_query(
                transform(question), collection or await self.refreshed(), model=self.model, filters=filters, **config
            ),
            store=self.store,
        )


async def make_bench(registry: EmbeddingRegistry, seconds: float) -> Bench:
    store = CountingStore()
    collection = await store.create_collection("me", "notes", embedding_model="bundled")
    bench = Bench(store, collection, registry.get("bundled"), seconds)
    await bench.put("El horno se paró.")
    await bench.put("El horno arrancó.")
    return bench


@pytest.fixture
async def bench(registry: EmbeddingRegistry) -> Bench:
    return await make_bench(registry, 300)


def lookups(outcome: str) -> float:
    return REGISTRY.get_sample_value("causeway_cache_lookups_total", {"cache": "query", "outcome": outcome}) or 0.0


async def test_the_same_search_is_made_once(bench: Bench) -> None:
    """R4.9; R11.2 the hit rate is counted."""
    before = lookups("hit"), lookups("miss")
    first, second, third = [await bench.retrieve() for _ in range(3)]
    assert first == second == third
    assert len(first.hits) == 2
    assert bench.store.searches == 1
    assert (lookups("hit") - before[0], lookups("miss") - before[1]) == (2, 1)


async def test_a_result_is_kept_for_its_seconds(bench: Bench) -> None:
    """R4.9 5 minutes."""
    await bench.retrieve()
    bench.clock.now = 299
    await bench.retrieve()
    assert bench.store.searches == 1
    bench.clock.now = 301
    await bench.retrieve()
    assert bench.store.searches == 2


async def test_a_change_of_the_collection_drops_what_was_found(bench: Bench) -> None:
    """R4.9, R1.8: a new document is found at once, a deleted one is gone at once."""
    await bench.retrieve()
    await bench.put("El horno explotó.")
    found = await bench.retrieve()
    assert len(found.hits) == 3
    await bench.store.delete_document(bench.collection, found.hits[0].chunk.document.id)
    assert found.hits[0].chunk.id not in {hit.chunk.id for hit in (await bench.retrieve()).hits}
    assert bench.store.searches == 3


@pytest.mark.parametrize(
    "other",
    [
        {"question": "¿Qué le pasó al horno H2?"},
        {"filters": Filters(languages=("es",))},
        {"strategy": "fulltext"},
        {"fulltext_ranking": "ts_rank_cd"},
        {"fusion": "rrf"},
        {"fusion": "rrf", "rrf_k": 1},
        {"vector_weight": 0.5},
        {"candidates_per_leg": 51},
    ],
)
async def test_whatever_changes_the_result_is_another_search(bench: Bench, other: dict[str, Any]) -> None:
    """R4.9"""
    await bench.retrieve()
    await bench.retrieve(**other)
    assert bench.store.searches == 2


@pytest.mark.parametrize("other", [{"rerank": False}, {"rerank_candidates": 3}, {"window_sentences": 0}, {"top_k": 3}])
async def test_chat_and_search_share_what_only_later_stages_change(bench: Bench, other: dict[str, Any]) -> None:
    """R4.9"""
    assert await bench.retrieve() == await bench.retrieve(**other)
    assert bench.store.searches == 1


async def test_nobody_sees_what_another_found(bench: Bench) -> None:
    """R4.8, R4.9, security 5: per owner, even under the same collection id."""
    collection = await bench.refreshed()
    assert len((await bench.retrieve(collection=collection)).hits) == 2
    assert (await bench.retrieve(collection=replace(collection, owner_id="somebody-else"))).hits == []


async def test_an_expired_document_is_not_found_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.8 gone from every search at that second, also from a result that was kept."""
    soon = datetime.now(UTC) + timedelta(hours=1)
    await bench.put("El horno de prueba.", expires_at=soon)
    assert len((await bench.retrieve()).hits) == 3

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Later":
            return cls.fromtimestamp(soon.timestamp(), tz)

    monkeypatch.setattr(hybrid, "datetime", Later)
    assert len((await bench.retrieve()).hits) == 2
    assert bench.store.searches == 1


async def test_what_failed_in_part_is_not_kept(bench: Bench) -> None:
    """R4.9, R11.1 when the embedder is back, it counts at once."""
    model = bench.model
    bench.model = failing(model)
    assert (await bench.retrieve()).failed == ("vector",)
    bench.model = model
    assert (await bench.retrieve()).failed == ()
    assert bench.store.searches == 2


async def test_what_a_caller_does_to_its_hits_is_its_own(bench: Bench) -> None:
    for _ in range(2):
        (await bench.retrieve()).hits.clear()
    assert len((await bench.retrieve()).hits) == 2


async def test_it_can_be_off(registry: EmbeddingRegistry) -> None:
    """R4.9 RAG_QUERY_CACHE_SECONDS=0."""
    bench = await make_bench(registry, 0)
    before = lookups("miss")
    assert await bench.retrieve() == await bench.retrieve()
    assert bench.store.searches == 2
    assert lookups("miss") == before


async def test_memory_is_bounded(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """R4.9 the oldest results go first."""
    many = [make_hit() for _ in range(999)]

    async def find(query: object, **options: object) -> Retrieval:
        bench.store.searches += 1
        return Retrieval(many)

    monkeypatch.setattr(hybrid, "search_collection", find)
    for number in range(11):
        await bench.retrieve(f"¿Qué le pasó al horno {number}?")
    await bench.retrieve("¿Qué le pasó al horno 10?")
    assert bench.store.searches == 11
    await bench.retrieve("¿Qué le pasó al horno 0?")
    assert bench.store.searches == 12


async def test_a_search_uses_it(bench: Bench) -> None:
    """R4.9 reranking is done anew: the reranker may be another."""

    async def once(cache: QueryCache) -> list[Hit]:
        query = make_query(transform(QUESTION), await bench.refreshed(), model=bench.model)
        found = await make_pipeline(bench.store, cache=cache).search(query)
        return found.hits

    assert await once(bench.cache) == await once(bench.cache) == await once(UNCACHED)
    assert bench.store.searches == 2

"""The whole of retrieval, from a question to hits."""

from collections.abc import Sequence
from typing import Any

import pytest

from graphrag.config.settings import RetrievalConfig
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import EVERYTHING, Collection, Filters, Hit
from graphrag.models.ingestion import IndexedDocument
from graphrag.protocols import Reranker
from graphrag.query_transformation.transformation import transform
from graphrag.rerankers.bundled import BundledReranker
from graphrag.retrieval.query import SearchResult
from graphrag.testing.in_memory_store import InMemoryStore
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document, make_pipeline, make_query

QUESTION = "¿Cuántas galletas salieron del horno?"
COUNT = 30


class Reversing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        judged = [Hit(hit.chunk, place / len(hits), hit.scores) for place, hit in enumerate(hits, start=1)]
        return judged[::-1][:top_k]


class Failing:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise TimeoutError("down, on purpose")


class Shelf:
    """Thirty documents about galletas, each a little longer than the one before."""

    def __init__(self, store: InMemoryStore, collection: Collection, registry: EmbeddingRegistry) -> None:
        self.store, self.collection, self.registry = store, collection, registry

    async def search(
        self,
        question: str = QUESTION,
        *,
        reranker: Reranker | None = None,
        config: Any = None,
        filters: Filters = EVERYTHING,
        **options: Any,
    ) -> SearchResult:
        model = self.registry.get("bundled")
        query = make_query(transform(question), self.collection, model=model, filters=filters, **config or {})
        return await make_pipeline(self.store, reranker=reranker or BundledReranker()).search(query, **options)


@pytest.fixture
async def shelf(registry: EmbeddingRegistry) -> Shelf:
    store = InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model="bundled")
    documents = []
    for number in range(COUNT):
        text = "Las galletas del horno. " + "Otra frase cualquiera. " * number
        document = make_document(collection_id=collection.id, filename=f"turno-{number}.md")
        vectors = await registry.get("bundled").embed([text])
        documents.append(IndexedDocument(document, tile(document, [text]), vectors))
    await store.put_documents(collection, documents)
    return Shelf(store, collection, registry)


def ids(found: SearchResult) -> list[object]:
    return [hit.chunk.id for hit in found.hits]


async def test_hits_are_reranked_and_limited(shelf: Shelf) -> None:
    """R4.7 10 by default; R4.10 the configuration and the strategy come with them."""
    found = await shelf.search()
    assert len(found.hits) == 10
    assert {"fulltext", "vector", "fusion", "rerank"} <= set(found.hits[0].scores)
    assert (found.failed, found.strategy, found.warnings, found.config) == ((), "hybrid", (), RetrievalConfig())


@pytest.mark.parametrize("config", [{"rerank": False}, {"rerank": True}, {"rerank_candidates": 5}])
async def test_pages_together_are_the_whole_list(shelf: Shelf, config: dict[str, Any]) -> None:
    """R4.7 offset: no hit twice, none left out, across what was reranked and what was not."""
    whole = await shelf.search(config={"top_k": COUNT, **config, "rerank_candidates": 10})
    pages = [
        await shelf.search(config={"top_k": 7, **config, "rerank_candidates": 10}, offset=offset)
        for offset in range(0, COUNT, 7)
    ]
    together = [hit for page in pages for hit in ids(page)]
    assert len(together) == len(set(together)) == COUNT
    assert set(together) == set(ids(whole))
    if not config.get("rerank", True):
        assert together == ids(whole)


async def test_the_depth_of_the_search_follows_the_offset(shelf: Shelf) -> None:
    """R4.7 beyond candidates_per_leg too."""
    found = await shelf.search(config={"candidates_per_leg": 5, "top_k": 4}, offset=20)
    assert len(found.hits) == 4


async def test_hits_below_the_lowest_score_are_left_out(shelf: Shelf) -> None:
    """R4.7 min_score, before the offset."""
    every = await shelf.search(config={"top_k": COUNT, "rerank_candidates": COUNT})
    bar = every.hits[4].score
    found = await shelf.search(config={"top_k": COUNT, "rerank_candidates": COUNT}, min_score=bar, offset=1)
    assert ids(found) == [hit.chunk.id for hit in every.hits if hit.score >= bar][1:]
    assert (await shelf.search(min_score=1.0)).hits == []


async def test_reranking_can_be_off_or_fail(shelf: Shelf) -> None:
    """R5.2 disabled or failed → the order of the search."""
    off = await shelf.search(config={"rerank": False})
    failing = await shelf.search(reranker=Failing())
    assert ids(failing) == ids(off)
    assert (off.failed, failing.failed) == ((), ("rerank",))


async def test_as_many_as_configured_are_judged(shelf: Shelf) -> None:
    """R4.10 top-k per stage: the others keep their places after them."""
    off = await shelf.search(config={"rerank": False, "top_k": 6})
    found = await shelf.search(reranker=Reversing(), config={"rerank_candidates": 4, "top_k": 3})
    assert ids(found) == ids(off)[:4][::-1][:3]
    more = await shelf.search(reranker=Reversing(), config={"rerank_candidates": 4, "top_k": 2}, offset=4)
    assert ids(more) == ids(off)[4:6]


async def test_each_named_file_is_among_the_first(shelf: Shelf) -> None:
    """R8.7, R4.5 whatever the reranker makes of them."""
    question = "Compara las galletas de turno-3.md y turno-29.md"
    for reranker in (BundledReranker(), Reversing(), Failing()):
        found = await shelf.search(question, reranker=reranker, config={"top_k": 2})
        assert {hit.chunk.document.filename for hit in found.hits} == {"turno-3.md", "turno-29.md"}


async def test_filters_and_warnings_reach_the_result(shelf: Shelf) -> None:
    """R4.5"""
    filters = Filters(filenames=("turno-1.md", "turno-2.md"))
    found = await shelf.search(filters=filters)
    assert {hit.chunk.document.filename for hit in found.hits} == set(filters.filenames)
    assert "nada.pdf" in (await shelf.search("¿Y las galletas de nada.pdf?")).warnings[0]


async def test_identical_input_has_identical_order(shelf: Shelf) -> None:
    """R4.6 P4"""
    assert ids(await shelf.search()) == ids(await shelf.search())


@pytest.mark.parametrize(
    ("question", "is_cut", "is_selected"),
    [
        (QUESTION, True, True),
        ("¿Por qué se quemaron las galletas?", False, True),
        ("¿Cuántas galletas salieron del horno y quién limpió el molino?", False, False),
        ("¿Cuándo nació la directora de la empresa que compró el horno?", False, False),
    ],
)
async def test_only_simple_questions_read_less(shelf: Shelf, question: str, is_cut: bool, is_selected: bool) -> None:
    """R8.2: each part or step of a question has hits of its own; each link of a chain is quoted."""
    query = make_query(transform(question), shelf.collection, model=shelf.registry.get("bundled"))
    window, _ = make_pipeline(shelf.store).expansion_window(query, question=question, files=())
    assert (window.question is not None, window.least_share > 0) == (is_cut, is_selected)
    window, _ = make_pipeline(shelf.store).expansion_window(query, question=question, files=("turno-1.md",))
    assert (window.question, window.least_share) == (None, 0.0)

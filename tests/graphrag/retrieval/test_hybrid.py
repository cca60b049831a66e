"""Both legs of the search, and either alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry
from graphrag.errors import DatabaseUnavailable, RetrievalUnavailable
from graphrag.models import Collection, Hit, IndexedDocument, Intent, TransformedQuery
from graphrag.retrieval import hybrid
from graphrag.settings import RetrievalConfig
from graphrag.testing import FailingEmbeddings, InMemoryStore
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document

TEXTS = ["El compresor C3 perdió presión.", "La mantequilla llegó tarde.", "El horno H2 quemó las galletas."]


class NoFulltext(InMemoryStore):
    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        raise DatabaseUnavailable("down, on purpose")


class Buggy(InMemoryStore):
    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        raise KeyError("a defect of ours")


class Bench:
    def __init__(self, store: InMemoryStore, collection: Collection, model: EmbeddingModel) -> None:
        self.store, self.collection, self.model = store, collection, model

    async def retrieve(self, question: str, *parts: str) -> hybrid.Retrieval:
        query = TransformedQuery(question, "es", Intent.FACTUAL, parts)
        return await hybrid.retrieve(
            query, store=self.store, collection=self.collection, model=self.model, config=RetrievalConfig()
        )


async def make_bench(store: InMemoryStore, model: EmbeddingModel) -> Bench:
    collection = await store.create_collection("me", "notes", embedding_model=model.id)
    vectors = await model.embed(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        document = make_document(collection_id=collection.id)
        await store.put_documents(collection, [IndexedDocument(document, tile(document, [text]), [vector])])
    return Bench(store, collection, model)


@pytest.fixture
async def bench(registry: EmbeddingRegistry) -> Bench:
    return await make_bench(InMemoryStore(), registry.get("bundled"))


async def test_both_legs_are_fused(bench: Bench) -> None:
    """R4.1, R4.7 the scores of each stage."""
    found = await bench.retrieve("¿Qué le pasó al compresor C3?")
    assert found.hits[0].chunk.content == TEXTS[0]
    assert set(found.hits[0].scores) == {"fulltext", "vector", "fusion"}
    assert found.failed == ()


async def test_embedder_down_leaves_full_text(bench: Bench) -> None:
    """R4.1, R11.1."""
    bench.model = replace(bench.model, embeddings=FailingEmbeddings())
    found = await bench.retrieve("compresor")
    assert [hit.chunk.content for hit in found.hits] == [TEXTS[0]]
    assert found.failed == ("vector",)


async def test_full_text_down_leaves_vectors(registry: EmbeddingRegistry) -> None:
    """R4.1, R11.1."""
    bench = await make_bench(NoFulltext(), registry.get("bundled"))
    found = await bench.retrieve("compresor")
    assert found.hits[0].chunk.content == TEXTS[0]
    assert found.failed == ("fulltext",)


async def test_both_down_is_an_error(registry: EmbeddingRegistry) -> None:
    bench = await make_bench(NoFulltext(), registry.get("bundled"))
    bench.model = replace(bench.model, embeddings=FailingEmbeddings())
    with pytest.raises(RetrievalUnavailable, match="on purpose"):
        await bench.retrieve("compresor")


async def test_defect_is_not_taken_for_an_outage(registry: EmbeddingRegistry) -> None:
    bench = await make_bench(Buggy(), registry.get("bundled"))
    with pytest.raises(KeyError):
        await bench.retrieve("compresor")


async def test_nothing_found_is_empty(registry: EmbeddingRegistry) -> None:
    """R4.1 both empty gives empty."""
    store = InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model="bundled")
    found = await Bench(store, collection, registry.get("bundled")).retrieve("compresor")
    assert (found.hits, found.failed) == ([], ())


async def test_every_part_of_a_question_is_searched(bench: Bench) -> None:
    """R8.7 the first two places go to the two parts."""
    found = await bench.retrieve("¿Qué compresor falló y qué llegó tarde?", "qué compresor falló", "qué llegó tarde")
    assert {hit.chunk.content for hit in found.hits[:2]} == set(TEXTS[:2])


@pytest.mark.parametrize("question", ['"mantequilla llegó"', "«mantequilla llegó»", "“mantequilla llegó”"])
async def test_quoted_words_are_a_phrase(bench: Bench, question: str) -> None:
    """R4.3: full text holds to the phrase; vectors may add."""
    words = await bench.store.search_fulltext(bench.collection, ["compresor", "mantequilla"], limit=9)
    assert len(words) == 2
    found = await bench.retrieve(f"compresor {question}")
    assert [hit.chunk.content for hit in found.hits if "fulltext" in hit.scores] == [TEXTS[1]]


async def test_question_without_words_finds_nothing(bench: Bench) -> None:
    assert (await bench.retrieve("¿?")).failed == ()

"""Both legs of the search, and either alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry
from graphrag.errors import DatabaseUnavailable, RetrievalUnavailable
from graphrag.models import EVERYTHING, Collection, Filters, Hit, Intent, TransformedQuery
from graphrag.models.ingestion import IndexedDocument
from graphrag.retrieval import hybrid
from graphrag.retrieval.hybrid import QueryCache
from graphrag.retrieval.query import Retrieval
from graphrag.testing.in_memory_store import InMemoryStore
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document, make_query
from tests.graphrag.embeddings.stubborn import failing

TEXTS = ["El compresor C3 perdió presión.", "La mantequilla llegó tarde.", "El horno H2 quemó las galletas."]
FILES = ["taller.md", "Compras de marzo.pdf", "producción.xlsx"]


class NoFulltext(InMemoryStore):
    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        raise DatabaseUnavailable("down, on purpose")


class Buggy(InMemoryStore):
    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        raise KeyError("a defect of ours")


class NoVectors(InMemoryStore):
    async def search_vectors(self, collection: Collection, vector: Sequence[float], **options: Any) -> list[Hit]:
        raise DatabaseUnavailable("down, on purpose")


class NoNames(InMemoryStore):
    async def find_filenames(self, collection: Collection, names: Sequence[str]) -> list[str]:
        raise DatabaseUnavailable("down, on purpose")


class Bench:
    def __init__(self, store: InMemoryStore, collection: Collection, model: EmbeddingModel) -> None:
        self.store, self.collection, self.model = store, collection, model

    async def retrieve(
        self, question: str, *parts: str, filters: Filters = EVERYTHING, strategy: str = "hybrid", **config: Any
    ) -> Retrieval:
        query = TransformedQuery(question, "es", Intent.FACTUAL, parts)
        return await hybrid.search_collection(
            make_query(query, self.collection, model=self.model, filters=filters, strategy=strategy, **config),
            store=self.store,
        )


async def make_bench(store: InMemoryStore, model: EmbeddingModel) -> Bench:
    collection = await store.create_collection("me", "notes", embedding_model=model.id)
    vectors = await model.embed(TEXTS)
    for filename, text, vector in zip(FILES, TEXTS, vectors, strict=True):
        document = make_document(collection_id=collection.id, filename=filename)
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


ABSTRACT = "¿Qué riesgos hay en la cocina?"
IMAGINED = "El horno quemó las galletas."


async def test_a_hypothetical_answer_leads_the_vectors(bench: Bench) -> None:
    """R6.1 HyDE: what an answer might say is nearer to the passage than the question; words are the question's."""
    asked = TransformedQuery(ABSTRACT, "es", Intent.FACTUAL)
    imagined = replace(asked, hypothetical_answer=IMAGINED)

    async def search(query: TransformedQuery, strategy: str) -> dict[str, float]:
        found = await hybrid.search_collection(
            make_query(query, bench.collection, model=bench.model, strategy=strategy), store=bench.store
        )
        return {hit.chunk.content: hit.score for hit in found.hits}

    plain, led = await search(asked, "semantic"), await search(imagined, "semantic")
    assert max(led, key=lambda text: led[text]) == TEXTS[2]
    assert led[TEXTS[2]] > plain[TEXTS[2]]
    assert await search(asked, "fulltext") == await search(imagined, "fulltext")


async def test_the_parts_keep_their_own_vectors(bench: Bench) -> None:
    """R6.1 HyDE stands in for the whole question alone."""
    query = TransformedQuery(ABSTRACT, "es", Intent.FACTUAL, ("¿Quién?", "¿Cuándo?"), hypothetical_answer=IMAGINED)
    vectors = hybrid._Vectors(bench.model, query.searches, query.hypothetical_answer)
    own = await bench.model.embed_queries(query.searches)
    [imagined] = await bench.model.embed([IMAGINED])
    assert [await vectors.of(number) for number in (1, 2)] == own[1:]
    assert await vectors.of(0) == hybrid.mean_direction([own[0], imagined]) != own[0]


class NoPassages(Embeddings):
    """Embeds questions, and is down for passages."""

    def __init__(self, other: Embeddings) -> None:
        self._other = other

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("down for passages, on purpose")

    def embed_query(self, text: str) -> list[float]:
        return self._other.embed_query(text)

    async def aembed_queries(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


async def test_without_the_hypothetical_answers_vector_the_questions_stands(bench: Bench) -> None:
    """R6.2, R11.1"""
    [own] = await bench.model.embed_queries([ABSTRACT])
    without = replace(bench.model, embeddings=NoPassages(bench.model.embeddings))
    vectors = hybrid._Vectors(without, [ABSTRACT], IMAGINED)
    assert await vectors.of(0) == pytest.approx(hybrid.mean_direction([own]))
    assert vectors.failed == ("transform",)


async def test_what_lacks_the_hypothetical_answer_is_told_and_not_kept(bench: Bench) -> None:
    """R6.2, R11.1 When the model is back, it is searched with it again."""
    query = TransformedQuery(ABSTRACT, "es", Intent.FACTUAL, hypothetical_answer=IMAGINED)
    without = replace(bench.model, embeddings=NoPassages(bench.model.embeddings))
    cache = QueryCache(60)

    async def failed(model: EmbeddingModel) -> tuple[str, ...]:
        asked = make_query(query, bench.collection, model=model, strategy="hybrid")
        found = await cache.retrieve(asked, store=bench.store)
        return found.failed

    assert [await failed(without), await failed(bench.model), await failed(without)] == [("transform",), (), ()]


@pytest.mark.parametrize(
    ("vectors", "mean"),
    [
        ([[3.0, 0.0], [0.0, 1.0]], [0.5**0.5, 0.5**0.5]),
        ([[0.0, 0.0], [0.0, 2.0]], [0.0, 1.0]),
        ([[0.0, 0.0]], [0.0, 0.0]),
    ],
)
def test_a_mean_direction_is_of_directions(vectors: list[list[float]], mean: list[float]) -> None:
    """A long vector counts no more than a short one, one of no words nothing."""
    assert hybrid.mean_direction(vectors) == pytest.approx(mean)


async def test_embedder_down_leaves_full_text(bench: Bench) -> None:
    """R4.1, R11.1."""
    bench.model = failing(bench.model)
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
    bench.model = failing(bench.model)
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


def contents(found: Retrieval) -> list[str]:
    return [hit.chunk.content for hit in found.hits]


@pytest.mark.parametrize(("strategy", "stages"), [("fulltext", {"fulltext"}), ("semantic", {"vector"})])
async def test_one_leg_alone_keeps_its_own_scores(bench: Bench, strategy: str, stages: set[str]) -> None:
    """R4.4, R4.10 by request."""
    found = await bench.retrieve("¿Qué le pasó al compresor C3?", strategy=strategy)
    assert (contents(found)[0], found.strategy, found.failed) == (TEXTS[0], strategy, ())
    assert all(set(hit.scores) == stages and hit.scores[next(iter(stages))] == hit.score for hit in found.hits)


@pytest.mark.parametrize(
    ("question", "strategy"),
    [("compresor C3", "fulltext"), ("«compresor C3»", "fulltext"), ("¿Qué le pasó al compresor C3?", "hybrid")],
)
async def test_the_question_decides_where_nobody_else_does(bench: Bench, question: str, strategy: str) -> None:
    """R4.4 auto-detected, and returned."""
    found = await bench.retrieve(question, strategy="auto")
    assert (contents(found)[0], found.strategy) == (TEXTS[0], strategy)


async def test_meaning_alone_where_the_model_is_strong(bench: Bench) -> None:
    """R4.4 long semantic → vector; never with a model whose vectors are weaker than full text."""
    question = "explica cómo el deterioro gradual del equipo afecta la calidad final del producto en invierno"
    assert (await bench.retrieve(question, strategy="auto")).strategy == "hybrid"
    bench.model = replace(bench.model, fusion_weight=0.6)
    found = await bench.retrieve(question, strategy="auto")
    assert found.strategy == "semantic"
    assert {name for hit in found.hits for name in hit.scores} == {"vector"}


async def test_words_that_nobody_wrote_are_searched_by_meaning_too(bench: Bench) -> None:
    """R4.4 our own choice never finds less than the better leg; a choice by request is kept to."""
    assert contents(await bench.retrieve("averías", strategy="fulltext")) == []
    found = await bench.retrieve("averías", strategy="auto")
    assert (len(found.hits), found.strategy, found.failed) == (3, "hybrid", ())


@pytest.mark.parametrize(
    ("store", "strategy", "leg"), [(NoFulltext(), "fulltext", "fulltext"), (NoVectors(), "semantic", "vector")]
)
async def test_the_other_leg_stands_in_for_the_one_asked_for(
    registry: EmbeddingRegistry, store: InMemoryStore, strategy: str, leg: str
) -> None:
    """R4.1, R11.1 shown as degraded."""
    bench = await make_bench(store, registry.get("bundled"))
    found = await bench.retrieve("¿Qué le pasó al compresor C3?", strategy=strategy)
    assert (contents(found)[0], found.failed) == (TEXTS[0], (leg,))


async def test_fusion_is_the_model_s_unless_configured(bench: Bench) -> None:
    """R4.2 weighted or RRF, k and weights: by the embedding model, else by request."""
    question = "¿Qué le pasó al compresor C3?"
    weighted, rrf = [
        [hit.score for hit in (await bench.retrieve(question, fusion=fusion)).hits] for fusion in ("weighted", "rrf")
    ]
    assert [hit.score for hit in (await bench.retrieve(question)).hits] == weighted != rrf
    assert rrf[0] == pytest.approx(1.0)  # first in both legs
    bench.model = replace(bench.model, fusion="rrf")
    assert [hit.score for hit in (await bench.retrieve(question)).hits] == rrf
    assert [hit.score for hit in (await bench.retrieve(question, rrf_k=1)).hits][1:] != rrf[1:]
    alone = await bench.retrieve(question, vector_weight=0.0)
    best = [hit.chunk for hit in (await bench.retrieve(question, strategy="fulltext")).hits]
    assert [hit.chunk for hit in alone.hits][: len(best)] == best
    assert all(hit.score == 0 for hit in alone.hits[len(best) :])


async def test_filters_reach_both_legs(bench: Bench) -> None:
    """R4.5"""
    found = await bench.retrieve("¿Qué le pasó al compresor C3?", filters=Filters(filenames=(FILES[1], FILES[2])))
    assert set(contents(found)) == set(TEXTS[1:])


@pytest.mark.parametrize(
    "question",
    [
        "¿Qué dice Compras de marzo.pdf del compresor?",
        "¿Qué dice «compras de marzo.pdf» del compresor?",
        'resume "COMPRAS DE MARZO.PDF"',
        "resume cómpras de marzo.pdf",
        "Compras de marzo.pdf",
    ],
)
async def test_a_question_that_names_a_file_searches_that_file(bench: Bench, question: str) -> None:
    """R4.5"""
    found = await bench.retrieve(question, strategy="auto")
    assert (contents(found), found.files, found.warnings) == ([TEXTS[1]], (FILES[1],), ())


async def test_each_file_that_a_question_names_comes_to_word(bench: Bench) -> None:
    """R4.5, R8.7 the first places are theirs, although one of them holds no word of the question."""
    found = await bench.retrieve("Compare el compresor entre taller.md et Compras de marzo.pdf", strategy="auto")
    assert found.files == (FILES[0], FILES[1])
    assert set(contents(found)) == set(TEXTS[:2])
    assert found.hits[0].score == found.hits[1].score


async def test_a_file_that_is_not_there_is_told(bench: Bench) -> None:
    """R4.5 no filter, a warning."""
    found = await bench.retrieve("¿Qué dice «nóminas.pdf» del compresor C3?", strategy="auto")
    assert contents(found)[0] == TEXTS[0]
    assert len(found.hits) == 3
    assert (found.files, len(found.warnings)) == ((), 1)
    assert "'nóminas.pdf'" in found.warnings[0]


async def test_the_request_s_files_are_those_searched(bench: Bench) -> None:
    """R4.5 filters of the request win over what the question names."""
    found = await bench.retrieve("¿Qué dice taller.md?", filters=Filters(filenames=(FILES[2],)))
    assert (contents(found), found.files) == ([TEXTS[2]], ())


async def test_names_that_cannot_be_looked_up_filter_nothing(registry: EmbeddingRegistry) -> None:
    """R11.1"""
    bench = await make_bench(NoNames(), registry.get("bundled"))
    found = await bench.retrieve("¿Qué dice taller.md del compresor C3?")
    assert (len(found.hits), found.files) == (3, ())

"""Keywords by meaning: chosen of a document's phrases by the vectors that it has."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits, Settings
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry, cached, load_registry
from graphrag.ingestion.enrichment import MOST, MOST_PHRASES, Keyphrase, different
from graphrag.ingestion.pipeline import NOT_EMBEDDED, Pipeline, with_keywords
from graphrag.ingestion.preparation import InProcessPreparer
from graphrag.ingestion.sources import SourceText
from graphrag.models import Document
from graphrag.testing.in_memory_store import InMemoryCache, InMemoryStore
from tests.conftest import DEMO
from tests.factories import make_document
from tests.graphrag.embeddings.stubborn import IMPATIENT
from tests.model_server import Fail, ModelServer

CONTRACT = (DEMO / "supplier-contract-pellington.md").read_text()
NOTE = "El retén del horno H2 falló en marzo. El retén nuevo llegó de Zaragoza con el parte del turno de noche."
vectors = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=3, max_size=3)
names = st.lists(st.sampled_from("horno retén lote zona turno".split()), min_size=1, max_size=3, unique=True).map(tuple)


async def ingest(
    model: EmbeddingModel, *texts: str, keywords: str = "embeddings", store: InMemoryStore | None = None
) -> list[Document]:
    store = store or InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model=model.id)
    pipeline = Pipeline(
        store,
        Settings.from_environment(keywords=keywords),
        InProcessPreparer(ParsingLimits()),
        InMemoryCache(),
    )
    sources = [SourceText(str(number), text) for number, text in enumerate(texts)]
    await pipeline.ingest(sources, collection=collection, model=model)
    return await store.list_documents(collection)


@settings(deadline=None)
@given(
    given=st.lists(st.tuples(names, vectors), max_size=15, unique_by=lambda pair: pair[0]),
    chunks=st.lists(vectors, min_size=1),
)
def test_they_are_phrases_of_the_document(
    given: list[tuple[tuple[str, ...], list[float]]], chunks: list[list[float]]
) -> None:
    """R13.5 R1.3: whatever the vectors are, at most ten, none of which shares half of its words with another."""
    phrases = [Keyphrase(key, " ".join(key)) for key, _ in given]
    found = with_keywords(make_document(), phrases, [vector for _, vector in given], chunks=chunks)
    by_text = {phrase.text: phrase for phrase in phrases}
    assert found.warnings == ()
    assert len(found.keywords) <= MOST
    assert bool(found.keywords) == bool(phrases)
    assert different(by_text[text] for text in found.keywords) == found.keywords


async def test_they_say_what_the_whole_document_is_about(registry: EmbeddingRegistry) -> None:
    """R13.5 By the bundled model, without any key: nearer to it than what it names most, and said in its own words."""
    model = registry.get("bundled")
    (by_use,) = await ingest(model, CONTRACT, keywords="phrases")
    (by_meaning,) = await ingest(model, CONTRACT)
    assert by_meaning.keywords[0] == "Pellington Cartons"
    assert by_use.keywords[0] == "cartons"
    assert by_meaning.warnings == ()


async def test_chunks_know_the_same_keywords(registry: EmbeddingRegistry) -> None:
    """R13.5"""
    store = InMemoryStore()
    (document,) = await ingest(registry.get("bundled"), CONTRACT, store=store)
    (collection,) = await store.list_collections("me")
    (hit, *_) = await store.search_fulltext(collection, ["pellington"], limit=1)
    assert hit.chunk.document.keywords == document.keywords


@pytest.fixture
def far(model_server: ModelServer, tmp_path: Path) -> EmbeddingModel:
    """A model on another machine, as an owner has it: what it has embedded today it is not asked again."""
    file = tmp_path / "embeddings.yml"
    file.write_text(f"embeddings: [{{id: far, provider: openai, model: m, base_url: '{model_server.base_url}'}}]")
    model = replace(load_registry(file).get("far"), patience=IMPATIENT)
    return cached(model, cache=InMemoryCache(), owner_id="me")


async def test_a_document_costs_one_call_at_most(model_server: ModelServer, far: EmbeddingModel) -> None:
    """R13.5: of its phrases together, with those of others; none for what is known."""
    await ingest(far, CONTRACT, NOTE, keywords="phrases")
    await ingest(far, CONTRACT, NOTE)
    _, _, phrases = (request.body["input"] for request in model_server.requests)  # after a trial, and the chunks
    assert MOST_PHRASES < len(phrases) <= 2 * MOST_PHRASES
    await ingest(far, CONTRACT, NOTE)
    assert len(model_server.requests) == 3


async def test_a_model_that_fails_leaves_the_phrases_ranking(model_server: ModelServer, far: EmbeddingModel) -> None:
    """R13.5: the document is indexed and says so."""
    (by_use,) = await ingest(far, CONTRACT, keywords="phrases")
    model_server.script_embeddings(*[Fail(500)] * (IMPATIENT.retries + 1))
    (left,) = await ingest(far, CONTRACT)
    assert (left.keywords, left.warnings) == (by_use.keywords, (NOT_EMBEDDED,))
    (anew,) = await ingest(far, CONTRACT)
    assert anew.warnings == ()
    assert anew.keywords != by_use.keywords

"""One search over collections with different embedding models."""

from dataclasses import replace
from typing import Any

import pytest

from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import CollectionNotFound
from graphrag.models import LOCAL_OWNER
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.retrieval.query import Leg, SearchResult, Trace
from graphrag.services import Services
from tests.agent.two_collections import BOTH, FILES, open_collections
from tests.factories import make_hit

COST = "¿Cuánto costó la reparación del puente de Arenal?"


@pytest.fixture
async def library(registry: EmbeddingRegistry) -> Services:
    return await open_collections(registry)


async def search(
    library: Services, question: str = COST, *, names: tuple[str | None, ...] = BOTH, **overrides: Any
) -> tuple[SearchResult, Trace]:
    trace = Trace(is_detailed=True)
    request = SearchRequest(question, names, overrides)
    return await library.retrieval.find(request, LOCAL_OWNER, trace=trace), trace


def files(found: SearchResult) -> list[str]:
    return [hit.chunk.document.filename for hit in found.hits]


async def test_each_collection_is_searched_with_its_own_model(library: Services) -> None:
    """R3.3, R4.2 Vectors of 384 and of 256 dimensions: what is fused are ranks, and one reranker judges all."""
    found, trace = await search(library)
    assert [query.model.dimensions for query in found.query.each] == [384, 256]
    assert {(leg.collection, leg.name) for leg in trace.legs} == {
        (name, retriever) for name in BOTH for retriever in ("fulltext", "vector")
    }
    assert files(found)[0] == "facturas.md"
    assert {"puente.md", "facturas.md"} <= set(files(found))
    assert all({"fusion", "rerank"} <= set(hit.scores) for hit in found.hits)
    assert (found.failed, found.warnings, trace.missing) == ((), (), [])


async def test_the_best_of_each_collection_come_first_without_a_reranker(library: Services) -> None:
    """R4.2 Reciprocal ranks with equal weights: a collection's scores say nothing beside another's."""
    found, _ = await search(library, rerank=False, graph=False)
    alone = [(await search(library, names=(name,), rerank=False, graph=False))[0].hits[0].chunk.id for name in BOTH]
    assert {hit.chunk.id for hit in found.hits[:2]} == set(alone)


async def test_pages_over_collections_are_cut_from_one_list(library: Services) -> None:
    """R4.7 No hit twice, none left out."""
    whole, _ = await search(library, rerank=False, top_k=4)
    pages = [
        await library.retrieval.find(
            SearchRequest(COST, BOTH, {"rerank": False, "top_k": 2}, offset=offset), LOCAL_OWNER
        )
        for offset in (0, 2)
    ]
    assert [name for page in pages for name in files(page)] == files(whole)


async def test_a_collection_keeps_its_own_settings(library: Services) -> None:
    """R4.10 One of the two is searched by words alone; what is done with all is as the first has it."""
    works = await library.collections.open(LOCAL_OWNER, "works")
    await library.store.configure_collection(works, {"top_k": 1, "strategy": "fulltext"})
    found, trace = await search(library)
    assert {(leg.collection, leg.name) for leg in trace.legs} == {
        ("works", "fulltext"), ("accounts", "fulltext"), ("accounts", "vector"),
    }  # fmt: skip
    assert (len(found.hits), found.strategy) == (1, "hybrid")


async def test_a_named_file_is_searched_in_the_collection_that_has_it(library: Services) -> None:
    """R4.5 It is not missing because another collection lacks it; one that none has is told once."""
    found, _ = await search(library, "¿Qué dice facturas.md del puente de Arenal?")
    assert (set(files(found)), found.files, found.warnings) == ({"facturas.md"}, ("facturas.md",), ())
    both, _ = await search(library, "Compara puente.md con facturas.md")
    assert (set(files(both)), both.warnings) == ({"puente.md", "facturas.md"}, ())
    none, _ = await search(library, "¿Qué dice actas.md del puente de Arenal?")
    assert len(none.warnings) == 1
    assert "actas.md" in none.warnings[0]


async def test_a_word_of_one_collection_is_not_misspelt_for_another(registry: EmbeddingRegistry) -> None:
    """R8.7 Almendrina is known to one, and near to a word of the other's."""
    files = {**FILES, "works": {"nota.md": "Las obras de Almendirna van con retraso.\n"}}
    library = await open_collections(registry, files)
    question = "¿Qué pasó con Almendrina?"
    alone, _ = await search(library, question, names=("works",))
    assert alone.warnings == ("Ningún documento dice «Almendrina». ¿Quería decir «Almendirna»?",)
    found, _ = await search(library, question)
    assert found.warnings == ()


async def test_names_are_each_looked_up_and_asked_once(library: Services) -> None:
    """R9.3 The same name twice is one collection; the first unknown one is told, as if it had been asked alone."""
    found, _ = await search(library, names=("works", "works"))
    assert [query.collection.name for query in found.query.each] == ["works"]
    with pytest.raises(CollectionNotFound) as told:
        await search(library, names=("works", "nowhere"))
    assert told.value.details == {"name": "nowhere", "known": sorted(BOTH)}


async def test_what_one_collection_forbids_is_forbidden_for_all(library: Services) -> None:
    """R8.8 The service's model may judge hits of several collections only if it may read each of them."""
    works, accounts = await library.collections.open_all(LOCAL_OWNER, BOTH)
    assert library.collections.may_read(works, accounts)
    models = (*library.collections.chat_models, replace(library.collections.chat_models[0], name="own"))
    collections = replace(library.collections, chat_models=models)
    private = replace(accounts, generation_config={"chat_model": "own"})
    assert [collections.may_read(*asked) for asked in ((works,), (private,), (works, private))] == [True, False, False]


def test_a_search_that_ends_early_tells_what_any_collection_still_lacks() -> None:
    """R9.2 The legs of all collections are at hand then."""
    trace = Trace()
    trace.skip("transform")
    first, other = trace.branch(), trace.branch()
    first.choose("fulltext", "asked for", ["fulltext"], searches=1)
    first.end_leg(Leg("fulltext", "x", (), [make_hit()]))
    first.find([make_hit()], ())
    other.choose("hybrid", "asked for", ["fulltext", "vector"], searches=1)
    other.end_leg(Leg("fulltext", "x", (), [make_hit()]))
    assert trace.missing == ["vector", "fusion", "rerank", "graph"]
    assert len(trace.hits) == 2

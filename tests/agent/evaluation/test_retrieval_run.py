"""Runs of retrieval over small datasets, in PostgreSQL."""

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest
from pydantic import SecretStr

from agent.evaluation.retrieval_run import (
    CorpusDocument,
    Dataset,
    DatasetQuery,
    InvalidDataset,
    Report,
    loaded,
    run_queries,
)
from graphrag.config.settings import RetrievalConfig, Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services, open_services
from tests.agent.library import with_parts
from tests.graphrag.embeddings.stubborn import failing

DATASET = Dataset(
    "fábrica",
    (
        CorpusDocument("es", "Horno", "El horno H2 falló porque se rompió el retén.", "es"),
        CorpusDocument("fr", "Entrepôt", "L'entrepôt de Toulouse consomme trop d'électricité."),
        CorpusDocument("en", "", "The Bristol office ordered Christmas tins in September."),
        CorpusDocument("title only", "La cisterna que está en el tejado", " "),
        CorpusDocument("nothing", "", "…"),
    ),
    (
        DatasetQuery("q1", "¿Por qué falló el horno H2?", {"es": 1}),
        DatasetQuery("q2", "¿Dónde está la cisterna?", {"title only": 1}),
    ),
)


async def names(services: Services) -> set[str]:
    return {collection.name for collection in await services.store.list_collections(LOCAL_OWNER)}


@pytest.fixture
def name() -> str:
    return f"eval-{uuid4().hex}"


async def run(
    services: Services, dataset: Dataset, name: str, *, keep: bool = False, **config: object
) -> tuple[Report, list[int]]:
    """And how far it told that it had come."""
    told: list[int] = []
    async with loaded(
        dataset, services=services, name=name, embedding_model=None, keep=keep, advance=told.append
    ) as load:
        report = await run_queries(
            dataset,
            dataset.queries,
            services=services,
            load=load,
            config=RetrievalConfig.model_validate(config),
            advance=told.append,
        )
    return report, told


async def test_run_reports_what_it_did(services: Services, name: str) -> None:
    """R10.4, R10.6 what was measured, with which configuration; the temporary collection is gone."""
    report, told = await run(services, DATASET, name, rerank=False)
    values = report.as_json()
    assert (values["dataset"], values["documents"], values["queries"]) == ("fábrica", 5, 2)
    assert values["config"] == {**RetrievalConfig(rerank=False).model_dump(), "embedding_model": "e5"}
    assert (values["metrics"]["hit@1"], values["metrics"]["mrr@10"]) == (1, 1)
    assert values["latency_ms"]["p50"] <= values["latency_ms"]["p95"] <= values["latency_ms"]["p99"]
    assert (values["ingest"]["chunks"], values["ingest"]["skipped"]) == (4, 1)
    assert values["ingest"]["seconds"] > 0
    assert values["degraded"] == {}
    assert sum(told) == 5 + 2
    assert name not in await names(services)


async def test_documents_are_loaded_like_any_other(services: Services, name: str) -> None:
    """R1.3 the given language, else the detected one; a document without text is its title."""
    async with loaded(DATASET, services=services, name=name, embedding_model=None, keep=False, advance=print) as load:
        stored = {document.source: document for document in await services.store.list_documents(load.collection)}
    assert {source: document.language for source, document in stored.items()} == {
        "es": "es", "fr": "fr", "en": "en", "title only": "es",
    }  # fmt: skip
    assert {source: document.title for source, document in stored.items()} == {
        "es": "Horno", "fr": "Entrepôt", "en": "", "title only": "La cisterna que está en el tejado",
    }  # fmt: skip
    assert load.skipped == ("nothing",)


async def test_collection_goes_when_the_run_fails(services: Services, name: str) -> None:
    """R10.6 whatever happens."""
    with pytest.raises(KeyboardInterrupt):
        async with loaded(DATASET, services=services, name=name, embedding_model=None, keep=False, advance=print):
            assert name in await names(services)
            raise KeyboardInterrupt
    assert name not in await names(services)


async def test_collection_goes_when_the_load_fails(services: Services, name: str, registry: EmbeddingRegistry) -> None:
    """R10.6."""
    broken = EmbeddingRegistry([failing(registry.get(registry.default))])
    services = with_parts(services, embeddings=broken)
    with pytest.raises(Exception, match="on purpose"):
        await run(services, DATASET, name)
    assert name not in await names(services)


async def test_kept_collection_is_searched_again_as_it_is(services: Services, name: str) -> None:
    """R10.6 no second load, the same numbers, and it stays."""
    first, _ = await run(services, DATASET, name, keep=True)
    again, told = await run(services, DATASET, name)
    assert again.metrics == first.metrics
    assert again.load.seconds == 0
    assert again.load.collection.revision == first.load.collection.revision
    assert sum(told) == 2
    assert name in await names(services)


async def test_other_documents_are_not_taken_for_the_datasets(services: Services, name: str) -> None:
    """R10.6 nor touched."""
    await run(services, DATASET, name, keep=True)
    changed = replace(DATASET.documents[0], text="El horno H2 ya funciona.")
    others = replace(DATASET, documents=(changed, *DATASET.documents[2:]))
    with pytest.raises(InvalidDataset, match=r"1 of 3 are missing or differ, 2 are others"):
        await run(services, others, name)
    retitled = replace(DATASET, documents=(replace(DATASET.documents[0], title="Otro"), *DATASET.documents[1:]))
    with pytest.raises(InvalidDataset, match=r"1 of 4 are missing or differ, 1 are others"):
        await run(services, retitled, name)
    assert (await run(services, DATASET, name))[0].load.seconds == 0


async def test_other_embedding_model_needs_another_collection(services: Services, name: str) -> None:
    """R3.3 a collection has one model."""
    await run(services, DATASET, name, keep=True)
    with pytest.raises(InvalidDataset, match=r"has the embedding model 'e5'"):
        async with loaded(DATASET, services=services, name=name, embedding_model="x", keep=False, advance=print):
            pass


@pytest.fixture
async def services_of_small_chunks(postgres: str) -> AsyncIterator[Services]:
    opened = open_services(
        Settings.from_environment(database_url=SecretStr(postgres), chunk_tokens=12, chunk_overlap_tokens=0)
    )
    yield opened
    await opened.close()


async def test_document_ranks_by_its_best_chunk(services_of_small_chunks: Services, name: str) -> None:
    """R10.2 one document's many chunks take one place, however many places they fill."""
    pressure = " ".join(f"La presión del compresor C3 cayó el día {number} de marzo." for number in range(1, 41))
    long = CorpusDocument("long", "Compresor C3", pressure, "es")
    short = CorpusDocument("short", "Mantequilla", "La mantequilla llegó tarde. Un compresor auxiliar la enfrió.", "es")
    query = DatasetQuery("q", "¿Cuándo cayó la presión del compresor C3?", {"short": 1})
    report, _ = await run(services_of_small_chunks, Dataset("d", (long, short), (query,)), name, rerank=False)
    assert report.load.collection.chunk_count >= 40
    assert report.metrics["mrr@10"] == 1 / 2
    assert report.metrics["precision@5"] == 1 / 5


async def test_what_was_done_without_is_counted(services: Services, name: str, registry: EmbeddingRegistry) -> None:
    """R11.1 numbers of full text alone are not taken for those of both."""
    await run(services, DATASET, name, keep=True)
    broken = EmbeddingRegistry([failing(registry.get(registry.default))])
    services = with_parts(services, embeddings=broken)
    report, _ = await run(services, DATASET, name)
    assert report.as_json()["degraded"] == {"vector": 2}
    assert report.metrics["hit@1"] == 1


async def test_ties_fall_alike_in_every_run(services: Services) -> None:
    """P4, R4.6 in the corpus' order, though each run's collection has ids of its own."""
    documents = tuple(CorpusDocument(f"d{number}", "", "El horno.", "es") for number in range(9))
    dataset = Dataset("ties", documents, (DatasetQuery("q", "horno", {"d2": 1}),))
    for attempt in range(3):
        report, _ = await run(services, dataset, f"eval-ties-{attempt}-{uuid4().hex}")
        assert report.metrics["mrr@10"] == 1 / 3

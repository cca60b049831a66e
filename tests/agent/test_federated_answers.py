"""Answers from a collection and another service's documents: cited, checked, and whole when that service is not."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import LOCAL_OWNER, Hit
from graphrag.observability.request_context import changed_context
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.retrieval.query import SearchResult
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import DOCUMENTS, ask, done, filenames, open_library
from tests.chunkenizer_server import Script, passage, run_chunkenizer

PORT = "El puerto de Arenal se cerró porque el temporal rompió la grúa. La reparación del puerto costó 71.300 euros."
PORT_COST = "¿Cuánto costó la reparación del puerto de Arenal?"
BRIDGE_COST = "¿Cuánto costó la reparación del puente de Arenal?"
BOTH = "¿Cuánto costó la reparación del puerto de Arenal y por qué se cerró el puente de Arenal?"


@pytest.fixture
def service() -> Iterator[Script]:
    with run_chunkenizer() as script:
        script.passages = [passage(PORT, "puerto-3", metadata={"filename": "puerto.pdf", "page": 4, "language": "es"})]
        yield script


@asynccontextmanager
async def opened(
    registry: EmbeddingRegistry, service: Script, documents: dict[str, str], **settings: Any
) -> AsyncIterator[Services]:
    services = await open_library(
        registry, documents, store=InMemoryStore(), chunkenizer_url=SecretStr(service.url), **settings
    )
    yield services
    assert services.retriever
    await services.retriever.close()


@pytest.fixture
async def library(registry: EmbeddingRegistry, service: Script) -> AsyncIterator[Services]:
    async with opened(registry, service, DOCUMENTS) as services:
        yield services


async def search(library: Services, question: str = PORT_COST, **request: Any) -> SearchResult:
    return await library.retrieval.find(SearchRequest(question, **request), LOCAL_OWNER)


def names(hits: list[Hit]) -> set[str]:
    return {hit.chunk.document.filename for hit in hits}


async def test_what_only_the_other_service_knows_is_answered_cited_and_checked(library: Services) -> None:
    """R13.3 With the page that the other service names; what the collection knows is answered as before."""
    answer = done(await ask(library, PORT_COST))
    citation = next(citation for citation in answer["citations"] if "71.300 euros" in citation["quote"])
    assert (citation["filename"], citation["page"], citation["status"]) == ("puerto.pdf", 4, "supported")
    assert citation["reference"] == f"[{citation['document_id']}:0]"
    assert [source["elsewhere"] for source in answer["sources"] if source["filename"] == "puerto.pdf"] == [True]
    assert (answer["degraded"], answer["warnings"], answer["unsupported_statements"]) == ([], [], [])
    ours = done(await ask(library, BRIDGE_COST))
    assert filenames(ours["citations"])[0] == "puente.md"
    assert not any(source["elsewhere"] for source in ours["sources"] if source["filename"] == "puente.md")


async def test_a_causal_question_reads_both(library: Services) -> None:
    """R13.3, R6 The graph has none of that service's documents, and goes on without them."""
    answer = done(await ask(library, "¿Por qué se cerró el puerto de Arenal?"))
    assert "puerto.pdf" in filenames(answer["citations"])
    assert "el temporal rompió la grúa" in answer["answer"]
    assert answer["degraded"] == []


async def test_an_empty_collection_is_no_hindrance(registry: EmbeddingRegistry, service: Script) -> None:
    """R13.3, R9.8 Nothing here: everything may be there."""
    async with opened(registry, service, {}) as library:
        assert set(filenames(done(await ask(library, PORT_COST))["citations"])) == {"puerto.pdf"}
        service.passages = []
        answer = done(await ask(library, PORT_COST))
        assert (answer["found"], answer["degraded"]) == (False, [])


@pytest.mark.parametrize(
    "fault", [{"status": 500}, {"hangs": True}, {"body": b"<html>"}, {"missing_bytes": 5}], ids=str
)
async def test_what_the_collection_has_stands_when_the_other_fails(
    registry: EmbeddingRegistry, service: Script, fault: dict[str, Any]
) -> None:
    """R13.3 Errors: an empty list, and a warning."""
    for name, value in fault.items():
        setattr(service, name, value)
    async with opened(registry, service, DOCUMENTS, chunkenizer_timeout_seconds=0.3) as library:
        answer = done(await ask(library, BRIDGE_COST))
        found = await search(library, BRIDGE_COST)
    assert set(filenames(answer["citations"])) == {"puente.md"}
    assert answer["degraded"] == ["chunkenizer"]
    assert answer["degraded_messages"] == [
        "El servicio externo de documentos no respondió: solo se buscó en los documentos locales."
    ]
    assert (found.failed, "puente.md" in names(found.hits)) == (("chunkenizer",), True)


async def test_what_goes_there_is_gone_here(library: Services, service: Script) -> None:
    """R13.3, R4.9 The cache keeps what the collection has: nobody tells us of changes of the other's documents."""
    assert "puerto.pdf" in names((await search(library)).hits)
    service.passages = []
    assert "puerto.pdf" not in names((await search(library)).hits)
    assert len(service.questions) == 2


@pytest.mark.parametrize("strategy", ["auto", "fulltext", "semantic", "hybrid"])
@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
async def test_it_is_asked_whatever_the_strategy(library: Services, strategy: str, fusion: str) -> None:
    """R13.3, R4.5 Both first places lead; without reranking, too."""
    overrides = {"strategy": strategy, "fusion": fusion, "rerank": False}
    hits = (await search(library, BRIDGE_COST, overrides=overrides)).hits
    assert {hit.chunk.document.filename for hit in hits[:2]} == {"puente.md", "puerto.pdf"}
    theirs = next(hit for hit in hits if hit.chunk.document.is_elsewhere)
    assert theirs.scores["chunkenizer"] == 0.9
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_each_part_of_a_question_is_asked(library: Services, service: Script) -> None:
    """R13.3, R3 As the collection is searched."""
    await ask(library, BOTH)
    asked = [question["query"] for question in service.questions]
    assert BOTH in asked
    assert len(set(asked)) == 3


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"language": "es"}, {"puente.md", "puerto.pdf"}),
        ({"language": "fr"}, {"bibliotheque.md"}),
        ({"document_type": "pdf"}, {"puerto.pdf"}),
        ({"filename": "Puerto.pdf"}, {"puerto.pdf"}),
        ({"source_type": "chunkenizer"}, {"puerto.pdf"}),
        ({"processing_strategy": "paragraph"}, set()),
        ({"tags": "obras"}, set()),
        ({"created_until": "2100-01-01"}, set(DOCUMENTS)),
    ],
)
async def test_filters_hold_for_what_the_other_finds(
    library: Services, filters: dict[str, str], expected: set[str]
) -> None:
    """R13.3, R4.6 What its metadata do not say satisfies none."""
    found = names((await search(library, filters=parse_filters(filters))).hits)
    assert found - {"puerto.pdf"} <= expected
    assert ("puerto.pdf" in found) == ("puerto.pdf" in expected)


async def test_a_file_that_the_question_names_is_the_only_one(library: Services) -> None:
    """R13.3, R4.3 Named is ours: the other's are left out. Nobody is told that a file of the other's is nowhere."""
    assert names((await search(library, "¿Cuánto costó la reparación, según puente.md?")).hits) == {"puente.md"}
    assert (await search(library, "¿Qué dice Puerto.pdf de la grúa?")).warnings == ()
    assert len((await search(library, "¿Qué dice mercado.pdf de la grúa?")).warnings) == 1


async def test_it_is_not_asked_where_nobody_wants_it(library: Services, service: Script) -> None:
    """R13.3 A collection or a request may do without; measuring always does."""
    assert "puerto.pdf" not in names((await search(library, overrides={"chunkenizer": False})).hits)
    await ask(library, PORT_COST, retrieval={"chunkenizer": False})
    with changed_context(is_evaluation=True):
        await ask(library, PORT_COST)
    assert service.questions == []


async def test_passages_of_one_document_stay_apart(library: Services, service: Script) -> None:
    """R13.3, R5.1 Another service may number and measure as it likes: nothing is sewn together, nothing breaks."""
    first, second = PORT.split(". ")
    service.passages = [
        passage(first + ".", "puerto-3", 0, metadata={"filename": "puerto.pdf", "start_char": 0}),
        passage(second, "puerto-3", 2**30, metadata={"filename": "puerto.pdf", "start_char": len(first) + 1}),
    ]
    sources = done(await ask(library, PORT_COST, retrieval={"parent_chars": 2_000}))["sources"]
    theirs = [source["content"] for source in sources if source["elsewhere"]]
    assert sorted(theirs) == sorted([first + ".", second])


async def test_a_document_that_both_have_is_ours(library: Services, service: Script) -> None:
    """R13.3 As after a backup that was restored in two services."""
    bridge = next(hit.chunk for hit in (await search(library, BRIDGE_COST)).hits if "puente" in hit.chunk.content)
    service.passages = [passage(bridge.content, str(bridge.document.id))]
    hits = (await search(library, BRIDGE_COST)).hits
    assert [hit.chunk.id for hit in hits if hit.chunk.document.id == bridge.document.id] == [bridge.id]

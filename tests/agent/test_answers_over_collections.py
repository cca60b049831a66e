"""One answer over two collections: cited from both, each citation with its collection's name."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from pydantic import SecretStr

from agent.context import Context
from agent.graph import graph
from agent.nodes import _models
from agent.output.events import Event
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import CollectionNotFound
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.llm.chat_models import EXTRACTIVE, NamedModel
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services
from tests.agent.library import ask, data_of, done, with_parts
from tests.agent.two_collections import BOTH, open_collections
from tests.chunkenizer_server import run_chunkenizer

CAUSE_AND_COST = "¿Por qué se cerró el puente de Arenal y cuánto costó la reparación del puente de Arenal?"


@pytest.fixture
async def library(registry: EmbeddingRegistry) -> Services:
    return await open_collections(registry)


async def answer(library: Services, question: str, names: tuple[str, ...] = BOTH) -> dict[str, Any]:
    return done(await ask(library, question, collections=names))


def cited(events: dict[str, Any] | list[dict[str, Any]]) -> set[tuple[str, str]]:
    citations = events if isinstance(events, list) else events["citations"]
    return {(citation["collection"], citation["filename"]) for citation in citations}


async def test_an_answer_cites_a_document_of_each_collection(library: Services) -> None:
    """R8.7 The cause stands in one, the cost in the other; streamed citations name their collections, too."""
    events: list[Event] = await ask(library, CAUSE_AND_COST, collections=BOTH)
    whole = done(events)
    assert "dañó dos pilares" in whole["answer"]
    assert "9.240 euros" in whole["answer"]
    assert cited(whole) >= {("works", "puente.md"), ("accounts", "facturas.md")}
    assert cited(data_of(events, "citation")) == cited(whole)
    assert {(source["collection"], source["filename"]) for source in whole["sources"]} >= cited(whole)
    assert (whole["degraded"], whole["warnings"], whole["unsupported_statements"]) == ([], [], [])


async def test_one_collection_alone_has_not_the_whole_answer(library: Services) -> None:
    """R8.7 What the other one holds is not told; a citation names its collection all the same."""
    whole = await answer(library, CAUSE_AND_COST, ("works",))
    assert "9.240" not in whole["answer"]
    assert cited(whole) == {("works", "puente.md")}


@pytest.mark.parametrize(
    ("question", "cause", "collection"),
    [
        ("¿Por qué se cerró el puente de Arenal?", "la riada dañó dos pilares", "works"),
        ("¿Qué provocó el cierre del almacén de Almendrina?", "La huelga", "accounts"),
    ],
)
async def test_causes_are_followed_in_each(library: Services, question: str, cause: str, collection: str) -> None:
    """R7.2 The chain is that of the collection that states it."""
    whole = await answer(library, question)
    assert cause in whole["answer"]
    assert whole["paths"]
    (edge,) = whole["paths"][0]["edges"]
    assert whole["sources"][edge["source"] - 1]["collection"] == collection


@pytest.mark.parametrize("names", [BOTH, BOTH[::-1]])
async def test_the_best_table_of_all_is_computed_with(library: Services, names: tuple[str, ...]) -> None:
    """R8.3 Whichever collection was named first."""
    whole = await answer(library, "¿Cuál es el importe total de Grúas Leal?", names)
    assert "1.700" in whole["answer"]
    assert cited(whole) == {("accounts", "pagos.csv")}
    assert whole["table"]["row_count"] == 2


async def test_what_needs_no_search_speaks_of_all(library: Services) -> None:
    """R8.7 The list of documents, and a summary of them."""
    listed = (await answer(library, "¿Qué documentos hay?"))["answer"]
    assert "«works, accounts»" in listed
    assert all(name in listed for name in ("puente.md", "gerente.csv", "facturas.md", "pagos.csv"))
    summary = await answer(library, "Resume los documentos")
    assert {collection for collection, _ in cited(summary)} == set(BOTH)
    of_one = await answer(library, "Resume facturas.md")
    assert cited(of_one) == {("accounts", "facturas.md")}


async def test_nothing_is_answered_where_no_collection_has_it(library: Services) -> None:
    """R8.5 And an unknown collection among them is told as it is alone."""
    assert (await answer(library, "¿Quién ganó el campeonato de ajedrez?"))["outcome"] in ("closest", "none")
    with pytest.raises(CollectionNotFound):
        await answer(library, CAUSE_AND_COST, ("works", "nowhere"))


async def test_no_model_answers_that_one_of_the_collections_forbids(library: Services) -> None:
    """R8.8 Of two collections' own models the later in the service's order answers; both prompts are told."""
    first, second, last = (NamedModel(name, ExtractiveChatModel()) for name in ("one", "two", EXTRACTIVE))
    services = with_parts(library, chat_models=(first, second, last))
    works, accounts = await services.collections.open_all(LOCAL_OWNER, BOTH)
    await services.store.configure_collection(works, generation_config={"system_prompt": "Be brief."})
    own = {"chat_model": "two", "system_prompt": "Give amounts in euros."}
    await services.store.configure_collection(accounts, generation_config=own)
    opened = await services.collections.open_all(LOCAL_OWNER, BOTH)
    for asked in (opened, opened[::-1]):
        models, prompt, warnings = _models(Context(services=services), asked)
        assert [model.name for model in models] == ["two", EXTRACTIVE]
        assert {"Be brief.", "Give amounts in euros."} == set(prompt.split("\n\n"))
        assert warnings == []
    assert _models(Context(services=services), opened[:1])[0][0].name == "one"


async def test_another_form_of_an_answer_reads_both_again(library: Services) -> None:
    """R8.7 "As a list" is written from what the answer cites, in whichever collection it is."""
    context = Context(services=library, collections=BOTH)
    state = await graph.ainvoke({"messages": [HumanMessage(CAUSE_AND_COST)]}, context=context)
    said = [*state["messages"], HumanMessage("Ponlo en una lista")]
    again = done(await ask(library, said, collections=BOTH))
    assert cited(again) == {("works", "puente.md"), ("accounts", "facturas.md")}


async def test_one_that_keeps_questions_local_keeps_them_local_for_all(registry: EmbeddingRegistry) -> None:
    """R13.3 The other service is asked once for all of them, unless one of them forbids it."""
    with run_chunkenizer() as service:
        library = await open_collections(registry, chunkenizer_url=SecretStr(service.url))
        assert library.retriever
        await ask(library, CAUSE_AND_COST, collections=BOTH)
        assert 0 < len(service.questions) == len({asked["query"] for asked in service.questions})
        service.questions.clear()
        accounts = await library.collections.open(LOCAL_OWNER, "accounts")
        await library.store.configure_collection(accounts, {"chunkenizer": False})
        await ask(library, CAUSE_AND_COST, collections=BOTH)
        assert service.questions == []
        await library.retriever.close()

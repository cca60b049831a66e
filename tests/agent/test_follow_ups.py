"""Questions that go on with a conversation, and those that a model refines: through the whole graph."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import MemorySaver

from agent.context import Context
from agent.graph import graph
from agent.messages import say
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryCache, InMemoryStore
from tests.agent.library import ask, done, filenames, open_library, with_parts
from tests.answering import unsure_answers as unsure_answers
from tests.graphrag.query_transformation.understanding_model import earlier, is_to_understand, understanding
from tests.model_server import Behaviour, Body, Fail, Garbage, Hang, ModelServer, Reply

pytestmark = pytest.mark.usefixtures("unsure_answers")

DOCUMENTS = {
    "puente.md": "# Puente de Arenal\n\nEl puente de Arenal se cerró el 3 de mayo de 2024. El cierre del puente de "
    "Arenal se debió a que la riada dañó dos pilares. La reparación del puente costó 9.240 euros. La reparación del "
    "puente de Arenal la pagó la diputación.\n",
    "tejado.md": "# Tejado de la escuela\n\nEl tejado de la escuela se cerró el 9 de junio de 2023. La reparación del "
    "tejado costó 1.150 euros. La reparación del tejado la pagó el seguro.\n",
    "bibliotheque.md": "# La bibliothèque\n\nLa bibliothèque de Tours ouvre à neuf heures. Le directeur de la "
    "bibliothèque de Tours est Paul Lemaire. La bibliothèque de Tours a été construite en 1931.\n",
    "mairie.md": "# La mairie\n\nLa mairie ouvre à dix heures. Le directeur des services est Luc Morel. La mairie a "
    "été construite en 1876.\n",
    "boiler.md": "# Boiler manual\n\nThe Harlow boiler must be serviced every twelve months. The Harlow boiler was "
    "fitted by Jenkins. Its warranty ends in 2027.\n",
    "lift.md": "# Lift manual\n\nThe lift must be serviced every three months. The lift was fitted by Otway. Its "
    "warranty ends in 2025.\n",
}


@pytest.fixture
async def library(registry: EmbeddingRegistry) -> Services:
    return await open_library(registry, DOCUMENTS, store=InMemoryStore())


async def converse(services: Services, *questions: str) -> dict[str, Any]:
    """The answer to the last, each asked with what was said before it."""
    messages: list[AnyMessage] = []
    answer: dict[str, Any] = {}
    for question in questions:
        messages.append(HumanMessage(question))
        answer = done(await ask(services, messages))
        messages.append(AIMessage(answer["answer"]))
    return answer


@pytest.mark.parametrize(
    ("questions", "filename", "said"),
    [
        (("¿Cuánto costó la reparación del puente de Arenal?", "¿y quién la pagó?"), "puente.md", "diputación"),
        (("¿Cuánto costó la reparación del tejado de la escuela?", "¿y quién la pagó?"), "tejado.md", "seguro"),
        (("¿Cuándo se cerró el puente de Arenal?", "¿y por qué?"), "puente.md", "riada"),
        (("Quand ouvre la bibliothèque de Tours ?", "Et qui est son directeur ?"), "bibliotheque.md", "Lemaire"),
        (("Quand ouvre la mairie ?", "et quand a-t-elle été construite ?"), "mairie.md", "1876"),
        (("How often must the Harlow boiler be serviced?", "who fitted it?"), "boiler.md", "Jenkins"),
        (("How often must the lift be serviced?", "who fitted it?"), "lift.md", "Otway"),
        (("Who fitted the lift?", "what about the Harlow boiler?"), "boiler.md", "Jenkins"),
    ],
)
async def test_a_follow_up_finds_what_was_spoken_of(
    library: Services, questions: Sequence[str], filename: str, said: str
) -> None:
    """R6.3 In three languages, by rules; the extractive answer too is to the question with its topic."""
    answer = await converse(library, *questions)
    assert filenames(answer["citations"])[0] == filename
    assert said in answer["answer"]


async def test_a_new_subject_is_not_drawn_to_the_old_one(library: Services) -> None:
    """R6.3"""
    answer = await converse(
        library, "¿Cuánto costó la reparación del puente de Arenal?", "¿Cuánto costó la reparación del tejado?"
    )
    assert "1.150" in answer["answer"]
    assert filenames(answer["citations"])[0] == "tejado.md"


async def test_a_thread_remembers_what_its_answers_cite(library: Services) -> None:
    """R6.3 The titles of the cited documents are part of the topic."""
    remembering = graph.builder.compile(checkpointer=MemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    state: dict[str, Any] = {}
    for question in ("¿Qué costó 9.240 euros?", "¿y el otro?"):
        state = await remembering.ainvoke(
            {"messages": [HumanMessage(question)]}, config, context=Context(services=library)
        )
    kept = state["messages"][1].additional_kwargs
    assert kept.keys() == {"cited_titles", "cited_passages"}
    assert kept["cited_titles"] == ["Puente de Arenal"]
    assert {passage["number"] for passage in kept["cited_passages"]} == {1}
    assert state["question"] == "¿y el otro?"
    assert state["query"].original == "¿y el otro?"


COST = "¿Cuánto costó la reparación del puente de Arenal?"
ANSWER = "La reparación del puente costó 9.240 euros [1]."


@pytest.fixture
async def refining(registry: EmbeddingRegistry, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer) -> Services:
    """A library with a model that refines within .4 s, and answers."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    services = await open_library(
        registry,
        DOCUMENTS,
        store=InMemoryStore(),
        chat_model="openai:gpt-4o-mini",
        chat_max_retries=0,
        chat_timeout_seconds=10,
        transform_timeout_seconds=0.4,
    )
    return with_parts(services, cache=InMemoryCache())


def answering(**fields: Any) -> Reply:
    """Understands where it is to understand, else answers."""
    return Reply(lambda body: understanding(**fields) if is_to_understand(body) else ANSWER)


def kinds(server: ModelServer) -> list[str]:
    return ["understand" if is_to_understand(request.body) else "answer" for request in server.requests]


async def test_a_model_refines_before_it_answers(refining: Services, model_server: ModelServer) -> None:
    """R6.2 One call; what it understood is the answer's, the question stays as it was asked."""
    model_server.default = answering(intent="comparative", standalone_question=COST)
    answer = done(await ask(refining, COST))
    assert (answer["intent"], answer["degraded"], answer["answer"]) == ("comparative", [], ANSWER)
    assert kinds(model_server) == ["understand", "answer"]
    assert model_server.requests[-1].body["messages"][-1]["content"].endswith(COST)


async def test_a_refined_follow_up_is_searched(refining: Services, model_server: ModelServer) -> None:
    """R6.3 What the model makes of it is searched for; earlier questions are what it is shown, not answers."""
    model_server.default = answering(standalone_question="¿Cuándo se cerró el tejado de la escuela?", intent="temporal")
    messages: list[AnyMessage] = [HumanMessage(COST), AIMessage("9.240 euros."), HumanMessage("¿y lo del cole?")]
    answer = done(await ask(refining, messages))
    assert answer["sources"][0]["filename"] == "tejado.md"
    assert earlier(model_server.requests[0].body) == [COST]
    assert model_server.requests[-1].body["messages"][-1]["content"].endswith("¿y lo del cole?")


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Fail(500), id="500"),
        pytest.param(Hang(30), id="hang"),
        pytest.param(Garbage(), id="garbage"),
        pytest.param(Reply("no JSON at all"), id="talk"),
        pytest.param(Reply(understanding(intent="none of them")), id="unknown intent"),
    ],
)
async def test_where_it_fails_the_rules_stand(
    refining: Services, model_server: ModelServer, failure: Behaviour
) -> None:
    """R6.2, R11.1 Failure or slowness leaves the rules' result; the reader is told, the answer comes."""
    model_server.script(failure)
    model_server.default = Reply(ANSWER)
    answer = done(await ask(refining, "¿Por qué se cerró el puente de Arenal?"))
    assert (answer["intent"], answer["degraded"]) == ("causal", ["transform"])
    assert answer["degraded_messages"] == [say("degraded_transform", "es")]
    assert answer["answer"] == ANSWER
    assert answer["sources"][0]["filename"] == "puente.md"


async def test_refinement_can_be_off(
    registry: EmbeddingRegistry, refining: Services, model_server: ModelServer
) -> None:
    """R6.2 RAG_QUERY_REFINEMENT; plain chat refines nothing either, as nothing is searched."""
    model_server.default = Reply("Hola.")
    await ask(refining, COST, rag_enabled=False)
    assert kinds(model_server) == ["answer"]
    services = await open_library(
        registry, DOCUMENTS, store=InMemoryStore(), chat_model="openai:gpt-4o-mini", query_refinement=False
    )
    assert services.retrieval.refiner is None
    await ask(services, COST)
    assert kinds(model_server) == ["answer", "answer"]


async def test_understanding_is_no_part_of_the_answer(refining: Services, model_server: ModelServer) -> None:
    """R8.9 Nothing of it is streamed."""

    def streamed(body: Body) -> str:
        return understanding(standalone_question=COST) if is_to_understand(body) else ANSWER

    model_server.default = Reply(streamed)
    said = ""
    parts: Any = graph.astream(
        {"messages": [HumanMessage(COST)]}, context=Context(services=refining), stream_mode="messages"
    )
    async for message, _ in parts:
        said += message.text if message.type == "AIMessageChunk" else ""
    assert said == ANSWER

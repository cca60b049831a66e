"""The graph with a language model behind HTTP: what it is sent, what it may say, and the ways in which it fails."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import aclosing
from datetime import date
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.messages import say
from agent.output.events import stream_answer
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import AnswerInterrupted, InvalidSettings, MissingExtra, ProviderError
from graphrag.extractive_answers.prompt_format import date_line
from graphrag.llm.chat_models import open_chat_model
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import DOCUMENTS, ask, data_of, done, open_library, stages, tokens
from tests.answering import unsure_answers as unsure_answers
from tests.graphrag.table_queries.test_planner import proposed
from tests.model_server import Behaviour, CutStream, Fail, Garbage, Hang, ModelServer, Paced, Reply

pytestmark = pytest.mark.usefixtures("unsure_answers")

COST = "¿Cuánto costó la reparación del puente de Arenal?"
QUOTED = "**9.240 euros** — La reparación costó 9.240 euros. [1]"  # how the extractive model begins its answer


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, model_server: ModelServer) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)


@pytest.fixture
async def library(registry: EmbeddingRegistry, credentials: None) -> Services:
    return await open_with_model(registry)


async def open_with_model(
    registry: EmbeddingRegistry,
    *,
    documents: Mapping[str, str] = DOCUMENTS,
    retries: int = 0,
    timeout_seconds: float = 10,
) -> Services:
    return await open_library(
        registry,
        documents,
        store=InMemoryStore(),
        chat_model="openai:gpt-4o-mini",
        chat_max_retries=retries,
        chat_timeout_seconds=timeout_seconds,
        query_refinement=False,  # which has tests of its own
    )


def chat_bodies(server: ModelServer) -> list[dict[str, Any]]:
    return [request.body for request in server.requests if request.path == "/v1/chat/completions"]


async def test_an_answer_is_streamed_and_cited(library: Services, model_server: ModelServer) -> None:
    """R8.8, R8.9 Token by token; each citation right after its mark, checked against the passage."""
    model_server.script(Reply("La reparación costó 9.240 euros [1]. El puente se cerró en mayo de 2024 [1]."))
    events = await ask(library, COST)
    answer = done(events)
    assert answer["answer"] == "La reparación costó 9.240 euros [1]. El puente se cerró en mayo de 2024 [1]."
    assert "".join(tokens(events)) == answer["answer"]
    assert len(tokens(events)) > 10
    assert [citation["status"] for citation in answer["citations"]] == ["supported", "supported"]
    assert answer["citations"][0]["quote"] == "La reparación costó 9.240 euros."
    assert (answer["degraded"], answer["found"], answer["unsupported_statements"]) == ([], True, [])
    said = ""
    for event in events:
        said += event["data"].get("text", "") if event["event"] == "token" else ""
        if event["event"] == "citation":
            assert said.endswith(("[1]", "[1]."))
    assert len(data_of(events, "citation")) == 2


async def test_what_a_table_gives_is_told_to_the_model(
    registry: EmbeddingRegistry, credentials: None, model_server: ModelServer
) -> None:
    """R1.5, R8.3, R8.4 It is in the prompt with its rows, and a sentence of the model's that says it is supported; a
    sum of the model's own is not.
    """
    rows = ["Factura;Cliente;Importe (€);Estado", "F-1;Gómez;1200;Pagada", "F-2;Lledó;300;Pendiente"]
    invoices = "\n".join([*rows, "F-3;Lledó;990;Pendiente"])
    services = await open_with_model(registry, documents={"facturas.csv": invoices})
    model_server.script(Reply("El importe pendiente de Lledó suma 1.290 € [1]."))
    told = done(await ask(services, "¿Cuánto nos debe Lledó?"))
    prompt = str(chat_bodies(model_server)[-1]["messages"])
    assert "calculado sobre la tabla entera: 1.290 €" in prompt
    assert [citation["status"] for citation in told["citations"]] == ["supported"]
    assert told["table"]["row_count"] == 2
    model_server.script(Reply("El importe pendiente de Lledó suma 2.490 € [1]."))
    wrong = done(await ask(services, "¿Cuánto nos debe Lledó?"))
    assert [citation["status"] for citation in wrong["citations"]] != ["supported"]


async def test_the_model_plans_what_the_rules_do_not_understand(
    registry: EmbeddingRegistry, credentials: None, model_server: ModelServer
) -> None:
    """R1.5, R8.3 Its plan is run over the whole table; without a plan of it the rows stand for themselves."""
    rows = ["Factura;Cliente;Importe (€);Estado", "F-1;Gómez;1200;Pagada", "F-2;Lledó;300;Pendiente"]
    services = await open_with_model(
        registry, documents={"facturas.csv": "\n".join([*rows, "F-3;Lledó;990;Pendiente"])}
    )
    asked = "¿Cuánto suma el pasivo corriente de Lledó?"
    plan = proposed(
        aggregate="sum",
        column="Importe (€)",
        filters=[{"column": "Cliente", "operator": "=", "values": ["Lledó"]}],
    )
    model_server.script(Reply(plan.model_dump_json()), Reply("Lledó suma 1.290 € [1]."))
    told = done(await ask(services, asked))
    assert told["table"]["plan"] == "suma de «Importe (€)» donde Cliente = Lledó (2 de 3 filas)"
    assert [citation["status"] for citation in told["citations"]] == ["supported"]
    model_server.script(Reply(proposed(table=0).model_dump_json()), Reply("No lo dice ningún documento."))
    assert done(await ask(services, asked))["table"] is None


async def test_tokens_come_while_the_model_still_speaks(library: Services, model_server: ModelServer) -> None:
    """R8.9, R12 The first word does not wait for the last."""
    pace = Paced("uno dos tres cuatro cinco seis siete ocho nueve diez")
    model_server.script(pace)
    count = 0
    async with aclosing(stream_answer(graph, [HumanMessage(COST)], Context(services=library))) as events:
        async for event in events:
            if event["event"] == "token":
                pace.receive(event["data"]["text"])
                count += 1
    assert count == 10


async def test_a_mark_before_the_first_word_is_cited_too(library: Services, model_server: ModelServer) -> None:
    """R8.3 Some models lead with the mark: as many citation events as citations."""
    model_server.script(Reply("[1] La reparación costó 9.240 euros."))
    events = await ask(library, COST)
    assert data_of(events, "citation") == done(events)["citations"]
    assert len(done(events)["citations"]) == 1


async def test_what_the_model_is_sent(library: Services, model_server: ModelServer) -> None:
    """R8.1 Rules, date line, history, numbered excerpts, question."""
    messages: list[AnyMessage] = [HumanMessage("¿Qué puente hay?"), AIMessage("El de Arenal [1]."), HumanMessage(COST)]
    events = await ask(library, messages)
    (body,) = chat_bodies(model_server)
    roles = [message["role"] for message in body["messages"]]
    system, _, _, question = [message["content"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in body["messages"][1:3]] == ["¿Qué puente hay?", "El de Arenal [1]."]
    assert date_line("es", date.today()) in system
    assert say("not_found", "es") in system
    assert '<excerpt number="1" file="puente.md"' in question
    for source in done(events)["sources"]:
        assert source["content"] in question
    assert question.endswith(COST)
    assert (body["model"], body["stream"]) == ("gpt-4o-mini", True)


async def test_the_history_window_is_sent(
    registry: EmbeddingRegistry, credentials: None, model_server: ModelServer
) -> None:
    """R8.1 history window (8 messages, 4,000 characters)."""
    services = await open_with_model(registry)
    turns = [HumanMessage(f"pregunta {number}") for number in range(12)]
    await ask(services, [*turns, HumanMessage(COST)])
    (body,) = chat_bodies(model_server)
    sent = [message["content"] for message in body["messages"][1:-1]]
    assert sent == [f"pregunta {number}" for number in range(4, 12)]


async def test_plain_chat_sends_no_excerpts(library: Services, model_server: ModelServer) -> None:
    """R8.10 rag_enabled: false → the question alone."""
    model_server.script(Reply("Hola, ¿qué tal?"))
    events = await ask(library, COST, rag_enabled=False)
    (body,) = chat_bodies(model_server)
    assert body["messages"][-1]["content"] == COST
    assert "9.240" not in str(body)
    assert done(events)["answer"] == "Hola, ¿qué tal?"


async def test_an_empty_collection_sends_nothing(
    registry: EmbeddingRegistry, credentials: None, model_server: ModelServer
) -> None:
    """R8.5 Refused without a request."""
    services = await open_library(
        registry, {}, store=InMemoryStore(), chat_model="openai:gpt-4o-mini", query_refinement=False
    )
    assert done(await ask(services, COST))["found"] is False
    assert model_server.requests == []


@pytest.mark.parametrize(
    "text",
    [
        "La reparación costó 9.240 euros [9].",
        "La reparación costó 9.240 euros [1][9].",
        "La reparación costó 9.240 euros [9, 1, 12].",
        "La reparación [9] costó [ 9 ] 9.240 euros [9[9]].",
        "La reparación costó 9.240 euros [9",
    ],
)
async def test_an_unknown_mark_never_reaches_the_reader(
    library: Services, model_server: ModelServer, text: str
) -> None:
    """R8.4 Not in a token, not in the answer, not as a citation."""
    model_server.script(Reply(text))
    events = await ask(library, COST)
    answer = done(events)
    for shown in ("".join(tokens(events)), answer["answer"]):
        assert "[9]" not in shown
        assert "[12]" not in shown
        assert shown.count("[1]") == text.count("1]") + text.count(" 1,")
    assert {citation["number"] for citation in data_of(events, "citation") + answer["citations"]} <= {1}
    assert answer["degraded"] == []


async def test_an_invented_statement_is_flagged(library: Services, model_server: ModelServer) -> None:
    """R8.4 unsupported statement → flagged, with its citation's status."""
    model_server.script(Reply("La reparación costó 9.240 euros [1]. El alcalde inauguró una piscina cubierta [1]."))
    answer = done(await ask(library, COST))
    assert [citation["status"] for citation in answer["citations"]] == ["supported", "unsupported"]
    assert answer["unsupported_statements"] == ["El alcalde inauguró una piscina cubierta."]


async def test_the_model_finds_nothing(library: Services, model_server: ModelServer) -> None:
    """R8.5 The agreed sentence is a miss: no citation, no flag."""
    model_server.script(Reply(say("not_found", "es")))
    events = await ask(library, COST)
    answer = done(events)
    assert (answer["found"], answer["citations"], answer["unsupported_statements"]) == (False, [], [])
    assert data_of(events, "citation") == []
    assert answer["degraded"] == []


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_failure_is_retried(
    registry: EmbeddingRegistry, credentials: None, model_server: ModelServer, status: int
) -> None:
    """R11.1 retries with backoff: the second request answers, nothing is degraded."""
    services = await open_with_model(registry, retries=2)
    model_server.script(Fail(status), Reply("La reparación costó 9.240 euros [1]."))
    answer = done(await ask(services, COST))
    assert (answer["answer"], answer["degraded"]) == ("La reparación costó 9.240 euros [1].", [])
    assert len(chat_bodies(model_server)) == 2


async def assert_falls_back(services: Services) -> None:
    events = await ask(services, COST)
    answer = done(events)
    assert answer["answer"].startswith(QUOTED)
    assert "".join(tokens(events)).strip() == answer["answer"]
    assert answer["degraded"] == ["generate"]
    assert answer["degraded_messages"] == [say("degraded_generate", "es")]
    assert (answer["found"], answer["citations"][0]["status"]) == (True, "supported")
    assert stages(events)[-2:] == ["generate", "verify"]


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(Fail(500), id="always 500"),
        pytest.param(Fail(429), id="always 429"),
        pytest.param(Fail(401), id="refused key"),
        pytest.param(Hang(30), id="hang"),
        pytest.param(Reply("un dos tres", delay_seconds_per_token=30), id="hang before the first token"),
        pytest.param(Garbage(), id="garbage"),
        pytest.param(Reply(""), id="empty answer"),
        pytest.param(Reply(" \n "), id="blank answer"),
        pytest.param(Reply("[9] [12]"), id="nothing but unknown marks"),
        pytest.param(CutStream(0, "La reparación costó"), id="cut before the first token"),
        pytest.param(CutStream(1, " \n "), id="cut before the first word"),
    ],
)
async def test_a_model_that_fails_is_replaced(
    registry: EmbeddingRegistry, credentials: None, model_server: ModelServer, behaviour: Behaviour
) -> None:
    """R8.8, R11.1, security 17: the extractive model answers within seconds, and the reader is told."""
    services = await open_with_model(registry, timeout_seconds=0.4)
    model_server.default = behaviour
    await assert_falls_back(services)
    assert len(chat_bodies(model_server)) == 1


async def test_retries_end(registry: EmbeddingRegistry, credentials: None, model_server: ModelServer) -> None:
    """R11.1 RAG_CHAT_MAX_RETRIES bounds them."""
    services = await open_with_model(registry, retries=1)
    model_server.default = Fail(500)
    await assert_falls_back(services)
    assert len(chat_bodies(model_server)) == 2


async def test_a_model_server_that_is_gone_is_replaced(
    registry: EmbeddingRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8.8, R11.1 Connection refused."""
    with ModelServer() as server:
        gone = server.base_url
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", gone)
    await assert_falls_back(await open_with_model(registry, retries=1))


async def test_a_stream_that_is_cut_is_no_answer(library: Services, model_server: ModelServer) -> None:
    """R8.9, security 17: what was read is kept with the error; it is not passed off as an answer."""
    model_server.script(CutStream(4, "La reparación costó 9.240 euros [1]. El puente se cerró."))
    read: list[str] = []
    with pytest.raises(AnswerInterrupted) as caught:
        async with aclosing(stream_answer(graph, [HumanMessage(COST)], Context(services=library))) as events:
            async for event in events:
                assert event["event"] != "done"
                read += [event["data"]["text"]] if event["event"] == "token" else []
    assert "".join(read) == caught.value.details["partial_answer"] == "La reparación costó 9.240"
    assert len(chat_bodies(model_server)) == 1


async def wait_for(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(3):
        while not condition():
            await asyncio.sleep(0.01)


async def test_closing_the_events_cancels_the_request(library: Services, model_server: ModelServer) -> None:
    """Security 18: a client that disconnects cancels the graph and the model call."""
    model_server.script(Reply("una respuesta muy larga " * 200, delay_seconds_per_token=0.02))
    events = stream_answer(graph, [HumanMessage(COST)], Context(services=library))
    async for event in events:
        if event["event"] == "token":
            break
    assert model_server.disconnects == 0
    await events.aclose()
    await wait_for(lambda: model_server.disconnects == 1)


async def test_cancelling_the_reader_cancels_the_request(library: Services, model_server: ModelServer) -> None:
    """Security 18: as a web server does when the connection goes, also before the first token."""
    model_server.script(Hang(30))
    reading = asyncio.create_task(ask(library, COST))
    await wait_for(lambda: len(model_server.requests) == 1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await wait_for(lambda: model_server.disconnects == 1)


async def test_answers_do_not_mix(library: Services, model_server: ModelServer) -> None:
    """R8.9 Ten questions at once over the same services: each reader gets the answer to the own question."""
    model_server.default = Reply(lambda body: body["messages"][-1]["content"].rpartition("\n\n")[2])
    questions = [f"¿Cuánto costó el puente número {number}?" for number in range(10)]
    answers = await asyncio.gather(*(ask(library, question) for question in questions))
    assert [done(events)["answer"] for events in answers] == questions
    assert ["".join(tokens(events)) for events in answers] == questions


@pytest.mark.parametrize("name", ["nosuchprovider:gpt", ":gpt-4o-mini"])
def test_a_wrong_provider_stops_the_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """R8.8 The error names the variable and what it holds."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    with pytest.raises(InvalidSettings, match=f"RAG_CHAT_MODEL={name}"):
        open_chat_model(Settings.from_environment(chat_model=name))


def test_a_missing_key_stops_the_start() -> None:
    """R8.8 The error names the variable, the model and the key."""
    with pytest.raises(InvalidSettings, match=r"RAG_CHAT_MODEL=openai:gpt-4o-mini.*OPENAI_API_KEY"):
        open_chat_model(Settings.from_environment(chat_model="openai:gpt-4o-mini"))


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("ollama:llama3", "langchain_ollama", "ollama"), ("google_genai:gemini", "langchain_google_genai", "google")],
)
def test_a_missing_package_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
) -> None:
    """R8.8 The way out is a command."""
    monkeypatch.setitem(sys.modules, package, None)  # as where it is not installed
    with pytest.raises(MissingExtra) as caught:
        open_chat_model(Settings.from_environment(chat_model=name))
    assert f"RAG_CHAT_MODEL={name}" in str(caught.value)
    assert f"make install WITH={extra}" in str(caught.value)


def test_a_key_does_not_show_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Security 20: an error may be logged."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with pytest.raises(InvalidSettings) as caught:
        open_chat_model(Settings.from_environment(chat_model="nosuchprovider:gpt"))
    assert "sk-very-secret" not in repr(caught.value)


@pytest.mark.parametrize("failure", [Fail(500), Garbage()])
async def test_plain_chat_has_nothing_to_fall_back_on(
    library: Services, model_server: ModelServer, failure: Behaviour
) -> None:
    """R8.10 an error that says that the model does not answer, not one about documents or settings."""
    model_server.script(failure)
    with pytest.raises(ProviderError, match="does not answer"):
        await ask(library, COST, rag_enabled=False)

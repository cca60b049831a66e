"""POST chat/stream, read as raw Server-Sent Events; the model is a scripted server."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.expectations import NOT_FOUND, check_citations, check_error, check_error_body
from tests.api.scripted import ANSWER, ENDLESS, QUESTION, SLOW, wait_for_disconnects
from tests.api.streams import PATH, check_ids, joined, read_events, reported, stream
from tests.conftest import Server
from tests.model_server import CutStream, Fail, Garbage, Hang, ModelServer, Paced, Reply

ENVIRONMENT = {  # the model is asked once and waited for one second
    "RAG_CHAT_MAX_RETRIES": "0",
    "RAG_CHAT_FIRST_TOKEN_SECONDS": "1",
    "RAG_CHAT_BREAKER_FAILURES": "1000",  # every test finds it unbroken
    "RAG_STREAM_GRACE_SECONDS": "0.5",
}
ASKED = {
    "es": "¿Qué llevó a Supermercados Lindazo a pedirnos menos cajas cada semana?",
    "fr": "À quelle date s'arrête le contrat avec Épicerie Valadour ?",
    "en": QUESTION,
}
DEGRADED = {
    "es": "El modelo de lenguaje no respondió: la respuesta cita frases de los documentos.",
    "fr": "Le modèle de langage n'a pas répondu : la réponse cite des phrases des documents.",
    "en": "The language model did not respond: the answer quotes sentences of the documents.",
}


@pytest.fixture(scope="module")
def demo_client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


@pytest.mark.parametrize("path", ["/api/chat/stream", "/api/v1/chat/stream"])
@pytest.mark.parametrize("language", ASKED)
def test_events_are_numbered_and_in_order(demo_client: httpx.Client, language: str, path: str) -> None:
    """R9.1, R8.9 status → sources → token and citation → done; the tokens are the answer."""
    events = stream(demo_client, path, message=ASKED[language])
    check_ids(events)
    names = [event.name for event in events]
    assert set(names) == {"status", "sources", "token", "citation", "done"}
    assert names[0] == "status"
    assert names.count("sources") == names.count("done") == 1
    assert names.index("sources") < names.index("token") < names.index("citation")
    assert names[-1] == "done"
    done = events[-1].data
    assert joined(events) == done["answer"]
    assert done["language"] == language
    assert [event.data for event in events if event.name == "citation"] == done["citations"]
    check_citations(done)


def test_the_stream_ends_in_what_the_whole_answer_says(demo_client: httpx.Client) -> None:
    """R9.1 Both doors give the same; the sources come before the first word."""
    events = stream(demo_client, message=QUESTION)
    whole = demo_client.post("/api/chat", json={"message": QUESTION}).json()
    done = events[-1].data
    for answer in (whole, done):
        for name in ("timings_ms", "conversation_id", "parent_id", "message_id"):
            assert answer.pop(name)
    assert done == whole
    sources = next(event.data for event in events if event.name == "sources")
    assert sources == {"sources": done["sources"], "paths": done["paths"]}


@pytest.mark.parametrize("language", ASKED)
def test_each_stage_is_announced_in_the_question_s_language(demo_client: httpx.Client, language: str) -> None:
    """R8.9 What a person reads while waiting."""
    announced = {
        event.data["stage"]: event.data["message"]
        for event in stream(demo_client, message=ASKED[language])
        if event.name == "status"
    }
    assert list(announced)[-2:] == ["generate", "verify"]
    assert {"retrieve", "rerank", "expand"} <= set(announced)
    words = {
        "es": "Buscando en los documentos…",
        "fr": "Recherche dans les documents…",
        "en": "Searching the documents…",
    }
    assert announced["retrieve"] == words[language]


def test_a_refusal_is_streamed_like_an_answer(demo_client: httpx.Client) -> None:
    """R8.5 As tokens, so that a client that only appends them shows it."""
    events = stream(demo_client, message="¿Cuál es el río más largo de África?")
    assert joined(events) == events[-1].data["answer"] == NOT_FOUND["es"]
    assert events[-1].data["found"] is False


def test_no_proxy_holds_the_stream_back(demo_client: httpx.Client) -> None:
    """R8.9 Neither stored nor buffered on its way."""
    with demo_client.stream("POST", "/api/chat/stream", json={"message": QUESTION}) as response:
        response.read()
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["x-request-id"]


def test_tokens_arrive_one_by_one(client: httpx.Client, model: ModelServer) -> None:
    """R8.9 While the model writes, which goes on only when its words have arrived."""
    pace = Paced(ANSWER)
    model.script(pace)
    with client.stream("POST", PATH, json={"message": QUESTION}) as response:
        events = list(reported(read_events(response.iter_lines()), pace))
    assert sum(event.name == "token" for event in events) > 20
    assert joined(events) == events[-1].data["answer"] == ANSWER


def test_a_citation_follows_its_mark_at_once(client: httpx.Client, model: ModelServer) -> None:
    """R8.3 The first is there before the model has written the rest."""
    model.script(SLOW)
    events = stream(client, message=QUESTION)
    names = [event.name for event in events]
    assert names.index("citation") < len(names) - 1 - names[::-1].index("token")
    assert [event.data["number"] for event in events if event.name == "citation"] == [1, 1, 2]
    check_citations(events[-1].data)


def test_a_mark_that_cites_nothing_never_shows(client: httpx.Client, model: ModelServer) -> None:
    """R8.4 Not in a token, not in the answer."""
    model.script(Reply("Harrowmere dropped Dorada from its promotion [1][99]. Full quantities were not sure [77]."))
    events = stream(client, message=QUESTION)
    shown = "Harrowmere dropped Dorada from its promotion [1]. Full quantities were not sure."
    assert joined(events) == events[-1].data["answer"] == shown


def test_the_model_reads_the_sources_and_the_question(client: httpx.Client, model: ModelServer) -> None:
    """R8.1 What was streamed as sources is what the model was given."""
    before = len(model.requests)
    events = stream(client, message=QUESTION)
    asked = [request for request in model.requests[before:] if request.path == "/v1/chat/completions"]
    assert len(asked) == 1
    prompt = "\n".join(message["content"] for message in asked[0].body["messages"])
    assert QUESTION in prompt
    assert asked[0].body["stream"] is True
    sources = next(event.data["sources"] for event in events if event.name == "sources")
    assert all(source["content"].strip()[:80] in prompt for source in sources)


def test_plain_chat_reads_no_document(client: httpx.Client, model: ModelServer) -> None:
    """R8.10 `rag_enabled: false`: no search, no sources, the history goes along."""
    model.script(Reply("Nice to meet you, Ada."))
    before = len(model.requests)
    messages = [
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": "Hello, Ada."},
        {"role": "user", "content": "What is my name?"},
    ]
    events = stream(client, messages=messages, rag_enabled=False)
    assert joined(events) == events[-1].data["answer"] == "Nice to meet you, Ada."
    assert events[-1].data["sources"] == []
    assert {event.data["stage"] for event in events if event.name == "status"} == {"generate", "verify"}
    sent = str(model.requests[before].body["messages"])
    assert "My name is Ada." in sent
    assert "Harrowmere" not in sent


def test_a_client_that_leaves_in_mid_answer_stops_the_model(client: httpx.Client, model: ModelServer) -> None:
    """Security 18: within two seconds, where the answer would take thirty; the next question is answered."""
    model.script(ENDLESS)
    before = model.disconnects
    with client.stream("POST", "/api/chat/stream", json={"message": QUESTION}) as response:
        tokens = (event for event in read_events(response.iter_lines()) if event.name == "token")
        assert len([next(tokens) for _ in range(3)]) == 3
        assert model.disconnects == before
    wait_for_disconnects(model, before + 1)
    assert stream(client, message=QUESTION)[-1].data["answer"] == ANSWER


def test_a_client_that_does_not_wait_for_the_whole_answer_stops_the_model(server: Server, model: ModelServer) -> None:
    """Security 18: …and where it asked for no stream."""
    model.script(ENDLESS)
    before = model.disconnects
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/api/chat", json={"message": QUESTION}, timeout=0.9)
    wait_for_disconnects(model, before + 1)


@pytest.mark.parametrize("language", DEGRADED)
def test_a_model_that_is_down_leaves_the_documents_words(
    client: httpx.Client, model: ModelServer, language: str
) -> None:
    """R11.1, R8.10 The answer quotes the documents, and says in the question's language that it does."""
    model.script(Fail(500))
    events = stream(client, message=ASKED[language])
    done = events[-1].data
    assert done["degraded"] == ["generate"]
    assert done["degraded_messages"] == [DEGRADED[language]]
    assert done["found"]
    assert done["answer"] != ANSWER
    assert joined(events) == done["answer"]
    check_citations(done)


@pytest.mark.parametrize(
    "fault", [Fail(401), Fail(429), Fail(503), Hang(30), Garbage(), CutStream(0, ANSWER), Reply("")], ids=repr
)
def test_whatever_ails_the_model_before_its_first_word_there_is_an_answer(
    client: httpx.Client, model: ModelServer, fault: Any
) -> None:
    """Security 17: refusing, limiting, hanging, garbage, a dropped connection, silence."""
    model.script(fault)
    done = stream(client, message=QUESTION)[-1].data
    assert done["degraded"] == ["generate"]
    assert "we could not promise full quantities" in done["answer"]


def test_a_model_that_recovers_is_used_again(client: httpx.Client, model: ModelServer) -> None:
    """R11.1 One failure does not keep it away."""
    model.script(Fail(500))
    assert stream(client, message=QUESTION)[-1].data["degraded"] == ["generate"]
    done = stream(client, message=QUESTION)[-1].data
    assert done["degraded"] == []
    assert done["answer"] == ANSWER


def test_a_model_cut_off_in_mid_answer_is_an_error_event(client: httpx.Client, model: ModelServer) -> None:
    """R9.1, security 17: the stream ends with a typed error in the reader's language, and what came is kept."""
    model.script(CutStream(6, ANSWER))
    with client.stream(
        "POST", "/api/chat/stream", json={"message": QUESTION}, headers={"Accept-Language": "fr"}
    ) as response:
        events = list(read_events(response.iter_lines()))
    check_ids(events)
    assert events[-1].name == "error"
    assert "done" not in {event.name for event in events}
    body = dict(events[-1].data)
    partial = body.pop("partial_answer")
    assert partial == joined(events)
    assert ANSWER.startswith(partial)
    assert len(partial.split()) >= 5
    error = check_error_body(body)
    assert error["code"] == "model_interrupted"
    assert error["message"] == "Le modèle s'est interrompu au milieu de la réponse. Reposez la question."
    assert error["request_id"] == response.headers["x-request-id"]


def test_a_model_cut_off_in_mid_answer_is_a_bad_gateway(client: httpx.Client, model: ModelServer) -> None:
    """R9 Without a stream, the same error has its HTTP status."""
    model.script(CutStream(6, ANSWER))
    response = client.post("/api/chat", json={"message": QUESTION})
    error = check_error(response, 502, "model_interrupted")
    assert ANSWER.startswith(error["details"]["partial_answer"])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"message": "  "}, 400, "invalid_question"),
        ({"message": "x" * 10_000}, 400, "invalid_question"),
        ({"message": QUESTION, "collection": "nowhere"}, 404, "collection_not_found"),
        ({}, 422, "invalid_request"),
    ],
    ids=["empty", "too long", "unknown collection", "no question"],
)
def test_a_bad_request_is_told_before_the_stream_begins(
    client: httpx.Client, model: ModelServer, body: dict[str, Any], status: int, code: str
) -> None:
    """R9 By its HTTP status and without a call of the model."""
    before = len(model.requests)
    check_error(client.post("/api/chat/stream", json=body), status, code)
    assert len(model.requests) == before


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_shows_the_answer_as_it_is_written(server: Server, model: ModelServer) -> None:
    """R9.1 The README's line: `curl -N`."""
    pace = Paced(ANSWER)
    model.script(pace)
    command = ["curl", "--no-buffer", "--silent", "--show-error", "--fail", "--max-time", "60"]
    command += [f"{server.url}/api/v1/chat/stream", "--json", json.dumps({"message": QUESTION})]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as curl:
        assert curl.stdout is not None
        events = list(reported(read_events(curl.stdout), pace))
    assert curl.returncode == 0
    assert joined(events) == ANSWER

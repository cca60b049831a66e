"""POST chat: the whole answer at once."""

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.parsers.parsing import parse
from tests.api.expectations import NOT_FOUND, check_citations, check_error
from tests.conftest import DEMO, Server

ASKED = {  # language → question, what the answer must hold, where it stands
    "es": (
        "¿Cuánto cobra de más al mes quien está habilitado en varias líneas?",
        "85 € al mes",
        "nota-formacion-linea-l4.md",
    ),
    "fr": (
        "Combien nous a-t-on fait payer pour le détour et l'attente du camion de beurre ?",
        "1 120 €",
        "rapport-livraisons-fevrier.md",
    ),
    "en": (
        "Why did Harrowmere Stores leave Dorada out of its Easter promotion?",
        "we could not promise full quantities",
        "export-office-notes-spring.txt",
    ),
}
UNANSWERABLE = {
    "es": "¿Qué comen los pingüinos?",
    "fr": "Que mangent les pingouins ?",
    "en": "What do penguins eat?",
}
QUESTION = ASKED["es"][0]


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


def ask(client: httpx.Client, path: str = "/api/chat", **body: Any) -> dict[str, Any]:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


@pytest.mark.parametrize("language", ASKED)
def test_answers_in_the_question_s_language_with_citations_that_stand_in_the_document(
    client: httpx.Client, language: str
) -> None:
    """R9.1, R8.3 The answer holds the fact, and each quote is the document's text at the citation's offsets."""
    question, fact, filename = ASKED[language]
    answer = ask(client, message=question)
    assert answer["found"]
    assert answer["language"] == language
    assert fact in answer["answer"].replace("\u202f", " ").replace("\xa0", " ")
    assert filename in {citation["filename"] for citation in answer["citations"]}
    check_citations(answer)
    for citation in answer["citations"]:
        document = parse(
            (DEMO / citation["filename"]).read_bytes(), filename=citation["filename"], limits=ParsingLimits()
        )
        assert document.text[citation["start_char"] : citation["end_char"]] == citation["quote"]


@pytest.mark.parametrize("language", ASKED)
def test_the_alias_answers_the_same(client: httpx.Client, language: str) -> None:
    """R9 /api/… is /api/v1/…; the same question over the same documents has the same answer, each in a conversation."""
    question = ASKED[language][0]
    answers = [ask(client, path, message=question) for path in ("/api/chat", "/api/v1/chat")]
    for answer in answers:
        assert answer.pop("timings_ms")["total"] > 0
    for name in ("conversation_id", "parent_id", "message_id"):
        assert len({answer.pop(name) for answer in answers} - {None}) == 2
    assert answers[0] == answers[1]
    assert answers[0]["citations"]


def test_every_number_of_the_answer_is_explained(client: httpx.Client) -> None:
    """R8.9 Reliability is the part of the sources that the answer uses; sources are numbered from 1."""
    answer = ask(client, message=QUESTION)
    numbers = [source["number"] for source in answer["sources"]]
    assert numbers == list(range(1, len(numbers) + 1))
    used = {citation["number"] for citation in answer["citations"]}
    assert answer["reliability"] == round(len(used) / len(numbers), 3)
    assert answer["degraded"] == answer["degraded_messages"] == answer["unsupported_statements"] == []
    assert {"transform", "retrieve", "rerank", "expand", "generate", "verify", "total"} <= set(answer["timings_ms"])


def test_a_conversation_is_answered_by_its_last_question(client: httpx.Client) -> None:
    """R9.1 `messages`: the question is the last; what was said before does not change what it asks."""
    question, fact, _ = ASKED["en"]
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "85 € al mes."},
        {"role": "user", "content": question},
    ]
    answer = ask(client, messages=messages)
    assert fact in answer["answer"]
    assert answer["language"] == "en"
    check_citations(answer)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"message": QUESTION, "messages": [{"role": "user", "content": QUESTION}]}, "", id="both"),
        pytest.param({}, "", id="neither"),
        pytest.param({"messages": []}, "", id="no messages"),
        pytest.param({"messages": [{"role": "assistant", "content": "Hola"}]}, "", id="last is not the user's"),
        pytest.param({"messages": [{"role": "system", "content": "Hola"}]}, "messages.0.role", id="foreign role"),
        pytest.param({"messages": [{"role": "user"}]}, "messages.0.content", id="no content"),
        pytest.param({"messages": [{"role": "user", "content": "x"}] * 101}, "messages", id="too many messages"),
        pytest.param({"message": QUESTION, "temperature": 1}, "temperature", id="unknown field"),
        pytest.param({"message": 7}, "message", id="not a text"),
        pytest.param({"message": QUESTION, "top_k": 0}, "top_k", id="top_k too small"),
        pytest.param({"message": QUESTION, "top_k": 51}, "top_k", id="top_k too large"),
        pytest.param({"message": QUESTION, "top_k": True}, "top_k", id="top_k no number"),
        pytest.param({"message": QUESTION, "retrieval": "hybrid"}, "retrieval", id="retrieval is no object"),
        pytest.param({"message": QUESTION, "filters": ["es"]}, "filters", id="filters are no object"),
        pytest.param({"message": "x", "filters": dict.fromkeys(map(str, range(51)))}, "filters", id="many filters"),
        pytest.param({"message": QUESTION, "rag_enabled": "perhaps"}, "rag_enabled", id="not a truth value"),
    ],
)
@pytest.mark.parametrize("path", ["/api/chat", "/api/v1/chat/stream"])
def test_a_wrong_request_names_its_field(client: httpx.Client, path: str, body: dict[str, Any], field: str) -> None:
    """R9 Once, with the reason in the message: one cause is not told twice."""
    error = check_error(client.post(path, json=body), 422, "invalid_request")
    assert [entry["field"] for entry in error["details"]["errors"]] == [field]
    assert error["details"]["reason"] in error["message"]
    assert error["details"]["errors"][0]["message"] in error["details"]["reason"]


def test_a_request_wrong_in_several_ways_names_them_all(client: httpx.Client) -> None:
    """R9 …so that it is put right at once."""
    error = check_error(client.post("/api/chat", json={"message": 7, "top_k": 99}), 422, "invalid_request")
    assert {entry["field"] for entry in error["details"]["errors"]} == {"message", "top_k"}


@pytest.mark.parametrize("top_k", [1, 2])
def test_top_k_limits_the_sources(client: httpx.Client, top_k: int) -> None:
    """R4.10, R9.1 The chunks that reach the answer."""
    assert 1 <= len(ask(client, message=QUESTION, top_k=top_k)["sources"]) <= top_k
    assert len(ask(client, message=QUESTION, top_k=8, retrieval={"least_share": 0})["sources"]) > top_k


def test_a_request_may_say_how_and_where_is_searched(client: httpx.Client) -> None:
    """R4.5, R4.10 Overrides and filters; what is not valid is told in the answer."""
    retrieval = {"strategy": "fulltext", "top_k": 2, "rrf_k": "x", "magic": 1}
    filters = {"language": ["fr"], "document_type": "md"}
    answer = ask(client, message=ASKED["fr"][0], retrieval=retrieval, filters=filters)
    assert 1 <= len(answer["sources"]) <= 2
    assert {source["language"] for source in answer["sources"]} == {"fr"}
    assert "vector" not in answer["timings_ms"]
    assert [warning.partition(" is not used")[0] for warning in answer["warnings"]] == ["rrf_k='x'", "'magic'=1"]
    assert ask(client, message=QUESTION)["warnings"] == []


def test_a_question_that_names_files_is_answered_from_them(client: httpx.Client) -> None:
    """R4.5, R8.7"""
    names = {"nota-formacion-linea-l4.md", "informe-calidad-horno-h2.md"}
    answer = ask(client, message=f"Compara {' y '.join(sorted(names))}: ¿qué pasó en enero?")
    assert {source["filename"] for source in answer["sources"]} == names


def test_the_collection_s_name_is_the_only_one_needed(client: httpx.Client) -> None:
    """R9.1 With the only collection named or not, the answer is the same."""
    named, unnamed = ask(client, message=QUESTION, collection="demo"), ask(client, message=QUESTION)
    assert named["answer"] == unnamed["answer"]
    assert named["sources"] == unnamed["sources"]


def test_an_unknown_collection_is_told_with_the_known_ones(client: httpx.Client) -> None:
    """R9 The error names the way out."""
    error = check_error(
        client.post("/api/chat", json={"message": QUESTION, "collection": "demos"}), 404, "collection_not_found"
    )
    assert error["details"] == {"name": "demos", "known": ["demo"]}
    assert "demos" in error["message"]


@pytest.mark.parametrize("language", UNANSWERABLE)
def test_what_the_documents_do_not_say_is_refused(client: httpx.Client, language: str) -> None:
    """R8.5 In the question's language, without a citation."""
    answer = ask(client, message=UNANSWERABLE[language])
    assert answer["answer"] == NOT_FOUND[language]
    assert answer["found"] is False
    assert answer["citations"] == []
    assert answer["reliability"] == 0
    assert answer["language"] == language


def test_without_retrieval_no_document_is_read(client: httpx.Client) -> None:
    """R8.10 Without a language model there is nobody to chat with: the answer says so and names the setting."""
    answer = ask(client, message=QUESTION, rag_enabled=False)
    assert answer["sources"] == answer["citations"] == []
    assert "RAG_CHAT_MODEL" in answer["answer"]
    assert "85" not in answer["answer"]
    assert "retrieve" not in answer["timings_ms"]


def test_every_request_has_an_id_of_its_own(client: httpx.Client) -> None:
    """R9 X-Request-ID on answers and errors alike; an error holds the same in its body."""
    responses = [
        client.post("/api/chat", json={"message": QUESTION}),
        client.post("/api/chat", json={"message": " "}),
        client.post("/api/chat", json={}),
        client.get("/api/nothing"),
        client.get("/health"),
        client.get("/"),
    ]
    identities = [response.headers["x-request-id"] for response in responses]
    assert all(first != second for first, second in itertools.combinations(identities, 2))
    for response, identity in zip(responses, identities, strict=True):
        if response.status_code >= 400:
            assert response.json()["error"]["request_id"] == identity

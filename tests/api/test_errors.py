"""Whatever is asked, the answer is an answer or an error in our format."""

import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.errors import MESSAGES
from api.middleware.json_bodies import MOST_KEYS
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.linguistics.rules import read_texts
from tests.api.expectations import check_error, check_error_body
from tests.api.streams import stream
from tests.conftest import DEMO, Server, run_server
from tests.processes import ROOT

WORDS = [json.loads(path.read_text()) for path in (ROOT / "api" / "static").glob("**/words/*.json")]
EMPTY = {
    "es": "La pregunta está vacía. Escriba una.",
    "fr": "La question est vide. Écrivez-en une.",
    "en": "The question is empty. Write one.",
}
TOO_LONG = {
    "es": "La pregunta es demasiado larga: como máximo 4000 caracteres.",
    "fr": "La question est trop longue : 4000 caractères au maximum.",
    "en": "The question is too long: at most 4000 characters.",
}
CONTROL = {
    "es": "La pregunta contiene caracteres de control. Elimínelos.",
    "fr": "La question contient des caractères de contrôle. Supprimez-les.",
    "en": "The question contains control characters. Remove them.",
}
NO_DATABASE = {
    "es": "La base de datos no responde. Inténtelo de nuevo en unos segundos.",
    "fr": "La base de données ne répond pas. Réessayez dans quelques secondes.",
    "en": "The database does not respond. Try again in a few seconds.",
}
QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
DOORS = ["/api/chat", "/api/v1/chat", "/api/chat/stream", "/api/v1/chat/stream"]
RECOVERY_SECONDS = 20  # a machine is busy at times


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


@pytest.mark.parametrize("language", ["es", "fr", "en"])
@pytest.mark.parametrize(
    ("question", "messages", "reason"),
    [
        ("", EMPTY, "empty"),
        (" \n\t\u3000 ", EMPTY, "empty"),
        ("x" * 10_000, TOO_LONG, "too_long"),
        ("¿Por qué?\0", CONTROL, "control_characters"),
        ("\x1b[31m¿Por qué?", CONTROL, "control_characters"),
    ],
    ids=["empty", "spaces", "long", "NUL", "escape"],
)
def test_a_question_that_is_none_is_refused_in_the_reader_s_language(
    client: httpx.Client, question: str, messages: dict[str, str], reason: str, language: str
) -> None:
    """R9 By Accept-Language; what to do stands in the message."""
    response = client.post("/api/chat", json={"message": question}, headers={"Accept-Language": language})
    error = check_error(response, 400, "invalid_question")
    assert error["message"] == messages[language]
    assert error["details"]["reason"] == reason


@pytest.mark.parametrize("path", DOORS)
def test_every_door_refuses_alike(client: httpx.Client, path: str) -> None:
    """R9 Also as the last of several messages."""
    turns = [{"role": "user", "content": QUESTION}, {"role": "user", "content": " "}]
    for body in ({"message": ""}, {"messages": turns}):
        assert check_error(client.post(path, json=body), 400, "invalid_question")["message"] == EMPTY["en"]


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("fr-CA,fr;q=0.9", "fr"),
        ("de, en;q=0.5", "en"),
        ("de", "es"),
        ("*", "es"),
        ("", "es"),
        ("EN-us", "en"),
        ("en;q=0.2, fr;q=0.7, de;q=0.9", "fr"),
        ("en;q=0, fr;q=0.1", "fr"),
        ("es-419,es;q=0.9,en;q=0.8", "es"),
        (";;;,=,q=,;q=1", "es"),
        ("fr;q=much, en;q=0.1", "en"),
        ("fr;q=nan", "es"),
        ("../../etc/passwd", "es"),
        ("x" * 5000, "es"),
        ("en_GB", "en"),
    ],
)
def test_the_message_s_language_is_the_best_that_we_speak(client: httpx.Client, header: str, language: str) -> None:
    """R9 es, fr or en by Accept-Language; es where nothing fits, whatever the header holds."""
    response = client.post("/api/chat", json={"message": ""}, headers={"Accept-Language": header})
    assert check_error(response, 400, "invalid_question")["message"] == EMPTY[language]


def test_without_a_wished_language_messages_are_english(demo_server: Server) -> None:
    """R9 Programs send none; httpx sends no Accept-Language by itself."""
    response = httpx.post(f"{demo_server.url}/api/chat", json={"message": ""})
    assert "accept-language" not in response.request.headers
    assert check_error(response, 400, "invalid_question")["message"] == EMPTY["en"]


@pytest.mark.parametrize("language", ["es", "fr", "en"])
@pytest.mark.parametrize("name", ["demos", "{name}", "%s", "a\0b", "'; DROP TABLE collections; --", "ñ" * 500])
def test_an_unknown_collection_is_named(client: httpx.Client, name: str, language: str) -> None:
    """R9, security 12: as it was written, and as a value only."""
    response = client.post(
        "/api/chat", json={"message": QUESTION, "collection": name}, headers={"Accept-Language": language}
    )
    error = check_error(response, 404, "collection_not_found")
    assert error["details"] == {"name": name, "known": ["demo"]}
    assert name in error["message"]
    assert "/api/v1/collections/" in error["message"]


KNOWN_FILTERS = [
    *("document_type", "language", "source_type", "processing_strategy", "tags", "filename"),
    *("created_from", "created_until"),
]


@pytest.mark.parametrize("language", ["es", "fr", "en"])
@pytest.mark.parametrize(
    ("filters", "reason", "told"),
    [
        ({"owner_id": "local"}, "unknown_filter", {"es": "no existe", "fr": "n'existe pas", "en": "does not exist"}),
        ({"tags": 7}, "filter_value", {"es": "un texto", "fr": "un texte", "en": "a text"}),
        ({"filename": "a\0b"}, "filter_value", {"es": "un texto", "fr": "un texte", "en": "a text"}),
        ({"created_from": "ayer"}, "filter_date", {"es": "una fecha", "fr": "une date", "en": "a date"}),
    ],
)
@pytest.mark.parametrize("path", ["/api/chat", "/api/v1/chat/stream"])
def test_a_filter_that_is_none_is_refused_with_those_that_are(
    client: httpx.Client, path: str, filters: dict[str, Any], reason: str, told: dict[str, str], language: str
) -> None:
    """R4.5, R9 Keys are allow-listed; before a stream begins."""
    headers = {"Accept-Language": language}
    response = client.post(path, json={"message": QUESTION, "filters": filters}, headers=headers)
    error = check_error(response, 400, "invalid_filter")
    (key,) = filters
    assert error["details"] == {"reason": reason, "key": key, "known": KNOWN_FILTERS}
    assert told[language] in error["message"]
    assert key in error["message"]


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b'{"message": ', "application/json"),
        (b'{"message": "hola"} and more', "application/json"),
        (b"", "application/json"),
        (b"null", "application/json"),
        (b"[]", "application/json"),
        (b'"hola"', "application/json"),
        (b'{"message": "hola"}', "text/plain"),
        (b"message=hola", "application/x-www-form-urlencoded"),
        (b'{"message": "hola", "top_k": NaN}', "application/json"),
        (b'{"message": "hola", "top_k": 1e999}', "application/json"),
        (b'{"message": "hola \\ud800"}', "application/json"),
        (b'{"message": "hola", "collection": "\\ud800"}', "application/json"),
        (b'{"messages": [{"role": "user", "content": "\\udfff"}]}', "application/json"),
        (b'{"message": "hola", "\\ud800": 1}', "application/json"),
        (b'{"message": "hola", "filters": {"\\ud800": 1}}', "application/json"),
        (b'{"message": "hola", "retrieval": {"\\ud800": 1}}', "application/json"),
    ],
)
@pytest.mark.parametrize("path", ["/api/chat", "/api/chat/stream"])
def test_a_body_that_is_no_request_is_refused(
    client: httpx.Client, path: str, content: bytes, content_type: str
) -> None:
    """R9 Malformed, of another type, with numbers or characters that are none."""
    response = client.post(path, content=content, headers={"Content-Type": content_type, "Accept-Language": "en"})
    error = check_error(response, 422, "invalid_request")
    assert error["message"] == f"The request is not valid: {error['details']['reason']}"
    assert len(error["details"]["errors"]) == 1


@pytest.mark.parametrize("content", [b'{"message": "\xff\xfe"}', b"[" * 100_000], ids=["not UTF-8", "deeply nested"])
def test_a_body_that_cannot_be_read_is_refused(client: httpx.Client, content: bytes) -> None:
    """R9, security 17: garbage."""
    response = client.post("/api/chat", content=content, headers={"Content-Type": "application/json"})
    check_error(response, 400, "invalid_request")


@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/v1/retrieve"])
def test_many_errors_are_counted_and_long_ones_cut(client: httpx.Client, path: str) -> None:
    """R9.5, Security 8 An answer is not longer than its question: 200 kB of unknown fields get some kilobytes."""
    body = {"message": "¿Qué?", "query": "¿Qué?"} | {f"{number:06}{'x' * 40}": 1 for number in range(MOST_KEYS - 3)}
    response = client.post(path, json=body | {"y" * 50_000: 1})
    assert response.status_code == 422
    assert len(response.content) < 20_000
    error = response.json()["error"]
    assert 0 < len(error["details"]["errors"]) <= 20
    assert error["details"]["reason"].endswith(" more")


@pytest.mark.parametrize("path", ["/api/v1/chat", "/api/v1/collections/demo/documents", "/v1/chat/completions"])
def test_keys_without_number_are_counted_alone(client: httpx.Client, path: str) -> None:
    """R9.5, Security 16 None of them is listed, wherever the object is that has them."""
    keys = dict.fromkeys(map(str, range(MOST_KEYS + 1)), 1)
    for body in (keys, {"message": "¿Qué?", "documents": [{"text": "a", "metadata": keys}]}):
        error = check_error(client.post(path, json=body), 422, "invalid_request")
        assert error["details"]["reason"] == f"An object has {MOST_KEYS + 1:,} keys: at most {MOST_KEYS} are read."


def test_unknown_fields_of_a_text_are_counted(client: httpx.Client) -> None:
    """R9.5, Security 16 Of a hundred texts, each could have thousands."""
    text = {"text": "a"} | dict.fromkeys(map(str, range(2_000)), 1)
    answer = client.post("/api/v1/collections/demo/documents", json={"documents": [text] * 50})
    assert "2,000 fields are unknown" in check_error(answer, 400, "invalid_documents")["message"]


@pytest.mark.parametrize(
    "path", ["/nothing", "/api/nothing", "/static/nothing.js", "/static/../app.py", "/static/%2e%2e/app.py"]
)
def test_an_unknown_path_points_to_the_documentation(client: httpx.Client, path: str) -> None:
    """R9 In the reader's language; what lies outside of static/ is not there."""
    error = check_error(client.get(path, headers={"Accept-Language": "fr"}), 404, "not_found")
    assert error["message"] == "Cette adresse n'existe pas. Consultez les routes disponibles dans /docs."


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/chat"), ("DELETE", "/api/v1/chat/stream"), ("POST", "/health")]
)
def test_another_method_is_refused_with_those_that_work(client: httpx.Client, method: str, path: str) -> None:
    """R9 405 with the header Allow, and a message without a word of another language."""
    response = client.request(method, path)
    told = check_error(response, 405, "method_not_allowed")["message"]
    assert told == f"This address does not accept the method {method}. See the available routes at /docs."
    french = client.request(method, path, headers={"Accept-Language": "fr"}).json()["error"]["message"]
    assert french.startswith(f"Cette adresse n'accepte pas la méthode {method}. ")
    assert response.headers["allow"] in {"POST", "GET"}
    assert response.headers["allow"] != method


@pytest.mark.parametrize(
    "question",
    [
        "'",
        "''",
        ":*",
        "<->",
        "<2>",
        '"',
        '""',
        '"horno',
        "\\",
        "\\' OR 1=1 --",
        "&|!()",
        "!!!",
        "horno & !compresor | (gas:*",
        "'; DROP TABLE causeway.chunks; --",
        "SELECT * FROM chunks WHERE '1'='1'",
        "%s %(name)s {} {0} $1",
        "🍪🏭 🧑‍🔧",
        "لماذا سُحبت البسكويت؟",
        "\u202e¿Por qué?\u202c",
        "为什么召回饼干？",
        "q\u0301\u0323" * 50,
        "\ufeff\u200b?",
        "...",
        "[1][2][3]",
        "<script>alert(1)</script>",
        "x" * 4000,
        "horno " * 666,
    ],
)
def test_any_characters_are_a_question(client: httpx.Client, question: str) -> None:
    """Security 10: nothing in a question is a query language; every stage copes with it."""
    response = client.post("/api/chat", json={"message": question})
    assert response.status_code == 200, response.text
    assert response.json()["degraded"] == []


def test_the_documents_are_all_there_after_hostile_questions(client: httpx.Client) -> None:
    """Security 12: SQL in a question is text."""
    for question in ("'; DROP TABLE causeway.chunks CASCADE; --", "'); DELETE FROM documents; --"):
        assert client.post("/api/chat", json={"message": question}).status_code == 200
    assert "Because we could not promise" in client.post("/api/chat", json={"message": QUESTION}).json()["answer"]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=300), collection=st.none() | st.text(max_size=20), top_k=st.none() | st.integers())
def test_random_requests_never_break_the_service(
    client: httpx.Client, question: str, collection: str | None, top_k: int | None
) -> None:
    """Security 10: an answer with every stage, or an error that is the request's."""
    response = client.post("/api/chat", json={"message": question, "collection": collection, "top_k": top_k})
    if response.status_code == 200:
        assert response.json()["degraded"] == []
    else:
        assert 400 <= response.status_code < 500
        check_error_body(response.json())


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(alphabet=st.sampled_from("'\":*<->&|!()\\%_ horno[]{}«»“”\n"), min_size=1, max_size=40))
def test_random_operators_never_break_a_stage(client: httpx.Client, question: str) -> None:
    """Security 10, 12: the marks of SQL, of tsquery and of quotes in any order."""
    response = client.post("/api/chat", json={"message": question})
    assert response.status_code == (200 if question.strip() else 400), response.text
    if question.strip():
        assert response.json()["degraded"] == []


@dataclass(frozen=True)
class OwnDatabase:
    """A service over a PostgreSQL that a test may stop."""

    postgres: EmbeddedPostgres
    url: str
    client: httpx.Client

    def ask(self, language: str = "es") -> httpx.Response:
        return self.client.post("/api/chat", json={"message": QUESTION}, headers={"Accept-Language": language})


@pytest.fixture(scope="module")
def own_database() -> Iterator[OwnDatabase]:
    home = Path(tempfile.mkdtemp(prefix="cw-", dir="/tmp"))
    postgres = EmbeddedPostgres(home)
    url = postgres.start()
    arguments = ("--collection", "demo", "--ingest", str(DEMO / "yearly-review-2025.md"))
    with (
        run_server(
            *arguments, DATABASE_URL=url, RAG_DATABASE_TIMEOUT_SECONDS="1", RAG_QUERY_CACHE_SECONDS="0"
        ) as server,
        server.client() as client,
    ):
        yield OwnDatabase(postgres, url, client)
    postgres.stop()
    shutil.rmtree(home)


def until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not (reached := condition()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return reached


def test_a_stopped_database_is_told_and_its_return_noticed(own_database: OwnDatabase) -> None:
    """R11.1, security 17: 503 in three languages while it is away, degraded health, answers again when it is back."""
    client = own_database.client
    assert own_database.ask().json()["found"]
    own_database.postgres.stop()

    for language, message in NO_DATABASE.items():
        error = check_error(own_database.ask(language), 503, "database_unavailable")
        assert error["message"] == message
    check_error(client.post("/api/chat/stream", json={"message": QUESTION}), 503, "database_unavailable")
    health = client.get("/health")
    assert health.status_code == 200
    assert (health.json()["status"], health.json()["database"]) == ("degraded", "unavailable")
    check_error(client.get("/ready"), 503, "database_unavailable")
    assert client.get("/").status_code == 200
    assert client.get("/metrics").status_code == 200

    assert own_database.postgres.start() == own_database.url
    assert until(lambda: own_database.ask().status_code == 200, RECOVERY_SECONDS)
    assert own_database.ask().json()["found"]
    assert client.get("/health").json()["status"] == "ok"


def test_a_restarted_database_costs_at_most_a_few_questions(own_database: OwnDatabase) -> None:
    """Security 17: connections that died in the pool are replaced."""
    assert until(lambda: own_database.ask().status_code == 200, RECOVERY_SECONDS)
    own_database.postgres.stop()
    own_database.postgres.start()
    for response in (own_database.ask() for _ in range(5)):
        assert response.status_code in {200, 503}
    assert own_database.ask().status_code == 200


UNCHECKED = "ALTER TABLE causeway.lexeme_statistics DROP CONSTRAINT lexeme_statistics_document_frequency_check"
NEGATED = "UPDATE causeway.lexeme_statistics SET document_frequency = -document_frequency"


def test_a_fault_that_nobody_foresaw_is_an_error_with_its_id(own_database: OwnDatabase) -> None:
    """R9 500 in our format, nothing of the inside; a stream that has begun ends with it as an event."""
    assert until(lambda: own_database.ask().status_code == 200, RECOVERY_SECONDS)
    with psycopg.connect(own_database.url, autocommit=True) as connection:
        connection.execute(UNCHECKED)
        connection.execute(NEGATED)  # of which there is no logarithm
    try:
        for _ in range(20):  # the server cuts the connection of a failed request: the client has been told
            error = check_error(own_database.ask("en"), 500, "internal_error")
        assert error["details"] == {}
        assert error["request_id"] in error["message"]
        last = stream(own_database.client, message=QUESTION)[-1]
        assert last.name == "error"
        body: dict[str, Any] = dict(last.data)
        assert body.pop("partial_answer") == ""
        assert check_error_body(body)["code"] == "internal_error"
    finally:
        with psycopg.connect(own_database.url, autocommit=True) as connection:
            connection.execute(NEGATED)
    assert own_database.ask().status_code == 200


def test_request_ids_cannot_be_forged(client: httpx.Client) -> None:
    """R11.2 The id in the logs is ours, not the client's text."""
    response = client.get("/api/nothing", headers={"X-Request-ID": "forged"})
    identity = response.headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{32}", identity)


def test_no_message_speaks_of_the_command_line() -> None:
    """R9.1 Who reads them in a browser has none; the command line says its own."""
    texts = [*MESSAGES.values(), *read_texts("agent", "messages").values(), *WORDS]
    assert [text for text in texts if re.search(r"causeway [a-z]", str(text))] == []

"""Whatever a request holds: an answer, or an error of ours that says what is wrong with it."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.expectations import check_error_body
from tests.conftest import DEMO, Server, run_server

pytestmark = pytest.mark.slow
HOSTILE = [
    "'",
    '"',
    ":*",
    "<->",
    "horno:* & !retén",
    "\0",
    "a\0b",
    "\ud800",
    "$$; DROP TABLE causeway.chunks; --",
    "%(owner_id)s",
    "{filter}",
    "%s%n",
    "../../etc/passwd",
    "${jndi:ldap://127.0.0.1/a}",
    "\u202e\ufeff\u200b",
    "x" * 10_000,
    "horno " * 10_000,
    "(" * 10_000,
    "\n" * 5_000 + "a",
    "🔥" * 3_000,
    "ﷺ" * 2_000,
    "NaN",
    "-1",
    str(10**400),
]
MARKS = st.text(st.sampled_from("'\":*<->&|!()\\%_ {}[]$;\0\ud800\u202ehorno"), max_size=40)
TEXT = st.sampled_from(HOSTILE) | MARKS | st.text(max_size=60)
VALUE = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.lists(TEXT, max_size=3)
JSON = VALUE | st.dictionaries(TEXT, VALUE, max_size=3)
FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def client(make_database: Callable[[], str]) -> Iterator[httpx.Client]:
    arguments = ("--collection", "demo", "--ingest", str(DEMO / "yearly-review-2025.md"))
    with run_server(*arguments, DATABASE_URL=make_database()) as server, _client(server) as client:
        yield client


def _client(server: Server) -> httpx.Client:
    return httpx.Client(base_url=f"{server.url}/api/v1", timeout=60)


def check(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        check_error_body(answer.json())
    elif '"degraded"' in answer.text and answer.headers["content-type"] == "application/json":
        assert answer.json()["degraded"] == []


def send(client: httpx.Client, path: str, body: Any, method: str = "POST") -> httpx.Response:
    """As JSON, whatever it holds: lone surrogates as \\u escapes, NaN and infinities as Python writes them."""
    headers = {"Content-Type": "application/json"}
    return client.request(method, path, content=json.dumps(body).encode(), headers=headers)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_texts(client: httpx.Client, text: str) -> None:
    """Security 10: as question, filter, collection, tag, filename, rating, option; in bodies, paths and queries."""
    in_address = quote(text.encode(errors="surrogatepass")[:2_000], safe="")
    in_form = text.encode(errors="replace").decode()[:500]
    for body in (
        {"message": text},
        {"message": f'¿Qué dice "{text}"?'},
        {"messages": [{"role": "user", "content": text}, {"role": "user", "content": "¿Por qué?"}]},
        {"message": "¿Por qué?", "collection": text},
        {"message": "¿Por qué?", "filters": {"filename": text, "tags": [text], "language": text}},
        {"message": "¿Por qué?", "filters": {text: text, "created_from": text}},
        {"message": "¿Por qué?", "retrieval": {text: text, "strategy": text, "rrf_k": text}},
    ):
        check(send(client, "/chat", body))
    check(send(client, f"/collections/{in_address}", {"generation": {"system_prompt": text}}, "PUT"))
    check(send(client, "/collections/limits", {"retrieval": {text: text}, "ingestion": {"chunking": text}}, "PUT"))
    check(client.delete(f"/collections/{in_address}"))
    check(client.get(f"/documents/{in_address}"))
    check(client.get("/documents", params=f"collection={in_address}&cursor={in_address}&limit={in_address}"))
    check(client.get("/conversations", params=f"search={in_address}&cursor={in_address}"))
    check(send(client, "/feedback", {"message_id": text, "rating": text, "comment": text}))
    files = {"files": (in_form.replace("\0", "") or "a", b"Nota.")}
    check(client.post("/documents", files=files, data={"collection": in_form, "tags": [in_form], "chunking": in_form}))


def test_what_it_holds_is_there_afterwards(client: httpx.Client) -> None:
    """Security 10, 12: nothing of all that was a statement."""
    answer = client.post("/chat", json={"message": "Why was the recall of Almendrina necessary?", "collection": "demo"})
    assert answer.status_code == 200
    assert answer.json()["sources"]


@FEW
@given(question=TEXT, filters=st.dictionaries(TEXT, JSON, max_size=3), options=st.dictionaries(TEXT, JSON, max_size=3))
def test_any_question_is_answered_or_refused(
    client: httpx.Client, question: str, filters: dict[str, Any], options: dict[str, Any]
) -> None:
    """Security 10"""
    known = {"tags": question, "filename": [question], "created_until": question}
    check(send(client, "/chat", {"message": question, "filters": filters, "retrieval": options}))
    check(send(client, "/chat", {"message": "¿Qué horno falló?", "collection": "demo", "filters": known}))


@FEW
@given(body=JSON)
def test_any_body_is_taken_or_refused(client: httpx.Client, body: Any) -> None:
    """Security 10"""
    check(send(client, "/chat", body))
    check(send(client, "/chat/stream", body))
    check(send(client, "/feedback", body))
    check(send(client, "/collections/limits", body, "PUT"))
    check(send(client, "/collections/limits", {"retrieval": body, "ingestion": body, "generation": body}, "PUT"))


@FEW
@given(content=st.binary(max_size=300), boundary=st.sampled_from([b"x", b"", b'"', b"a" * 200]))
def test_any_form_is_taken_or_refused(client: httpx.Client, content: bytes, boundary: bytes) -> None:
    """Security 9, 10: torn and invented multipart bodies."""
    framed = (
        b"--" + boundary + b'\r\nContent-Disposition: form-data; name="files"; filename="' + content[:40] + b'"\r\n\r\n'
    )
    headers = {b"Content-Type": b"multipart/form-data; boundary=" + boundary}
    for body in (content, framed + content, framed + content + b"\r\n--" + boundary + b"--\r\n"):
        check(client.post("/documents", content=body, headers=headers))


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
@pytest.mark.parametrize(
    "content_type", ["", "application/json", "text/xml", "multipart/form-data", "a/b; charset=\xff"]
)
def test_any_method_and_type_is_taken_or_refused(client: httpx.Client, method: str, content_type: str) -> None:
    """Security 10"""
    headers = {b"Content-Type": content_type.encode("latin-1")} if content_type else {}
    for path in ("/chat", "/documents", "/collections/x/y", "/conversations", "/%00", "/documents/%ff"):
        check(client.request(method, path, content=b"<a/>", headers=headers))

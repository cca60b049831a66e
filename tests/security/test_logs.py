"""What the service writes down of itself, at the level that tells most."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import psycopg
import pytest

from tests.conftest import Server, run_server
from tests.graphrag.parsers.documents import make_docx, make_pdf
from tests.model_server import Behaviour, CutStream, Fail, Garbage, ModelServer, Reply

pytestmark = pytest.mark.slow
KEY = "sk-geheim-0123456789abcdefghijklmnop"
WRONG_KEYS = ["cw_falsch0123456789abcdefghijkl", "eyJhbGciOiJub25lIn0." + "eyJzdWIiOiJ4In0.", "Zugangswort-7"]
# Words that nothing but a document, a question, an answer, a prompt or a name of somebody's holds.
DOCUMENT = "La zarzaquimera del horno H2 se partió porque el trufaldín estaba oxidado desde el martes."
WORDS = ["zarzaquimera", "trufald"]
QUESTION = "¿Por qué se averió el murmullador de la zarzaquimera?"
ANSWER = "Porque el trufaldín estaba oxidado, dice el pergaminista [1]."
ASKED = ["murmullador", "pergaminista"]
RULES = "Responde siempre como un almirantazgo."
OWNER = "anna.murmullador@example.org"
SECRETS = ["anna", *WORDS, *ASKED, "almirantazgo", "geheim", *WRONG_KEYS]
WAIT_SECONDS = 60
FAILURES: list[Behaviour] = [
    *(Fail(401), Fail(500), Garbage()),
    *(CutStream(3, ANSWER, "drop"), CutStream(3, ANSWER, "error"), CutStream(3, ANSWER, "end")),
]


@contextmanager
def indiscreet_model() -> Iterator[str]:
    """One that repeats the key and the question in its error, as some do."""

    class Indiscreet(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            shown = f"Incorrect API key provided: {self.headers['Authorization']}; you sent {json.loads(sent)}"
            body = json.dumps({"error": {"message": shown, "type": "invalid_request_error", "code": "x"}}).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Not into the test's output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Indiscreet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


@contextmanager
def talkative(base_url: str, database: str, **environment: str) -> Iterator[Server]:
    told = {"RAG_LOG_LEVEL": "DEBUG", "DATABASE_URL": database, "RAG_SYSTEM_PROMPT": RULES, "RAG_OWNER": OWNER}
    model = {"RAG_CHAT_MODEL": "openai:scripted", "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": KEY}
    with run_server(**told, **model, RAG_CHAT_MAX_RETRIES="0", **environment) as server:
        yield server


def upload(client: httpx.Client, name: str, data: bytes) -> None:
    """Until it is indexed or has its error."""
    answer = client.post("/api/v1/documents", files={"files": (name, data)})
    assert answer.status_code == 202, answer.text
    (made,) = answer.json()["documents"]
    until = time.monotonic() + WAIT_SECONDS
    while client.get(f"/api/v1/documents/{made['id']}").json()["status"] in ("uploaded", "processing"):
        assert time.monotonic() < until
        time.sleep(0.05)


def ask(client: httpx.Client, **body: object) -> None:
    client.post("/api/v1/chat", json={"message": QUESTION} | body)
    with client.stream("POST", "/api/v1/chat/stream", json={"message": QUESTION} | body) as answer:
        answer.read()


def check_log(server: Server) -> list[str]:
    """The lines, which hold none of the words."""
    lines = server.log().splitlines()
    told = [(secret, line[:600]) for line in lines for secret in SECRETS if secret.lower() in line.lower()]
    assert told == []
    return lines


def test_what_goes_well_is_logged_without_its_words(make_database: Callable[[], str]) -> None:
    """Security 20: neither text of documents nor questions, answers, rules or keys; from upload to feedback."""
    with ModelServer(default=Reply(ANSWER)) as model, talkative(model.base_url, make_database()) as server:
        with server.client(Authorization=f"Bearer {WRONG_KEYS[0]}") as client:
            for name, data in {
                "zarzaquimera de Anna.md": f"# Informe\n\n{DOCUMENT}\n".encode(),
                "b.docx": make_docx(lambda document: document.add_paragraph(DOCUMENT)),
                "c.csv": "pieza;causa\nzarzaquimera;trufaldín\n".encode(),
            }.items():
                upload(client, name, data)
            ask(client)
            ask(client, filters={"tags": ["zarzaquimera"]}, retrieval={"strategy": "murmullador", "zarzaquimera": 1})
            ask(client, messages=[{"role": "user", "content": QUESTION}], message=None)
            begun = client.post("/api/v1/chat", json={"message": QUESTION}).json()
            rating = {"message_id": begun["message_id"], "rating": "up", "comment": "El pergaminista acierta"}
            client.post("/api/v1/feedback", json=rating)
            client.get(f"/api/v1/conversations/{begun['conversation_id']}")
            client.get("/api/v1/conversations", params={"search": "murmullador"})
        lines = check_log(server)
    told = {json.loads(line)["event"] for line in lines if line.startswith("{")}
    assert {"stage", "request", "job", "search"} <= told  # it does log


def test_what_a_model_says_when_it_fails_is_not_logged(make_database: Callable[[], str]) -> None:
    """Security 20: vendors' errors repeat keys and prompts."""
    database = make_database()
    with indiscreet_model() as url, talkative(url, database, RAG_CONTEXTUAL_EMBEDDINGS="true") as server:
        with server.client() as client:
            upload(client, "a.md", f"# Informe\n\n{DOCUMENT}\n".encode())
            ask(client)
            ask(client, rag_enabled=False)
        assert any("scripted" in line for line in check_log(server))
    with ModelServer() as model, talkative(model.base_url, database) as server:
        for behaviour in FAILURES:
            model.script(*[behaviour] * 3)
            with server.client() as client:
                ask(client)
        check_log(server)


def test_what_is_wrong_with_a_request_is_not_logged(make_database: Callable[[], str]) -> None:
    """Security 20: what is refused is repeated to its sender alone; keys that do not hold are shown to nobody."""
    with ModelServer(default=Reply(ANSWER)) as model, talkative(model.base_url, make_database()) as server:
        for key in WRONG_KEYS:
            with server.client(Authorization=f"Bearer {key}") as client:
                upload(client, "a.docx", DOCUMENT.encode()[:30])
                upload(client, "broken.docx", make_docx(lambda document: document.add_paragraph(DOCUMENT))[:900])
                upload(client, "broken.pdf", make_pdf([[DOCUMENT]])[:700])
                for body in (QUESTION, [QUESTION], {"message": QUESTION, "zarzaquimera": 1}, {"message": 7}):
                    client.post("/api/v1/chat", json=body)
                client.post("/api/v1/chat", content=f'{{"message": "{QUESTION}'.encode())
                ask(client, collection="zarzaquimera")
                ask(client, message=QUESTION + "\0")
                ask(client, filters={"zarzaquimera": "trufaldín"})
                client.get("/api/v1/documents/murmullador")
                client.get("/api/v1/murmullador", params={"key": key})
                client.put("/api/v1/collections/x", json={"generation": {"system_prompt": f"\0{RULES}"}})
                client.get("/api/v1/collections", headers={"Host": "zarzaquimera.example"})
        check_log(server)


@pytest.mark.parametrize("table", ["messages", "ingestions"])
def test_what_the_database_says_when_it_fails_is_not_logged(make_database: Callable[[], str], table: str) -> None:
    """Security 20: PostgreSQL repeats the row that it refuses."""
    database = make_database()
    with ModelServer(default=Reply(ANSWER)) as model, talkative(model.base_url, database) as server:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"ALTER TABLE causeway.{table} ADD CHECK (false) NOT VALID")
        with server.client() as client:
            answer = client.post("/api/v1/documents", files={"files": ("a.md", f"# Zarzaquimera\n\n{DOCUMENT}\n")})
            if answer.status_code == 202:
                upload(client, "b.md", DOCUMENT.encode())
            ask(client)
        lines = check_log(server)
    assert any("CheckViolation" in line for line in lines)

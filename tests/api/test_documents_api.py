"""Documents over HTTP: a real server with its own worker."""

import json
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from uuid import uuid4

import docx
import httpx
import pytest

from tests.api.expectations import check_error
from tests.conftest import Server, run_server

REPORT = "# Informe\n\nEl horno H2 falló porque se rompió el retén de la puerta.\n"
WAIT_SECONDS = 60
NOTHING: dict[str, Any] = {"documents": [], "next_cursor": None}


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str]) -> Iterator[Server]:
    with run_server(DATABASE_URL=make_database(), RAG_MAX_DOCUMENTS="3") as server:
        yield server


@pytest.fixture
def api(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30, headers={"Accept-Language": "es"}) as client:
        yield client


@pytest.fixture
def collection() -> str:
    return f"notas-{uuid4().hex[:8]}"


def upload(api: httpx.Client, collection: str, name: str, data: bytes | str, **form: Any) -> dict[str, Any]:
    data = data.encode() if isinstance(data, str) else data
    answer = api.post("/documents", files=[("files", (name, data))], data={"collection": collection} | form)
    assert answer.status_code == 202, answer.text
    (document,) = answer.json()["documents"]
    return dict(document)


def finished(api: httpx.Client, document_id: str) -> dict[str, Any]:
    until = time.monotonic() + WAIT_SECONDS
    while (document := api.get(f"/documents/{document_id}").json())["status"] in ("uploaded", "processing"):
        assert time.monotonic() < until, document
        time.sleep(0.05)
    return dict(document)


def ask(api: httpx.Client, collection: str, question: str) -> dict[str, Any]:
    return dict(api.post("/chat", json={"message": question, "collection": collection}).json())


def word_file(text: str) -> bytes:
    document, file = docx.Document(), BytesIO()
    document.add_heading("Acta", 1)
    document.add_paragraph(text)
    document.core_properties.author = "Lidia Forcén"
    document.save(file)
    return file.getvalue()


def test_an_uploaded_file_is_answered_from(api: httpx.Client, collection: str) -> None:
    """R9.4, R1.2, R1.3 with title, language, authors."""
    data = word_file("El comité aprobó la compra de la amasadora por 41.000 euros el martes.")
    made = upload(api, collection, "acta.docx", data, tags=["comité", "2025"])
    assert (made["status"], made["error"]) == ("uploaded", None)
    document = finished(api, made["id"])
    assert (document["status"], document["is_searchable"], document["error"]) == ("indexed", True, None)
    assert (document["title"], document["language"], document["authors"]) == ("Acta", "es", ["Lidia Forcén"])
    assert (document["tags"], document["source_type"]) == (["comité", "2025"], "upload")
    assert document["byte_count"] == len(data)
    answer = ask(api, collection, "¿Cuánto costó la amasadora?")
    assert "41.000" in answer["answer"]
    assert answer["citations"][0]["filename"] == "acta.docx"
    assert api.get("/documents", params={"collection": collection}).json()["documents"] == [document]


def test_its_progress_is_streamed_until_it_has_ended(api: httpx.Client, collection: str) -> None:
    """R1.9 progress over the API: stage, done, total."""
    made = upload(api, collection, "a.md", REPORT)
    with api.stream("GET", f"/documents/{made['id']}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.iter_lines() if line.startswith(("event:", "data:"))]
    names = [line.removeprefix("event:").strip() for line in lines if line.startswith("event:")]
    events = [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]
    assert names == [*["progress"] * (len(names) - 1), "done"]
    assert events[-1]["status"] == "indexed"
    assert events[-1]["done"] == events[-1]["total"] == 1
    assert {event["id"] for event in events} == {made["id"]}


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("es", "El archivo no contiene texto."),
        ("fr", "Le fichier ne contient pas de texte."),
        ("en", "The file holds no text."),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_the_users_language(
    api: httpx.Client, collection: str, language: str, message: str
) -> None:
    """R1.2 the cause is kept and shown."""
    made = upload(api, collection, "a.txt", " \n ")
    assert finished(api, made["id"])["status"] == "error"
    shown = api.get(f"/documents/{made['id']}", headers={"Accept-Language": language}).json()
    assert shown["error"] == {"code": "empty", "message": message}
    assert shown["is_searchable"] is False


def test_the_same_bytes_again_change_nothing(api: httpx.Client, collection: str) -> None:
    """R1.6"""
    made = upload(api, collection, "a.md", REPORT)
    finished(api, made["id"])
    again = upload(api, collection, "a.md", REPORT)
    assert (again["status"], again["id"], again["same_as"]) == ("unchanged", made["id"], None)
    copy = upload(api, collection, "b.md", REPORT)
    assert (copy["status"], copy["same_as"]) == ("unchanged", "a.md")


def test_a_document_is_replaced_downloaded_read_anew_and_deleted(api: httpx.Client, collection: str) -> None:
    """R9.4, R1.6"""
    made = upload(api, collection, "a.md", REPORT)
    path = f"/documents/{made['id']}"
    before = finished(api, made["id"])
    replaced = api.put(path, files={"file": ("b.md", "# Informe\n\nEl horno H7 funciona.\n")})
    assert (replaced.status_code, replaced.json()["id"]) == (202, made["id"])
    after = finished(api, made["id"])
    assert (after["filename"], after["created_at"]) == ("b.md", before["created_at"])
    assert "H7" in ask(api, collection, "¿Qué horno funciona?")["answer"]
    download = api.get(f"{path}/file")
    assert download.text == "# Informe\n\nEl horno H7 funciona.\n"
    assert download.headers["content-disposition"] == "attachment; filename*=UTF-8''b.md"
    assert api.post(f"{path}/reindex", params={"chunking": "fixed_window"}).status_code == 202
    assert finished(api, made["id"])["processing_strategy"] == "fixed_window"
    assert len(api.post("/documents/reindex", params={"collection": collection}).json()["documents"]) == 1
    finished(api, made["id"])
    assert api.delete(path).status_code == 204
    check_error(api.get(path), 404, "document_not_found")
    assert api.get("/documents", params={"collection": collection}).json() == NOTHING
    assert ask(api, collection, "¿Qué horno funciona?")["citations"] == []


def test_unknown_documents_are_not_found(api: httpx.Client) -> None:
    """R9.4"""
    path = f"/documents/{uuid4()}"
    for answer in (
        api.get(path),
        api.delete(path),
        api.put(path, files={"file": ("a.md", REPORT)}),
        api.post(f"{path}/reindex"),
        api.post(f"{path}/cancel"),
        api.get(f"{path}/file"),
        api.get(f"{path}/events"),
    ):
        check_error(answer, 404, "document_not_found")


def test_a_quota_and_what_is_wrong_with_an_upload(api: httpx.Client, collection: str) -> None:
    """R1.1, security 9: the limit is named; none of the upload is taken; a path is no name."""
    many = [("files", (f"{number}.txt", f"Nota {number}.")) for number in range(4)]
    refused = api.post("/documents", files=many, data={"collection": collection})
    error = check_error(refused, 409, "quota_exceeded")
    assert "3" in error["message"]
    assert api.get("/documents", params={"collection": collection}).json()["documents"] == []
    climbing = upload(api, collection, "../../etc/passwd.txt", "Nota.")
    assert climbing["filename"] == "passwd.txt"
    check_error(api.post("/documents", data={"collection": collection}), 422, "invalid_request")


def test_cancelling_what_has_ended_changes_nothing(api: httpx.Client, collection: str) -> None:
    """R1.9"""
    made = upload(api, collection, "a.md", REPORT)
    finished(api, made["id"])
    assert api.post(f"/documents/{made['id']}/cancel").json()["status"] == "indexed"


def test_a_collection_has_its_own_values(api: httpx.Client, collection: str) -> None:
    """R1.8, R2.1: documents live 24 hours where it turns that on."""
    body = {"ingestion": {"time_to_live_hours": 24, "chunking": "sentence"}, "retrieval": {"top_k": 3}}
    made = api.put(f"/collections/{collection}", json=body).json()
    assert (made["ingestion"], made["retrieval"], made["generation"]) == (*body.values(), {})
    generation = {"chat_model": "extractive", "system_prompt": "Tutea."}
    made = api.put(f"/collections/{collection}", json={"generation": generation}).json()
    assert (made["ingestion"], made["retrieval"], made["generation"]) == (*body.values(), generation)
    assert collection in [known["name"] for known in api.get("/collections").json()["collections"]]
    document = finished(api, upload(api, collection, "a.md", REPORT)["id"])
    assert document["processing_strategy"] == "sentence"
    assert document["expires_at"] is not None
    check_error(api.put(f"/collections/{collection}", json={"ingestion": {"chunking": "?"}}), 400, "invalid_settings")
    assert api.delete(f"/collections/{collection}").status_code == 204
    check_error(api.get("/documents", params={"collection": collection}), 404, "collection_not_found")

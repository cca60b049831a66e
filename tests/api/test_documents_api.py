"""Documents over HTTP: a real server with its own worker."""

import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from uuid import uuid4

import docx
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.expectations import check_error
from tests.api.streams import read_blocks
from tests.api.uploads import REPORT, ask, finished, upload
from tests.conftest import Server, run_server

SOMETHING = "6691e543-057c-4254-a1c8-2a73c1d0b7f4"
NOTHING: dict[str, Any] = {"documents": [], "next_cursor": None}


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    hidden = tmp_path_factory.mktemp("hidden")  # LlamaIndex, whether it is installed or not
    (hidden / "llama_index").mkdir()
    (hidden / "llama_index" / "__init__.py").touch()
    with run_server(DATABASE_URL=make_database(), RAG_MAX_DOCUMENTS="3", PYTHONPATH=str(hidden)) as server:
        yield server


@pytest.fixture
def collection() -> str:
    return f"notas-{uuid4().hex[:8]}"


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
        opening, *blocks = read_blocks(answer.iter_lines())
    assert set(opening) == {"retry", "id"}
    names, events = [block["event"] for block in blocks], [json.loads(block["data"]) for block in blocks]
    assert names == [*["progress"] * (len(names) - 1), "done"]
    assert events[-1]["status"] == "indexed"
    assert events[-1]["done"] == events[-1]["total"] == 1
    assert {event["id"] for event in events} == {made["id"]}


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("es", "El archivo no contiene texto."),
        ("fr", "Le fichier ne contient pas de texte."),
        ("en", "The file contains no text."),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_the_users_language(
    api: httpx.Client, collection: str, language: str, message: str
) -> None:
    """R1.2 the cause is kept and shown."""
    made = upload(api, collection, "a.txt", " \n ")
    assert finished(api, made["id"])["status"] == "error"
    shown = api.get(f"/documents/{made['id']}", headers={"Accept-Language": language}).json()
    assert shown["error"] == {"code": "empty", "message": message, "is_final": True}
    assert shown["is_searchable"] is False


def test_the_same_bytes_again_change_nothing(api: httpx.Client, collection: str) -> None:
    """R1.6"""
    made = upload(api, collection, "a.md", REPORT)
    finished(api, made["id"])
    again = upload(api, collection, "a.md", REPORT)
    assert (again["status"], again["id"], again["same_as"]) == ("unchanged", made["id"], None)
    copy = upload(api, collection, "b.md", REPORT)
    assert (copy["status"], copy["same_as"]) == ("unchanged", "a.md")


def test_files_of_one_content_are_both_listed(api: httpx.Client, collection: str) -> None:
    """R1.6, R9.4 As one document, which is found by either name, until one of them becomes another's."""
    made = upload(api, collection, "a.md", REPORT)
    finished(api, made["id"])
    upload(api, collection, "Résumé.md", REPORT)
    for name in ("a.md", "resume"):
        (listed,) = api.get("/documents", params={"collection": collection, "filename": name}).json()["documents"]
        assert (listed["id"], listed["filename"], listed["copies"]) == (made["id"], "a.md", ["Résumé.md"])
    other = upload(api, collection, "Résumé.md", "# Informe\n\nEl horno H7 funciona.\n")
    assert finished(api, other["id"])["id"] != made["id"]
    assert finished(api, made["id"])["copies"] == []


def test_a_file_that_becomes_what_another_is_replaces_its_own_document(api: httpx.Client, collection: str) -> None:
    """R1.6 Nothing of its old text is found any more."""
    first = upload(api, collection, "a.md", REPORT)
    second = upload(api, collection, "b.md", "# Informe\n\nEl horno H7 funciona.\n")
    for made in (first, second):
        finished(api, made["id"])
    again = upload(api, collection, "b.md", REPORT)
    assert (again["status"], again["id"]) == ("uploaded", second["id"])
    assert finished(api, again["id"])["content_hash"] == finished(api, first["id"])["content_hash"]
    assert "H7" not in ask(api, collection, "¿Qué horno funciona?")["answer"]


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
    (anew,) = api.post("/documents/reindex", params={"collection": collection}).json()["documents"]
    assert (anew["id"], anew["is_searchable"], anew["title"]) == (made["id"], True, "Informe")
    finished(api, made["id"])
    assert api.delete(path).status_code == 204
    check_error(api.get(path), 404, "document_not_found")
    assert api.get("/documents", params={"collection": collection}).json() == NOTHING
    assert ask(api, collection, "¿Qué horno funciona?")["citations"] == []


def test_documents_are_paged_and_filtered(api: httpx.Client, collection: str) -> None:
    """R9.4 those on their way, those that failed and texts without a file in one list, in the order they came."""
    api.put(f"/collections/{collection}", json={})
    text = {"text": "Acta del lunes.", "source": "Acta-Ñandú", "tags": ["actas", "lunes"]}
    api.post(f"/collections/{collection}/documents", json={"documents": [text]})
    made = [upload(api, collection, "Informe.md", REPORT, tags=["hornos"]), upload(api, collection, "vacío.txt", " ")]
    for document in made:
        finished(api, document["id"])
    whole = api.get("/documents", params={"collection": collection}).json()
    assert [document["filename"] for document in whole["documents"]] == ["Acta-Ñandú", "Informe.md", "vacío.txt"]
    assert whole["next_cursor"] is None
    pages: list[list[Any]] = []
    cursor: str | None = None
    while not pages or cursor:
        asked = {"collection": collection, "limit": "1"} | ({"cursor": cursor} if cursor else {})
        page = api.get("/documents", params=asked).json()
        pages.append(page["documents"])
        cursor = page["next_cursor"]
    assert [len(page) for page in pages] == [1, 1, 1]
    assert [entry for page in pages for entry in page] == whole["documents"]
    for filters, names in (
        ({"status": "indexed"}, ["Acta-Ñandú", "Informe.md"]),
        ({"status": "error"}, ["vacío.txt"]),
        ({"status": "processing"}, []),
        ({"filename": "NANDU"}, ["Acta-Ñandú"]),
        ({"filename": "%"}, []),
        ({"tags": ["lunes", "hornos"]}, ["Acta-Ñandú", "Informe.md"]),
        ({"tags": ["hornos"], "status": "error"}, []),
        ({"filename": "a", "tags": "actas"}, ["Acta-Ñandú"]),
    ):
        asked_for: dict[str, Any] = {"collection": collection, **filters}
        found = api.get("/documents", params=asked_for).json()["documents"]
        assert [document["filename"] for document in found] == names, filters


def test_a_cursor_hides_and_repeats_nothing_while_documents_come_and_go(api: httpx.Client, collection: str) -> None:
    """R9.4 a page begins after an entry, not after a number of them."""
    made = [upload(api, collection, f"{number}.md", f"Nota {number}.") for number in range(3)]
    first = api.get("/documents", params={"collection": collection, "limit": 2}).json()
    assert api.delete(f"/documents/{made[0]['id']}").status_code == 204
    upload(api, collection, "new.md", "Nota nueva.")
    rest = {"collection": collection, "limit": 2, "cursor": first["next_cursor"]}
    second = api.get("/documents", params=rest).json()
    assert [document["filename"] for document in second["documents"]] == ["2.md", "new.md"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "limit=" + "9" * 5_000,
        "filename=a%00b",
        "tags=%00",
        "status=magic",
        "filename=" + "x" * 256,
        "cursor=magic",
        "cursor=%00",
        "cursor=WzFd",
        "cursor=W251bGwsbnVsbF0=",
    ],
    ids=lambda query: query[:24],
)
def test_a_list_that_can_t_be_is_refused(api: httpx.Client, collection: str, query: str) -> None:
    """R9, security 10: whatever stands in the query, never an error of the server's."""
    api.put(f"/collections/{collection}", json={})
    answer = api.get(f"/documents?collection={collection}&{query}")
    status, code = (400, "invalid_cursor") if query.startswith("cursor") else (422, "invalid_request")
    check_error(answer, status, code)


def test_many_are_deleted_by_their_ids(api: httpx.Client, collection: str) -> None:
    """R9.4 those that are nobody's are named; what was made of the others is gone."""
    made = [upload(api, collection, f"{number}.md", f"El horno H{number} falló.")["id"] for number in range(3)]
    for key in made:
        finished(api, key)
    other = upload(api, f"{collection}-2", "b.md", REPORT)["id"]
    unknown = str(uuid4())
    answer = api.post("/documents/bulk-delete", json={"ids": [made[0], unknown, other, made[1], made[0]]})
    assert answer.status_code == 200, answer.text
    deleted = answer.json()
    assert sorted(deleted["deleted"]) == sorted([made[0], made[1], other])
    assert (deleted["not_found"], deleted["has_more"]) == ([unknown], False)
    assert [of["id"] for of in api.get("/documents", params={"collection": collection}).json()["documents"]] == made[2:]
    for key in (made[0], other):
        check_error(api.get(f"/documents/{key}"), 404, "document_not_found")
        check_error(api.get(f"/documents/{key}/file"), 404, "document_not_found")
    assert api.get(f"/collections/{collection}").json()["chunk_count"] == 1
    answer = ask(api, collection, "¿Qué horno falló?")["answer"]
    assert re.findall(r"H\d", answer) == ["H2"]
    again = api.post("/documents/bulk-delete", json={"ids": [made[0]]}).json()
    assert again == {"deleted": [], "not_found": [made[0]], "has_more": False}


def test_many_are_deleted_by_a_filter(api: httpx.Client, collection: str) -> None:
    """R9.4 of one collection; without a filter all of it."""
    good = upload(api, collection, "good.md", REPORT)["id"]
    bad = upload(api, collection, "bad.txt", " ")["id"]
    finished(api, good)
    finished(api, bad)
    twin = f"{collection}-2"
    finished(api, upload(api, twin, "bad.txt", " ")["id"])

    def delete(**body: Any) -> Any:
        return api.post("/documents/bulk-delete", json={"collection": collection} | body).json()

    assert delete(filter={"filename": "nothing"})["deleted"] == []
    assert delete(filter={"status": "error", "filename": "BAD"})["deleted"] == [bad]
    assert delete()["deleted"] == [good]
    assert api.get("/documents", params={"collection": collection}).json() == NOTHING
    assert len(api.get("/documents", params={"collection": twin}).json()["documents"]) == 1
    check_error(api.post("/documents/bulk-delete", json={"collection": "nowhere"}), 404, "collection_not_found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["x"]},
        {"ids": [SOMETHING] * 1_001},
        {"ids": [SOMETHING], "collection": "a"},
        {"ids": [SOMETHING], "filter": {}},
        {"filter": {}},
        {"collection": "a", "filter": {"magic": 1}},
        {"collection": "a", "filter": {"filename": "\0"}},
        {"collection": "a", "filter": {"status": "magic"}},
        [],
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_bulk_deletion_that_says_not_what_deletes_nothing(api: httpx.Client, body: Any) -> None:
    """R9.4"""
    check_error(api.post("/documents/bulk-delete", json=body), 422, "invalid_request")


def test_what_a_sender_knows_of_a_file_is_kept(api: httpx.Client, collection: str) -> None:
    """R9.3, R9.4 metadata come back, also before the file is read and after it is replaced."""
    known = {"author": "Lidia", "pages": [1, 2]}
    made = upload(api, collection, "a.md", REPORT, metadata=json.dumps(known), tags=["x"])
    path = f"/documents/{made['id']}"
    at_once = api.get(path).json()
    assert (at_once["metadata"], at_once["tags"], at_once["source_type"]) == (known, ["x"], "upload")
    assert finished(api, made["id"])["metadata"] == known
    api.put(path, files={"file": ("a.md", "Otra nota.")})
    after = finished(api, made["id"])
    assert (after["metadata"], after["tags"]) == (known, ["x"])
    api.put(path, files={"file": ("a.md", "Una nota más.")}, data={"metadata": '{"n": 1}'})
    api.put(path, files={"file": ("a.md", "Y una nota más.")})
    assert finished(api, made["id"])["metadata"] == {"n": 1}


def test_a_newer_version_is_read_and_deleted_as_the_older_one(api: httpx.Client, collection: str) -> None:
    """R1.6, R1.8, R9.4 how it is chunked and when it is to be gone are the document's."""
    made = upload(api, collection, "a.md", REPORT, time_to_live_hours="24", chunking="sentence")
    path = f"/documents/{made['id']}"
    before = finished(api, made["id"])
    api.put(path, files={"file": ("a.md", "Otra nota.")})
    after = finished(api, made["id"])
    assert (after["processing_strategy"], after["expires_at"]) == ("sentence", before["expires_at"])
    assert after["content_hash"] != before["content_hash"]


@pytest.mark.parametrize(
    "form",
    [
        {"metadata": "{"},
        {"metadata": "[]"},
        {"metadata": '{"a": "\\u0000"}'},
        {"metadata": '{"a": NaN}'},
        {"tags": ["a\0b"]},
        {"tags": ["x"] * 51},
        {"time_to_live_hours": "1e300"},
        {"time_to_live_hours": "nan"},
        {"time_to_live_hours": "0"},
        {"chunking": "magic"},
    ],
    ids=str,
)
def test_a_form_that_can_t_be_is_refused(api: httpx.Client, collection: str, form: dict[str, Any]) -> None:
    """R9.4, security 9: nothing is taken of it."""
    answer = api.post("/documents", files=[("files", ("a.md", REPORT))], data={"collection": collection} | form)
    check_error(answer, 422, "invalid_request")
    check_error(api.get("/documents", params={"collection": collection}), 404, "collection_not_found")


def test_a_splitter_that_is_not_installed_is_refused(api: httpx.Client, collection: str) -> None:
    """R13.5: where it is chosen, not where a file is read by it."""
    wanted = {"chunking": "llama_index_sentence"}
    made = upload(api, collection, "a.md", REPORT)
    for answer in (
        api.post("/documents", files=[("files", ("b.md", REPORT))], data={"collection": collection} | wanted),
        api.post("/documents/reindex", params={"collection": collection} | wanted),
        api.post(f"/documents/{made['id']}/reindex", params=wanted),
        api.put(f"/collections/{collection}", json={"ingestion": wanted}),
    ):
        check_error(answer, 400, "invalid_settings")
        assert "make install WITH=splitters" in answer.json()["error"]["message"]
    assert finished(api, made["id"])["processing_strategy"] != wanted["chunking"]


@given(name=st.text(max_size=40), metadata=st.dictionaries(st.text(), st.text() | st.integers(), max_size=3))
def test_whatever_a_file_is_called(api: httpx.Client, name: str, metadata: dict[str, Any]) -> None:
    """Security 9, 10: it is taken under its last step alone, or refused; 0 server errors."""
    collection = f"names-{uuid4().hex[:8]}"
    # As a client writes it that escapes nothing but what ends the header.
    header = f'form-data; name="files"; filename="{name}"'.replace("\r", "").replace("\n", "")
    lines = [
        b"--b", header.encode(errors="replace"), b"", REPORT.encode(),
        b"--b", b'form-data; name="collection"', b"", collection.encode(),
        b"--b", b'form-data; name="metadata"', b"", json.dumps(metadata).encode(), b"--b--", b"",
    ]  # fmt: skip
    body = b"\r\n".join(b"Content-Disposition: " + line if line.startswith(b"form-data") else line for line in lines)
    answer = api.post("/documents", content=body, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status_code in (202, 400, 422), answer.text
    if answer.status_code == 202:
        (document,) = answer.json()["documents"]
        assert "/" not in document["filename"]
        assert api.get(f"/documents/{document['id']}").json()["metadata"] == metadata
        api.delete(f"/collections/{collection}")
    else:
        check_error(
            answer,
            answer.status_code,
            "invalid_request" if answer.status_code == 422 else answer.json()["error"]["code"],
        )


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
    check_error(api.get("/documents/x"), 404, "not_found")
    check_error(api.put("/documents/reindex", files={"file": ("a.md", REPORT)}), 405, "method_not_allowed")


def test_a_quota_and_what_is_wrong_with_an_upload(api: httpx.Client, collection: str) -> None:
    """R1.1, security 9: the limit is named, of what is beyond it alone; a path is no name."""
    climbing = upload(api, collection, "../../etc/passwd.txt", "Nota.")
    assert climbing["filename"] == "passwd.txt"
    many = [("files", (f"{number}.txt", f"Nota {number}.")) for number in range(4)]
    taken = api.post("/documents", files=many, data={"collection": collection}).json()["documents"]
    assert [of["status"] for of in taken] == ["uploaded", "uploaded", "error", "error"]
    refused = api.post("/documents", files=many[2:], data={"collection": collection})
    error = check_error(refused, 409, "quota_exceeded")
    assert "3" in error["message"]
    listed = api.get("/documents", params={"collection": collection}).json()["documents"]
    assert {of["filename"] for of in listed} == {"passwd.txt", "0.txt", "1.txt"}
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

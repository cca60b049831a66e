"""Collections over HTTP, and the texts that are sent to one: a real server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.expectations import check_error
from tests.api.uploads import REPORT, ask, finished, upload
from tests.conftest import Server, run_server, run_server_here

MOST = 5
CONFIG = """
embeddings:
  - {id: bundled, provider: bundled}
  - {id: second, provider: bundled}
"""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def server(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    config = tmp_path_factory.mktemp("embeddings") / "embeddings.yml"
    config.write_text(CONFIG)
    environment = {"RAG_MAX_DOCUMENTS": str(MOST), "EMBEDDINGS_CONFIG": str(config)}
    with run_server(DATABASE_URL=database, **environment) as server:
        yield server


@pytest.fixture
def collection(api: httpx.Client) -> str:
    name = f"notas-{uuid4().hex[:8]}"
    assert api.post("/collections", json={"name": name, "embedding_model": "bundled"}).status_code == 201
    return name


def send(api: httpx.Client, collection: str, *documents: Any) -> httpx.Response:
    return api.post(f"/collections/{collection}/documents", json={"documents": list(documents)})


def test_a_collection_is_renamed(api: httpx.Client, collection: str) -> None:
    """R9.3 its conversations go on with it; a name that is taken, or is none, is refused."""
    asked = api.post("/conversations", json={"title": "Hornos", "collection": collection}).json()["id"]
    name = f"hornos-{uuid4().hex[:8]}"
    renamed = api.patch(f"/collections/{collection}", json={"name": name})
    assert (renamed.status_code, renamed.json()["name"]) == (200, name)
    assert api.get(f"/conversations/{asked}").json()["collection"] == name
    check_error(api.get(f"/collections/{collection}"), 404, "collection_not_found")
    check_error(api.patch(f"/collections/{collection}", json={"name": "x"}), 404, "collection_not_found")
    api.post("/collections", json={"name": collection, "embedding_model": "bundled"}).raise_for_status()
    check_error(api.patch(f"/collections/{collection}", json={"name": name}), 409, "collection_exists")
    check_error(api.patch(f"/collections/{collection}", json={"name": "a/b"}), 400, "invalid_collection_name")


def test_a_collection_is_made_read_and_deleted(api: httpx.Client) -> None:
    """R9.3, R3.3 its embedding model stands in its metadata too."""
    name = f"Más & más? #1 «ñ» %2e {uuid4().hex}"
    body = {"name": name, "embedding_model": "second", "metadata": {"team": "calidad"}, "retrieval": {"top_k": 3}}
    made = api.post("/collections", json=body)
    assert made.status_code == 201
    shown = made.json()
    assert (shown["name"], shown["embedding_model"], shown["chunk_count"]) == (name, "second", 0)
    assert shown["metadata"] == {"team": "calidad", "embedding_model": "second"}
    assert shown["retrieval"] == {"top_k": 3}
    path = f"/collections/{quote(name, safe='')}"
    assert api.get(path).json() == shown
    assert api.delete(path).status_code == 204
    check_error(api.get(path), 404, "collection_not_found")
    check_error(api.delete(path), 404, "collection_not_found")


def test_a_collection_tells_what_its_documents_are_told_apart_by(api: httpx.Client, collection: str) -> None:
    """R9.3, R9.2 The values that filters take, each once; of an empty one, none."""
    path = f"/collections/{collection}/facets"
    nothing: dict[str, Any] = {name: [] for name in ("languages", "document_types", "tags", "filenames")}
    assert api.get(path).json() == nothing | {"document_count": 0, "created_first": None, "created_last": None}
    sent = [("informe.md", ["averías", "planta"]), ("Notas.MD", ["planta"]), ("turnos.txt", [])]
    for name, tags in sent:
        finished(api, upload(api, collection, name, f"{REPORT}{name}", tags=tags)["id"])
    told = api.get(path).json()
    assert (told["document_count"], told["languages"], told["document_types"]) == (3, ["es"], ["md", "txt"])
    assert sorted(told["tags"]) == ["averías", "planta"]
    assert sorted(told["filenames"]) == ["Notas.MD", "informe.md", "turnos.txt"]
    assert told["created_first"] < told["created_last"]
    check_error(api.get("/collections/nowhere/facets"), 404, "collection_not_found")


def test_the_list_says_which_one_is_asked_by_default(api: httpx.Client, collection: str) -> None:
    """R9.3 It may not be there yet."""
    listed = api.get("/collections").json()
    assert collection in [each["name"] for each in listed["collections"]]
    assert listed["default"] in ("default", collection)


def test_a_name_is_taken_once(api: httpx.Client, collection: str) -> None:
    """R9.3 the first one stays as it is."""
    again = {"name": collection, "embedding_model": "second", "metadata": {"mine": True}}
    assert collection in check_error(api.post("/collections", json=again), 409, "collection_exists")["message"]
    assert api.get(f"/collections/{collection}").json()["metadata"] == {"embedding_model": "bundled"}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (None, "embedding_model is required. Available models: bundled, second"),
        ("", "embedding_model is required. Available models: bundled, second"),
        ("magic", "The embedding model “magic” is not loaded. Available: bundled, second"),
    ],
)
def test_an_embedding_model_is_named_that_is_loaded(api: httpx.Client, model: str | None, message: str) -> None:
    """R3.3 without one or with an unknown one: 400, listing the known; nothing is made."""
    body = {"name": f"n-{uuid4().hex}"} | ({} if model is None else {"embedding_model": model})
    error = check_error(api.post("/collections", json=body), 400, "invalid_embedding_model")
    assert error["message"] == message
    assert error["details"]["known"] == ["bundled", "second"]
    check_error(api.get(f"/collections/{body['name']}"), 404, "collection_not_found")


@pytest.mark.parametrize("language", ["es", "fr", "en"])
@pytest.mark.parametrize(
    "name", ["a/b", "a\\b", "..", ".", "", " ", " a", "a ", "a\nb", "a\0b", "\u200b", "x" * 201], ids=repr
)
def test_a_name_that_no_path_can_hold_is_refused(api: httpx.Client, name: str, language: str) -> None:
    """R9.3 before anything is made: what is made can be reached."""
    body = {"name": name, "embedding_model": "bundled"}
    answer = api.post("/collections", json=body, headers={"Accept-Language": language})
    error = check_error(answer, 400, "invalid_collection_name")
    assert error["message"].startswith({"es": "«", "fr": "« ", "en": "“"}[language])
    assert "200" in error["message"]
    upload_there = api.post("/documents", files=[("files", ("a.md", REPORT))], data={"collection": name})
    if name and name.strip() == name:  # a form's empty field is none
        check_error(upload_there, 400, "invalid_collection_name")


def test_collections_are_paged_by_name(api: httpx.Client) -> None:
    """R9.3 each once and in order, also where some come and go between two pages."""
    prefix = uuid4().hex
    names = [f"{prefix}-{letter}" for letter in "cadbfe"]
    for name in names:
        api.post("/collections", json={"name": name, "embedding_model": "bundled"})
    seen: list[str] = []
    cursor = None
    while True:
        page = api.get("/collections", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        assert len(page["collections"]) <= 2
        seen += [known["name"] for known in page["collections"]]
        if seen[-1] == f"{prefix}-c":
            assert api.delete(f"/collections/{prefix}-c").status_code == 204
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [name for name in seen if name.startswith(prefix)] == sorted(names)
    assert seen == sorted(set(seen))
    check_error(api.get("/collections", params={"cursor": "magic"}), 400, "invalid_cursor")


def test_metadata_are_replaced(api: httpx.Client, collection: str) -> None:
    """R9.3 PUT metadata: the configuration stays; an unknown collection is not made."""
    path = f"/collections/{collection}"
    api.put(path, json={"retrieval": {"top_k": 3}})
    noted = {"team": "calidad", "nested": {"list": [1, 2.5, None, True, "ñ"]}}
    first = api.put(f"{path}/metadata", json={"metadata": noted}).json()
    assert first["metadata"] == noted | {"embedding_model": "bundled"}
    assert first["retrieval"] == {"top_k": 3}
    second = api.put(f"{path}/metadata", json={"metadata": first["metadata"] | {"team": "x"}}).json()
    assert second["metadata"] == noted | {"team": "x", "embedding_model": "bundled"}
    assert api.get(path).json() == second
    check_error(api.put("/collections/nowhere/metadata", json={"metadata": {}}), 404, "collection_not_found")


def test_two_do_not_move_a_collection_at_once(api: httpx.Client, collection: str, database: str) -> None:
    """R3.3 The second is told to try again."""
    with psycopg.connect(database) as other:
        other.execute(
            "SELECT pg_advisory_lock(hashtext('causeway reembed'), hashtext(collection_id::text))"
            " FROM causeway.collections WHERE name = %s",
            [collection],
        )
        moved = api.put(f"/collections/{collection}/metadata", json={"metadata": {"embedding_model": "second"}})
    check_error(moved, 409, "collection_changed")


def test_another_embedding_model(api: httpx.Client, collection: str) -> None:
    """R9.3, R3.8 by metadata as long as nothing has to be embedded anew; then the way is named."""
    path = f"/collections/{collection}"
    moved = api.put(f"{path}/metadata", json={"metadata": {"embedding_model": "second", "team": "x"}}).json()
    assert (moved["embedding_model"], moved["metadata"]["team"]) == ("second", "x")
    assert send(api, collection, {"text": "El horno H2 falló."}).status_code == 201
    assert "horno" in ask(api, collection, "¿Qué horno falló?")["answer"]
    back = api.put(f"{path}/metadata", json={"metadata": {"embedding_model": "bundled"}})
    error = check_error(back, 409, "embedding_model_fixed")
    assert "another collection with “bundled”" in error["message"]
    for unknown in ("magic", 7, ["bundled"], {"id": "bundled"}):
        answer = api.put(f"{path}/metadata", json={"metadata": {"embedding_model": unknown}})
        assert check_error(answer, 400, "invalid_embedding_model")["details"]["known"] == ["bundled", "second"]
    assert api.get(path).json()["metadata"] == {"team": "x", "embedding_model": "second"}


@pytest.mark.parametrize(
    "body",
    [
        '{"metadata": {"a": "\\u0000"}}',
        '{"metadata": {"\\u0000": 1}}',
        '{"metadata": {"a": ["\\ud800"]}}',
        '{"metadata": {"a": NaN}}',
        '{"metadata": {"a": 1e400}}',
        '{"metadata": ' + '{"a": ' * 9 + "1" + "}" * 10,
        '{"metadata": {"a": "' + "x" * 16_384 + '"}}',
        '{"metadata": []}',
        '{"metadata": {}, "magic": 1}',
        "{}",
        "[]",
        "",
    ],
    ids=lambda body: body[:30],
)
def test_metadata_that_can_t_be_kept_are_refused(api: httpx.Client, collection: str, body: str) -> None:
    """R9.3 bounded in size and depth; never an error of the server's."""
    answer = api.put(f"/collections/{collection}/metadata", content=body, headers={"Content-Type": "application/json"})
    check_error(answer, 422, "invalid_request")


@given(metadata=st.dictionaries(st.text(), JSON, max_size=4))
def test_metadata_come_back_as_they_were_given(api: httpx.Client, metadata: dict[str, Any]) -> None:
    """R9.3 whatever JSON they are, or refused: 0 server errors."""
    name = "kept-as-given"
    api.put(f"/collections/{name}", json={})
    metadata.pop("embedding_model", None)
    answer = api.put(f"/collections/{name}/metadata", json={"metadata": metadata})
    if "\\u0000" in answer.request.content.decode() or not _is_unicode(metadata):
        check_error(answer, 422, "invalid_request")
    else:
        assert answer.status_code == 200, answer.text
        kept = api.get(f"/collections/{name}").json()["metadata"]
        assert _as_numbers(kept) == _as_numbers(metadata | {"embedding_model": "bundled"})


def _as_numbers(value: object) -> Any:
    """JSON knows no whole ones: 1e17 may come back with all its zeros."""
    return json.loads(json.dumps(value), parse_int=float)


def _is_unicode(value: object) -> bool:
    try:
        repr(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def test_texts_are_found_when_the_answer_comes(api: httpx.Client, collection: str) -> None:
    """R9.3, R3.3 texts with metadata, embedded and stored at once; the count is said."""
    known = {"turno": "noche", "partes": [17, 18]}
    answer = send(
        api,
        collection,
        {"text": "El horno H2 falló porque se rompió el retén.", "source": "parte-17", "metadata": known},
        {"text": "La amasadora costó 41.000 euros.", "id": "acta 3", "title": "Acta", "tags": ["compras"]},
        {"text": "Sin nombre propio.\n\nCon dos párrafos."},
    )
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["count"] == 3
    assert [document["status"] for document in made["documents"]] == ["indexed"] * 3
    assert [document["filename"] for document in made["documents"]][:2] == ["parte-17", "acta 3"]
    first, second, third = (api.get(f"/documents/{document['id']}").json() for document in made["documents"])
    assert (first["metadata"], first["source"], first["source_type"]) == (known, "parte-17", "text")
    assert (second["title"], second["tags"], second["metadata"]) == ("Acta", ["compras"], {})
    assert third["is_searchable"]
    assert "41.000" in ask(api, collection, "¿Cuánto costó la amasadora?")["answer"]
    listed = api.get("/documents", params={"collection": collection}).json()["documents"]
    assert sorted(listed, key=lambda of: of["id"]) == sorted([first, second, third], key=lambda of: of["id"])
    assert api.get(f"/collections/{collection}").json()["chunk_count"] == 3


def test_the_same_text_again_changes_nothing_and_another_one_replaces_it(api: httpx.Client, collection: str) -> None:
    """R1.6 for texts: by their source, or by themselves where they have none."""
    text = {"text": "El horno H2 falló.", "source": "a", "metadata": {"n": 1}}
    bare = {"text": "La galleta salió húmeda."}
    first = send(api, collection, text, bare).json()["documents"]
    before = api.get(f"/documents/{first[0]['id']}").json()
    again = send(api, collection, text, bare).json()
    assert (again["count"], [of["status"] for of in again["documents"]]) == (2, ["unchanged"] * 2)
    assert [of["id"] for of in again["documents"]] == [of["id"] for of in first]
    for change in ({"text": "El horno H7 falló."}, {"metadata": {"n": 2}}, {"title": "Parte"}, {"tags": ["x"]}):
        text |= change
        assert [of["status"] for of in send(api, collection, text, bare).json()["documents"]] == [
            "indexed",
            "unchanged",
        ]
    after = api.get(f"/documents/{first[0]['id']}").json()
    assert (after["metadata"], after["title"], after["tags"]) == ({"n": 2}, "Parte", ["x"])
    assert after["created_at"] == before["created_at"]
    assert "H7" in ask(api, collection, "¿Qué horno falló?")["answer"]
    assert api.get(f"/collections/{collection}").json()["chunk_count"] == 2


@pytest.mark.parametrize("body", [{}, {"documents": []}, {"documents": None}, {"documents": "a"}, [], {"texts": []}])
def test_a_documents_array_is_required(api: httpx.Client, collection: str, body: Any) -> None:
    """R9.3 400 «Documents array is required», in these very words whatever the language."""
    for language in ("es", "fr", "en"):
        answer = api.post(f"/collections/{collection}/documents", json=body, headers={"Accept-Language": language})
        error = check_error(answer, 400, "invalid_documents")
        assert "Documents array is required" in error["message"]
        assert error["details"]["error"] == "Documents array is required"


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({}, "text: Field required"),
        ({"metadata": {}}, "text: Field required"),
        ({"text": None}, "text: "),
        ({"text": 7}, "text: "),
        ({"text": ""}, "text: "),
        ({"text": " \n… "}, "text: it holds no words"),
        ({"text": "a\0b"}, "text: "),
        ({"text": "a", "source": "x\ny"}, "source: "),
        ({"text": "a", "source": ""}, "source: "),
        ({"text": "a", "source": "good"}, "source: another one of the same source"),
        ({"text": "a", "metadata": [1]}, "metadata: "),
        ({"text": "a", "metadata": {"a": "\0"}}, "metadata: "),
        ({"text": "a", "magic": 1}, "magic: "),
        ("a text", ""),
        (None, ""),
    ],
    ids=repr,
)
def test_a_bad_text_is_named_by_its_index_and_none_is_taken(
    api: httpx.Client, collection: str, wrong: Any, problem: str
) -> None:
    """R9.3 400 with the index of a bad one."""
    answer = send(api, collection, {"text": "Un texto bueno.", "source": "good"}, wrong)
    error = check_error(answer, 400, "invalid_documents")
    assert error["details"]["index"] == 1
    assert error["details"]["problem"].startswith(problem)
    assert "Document 1 " in error["message"]
    assert api.get("/documents", params={"collection": collection}).json()["documents"] == []


def test_half_of_a_surrogate_pair_is_no_text(api: httpx.Client, collection: str) -> None:
    """R9.3 also where JSON can write it."""
    body = '{"documents": [{"text": "a"}, {"text": "\\ud800"}]}'
    path, headers = f"/collections/{collection}/documents", {"Content-Type": "application/json"}
    error = check_error(api.post(path, content=body, headers=headers), 400, "invalid_documents")
    assert error["details"]["index"] == 1


def test_how_many_texts_are_taken(api: httpx.Client, collection: str) -> None:
    """R9.3, R1.1 a hundred by one request; as many as the collection's quota by all; in a collection that there is."""
    many = [{"text": f"Nota {number}."} for number in range(101)]
    assert check_error(send(api, collection, *many), 400, "invalid_documents")["details"]["limit"] == 100
    assert check_error(send(api, collection, *many[: MOST + 1]), 409, "quota_exceeded")["details"]["limit"] == MOST
    assert send(api, collection, *many[:MOST]).json()["count"] == MOST
    check_error(send(api, collection, many[MOST]), 409, "quota_exceeded")
    assert send(api, collection, *many[:MOST]).json()["count"] == MOST
    check_error(send(api, "nowhere", many[0]), 404, "collection_not_found")


def test_a_text_does_not_take_the_place_of_a_file(api: httpx.Client, collection: str) -> None:
    """R1.6, R9.3 a file does take the place of a text."""
    made = finished(api, upload(api, collection, "a.md", REPORT)["id"])
    error = check_error(send(api, collection, {"text": "b"}, {"text": "c", "source": "a.md"}), 400, "invalid_documents")
    assert (error["details"]["index"], made["status"]) == (1, "indexed")
    (text,) = send(api, collection, {"text": "El horno H9 falló.", "source": "b.md"}).json()["documents"]
    file = finished(api, upload(api, collection, "b.md", "# H\n\nEl horno H8 falló.\n")["id"])
    assert (file["id"], file["source_type"]) == (text["id"], "upload")


def test_a_text_is_read_anew_and_deleted(api: httpx.Client, collection: str) -> None:
    """R9.4 as a file is, from what is stored of it; it has no file."""
    text = {"text": "Uno. Dos. Tres.", "source": "a", "metadata": {"n": 1}, "title": "T"}
    (made,) = send(api, collection, text).json()["documents"]
    path = f"/documents/{made['id']}"
    before = api.get(path).json()
    anew = api.post(f"{path}/reindex", params={"chunking": "fixed_window"})
    assert anew.status_code == 202, anew.text
    changed = anew.json()
    assert changed["processing_strategy"] == "fixed_window"
    same = {"id", "source", "title", "metadata", "created_at", "status"}
    assert {name: changed[name] for name in same} == {name: before[name] for name in same}
    check_error(api.get(f"{path}/file"), 404, "document_not_found")
    assert api.delete(path).status_code == 204
    check_error(api.get(path), 404, "document_not_found")
    assert api.get(f"/collections/{collection}").json()["chunk_count"] == 0


def test_a_configuration_that_the_database_can_t_keep_is_refused(api: httpx.Client, collection: str) -> None:
    """R9.3, R4.10 never an error of the server's."""
    path, headers = f"/collections/{collection}", {"Content-Type": "application/json"}
    for body in ('{"retrieval": {"vector_weight": NaN}}', '{"generation": {"system_prompt": "\\u0000"}}'):
        check_error(api.put(path, content=body, headers=headers), 422, "invalid_request")
    for ingestion in ({"time_to_live_hours": 1e300}, {"chunk_tokens": 10**40}, {"magic": 1}):
        check_error(api.put(path, json={"ingestion": ingestion}), 400, "invalid_settings")
    fresh = {"name": f"n-{uuid4().hex}", "embedding_model": "bundled", "ingestion": {"magic": 1}}
    check_error(api.post("/collections", json=fresh), 400, "invalid_settings")
    check_error(api.get(f"/collections/{fresh['name']}"), 404, "collection_not_found")


def test_a_model_that_is_no_longer_loaded(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R3.3 503 where the named one is not loaded; the loaded ones are listed."""
    url = make_database()
    config = tmp_path / "embeddings.yml"
    config.write_text(CONFIG)
    with run_server_here(DATABASE_URL=url, EMBEDDINGS_CONFIG=str(config)) as first:
        body = {"name": "notas", "embedding_model": "second"}
        assert httpx.post(f"{first}/api/v1/collections", json=body).status_code == 201
    with run_server_here(DATABASE_URL=url) as second:
        texts = {"documents": [{"text": "a"}]}
        answer = httpx.post(f"{second}/api/v1/collections/notas/documents", json=texts)
        error = check_error(answer, 503, "embedding_model_unavailable")
        assert (error["details"]["model"], error["details"]["known"]) == ("second", ["bundled", "e5"])

"""Golden cases over HTTP: a real server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.pages import read_pages
from tests.api.uploads import finished, upload
from tests.conftest import Server, run_server, run_server_here
from tests.golden_library import HORNO, PUENTE, TEXTS, TINS

FIELDS = {
    "id", "query", "relevant_document_ids", "missing_document_ids", "expected_answer", "category", "difficulty", "tags",
    "last_validated_at", "created_at", "updated_at",
}  # fmt: skip


def write_texts(folder: Path) -> Path:
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def server(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = write_texts(tmp_path_factory.mktemp("texts"))
    with run_server("--collection", "fábrica", "--ingest", str(folder), DATABASE_URL=database) as server:
        yield server


@pytest.fixture
def api(server: Server) -> Iterator[httpx.Client]:
    """Without golden cases."""
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30, headers={"Accept-Language": "en"}) as client:
        for case in client.get("/golden-cases", params={"limit": 200}).json()["cases"]:
            assert client.delete(f"/golden-cases/{case['id']}").status_code == 204
        yield client


def case(query: str = HORNO, *documents: str, **fields: Any) -> dict[str, Any]:
    return {"query": query, "category": "causal", "relevant_documents": list(documents)} | fields


def load(api: httpx.Client, *cases: dict[str, Any], **options: Any) -> httpx.Response:
    return api.post("/golden-cases/import", json={"cases": list(cases), **options})


def listed(api: httpx.Client, **params: Any) -> list[dict[str, Any]]:
    return list(api.get("/golden-cases", params=params).raise_for_status().json()["cases"])


def document_ids(api: httpx.Client) -> dict[str, str]:
    """By filename, as an export tells them."""
    load(api, case("¿Todos?", *TEXTS)).raise_for_status()
    (told,) = api.get("/golden-cases/export").json()["cases"]
    api.delete(f"/golden-cases/{listed(api)[0]['id']}")
    return {of["filename"]: of["id"] for of in told["relevant_documents"]}


def test_a_case_is_added_read_changed_and_deleted(api: httpx.Client) -> None:
    """R9.5, R10.1"""
    ids = document_ids(api)
    body = {"query": HORNO, "category": "causal", "relevant_document_ids": [ids["horno.md"]], "tags": ["h"]}
    added = api.post("/golden-cases", json=body)
    assert added.status_code == 201
    made = added.json()
    assert set(made) == FIELDS
    assert {name: made[name] for name in body} == body
    assert (made["difficulty"], made["expected_answer"], made["missing_document_ids"]) == ("medium", "", [])
    path = f"/golden-cases/{made['id']}"
    assert api.get(path).json() == made
    changed = api.put(path, json=body | {"difficulty": "hard", "relevant_document_ids": [ids["puente.md"]]}).json()
    assert (changed["id"], changed["difficulty"]) == (made["id"], "hard")
    assert changed["relevant_document_ids"] == [ids["puente.md"]]
    assert api.get(path).json() == changed
    assert api.delete(path).status_code == 204
    for again in (api.get(path), api.delete(path), api.put(path, json=body)):
        error = check_error(again, 404, "golden_case_not_found")
        assert error["message"].startswith(f"The golden case “{made['id']}” does not exist.")


def test_no_question_comes_twice(api: httpx.Client) -> None:
    """R10.1 the answer names the case that asks the same."""
    body = {"query": HORNO, "category": "causal", "relevant_document_ids": []}
    first = api.post("/golden-cases", json=body).json()["id"]
    error = check_error(api.post("/golden-cases", json=body | {"query": HORNO.upper()}), 409, "golden_case_exists")
    assert error["details"]["case"] == first
    second = api.post("/golden-cases", json=body | {"query": PUENTE}).json()["id"]
    check_error(api.put(f"/golden-cases/{second}", json=body), 409, "golden_case_exists")
    assert len(listed(api)) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""}, {"query": 7}, {"query": "a\0b"}, {"query": "x" * 4_001}, {"category": "comparative"},
        {"difficulty": None}, {"relevant_document_ids": ["x"]}, {"relevant_document_ids": "x"}, {"tags": [""]},
        {"tags": ["x" * 101]}, {"tags": ["\0"]}, {"nonsense": 1}, {"expected_answer": "x" * 20_001},
        {"collection": "\0"}, {"query": "\ud800"},
    ],
)  # fmt: skip
def test_what_is_no_case_is_told(api: httpx.Client, wrong: dict[str, Any]) -> None:
    """R9, security 10: nothing of it is stored."""
    body = {"query": HORNO, "category": "causal", "relevant_document_ids": []} | wrong
    answer = api.post("/golden-cases", content=json.dumps(body), headers={"Content-Type": "application/json"})
    check_error(answer, 422, "invalid_request")
    assert listed(api) == []


def test_documents_and_collections_must_exist(api: httpx.Client) -> None:
    """R10.1, R9.5"""
    body: dict[str, Any] = {"query": HORNO, "category": "causal", "relevant_document_ids": [str(uuid4())]}
    error = check_error(api.post("/golden-cases", json=body), 400, "invalid_golden_case")
    assert "not in the collection" in error["message"]
    check_error(api.post("/golden-cases", json=body | {"query": " ¿? "}), 400, "invalid_golden_case")
    for answer in (
        api.post("/golden-cases", json=body | {"collection": "nada"}),
        api.get("/golden-cases", params={"collection": "na\0da"}),
        load(api, case(), collection="nada"),
        api.get("/golden-cases/export", params={"collection": "nada"}),
        api.post("/golden-cases/validate", json={"collection": "nada"}),
        api.get("/golden-cases/versions", params={"collection": "nada"}),
    ):
        check_error(answer, 404, "collection_not_found")


def test_list_is_paged_and_filtered(api: httpx.Client) -> None:
    """R9.5 the pages hold every case once."""
    queries = [f"¿Qué marcó el horno H{number}?" for number in range(7)]
    load(api, *(case(query, difficulty="easy" if "H3" in query else "hard") for query in queries))
    pages = read_pages(api, "/golden-cases", "cases", limit=3)
    assert [[of["query"] for of in page] for page in pages] == [queries[:3], queries[3:6], queries[6:]]
    assert [of["query"] for of in listed(api, difficulty="easy")] == [queries[3]]
    assert [of["query"] for of in listed(api, query="HORNO h5")] == [queries[5]]
    assert listed(api, category="temporal") == []
    assert listed(api, broken=True) == []
    check_error(api.get("/golden-cases", params={"cursor": "x"}), 400, "invalid_cursor")
    for wrong in ({"query": "\0"}, {"category": "x"}, {"limit": 0}, {"limit": 10**30}, {"broken": "x"}):
        check_error(api.get("/golden-cases", params=wrong), 422, "invalid_request")


def test_an_import_takes_all_or_nothing(api: httpx.Client) -> None:
    """R10.1 400 with the index of the first bad case."""
    for bad in (case(PUENTE, "nada.md"), case(""), case(category="x"), {"query": PUENTE}, 7, case(HORNO)):
        error = check_error(load(api, case(HORNO, "horno.md"), bad), 400, "invalid_golden_case")  # type: ignore[arg-type]
        assert error["details"]["index"] == 1
        assert error["details"]["reason"]
    assert listed(api) == []
    assert load(api, case(HORNO, "horno.md"), case(PUENTE)).json() == {"added": 2, "replaced": 0, "kept": 0}
    error = check_error(load(api, case(TINS), case(PUENTE)), 409, "golden_case_exists")
    assert error["details"]["index"] == 1
    assert load(api, case(TINS), case(PUENTE), existing="keep").json() == {"added": 1, "replaced": 0, "kept": 1}
    changed = load(api, case(PUENTE, "puente.md"), existing="replace").json()
    assert changed == {"added": 0, "replaced": 1, "kept": 0}
    wrongs: list[dict[str, Any]] = [{"cases": {}}, {"cases": None}, {"existing": "x"}, {"collection": 3}]
    for wrong in wrongs:
        check_error(api.post("/golden-cases/import", json={"cases": []} | wrong), 422, "invalid_request")


def test_an_export_is_imported_as_it_was(api: httpx.Client) -> None:
    """R10.1 also by version, with what was deleted since."""
    load(api, case(HORNO, "horno.md", "puente.md", tags=["a"]), case(TINS, difficulty="easy"))
    version = api.post("/golden-cases/versions", json={"name": "una"}).json()["number"]
    before = api.get("/golden-cases/export").json()
    assert (before["collection"], before["version"]) == ("fábrica", None)
    for of in listed(api):
        api.delete(f"/golden-cases/{of['id']}")
    assert api.get("/golden-cases/export").json()["cases"] == []
    of_version = api.get("/golden-cases/export", params={"version": version}).json()
    assert (of_version["version"], of_version["cases"]) == (version, before["cases"])
    assert api.post("/golden-cases/import", json=of_version).json()["added"] == 2
    assert api.get("/golden-cases/export").json()["cases"] == before["cases"]


def test_versions_are_listed_and_read(api: httpx.Client) -> None:
    """R10.1 the latest first; a version's cases a page at a time."""
    load(api, case(HORNO), case(PUENTE), case(TINS))
    made = [api.post("/golden-cases/versions", json={"name": name}) for name in ("a", "b")]
    assert [answer.status_code for answer in made] == [201, 201]
    first, second = [answer.json() for answer in made]
    assert second["number"] == first["number"] + 1
    assert first["content_hash"] == second["content_hash"]
    page = api.get("/golden-cases/versions", params={"limit": 1}).json()
    assert page["versions"] == [second]
    following = api.get("/golden-cases/versions", params={"limit": 1, "cursor": page["next_cursor"]}).json()
    assert following["versions"] == [first]
    path = f"/golden-cases/versions/{first['number']}"
    half = api.get(path, params={"limit": 2}).json()
    rest = api.get(path, params={"limit": 2, "cursor": half["next_cursor"]}).json()
    assert {name: half[name] for name in first} == first
    assert [of["query"] for of in half["cases"] + rest["cases"]] == [HORNO, PUENTE, TINS]
    assert rest["next_cursor"] is None
    for unknown in (999, 2**31 - 1):
        error = check_error(api.get(f"/golden-cases/versions/{unknown}"), 404, "golden_version_not_found")
        assert error["details"] == {"version": unknown}
    for wrong in ("0", str(2**31), "x", "-1"):
        check_error(api.get(f"/golden-cases/versions/{wrong}"), 422, "invalid_request")


def test_a_deleted_document_breaks_its_cases_visibly(api: httpx.Client, server: Server) -> None:
    """R10.1, security 19"""
    document = upload(api, "fábrica", "breve.md", "El horno H9 es nuevo.")["id"]
    assert finished(api, document)["status"] == "indexed"
    body = {"query": "¿Qué horno es nuevo?", "category": "factual", "relevant_document_ids": [document]}
    added = api.post("/golden-cases", json=body)
    load(api, case(HORNO, "horno.md"))
    assert api.post("/golden-cases/validate", json={}).json() == {"valid": 2, "broken": 0}
    assert api.delete(f"/documents/{document}").status_code == 204
    assert api.post("/golden-cases/validate", json={}).json() == {"valid": 1, "broken": 1}
    (broken,) = listed(api, broken=True)
    assert (broken["id"], broken["missing_document_ids"]) == (added.json()["id"], [document])
    references = [of["relevant_documents"] for of in api.get("/golden-cases/export").json()["cases"]]
    assert references[0] == [{"id": document, "source": None, "filename": None}]


def test_another_owners_cases_are_unknown_ones(api: httpx.Client, database: str) -> None:
    """R4.8, security 3: the same words for their ids and for those that nobody has."""
    load(api, case(HORNO, "horno.md"))
    (theirs,) = listed(api)
    api.post("/golden-cases/versions", json={})
    with (
        run_server_here(DATABASE_URL=database, RAG_OWNER="otra") as other,
        httpx.Client(base_url=f"{other}/api/v1", timeout=30) as stranger,
    ):
        body = {"query": PUENTE, "category": "causal", "relevant_document_ids": []}
        for method, sent in (("GET", None), ("DELETE", None), ("PUT", body)):
            answers = []
            for each in (theirs["id"], str(uuid4())):
                error = check_error(
                    stranger.request(method, f"/golden-cases/{each}", json=sent), 404, "golden_case_not_found"
                )
                answers.append(str(error["message"]).replace(each, "…"))
            assert answers[0] == answers[1]
        for path in ("/golden-cases", "/golden-cases/export", "/golden-cases/versions", "/golden-cases/versions/1"):
            answer = stranger.get(path, params={"collection": "fábrica"})
            assert check_error(answer, 404, "collection_not_found")["details"]["known"] == []
    assert listed(api) == [theirs]

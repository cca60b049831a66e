"""Proposed golden cases over HTTP: a real server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.pages import read_pages
from tests.conftest import Server, run_server
from tests.golden_library import HORNO, TEXTS

FIELDS = {
    "id", "state", "origin", "method", "query", "relevant_document_ids", "candidate_document_ids", "expected_answer",
    "quote", "category", "difficulty", "tags", "reason", "conversation_id", "message_id", "document_id", "case_id",
    "created_at", "decided_at",
}  # fmt: skip
MADE = ["¿Por qué falló el horno H2?", "¿Por qué se cerró el puente de Arenal el 3 de mayo de 2024?"]


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with run_server("--collection", "fábrica", "--ingest", str(folder), DATABASE_URL=make_database()) as server:
        yield server


def listed(api: httpx.Client, **filters: Any) -> list[dict[str, Any]]:
    return list(api.get("/golden-cases/proposals", params=filters).raise_for_status().json()["proposals"])


def test_documents_propose_cases_and_a_person_decides(api: httpx.Client) -> None:
    """R10.1 proposed, read, accepted with changes, rejected; a second time nothing is proposed."""
    proposed = api.post("/golden-cases/proposals", json={"limit": 2}).raise_for_status().json()
    assert [of["query"] for of in proposed["proposals"]] == MADE
    assert (proposed["method"], proposed["calls"], proposed["warnings"]) == ("rules", 0, [])
    first, second = proposed["proposals"]
    assert (set(first), first["state"], first["origin"]) == (FIELDS, "proposed", "document")
    assert first["quote"] == first["expected_answer"] == TEXTS["horno.md"].splitlines()[2]
    assert api.get(f"/golden-cases/proposals/{first['id']}").json() == first
    assert api.get("/golden-cases").json()["cases"] == []

    accepted = api.post(f"/golden-cases/proposals/{first['id']}/accept", json={"expected_answer": "El retén."})
    assert accepted.status_code == 201
    case = accepted.json()
    assert (case["query"], case["expected_answer"], case["relevant_document_ids"]) == (
        HORNO, "El retén.", [first["document_id"]],
    )  # fmt: skip
    assert [of["query"] for of in api.get("/golden-cases/export").json()["cases"]] == [HORNO]
    assert [of["id"] for of in listed(api, case_id=case["id"])] == [first["id"]]
    rejected = api.post(f"/golden-cases/proposals/{second['id']}/reject").raise_for_status().json()
    assert rejected["state"] == "rejected"
    for decided in (first, second):
        answer = api.post(f"/golden-cases/proposals/{decided['id']}/accept", json={})
        check_error(answer, 409, "proposal_decided")
    again = api.post("/golden-cases/proposals", json={"limit": 100}).raise_for_status().json()["proposals"]
    assert not {of["query"] for of in again} & set(MADE)
    assert [of["query"] for of in listed(api, state="accepted")] == [HORNO]


def test_a_thumbs_down_proposes_a_case(api: httpx.Client) -> None:
    """R10.1 over HTTP, with what was said; no case comes of it before a person has named its documents."""
    answer = api.post("/chat", json={"message": "¿Qué horno tiene el retén roto?"}).raise_for_status().json()
    place = f"/conversations/{answer['conversation_id']}/messages/{answer['message_id']}"
    api.put(f"{place}/feedback", json={"rating": -1, "comment": "Falta el modelo."}).raise_for_status()
    (proposal,) = listed(api, origin="feedback")
    assert (proposal["reason"], proposal["message_id"]) == ("Falta el modelo.", answer["message_id"])
    assert answer["citations"][0]["document_id"] in proposal["candidate_document_ids"]
    path = f"/golden-cases/proposals/{proposal['id']}/accept"
    told = check_error(api.post(path), 400, "invalid_golden_case")
    assert "relevant_document_ids" in str(told)
    documents = proposal["candidate_document_ids"][:1]
    assert api.post(path, json={"relevant_document_ids": documents}).status_code == 201
    api.put(f"{place}/feedback", json={"rating": 1}).raise_for_status()
    assert [of["state"] for of in listed(api, origin="feedback")] == ["accepted"]


def test_lists_are_paged(api: httpx.Client) -> None:
    """R10.1"""
    api.post("/golden-cases/proposals", json={"limit": 100}).raise_for_status()
    whole = [of["id"] for of in listed(api)]
    assert len(whole) >= 2
    pages = read_pages(api, "/golden-cases/proposals", "proposals", limit=1)
    assert [[of["id"] for of in page] for page in pages] == [[one] for one in whole]


def test_what_is_wrong_is_told(api: httpx.Client) -> None:
    """R9.5, R10.1"""
    path = "/golden-cases/proposals"
    check_error(api.get(f"{path}/{uuid4()}"), 404, "proposal_not_found")
    check_error(api.post(f"{path}/{uuid4()}/accept"), 404, "proposal_not_found")
    check_error(api.post(path, json={"documents": ["nada.md"]}), 404, "document_not_found")
    check_error(api.post(path, json={"collection": "nada"}), 404, "collection_not_found")
    assert api.post(path, json={"limit": 0}).status_code == 422
    assert api.post(path, json={"by": "magic"}).status_code == 422
    assert api.get(path, params={"state": "gone"}).status_code == 422

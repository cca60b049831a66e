"""Proposed golden cases over HTTP: a real server."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.pages import read_pages
from tests.api.uploads import ask, shelf
from tests.conftest import Server
from tests.golden_library import HORNO, TEXTS

COLLECTION = "propuestas"
FIELDS = {
    "id", "state", "origin", "method", "query", "relevant_document_ids", "candidate_document_ids", "expected_answer",
    "quote", "category", "difficulty", "tags", "reason", "conversation_id", "message_id", "document_id", "case_id",
    "created_at", "decided_at",
}  # fmt: skip
MADE = ["¿Por qué falló el horno H2?", "¿Por qué se cerró el puente de Arenal el 3 de mayo de 2024?"]


@pytest.fixture(scope="module")
def api(demo_server: Server) -> Iterator[httpx.Client]:
    with shelf(demo_server, COLLECTION) as client:
        yield client


def listed(api: httpx.Client, **filters: Any) -> list[dict[str, Any]]:
    asked = api.get("/golden-cases/proposals", params={"collection": COLLECTION} | filters)
    return list(asked.raise_for_status().json()["proposals"])


def propose(api: httpx.Client, limit: int) -> dict[str, Any]:
    body = {"collection": COLLECTION, "limit": limit}
    return dict(api.post("/golden-cases/proposals", json=body).raise_for_status().json())


def test_documents_propose_cases_and_a_person_decides(api: httpx.Client) -> None:
    """R10.1 proposed, read, accepted with changes, rejected; a second time nothing is proposed."""
    asked = {"collection": COLLECTION}
    proposed = propose(api, 2)
    assert [of["query"] for of in proposed["proposals"]] == MADE
    assert (proposed["method"], proposed["calls"], proposed["warnings"]) == ("rules", 0, [])
    first, second = proposed["proposals"]
    assert (set(first), first["state"], first["origin"]) == (FIELDS, "proposed", "document")
    assert first["quote"] == first["expected_answer"] == TEXTS["horno.md"].splitlines()[2]
    assert api.get(f"/golden-cases/proposals/{first['id']}").json() == first
    assert api.get("/golden-cases", params=asked).json()["cases"] == []

    accepted = api.post(f"/golden-cases/proposals/{first['id']}/accept", json={"expected_answer": "El retén."})
    assert accepted.status_code == 201
    case = accepted.json()
    assert (case["query"], case["expected_answer"], case["relevant_document_ids"]) == (
        HORNO, "El retén.", [first["document_id"]],
    )  # fmt: skip
    assert [of["query"] for of in api.get("/golden-cases/export", params=asked).json()["cases"]] == [HORNO]
    assert [of["id"] for of in listed(api, case_id=case["id"])] == [first["id"]]
    rejected = api.post(f"/golden-cases/proposals/{second['id']}/reject").raise_for_status().json()
    assert rejected["state"] == "rejected"
    for decided in (first, second):
        answer = api.post(f"/golden-cases/proposals/{decided['id']}/accept", json={})
        check_error(answer, 409, "proposal_decided")
    again = propose(api, 100)["proposals"]
    assert not {of["query"] for of in again} & set(MADE)
    assert [of["query"] for of in listed(api, state="accepted")] == [HORNO]


def test_a_thumbs_down_proposes_a_case(api: httpx.Client) -> None:
    """R10.1 over HTTP, with what was said; no case comes of it before a person has named its documents."""
    answer = ask(api, COLLECTION, "¿Qué horno tiene el retén roto?")
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
    assert api.delete(f"/conversations/{answer['conversation_id']}").status_code == 204
    assert [of["query"] for of in listed(api, origin="feedback")] == [""]


def test_lists_are_paged(api: httpx.Client) -> None:
    """R10.1"""
    propose(api, 100)
    whole = [of["id"] for of in listed(api)]
    assert len(whole) >= 2
    pages = read_pages(api, "/golden-cases/proposals", "proposals", limit=1, collection=COLLECTION)
    assert [[of["id"] for of in page] for page in pages] == [[one] for one in whole]


def test_what_is_wrong_is_told(api: httpx.Client) -> None:
    """R9.5, R10.1"""
    path = "/golden-cases/proposals"
    check_error(api.get(f"{path}/{uuid4()}"), 404, "proposal_not_found")
    check_error(api.post(f"{path}/{uuid4()}/accept"), 404, "proposal_not_found")
    check_error(api.post(path, json={"collection": COLLECTION, "documents": ["nada.md"]}), 404, "document_not_found")
    check_error(api.post(path, json={"collection": "nada"}), 404, "collection_not_found")
    assert api.post(path, json={"limit": 0}).status_code == 422
    assert api.post(path, json={"by": "magic"}).status_code == 422
    assert api.get(path, params={"state": "gone"}).status_code == 422

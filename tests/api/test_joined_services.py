"""Two Causeways, each a process with documents of its own: one asks the other."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.streams import stream
from tests.api.uploads import finished, upload
from tests.conftest import PATIENT, Server, run_server

pytestmark = pytest.mark.slow  # another process
QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
NOTE = "# Note\n\nHarrowmere Stores pays Dorada within 45 days, says the contract that Nora Quill signed.\n"
BOTH = "Within how many days does Harrowmere Stores pay Dorada, and why did it leave Dorada out of its promotion?"
PARTS = ("citations", "sources", "statements")
JOINED = {"RAG_CHUNKENIZER_TIMEOUT_SECONDS": "60", **PATIENT}


@pytest.fixture(scope="module")
def joined(demo_server: Server, make_database: Callable[[], str]) -> Iterator[Server]:
    """Without documents; the other one has the demo's."""
    with run_server(DATABASE_URL=make_database(), CHUNKENIZER_API_URL=demo_server.url, **JOINED) as server:
        yield server


@pytest.fixture
def api(joined: Server) -> Iterator[httpx.Client]:
    headers = {"Accept-Language": "en"}
    with httpx.Client(base_url=f"{joined.url}/api/v1", timeout=60, headers=headers) as client:
        yield client


def ask(api: httpx.Client, message: str, **body: Any) -> dict[str, Any]:
    response = api.post("/chat", json={"message": message, **body})
    assert response.status_code == 200, response.text
    return dict(response.json())


def shown(api: httpx.Client, conversation: str) -> dict[str, Any]:
    return dict(api.get(f"/conversations/{conversation}").raise_for_status().json()["messages"][-1])


def test_what_only_the_other_one_knows_is_answered(api: httpx.Client) -> None:
    """R13.3, R9.8 Cited and checked, where there is not even a collection; the documents can't be opened here."""
    assert api.get("/collections").json()["collections"] == []
    answer = ask(api, QUESTION)
    assert answer["found"]
    assert answer["degraded"] == []
    assert any(citation["status"] == "supported" for citation in answer["citations"])
    assert all(source["elsewhere"] for source in answer["sources"])
    check_error(api.get(f"/documents/{answer['citations'][0]['document_id']}"), 404, "document_not_found")
    assert stream(api, "/chat/stream", message=QUESTION)[-1].data["answer"] == answer["answer"]


def test_a_response_has_addresses_of_its_own_documents_alone(joined: Server) -> None:
    """R13.3, R9 Those of the other one's documents would lead nowhere."""
    response = httpx.post(f"{joined.url}/v1/responses", json={"model": "causeway", "input": QUESTION}, timeout=60)
    answer = response.raise_for_status().json()
    assert answer["citations"]
    assert answer["output"][0]["content"][0]["annotations"] == []
    (stored, *_) = httpx.get(f"{joined.url}/api/v1/conversations").json()["conversations"]
    assert stored["collection"] is None


def test_a_stored_answer_stays_whole(api: httpx.Client) -> None:
    """R13.3, R9.4 What was never here is not taken for deleted; what was, and is, goes."""
    alone = ask(api, QUESTION)
    kept = shown(api, alone["conversation_id"])
    assert kept["content"] == alone["answer"]
    assert [kept["details"][part] for part in PARTS] == [alone[part] for part in PARTS]

    note = upload(api, "default", "note.md", NOTE)["id"]
    assert finished(api, note)["status"] == "indexed"
    both = ask(api, BOTH)
    assert {source["elsewhere"] for source in both["sources"]} == {True, False}
    api.delete(f"/documents/{note}").raise_for_status()
    left = shown(api, both["conversation_id"])
    assert "45 days" in both["answer"]
    assert "45 days" not in left["content"]
    assert left["details"]["citations"] == [cited for cited in both["citations"] if cited["document_id"] != note]
    assert left["details"]["sources"] == [source for source in both["sources"] if source["elsewhere"]]


def test_a_search_shows_who_found_what(api: httpx.Client) -> None:
    """R13.3, R9.2 Each leg by its name."""
    found = api.post("/retrieve", json={"query": QUESTION, "debug": True}).json()
    assert {leg["leg"] for leg in found["debug"]["legs"]} >= {"vector", "chunkenizer"}
    assert found["debug"]["timings_ms"]["chunkenizer"] > 0
    best = found["results"][0]
    assert best["metadata"]["source_type"] == "chunkenizer"
    assert 0 < best["scores"]["chunkenizer"] <= 1


def test_what_came_from_a_causeway_is_not_handed_on(api: httpx.Client) -> None:
    """R13.3, R9.8 Two that ask each other do not ask in circles."""
    body = {"query": QUESTION, "top_k": 3}
    assert api.post("/search", json=body).json()["total_results"] == 3
    asked = api.post("/search", json=body, headers={"Via": "1.1 causeway, 1.1 nginx"}).json()
    assert asked["results"] == []


def test_health_tells_of_it(api: httpx.Client, joined: Server) -> None:
    """R13.3, R9.7 Whether it is left alone."""
    breakers = httpx.get(f"{joined.url}/health").json()["breakers"]
    assert {"name": "chunkenizer", "state": "closed", "failures": 0, "retry_after": 0.0} in breakers

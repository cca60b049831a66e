"""POST retrieve and Chunkenizer's POST search, over HTTP."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.owners import OWNERS, fill
from tests.conftest import Server, run_server_here

QUESTION = "¿Por qué se paró el horno H2?"
CAUSAL = "¿Por qué se retiró el lote A-2517 y quién lo decidió?"
FIELDS = {"chunk_id", "document_id", "content", "score", "scores", "created_at", "chunk_index", "metadata"}
PATHS = ("/api/v1/retrieve", "/api/retrieve")
SEARCHES = ("/api/v1/search", "/api/search", "/search")


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client(**{"Accept-Language": "en"}) as client:
        yield client


def find(client: httpx.Client, path: str = PATHS[0], **body: Any) -> dict[str, Any]:
    response = client.post(path, json={"query": QUESTION, **body})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return [result["chunk_id"] for result in found["results"]]


@pytest.mark.parametrize("path", PATHS)
def test_results_have_all_that_is_known_of_a_chunk(client: httpx.Client, path: str) -> None:
    """R9.2, R4.7 ten by default, best first, with the scores of every stage."""
    found = find(client, path)
    assert set(found) == {"results", "degraded", "strategy", "warnings", "debug"}
    assert (found["degraded"], found["warnings"], found["debug"]) == ([], [], None)
    assert found["strategy"] == "hybrid"
    assert len(found["results"]) == 10
    assert all(set(result) == FIELDS for result in found["results"])
    best = found["results"][0]
    assert "horno" in best["content"]
    assert {"fulltext", "vector", "fusion", "rerank"} <= set(best["scores"])
    assert 0 < best["score"] <= 1
    assert datetime.fromisoformat(best["created_at"]).tzinfo
    assert {"filename", "title", "language", "start_char", "end_char"} <= set(best["metadata"])
    assert UUID(best["chunk_id"]) != UUID(best["document_id"])


def test_pages_are_cut_from_one_list(client: httpx.Client) -> None:
    """R4.7 top_k, offset, min_score."""
    whole = find(client, top_k=9, enable_rerank=False)
    pages = [find(client, top_k=3, offset=offset, enable_rerank=False) for offset in (0, 3, 6)]
    assert [chunk for page in pages for chunk in ids(page)] == ids(whole)
    bar = whole["results"][2]["score"]
    above = find(client, top_k=9, enable_rerank=False, min_score=bar)
    assert ids(above) == [result["chunk_id"] for result in whole["results"] if result["score"] >= bar]


@pytest.mark.parametrize(
    ("strategy", "taken", "legs"),
    [
        ("fulltext", "fulltext", {"fulltext"}),
        ("vector", "semantic", {"vector"}),
        ("semantic", "semantic", {"vector"}),
        ("hybrid", "hybrid", {"fulltext", "vector"}),
    ],
)
def test_the_strategy_is_the_request_s(client: httpx.Client, strategy: str, taken: str, legs: set[str]) -> None:
    """R4.4 vector | fulltext | hybrid; R9.2 enable_rerank."""
    found = find(client, strategy=strategy, enable_rerank=False, config={"graph": False})
    assert found["strategy"] == taken
    assert found["results"]
    for result in found["results"]:
        assert set(result["scores"]) - {"fusion"} <= legs


def test_a_value_that_is_not_valid_is_passed_over_with_a_warning(client: httpx.Client) -> None:
    """R4.10 default and a warning, for the overrides; the fields of their own count more than these."""
    found = find(client, config={"rrf_k": "many", "nonsense": 1, "top_k": 3, "strategy": "fulltext"}, strategy="hybrid")
    assert [warning.split("=")[0] for warning in found["warnings"]] == ["rrf_k", "'nonsense'"]
    assert len(found["results"]) == 3
    assert found["strategy"] == "hybrid"


def test_filters_narrow_the_search(client: httpx.Client) -> None:
    """R4.5 by language and by date."""
    found = find(client, filters={"language": ["fr"]})
    assert {result["metadata"]["language"] for result in found["results"]} == {"fr"}
    assert find(client, filters={"created_until": "2001-01-01"})["results"] == []


def test_every_stage_is_shown_on_request(client: httpx.Client) -> None:
    """R9.2 [001.13.10] what each stage did, also where the result is in the query cache, bounded in size."""
    found, again = (find(client, query=CAUSAL, debug=True, config={"fusion": "rrf"}) for _ in range(2))
    debug = found["debug"]
    assert debug["query"]["language"] == "es"
    assert debug["query"]["intent"] == "causal"
    assert debug["query"]["search_text"] == CAUSAL
    assert len(debug["query"]["sub_queries"]) == 2
    assert (debug["strategy"], bool(debug["reason"])) == ("hybrid", True)
    assert {leg["leg"] for leg in debug["legs"]} == {"fulltext", "vector"}
    assert {leg["text"] for leg in debug["legs"]} >= {CAUSAL, *debug["query"]["sub_queries"]}
    for ranking in (*debug["legs"], debug["fused"], debug["reranked"], debug["graph"]):
        assert [hit["rank"] for hit in ranking["hits"]] == list(range(1, len(ranking["hits"]) + 1))
        assert len(ranking["hits"]) == min(20, ranking["total"])
    assert [hit["chunk_id"] for hit in debug["graph"]["hits"]][:10] == ids(found)
    assert {"transform", "fulltext", "vector", "rerank", "search", "expand"} <= set(debug["timings_ms"])
    assert (debug["config"]["fusion"], debug["embedding_model"]) == ("rrf", "e5")
    assert debug["caches"]["query"] == {"hits": 0, "misses": 1}
    assert again["debug"]["caches"]["query"] == {"hits": 1, "misses": 0}
    assert len(again["debug"]["legs"]) == len(debug["legs"])
    assert ids(again) == ids(found)


def test_what_stands_in_a_ranking_and_what_an_answer_would_read_is_told(client: httpx.Client) -> None:
    """R9.2, R8.1 Every chunk that a stage ranks with its text; the hits with what surrounds them."""
    found = find(client, query=CAUSAL, debug=True, config={"window_sentences": 3})
    debug = found["debug"]
    rankings = [*debug["legs"], debug["fused"], debug["reranked"], debug["graph"]]
    assert set(debug["chunks"]) == {hit["chunk_id"] for ranking in rankings for hit in ranking["hits"]}
    best = found["results"][0]
    assert debug["chunks"][best["chunk_id"]]["content"] == best["content"]
    assert debug["chunks"][best["chunk_id"]]["filename"] == best["metadata"]["filename"]
    first = debug["expanded"][0]
    assert (first["rank"], first["document_id"]) == (1, best["document_id"])
    assert best["content"].strip() in first["content"]
    assert len(first["content"]) > len(best["content"])


def test_what_can_be_chosen_of_a_search_is_told(client: httpx.Client) -> None:
    """R4.10 The knobs with their bounds, and the values that a collection has of its own; R4.5 the filters."""
    own = {"retrieval": {"strategy": "fulltext", "top_k": 4}}
    assert client.put("/api/v1/collections/options", json=own).status_code == 200
    told = client.get("/api/v1/retrieval-options", params={"collection": "options"}).json()
    assert told["collection"] == "options"
    assert (told["values"]["strategy"], told["values"]["top_k"], told["values"]["rerank"]) == ("fulltext", 4, True)
    assert set(told["config"]["properties"]) == set(told["values"])
    assert told["config"]["properties"]["rrf_k"]["maximum"] == 10_000
    assert {"language", "filename", "created_from"} <= set(told["filters"]["properties"])
    check_error(client.get("/api/v1/retrieval-options", params={"collection": "none"}), 404, "collection_not_found")
    client.delete("/api/v1/collections/options")


def test_why_a_strategy_was_taken_is_told(client: httpx.Client) -> None:
    """R4.4, R9.2 by the question itself, on request, and where one leg alone found nothing."""
    reasons = {
        '"horno H2"': ("fulltext", "quoted words"),
        "horno H2": ("fulltext", "keywords"),
        "zarzaparrillófono": ("hybrid", "fulltext alone found nothing"),
    }
    for query, expected in reasons.items():
        debug = find(client, query=query, debug=True)["debug"]
        assert (debug["strategy"], debug["reason"]) == expected
    assert find(client, strategy="hybrid", debug=True)["debug"]["reason"] == "asked for"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"query": "   "}, 400, "invalid_question"),
        ({"query": "a\0b"}, 400, "invalid_question"),
        ({"query": "a" * 5_000}, 400, "invalid_question"),
        ({"query": "hola", "filters": {"owner": "x"}}, 400, "invalid_filter"),
        ({"query": "hola", "filters": {"tags": "a\0"}}, 400, "invalid_filter"),
        ({"query": "hola", "collection": "no\0ne"}, 404, "collection_not_found"),
        ({}, 422, "invalid_request"),
        ({"query": 7}, 422, "invalid_request"),
        ({"query": "\ud800"}, 422, "invalid_request"),
        ({"query": "hola", "top_k": 0}, 422, "invalid_request"),
        ({"query": "hola", "top_k": 10**400}, 422, "invalid_request"),
        ({"query": "hola", "top_k": "5"}, 422, "invalid_request"),
        ({"query": "hola", "offset": -1}, 422, "invalid_request"),
        ({"query": "hola", "min_score": float("nan")}, 422, "invalid_request"),
        ({"query": "hola", "strategy": "best"}, 422, "invalid_request"),
        ({"query": "hola", "unknown": 1}, 422, "invalid_request"),
    ],
)
def test_what_is_wrong_with_a_request_is_told(
    client: httpx.Client, body: dict[str, Any], status: int, code: str
) -> None:
    """R9 documented errors in our format, whatever comes."""
    # Not by the client: it does not write what JSON does not have.
    response = client.post(PATHS[0], content=json.dumps(body), headers={"Content-Type": "application/json"})
    check_error(response, status, code)


@pytest.mark.parametrize("path", SEARCHES)
def test_a_program_written_for_chunkenizer_finds(client: httpx.Client, path: str) -> None:
    """R9.8 its request and its answer, at each address that such a program may have been given."""
    response = client.post(path, json={"query": QUESTION, "top_k": 4})
    assert response.status_code == 200
    answer = response.json()
    assert set(answer) == {"query", "results", "total_results"}
    assert (answer["query"], answer["total_results"], len(answer["results"])) == (QUESTION, 4, 4)
    for chunk in answer["results"]:
        assert {"chunk_text", "document_id", "chunk_index", "score", "metadata"} <= set(chunk)
    same = find(client, top_k=4)["results"]
    assert [chunk["chunk_text"] for chunk in answer["results"]] == [result["content"] for result in same]


def test_chunkenizer_s_defaults_hold(client: httpx.Client) -> None:
    """R9.8 five chunks, filters that may be null, fields that it does not know left alone; ours: a collection."""
    answer = client.post("/search", json={"query": QUESTION, "filters": None, "rerank": True}).json()
    assert answer["total_results"] == 5
    only = client.post("/search", json={"query": QUESTION, "filters": {"language": "fr"}, "collection": "demo"}).json()
    assert {chunk["metadata"]["language"] for chunk in only["results"]} == {"fr"}
    check_error(client.post("/search", json={"query": QUESTION, "collection": "no"}), 404, "collection_not_found")
    check_error(client.post("/search", json={"query": ""}), 400, "invalid_question")
    check_error(client.post("/search", json={"top_k": 3}), 422, "invalid_request")


@pytest.fixture(scope="module")
def two_owners(make_database: Callable[[], str]) -> Iterator[dict[str, httpx.Client]]:
    """Two services over one database, each for an owner of its own, who both have a collection «notes»."""
    url = make_database()
    fill(url)
    with (
        run_server_here(DATABASE_URL=url, RAG_OWNER="ana") as hers,
        run_server_here(DATABASE_URL=url, RAG_OWNER="ben") as his,
        httpx.Client(base_url=hers, timeout=60, headers={"Accept-Language": "en"}) as ana,
        httpx.Client(base_url=his, timeout=60, headers={"Accept-Language": "en"}) as ben,
    ):
        yield {"ana": ana, "ben": ben}


@pytest.mark.parametrize("path", [PATHS[0], "/search"])
def test_nobody_finds_what_is_another_s(two_owners: dict[str, httpx.Client], path: str) -> None:
    """R4.8, security 3: the same name is another collection, and a foreign one is unknown in the same words."""
    for owner, other in OWNERS.items():
        found = two_owners[owner].post(path, json={"query": "¿Qué horno se paró?", "collection": "notes"}).text
        assert f"El horno de {owner} se paró" in found
        assert other not in found
        told = {
            name: check_error(
                two_owners[owner].post(path, json={"query": "horno", "collection": name}), 404, "collection_not_found"
            )
            for name in (f"{other}-only", "nobody-s")
        }
        messages = {error["message"].replace(name, "…") for name, error in told.items()}
        assert len(messages) == 1
        assert all(f"{other}-only" not in error["details"]["known"] for error in told.values())


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("¿Qué vendió Almendirna en mayo?", "Ningún documento dice «Almendirna». ¿Quería decir «Almendrina»?"),
        (
            "Qui dirige Almendirna et quand ?",
            "Aucun document ne dit « Almendirna ». Vouliez-vous dire « Almendrina » ?",
        ),
        ("What did Almendirna sell?", "No document says “Almendirna”. Did you mean “Almendrina”?"),
    ],
)
def test_a_typing_error_in_a_name_is_told(client: httpx.Client, query: str, sentence: str) -> None:
    """R4.1 by the collection's own words, in the question's language."""
    assert find(client, query=query)["warnings"] == [sentence]


@pytest.mark.parametrize("query", ["¿Qué es de la?", "the of and", "de la", "?!…", "«»", "---"])
def test_a_question_without_words_of_meaning_is_no_error(client: httpx.Client, query: str) -> None:
    """R4.1"""
    found = find(client, query=query)
    assert (found["degraded"], found["warnings"]) == ([], [])


@pytest.mark.parametrize("query", ["A-2517", "a-2517", "2517", "A2517", "a_2517"])
def test_a_code_alone_finds_what_names_it(client: httpx.Client, query: str) -> None:
    """R4.1 whole, in part and with other signs."""
    assert "A-2517" in find(client, query=query, top_k=3)["results"][0]["content"]


def test_capitals_and_a_whole_page_are_searched_as_any_other_question(client: httpx.Client) -> None:
    """R4.1"""
    asked = ids(find(client, top_k=3))
    assert ids(find(client, query=QUESTION.upper(), top_k=3))[0] == asked[0]
    chunk = find(client, top_k=1)["results"][0]
    page = (f"{chunk['content']} " * 9)[:3_900]
    assert chunk["document_id"] in [result["document_id"] for result in find(client, query=page)["results"]]
    check_error(client.post(PATHS[0], json={"query": "palabra " * 1_000}), 400, "invalid_question")


def test_the_causal_graph_is_listed(client: httpx.Client) -> None:
    """R7.3 All of it, or what is near some words; each edge with the quote that states it."""
    everything = client.get("/api/v1/graph", params={"collection": "demo"}).raise_for_status().json()["edges"]
    assert len(everything) > 40
    assert {edge["polarity"] for edge in everything} >= {"fact", "hypothetical"}
    near = client.get("/api/v1/graph", params={"collection": "demo", "about": "condensation"}).json()["edges"]
    assert 0 < len(near) < len(everything)
    (stated,) = [edge for edge in near if edge["cause"].startswith("la condensation devant")]
    assert stated["effect"] in stated["quote"]
    assert stated["filename"] == "registre-reclamations-clients.md"
    assert client.get("/api/v1/graph", params={"collection": "demo", "about": "Kalamazoo"}).json() == {"edges": []}
    assert len(client.get("/api/v1/graph", params={"collection": "demo", "limit": 3}).json()["edges"]) == 3
    check_error(client.get("/api/v1/graph", params={"collection": "none"}), 404, "collection_not_found")
    check_error(client.get("/api/v1/graph", params={"limit": 0}), 422, "invalid_request")

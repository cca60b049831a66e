"""Evaluations over HTTP: a real server with its own worker."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from agent.evaluation.metrics import METRICS
from tests.api.expectations import check_error
from tests.api.test_golden_cases_api import case, write_texts
from tests.api.uploads import finished as indexed
from tests.api.uploads import upload
from tests.conftest import Server, run_server, run_server_here
from tests.golden_library import HORNO, PUENTE, TINS

WAIT_SECONDS = 60
CASES = [
    case(HORNO, "horno.md", difficulty="hard"),
    case(PUENTE, "puente.md", category="temporal"),
    case(TINS, "stock.md", category="factual", difficulty="easy"),
]


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def server(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = write_texts(tmp_path_factory.mktemp("texts"))
    with run_server("--collection", "fábrica", "--ingest", str(folder), DATABASE_URL=database) as server:
        yield server


@pytest.fixture(scope="module")
def api(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30, headers={"Accept-Language": "en"}) as client:
        client.post("/golden-cases/import", json={"cases": CASES}).raise_for_status()
        yield client


def order(api: httpx.Client, path: str = "/evaluations", **body: Any) -> dict[str, Any]:
    """Of the search alone, unless answers are asked for."""
    answer = api.post(path, json={"answers": False, **body})
    assert answer.status_code == 202, answer.text
    assert answer.json()["status"] in ("waiting", "running", "done")
    return dict(answer.json())


def finished(api: httpx.Client, run: dict[str, Any]) -> dict[str, Any]:
    until = time.monotonic() + WAIT_SECONDS
    while (now := api.get(f"/evaluations/{run['id']}").json())["status"] in ("waiting", "running"):
        assert time.monotonic() < until, now
        time.sleep(0.05)
    return dict(now)


def test_a_run_is_measured_in_the_background(api: httpx.Client) -> None:
    """R9.5, R10.2, R10.4 ordered, followed, read: figures, groups, latencies, each case by its ids."""
    ordered = order(api, name="primera", answers=True)
    assert (ordered["total"], ordered["summary"], ordered["name"]) == (3, None, "primera")
    run = finished(api, ordered)
    assert (run["status"], run["done"], run["error"]) == ("done", 3, None)
    summary = run["summary"]
    assert set(METRICS) <= set(summary["metrics"])
    assert (summary["cases"], summary["metrics"]["hit@1"], summary["metrics"]["mrr@10"]) == (3, 1, 1)
    assert set(summary["latency_ms"]) == {"p50", "p95", "p99"}
    assert {name: of["cases"] for name, of in summary["by_category"].items()} == {
        "causal": 1, "factual": 1, "temporal": 1,
    }  # fmt: skip
    assert {name: of["cases"] for name, of in summary["by_difficulty"].items()} == {"easy": 1, "hard": 1, "medium": 1}
    assert len(run["config_hash"]) == 64
    page = api.get(f"/evaluations/{run['id']}/results", params={"limit": 2}).json()
    rest = api.get(f"/evaluations/{run['id']}/results", params={"limit": 2, "cursor": page["next_cursor"]}).json()
    results = page["results"] + rest["results"]
    assert [(of["query"], of["rank"], of["status"]) for of in results] == [
        (query, 1, "measured") for query in (HORNO, PUENTE, TINS)
    ]
    assert all(of["retrieved_document_ids"][0] == of["relevant_document_ids"][0] for of in results)
    assert all(of["milliseconds"] > 0 for of in results)
    assert all(of["answer_milliseconds"] >= of["first_token_milliseconds"] > 0 for of in results)
    assert {of["chat_model"] for of in results} == {"extractive"} == set(summary["answers"]["chat_models"])
    assert run["config"]["judge"] == "estimate"
    assert summary["metrics"]["faithfulness_estimate"] == summary["metrics"]["cited_relevant"] == 1
    assert summary["defined"]["faithfulness_estimate"] == summary["answers"]["answered"] == 3
    assert summary["answers"]["statements"] == {"supported": 3}
    assert rest["next_cursor"] is None
    assert "retén" not in str(results)  # of the document's text there is nothing


def test_retrieve_has_the_same_door_and_the_latest_figures(api: httpx.Client) -> None:
    """R9.2, 001.18.8: POST retrieve/evaluate is POST evaluations; GET retrieve/metrics the last run and the trend."""
    first = finished(api, order(api, "/retrieve/evaluate", name="una"))
    second = finished(api, order(api, "/retrieve/evaluate", name="otra", retrieval={"rerank": False}))
    told = api.get("/retrieve/metrics", params={"collection": "fábrica", "limit": 2}).json()
    assert told["latest"] == second
    assert [point["evaluation"] for point in told["trend"]] == [second["id"], first["id"]]
    assert told["trend"][1]["metrics"] == first["summary"]["metrics"]
    assert told["trend"][1]["config_hash"] == first["config_hash"] != second["config_hash"]
    check_error(api.get("/retrieve/metrics", params={"collection": "nada"}), 404, "collection_not_found")


def test_what_is_overridden_is_told_and_measured(api: httpx.Client) -> None:
    """R4.10, R10.4"""
    run = finished(api, order(api, retrieval={"strategy": "semantic", "rrf_k": -1, "\0": 1}, k=20))
    assert (run["config"]["strategy"], run["config"]["rrf_k"], run["config"]["top_k"]) == ("semantic", 60, 20)
    assert len(run["warnings"]) == 2
    assert run["status"] == "done"


def test_two_runs_are_compared(api: httpx.Client) -> None:
    """R10.4 what differs, per metric both values; the cases that changed a page at a time."""
    semantic = finished(api, order(api, retrieval={"strategy": "semantic"}, version="current"))
    hybrid = finished(api, order(api, retrieval={"strategy": "hybrid"}))
    ids = {"baseline": semantic["id"], "candidate": hybrid["id"]}
    told = api.get("/evaluations/compare", params=ids | {"metric": "mrr@10"}).json()
    assert (told["cases"], told["won"] + told["lost"] + told["tied"], told["metric"]) == (3, 3, "mrr@10")
    assert told["config"] == {"strategy": {"baseline": "semantic", "candidate": "hybrid"}}
    for name, value in told["metrics"].items():
        assert value["baseline"] == pytest.approx(semantic["summary"]["metrics"][name])
        assert value["candidate"] == pytest.approx(hybrid["summary"]["metrics"][name])
        assert value["difference"] == pytest.approx(value["candidate"] - value["baseline"])
        assert (value["questions"], value["p_value"] <= value["corrected_p_value"]) == (3, True)
        assert value["smallest"] == 0.05
    assert set(told["latency_ms"]) == {"p50", "p95", "p99"}
    ratio = told["latency_ratio"]
    assert 0 < ratio["low"] <= ratio["ratio"] <= ratio["high"]
    other = api.get("/evaluations/compare", params=ids | {"smallest": 0.01}).json()
    assert other["metrics"]["hit@1"]["smallest"] == 0.01
    for wrong in ("0", "1.1", "nan", "x"):
        check_error(api.get("/evaluations/compare", params=ids | {"smallest": wrong}), 422, "invalid_request")
    same = api.get("/evaluations/compare", params={"baseline": hybrid["id"], "candidate": hybrid["id"]}).json()
    assert (same["tied"], same["changed"], same["config"], same["next_cursor"]) == (3, [], {}, None)
    check_error(api.get("/evaluations/compare", params=ids | {"metric": "x"}), 422, "invalid_request")
    check_error(api.get("/evaluations/compare", params=ids | {"cursor": "x"}), 400, "invalid_cursor")
    check_error(api.get("/evaluations/compare", params={"baseline": hybrid["id"]}), 422, "invalid_request")
    unknown = ids | {"baseline": str(uuid4())}
    check_error(api.get("/evaluations/compare", params=unknown), 404, "evaluation_not_found")


def test_changed_cases_come_a_page_at_a_time(api: httpx.Client, server: Server) -> None:
    """R9, R10.4 two collections are compared by their questions: of the second every relevant document is another."""
    others = [of | {"relevant_documents": ["entrepot.md"], "collection": "otra"} for of in CASES]
    uploaded = upload(api, "otra", "entrepot.md", "L'entrepôt de Toulouse consomme trop d'électricité en hiver.")
    assert indexed(api, uploaded["id"])["status"] == "indexed"
    api.post("/golden-cases/import", json={"collection": "otra", "cases": others}).raise_for_status()
    best = finished(api, order(api, collection="fábrica"))
    other = finished(api, order(api, collection="otra", retrieval={"strategy": "fulltext"}))
    params = {"baseline": other["id"], "candidate": best["id"], "limit": 2}
    page = api.get("/evaluations/compare", params=params).json()
    changed, count = page["changed"], page["won"] + page["lost"]
    assert count == 3
    rest = api.get("/evaluations/compare", params=params | {"cursor": page["next_cursor"]}).json()
    changed += rest["changed"]
    assert {of["query"] for of in changed} == {HORNO, PUENTE, TINS}
    assert {(of["outcome"], of["candidate_rank"]) for of in changed} == {("won", 1)}
    assert rest["next_cursor"] is None
    told = api.get("/evaluations", params={"collection": "otra"}).json()["evaluations"]
    assert [of["id"] for of in told] == [other["id"]]


def test_a_version_is_measured_and_an_unknown_one_told(api: httpx.Client) -> None:
    """R10.1, R10.4"""
    version = api.post("/golden-cases/versions", json={}).json()
    run = finished(api, order(api, version=version["number"]))
    assert (run["version"], run["golden_hash"]) == (version["number"], version["content_hash"])
    check_error(api.post("/evaluations", json={"version": 999}), 404, "golden_version_not_found")


def test_nothing_is_measured_without_cases(api: httpx.Client) -> None:
    """R9.5, in three languages; nor in a collection that is not there. R9.2 No figures are null, and no error."""
    body = {"collection": "vacía"}
    upload(api, "vacía", "a.md", "Un texto.")
    for language, words in {"es": "no tiene casos", "fr": "n'a pas de cas", "en": "has no golden cases"}.items():
        answer = api.post("/evaluations", json=body, headers={"Accept-Language": language})
        assert words in check_error(answer, 409, "no_golden_cases")["message"]
    assert api.get("/retrieve/metrics", params=body).json() == body | {"latest": None, "trend": []}
    check_error(api.post("/evaluations", json={"collection": "nada"}), 404, "collection_not_found")


def test_no_model_judges_where_there_is_none(api: httpx.Client) -> None:
    """R10.3 who asks for one is told how to get it, in three languages, rather than given an estimate."""
    body = {"collection": "fábrica", "judge": "model"}
    for language, words in {
        "es": "Ningún modelo",
        "fr": "Aucun modèle",
        "en": "No model is available",
    }.items():
        answer = api.post("/evaluations", json=body, headers={"Accept-Language": language})
        message = check_error(answer, 409, "judge_unavailable")["message"]
        assert words in message
        assert "RAG_JUDGE_MODEL" in message


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0}, {"k": 1_001}, {"k": 10**40}, {"version": 0}, {"version": "last"}, {"version": 2**31}, {"name": "\0"},
        {"name": "x" * 201}, {"retrieval": []}, {"retrieval": {str(n): n for n in range(51)}}, {"collection": ""},
        {"nonsense": 1}, {"k": True}, {"k": "5"}, {"version": True}, {"judge": "x"}, {"answers": "perhaps"},
    ],
)  # fmt: skip
def test_what_is_no_order_is_told(api: httpx.Client, wrong: dict[str, Any]) -> None:
    """R9, security 10"""
    check_error(api.post("/evaluations", json=wrong), 422, "invalid_request")


def test_list_is_the_latest_first_and_paged(api: httpx.Client) -> None:
    """R9.5"""
    names = ["uno", "dos", "tres"]
    for name in names:
        finished(api, order(api, name=name))
    page = api.get("/evaluations", params={"limit": 2, "status": "done"}).json()
    assert [run["name"] for run in page["evaluations"]] == ["tres", "dos"]
    rest = api.get("/evaluations", params={"limit": 1, "cursor": page["next_cursor"]}).json()
    assert rest["evaluations"][0]["name"] == "uno"
    check_error(api.get("/evaluations", params={"status": "x"}), 422, "invalid_request")
    check_error(api.get("/evaluations", params={"cursor": "WzFd"}), 400, "invalid_cursor")


def test_a_run_is_deleted_with_its_results(api: httpx.Client) -> None:
    """R9.5"""
    run = finished(api, order(api))
    path = f"/evaluations/{run['id']}"
    assert api.post(f"{path}/cancel").json() == run  # it is over
    assert api.delete(path).status_code == 204
    for answer in (api.get(path), api.get(f"{path}/results"), api.delete(path), api.post(f"{path}/cancel")):
        check_error(answer, 404, "evaluation_not_found")


def test_another_owners_run_is_an_unknown_one(api: httpx.Client, database: str) -> None:
    """R4.8, security 3: whatever is asked of it, the same words; and nothing becomes of it."""
    done = finished(api, order(api))
    with (
        run_server_here(DATABASE_URL=database, RAG_OWNER="otra") as other,
        httpx.Client(base_url=f"{other}/api/v1", timeout=30) as stranger,
    ):
        for path, method in (("", "GET"), ("/results", "GET"), ("/cancel", "POST"), ("", "DELETE")):
            told = set()
            for each in (done["id"], str(uuid4())):
                answer = stranger.request(method, f"/evaluations/{each}{path}")
                told.add(str(check_error(answer, 404, "evaluation_not_found")["message"]).replace(each, "…"))
            assert len(told) == 1
        params = {"baseline": done["id"], "candidate": done["id"]}
        check_error(stranger.get("/evaluations/compare", params=params), 404, "evaluation_not_found")
        assert stranger.get("/evaluations").json()["evaluations"] == []
    assert finished(api, done) == done


def test_openapi_documents_every_door(api: httpx.Client, server: Server) -> None:
    """R9 a summary, an example of every body, the errors that may come."""
    with server.client() as client:
        document = client.get("/openapi.json").json()
    paths = {
        path: of
        for path, of in document["paths"].items()
        if any(name in path for name in ("golden-cases", "evaluations", "retrieve/evaluate", "retrieve/metrics"))
    }
    operations = [operation for of in paths.values() for operation in of.values()]
    assert len(paths) == 21
    assert len(operations) == 29
    for operation in operations:
        assert operation["summary"]
        assert {"401", "404", "422", "503"} <= set(operation["responses"])
        if body := operation.get("requestBody"):
            name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert document["components"]["schemas"][name]["examples"], name

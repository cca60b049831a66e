"""Experiments over HTTP: a real server, real conversations, a scripted model that A answers with and B does not."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.expectations import check_error
from tests.api.mcp.mcp_clients import call, over_http
from tests.api.scripted import asking
from tests.api.streams import stream
from tests.api.test_golden_cases_api import write_texts
from tests.conftest import Server, run_server
from tests.golden_library import HORNO
from tests.model_server import ModelServer, Reply

B = {"retrieval": {"top_k": 1}, "generation": {"chat_model": "extractive"}}
SIDES = {"A": ("openai:scripted", 4), "B": ("extractive", 1)}  # the model that answers, and what it reads
MOST_CONVERSATIONS = 40  # half of them on either side: that one is not among so many comes once in 10^12


@pytest.fixture(scope="module")
def environment(make_database: Callable[[], str]) -> Iterator[dict[str, str]]:
    with ModelServer(default=Reply("El horno H2 falló por el retén [1].")) as model:
        yield asking(model, DATABASE_URL=make_database(), RAG_LOG_LEVEL="INFO")


@pytest.fixture(scope="module")
def server(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = write_texts(tmp_path_factory.mktemp("texts"))
    with run_server("--collection", "fábrica", "--ingest", str(folder), **environment) as server:
        yield server


@contextmanager
def experiment(api: httpx.Client, **body: Any) -> Iterator[dict[str, Any]]:
    """A running one, gone at the end."""
    answer = api.post("/experiments", json=B | body)
    assert answer.status_code == 201, answer.text
    yield answer.json()
    api.delete(f"/experiments/{answer.json()['id']}")


def ask(api: httpx.Client, message: str = HORNO, **body: Any) -> dict[str, Any]:
    answer = api.post("/chat", json={"message": message, **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def ask_over_mcp(server: Server) -> dict[str, Any]:
    async with over_http(server.url) as client:
        return await call(client, "ask", question=HORNO)


def one_of_each(api: httpx.Client) -> dict[str, dict[str, Any]]:
    """The first answers of conversations: by A, and by B."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(MOST_CONVERSATIONS):
        answer = ask(api)
        found.setdefault(answer["variant"], answer)
        if len(found) == 2:
            return found
    raise AssertionError(f"of {MOST_CONVERSATIONS} conversations all are on side {list(found)}")


def rate(api: httpx.Client, answer: dict[str, Any], rating: int) -> None:
    path = f"/conversations/{answer['conversation_id']}/messages/{answer['message_id']}/feedback"
    api.put(path, json={"rating": rating}).raise_for_status()


def read(api: httpx.Client, made: dict[str, Any]) -> dict[str, Any]:
    return dict(api.get(f"/experiments/{made['id']}").raise_for_status().json())


def answers(found: dict[str, Any]) -> int:
    return sum(side["answers"] for side in found["sides"].values())


def test_a_conversation_stays_on_its_side(api: httpx.Client, server: Server) -> None:
    """R10.4 to its end, streamed or not."""
    with experiment(api), server.client() as client:
        for variant, first in one_of_each(api).items():
            goes_on = {"conversation_id": first["conversation_id"]}
            second = ask(api, "¿y el puente de Arenal?", **goes_on)
            third = stream(client, message="¿Y el entrepôt?", **goes_on)[-1].data
            again = ask(api, **goes_on)
            for answer in (first, second, third, again):
                told = answer["variant"], answer["chat_model"], len(answer["sources"])
                assert told == (variant, *SIDES[variant])


def test_sides_are_compared_by_what_people_think_and_by_figures(api: httpx.Client) -> None:
    """R10.4 thumbs count on the side that they are for, the last of an answer alone; the answers of a side are counted,
    and what is compared are its conversations.
    """
    with experiment(api, name="menos pasajes") as made:
        sides = one_of_each(api)
        ask(api, conversation_id=sides["B"]["conversation_id"])
        rate(api, sides["B"], -1)
        rate(api, sides["B"], 1)
        rate(api, sides["A"], -1)
        found = read(api, made)
    assert (found["name"], found["status"], found["retrieval"]) == ("menos pasajes", "running", B["retrieval"])
    assert found["config_hash_a"] != found["config_hash_b"]
    a, b = found["sides"]["A"], found["sides"]["B"]
    assert (a["liked"], a["disliked"], b["liked"], b["disliked"]) == (0, 1, 1, 0)
    assert b["answers"] == b["conversations"] + 1
    assert (a["found"], a["failed"], a["unfinished"]) == (a["answers"], 0, 0)
    assert 0 < b["first_token_p50_ms"] <= b["total_p95_ms"]
    liked = found["metrics"]["liked"]
    assert (liked["a"], liked["b"], liked["difference"], liked["conversations"]) == (0, 1, 1, 1)
    assert liked["verdict"] == "too_few_questions"
    assert found["metrics"]["found"]["a"] == found["metrics"]["found"]["b"] == 1
    assert found["metrics"]["total_ms"]["conversations"] == min(a["conversations"], b["conversations"])
    assert (found["warnings"], found["most_needed"]) == ([], 3140)


def test_a_request_with_values_of_its_own_is_on_no_side(api: httpx.Client) -> None:
    """R4.10, R10.4 they count more than B's; it is not counted, nor is a chat without documents."""
    with experiment(api, share=1) as made:
        for of_its_own in ({"top_k": 3}, {"retrieval": {"top_k": 3}}):
            answer = ask(api, **of_its_own)
            assert (answer["variant"], answer["chat_model"], len(answer["sources"])) == (None, "openai:scripted", 3)
        assert ask(api, rag_enabled=False)["variant"] is None
        assert read(api, made)["sides"] == {}
        assert ask(api, filters={"filename": "horno.md"})["variant"] == "B"


def test_what_is_not_kept_is_drawn_for_itself(api: httpx.Client, server: Server) -> None:
    """R9.4, R10.4 a list of messages, OpenAI's API, which says the side too, and MCP."""
    asked = [{"role": "user", "content": HORNO}]
    with experiment(api, share=1) as made, server.client() as openai:
        answer = api.post("/chat", json={"messages": asked}).json()
        assert (answer["variant"], answer["conversation_id"]) == ("B", None)
        told = openai.post("/v1/chat/completions", json={"model": "fábrica", "messages": asked}).json()["causeway"]
        assert (told["variant"], told["chat_model"]) == ("B", "extractive")
        assert asyncio.run(ask_over_mcp(server))["found"]
        side = read(api, made)["sides"]["B"]
    assert (side["answers"], side["conversations"], side["found"]) == (3, 3, 3)


def test_one_runs_at_a_time_until_it_is_stopped(api: httpx.Client) -> None:
    """R10.4 then every conversation goes by the collection's configuration again; its figures stay."""
    with experiment(api, share=1) as made:
        answer = ask(api)
        check_error(api.post("/experiments", json={}), 409, "experiment_running")
        stopped = api.post(f"/experiments/{made['id']}/stop").json()
        assert (stopped["status"], api.post(f"/experiments/{made['id']}/stop").json()) == ("stopped", stopped)
        after = ask(api, conversation_id=answer["conversation_id"])
        assert (answer["variant"], after["variant"], after["chat_model"]) == ("B", None, "openai:scripted")
        rate(api, answer, 1)
        found = read(api, made)
        assert (answers(found), found["sides"]["B"]["liked"]) == (1, 1)
        with experiment(api) as other:
            assert other["status"] == "running"


def test_figures_go_with_the_conversation(api: httpx.Client) -> None:
    """R8, R10.4 whoever deletes a conversation, or a message, takes back what was noted of it."""
    with experiment(api, share=1) as made:
        first, second, third = ask(api), ask(api), ask(api)
        ask(api, conversation_id=first["conversation_id"])
        assert answers(read(api, made)) == 4
        api.delete(f"/conversations/{first['conversation_id']}").raise_for_status()
        assert answers(read(api, made)) == 2
        path = f"/conversations/{second['conversation_id']}/messages/{second['message_id']}"
        api.delete(path).raise_for_status()
        assert answers(read(api, made)) == 1
        api.delete(f"/experiments/{made['id']}").raise_for_status()
        check_error(api.get(f"/experiments/{made['id']}"), 404, "experiment_not_found")
        kept = api.get(f"/conversations/{third['conversation_id']}").json()
        assert len(kept["messages"]) == 2


def test_values_are_checked_when_it_is_made(api: httpx.Client) -> None:
    """R10.4, R4.10 not passed over with a warning, as a request's are."""
    wrong: list[dict[str, Any]] = [
        {"retrieval": {"rrf_k": -1}},
        {"retrieval": {"nada": 1}},
        {"generation": {"chat_model": "openai:nada"}},
        {"generation": {"system_prompt": "\a"}},
    ]
    for body in wrong:
        check_error(api.post("/experiments", json=body), 400, "invalid_settings")
    for share in (0, -0.5, 1.5, True, "0.5", None):
        check_error(api.post("/experiments", json={"share": share}), 422, "invalid_request")
    check_error(api.post("/experiments", json={"collection": "nada"}), 404, "collection_not_found")
    nobodys = f"/experiments/{uuid4()}"
    for answer in (api.get(nobodys), api.post(f"{nobodys}/stop"), api.delete(nobodys)):
        check_error(answer, 404, "experiment_not_found")


def test_experiments_are_listed_a_page_at_a_time_and_go_with_their_collection(api: httpx.Client) -> None:
    """R9, R10.4"""
    api.put("/collections/otra", json={}).raise_for_status()
    of = {"collection": "otra"}
    made = [api.post("/experiments", json=of | {"name": "primera"}).json()]
    api.post(f"/experiments/{made[0]['id']}/stop").raise_for_status()
    made.append(api.post("/experiments", json=of | {"name": "segunda"}).json())
    page = api.get("/experiments", params=of | {"limit": 1}).json()
    rest = api.get("/experiments", params=of | {"cursor": page["next_cursor"]}).json()
    assert [each["id"] for each in page["experiments"] + rest["experiments"]] == [made[1]["id"], made[0]["id"]]
    (stopped,) = api.get("/experiments", params=of | {"status": "stopped"}).json()["experiments"]
    assert stopped["name"] == "primera"
    alike = read(api, made[1])
    assert (alike["metrics"], alike["split_p_value"]) == ({}, None)
    assert alike["warnings"] == ["Both sides are configured alike: every difference is chance."]
    api.put("/collections/otra", json={"retrieval": {"top_k": 3}}).raise_for_status()
    assert any("has changed since" in warning for warning in read(api, made[1])["warnings"])
    api.delete("/collections/otra").raise_for_status()
    for each in made:
        check_error(api.get(f"/experiments/{each['id']}"), 404, "experiment_not_found")


def test_metrics_and_log_name_a_side_and_no_name(api: httpx.Client, server: Server) -> None:
    """R11.2, security 10 what is counted of experiments has the side and the outcome alone; the log has its id."""
    with experiment(api, name="Nombrissimo", share=1) as made:
        ask(api)
    with server.client() as client:
        told = client.get("/metrics").text
    assert 'causeway_experiment_answers_total{outcome="complete",variant="B"}' in told
    log = server.log()
    (line,) = [line for line in log.splitlines() if made["id"] in line and '"event": "request"' in line]
    assert json.loads(line).items() >= {"route": "/api/v1/chat", "variant": "B", "found": True}.items()
    assert "Nombrissimo" not in log + told

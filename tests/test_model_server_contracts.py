"""The scripted server as Ollama and as Gemini: the form of what it says, and what it refuses as they do."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.model_server import CutStream, Fail, ModelServer, Reply, Withhold

GENERATE, STREAM = "/v1beta/models/gemini:generateContent", "/v1beta/models/gemini:streamGenerateContent"
KEY = {"x-goog-api-key": "secret"}
CONTENTS = [{"role": "user", "parts": [{"text": "Hello there"}]}]
HELLO = {"model": "llama", "messages": [{"role": "user", "content": "Hello there"}]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(default=Reply("one two")) as running:
        yield running


@pytest.fixture
def http(server: ModelServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers=KEY) as opened:
        yield opened


def test_ollama_streams_an_object_a_line_unless_told_not_to(http: httpx.Client) -> None:
    lines = [json.loads(line) for line in http.post("/api/chat", json=HELLO).text.splitlines()]
    assert [line["message"]["content"] for line in lines] == ["", "one", " two", ""]
    assert [line["done"] for line in lines] == [False, False, False, True]
    assert (lines[-1]["done_reason"], lines[-1]["prompt_eval_count"], lines[-1]["eval_count"]) == ("stop", 2, 2)
    whole = http.post("/api/chat", json={**HELLO, "stream": False}).json()
    assert (whole["message"]["content"], whole["done"]) == ("one two", True)


def test_gemini_streams_events_where_it_is_asked_to(http: httpx.Client) -> None:
    body = {"contents": CONTENTS}
    events = http.post(STREAM, params={"alt": "sse"}, json=body).text.split("\r\n\r\n")
    candidates = [json.loads(event.removeprefix("data: "))["candidates"][0] for event in events if event]
    assert [candidate["content"]["parts"][0]["text"] for candidate in candidates] == ["one", " two", ""]
    assert [candidate.get("finishReason") for candidate in candidates] == [None, None, "STOP"]
    whole = http.post(GENERATE, json=body).json()
    assert whole["candidates"][0]["content"] == {"role": "model", "parts": [{"text": "one two"}]}
    assert whole["usageMetadata"]["totalTokenCount"] == 4


def test_each_fails_in_its_own_form(server: ModelServer, http: httpx.Client) -> None:
    server.script(Fail(429, retry_after=7), Fail(503, retry_after=7))
    limited = http.post("/api/chat", json=HELLO)
    assert (limited.status_code, limited.json()) == (429, {"error": "Scripted failure 429"})
    down = http.post(GENERATE, json={"contents": CONTENTS})
    assert (down.json()["error"]["code"], down.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert limited.headers["retry-after"] == "7"
    assert (down.json()["error"]["details"][0]["retryDelay"], "retry-after" in down.headers) == ("7s", False)


def test_an_error_within_a_stream_has_the_form_of_the_provider(server: ModelServer, http: httpx.Client) -> None:
    server.script(CutStream(1, "one two", "error"), CutStream(1, "one two", "error"))
    assert json.loads(http.post("/api/chat", json=HELLO).text.splitlines()[-1]).keys() == {"error"}
    events = http.post(STREAM, params={"alt": "sse"}, json={"contents": CONTENTS}).text.strip().split("\r\n\r\n")
    assert json.loads(events[-1].removeprefix("data: "))["error"]["code"] == 500


def ollama(**message: Any) -> dict[str, Any]:
    return {"model": "llama", "messages": [message]}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**HELLO, "model": ""},
        {"model": "llama", "messages": "Hello"},
        {"model": "llama", "messages": ["Hello"]},
        ollama(role="human", content="Hello"),
        ollama(role="user"),
        ollama(role="user", content=[{"type": "text", "text": "Hello"}]),
        {**HELLO, "stream": "yes"},
        {**HELLO, "options": {"temperature": "hot"}},
        {**HELLO, "options": {"num_ctx": 0.5}},
    ],
)
def test_what_ollama_refuses_uses_up_no_behaviour(server: ModelServer, http: httpx.Client, body: Any) -> None:
    server.script(Reply("still here"))
    refused = http.post("/api/chat", json=body)
    assert (refused.status_code, refused.json().keys()) == (400, {"error"})
    assert "still here" in http.post("/api/chat", json={**HELLO, "stream": False}).text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"contents": []},
        {"contents": [{"role": "assistant", "parts": [{"text": "Hello"}]}]},
        {"contents": [{"role": "user", "parts": []}]},
        {"contents": [{"role": "user", "parts": ["Hello"]}]},
        {"contents": [{"role": "user", "parts": [{"words": "Hello"}]}]},
        {"contents": CONTENTS, "systemInstruction": {"parts": []}},
        {"contents": CONTENTS, "temperature": 0},
        {"contents": CONTENTS, "generationConfig": {"temperatur": 0}},
        {"contents": CONTENTS, "generationConfig": {"temperature": "hot"}},
        {"contents": CONTENTS, "generationConfig": {"max_output_tokens": 0.5}},
    ],
)
def test_what_gemini_refuses_uses_up_no_behaviour(server: ModelServer, http: httpx.Client, body: Any) -> None:
    server.script(Reply("still here"))
    refused = http.post(GENERATE, json=body)
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert "still here" in http.post(GENERATE, json={"contents": CONTENTS}).text


def test_ollama_passes_over_what_it_does_not_know(http: httpx.Client) -> None:
    asked = {**HELLO, "stream": False, "temperature": 0, "options": {"warmth": 1, "temperature": None}, "tools": None}
    assert http.post("/api/chat", json=asked).status_code == 200


@pytest.mark.parametrize(
    "body", [{"input": "a"}, {"model": "m"}, {"model": "m", "input": [1]}, {"model": "m", "input": 1}]
)
def test_embeddings_that_ollama_refuses(http: httpx.Client, body: Any) -> None:
    refused = http.post("/api/embed", json=body)
    assert (refused.status_code, refused.json().keys()) == (400, {"error"})


def embedded(**changes: Any) -> dict[str, Any]:
    return {"model": "models/m", "content": {"parts": [{"text": "a"}]}, **changes}


@pytest.mark.parametrize(
    "requests",
    [
        [],
        [embedded(model="models/other")],
        [embedded(content={"parts": [{"text": ""}]})],
        [embedded(content={"parts": [{"words": "a"}]})],
        [embedded(taskType="RETRIEVAL")],
        [embedded(outputDimensionality="many")],
        [embedded(dimensions=8)],
        [embedded()] * 101,
    ],
)
def test_embeddings_that_gemini_refuses(http: httpx.Client, requests: list[Any]) -> None:
    address = "/v1beta/models/m:batchEmbedContents"
    assert len(http.post(address, json={"requests": [embedded()] * 100}).json()["embeddings"]) == 100
    refused = http.post(address, json={"requests": requests})
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_gemini_tells_of_a_wrong_key_and_of_what_its_filter_keeps(server: ModelServer, http: httpx.Client) -> None:
    server.script(Fail(400, message="API key not valid."), Withhold(0, "one two"), Withhold(1, "one two"))
    wrong, blocked, cut = (http.post(GENERATE, json={"contents": CONTENTS}).json() for _ in range(3))
    assert wrong["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert (blocked["promptFeedback"], "candidates" in blocked) == ({"blockReason": "PROHIBITED_CONTENT"}, False)
    assert [candidate["finishReason"] for candidate in cut["candidates"]] == ["SAFETY"]


def test_gemini_wants_a_key(server: ModelServer) -> None:
    refused = httpx.post(f"{server.url}{GENERATE}", json={"contents": CONTENTS})
    assert (refused.status_code, refused.json()["error"]["status"]) == (403, "PERMISSION_DENIED")


def test_it_counts_what_it_serves_at_once(server: ModelServer, http: httpx.Client) -> None:
    for _ in range(3):
        http.post("/api/chat", json=HELLO)
    assert server.most_at_once == 1

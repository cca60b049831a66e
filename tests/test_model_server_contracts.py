"""The scripted server as Ollama and as Gemini: the form of what it says, and what it refuses as they do."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.model_server import CutStream, Fail, ModelServer, Reply

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
    ],
)
def test_what_gemini_refuses_uses_up_no_behaviour(server: ModelServer, http: httpx.Client, body: Any) -> None:
    server.script(Reply("still here"))
    refused = http.post(GENERATE, json=body)
    assert (refused.status_code, refused.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert "still here" in http.post(GENERATE, json={"contents": CONTENTS}).text


def test_gemini_wants_a_key(server: ModelServer) -> None:
    refused = httpx.post(f"{server.url}{GENERATE}", json={"contents": CONTENTS})
    assert (refused.status_code, refused.json()["error"]["status"]) == (403, "PERMISSION_DENIED")


def test_it_counts_what_it_serves_at_once(server: ModelServer, http: httpx.Client) -> None:
    for _ in range(3):
        http.post("/api/chat", json=HELLO)
    assert server.most_at_once == 1

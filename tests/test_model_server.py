"""The scripted model server keeps its promises to the clients that Causeway really uses."""

import asyncio
import math
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx2 import ConnectError
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import (
    APIConnectionError,
    APITimeoutError,
    AsyncOpenAI,
    BadRequestError,
    DefaultAsyncHttpxClient,
    InternalServerError,
    NotFoundError,
    OpenAI,
    RateLimitError,
)
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from pydantic import SecretStr

from tests.model_server import CutStream, Fail, Garbage, Hang, ModelServer, Reply, unit_vector

HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello there"}]
SECRET = SecretStr("secret")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
async def http(server: ModelServer) -> AsyncIterator[DefaultAsyncHttpxClient]:
    """Speaks without TLS: to load the certificates takes longer than most of these tests."""
    async with DefaultAsyncHttpxClient(base_url=server.base_url, verify=False) as opened:
        yield opened


@pytest.fixture
def client(server: ModelServer, http: DefaultAsyncHttpxClient) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=server.base_url, api_key="secret", max_retries=0, http_client=http)


@pytest.fixture
def chat(server: ModelServer, http: DefaultAsyncHttpxClient) -> ChatOpenAI:
    return ChatOpenAI(base_url=server.base_url, api_key=SECRET, model="scripted", max_retries=0, http_async_client=http)


@pytest.fixture
def embeddings(server: ModelServer, http: DefaultAsyncHttpxClient) -> OpenAIEmbeddings:
    return OpenAIEmbeddings(
        base_url=server.base_url,
        api_key=SECRET,
        model="scripted",
        max_retries=0,
        check_embedding_ctx_length=False,
        http_async_client=http,
    )


async def ask(client: AsyncOpenAI) -> str | None:
    answer = await client.chat.completions.create(model="scripted", messages=HELLO)
    return answer.choices[0].message.content


async def read_stream(client: AsyncOpenAI) -> list[ChatCompletionChunk]:
    stream = await client.chat.completions.create(model="scripted", messages=HELLO, stream=True)
    return [chunk async for chunk in stream]


async def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 1
    while not condition() and time.monotonic() < deadline:
        await asyncio.sleep(0.005)
    return condition()


async def test_behaviours_answer_in_order_and_then_the_default(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Reply("first"), Reply("second"))
    server.default = Reply("ever after")
    assert [await ask(client) for _ in range(4)] == ["first", "second", "ever after", "ever after"]


async def test_requests_are_recorded_as_they_were_sent(server: ModelServer, client: AsyncOpenAI) -> None:
    await ask(client)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer secret"
    assert request.body == {"model": "scripted", "messages": HELLO}


async def test_reply_can_be_made_from_the_request(server: ModelServer, chat: ChatOpenAI) -> None:
    server.script(Reply(lambda body: body["messages"][-1]["content"].upper()))
    answer = await chat.ainvoke("Hello there")
    assert answer.text == "HELLO THERE"
    assert answer.usage_metadata is not None
    assert (answer.usage_metadata["input_tokens"], answer.usage_metadata["output_tokens"]) == (2, 2)


async def test_error_in_a_scripted_reply_reaches_the_client(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Reply(lambda body: str(body["nothing"])))
    with pytest.raises(InternalServerError, match=r"KeyError\('nothing'\)"):
        await ask(client)


async def test_stream_comes_word_by_word_and_ends_with_a_reason(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Reply("Two  words,\nthree \n"))
    choices = [chunk.choices[0] for chunk in await read_stream(client)]
    assert [choice.delta.content for choice in choices] == ["", "Two", "  words,", "\nthree", " \n", None]
    assert choices[0].delta.role == "assistant"
    assert [choice.finish_reason for choice in choices] == [None] * 5 + ["stop"]


@pytest.mark.parametrize("wanted", [True, False])
async def test_stream_tells_usage_when_asked(server: ModelServer, client: AsyncOpenAI, wanted: bool) -> None:
    server.script(Reply("one two three"))
    stream = await client.chat.completions.create(
        model="scripted", messages=HELLO, stream=True, stream_options={"include_usage": wanted}
    )
    usages = [chunk.usage.completion_tokens async for chunk in stream if chunk.usage]
    assert usages == ([3] if wanted else [])


async def test_langchain_streams_the_same_text(server: ModelServer, chat: ChatOpenAI) -> None:
    server.script(Reply("one two three"))
    assert [chunk.text async for chunk in chat.astream("Count") if chunk.text] == ["one", " two", " three"]
    assert server.disconnects == 0


async def test_slow_stream_arrives_over_time(server: ModelServer, chat: ChatOpenAI) -> None:
    server.script(Reply("one two three", delay_seconds_per_token=0.03))
    started = time.monotonic()
    arrivals = [time.monotonic() async for chunk in chat.astream("Count") if chunk.text]
    assert len(arrivals) == 3
    assert arrivals[-1] - started >= 0.06


async def test_slow_reply_takes_as_long_in_one_piece(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Reply("one two three", delay_seconds_per_token=0.03))
    started = time.monotonic()
    assert await ask(client) == "one two three"
    assert time.monotonic() - started >= 0.09


async def test_client_that_closes_a_slow_stream_is_counted(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Reply("one two three", delay_seconds_per_token=0.2))
    async with await client.chat.completions.create(model="scripted", messages=HELLO, stream=True) as stream:
        await anext(aiter(stream))
    assert await eventually(lambda: server.disconnects == 1)


async def test_client_that_gives_up_on_a_hanging_answer_is_counted(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Hang(60))
    with pytest.raises(APITimeoutError):
        await ask(client.with_options(timeout=0.05))
    assert await eventually(lambda: server.disconnects == 1)


async def test_hanging_answer_ends_empty(server: ModelServer, http: DefaultAsyncHttpxClient) -> None:
    server.script(Hang(0.05))
    started = time.monotonic()
    response = await http.post("/chat/completions", json={"model": "scripted", "messages": HELLO})
    assert (response.status_code, response.content) == (200, b"")
    assert time.monotonic() - started >= 0.05
    assert server.disconnects == 0


async def test_failure_has_status_code_and_retry_after(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(Fail(429, retry_after=7))
    with pytest.raises(RateLimitError) as failure:
        await ask(client)
    assert failure.value.response.headers["retry-after"] == "7"
    assert failure.value.code == "rate_limit_exceeded"


async def test_failure_without_retry_after_names_none(server: ModelServer, chat: ChatOpenAI) -> None:
    server.script(Fail(503))
    with pytest.raises(InternalServerError) as failure:
        await chat.ainvoke("Hello")
    assert failure.value.status_code == 503
    assert "retry-after" not in failure.value.response.headers


async def test_garbage_is_no_completion(server: ModelServer, chat: ChatOpenAI) -> None:
    server.script(Garbage(), Garbage())
    with pytest.raises(ValueError, match="Please log in"):
        await chat.ainvoke("Hello")
    with pytest.raises(ValueError, match="No generation chunks"):
        [chunk async for chunk in chat.astream("Hello")]


@pytest.mark.parametrize("after_tokens", [0, 2])
async def test_cut_stream_is_a_broken_connection(server: ModelServer, chat: ChatOpenAI, after_tokens: int) -> None:
    server.script(CutStream(after_tokens, "one two three"))
    received = []
    with pytest.raises(APIConnectionError):
        async for chunk in chat.astream("Count"):
            received.append(chunk.text)
    assert "".join(received) == " ".join(["one", "two"][:after_tokens])
    assert server.disconnects == 0


async def test_cut_stream_breaks_a_client_that_did_not_ask_for_one(server: ModelServer, client: AsyncOpenAI) -> None:
    server.script(CutStream(2, "one two three"))
    with pytest.raises(APIConnectionError):
        await ask(client)


async def test_embeddings_are_unit_vectors_that_depend_on_the_text_alone(embeddings: OpenAIEmbeddings) -> None:
    first, second, again = await embeddings.aembed_documents(["apple", "pear", "apple"])
    assert first == again != second
    assert len(first) == 64
    assert math.hypot(*first) == pytest.approx(1)
    assert abs(sum(a * b for a, b in zip(first, second, strict=True))) < 0.7
    assert await embeddings.aembed_query("apple") == first


async def test_embeddings_have_the_dimension_of_the_server_or_the_request(client: AsyncOpenAI) -> None:
    with ModelServer(dimension=8) as small:
        client = client.with_options(base_url=small.base_url)
        own = await client.embeddings.create(model="scripted", input="apple")
        asked = await client.embeddings.create(model="scripted", input="apple", dimensions=4)
    assert (len(own.data[0].embedding), len(asked.data[0].embedding)) == (8, 4)


async def test_both_encodings_carry_the_same_vectors_in_order(server: ModelServer, client: AsyncOpenAI) -> None:
    expected = [unit_vector(text, 64) for text in ("apple", "pear")]
    packed = await client.embeddings.create(model="scripted", input=["apple", "pear"])
    plain = await client.embeddings.create(model="scripted", input=["apple", "pear"], encoding_format="float")
    assert [request.body["encoding_format"] for request in server.requests] == ["base64", "float"]
    assert [item.embedding for item in packed.data] == [pytest.approx(vector, abs=1e-6) for vector in expected]
    assert [item.embedding for item in plain.data] == expected


async def test_embeddings_fail_as_scripted_and_then_recover(server: ModelServer, embeddings: OpenAIEmbeddings) -> None:
    server.script_embeddings(Fail(429), Garbage(), Hang(60))
    with pytest.raises(RateLimitError):
        await embeddings.aembed_query("apple")
    with pytest.raises((AttributeError, ValueError)):  # it expects an object and gets the page as a string
        await embeddings.aembed_query("apple")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(embeddings.aembed_query("apple"), timeout=0.05)
    assert await eventually(lambda: server.disconnects == 1)
    assert len(await embeddings.aembed_query("apple")) == 64


async def test_scripts_of_chat_and_embeddings_are_apart(
    server: ModelServer, chat: ChatOpenAI, embeddings: OpenAIEmbeddings
) -> None:
    server.script(Fail(500))
    assert len(await embeddings.aembed_query("apple")) == 64
    with pytest.raises(InternalServerError):
        await chat.ainvoke("Hello")


def message(**fields: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [fields]}


async def test_wrong_chat_requests_are_refused_and_use_up_no_behaviour(
    server: ModelServer, http: DefaultAsyncHttpxClient
) -> None:
    server.script(Reply("still here"))
    wrong = [
        [],
        {"messages": HELLO},
        {"model": "", "messages": HELLO},
        {"model": "scripted"},
        {"model": "scripted", "messages": []},
        {"model": "scripted", "messages": "Hello"},
        {"model": "scripted", "messages": ["Hello"]},
        {"model": "scripted", "messages": HELLO, "stream_options": {"include_usage": True}},
        message(role="human", content="Hello"),
        message(role="user"),
        message(role="user", content=5),
        message(role="user", content=[]),
        message(role="user", content=["Hello"]),
        message(role="user", content=[{"type": "text"}]),
        message(role="assistant", content=None),
        message(role="tool", content="4"),
    ]
    url = "/chat/completions"
    accepted = [body for body in wrong if (await http.post(url, json=body)).status_code != 400]
    assert accepted == []
    assert (await http.post(url, content=b"{")).json()["error"]["type"] == "invalid_request_error"
    answer = await http.post(url, json={"model": "scripted", "messages": HELLO})
    assert answer.json()["choices"][0]["message"]["content"] == "still here"
    assert len(server.requests) == len(wrong) + 2


async def test_every_kind_of_message_is_accepted(server: ModelServer, client: AsyncOpenAI) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "4", "tool_call_id": "1"},
    ]
    answer = await client.chat.completions.create(model="scripted", messages=messages)
    assert answer.choices[0].finish_reason == "stop"


async def test_wrong_embeddings_requests_are_refused(http: DefaultAsyncHttpxClient) -> None:
    wrong: list[dict[str, Any]] = [
        {"input": "apple"},
        {"model": "scripted"},
        {"model": "scripted", "input": ""},
        {"model": "scripted", "input": []},
        {"model": "scripted", "input": ["apple", ""]},
        {"model": "scripted", "input": ["apple"] * 2049},
        {"model": "scripted", "input": [1, 2]},
        {"model": "scripted", "input": [[1, 2], [3]]},
        {"model": "scripted", "input": "apple", "encoding_format": "int8"},
    ]
    accepted = [body for body in wrong if (await http.post("/embeddings", json=body)).status_code != 400]
    assert accepted == []


async def test_token_ids_are_refused_through_the_real_client(client: AsyncOpenAI) -> None:
    with pytest.raises(BadRequestError, match="token ids"):
        await client.embeddings.create(model="scripted", input=[[1, 2, 3]])


async def test_models_are_listed(client: AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == ["scripted"]


async def test_unknown_path_is_not_found_in_the_format_of_openai(server: ModelServer, client: AsyncOpenAI) -> None:
    with pytest.raises(NotFoundError, match=r"Invalid URL \(POST /v1/responses\)") as failure:
        await client.responses.create(model="scripted", input="Hello")
    assert failure.value.type == "invalid_request_error"
    assert [request.path for request in server.requests] == ["/v1/responses"]


@pytest.mark.parametrize("behaviour", [Hang(60), Reply("one two", delay_seconds_per_token=60)])
async def test_closing_is_quick_with_a_request_in_flight(client: AsyncOpenAI, behaviour: Hang | Reply) -> None:
    with ModelServer(default=behaviour) as closing:
        client = client.with_options(base_url=closing.base_url)
        waiting = asyncio.create_task(read_stream(client))
        assert await eventually(lambda: len(closing.requests) == 1)
        started = time.monotonic()
    assert time.monotonic() - started < 30
    assert closing.disconnects == 0
    with pytest.raises((APIConnectionError, InternalServerError)):
        await waiting
    with pytest.raises(APIConnectionError) as refused:
        await ask(client)
    assert isinstance(refused.value.__cause__, ConnectError)


def test_it_can_be_tried_by_hand() -> None:
    command = [sys.executable, "-m", "tests.model_server", "--reply", "By hand."]
    root = Path(__file__).parent.parent
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            client = OpenAI(base_url=process.stdout.readline().strip(), api_key="secret", max_retries=0)
            answer = client.chat.completions.create(model="scripted", messages=HELLO)
        finally:
            process.terminate()
    assert answer.choices[0].message.content == "By hand."

"""POST /v1/chat/completions as the openai client sees it; the model behind it is a scripted server."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest
from openai import APIError, AsyncOpenAI, BadRequestError, InternalServerError, NotFoundError, OpenAI
from openai import UnprocessableEntityError as Unprocessable
from openai.types.chat import ChatCompletionChunk

from api.schemas.rendering import with_footnotes
from tests.api.expectations import check_citations, check_error, check_error_body
from tests.api.scripted import ANSWER, ENDLESS, QUESTION, wait_for_disconnects
from tests.conftest import Server
from tests.model_server import CutStream, Fail, ModelServer, Paced, Reply

ENVIRONMENT = {
    "RAG_CHAT_MAX_RETRIES": "0",
    "RAG_CHAT_BREAKER_FAILURES": "1000",  # every test finds it unbroken
    "RAG_STREAMS_PER_OWNER": "2",
}
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def extension(answer: Any) -> dict[str, Any]:
    """In the shape of /api/chat, which the expectations are made for."""
    assert answer.model_extra is not None
    return {"citations": answer.model_extra["citations"], **answer.model_extra["causeway"]}


def joined(chunks: Sequence[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def system_prompt(model: ModelServer) -> str:
    (system,) = [message for message in model.requests[-1].body["messages"] if message["role"] == "system"]
    assert set(system) == {"role", "content"}
    return str(system["content"])


def test_an_answer_has_its_citations_as_footnotes_and_in_a_field(client: OpenAI) -> None:
    """R9, R8.3 The openai client keeps what it does not know."""
    answer = client.chat.completions.create(model="demo", messages=ASKED)
    (choice,) = answer.choices
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    assert (answer.object, answer.model) == ("chat.completion", "demo")
    found = extension(answer)
    check_citations({**found, "answer": ANSWER})
    assert [citation["number"] for citation in found["citations"]] == [1, 1, 2]
    assert choice.message.content == with_footnotes(ANSWER, sources=len(found["sources"]), citations=found["citations"])
    assert "Easter promotion [^1]." in choice.message.content
    assert f"\n\n[^2]: {found['citations'][2]['sentence']}" in choice.message.content
    assert (found["found"], found["chat_model"], found["warnings"]) == (True, "openai:scripted", [])
    assert 0 < found["reliability"] <= 1


def test_a_stream_gives_what_the_whole_answer_gives(client: OpenAI, model: ModelServer) -> None:
    """R8.9 Token by token while the model writes, the footnotes last, then what was found out."""
    pace = Paced(ANSWER)
    model.script(pace)
    chunks = []
    with client.chat.completions.create(model="demo", messages=ASKED, stream=True) as stream:
        for chunk in stream:
            chunks.append(chunk)
            pace.receive(joined([chunk]))
    whole = client.chat.completions.create(model="demo", messages=ASKED)
    assert joined(chunks) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    streamed, told = extension(chunks[-1]), extension(whole)
    assert streamed.pop("timings_ms").keys() == told.pop("timings_ms").keys()
    assert streamed == told
    assert len(chunks) > 25


def test_the_wire_is_openai_s(server: Server) -> None:
    """R9 Data lines alone and [DONE], unbuffered, for clients that read no more of the standard."""
    body = {"model": "demo", "messages": ASKED, "stream": True}
    with httpx.stream("POST", f"{server.url}/v1/chat/completions", json=body) as response:
        lines = [line for line in response.iter_lines() if line]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-accel-buffering"] == "no"
    assert all(line.startswith("data: {") for line in lines[:-1])
    assert lines[-1] == "data: [DONE]"


def test_usage_is_told_where_it_is_asked_for(client: OpenAI) -> None:
    """R9 In one more chunk, which has no choices; always with a whole answer."""
    whole = client.chat.completions.create(model="demo", messages=ASKED).usage
    assert whole is not None
    assert whole.total_tokens == whole.prompt_tokens + whole.completion_tokens
    assert len(ANSWER.split()) < whole.completion_tokens < len(ANSWER)
    assert whole.prompt_tokens > 100  # the passages that were read
    chunks = list(
        client.chat.completions.create(
            model="demo", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    assert not chunks[-1].choices
    assert chunks[-1].usage == whole
    assert not any(chunk.usage for chunk in chunks[:-1])


async def test_the_asynchronous_client_is_served_too(server: Server) -> None:
    """R9 Several at the same time."""
    async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        stream = await client.chat.completions.create(model="causeway", messages=ASKED, stream=True)
        whole = await client.chat.completions.create(model="demo", messages=ASKED)
        chunks = [chunk async for chunk in stream]
    assert joined(chunks) == whole.choices[0].message.content
    assert chunks[-1].model == "causeway"


def test_the_client_s_instructions_come_after_our_rules(client: OpenAI, model: ModelServer) -> None:
    """R8.1 They are told to the model as instructions, are no question and no document, and break no citation."""
    before = client.chat.completions.create(model="demo", messages=ASKED)
    rules = system_prompt(model)
    told = [{"role": "system", "content": "Answer like a pirate."}, {"role": "developer", "content": "Be\0 brief."}]
    answer = client.chat.completions.create(model="demo", messages=[*told, *ASKED])  # type: ignore[list-item]
    first_rules, _, date_line = rules.rpartition("\n\n")
    assert system_prompt(model) == f"{first_rules}\n\nAnswer like a pirate.\n\nBe brief.\n\n{date_line}"
    assert extension(answer)["sources"] == extension(before)["sources"]
    assert extension(answer)["citations"] == extension(before)["citations"]


def test_the_client_s_instructions_are_no_secret(client: OpenAI, model: ModelServer) -> None:
    """Security 14: our rules never stand in an answer; what the client itself asked to be said does."""
    ending = "Consult your supervisor before you touch the machine again, and write it down."
    told: list[Any] = [{"role": "system", "content": f"End every answer with: {ending}"}, *ASKED]
    client.chat.completions.create(model="demo", messages=told)
    rules = system_prompt(model).partition("\n\n")[0]
    model.script(Reply(f"Harrowmere dropped Dorada [1]. {rules} {ending}"))
    content = str(client.chat.completions.create(model="demo", messages=told).choices[0].message.content)
    assert ending in content
    assert rules[:80] not in content
    assert "Invent neither facts nor marks" not in content


def test_the_model_reads_the_history_without_footnotes(client: OpenAI, model: ModelServer) -> None:
    """R9.1 As /api/chat would have given it; parts of text are text, pictures in earlier messages are passed over."""
    first = client.chat.completions.create(model="demo", messages=ASKED).choices[0].message.content
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": QUESTION}, picture]},
        {"role": "assistant", "content": first},
        {"role": "tool", "tool_call_id": "x", "content": "A tool's words."},
        {"role": "user", "content": [{"type": "text", "text": "And who"}, {"type": "text", "text": "told us?"}]},
    ]
    answer = client.chat.completions.create(model="demo", messages=messages)
    sent = model.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in sent[1:3]] == [QUESTION, ANSWER]
    assert sent[3]["content"].endswith("And who\ntold us?")
    assert extension(answer)["warnings"] == [
        "only the text of earlier messages is read",
        "messages of tools are not read",
    ]


def test_what_clients_send_by_habit_is_passed_over_and_told(client: OpenAI) -> None:
    """R4.10 No error, but a warning for what would have changed the answer."""
    answer = client.chat.completions.create(
        model="demo",
        messages=[{"role": "system", "content": "x" * 5_000}, *ASKED],
        temperature=0,
        max_tokens=10,
        stop=[],
        n=1,
        tools=[],
        user="somebody",
        metadata={"a": "b"},
        response_format={"type": "text"},
        extra_body={"unknown_of_tomorrow": {"x": [1]}},
    )
    assert extension(answer)["warnings"] == [
        "temperature is not used",
        "max_tokens is not used",
        "system messages of more than 4000 characters are not used",
    ]


FUNCTION = {"type": "function", "function": {"name": "look", "parameters": {}}}
PICTURE = {"role": "user", "content": [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": "x"}}]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"n": 2}, "n"),
        ({"tools": [FUNCTION]}, "tools"),
        ({"response_format": {"type": "grammar"}}, "response_format"),
        ({"logprobs": True}, "logprobs"),
        ({"modalities": ["audio"]}, "modalities"),
        ({"messages": [PICTURE]}, "messages.content.image_url"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    client: OpenAI, model: ModelServer, more: dict[str, Any], param: str, stream: bool
) -> None:
    """R9 A client that needs it is told before anything is asked."""
    before = len(model.requests)
    with pytest.raises(BadRequestError) as refused:
        client.chat.completions.create(**{"model": "demo", "messages": ASKED, "stream": stream, **more})
    error = check_error_body({"error": refused.value.body})
    assert error["code"] == "unsupported_parameter"
    assert error["details"] == {"param": param}
    assert f"“{param}”" in refused.value.message
    assert len(model.requests) == before


@pytest.mark.parametrize(
    ("body", "raised", "code"),
    [
        ({"model": "nowhere"}, NotFoundError, "model_not_found"),
        ({"model": "bundled"}, NotFoundError, "model_not_found"),
        ({"model": "no\0where"}, NotFoundError, "model_not_found"),
        ({"messages": []}, Unprocessable, "invalid_request"),
        ({"messages": [{"role": "system", "content": "x"}]}, Unprocessable, "invalid_request"),
        ({"messages": [*ASKED, {"role": "assistant", "content": "x"}]}, Unprocessable, "invalid_request"),
        ({"messages": [{"role": "user", "content": 7}]}, Unprocessable, "invalid_request"),
        ({"messages": [{"role": "user", "content": None}]}, BadRequestError, "invalid_question"),
        ({"messages": [{"role": "user", "content": " "}]}, BadRequestError, "invalid_question"),
        ({"messages": [{"role": "user", "content": "a\0b"}]}, BadRequestError, "invalid_question"),
        ({"messages": [{"role": "user", "content": "x" * 10_000}]}, BadRequestError, "invalid_question"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_request_has_its_status_also_where_a_stream_was_asked_for(
    client: OpenAI, body: dict[str, Any], raised: type[APIError], code: str, stream: bool
) -> None:
    """R9 The client raises the error of that status, with our words and our code."""
    with pytest.raises(raised) as refused:
        client.chat.completions.create(model="demo", messages=ASKED, stream=stream, extra_body=body)
    assert refused.value.code == code
    check_error_body({"error": refused.value.body})


@pytest.mark.parametrize("where", ["content", "model", "type", "role"])
def test_half_a_character_is_refused(server: Server, where: str) -> None:
    """R9 JSON may hold what is no text, though the openai client sends none."""
    part = {"type": "\ud800" if where == "type" else "text", "text": "\ud800" if where == "content" else "x"}
    message = {"role": "\ud800" if where == "role" else "user", "content": [part]}
    body = {"model": "\ud800" if where == "model" else "demo", "messages": [message], "temperature": "\ud800"}
    response = httpx.post(f"{server.url}/v1/chat/completions", content=json.dumps(body))
    check_error(response, 422, "invalid_request")


def test_a_model_that_is_down_leaves_the_documents_words(client: OpenAI, model: ModelServer) -> None:
    """R11.1 And the answer says so."""
    model.script(Fail(500))
    answer = client.chat.completions.create(model="demo", messages=ASKED)
    found = extension(answer)
    assert (found["degraded"], found["chat_model"]) == (["generate"], "extractive")
    assert "we could not promise full quantities" in str(answer.choices[0].message.content)


def test_a_model_cut_off_in_mid_answer_raises(client: OpenAI, model: ModelServer) -> None:
    """Security 17: of a stream too, after what came of it."""
    model.script(CutStream(6, ANSWER), CutStream(6, ANSWER))
    chunks = []
    with pytest.raises(APIError) as broken:
        for chunk in client.chat.completions.create(
            model="demo", messages=ASKED, stream=True, extra_headers={"Accept-Language": "fr"}
        ):
            chunks.append(chunk)
    assert ANSWER.startswith(joined(chunks).replace("[^", "["))
    assert len(joined(chunks).split()) >= 4
    assert broken.value.code == "model_interrupted"
    assert broken.value.message == "Le modèle s'est interrompu au milieu de la réponse. Reposez la question."
    with pytest.raises(InternalServerError) as failed:
        client.chat.completions.create(model="demo", messages=ASKED)
    assert (failed.value.status_code, failed.value.code) == (502, "model_interrupted")


def test_a_client_that_leaves_stops_the_model(client: OpenAI, model: ModelServer) -> None:
    """Security 18, 16: at once, for nobody comes back; streams count among the owner's, of which there may be two."""
    model.script(ENDLESS, ENDLESS)
    before = model.disconnects
    streams = [client.chat.completions.create(model="demo", messages=ASKED, stream=True) for _ in range(2)]
    for stream in streams:
        assert next(chunk for chunk in stream if chunk.choices[0].delta.content)
    with pytest.raises(APIError) as refused:
        client.chat.completions.create(model="demo", messages=ASKED, stream=True)
    assert refused.value.code == "too_many_streams"
    assert model.disconnects == before
    for stream in streams:
        stream.close()
    wait_for_disconnects(model, before + 2)
    assert joined(list(client.chat.completions.create(model="demo", messages=ASKED, stream=True)))


def test_a_client_that_does_not_wait_for_the_whole_answer_stops_the_model(client: OpenAI, model: ModelServer) -> None:
    """Security 18: …and where it asked for no stream."""
    model.script(ENDLESS)
    before = model.disconnects
    with pytest.raises(APIError):
        client.with_options(timeout=0.9).chat.completions.create(model="demo", messages=ASKED)
    wait_for_disconnects(model, before + 1)

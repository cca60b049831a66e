"""POST /v1/responses as the openai client sees it; the model behind it is a scripted server."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from openai import APIError, BadRequestError, NotFoundError, OpenAI
from openai import UnprocessableEntityError as Unprocessable
from openai.types.responses import Response, ResponseCompletedEvent, ResponseCreatedEvent, ResponseTextDeltaEvent
from openai.types.responses.response_output_text import AnnotationURLCitation

from tests.api.expectations import check_citations, check_error_body
from tests.api.scripted import ANSWER, QUESTION
from tests.conftest import Server
from tests.model_server import CutStream, ModelServer, Paced

ENVIRONMENT = {"RAG_CHAT_MAX_RETRIES": "0", "RAG_CHAT_BREAKER_FAILURES": "1000", "RAG_STREAMS_PER_OWNER": "1"}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def annotations(response: Response) -> list[AnnotationURLCitation]:
    (message,) = response.output
    assert message.type == "message"
    (text,) = message.content
    assert text.type == "output_text"
    cited = [annotation for annotation in text.annotations if isinstance(annotation, AnnotationURLCitation)]
    assert len(cited) == len(text.annotations)
    return cited


def extension(response: Response) -> dict[str, Any]:
    """In the shape of /api/chat, which the expectations are made for."""
    assert response.model_extra is not None
    given = response.model_extra
    return {"answer": response.output_text, "citations": given["citations"], **given["causeway"]}


def test_an_answer_has_its_citations_as_annotations(client: OpenAI) -> None:
    """R9, R8.3 Each at the statement that it proves, with an address that shows the cited text."""
    response = client.responses.create(model="demo", input=QUESTION, metadata={"ticket": "7"})
    assert (response.object, response.status, response.model) == ("response", "completed", "demo")
    assert (response.output_text, response.error, response.metadata) == (ANSWER, None, {"ticket": "7"})
    found = extension(response)
    check_citations(found)
    cited = annotations(response)
    assert [annotation.title for annotation in cited] == [each["sentence"] for each in found["citations"]]
    assert [ANSWER[each.start_index : each.end_index].partition(" [")[0] for each in cited] == [
        "Harrowmere dropped Dorada from its Easter promotion",
        "We could not promise full quantities",
        "The butter was late because of a landslide, so nothing could be baked for two whole days",
    ]
    for annotation, citation in zip(cited, found["citations"], strict=True):
        assert citation["quote"] in httpx.get(annotation.url).raise_for_status().json()["content"]


def test_usage_is_the_estimate_of_a_chat_completion(client: OpenAI) -> None:
    """R9"""
    usage = client.responses.create(model="demo", input=QUESTION, store=False).usage
    chat = client.chat.completions.create(model="demo", messages=[{"role": "user", "content": QUESTION}]).usage
    assert usage is not None
    assert chat is not None
    assert (usage.input_tokens, usage.output_tokens) == (chat.prompt_tokens, chat.completion_tokens)
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens


def test_a_stream_gives_what_the_whole_response_gives(client: OpenAI, model: ModelServer) -> None:
    """R8.9 Token by token while the model writes, in events that the client knows, in their order."""
    pace = Paced(ANSWER)
    model.script(pace)
    events: list[Any] = []
    with client.responses.create(model="demo", input=QUESTION, stream=True) as stream:
        for event in stream:
            events.append(event)
            if isinstance(event, ResponseTextDeltaEvent):
                pace.receive(event.delta)
    whole = client.responses.create(model="demo", input=QUESTION)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert list(dict.fromkeys(event.type for event in events)) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert "".join(event.delta for event in events if isinstance(event, ResponseTextDeltaEvent)) == ANSWER
    first, last = events[0], events[-1]
    assert isinstance(first, ResponseCreatedEvent)
    assert isinstance(last, ResponseCompletedEvent)
    assert (first.response.id, first.response.status) == (last.response.id, "in_progress")
    assert annotations(last.response) == annotations(whole)
    assert last.response.usage == whole.usage


def test_the_client_s_own_stream_helper_gathers_the_response(client: OpenAI) -> None:
    """R9 It checks the order of the events, and puts the response together from them."""
    with client.responses.stream(model="demo", input=QUESTION) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == ANSWER


def test_events_have_their_names_on_the_wire(server: Server) -> None:
    """R9 For clients that read no more than names and data."""
    body = {"model": "demo", "input": QUESTION, "stream": True}
    with httpx.stream("POST", f"{server.url}/v1/responses", json=body) as response:
        lines = [line for line in response.iter_lines() if line]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert lines[-1] == "data: [DONE]"
    assert lines[0] == "event: response.created"
    assert all(line.startswith("data: {") for line in lines[1:-1:2])


@pytest.mark.parametrize("stream", [False, True])
def test_a_stored_response_is_continued(client: OpenAI, server: Server, model: ModelServer, stream: bool) -> None:
    """R9.1, R6.3 By its id, as a conversation that the page shows too; of several that follow one, each has its own."""
    first = client.responses.create(model="demo", input=QUESTION)
    asked: dict[str, Any] = {"model": "demo", "previous_response_id": first.id}
    if stream:
        *_, completed = client.responses.create(**asked, input="And who told us?", stream=True)
        second = completed.response
    else:
        second = client.responses.create(**asked, input=[{"role": "user", "content": "And who told us?"}])
    client.responses.create(**asked, input="And when?")
    sent = model.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in sent[1:3]] == [QUESTION, ANSWER]
    assert second.previous_response_id == first.id
    conversations = {response.id[: len("resp_") + 32] for response in (first, second)}
    assert len(conversations) == 1
    stored = httpx.get(f"{server.url}/api/v1/conversations").json()["conversations"]
    assert sum(f"resp_{each['id'].replace('-', '')}" in conversations for each in stored) == 1


@pytest.mark.parametrize("more", [{"store": False}, {"input": [{"role": "user", "content": "Hello."}] * 2}])
def test_what_is_not_stored_is_not_continued(client: OpenAI, server: Server, more: dict[str, Any]) -> None:
    """R9.1 Where the client says so, or has the conversation itself."""
    before = httpx.get(f"{server.url}/api/v1/conversations").json()["conversations"]
    response = client.responses.create(**{"model": "demo", "input": QUESTION, **more})
    assert response.model_extra is not None
    assert response.model_extra["store"] is False
    assert httpx.get(f"{server.url}/api/v1/conversations").json()["conversations"] == before
    with pytest.raises(NotFoundError) as missing:
        client.responses.create(model="demo", input="And when?", previous_response_id=response.id)
    assert missing.value.code == "response_not_found"


def test_the_client_s_conversation_is_read(client: OpenAI, model: ModelServer) -> None:
    """R8.1 Instructions, earlier messages, and a response's own output sent back with the next question."""
    first = client.responses.create(model="demo", input=QUESTION)
    output: list[Any] = [item.model_dump() for item in first.output]
    asked: list[Any] = [{"role": "user", "content": QUESTION}, *output, {"role": "user", "content": "And when?"}]
    client.responses.create(model="demo", instructions="Answer like a pirate.", input=asked)
    system, *sent = model.requests[-1].body["messages"]
    assert "\n\nAnswer like a pirate.\n\n" in system["content"]
    assert [message["content"] for message in sent[:2]] == [QUESTION, ANSWER]


FORMAT = {"format": {"type": "grammar"}}
PICTURE = [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]
HISTORY = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
UNKNOWN = f"resp_{uuid4().hex}{uuid4().hex}"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("more", "raised", "code", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, BadRequestError, "unsupported_parameter", "tools"),
        ({"text": FORMAT}, BadRequestError, "unsupported_parameter", "text.format"),
        ({"background": True}, BadRequestError, "unsupported_parameter", "background"),
        ({"conversation": "c"}, BadRequestError, "unsupported_parameter", "conversation"),
        ({"prompt": {"id": "p"}}, BadRequestError, "unsupported_parameter", "prompt"),
        ({"input": PICTURE}, BadRequestError, "unsupported_parameter", "input.content.input_image"),
        ({"previous_response_id": UNKNOWN, "input": HISTORY}, BadRequestError, "unsupported_parameter", "input"),
        ({"previous_response_id": UNKNOWN, "store": False}, BadRequestError, "unsupported_parameter", "store"),
        ({"previous_response_id": UNKNOWN}, NotFoundError, "response_not_found", None),
        ({"previous_response_id": "resp_of_another"}, NotFoundError, "response_not_found", None),
        ({"model": "nowhere"}, NotFoundError, "model_not_found", None),
        ({"input": " "}, BadRequestError, "invalid_question", None),
        ({"input": []}, Unprocessable, "invalid_request", None),
        ({"input": [{"role": "assistant", "content": "x"}]}, Unprocessable, "invalid_request", None),
    ],
)
def test_what_cannot_be_done_is_refused(
    client: OpenAI, more: dict[str, Any], raised: type[APIError], code: str, param: str | None, stream: bool
) -> None:
    """R9 By its name and with its status, also where a stream was asked for."""
    with pytest.raises(raised) as refused:
        client.responses.create(model="demo", input=QUESTION, stream=stream, extra_body=more)
    error = check_error_body({"error": refused.value.body})
    assert (error["code"], error["details"].get("param")) == (code, param)


def test_a_model_cut_off_in_mid_answer_raises(client: OpenAI, model: ModelServer) -> None:
    """Security 17: after what came of it."""
    model.script(CutStream(6, ANSWER))
    deltas = []
    with pytest.raises(APIError) as broken:
        for event in client.responses.create(model="demo", input=QUESTION, stream=True):
            if isinstance(event, ResponseTextDeltaEvent):
                deltas.append(event.delta)
    assert ANSWER.startswith("".join(deltas))
    assert len("".join(deltas).split()) >= 4
    assert broken.value.code == "model_interrupted"

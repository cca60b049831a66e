"""Answers as JSON in the caller's schema, as the openai client asks for them; the model is a scripted server."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai import APIError, BadRequestError, ConflictError, InternalServerError, OpenAI
from pydantic import BaseModel

from agent.messages import say
from tests.api.expectations import check_error_body
from tests.api.scripted import ANSWER, QUESTION
from tests.conftest import Server
from tests.model_server import ModelServer, Reply

ENVIRONMENT = {"RAG_CHAT_MAX_RETRIES": "0", "RAG_CHAT_BREAKER_FAILURES": "1000"}
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]
NOTHING = "Who won the 2022 World Cup?"
TOLD = "Because we could not promise full quantities, Harrowmere has dropped Dorada from its Easter promotion"
INVENTED = "Dorada was sold to a bank in Geneva"


class Cause(BaseModel):
    text: str


class Report(BaseModel):
    what: str
    causes: list[Cause]
    days: int


REPORT = {
    "what": TOLD,
    "causes": [{"text": "The butter was late because of a landslide"}, {"text": INVENTED}],
    "days": 2,
}
WRITTEN = json.dumps(REPORT)
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "report", "schema": Report.model_json_schema()}}
FLAT: Any = {"format": {"type": "json_schema", "name": "report", "schema": Report.model_json_schema()}}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def verdicts(given: dict[str, Any] | None) -> dict[str, str]:
    assert given is not None
    return {each["statement"]: each["status"] for each in given["causeway"]["statements"]}


def check_verdicts(given: dict[str, Any] | None) -> None:
    found = verdicts(given)
    assert list(found) == [TOLD, "The butter was late because of a landslide", INVENTED]
    assert (found[TOLD], found[INVENTED]) == ("supported", "unsupported")


def test_an_answer_is_of_the_callers_model(client: OpenAI, model: ModelServer) -> None:
    """R9, R8.3 Written from the verified answer; each of its texts has a verdict, and what is told a citation."""
    model.script(Reply(ANSWER), Reply(WRITTEN))
    answer = client.chat.completions.parse(model="demo", messages=ASKED, response_format=Report)
    (choice,) = answer.choices
    assert choice.message.parsed == Report.model_validate(REPORT)
    assert (json.loads(choice.message.content or ""), choice.message.refusal) == (REPORT, None)
    check_verdicts(answer.model_extra)
    cited = {each["statement"] for each in (answer.model_extra or {})["citations"]}
    assert TOLD in cited
    assert INVENTED not in cited
    sent = model.requests[-1].body
    assert "$ref" not in json.dumps(sent["response_format"])
    assert ANSWER[:40] in sent["messages"][-1]["content"]


def test_any_object_may_be_asked_for(client: OpenAI, model: ModelServer) -> None:
    """R9"""
    model.script(Reply(ANSWER), Reply(WRITTEN))
    answer = client.chat.completions.create(model="demo", messages=ASKED, response_format={"type": "json_object"})
    assert json.loads(answer.choices[0].message.content or "") == REPORT


def test_a_streamed_completion_is_json_alone(client: OpenAI, model: ModelServer) -> None:
    """R8.9 None of the text that the JSON is made from is in it."""
    model.script(Reply(ANSWER), Reply(WRITTEN))
    with client.chat.completions.create(model="demo", messages=ASKED, response_format=FORMAT, stream=True) as stream:
        chunks = list(stream)
    said = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert json.loads(said) == REPORT
    check_verdicts(chunks[-1].model_extra)


def test_a_response_has_its_citations_at_the_texts(client: OpenAI, model: ModelServer) -> None:
    """R9, R8.3 As annotations of the JSON."""
    model.script(Reply(ANSWER), Reply(WRITTEN))
    response = client.responses.create(model="demo", input=QUESTION, text=FLAT)
    assert json.loads(response.output_text) == REPORT
    assert response.text is not None
    check_verdicts(response.model_extra)
    (message,) = response.output
    assert message.type == "message"
    (text,) = message.content
    assert text.type == "output_text"
    marked = {response.output_text[each.start_index : each.end_index] for each in text.annotations}  # type: ignore[union-attr]
    assert TOLD in marked
    assert INVENTED not in marked


def test_a_streamed_response_is_json_alone(client: OpenAI, model: ModelServer) -> None:
    """R8.9"""
    model.script(Reply(ANSWER), Reply(WRITTEN))
    with client.responses.create(model="demo", input=QUESTION, text=FLAT, stream=True) as stream:
        events = list(stream)
    said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert json.loads(said) == REPORT
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == said


def test_what_the_documents_do_not_hold_is_a_refusal(client: OpenAI, model: ModelServer) -> None:
    """R8.4 No JSON is made up; the model isn't asked for any."""
    model.script(Reply(say("not_found", "en")))
    before = len(model.requests)
    answer = client.chat.completions.create(
        model="demo", messages=[{"role": "user", "content": NOTHING}], response_format=FORMAT
    )
    message = answer.choices[0].message
    assert (message.content, bool(message.refusal)) == (None, True)
    response = client.responses.create(model="demo", input="Hello!", text=FLAT)
    (said,) = response.output
    assert said.type == "message"
    assert said.content[0].type == "refusal"
    with client.responses.create(model="demo", input="Hello!", text=FLAT, stream=True) as stream:
        assert "response.refusal.done" in [event.type for event in stream]
    assert len(model.requests) <= before + 1


@pytest.mark.parametrize("garbage", ["no JSON at all", '{"what": 7}', "[]"])
def test_garbage_is_asked_about_again_once(client: OpenAI, model: ModelServer, garbage: str) -> None:
    """R8.5 The second try may do; after two the error says so."""
    model.script(Reply(ANSWER), Reply(garbage), Reply(WRITTEN))
    answer = client.chat.completions.create(model="demo", messages=ASKED, response_format=FORMAT)
    assert json.loads(answer.choices[0].message.content or "") == REPORT
    model.script(Reply(ANSWER), Reply(garbage), Reply(garbage))
    with pytest.raises(InternalServerError) as failed:
        client.chat.completions.create(model="demo", messages=ASKED, response_format=FORMAT)
    assert failed.value.status_code == 502
    assert check_error_body({"error": failed.value.body})["code"] == "json_answer_failed"


def test_texts_are_sanitized(client: OpenAI, model: ModelServer) -> None:
    """Security 14: neither markup, an address that no document names, nor half a character."""
    told = "Dropped. \ud800\0 ![x](http://evil.example/?q=1) <img src='http://evil.example'> [1]"
    model.script(Reply(ANSWER), Reply(json.dumps({"what": told, "causes": [], "days": 1})))
    answer = client.chat.completions.create(model="demo", messages=ASKED, response_format=FORMAT)
    content = answer.choices[0].message.content or ""
    assert json.loads(content)["what"].startswith("Dropped.")
    assert "evil" not in content


def schema(**properties: Any) -> Any:
    given = {"type": "object", "properties": properties, "$defs": {"a": {"$ref": "#/$defs/a"}}}
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": given}}


@pytest.mark.parametrize(
    "hostile",
    [
        schema(x={"type": "string", "pattern": "(a+)+$"}),
        schema(x={"$ref": "http://127.0.0.1:1/schema.json"}),
        schema(x={"$ref": "#/$defs/a"}),
        schema(x={"enum": ["x" * 40_000]}),
    ],
    ids=["pattern", "remote", "recursive", "large"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_hostile_schema_is_refused(client: OpenAI, model: ModelServer, hostile: Any, stream: bool) -> None:
    """Security 12: before anything is asked, also where a stream was asked for."""
    before = len(model.requests)
    with pytest.raises(BadRequestError) as refused:
        client.chat.completions.create(model="demo", messages=ASKED, response_format=hostile, stream=stream)
    assert check_error_body({"error": refused.value.body})["code"] == "invalid_schema"
    assert len(model.requests) == before


def test_without_a_language_model_it_is_refused(demo_server: Server) -> None:
    """R9 With the way out; the extractive answer is no JSON."""
    with OpenAI(base_url=f"{demo_server.url}/v1", api_key="none", max_retries=0) as client:
        for ask in (
            lambda: client.chat.completions.create(model="demo", messages=ASKED, response_format=FORMAT),
            lambda: client.responses.create(model="demo", input=QUESTION, text=FLAT),
        ):
            with pytest.raises(APIError) as refused:
                ask()
            assert isinstance(refused.value, ConflictError)
            assert check_error_body({"error": refused.value.body})["code"] == "json_unavailable"

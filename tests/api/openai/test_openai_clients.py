"""The models, embeddings and chats of /v1 as openai and LangChain's clients see them, without a language model."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import APIError, BadRequestError, NotFoundError, OpenAI, UnprocessableEntityError
from pydantic import SecretStr

from graphrag.embeddings.bundled import BundledEmbeddings
from tests.api.expectations import check_error, check_error_body
from tests.conftest import Server, run_server, run_server_here
from tests.model_server import Fail, ModelServer

NOTES = {
    "puente.md": "# Puente de Arenal\n\nEl puente de Arenal se cerró el 3 de mayo de 2024. La reparación del puente de "
    "Arenal costó 9.240 euros. La reparación del puente de Arenal la pagó la diputación.\n",
    "tejado.md": "# Tejado de la escuela\n\nEl tejado de la escuela se cerró el 9 de junio de 2023. La reparación del "
    "tejado costó 1.150 euros. La reparación del tejado la pagó el seguro.\n",
}
BRIDGE = "¿Cuánto costó la reparación del puente de Arenal?"
ROOF = "¿Cuánto costó la reparación del tejado de la escuela?"
TEXTS = ["El puente se cerró.", "The roof was repaired.", "¿Quién pagó?"]


@pytest.fixture(scope="module")
def remote() -> Iterator[ModelServer]:
    """An embedding model elsewhere, of 64 dimensions."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def server(
    remote: ModelServer, make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Two collections, `default` and `taller norte`; two embedding models."""
    folder: Path = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    config = tmp_path_factory.mktemp("config") / "embeddings.yml"
    config.write_text(
        "embeddings:\n- {id: bundled, provider: bundled}\n"
        f"- {{id: remote, provider: openai, model: scripted, base_url: '{remote.base_url}'}}\n"
    )
    environment = {"DATABASE_URL": make_database(), "EMBEDDINGS_CONFIG": str(config), "OPENAI_API_KEY": "no-key"}
    with run_server("--collection", "default", "--ingest", str(folder), **environment) as running:
        made = httpx.put(f"{running.url}/api/v1/collections/taller%20norte", json={})
        assert made.status_code == 200, made.text
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def chat(server: Server) -> ChatOpenAI:
    return ChatOpenAI(base_url=f"{server.url}/v1", api_key=SecretStr("none"), model="causeway", max_retries=0)


def test_collections_are_models(client: OpenAI) -> None:
    """R9 Listed, and found by name, whatever stands in it."""
    assert [model.id for model in client.models.list()] == ["causeway", "default", "taller norte"]
    for name in ("causeway", "default", "taller norte"):
        model = client.models.retrieve(name)
        assert (model.id, model.object, model.owned_by) == (name, "model", "causeway")


@pytest.mark.parametrize("name", ["nowhere", "a/b", "no\0where", "é" * 200])
def test_an_unknown_model_is_not_found(client: OpenAI, name: str) -> None:
    """R9"""
    with pytest.raises(NotFoundError) as missing:
        client.models.retrieve(name)
    error = check_error_body({"error": missing.value.body})
    assert error["code"] == "model_not_found"
    assert error["details"] == {"model": name, "known": ["causeway", "default", "taller norte"]}


def test_a_model_without_a_name_is_refused(server: Server) -> None:
    """R9"""
    check_error(httpx.get(f"{server.url}/v1/models/"), 422, "invalid_request")


def test_a_service_without_documents_has_no_model(make_database: Callable[[], str]) -> None:
    """R9 It says so, and how documents come into it."""
    with (
        run_server_here(DATABASE_URL=make_database()) as empty,
        OpenAI(base_url=f"{empty}/v1", api_key="x") as client,
    ):
        assert client.models.list().data == []
        with pytest.raises(NotFoundError) as missing:
            client.chat.completions.create(model="causeway", messages=[{"role": "user", "content": BRIDGE}])
        assert missing.value.code == "collection_not_found"
        assert "Upload the first ones" in missing.value.message


@pytest.mark.parametrize("model", ["bundled", "default", "causeway"])
@pytest.mark.parametrize("encoding", [None, "float", "base64"])
def test_texts_are_embedded_as_documents_are(client: OpenAI, model: str, encoding: Any) -> None:
    """R9, R3.5 By a model's id, or a collection's; in order; base64 is what the client asks for by itself."""
    given = {"encoding_format": encoding} if encoding else {}
    answer = client.embeddings.create(model=model, input=TEXTS, **given)
    expected = BundledEmbeddings().embed_documents(TEXTS)
    got = [
        np.frombuffer(b64decode(each.embedding), "<f4") if isinstance(each.embedding, str) else each.embedding
        for each in answer.data
    ]
    assert np.allclose(got, expected, atol=1e-6)
    assert [each.index for each in answer.data] == [0, 1, 2]
    assert answer.model == model
    assert answer.usage.prompt_tokens == answer.usage.total_tokens > len(TEXTS)


def test_many_texts_are_embedded_in_batches(client: OpenAI, remote: ModelServer) -> None:
    """R3.5, R3.6 100 at a time, in order, and not again."""
    texts = [f"text {number}" for number in range(250)]
    before = len(remote.requests)
    answer = client.embeddings.create(model="remote", input=texts)
    sizes = sorted(len(request.body["input"]) for request in remote.requests[before:])
    assert sizes == [50, 100, 100]
    assert len(answer.data) == 250
    single = client.embeddings.create(model="remote", input=texts[173]).data[0].embedding
    assert single == answer.data[173].embedding
    assert len(single) == 64
    assert len(remote.requests) == before + 3


def test_an_embedding_model_that_fails_is_a_bad_gateway(client: OpenAI, remote: ModelServer) -> None:
    """R11.1"""
    remote.script_embeddings(Fail(401))
    with pytest.raises(APIError) as failed:
        client.embeddings.create(model="remote", input="nobody has asked this")
    assert failed.value.code == "model_unavailable"


@pytest.mark.parametrize(
    ("body", "raised", "code"),
    [
        ({"model": "nowhere"}, NotFoundError, "model_not_found"),
        ({"dimensions": 100}, BadRequestError, "unsupported_parameter"),
        ({"input": [1, 2, 3]}, UnprocessableEntityError, "invalid_request"),
        ({"input": [[1, 2], [3]]}, UnprocessableEntityError, "invalid_request"),
        ({"input": []}, UnprocessableEntityError, "invalid_request"),
        ({"input": ""}, UnprocessableEntityError, "invalid_request"),
        ({"input": ["a", ""]}, UnprocessableEntityError, "invalid_request"),
        ({"input": ["a"] * 2_049}, UnprocessableEntityError, "invalid_request"),
        ({"input": "a" * 32_001}, UnprocessableEntityError, "invalid_request"),
        ({"encoding_format": "hex"}, UnprocessableEntityError, "invalid_request"),
    ],
)
def test_what_cannot_be_embedded_is_refused(
    client: OpenAI, body: dict[str, Any], raised: type[APIError], code: str
) -> None:
    """R9"""
    with pytest.raises(raised) as refused:
        client.embeddings.create(model="bundled", input="a", extra_body=body)
    error = check_error_body({"error": refused.value.body})
    assert error["code"] == code
    assert "[" not in error["message"]  # no name that pydantic has for a kind of value
    if isinstance(body.get("input"), list) and body["input"] in ([1, 2, 3], [[1, 2], [3]]):
        assert "check_embedding_ctx_length=False" in error["message"]


def test_half_a_character_is_not_embedded(server: Server) -> None:
    """R9"""
    for body in ({"model": "bundled", "input": ["\ud800"]}, {"model": "\ud800", "input": "a"}):
        check_error(httpx.post(f"{server.url}/v1/embeddings", content=json.dumps(body)), 422, "invalid_request")


async def test_langchain_embeds(server: Server) -> None:
    """R9 OpenAIEmbeddings, without the tokenizer that it would fetch."""
    embeddings = OpenAIEmbeddings(
        base_url=f"{server.url}/v1",
        api_key=SecretStr("none"),
        model="default",
        check_embedding_ctx_length=False,
    )
    expected = BundledEmbeddings().embed_documents(TEXTS)
    assert np.allclose(embeddings.embed_documents(TEXTS), expected, atol=1e-6)
    assert np.allclose(await embeddings.aembed_query(TEXTS[0]), expected[0], atol=1e-6)


def converse(chat: ChatOpenAI, *questions: str) -> str:
    """The answer to the last, each sent with all that was said before it."""
    messages: list[AnyMessage] = [SystemMessage("You are a helpful assistant.")]
    for question in questions:
        messages.append(HumanMessage(question))
        answer = chat.invoke(messages)
        assert isinstance(answer, AIMessage)
        messages.append(answer)
    return answer.text


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ((BRIDGE,), "9.240"),
        ((ROOF,), "1.150"),
        ((BRIDGE, "¿y quién la pagó?"), "diputación"),
        ((ROOF, "¿y quién la pagó?"), "seguro"),
        ((BRIDGE, ROOF, "¿y cuándo se cerró?"), "9 de junio"),
    ],
)
def test_langchain_s_chats_go_on(chat: ChatOpenAI, questions: Sequence[str], said: str) -> None:
    """R6.3 What a question leaves out is in the messages before it; the answers come back with their footnotes."""
    answer = converse(chat, *questions)
    assert said in answer.partition("[^")[0]
    assert "\n\n[^1]: " in answer


async def test_langchain_s_streams_are_its_answers(chat: ChatOpenAI) -> None:
    """R8.9 stream, astream and ainvoke."""
    whole = await chat.ainvoke(BRIDGE)
    streamed = [chunk.text for chunk in chat.stream(BRIDGE)]
    assert len(streamed) > 5
    assert "".join(streamed) == whole.text
    assert "".join([chunk.text async for chunk in chat.astream(BRIDGE)]) == whole.text


def test_a_refusal_has_no_footnote(client: OpenAI) -> None:
    """R8.5"""
    asked: Any = [{"role": "user", "content": "¿Cuál es el río más largo de África?"}]
    answer = client.chat.completions.create(model="causeway", messages=asked)
    assert "[^" not in str(answer.choices[0].message.content)
    assert answer.model_extra is not None
    assert (answer.model_extra["causeway"]["found"], answer.model_extra["citations"]) == (False, [])


def test_the_answer_is_kept_nowhere(client: OpenAI, server: Server) -> None:
    """R9.1 The client has the conversation."""
    asked: Any = [{"role": "user", "content": BRIDGE}]
    list(client.chat.completions.create(model="causeway", messages=asked, stream=True))
    client.chat.completions.create(model="causeway", messages=asked)
    assert httpx.get(f"{server.url}/api/v1/conversations").json()["conversations"] == []

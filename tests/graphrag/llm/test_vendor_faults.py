"""How OpenAI, Ollama and Gemini fail, each in its own words, and what we make of it: of whole answers, of those that a
filter holds back, and of embeddings.
"""

from pathlib import Path

import pytest

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import InvalidSettings, ProviderError
from graphrag.llm.guard import is_outage
from tests.chat_providers import GEMINI, KEYS, OLLAMA, OPENAI, PROVIDERS, listen, open_model, point_at
from tests.graphrag.embeddings.test_providers import REMOTE, SERVERS, load
from tests.model_server import (
    Behaviour,
    CutStream,
    EmbeddingsBehaviour,
    Empty,
    Fail,
    Garbage,
    Half,
    Hang,
    ModelServer,
    Reply,
    Withhold,
)

ANSWER = "La reparación costó 9.240 euros."
slow = pytest.mark.slow
NO_MODEL = 'model "llama3" not found, try pulling it first'
NO_KEY = "API key not valid. Please pass a valid API key."
QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.fixture(autouse=True)
def credentials(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(model_server, monkeypatch)


WHOLE: list[Behaviour] = [
    *(Fail(status) for status in (400, 401, 403, 404, 429, 500, 503)),
    Hang(30),
    Garbage(),
    Reply(""),
    Reply(" \n "),
    CutStream(2, ANSWER),
]


@pytest.mark.parametrize("behaviour", WHOLE, ids=str)
@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_whole_answer_that_fails_is_our_error(
    name: str, behaviour: Behaviour, model_server: ModelServer
) -> None:
    """R8.8, R11.1, R13.4, security 20: asked once, without the key; nothing is no answer."""
    model_server.default = behaviour
    with pytest.raises(ProviderError, match=name) as caught:
        await open_model(name, chat_timeout_seconds=1).ainvoke("¿Qué hay?")
    assert len(model_server.requests) == 1
    assert "geheimnis" not in str(caught.value)


@pytest.mark.parametrize("passing", [Fail(408), Fail(429), Fail(503), CutStream(2, ANSWER)], ids=str)
@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_whole_answer_is_asked_for_again(name: str, passing: Behaviour, model_server: ModelServer) -> None:
    """R11.1, R13.4"""
    model_server.script(passing, Reply(ANSWER))
    assert (await open_model(name, retries=1).ainvoke("¿Qué hay?")).text == ANSWER


FILTERING = [OPENAI, pytest.param(GEMINI, marks=slow)]


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("name", FILTERING)
async def test_what_a_filter_holds_back_is_no_answer(name: str, after: int, model_server: ModelServer) -> None:
    """R8.9, R13.4 OpenAI's content filter; Gemini's, of a question and of an answer. The model is well."""
    model_server.default = Withhold(after, ANSWER)
    said: list[str] = []
    with pytest.raises(ProviderError, match=r"filter holds the answer back: (content_filter|SAFETY|PROHIB)") as caught:
        await listen(open_model(name, retries=2), into=said)
    assert "".join(said) == ("La reparación costó" if after else "")
    assert isinstance(caught.value.__cause__, Exception)
    assert not is_outage(caught.value.__cause__)
    with pytest.raises(ProviderError, match="filter holds the answer back"):
        await open_model(name, retries=2).ainvoke("¿Qué hay?")
    assert len(model_server.requests) == 2


WAYS_OUT = [
    (OPENAI, Fail(401, message="Incorrect API key provided"), "Check OPENAI_API_KEY."),
    (OPENAI, Fail(404, message="The model `gpt-9` does not exist"), "Check the model's name and its address."),
    (OPENAI, Fail(429, message=QUOTA), "Wait, or raise its quota."),
    (OLLAMA, Fail(404, message=NO_MODEL), "Run: ollama pull llama3."),
    (OLLAMA, Fail(401, message="unauthorized"), "Check its key."),
    (GEMINI, Fail(400, message=NO_KEY), "Check GOOGLE_API_KEY."),
    (GEMINI, Fail(403, message="Your API key was reported as leaked."), "Check GOOGLE_API_KEY."),
    (GEMINI, Fail(404, message="models/gemini-9 is not found"), "Check the model's name and its address."),
    (GEMINI, Fail(429, message=QUOTA), "Wait, or raise its quota."),
]


@pytest.mark.parametrize(
    ("name", "failure", "way_out"),
    [pytest.param(*row, marks=() if row[0] == OPENAI else slow) for row in WAYS_OUT],
    ids=str,
)
async def test_the_way_out_is_named(
    name: str, failure: Fail, way_out: str, model_server: ModelServer, tmp_path: Path
) -> None:
    """R8.8, R13.4 by the stream, by a whole answer, by embeddings and by their loading; with the vendor's words."""
    model_server.default = failure
    for asking in (listen(open_model(name)), open_model(name).ainvoke("¿Qué hay?")):
        with pytest.raises(ProviderError) as caught:
            await asking
        assert failure.message[:20] in str(caught.value)
        assert str(caught.value).endswith(way_out)
    provider, model = name.split(":")
    entry = (SERVERS[provider] % (model_server.url, "")).replace("model: m", f"model: {model}")
    far = load(tmp_path, entry)
    model_server.script_embeddings(*[failure] * 4)
    with pytest.raises(ProviderError) as of_embeddings:
        await far.embed(["a"])
    assert str(of_embeddings.value).endswith(way_out)
    if failure.status != 429:  # which is waited for
        model_server.script_embeddings(failure)
        with pytest.raises(InvalidSettings) as of_loading:
            load(tmp_path, entry)
        assert way_out in str(of_loading.value)


@slow
async def test_an_ollama_that_is_not_there_is_to_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.8, R13.4"""
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    for asking in (listen(open_model(OLLAMA)), open_model(OLLAMA).ainvoke("¿Qué hay?")):
        with pytest.raises(ProviderError, match="Is it there\\? Run: ollama serve; or correct its address"):
            await asking


async def test_a_server_that_is_not_there_has_an_address_to_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.8, R13.4"""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError, match=r"Check the network, and OPENAI_BASE_URL where it is set\.$"):
        await open_model(OPENAI).ainvoke("¿Qué hay?")


@pytest.fixture
def far(request: pytest.FixtureRequest, tmp_path: Path, model_server: ModelServer) -> EmbeddingModel:
    return load(tmp_path, SERVERS[request.param] % (model_server.url, "timeout_seconds: 5"))


@pytest.mark.parametrize("far", REMOTE, indirect=True)
@pytest.mark.parametrize("failure", [Fail(403), Fail(422), Empty()], ids=str)
async def test_embeddings_that_fail_are_our_error(
    far: EmbeddingModel, model_server: ModelServer, failure: EmbeddingsBehaviour
) -> None:
    """R3.5, R11.1, R13.4, security 20: at once, without the key; of a question, too."""
    before = len(model_server.requests)
    model_server.script_embeddings(failure, failure)
    for asking in (far.embed(["a", "b"]), far.embed_queries(["a"])):
        with pytest.raises(ProviderError, match="'far'") as caught:
            await asking
        assert not [key for key in KEYS.values() if key in str(caught.value)]
    assert len(model_server.requests) == before + 2


@pytest.mark.parametrize("far", REMOTE, indirect=True)
async def test_vectors_that_break_off_are_asked_for_again(far: EmbeddingModel, model_server: ModelServer) -> None:
    """R3.5, R11.1, R13.4"""
    model_server.script_embeddings(Half())
    assert len(await far.embed(["a", "b"])) == 2


@pytest.mark.parametrize("far", [REMOTE[0], REMOTE[2]], indirect=True)
async def test_embeddings_are_not_waited_for_for_ever(far: EmbeddingModel, model_server: ModelServer) -> None:
    """R3.5, R11.1, R13.4 Who asks for an hour is not asked again. Ollama's client keeps no headers."""
    before = len(model_server.requests)
    model_server.script_embeddings(Fail(429, retry_after=3600))
    with pytest.raises(ProviderError, match="quota"):
        await far.embed(["a"])
    assert len(model_server.requests) == before + 1


@slow
async def test_gemini_embeds_no_more_than_a_hundred_texts_a_call(tmp_path: Path, model_server: ModelServer) -> None:
    """R3.5, R13.4 its own limit."""
    far = load(tmp_path, SERVERS["google_genai"] % (model_server.url, ""))
    assert len(await far.embed([f"texto {number}" for number in range(101)])) == 101
    assert [len(request.body["requests"]) for request in model_server.requests] == [1, 100, 1]

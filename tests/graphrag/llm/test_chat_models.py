"""Each provider's chat model behind its guard, at a server that keeps to the provider's contract: what it says, and how
it fails.
"""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings, ProviderError
from graphrag.llm.chat_models import EXTRACTIVE, beginning_with
from graphrag.services import open_services
from tests.chat_providers import GEMINI, KEYS, OLLAMA, OPENAI, PROVIDERS, listen, open_model, point_at
from tests.model_server import Behaviour, CutStream, Fail, Garbage, Hang, ModelServer, Reply

ANSWER = "La reparación costó 9.240 euros."
BEFORE_THE_FIRST_WORD = [
    *(Fail(status) for status in (400, 401, 403, 404, 429, 500, 503)),
    Hang(30),
    Garbage(),
    Reply(""),
    Reply(" \n "),
    Reply("tarde", delay_seconds_per_token=30),
    *(CutStream(0, ANSWER, ending) for ending in ("drop", "stall", "error", "end")),
    CutStream(1, " \n "),
]
AFTER_THE_FIRST_WORD = [CutStream(3, ANSWER, ending) for ending in ("drop", "stall", "error", "end")]
PASSING = [Fail(408), Fail(429), Fail(500), Fail(503), CutStream(0, ANSWER), CutStream(1, " \n ")]


@pytest.fixture(autouse=True)
def credentials(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(model_server, monkeypatch)


@pytest.mark.parametrize("name", PROVIDERS)
async def test_each_provider_speaks_word_by_word(name: str, model_server: ModelServer) -> None:
    """R8.8, R8.9 With the rules, the history and the question."""
    model_server.default = Reply(ANSWER)
    prompt = [SystemMessage("Cita."), HumanMessage("¿Y?"), AIMessage("Sí [1]."), HumanMessage("¿Cuánto?")]
    said = [chunk.text async for chunk in open_model(name).astream(prompt)]
    assert "".join(said) == ANSWER
    assert len([text for text in said if text]) == 5
    assert (await open_model(name).ainvoke(prompt)).text == ANSWER
    (body, _) = [request.body for request in model_server.requests]
    for message in prompt:
        assert message.text in str(body)


class Grade(BaseModel):
    grade: int
    reason: str


@pytest.mark.parametrize("name", PROVIDERS)
async def test_each_provider_answers_in_a_form(name: str, model_server: ModelServer) -> None:
    """R8.8 What refining, reranking and extracting ask for; failures are ours too."""
    model = open_model(name).with_structured_output(Grade)
    model_server.script(Reply('{"grade": 7, "reason": "holds it"}'), Fail(500), Reply("no form at all"))
    assert await model.ainvoke("Grade it.") == Grade(grade=7, reason="holds it")
    with pytest.raises(ProviderError, match=name):
        await model.ainvoke("Grade it.")
    with pytest.raises(ProviderError, match=name):
        await model.ainvoke("Grade it.")


@pytest.mark.parametrize("behaviour", BEFORE_THE_FIRST_WORD, ids=str)
@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_failure_before_the_first_word_is_ours(
    name: str, behaviour: Behaviour, model_server: ModelServer
) -> None:
    """R8.8, R11.1, security 17, 20: one error, which names the model and holds no key; nothing was said."""
    model_server.default = behaviour
    said: list[str] = []
    with pytest.raises(ProviderError, match=name) as caught:
        await listen(open_model(name, chat_first_token_seconds=1), into=said)
    assert (said, len(model_server.requests)) == ([], 1)
    assert "geheimnis" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("behaviour", AFTER_THE_FIRST_WORD, ids=str)
@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_failure_after_the_first_word_is_told_and_not_tried_again(
    name: str, behaviour: Behaviour, model_server: ModelServer
) -> None:
    """R8.9, R11.1, security 17: what was said stands, what breaks off is no answer."""
    model_server.default = behaviour
    said: list[str] = []
    with pytest.raises(ProviderError, match=name):
        await listen(open_model(name, retries=3, chat_token_seconds=1), into=said)
    assert ("".join(said), len(model_server.requests)) == ("La reparación costó", 1)


@pytest.mark.parametrize("name", PROVIDERS)
async def test_an_answer_has_a_time_limit(name: str, model_server: ModelServer) -> None:
    """R11.1 RAG_CHAT_TIMEOUT_SECONDS, however steadily it goes on."""
    model_server.default = Reply("sí " * 1000, delay_seconds_per_token=0.05)
    said: list[str] = []
    with pytest.raises(ProviderError, match="no answer within"):
        await listen(open_model(name, chat_timeout_seconds=1.5), into=said)
    assert 1 < len(said) < 100


@pytest.mark.parametrize("behaviour", PASSING, ids=str)
@pytest.mark.parametrize("name", PROVIDERS)
async def test_what_passes_is_tried_again(name: str, behaviour: Behaviour, model_server: ModelServer) -> None:
    """R11.1 retries with backoff, ours alone: a vendor's own would multiply them."""
    model_server.script(behaviour, behaviour, Reply(ANSWER))
    assert await listen(open_model(name, retries=2)) == ANSWER
    assert len(model_server.requests) == 3
    model_server.script(*[behaviour] * 3)
    with pytest.raises(ProviderError):
        await listen(open_model(name, retries=2))
    assert len(model_server.requests) == 6


def test_each_event_loop_can_open_and_ask_a_model(model_server: ModelServer) -> None:
    """R8.8 A program, or a notebook's cells, may call asyncio.run more than once."""
    model_server.default = Reply(ANSWER)

    async def ask() -> str:
        return await listen(open_model())

    assert [asyncio.run(ask()) for _ in range(3)] == [ANSWER] * 3


@pytest.mark.parametrize("name", [OPENAI, pytest.param(GEMINI, marks=pytest.mark.slow)])
async def test_who_asks_for_a_long_wait_is_not_asked_again(name: str, model_server: ModelServer) -> None:
    """R11.1 Retry-After: a person waits."""
    model_server.default = Fail(429, retry_after=60)
    with pytest.raises(ProviderError):
        await listen(open_model(name, retries=2))
    assert len(model_server.requests) == 1


async def eventually(model_server: ModelServer, *, disconnects: int) -> None:
    async with asyncio.timeout(3):
        while model_server.disconnects < disconnects:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("name", PROVIDERS)
async def test_closing_the_stream_closes_the_request(name: str, model_server: ModelServer) -> None:
    """Security 18: in mid-answer, and while nothing has come."""
    model_server.script(Reply("sí " * 1000, delay_seconds_per_token=0.02), Hang(30))
    model = open_model(name, chat_concurrency=1)
    stream: Any = model.astream("¿Qué hay?")
    async for chunk in stream:
        if chunk.text:
            break
    assert model_server.disconnects == 0
    await stream.aclose()
    await eventually(model_server, disconnects=1)
    listening = asyncio.create_task(listen(model))
    while len(model_server.requests) < 2:
        await asyncio.sleep(0.01)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    await eventually(model_server, disconnects=2)
    model_server.script(Reply(ANSWER))
    assert await listen(model) == ANSWER  # both gave their turn back


@pytest.mark.slow
async def test_ollama_is_found_by_either_name(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.8 OLLAMA_BASE_URL counts more than OLLAMA_HOST."""
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("OLLAMA_BASE_URL", model_server.url)
    assert await listen(open_model(OLLAMA))


async def test_a_server_of_ones_own_needs_no_key(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.8 Any OpenAI-compatible base URL."""
    monkeypatch.delenv("OPENAI_API_KEY")
    model_server.default = Reply(ANSWER)
    assert await listen(open_model(OPENAI)) == ANSWER


def names(**settings: Any) -> list[str]:
    return [named.name for named in open_services(Settings.from_environment(**settings)).chat_models]


def test_the_order_ends_in_the_model_that_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.8 RAG_CHAT_MODEL, then RAG_CHAT_FALLBACKS, each once."""
    assert names() == names(chat_model="extractive") == [EXTRACTIVE]
    assert names(chat_model=OPENAI) == [OPENAI, EXTRACTIVE]
    monkeypatch.setenv("RAG_CHAT_MODEL", OPENAI)
    monkeypatch.setenv("RAG_CHAT_FALLBACKS", f"openai:gpt-5, {OPENAI},openai:gpt-5 , extractive,")
    settings = Settings.from_environment()
    assert [named.name for named in open_services(settings).chat_models] == [OPENAI, "openai:gpt-5", EXTRACTIVE]


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"chat_fallbacks": "openai:gpt-5"}, "RAG_CHAT_FALLBACKS needs RAG_CHAT_MODEL"),
        ({"chat_model": OPENAI, "chat_fallbacks": "gibberish"}, "RAG_CHAT_FALLBACKS=gibberish"),
    ],
)
def test_a_wrong_fallback_stops_the_start(settings: dict[str, str], wrong: str) -> None:
    """R8.8 and names its variable, without a key."""
    with pytest.raises(InvalidSettings, match=wrong) as caught:
        names(**settings)
    assert not [key for key in KEYS.values() if key in str(caught.value)]


def test_a_collection_begins_with_its_own_model() -> None:
    """R8.8 per collection: what comes before it in the service's order is never sent its documents."""
    models = open_services(
        Settings.from_environment(chat_model=OPENAI, chat_fallbacks=("openai:gpt-5", "openai:o4"))
    ).chat_models
    assert beginning_with(None, models) == (models, [])
    assert beginning_with("openai:gpt-5", models) == (models[1:], [])
    assert beginning_with(EXTRACTIVE, models) == (models[-1:], [])
    chosen, (warning,) = beginning_with("ollama:llama3", models)
    assert chosen == models
    assert "ollama:llama3" in warning
    assert OPENAI in warning

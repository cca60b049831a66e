"""Which model answers: the preferred one, those that stand in for it, the one that quotes; and a collection's own."""

from typing import Any

import pytest

from agent.messages import say
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import AnswerInterrupted, ProviderError
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import ask, done, open_library, tokens
from tests.answering import unsure_answers as unsure_answers
from tests.chat_providers import GEMINI, OLLAMA, OPENAI, point_at
from tests.model_server import Behaviour, CutStream, Fail, Garbage, Hang, ModelServer, Reply, Withhold

pytestmark = pytest.mark.usefixtures("unsure_answers")

COST = "¿Cuánto costó la reparación del puente de Arenal?"
ANSWER = "La reparación costó 9.240 euros [1]."
QUOTED = "**9.240 euros** — La reparación costó 9.240 euros. [1]"  # how the extractive model begins its answer
SECOND = "openai:gpt-5"


@pytest.fixture(autouse=True)
def credentials(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(model_server, monkeypatch)


async def open_with(registry: EmbeddingRegistry, *fallbacks: str, **settings: Any) -> Services:
    given = {"chat_max_retries": 0, "chat_first_token_seconds": 2, "query_refinement": False, **settings}
    return await open_library(
        registry, store=InMemoryStore(), chat_model=OPENAI, chat_fallbacks=fallbacks or (SECOND,), **given
    )


def asked(server: ModelServer) -> list[str]:
    """The models, in the order of the requests."""
    return [request.body.get("model") or request.path.split("/")[-1].partition(":")[0] for request in server.requests]


async def test_the_answer_tells_its_model(registry: EmbeddingRegistry, model_server: ModelServer) -> None:
    """R8.8 done has chat_model; a refusal has none."""
    model_server.default = Reply(ANSWER)
    answer = done(await ask(await open_with(registry), COST))
    assert (answer["chat_model"], answer["degraded"], asked(model_server)) == (OPENAI, [], ["gpt-4o-mini"])
    empty = await open_library(registry, {}, store=InMemoryStore())
    assert done(await ask(empty, COST))["chat_model"] is None
    alone = await open_library(registry, store=InMemoryStore())
    answer = done(await ask(alone, COST))
    assert (answer["chat_model"], answer["degraded"]) == ("extractive", [])


@pytest.mark.parametrize(
    "behaviour",
    [
        Fail(401),
        Fail(429),
        Fail(500),
        Hang(30),
        Garbage(),
        Reply(""),
        Reply("[9]"),
        CutStream(0, "uno"),
        Withhold(0, "uno"),
    ],
    ids=str,
)
async def test_another_model_answers(
    registry: EmbeddingRegistry, model_server: ModelServer, behaviour: Behaviour
) -> None:
    """R8.8, R11.1 fallbacks; degraded mode shown, in the words for it; nothing of the first reaches the reader."""
    model_server.script(behaviour, Reply(ANSWER))
    events = await ask(await open_with(registry), COST)
    answer = done(events)
    assert asked(model_server) == ["gpt-4o-mini", "gpt-5"]
    assert (answer["answer"], answer["chat_model"], answer["degraded"]) == (ANSWER, SECOND, ["generate"])
    assert answer["degraded_messages"] == ["El modelo de lenguaje principal no respondió: se utilizó otro."]
    assert "".join(tokens(events)) == ANSWER


async def test_the_last_one_quotes(registry: EmbeddingRegistry, model_server: ModelServer) -> None:
    """R8.8, R11.1 All fail: extractive, which tells so."""
    model_server.default = Fail(500)
    services = await open_with(registry, SECOND, "openai:o4")
    answer = done(await ask(services, COST))
    assert asked(model_server) == ["gpt-4o-mini", "gpt-5", "o4"]
    assert answer["answer"].startswith(QUOTED)
    assert (answer["chat_model"], answer["degraded"]) == ("extractive", ["generate"])
    assert answer["degraded_messages"] == [say("degraded_generate", "es")]


@pytest.mark.slow
@pytest.mark.parametrize("fallbacks", [(OLLAMA, GEMINI), (GEMINI, OLLAMA)])
async def test_other_providers_stand_in(
    registry: EmbeddingRegistry, model_server: ModelServer, fallbacks: tuple[str, str]
) -> None:
    """R8.8 openai, google_genai, ollama: in whatever order."""
    model_server.script(Fail(500), Fail(503), Reply(ANSWER))
    answer = done(await ask(await open_with(registry, *fallbacks), COST))
    assert asked(model_server) == [name.partition(":")[2] for name in (OPENAI, *fallbacks)]
    assert (answer["answer"], answer["chat_model"]) == (ANSWER, fallbacks[1])


@pytest.mark.parametrize("ending", ["drop", "stall", "error", "end"])
async def test_what_was_begun_is_not_begun_anew(
    registry: EmbeddingRegistry, model_server: ModelServer, ending: Any
) -> None:
    """R8.9, R11.1, security 17: after the first word no other model is asked."""
    model_server.script(CutStream(3, ANSWER, ending), Reply("otra cosa"))
    services = await open_with(registry, chat_token_seconds=1)
    with pytest.raises(AnswerInterrupted) as caught:
        await ask(services, COST)
    assert caught.value.details["partial_answer"] == "La reparación costó"
    assert len(model_server.requests) == 1


async def test_plain_chat_has_nothing_to_quote(registry: EmbeddingRegistry, model_server: ModelServer) -> None:
    """R8.10 another model may answer; the extractive one may not."""
    services = await open_with(registry)
    model_server.script(Fail(500), Reply("Hola."), Fail(500), Fail(500))
    answer = done(await ask(services, "Hola", rag_enabled=False))
    assert (answer["answer"], answer["chat_model"], answer["degraded"]) == ("Hola.", SECOND, ["generate"])
    with pytest.raises(ProviderError, match="does not answer"):
        await ask(services, "Hola", rag_enabled=False)


async def test_a_dead_model_costs_nothing_any_more(registry: EmbeddingRegistry, model_server: ModelServer) -> None:
    """R6.2, R11.1 Neither refining nor writing waits for a model that has hung three times."""
    model_server.default = Hang(30)
    services = await open_library(
        registry,
        store=InMemoryStore(),
        chat_model=OPENAI,
        chat_max_retries=0,
        chat_first_token_seconds=0.5,
        transform_timeout_seconds=0.5,
    )
    for number in range(3):
        answer = done(await ask(services, f"{COST} Pregunta {number}."))
        assert answer["degraded"] == ["transform", "generate"]
    assert len(model_server.requests) == 6
    answer = done(await ask(services, COST))
    assert answer["answer"].startswith(QUOTED)
    assert answer["degraded"] == ["transform", "generate"]
    assert len(model_server.requests) == 6


async def configure(services: Services, **generation_config: Any) -> None:
    collection = await services.collections.open(LOCAL_OWNER, None)
    await services.store.configure_collection(collection, generation_config=generation_config)


async def test_a_collection_has_its_own_model(registry: EmbeddingRegistry, model_server: ModelServer) -> None:
    """R8.8 per collection: its documents go to its model, and never to one that comes before it."""
    services = await open_with(registry)
    await configure(services, chat_model=SECOND)
    model_server.script(Reply(ANSWER), Fail(500))
    assert done(await ask(services, COST))["chat_model"] == SECOND
    answer = done(await ask(services, COST))
    assert (answer["chat_model"], answer["degraded"]) == ("extractive", ["generate"])
    assert asked(model_server) == ["gpt-5", "gpt-5"]
    await configure(services, chat_model="extractive")
    answer = done(await ask(services, COST))
    assert (answer["chat_model"], answer["degraded"], len(model_server.requests)) == ("extractive", [], 2)


async def test_what_a_collection_keeps_from_a_model_nothing_else_tells_it(
    registry: EmbeddingRegistry, model_server: ModelServer
) -> None:
    """R8.8 per collection: neither its questions for refining, nor its passages for grading, nor its answers."""
    model_server.default = Reply(ANSWER)
    services = await open_with(registry, query_refinement=True, reranker="llm", verify_with_model=True)
    await ask(services, COST)
    assert asked(model_server).count("gpt-4o-mini") > 1
    before = len(model_server.requests)
    await configure(services, chat_model=SECOND)
    answer = done(await ask(services, COST))
    assert (answer["chat_model"], answer["degraded"]) == (SECOND, [])
    assert asked(model_server)[before:] == ["gpt-5"]


async def test_a_model_that_nobody_configured_is_passed_over(
    registry: EmbeddingRegistry, model_server: ModelServer
) -> None:
    """R8.8 with a warning, which names those that there are."""
    services = await open_with(registry)
    await configure(services, chat_model="ollama:llama3")
    model_server.default = Reply(ANSWER)
    answer = done(await ask(services, COST))
    assert (answer["chat_model"], answer["degraded"]) == (OPENAI, [])
    (warning,) = answer["warnings"]
    assert warning == f"chat_model='ollama:llama3' is not used: configured are {OPENAI}, {SECOND}, extractive"


async def test_a_run_chooses_among_what_its_collection_may_be_told_to(
    registry: EmbeddingRegistry, model_server: ModelServer
) -> None:
    """R8.8 Another model of the service's than the first, but none that comes before the collection's own."""
    services = await open_with(registry)
    model_server.default = Reply(ANSWER)
    assert done(await ask(services, COST, chat_model=SECOND))["chat_model"] == SECOND
    await configure(services, chat_model=SECOND)
    answer = done(await ask(services, COST, chat_model=OPENAI))
    assert answer["chat_model"] == SECOND
    assert answer["warnings"] == [f"chat_model={OPENAI!r} is not used: configured are {SECOND}, extractive"]
    assert asked(model_server) == ["gpt-5", "gpt-5"]
    assert done(await ask(services, COST, chat_model="extractive"))["chat_model"] == "extractive"


async def test_a_collection_adds_to_the_rules(registry: EmbeddingRegistry, model_server: ModelServer) -> None:
    """R8.1 system prompt of the collection: after our rules, before the date; the service's where it has none."""
    services = await open_with(registry, system_prompt="Sé breve.")
    model_server.default = Reply(ANSWER)
    await ask(services, COST)
    await configure(services, system_prompt="Tutea siempre.")
    await ask(services, COST)
    model_server.default = Reply("Hola.")
    await ask(services, "Hola", rag_enabled=False)
    of_service, of_collection, plain = [request.body["messages"][0]["content"] for request in model_server.requests]
    assert ("Sé breve." in of_service, "Tutea siempre." in of_service) == (True, False)
    assert ("Sé breve." in plain, "Tutea siempre." in plain) == (True, False)
    rules, prompt, date = of_collection.split("\n\n")
    assert (say("not_found", "es") in rules, prompt) == (True, "Tutea siempre.")
    assert date.startswith("FECHA ACTUAL")

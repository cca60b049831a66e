"""How a model is spared: never too many calls at once, in their order, and none while it is down."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import pytest

from graphrag.errors import ProviderError
from graphrag.llm.resilient_chat_model import ResilientChatModel
from tests.chat_providers import listen, open_model, point_at
from tests.model_server import Behaviour, CutStream, Fail, Hang, ModelServer, Reply

REST_SECONDS = 600.0  # that a model is left alone: longer than any test takes


@pytest.fixture(autouse=True)
def credentials(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(model_server, monkeypatch)


def fragile(**settings: Any) -> ResilientChatModel:
    """Is left alone after three failures."""
    return open_model(chat_breaker_failures=3, chat_breaker_seconds=REST_SECONDS, **settings)


def let_it_rest(model: ResilientChatModel) -> None:
    """Set the clock of its circuit breaker to the end of the rest."""
    breaker = model.guard.breaker
    now = breaker.clock() + REST_SECONDS
    started = time.monotonic()
    breaker.clock = lambda: now + time.monotonic() - started


async def fail(model: ResilientChatModel, *, times: int) -> None:
    for _ in range(times):
        with pytest.raises(ProviderError):
            await listen(model)


async def fell_silent(model: ResilientChatModel, server: ModelServer) -> bool:
    """Whether a question fails without a request."""
    before = len(server.requests)
    with pytest.raises(ProviderError) as caught:
        await listen(model)
    return len(server.requests) == before and caught.value.details.get("reason") == "left_alone"


@pytest.mark.parametrize(
    "behaviour", [Fail(500), Fail(401), Fail(429), Hang(30), CutStream(2, "uno dos tres"), CutStream(0, "uno")], ids=str
)
async def test_a_model_that_is_down_is_left_alone(behaviour: Behaviour, model_server: ModelServer) -> None:
    """R11.1 circuit breakers: after so many failures in a row, in mid-answer too, nobody waits for it."""
    model_server.default = behaviour
    model = fragile(chat_first_token_seconds=0.5)
    await fail(model, times=3)
    assert len(model_server.requests) == 3
    assert await fell_silent(model, model_server)
    with pytest.raises(ProviderError, match="circuit of"):
        await model.with_structured_output({"title": "t", "type": "object", "properties": {}}).ainvoke("¿?")
    assert len(model_server.requests) == 3


async def test_a_success_between_failures_keeps_it(model_server: ModelServer) -> None:
    """R11.1 In a row."""
    model = fragile()
    for _ in range(3):
        model_server.script(Fail(500), Fail(500), Reply("sí"))
        await fail(model, times=2)
        assert await listen(model) == "sí"


@pytest.mark.parametrize("behaviour", [Fail(400), Fail(422), Reply("")], ids=str)
async def test_a_question_that_it_refuses_says_nothing_of_the_next(
    behaviour: Behaviour, model_server: ModelServer
) -> None:
    """R11.1 Too long a prompt is no outage."""
    model_server.default = behaviour
    model = fragile()
    await fail(model, times=6)
    assert len(model_server.requests) == 6


async def test_one_question_finds_out_whether_it_is_back(model_server: ModelServer) -> None:
    """R11.1 Half open: the others do not wait for it meanwhile."""
    model = fragile()
    model_server.script(*[Fail(500)] * 4)
    await fail(model, times=3)
    let_it_rest(model)
    await fail(model, times=1)  # it is not back
    assert len(model_server.requests) == 4
    assert await fell_silent(model, model_server)
    let_it_rest(model)
    model_server.script(Reply("ya estoy", delay_seconds_per_token=0.1))
    trying = asyncio.create_task(listen(model))
    while len(model_server.requests) < 5:
        await asyncio.sleep(0.01)
    assert await fell_silent(model, model_server)
    assert await trying == "ya estoy"
    model_server.default = Reply("sí")
    assert await asyncio.gather(*(listen(model) for _ in range(3))) == ["sí"] * 3


async def test_its_first_word_is_enough_to_be_back(model_server: ModelServer) -> None:
    """R11.1 Nobody waits until a long answer ends."""
    model = fragile()
    model_server.script(*[Fail(500)] * 3, Reply("sí " * 500, delay_seconds_per_token=0.02), Reply("también"))
    await fail(model, times=3)
    let_it_rest(model)
    stream: Any = model.astream("¿Estás?")
    async for chunk in stream:
        if chunk.text:
            break
    assert await listen(model) == "también"
    await stream.aclose()


async def test_a_question_that_is_left_tells_nothing(model_server: ModelServer) -> None:
    """R11.1, security 18: neither that the model is down, nor that it is back."""
    model = fragile()
    model_server.script(*[Hang(30)] * 5, *[Fail(500)] * 3, Hang(30), Reply("sí"))
    for _ in range(5):
        await leave(model, model_server)
    await fail(model, times=3)
    assert await fell_silent(model, model_server)
    let_it_rest(model)
    await leave(model, model_server)
    assert await listen(model) == "sí"


async def leave(model: ResilientChatModel, server: ModelServer) -> None:
    """As a reader does who goes before the first word."""
    before = len(server.requests)
    listening = asyncio.create_task(listen(model))
    while len(server.requests) == before:
        await asyncio.sleep(0.01)
    listening.cancel()
    with suppress(asyncio.CancelledError):
        await listening


async def test_too_slow_for_one_purpose_is_not_too_slow_for_all(model_server: ModelServer) -> None:
    """R6.2, R11.1 A model that never refines in time is no longer asked to, and still answers."""
    model = fragile()
    hurried = model.within(0.1, purpose="refining")
    model_server.default = Reply("con calma", delay_seconds_per_token=0.1)
    for _ in range(3):
        with pytest.raises(ProviderError, match="refining"):
            await hurried.ainvoke("¿?")
    before = len(model_server.requests)
    with pytest.raises(ProviderError, match="circuit of"):
        await hurried.ainvoke("¿?")
    assert len(model_server.requests) == before
    assert await listen(model) == "con calma"


async def ask_in_order(model: ResilientChatModel, count: int) -> list[asyncio.Task[str]]:
    asking = []
    for number in range(count):
        asking.append(asyncio.create_task(listen(model, f"pregunta {number}")))
        await asyncio.sleep(0)  # it takes its place in the line
    return asking


async def test_never_more_than_so_many_at_once(model_server: ModelServer) -> None:
    """R8.8 LLM concurrency limited: the server counts. Who waits is served in order."""
    model_server.default = Reply("uno dos tres", delay_seconds_per_token=0.02)
    model = open_model(chat_concurrency=2)
    assert await asyncio.gather(*await ask_in_order(model, 9)) == ["uno dos tres"] * 9
    assert model_server.most_at_once == 2
    asked = [int(request.body["messages"][-1]["content"].split()[1]) for request in model_server.requests]
    assert all(abs(place - number) <= 1 for place, number in enumerate(asked))  # two connections race


async def test_one_at_a_time_is_in_order(model_server: ModelServer) -> None:
    """R8.8 first come, first served."""
    model = open_model(chat_concurrency=1)
    await asyncio.gather(*await ask_in_order(model, 6))
    asked = [request.body["messages"][-1]["content"] for request in model_server.requests]
    assert asked == [f"pregunta {number}" for number in range(6)]


async def test_all_kinds_of_calls_share_the_turns(model_server: ModelServer) -> None:
    """R8.8 Streams, whole answers, forms and what is hurried: one model, one limit."""
    model_server.default = Reply('{"a": "uno dos"}', delay_seconds_per_token=0.02)
    model = open_model(chat_concurrency=1)
    form = model.with_structured_output({"title": "t", "type": "object", "properties": {"a": {"type": "string"}}})
    hurried = model.within(5, purpose="refining")
    await asyncio.gather(listen(model), model.ainvoke("¿?"), form.ainvoke("¿?"), hurried.ainvoke("¿?"))
    assert (len(model_server.requests), model_server.most_at_once) == (4, 1)


async def test_ingestion_never_takes_all_turns(model_server: ModelServer) -> None:
    """R8.8, R1.9 Half of them at most, however many chunks there are; who waits is served before the rest of these."""
    model_server.default = Reply("uno dos tres", delay_seconds_per_token=0.03)
    model = open_model(chat_concurrency=2, chat_queue=1)
    background = model.in_background()
    working = [asyncio.create_task(background.ainvoke(f"trozo {number}")) for number in range(9)]
    while not model_server.requests:
        await asyncio.sleep(0.01)
    assert await listen(model, "pregunta") == "uno dos tres"
    assert sum(task.done() for task in working) < 9
    assert {(await task).text for task in working} == {"uno dos tres"}
    assert model_server.most_at_once == 2  # one of each kind
    model_server.most_at_once = 0
    await asyncio.gather(*(model.in_background().ainvoke("trozo") for _ in range(3)))
    assert model_server.most_at_once == 1  # whatever works in the background shares the half
    assert len(model_server.requests) == 13


async def test_what_fails_in_the_background_is_not_down_for_people(model_server: ModelServer) -> None:
    """R11.1 A load that is throttled leaves the chat as it is."""
    model = fragile()
    model_server.script(*[Fail(401)] * 3)
    for _ in range(4):
        with pytest.raises(ProviderError):
            await model.in_background().ainvoke("trozo")
    assert len(model_server.requests) == 3
    assert await listen(model)


async def test_too_long_a_line_is_told(model_server: ModelServer) -> None:
    """R8.8, security 16: busy is an error at once, and no outage."""
    model_server.default = Reply("uno dos tres", delay_seconds_per_token=0.05)
    model = fragile(chat_concurrency=1, chat_queue=2)
    served = await ask_in_order(model, 3)
    for _ in range(4):
        with pytest.raises(ProviderError, match="busy") as caught:
            await listen(model)
        assert caught.value.details == {"reason": "busy"}
    assert await asyncio.gather(*served) == ["uno dos tres"] * 3
    assert await listen(model) == "uno dos tres"


async def test_a_turn_that_does_not_come_is_told(model_server: ModelServer) -> None:
    """R8.8, R11.1 Nobody waits in the line for ever; who gave up is no longer in it."""
    model_server.default = Reply("uno dos tres cuatro cinco", delay_seconds_per_token=0.5)
    model = open_model(chat_concurrency=1, chat_queue=1, chat_first_token_seconds=1)
    speaking = asyncio.create_task(listen(model))
    await asyncio.sleep(0)
    for _ in range(2):
        with pytest.raises(ProviderError, match="no call could begin within"):
            await listen(model)
    assert await speaking == "uno dos tres cuatro cinco"
    assert len(model_server.requests) == 1


async def test_it_is_asked_asynchronously(model_server: ModelServer) -> None:
    """R8.8 There is no way around the guard."""
    with pytest.raises(NotImplementedError, match="ainvoke"):
        open_model().invoke("¿?")
    assert model_server.requests == []

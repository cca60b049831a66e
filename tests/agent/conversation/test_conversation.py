"""An answer in a stored conversation is kept, however it ends; the model is a scripted server, the store PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from agent.context import Context
from agent.conversation.service import BranchPoint, ConversationService
from agent.messages import say
from agent.output.events import Event, last_of
from graphrag.config.settings import Settings
from graphrag.db.database import fetch
from graphrag.errors import AnswerInterrupted, ProviderError
from graphrag.models.conversations import Message, MessageStatus, Turn, branch
from graphrag.services import Services, open_services
from tests.model_server import Behaviour, Body, CutStream, Fail, Garbage, Hang, ModelServer, Reply

ANSWER = "Nice to meet you, Ada."
SLOW_WORDS = 600
SLOW = Reply("word " * SLOW_WORDS, delay_seconds_per_token=0.02)
WAIT_SECONDS = 30
PLANNED = """
    SELECT scheduled_at FROM procrastinate_jobs
    WHERE task_name = 'forget_conversations' AND args ->> 'owner_id' = %(owner)s
"""


class Desk:
    """Plain chat: what is said to the model is the conversation alone."""

    def __init__(self, services: Services, owner: str) -> None:
        self.services, self.owner = services, owner
        self.conversing = ConversationService(services)
        self.context = Context(owner_id=owner, rag_enabled=False, services=services)

    async def begin(self, question: str, conversation: UUID | None = None, **place: UUID) -> Turn:
        return await self.conversing.begin(self.owner, question, BranchPoint(conversation, **place))

    async def ask(self, question: str, conversation: UUID | None = None, **place: UUID) -> dict[str, Any]:
        turn = await self.begin(question, conversation, **place)
        return await last_of(self.conversing.answer(turn, self.context))

    async def shown(self, conversation: UUID | str) -> list[Message]:
        found = await self.services.conversations.find(self.owner, UUID(str(conversation)))
        outline = await self.services.conversations.outline(self.owner, found.id)
        return await self.services.conversations.read(self.owner, branch(outline, found.leaf_id))

    async def title(self, conversation: UUID | str) -> str:
        return (await self.services.conversations.find(self.owner, UUID(str(conversation)))).title


@pytest.fixture
async def make_desk(
    postgres: str, owner: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    opened: list[Desk] = []

    def make(**settings: Any) -> Desk:
        given: dict[str, Any] = {
            "chat_model": "openai:scripted",
            "chat_max_retries": 0,
            "query_refinement": False,
        } | settings
        desk = Desk(open_services(Settings.from_environment(database_url=SecretStr(postgres), **given)), owner)
        opened.append(desk)
        return desk

    yield make
    for desk in opened:
        await desk.conversing.close()
        await desk.services.close()


@pytest.fixture
def desk(make_desk: Any) -> Desk:
    made: Desk = make_desk()
    return made


def said(body: Body) -> list[str]:
    """What a model is told, without the rules."""
    return [message["content"] for message in body["messages"] if message["role"] != "system"]


async def test_the_model_hears_what_was_said_before(desk: Desk, model_server: ModelServer) -> None:
    """R6.3, R9.1 From the thread, without the client sending it."""
    model_server.default = Reply(ANSWER)
    first = await desk.ask("My name is Ada.")
    conversation = UUID(first["conversation_id"])
    await desk.ask("What is my name?", conversation)
    await desk.ask("And yours?", conversation)
    assert said(model_server.requests[-1].body) == ["My name is Ada.", ANSWER, "What is my name?", ANSWER, "And yours?"]


async def test_an_answer_is_kept_with_all_that_was_said_of_it(desk: Desk, model_server: ModelServer) -> None:
    """R8.9 What `done` holds is what is read back."""
    model_server.default = Reply(ANSWER)
    done = await desk.ask("My name is Ada.")
    question, answer = await desk.shown(done["conversation_id"])
    assert (str(question.id), str(answer.id)) == (done["parent_id"], done["message_id"])
    assert (answer.content, answer.status) == (ANSWER, MessageStatus.COMPLETE)
    names = {"answer", "conversation_id", "parent_id", "message_id"}
    assert answer.details == {name: value for name, value in done.items() if name not in names}
    assert answer.details["timings_ms"]["total"] > 0
    assert answer.checkpoint_id


@pytest.mark.parametrize(
    ("ending", "raised", "status", "code"),
    [
        pytest.param(Fail(500), ProviderError, MessageStatus.FAILED, "model_unavailable", id="500"),
        pytest.param(Garbage(), ProviderError, MessageStatus.FAILED, "model_unavailable", id="garbage"),
        pytest.param(CutStream(3, ANSWER), AnswerInterrupted, MessageStatus.INTERRUPTED, "model_interrupted", id="cut"),
    ],
)
async def test_an_answer_that_fails_is_kept_as_far_as_it_came(
    desk: Desk,
    model_server: ModelServer,
    ending: Behaviour,
    raised: type[ProviderError],
    status: MessageStatus,
    code: str,
) -> None:
    """R8.9, R11.1 With its status and the error's code; the next question goes on from there."""
    model_server.script(ending)
    turn = await desk.begin("My name is Ada.")
    with pytest.raises(raised) as failure:
        await last_of(desk.conversing.answer(turn, desk.context))
    question, answer = await desk.shown(turn.conversation.id)
    assert (answer.status, answer.details["error"]) == (status, code)
    assert answer.content == ("Nice to meet" if status is MessageStatus.INTERRUPTED else "")
    assert failure.value.details["conversation_id"] == str(turn.conversation.id)
    assert failure.value.details["message_id"] == str(answer.id)
    model_server.default = Reply(ANSWER)
    await desk.ask("What is my name?", turn.conversation.id)
    heard = [text for text in (question.content, answer.content) if text]
    assert said(model_server.requests[-1].body) == [*heard, "What is my name?"]


async def read_words(events: Any, read: list[Event], *, words: int) -> None:
    """As many tokens; then the reader leaves."""
    async with aclosing(events) as parts:
        async for event in parts:
            read.append(event)
            if count_words(read) == words:
                return


def count_words(read: Sequence[Event]) -> int:
    return sum(event["event"] == "token" for event in read)


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_an_answer_that_is_left_is_kept_as_far_as_it_came(
    desk: Desk, model_server: ModelServer, is_cancelled: bool
) -> None:
    """R8.9, security 18: closed by its reader or cancelled with its task; the model call stops."""
    model_server.script(SLOW)
    turn = await desk.begin("Tell me everything.")
    events, read = desk.conversing.answer(turn, desk.context), list[Event]()
    async with asyncio.timeout(WAIT_SECONDS):
        reading = asyncio.create_task(read_words(events, read, words=SLOW_WORDS if is_cancelled else 3))
        while count_words(read) < 3:
            await asyncio.sleep(0.01)
        if is_cancelled:
            reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading  # who is not cancelled closes what is left
        await desk.conversing.close()
        while not model_server.disconnects:
            await asyncio.sleep(0.01)
    _, answer = await desk.shown(turn.conversation.id)
    assert (answer.status, answer.checkpoint_id) == (MessageStatus.CANCELLED, None)
    assert answer.content == "".join(event["data"]["text"] for event in read if event["event"] == "token")
    assert 3 <= len(answer.content.split()) < SLOW_WORDS


async def test_other_versions_hear_nothing_of_each_other(desk: Desk, model_server: ModelServer) -> None:
    """R9.1 An edited question and another answer go on from what was before them, and so does what follows them."""
    model_server.default = Reply(lambda body: f"({said(body)[-1]})")
    first = await desk.ask("one")
    conversation = UUID(first["conversation_id"])
    second = await desk.ask("two", conversation)
    await desk.ask("two, better", conversation, instead_of=UUID(second["parent_id"]))
    assert said(model_server.requests[-1].body) == ["one", "(one)", "two, better"]
    await desk.ask("three", conversation)
    assert said(model_server.requests[-1].body) == ["one", "(one)", "two, better", "(two, better)", "three"]
    again = await desk.ask("", conversation, again=UUID(second["message_id"]))
    assert said(model_server.requests[-1].body) == ["one", "(one)", "two"]
    assert (again["parent_id"], again["message_id"] != second["message_id"]) == (second["parent_id"], True)
    anew = await desk.ask("zero", conversation, instead_of=UUID(first["parent_id"]))
    assert said(model_server.requests[-1].body) == ["zero"]
    assert [message.content for message in await desk.shown(anew["conversation_id"])] == ["zero", "(zero)"]


async def test_an_answer_that_can_t_be_kept_is_given_all_the_same(desk: Desk, model_server: ModelServer) -> None:
    """R11.1 The reader is told."""
    turn = await desk.begin("Hola, me llamo Ada.")
    events = desk.conversing.answer(turn, desk.context)

    def forget(_: Body) -> str:
        deleting = desk.services.conversations.delete(desk.owner, turn.conversation.id)
        asyncio.run_coroutine_threadsafe(deleting, loop).result(WAIT_SECONDS)
        return ANSWER

    loop = asyncio.get_running_loop()
    model_server.default = Reply(forget)
    done = await last_of(events)
    assert (done["answer"], done["message_id"], done["degraded"]) == (ANSWER, None, ["save"])
    assert done["degraded_messages"] == [say("degraded_save", "es")]


async def settled(desk: Desk) -> None:
    """What goes on in the background has ended."""
    async with asyncio.timeout(WAIT_SECONDS):
        while desk.conversing._tasks:
            await asyncio.sleep(0.01)


def titling(title: str) -> Reply:
    return Reply(lambda body: title if "title" in body["messages"][0]["content"] else ANSWER)


QUESTION = "Hola, me llamo Ada y quisiera saber cuánto costó la reparación del puente de Arenal el año pasado."
BY_RULES = "Cuánto costó la reparación del puente de Arenal el año…"


async def test_a_model_gives_the_title_after_the_answer(make_desk: Any, model_server: ModelServer) -> None:
    """R8.9 Of the first message; until then, and where it answers nothing of use, the title is the rules'."""
    desk = make_desk(title_refinement=True)
    model_server.default = titling("«Reparación del puente».")
    done = await desk.ask(QUESTION)
    assert await desk.title(done["conversation_id"]) in {BY_RULES, "Reparación del puente"}
    await settled(desk)
    assert await desk.title(done["conversation_id"]) == "Reparación del puente"
    asked = len(model_server.requests)
    await desk.ask("¿y quién la pagó?", UUID(done["conversation_id"]))
    await settled(desk)
    assert len(model_server.requests) == asked + 1
    assert await desk.title(done["conversation_id"]) == "Reparación del puente"


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Fail(500), id="500"),
        pytest.param(Hang(30), id="hang"),
        pytest.param(Garbage(), id="garbage"),
        pytest.param(Reply(""), id="silence"),
        pytest.param(Reply("One\nTwo"), id="lines"),
        pytest.param(Reply("Of course! Here is a title that you may well like a lot, I hope."), id="long"),
        pytest.param(Reply("![x](http://evil.example/x.png)"), id="link"),
        pytest.param(Reply("<b>Title</b>"), id="markup"),
        pytest.param(Reply("***"), id="no word"),
    ],
)
async def test_where_the_model_gives_none_the_rules_title_stays(
    make_desk: Any, model_server: ModelServer, failure: Behaviour
) -> None:
    """R8.9, R11.1"""
    desk = make_desk(title_refinement=True, chat_timeout_seconds=2)
    model_server.script(Reply(ANSWER), failure)
    done = await desk.ask(QUESTION)
    await settled(desk)
    assert len(model_server.requests) == 2
    assert await desk.title(done["conversation_id"]) == BY_RULES


async def test_a_model_is_not_asked_for_a_title_that_a_person_gave(make_desk: Any, model_server: ModelServer) -> None:
    """R8.9"""
    desk = make_desk(title_refinement=True)
    model_server.default = Reply(ANSWER)
    made = await desk.services.conversations.make(desk.owner, title="Mine")
    await desk.ask(QUESTION, made.id)
    await settled(desk)
    assert (len(model_server.requests), await desk.title(made.id)) == (1, "Mine")


async def test_the_end_of_a_conversation_is_planned_with_its_beginning(make_desk: Any) -> None:
    """R8.9 RAG_CONVERSATION_DAYS, whether it is ever answered or not."""
    desk = make_desk(conversation_days=30)
    turn = await desk.begin("hello")
    await settled(desk)
    found = await desk.services.conversations.find(desk.owner, turn.conversation.id)
    async with desk.services.database.transaction(desk.owner) as connection:
        jobs = await fetch(connection, PLANNED, {"owner": desk.owner})
    assert [job["scheduled_at"] for job in jobs] == [found.updated_at + timedelta(days=30)]


@pytest.mark.parametrize("settings", [{}, {"title_refinement": False, "query_refinement": True}])
async def test_titles_cost_nothing_where_refinement_is_off(
    make_desk: Any, model_server: ModelServer, settings: dict[str, bool]
) -> None:
    """R8.9 RAG_TITLE_REFINEMENT; unset, RAG_QUERY_REFINEMENT decides."""
    desk = make_desk(**settings)
    model_server.default = Reply(ANSWER)
    await desk.ask(QUESTION)
    await settled(desk)
    assert len(model_server.requests) == 1

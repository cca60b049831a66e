"""Conversations in PostgreSQL: a tree of messages each, one owner's apart from another's, until their time is over."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.db.database import fetch
from graphrag.errors import CausewayError, ConversationNotFound, MessageNotFound, ShareNotFound
from graphrag.ingestion.worker import Retention
from graphrag.models.conversations import (
    Conversation,
    Message,
    MessageStatus,
    Turn,
    branch,
    last_answer,
    versions,
    without,
)
from graphrag.services import Services
from tests.agent.library import with_parts

OWNED = ("conversations", "messages", "shares", "feedback", "checkpoints", "checkpoint_blobs", "checkpoint_writes")
CITATIONS = [{"title": "Acta"}, {"title": "Informe"}]
AGED = "UPDATE conversations SET updated_at = now() - interval '40 days' WHERE conversation_id = %(conversation)s"
PLANNED = """
    SELECT scheduled_at FROM procrastinate_jobs
    WHERE task_name = 'forget_conversations' AND args ->> 'owner_id' = %(owner)s
"""
WAIT_SECONDS = 60


def reply(turn: Turn, content: str = "Sí.", **fields: Any) -> Message:
    given: dict[str, Any] = {"status": MessageStatus.COMPLETE, "created_at": datetime.now(UTC)} | fields
    return Message(uuid4(), turn.conversation.id, turn.question.id, "assistant", content, **given)


class Talk:
    """An owner's, with the store."""

    def __init__(self, services: Services, owner: str) -> None:
        self.store, self.owner = services.conversations, owner

    async def begin(self, question: str, title: str = "Un tema") -> Turn:
        return await self.store.begin(self.owner, question, title=title)

    async def ask(self, conversation: Conversation, question: str, **place: UUID) -> Turn:
        return await self.store.ask(self.owner, conversation.id, question, title="Otro tema", **place)

    async def answer(self, turn: Turn, content: str = "Sí.", **fields: Any) -> Message:
        answer = reply(turn, content, **fields)
        await self.store.answer(self.owner, turn, answer)
        return answer

    async def shown(self, conversation: Conversation, through: UUID | None = None) -> list[str]:
        leaf = (await self.store.find(self.owner, conversation.id)).leaf_id
        outline = await self.store.outline(self.owner, conversation.id)
        messages = await self.store.read(self.owner, branch(outline, through or leaf))
        return [message.content for message in messages]


@pytest.fixture
def talk(services: Services, owner: str) -> Talk:
    return Talk(services, owner)


async def test_questions_follow_the_answer_last_shown(talk: Talk) -> None:
    """R9.1"""
    first = await talk.begin("uno")
    assert (first.conversation.title, first.earlier, first.is_first) == ("Un tema", (), True)
    await talk.answer(first, "1")
    second = await talk.ask(first.conversation, "dos")
    assert [message.content for message in second.earlier] == ["uno", "1"]
    await talk.answer(second, "2")
    assert await talk.shown(first.conversation) == ["uno", "1", "dos", "2"]


async def test_an_edited_question_is_a_version_beside_the_first(talk: Talk) -> None:
    """R9.1 Nothing is lost: the branch that was is shown when it is asked for, and can be gone on with."""
    first = await talk.begin("uno")
    one = await talk.answer(first, "1")
    second = await talk.ask(first.conversation, "dos")
    two = await talk.answer(second, "2")
    edited = await talk.ask(first.conversation, "dos, mejor dicho", instead_of=second.question.id)
    assert edited.question.parent_id == one.id
    assert [message.content for message in edited.earlier] == ["uno", "1"]
    await talk.answer(edited, "2 bis")
    assert await talk.shown(first.conversation) == ["uno", "1", "dos, mejor dicho", "2 bis"]
    assert await talk.shown(first.conversation, second.question.id) == ["uno", "1", "dos", "2"]
    outline = await talk.store.outline(talk.owner, first.conversation.id)
    assert versions(outline)[edited.question.id] == [second.question.id, edited.question.id]
    third = await talk.ask(first.conversation, "tres", after=two.id)
    assert [message.content for message in third.earlier] == ["uno", "1", "dos", "2"]


async def test_the_first_question_can_be_edited_too(talk: Talk) -> None:
    """R9.1 The conversation then begins anew."""
    first = await talk.begin("uno")
    await talk.answer(first, "1")
    edited = await talk.ask(first.conversation, "otra cosa", instead_of=first.question.id)
    assert (edited.earlier, edited.is_first) == ((), True)


async def test_another_answer_stands_beside_the_first(talk: Talk) -> None:
    """R9.1 Asked for by the answer or by its question."""
    first = await talk.begin("uno")
    one = await talk.answer(first, "1")
    for named in (one.id, first.question.id):
        again = await talk.store.ask_again(talk.owner, first.conversation.id, named)
        assert (again.question, again.earlier) == (first.question, ())
    other = await talk.answer(again, "1 bis")
    assert await talk.shown(first.conversation) == ["uno", "1 bis"]
    assert versions(await talk.store.outline(talk.owner, first.conversation.id))[one.id] == [one.id, other.id]


async def test_of_two_questions_at_once_both_are_kept(talk: Talk) -> None:
    """R9.1 They are versions of each other; what is shown is what was answered last."""
    first = await talk.begin("uno")
    await talk.answer(first, "1")
    left, right = await asyncio.gather(talk.ask(first.conversation, "izq"), talk.ask(first.conversation, "der"))
    assert left.question.parent_id == right.question.parent_id
    await talk.answer(right, "der!")
    await talk.answer(left, "izq!")
    assert await talk.shown(first.conversation) == ["uno", "1", "izq", "izq!"]
    assert await talk.shown(first.conversation, right.question.id) == ["uno", "1", "der", "der!"]


async def test_a_turn_goes_back_to_the_last_checkpoint_alone(talk: Talk) -> None:
    """R6.3 What the thread holds is not read again; what it does not hold, such as half an answer, is."""
    first = await talk.begin("uno")
    await talk.answer(first, "1", checkpoint_id="a")
    second = await talk.ask(first.conversation, "dos")
    await talk.answer(second, "a med", status=MessageStatus.CANCELLED)
    third = await talk.ask(first.conversation, "tres")
    assert [(message.content, message.checkpoint_id) for message in third.earlier] == [
        ("1", "a"),
        ("dos", None),
        ("a med", None),
    ]


async def test_answers_come_back_as_they_were_given(talk: Talk) -> None:
    """R8.9 Citations, sources, timings, reliability; NUL, which PostgreSQL does not hold, is left out."""
    first = await talk.begin("uno")
    details = {"citations": CITATIONS, "reliability": 0.5, "timings_ms": {"total": 3.2}, "unsupported": ["a\0b"]}
    answer = await talk.answer(first, "1\0", status=MessageStatus.INTERRUPTED, details=details)
    (found,) = await talk.store.read(talk.owner, [answer.id])
    assert (found.content, found.status, found.role) == ("1", MessageStatus.INTERRUPTED, "assistant")
    assert found.details == details | {"unsupported": ["ab"]}


async def test_a_title_that_a_person_gave_stays(talk: Talk) -> None:
    """R8.9"""
    first = await talk.begin("uno", title="Por reglas")
    conversation = first.conversation.id
    named = await talk.store.rename(talk.owner, conversation, "Por un modelo", titled_by="model")
    assert named.title == "Por un modelo"
    assert (await talk.store.rename(talk.owner, conversation, "Mía")).title == "Mía"
    assert (await talk.store.rename(talk.owner, conversation, "Del modelo", titled_by="model")).title == "Mía"
    untitled = await talk.store.make(talk.owner)
    await talk.ask(untitled, "uno")
    assert (await talk.store.find(talk.owner, untitled.id)).title == "Otro tema"


async def test_the_latest_conversations_come_first_by_pages(talk: Talk) -> None:
    """R9.1"""
    made = [(await talk.begin(str(number))).conversation for number in range(5)]
    found = await talk.store.list_all(talk.owner, limit=2)
    while len(found) < 5:
        last = found[-1]
        page = await talk.store.list_all(talk.owner, limit=2, after=(last.updated_at, last.id))
        assert 0 < len(page) <= 2
        found += page
    assert [conversation.id for conversation in found] == [conversation.id for conversation in reversed(made)]
    again = await talk.ask(made[0], "más")
    await talk.answer(again)
    assert (await talk.store.list_all(talk.owner))[0].id == made[0].id


Call = Callable[[Talk, Turn, Message], Awaitable[object]]
CALLS: dict[str, Call] = {
    "find": lambda talk, turn, _: talk.store.find(talk.owner, turn.conversation.id),
    "ask": lambda talk, turn, _: talk.ask(turn.conversation, "?"),
    "ask after": lambda talk, turn, answer: talk.ask(turn.conversation, "?", after=answer.id),
    "edit": lambda talk, turn, _: talk.ask(turn.conversation, "?", instead_of=turn.question.id),
    "regenerate": lambda talk, turn, answer: talk.store.ask_again(talk.owner, turn.conversation.id, answer.id),
    "answer": lambda talk, turn, _: talk.answer(turn),
    "rename": lambda talk, turn, _: talk.store.rename(talk.owner, turn.conversation.id, "?"),
    "ask of": lambda talk, turn, _: talk.store.ask_of(talk.owner, turn.conversation.id, ["demo"]),
    "find message": lambda talk, turn, answer: talk.store.find_message(talk.owner, turn.conversation.id, answer.id),
    "delete message": lambda talk, turn, answer: talk.store.delete_message(talk.owner, turn.conversation.id, answer.id),
    "delete": lambda talk, turn, _: talk.store.delete(talk.owner, turn.conversation.id),
}


@pytest.mark.parametrize("name", CALLS)
async def test_another_s_conversation_is_as_one_that_is_not_there(services: Services, talk: Talk, name: str) -> None:
    """Security 3 and 4: same error, same words."""
    turn = await talk.begin("uno")
    answer = await talk.answer(turn, "1")
    stranger = Talk(services, f"{talk.owner}-other")
    with pytest.raises(ConversationNotFound) as foreign:
        await CALLS[name](stranger, turn, answer)
    await talk.store.delete(talk.owner, turn.conversation.id)
    with pytest.raises(ConversationNotFound) as unknown:
        await CALLS[name](talk, turn, answer)
    assert (str(foreign.value), foreign.value.details) == (str(unknown.value), unknown.value.details)


async def test_another_s_messages_are_not_read(services: Services, talk: Talk) -> None:
    """Security 4"""
    turn = await talk.begin("uno")
    answer = await talk.answer(turn, "1", details={"citations": CITATIONS})
    await services.feedback.rate(talk.owner, turn.conversation.id, answer.id, rating=1)
    await talk.store.share(talk.owner, turn.conversation.id, answer.id)
    for stranger in (f"{talk.owner}-other", ""):
        assert await talk.store.outline(stranger, turn.conversation.id) == {}
        assert await talk.store.read(stranger, [turn.question.id, answer.id]) == []
        assert await talk.store.list_all(stranger) == []
        assert await talk.store.read_page(stranger, [turn.question.id, answer.id], limit=9) == []
        assert await talk.store.delete_all(stranger, [turn.conversation.id]) == set()
        assert await services.feedback.list_all(stranger) == []
        assert await services.feedback.of(stranger, [answer.id]) == []
        for table in OWNED:
            async with services.database.transaction(stranger) as connection:
                assert await fetch(connection, f"SELECT * FROM {table}", {}) == []


async def test_a_message_of_another_conversation_is_none_of_this_one(talk: Talk) -> None:
    """R9.1 Neither to follow, nor to edit, nor to answer again; nor is one of the other role."""
    here, there = await talk.begin("aquí"), await talk.begin("allí")
    answer = await talk.answer(there, "1")
    mine = await talk.answer(here, "2")
    wrong: list[Awaitable[object]] = [
        talk.ask(here.conversation, "?", after=answer.id),
        talk.ask(here.conversation, "?", instead_of=there.question.id),
        talk.store.ask_again(talk.owner, here.conversation.id, answer.id),
        talk.ask(here.conversation, "?", after=here.question.id),
        talk.ask(here.conversation, "?", instead_of=mine.id),
    ]
    for attempt in wrong:
        with pytest.raises(MessageNotFound):
            await attempt
    assert await talk.shown(here.conversation) == ["aquí", "2"]


async def test_a_deleted_conversation_takes_all_of_it_along(services: Services, talk: Talk) -> None:
    """R9.1, security 19: messages, feedback, and every row of its thread; another conversation's stay."""
    gone, kept = await talk.begin("uno"), await talk.begin("dos")
    for turn in (gone, kept):
        answer = await talk.answer(turn, details={"citations": CITATIONS})
        await services.feedback.rate(talk.owner, turn.conversation.id, answer.id, rating=-1)
        await talk.store.share(talk.owner, turn.conversation.id, answer.id)
        async with services.database.transaction(talk.owner) as connection:
            for statement in (
                "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%(id)s, 'c', '{}')",
                "INSERT INTO checkpoint_blobs (thread_id, channel, version, type) VALUES (%(id)s, 'm', '1', 'msgpack')",
                "INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob)"
                " VALUES (%(id)s, 'c', 't', 0, 'm', '')",
            ):
                await connection.execute(statement, {"id": str(turn.conversation.id)})
    await talk.store.delete(talk.owner, gone.conversation.id)
    async with services.database.transaction(talk.owner) as connection:
        for table in OWNED:
            rows = await fetch(connection, f"SELECT * FROM {table}", {})
            assert {str(row.get("conversation_id") or row.get("thread_id") or answer.id) for row in rows} == {
                str(answer.id if table == "feedback" else kept.conversation.id)
            }


async def test_a_link_shows_what_had_been_said(services: Services, talk: Talk) -> None:
    """R9.1, security 8: nothing that is said later, nor other versions; only the token's hash is stored."""
    first = await talk.begin("uno")
    one = await talk.answer(first, "1")
    token = await talk.store.share(talk.owner, first.conversation.id, one.id)
    await talk.answer(first, "1 bis")
    await talk.answer(await talk.ask(first.conversation, "dos", after=one.id), "2")
    shared = await talk.store.read_shared(token)
    assert (shared.title, [message.content for message in shared.messages]) == ("Un tema", ["uno", "1"])
    assert (await talk.store.find(talk.owner, first.conversation.id)).is_shared
    assert [each.is_shared for each in await talk.store.list_all(talk.owner)] == [True]
    async with services.database.transaction(talk.owner) as connection:
        (stored,) = await fetch(connection, "SELECT hash FROM shares", {})
    assert stored["hash"] == hashlib.sha256(token.encode()).digest()


@pytest.mark.parametrize("end", ["unshare", "delete", "delete_message"])
async def test_a_link_ends(talk: Talk, end: str) -> None:
    """R9.1, security 19: when it is taken back, or what it shows is gone; all links to a conversation, no other's."""
    turns = [await talk.begin("uno"), await talk.begin("dos")]
    (gone, last), (kept, other) = [(turn.conversation.id, (await talk.answer(turn)).id) for turn in turns]
    tokens = [await talk.store.share(talk.owner, *shown) for shown in ((gone, last), (gone, last), (kept, other))]
    ends: dict[str, Callable[[], Awaitable[object]]] = {
        "unshare": lambda: talk.store.unshare(talk.owner, gone),
        "delete": lambda: talk.store.delete(talk.owner, gone),
        "delete_message": lambda: talk.store.delete_message(talk.owner, gone, last),
    }
    await ends[end]()
    for token in tokens[:2]:
        with pytest.raises(ShareNotFound):
            await talk.store.read_shared(token)
    assert len((await talk.store.read_shared(tokens[2])).messages) == 2


async def test_a_link_is_made_by_the_owner_of_a_message_of_the_conversation(talk: Talk) -> None:
    """Security 3"""
    here, there = await talk.begin("aquí"), await talk.begin("allí")
    with pytest.raises(MessageNotFound):
        await talk.store.share(talk.owner, here.conversation.id, there.question.id)
    with pytest.raises(ConversationNotFound):
        await talk.store.share("other", here.conversation.id, here.question.id)
    with pytest.raises(ConversationNotFound):
        await talk.store.unshare("other", here.conversation.id)


async def test_feedback_replaces_what_was_thought_before(services: Services, talk: Talk) -> None:
    """R9.6 On an answer and on each of its citations; listed with question, answer and citation."""
    turn = await talk.begin("uno")
    answer = await talk.answer(turn, "1", details={"citations": CITATIONS})
    place = (talk.owner, turn.conversation.id, answer.id)
    await services.feedback.rate(*place, rating=1)
    await services.feedback.rate(*place, citation=2, rating=-1, comment="No lo dice.")
    await services.feedback.rate(*place, rating=-1, comment="Falta algo.")
    listed = await services.feedback.list_all(talk.owner)
    assert [(one.feedback.citation, one.feedback.rating, one.feedback.comment, one.cited) for one in listed] == [
        (0, -1, "Falta algo.", None),
        (2, -1, "No lo dice.", CITATIONS[1]),
    ]
    assert {(one.question, one.answer) for one in listed} == {("uno", "1")}
    assert await services.feedback.list_all(talk.owner, rating=1) == []
    await services.feedback.unrate(*place)
    assert [one.citation for one in await services.feedback.of(talk.owner, [answer.id])] == [2]


@pytest.mark.parametrize("citation", [0, 1, 3])
async def test_only_what_an_answer_has_is_rated(services: Services, talk: Talk, citation: int) -> None:
    """R9.6 Not a question, not a citation that is not there, not another owner's answer."""
    turn = await talk.begin("uno")
    answer = await talk.answer(turn, "1", details={"citations": CITATIONS})
    rating: Literal[-1, 1] = 1
    places = [(talk.owner, turn.question.id), (f"{talk.owner}-other", answer.id), (talk.owner, uuid4())]
    places += [(talk.owner, answer.id)] if citation > len(CITATIONS) else []
    for owner, message in places:
        with pytest.raises(MessageNotFound):
            await services.feedback.rate(owner, turn.conversation.id, message, citation=citation, rating=rating)
        with pytest.raises(CausewayError):
            await services.feedback.unrate(owner, turn.conversation.id, message, citation=citation)
    assert await services.feedback.list_all(talk.owner) == []


async def age(services: Services, owner: str, conversation: Conversation) -> None:
    async with services.database.transaction(owner) as connection:
        await connection.execute(AGED, {"conversation": conversation.id})


async def test_conversations_go_when_their_time_is_over(services: Services, talk: Talk) -> None:
    """R8.9 Retention counts from the last answer; the next one's end is planned, once."""
    old, new = await talk.begin("vieja"), await talk.begin("nueva")
    stranger = Talk(services, f"{talk.owner}-other")
    theirs = await stranger.begin("ajena")
    await age(services, talk.owner, old.conversation)
    await age(services, stranger.owner, theirs.conversation)
    retention = Retention(services.conversations, services.documents.queue, 30)
    for _ in range(2):
        await retention.forget(talk.owner)
    assert [of.id for of in await talk.store.list_all(talk.owner)] == [new.conversation.id]
    assert len(await stranger.store.list_all(stranger.owner)) == 1
    async with services.database.transaction(talk.owner) as connection:
        (job,) = await fetch(connection, PLANNED, {"owner": talk.owner})
    left = await talk.store.find(talk.owner, new.conversation.id)
    assert job["scheduled_at"] == left.updated_at + timedelta(days=30)


async def test_without_a_limit_nothing_goes(services: Services, talk: Talk) -> None:
    """R8.9"""
    old = await talk.begin("vieja")
    await age(services, talk.owner, old.conversation)
    await Retention(services.conversations, services.documents.queue, None).forget(talk.owner)
    assert len(await talk.store.list_all(talk.owner)) == 1


async def test_a_worker_forgets_what_was_planned(services: Services, talk: Talk) -> None:
    """R8.9 Of an owner who has left for good."""
    old = await talk.begin("vieja")
    await age(services, talk.owner, old.conversation)
    retention = Retention(services.conversations, services.documents.queue, 30)
    services = with_parts(services, retention=retention)
    await services.documents.queue.defer_forgetting(talk.owner, datetime.now(UTC))
    async with services.documents.queue.working(services.jobs), asyncio.timeout(WAIT_SECONDS):
        while await talk.store.list_all(talk.owner):
            await asyncio.sleep(0.05)


@given(st.lists(st.integers(min_value=0), min_size=1, max_size=20), st.data())
def test_a_branch_is_a_path_from_a_beginning_to_an_end(choices: list[int], data: st.DataObject) -> None:
    """R9.1 Whatever the tree: it holds the message asked for, each follows the one before, none follows the last."""
    messages = [UUID(int=number) for number in range(len(choices))]
    outline: dict[UUID, UUID | None] = {}
    for number, (message, choice) in enumerate(zip(messages, choices, strict=True)):
        outline[message] = ([None, *messages[:number]])[choice % (number + 1)]
    through = data.draw(st.sampled_from([None, *messages]))
    shown = branch(outline, through)
    assert through is None or through in shown
    assert [outline[message] for message in shown] == [None, *shown[:-1]]
    assert shown[-1] not in outline.values()
    left = without(outline, shown[0])
    assert set(left) == {message for message in messages if shown[0] not in (branch(outline, message))}
    assert [message for message in outline if message in left] == list(left)
    assert last_answer(shown) == (shown[-1] if len(shown) % 2 == 0 else shown[-2] if shown[1:] else None)
    assert all(message in versions(outline)[message] for message in messages)

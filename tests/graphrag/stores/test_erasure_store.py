"""Words of documents that are gone, in stored answers: found, taken out, and never stored anew; over PostgreSQL."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.db.database import Connection, fetch
from graphrag.db.migrate import SETTINGS
from graphrag.models import Collection, Document
from graphrag.models.conversations import Message, MessageStatus, Turn
from graphrag.models.ingestion import IndexedDocument
from graphrag.services import Services, open_services
from graphrag.stores.postgres.erasure import BATCH, GAPS
from tests.factories import make_chunk, make_document

TEXT = "El horno ardió por la zambomba."
VECTOR = [1.0] + [0.0] * 255
THREAD = "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%(id)s, 'c', '{}')"
ROWS = "SELECT * FROM message_documents ORDER BY document_id"


class Desk:
    """An owner with a collection, who asks about its documents."""

    def __init__(self, services: Services, owner: str, collection: Collection) -> None:
        self.services, self.owner, self.collection = services, owner, collection
        self.store, self.erasure = services.conversations, services.documents.erasure

    async def put(self, text: str = TEXT, **fields: Any) -> Document:
        document = make_document(**{"collection_id": self.collection.id, "content_hash": str(hash(text))} | fields)
        chunk = make_chunk(text, document=document)
        await self.services.store.put_documents(self.collection, [IndexedDocument(document, [chunk], [VECTOR])])
        return document

    async def begin(self) -> Turn:
        return await self.store.begin(self.owner, "¿Qué pasó?", title="Qué pasó")

    async def answer(self, turn: Turn, *documents: Document, **fields: Any) -> Message:
        given = answer_of(turn, *documents)
        return await self.store.answer(self.owner, turn, given, **fields)

    async def read(self, message: Message) -> Message:
        (found,) = await self.store.read(self.owner, [message.id])
        return found

    async def rows(self, statement: str) -> list[dict[str, Any]]:
        async with self.services.database.transaction(self.owner) as connection:
            return await fetch(connection, statement, {})


def answer_of(turn: Turn, *documents: Document) -> Message:
    """A sentence a document, each cited."""
    content = ""
    statements, sources = list[dict[str, Any]](), list[dict[str, Any]]()
    for number, document in enumerate(documents, start=1):
        said = f"{TEXT[:-1]} {number}."
        cited = {"number": number, "document_id": str(document.id), "statement": said, "status": "supported"}
        place = {"start": len(content), "end": len(content) + len(said)}
        statements.append({"statement": said, "status": "supported", "citations": [cited], **place})
        known = {"filename": document.filename, "title": "", "content_hash": document.content_hash}
        sources.append(known | {"number": number, "document_id": str(document.id), "content": TEXT})
        content += f"{said}\n"
    citations = [one for statement in statements for one in statement["citations"]]
    details = {"language": "es", "sources": sources, "statements": statements, "citations": citations}
    asked = turn.question
    return Message(
        uuid4(),
        asked.conversation_id,
        asked.id,
        "assistant",
        content,
        MessageStatus.COMPLETE,
        datetime.now(UTC),
        details,
    )


def keeping(desk: Desk, turn: Turn) -> Callable[[Connection], Any]:
    async def keep(connection: Connection) -> str:
        await connection.execute(THREAD, {"id": str(turn.conversation.id)})
        return "c"

    return keep


@pytest.fixture
async def desk(services: Services, owner: str) -> Desk:
    return Desk(services, owner, await services.collections.create(owner, "notes"))


async def test_an_answer_knows_which_content_it_has_read(desk: Desk) -> None:
    """Security 19 Nothing is taken out of it while that is what the document says, however often it is indexed."""
    document = await desk.put()
    answer = await desk.answer(await desk.begin(), document)
    (row,) = await desk.rows(ROWS)
    assert (row["document_id"], row["content_hash"]) == (document.id, document.content_hash)
    await desk.put(id=document.id, source=document.source)
    assert await desk.erasure.erase(desk.owner) == 0
    assert (await desk.read(answer)).content == answer.content


async def test_ratings_follow_their_citations(desk: Desk) -> None:
    """Security 19, R9.6 What was thought of a citation that is gone goes with it; the others' numbers change."""
    gone, first, second = await desk.put(), await desk.put(), await desk.put()
    turn = await desk.begin()
    answer = await desk.answer(turn, first, gone, second)
    place = (desk.owner, turn.conversation.id, answer.id)
    for citation in range(4):
        await desk.services.feedback.rate(*place, citation=citation, rating=1, comment=str(citation))
    await desk.services.store.delete_document(desk.collection, gone.id)
    listed = await desk.services.feedback.list_all(desk.owner)
    rated = {(one.feedback.citation, one.feedback.comment, one.cited and one.cited["document_id"]) for one in listed}
    assert rated == {(0, "0", None), (1, "1", str(first.id)), (2, "3", str(second.id))}
    assert {row["document_id"] for row in await desk.rows(ROWS)} == {first.id, second.id}


async def test_nobody_s_answers_but_the_owner_s_are_touched(services: Services, desk: Desk) -> None:
    """Security 4 and 19 A stranger to whom the document is unknown erases nothing, nor does its own answer tell."""
    document = await desk.put()
    answer = await desk.answer(await desk.begin(), document)
    stranger = Desk(services, f"{desk.owner}-other", desk.collection)
    assert await stranger.erasure.erase(stranger.owner) == 0
    theirs = await stranger.answer(await stranger.begin(), document)
    assert theirs.content == f"{GAPS['es']}\n"
    assert (await desk.read(answer)).content == answer.content


async def test_an_answer_is_kept_without_what_was_deleted_meanwhile(desk: Desk) -> None:
    """Security 19 It is redacted before it is stored, and is no part of the thread."""
    document = await desk.put()
    turn = await desk.begin()
    await desk.services.store.delete_document(desk.collection, document.id)
    kept = await desk.answer(turn, document, keep=keeping(desk, turn))
    assert (kept.content, kept.checkpoint_id, kept.details["sources"]) == (f"{GAPS['es']}\n", None, [])
    assert kept == await desk.read(kept) or (await desk.read(kept)).content == kept.content
    assert await desk.rows("SELECT * FROM checkpoints") == await desk.rows(ROWS) == []


@pytest.mark.parametrize("is_swept", [True, False])
async def test_a_thread_that_heard_what_is_gone_is_not_kept(desk: Desk, is_swept: bool) -> None:
    """Security 19 The answer itself read nothing of it; those before did. What comes later has a thread again."""
    document = await desk.put()
    turn = await desk.begin()
    first = await desk.answer(turn, document, keep=keeping(desk, turn))
    assert first.checkpoint_id == "c"
    second = await desk.store.ask(desk.owner, turn.conversation.id, "¿y luego?", title="")
    await desk.services.store.delete_document(desk.collection, document.id)
    if is_swept:
        assert await desk.erasure.erase(desk.owner) == 1
    assert (await desk.answer(second, keep=keeping(desk, second))).checkpoint_id is None
    assert await desk.rows("SELECT * FROM checkpoints") == []
    third = await desk.store.ask(desk.owner, turn.conversation.id, "¿y después?", title="")
    assert [message.content for message in third.earlier] == ["¿Qué pasó?", f"{GAPS['es']}\n", "¿y luego?", ""]
    assert (await desk.answer(third, keep=keeping(desk, third))).checkpoint_id == "c"


def repeating(turn: Turn) -> Message:
    """An answer from no document, in the words of an earlier one."""
    answer = answer_of(turn)
    statement = {"statement": TEXT, "status": "unsupported", "citations": [], "start": 0, "end": len(TEXT)}
    return replace(answer, content=f"{TEXT} Nada más.", details={**answer.details, "statements": [statement]})


async def test_what_a_later_answer_repeats_goes_too(desk: Desk) -> None:
    """Security 19 It read the earlier answers, not the document; another conversation's answer is nobody's echo."""
    document = await desk.put()
    turn, other = await desk.begin(), await desk.begin()
    await desk.answer(turn, document)
    second = await desk.store.ask(desk.owner, turn.conversation.id, "¿y luego?", title="")
    later = await desk.store.answer(desk.owner, second, repeating(second))
    own = await desk.store.answer(desk.owner, other, repeating(other))
    assert later.content == own.content == f"{TEXT} Nada más."
    await desk.services.store.delete_document(desk.collection, document.id)
    assert (await desk.read(later)).content == f"{GAPS['es']} Nada más."
    left = await desk.read(own)
    assert (left.content, left.details.get("erased")) == (own.content, None)


@pytest.mark.parametrize("is_swept", [True, False])
async def test_an_answer_that_repeats_what_is_erased_meanwhile_is_not_stored(desk: Desk, is_swept: bool) -> None:
    """Security 19 Whose words they are is no longer known: only what its own documents support stays."""
    gone, kept = await desk.put(), await desk.put()
    turn = await desk.begin()
    await desk.answer(turn, gone)
    second = await desk.store.ask(desk.owner, turn.conversation.id, "¿y luego?", title="")
    await desk.services.store.delete_document(desk.collection, gone.id)
    if is_swept:
        assert await desk.erasure.erase(desk.owner) == 1
    supported = await desk.answer(second, kept)
    assert (supported.content, supported.details.get("erased")) == (answer_of(second, kept).content, None)
    again = await desk.store.ask_again(desk.owner, turn.conversation.id, second.question.id)
    stale = replace(again, conversation=turn.conversation)
    assert (await desk.store.answer(desk.owner, stale, repeating(stale))).content == GAPS["es"]


async def test_a_failure_leaves_neither_answer_nor_thread(desk: Desk) -> None:
    """R11.1 They are kept together or not at all."""
    turn = await desk.begin()

    async def fail(connection: Connection) -> str:
        await keeping(desk, turn)(connection)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await desk.answer(turn, keep=fail)
    assert await desk.rows("SELECT * FROM checkpoints") == []
    assert await desk.rows("SELECT * FROM messages WHERE role = 'assistant'") == []


async def test_a_title_of_a_model_goes_with_its_answer(desk: Desk) -> None:
    """Security 19 The rules' title comes back, wherever it is read; a person's stays; a model gives none afterwards."""
    document = await desk.put()
    turns = [await desk.begin() for _ in range(3)]
    modelled, listed, own = (turn.conversation.id for turn in turns)
    for turn in turns:
        await desk.answer(turn, document)
        await desk.store.rename(desk.owner, turn.conversation.id, "La zambomba", titled_by="model")
    await desk.store.rename(desk.owner, own, "Mi zambomba")
    await desk.services.store.delete_document(desk.collection, document.id)
    assert (await desk.store.find(desk.owner, modelled)).title == "Qué pasó"
    titles = {one.id: one.title for one in await desk.store.list_all(desk.owner)}
    assert titles == {modelled: "Qué pasó", listed: "Qué pasó", own: "Mi zambomba"}
    late = await desk.store.rename(desk.owner, listed, "La zambomba", titled_by="model")
    assert late.title == "Qué pasó"


async def test_many_are_erased_in_batches_and_by_two_at_once(desk: Desk) -> None:
    """Security 19 Nobody waits for ever, and none is left."""
    document = await desk.put()
    for _ in range(BATCH + 20):
        await desk.answer(await desk.begin(), document)
    await desk.services.store.delete_document(desk.collection, document.id)
    some = await desk.erasure.erase(desk.owner, most=BATCH)
    assert some == BATCH
    await asyncio.gather(*(desk.erasure.erase(desk.owner) for _ in range(2)))
    assert await desk.rows(ROWS) == []
    assert await desk.rows(f"SELECT FROM messages WHERE content LIKE '%%{TEXT[-9:-1]}%%'") == []


async def test_what_a_model_said_of_a_file_is_forgotten_with_it(desk: Desk) -> None:
    """Security 19 Of this version of the document; what it said of others stays."""
    document = make_document()
    said = {
        f"{kind}{key}/x": b"x"
        for kind in ("situation:", "relations:")
        for key in (document.file_key, make_document(id=document.id).file_key, make_document().file_key)
    }
    cache = desk.services.cache
    await cache.set_many(desk.owner, said | {"refinement:x": b"x"}, seconds=60)
    await desk.erasure.forget(desk.owner, document.file_key)
    left = await cache.get_many(desk.owner, [*said, "refinement:x"])
    assert set(left) == {key for key in said if document.file_key not in key}


async def test_answers_given_before_are_told_apart_by_what_they_quote(make_database: Callable[[], str]) -> None:
    """Security 19 The migration takes for gone what does not stand in the document as it is now."""
    url = make_database()
    services = open_services(Settings.from_environment(database_url=SecretStr(url)))
    try:
        owner = "owner"
        desk = Desk(services, owner, await services.collections.create(owner, "notes"))
        document, other = await desk.put(), await desk.put("Otra cosa.")
        turn = await desk.begin()
        quoted: dict[str, tuple[UUID, str]] = {
            "kept": (document.id, TEXT[3:20]),
            "changed": (other.id, TEXT[3:20]),
            "unknown": (uuid4(), TEXT[3:20]),
        }
        answers = {}
        for name, (document_id, content) in quoted.items():
            source = {"document_id": str(document_id), "start_char": 3, "end_char": 20, "content": content}
            answer = answer_of(turn)
            answers[name] = answer.id
            await desk.store.answer(owner, turn, answer)
            with psycopg.connect(url) as connection:
                details = Jsonb({"sources": [source | {"number": 1, "filename": "f", "title": ""}]})
                connection.execute(
                    "UPDATE causeway.messages SET details = %s WHERE message_id = %s", [details, answer.id]
                )
        script = files("graphrag.db").joinpath("migrations", "0011_erasure.sql").read_text("utf-8")
        with psycopg.connect(url) as connection:
            connection.execute(SETTINGS)
            connection.execute("DROP TABLE message_documents; DROP INDEX documents_by_id")
            connection.execute("ALTER TABLE conversations DROP COLUMN title_by_rules, DROP COLUMN erasures")
            connection.execute(script.encode())
        known = {row["message_id"]: row["content_hash"] for row in await desk.rows(ROWS)}
        assert known == {answers["kept"]: document.content_hash, answers["changed"]: "", answers["unknown"]: ""}
        assert await desk.erasure.erase(owner) == 2
    finally:
        await services.close()


async def test_an_expired_document_is_gone_before_it_is_purged(desk: Desk) -> None:
    """Security 19"""
    document = await desk.put(expires_at=datetime.now(UTC) + timedelta(hours=1))
    answer = await desk.answer(await desk.begin(), document)
    assert (await desk.read(answer)).content == answer.content
    await desk.put(id=document.id, source=document.source, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert (await desk.read(answer)).content == f"{GAPS['es']}\n"

"""Conversations in PostgreSQL: a tree of messages each, in which nothing that was said is written over."""

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import ForeignKeyViolation
from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import ConversationNotFound, MessageNotFound, ShareNotFound
from graphrag.models.conversations import (
    Conversation,
    Message,
    Outline,
    SharedConversation,
    TitledBy,
    Turn,
    branch,
    last_answer,
    without,
)
from graphrag.stores.postgres.erasure import QUERIES as ERASURE
from graphrag.stores.postgres.erasure import document_row, erase, erase_gone, find_missing, forget_threads
from graphrag.stores.postgres.rows import read_conversation, read_message, without_nul

QUERIES = queries(Path(__file__).with_name("conversations.sql"))
LOCK = ERASURE["lock_conversations"]
TOKEN_BYTES = 32  # of a link
MOST_EARLIER = 40  # messages that no checkpoint holds: more than any history shows a model


@dataclass(frozen=True, slots=True)
class Conversations:
    """Raises ConversationNotFound and MessageNotFound for another owner's, too, in the same words."""

    database: Database

    async def begin(self, owner_id: str, question: str, *, title: str, collections: Sequence[str] = ()) -> Turn:
        """A conversation with its first question."""
        values = {"conversation_id": uuid4(), "message_id": uuid4(), "title": title, **_asked(collections)}
        async with self.database.transaction(owner_id) as connection:
            given = values | {"owner_id": owner_id, "content": question}
            (row,) = await fetch(connection, QUERIES["begin"], given)
        asked = read_message(row)
        made = Conversation(asked.conversation_id, title, tuple(collections), None, asked.created_at, asked.created_at)
        return Turn(made, asked)

    async def ask(
        self,
        owner_id: str,
        conversation_id: UUID,
        question: str,
        *,
        title: str,
        after: UUID | None = None,
        instead_of: UUID | None = None,
    ) -> Turn:
        """A further question: after the answer last shown, or after another one, or in place of an earlier question.

        The title is for a conversation that has none.
        """
        async with self.database.transaction(owner_id) as connection:
            key = {"owner_id": owner_id, "conversation_id": conversation_id}
            await erase_gone(connection, owner_id, conversations=[conversation_id])
            conversation = await _find(connection, key)
            parent_id = after or conversation.leaf_id
            if instead_of:
                parent_id = (await _read(connection, key, instead_of, role="user")).parent_id
            earlier = await _recent(connection, key, parent_id)
            if parent_id and (not earlier or earlier[-1].role != "assistant"):
                raise _no_message(parent_id)
            new = {"message_id": uuid4(), "parent_id": parent_id, "content": question, "title": title}
            (row,) = await fetch(connection, QUERIES["add_question"], key | new)
        return Turn(conversation, read_message(row), tuple(earlier))

    async def ask_again(self, owner_id: str, conversation_id: UUID, message_id: UUID) -> Turn:
        """Return the turn that answers a question anew; `message_id` is the question or one of its answers."""
        async with self.database.transaction(owner_id) as connection:
            key = {"owner_id": owner_id, "conversation_id": conversation_id}
            await erase_gone(connection, owner_id, conversations=[conversation_id])
            conversation = await _find(connection, key)
            question = await _read(connection, key, message_id)
            if question.role == "assistant" and question.parent_id:
                question = await _read(connection, key, question.parent_id)
            return Turn(conversation, question, tuple(await _recent(connection, key, question.parent_id)))

    async def answer(
        self,
        owner_id: str,
        turn: Turn,
        answer: Message,
        *,
        keep: Callable[[Connection], Awaitable[str]] | None = None,
    ) -> Message:
        """Store the answer and show it; return it without statements from documents deleted meanwhile.

        `keep` writes the thread's checkpoint and returns its id; it is not called if the thread holds text that was
        erased. Raises ConversationNotFound if the conversation or the question was deleted meanwhile.
        """
        conversation_id = turn.conversation.id
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        try:
            async with self.database.transaction(owner_id) as connection:
                await erase_gone(connection, owner_id, conversations=[conversation_id])
                await connection.execute(LOCK, {"owner_id": owner_id, "conversations": [conversation_id]})
                is_whole = (await _find(connection, key)).erasures == turn.conversation.erasures
                gone = await find_missing(connection, answer)
                if gone or not is_whole:
                    heard = () if is_whole else None
                    answer = erase(answer, gone, question=turn.question.content, heard=heard).message
                elif keep:
                    answer = replace(answer, checkpoint_id=await keep(connection))
                await connection.execute(QUERIES["add_answer"], _answer_row(owner_id, turn, answer))
                await connection.execute(QUERIES["add_documents"], key | document_row(answer))
        except ForeignKeyViolation as exc:
            raise _no_conversation(conversation_id) from exc
        return answer

    async def make(self, owner_id: str, *, title: str = "", collections: Sequence[str] = ()) -> Conversation:
        """Create a conversation without messages."""
        values = {"owner_id": owner_id, "conversation_id": uuid4(), "title": title, **_asked(collections)}
        async with self.database.transaction(owner_id) as connection:
            (row,) = await fetch(connection, QUERIES["make"], values)
        return read_conversation(row)

    async def find(self, owner_id: str, conversation_id: UUID) -> Conversation:
        async with self.database.transaction(owner_id) as connection:
            return await _find(connection, {"owner_id": owner_id, "conversation_id": conversation_id})

    async def list_all(
        self, owner_id: str, *, limit: int = 50, after: tuple[datetime, UUID] | None = None, query: str = ""
    ) -> list[Conversation]:
        """The latest first; `after` (updated_at, id); `query`: words of the title, whatever their case and accents."""
        updated_at, conversation_id = after or (None, None)
        values = {
            "owner_id": owner_id,
            "limit": limit,
            "updated_at": updated_at,
            "conversation_id": conversation_id,
            "query": query,
        }
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["list"], values)
            if await _erase_titles(connection, owner_id, rows):
                rows = await fetch(connection, QUERIES["list"], values)
        return [read_conversation(row) for row in rows]

    async def rename(
        self, owner_id: str, conversation_id: UUID, title: str, *, titled_by: TitledBy = "person"
    ) -> Conversation:
        """A title that a person gave is changed by a person alone."""
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["rename"], key | {"title": title, "titled_by": titled_by})
            return read_conversation(rows[0]) if rows else await _find(connection, key)

    async def ask_of(self, owner_id: str, conversation_id: UUID, collections: Sequence[str]) -> Conversation:
        """Its questions go to these collections from now on; without any, to the default one."""
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["ask_of"], key | _asked(collections))
        if not rows:
            raise _no_conversation(conversation_id)
        return read_conversation(rows[0])

    async def delete(self, owner_id: str, conversation_id: UUID) -> None:
        if not await self.delete_all(owner_id, [conversation_id]):
            raise _no_conversation(conversation_id)

    async def delete_all(self, owner_id: str, conversations: Sequence[UUID]) -> set[UUID]:
        """Delete conversations with their messages, feedback and checkpoints; return the ids of those that existed."""
        values = {"owner_id": owner_id, "conversations": [*conversations]}
        async with self.database.transaction(owner_id) as connection:
            return {row["conversation_id"] for row in await fetch(connection, QUERIES["delete"], values)}

    async def purge(self, owner_id: str, retention: timedelta) -> datetime | None:
        """Delete those in which nothing was said for so long; return the time of the oldest that is left.

        By the database's clock, which wrote their times: a clock of a worker that is wrong deletes nothing.
        """
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["purge"], {"owner_id": owner_id, "retention": retention})
            (row,) = await fetch(connection, QUERIES["oldest"], {"owner_id": owner_id})
        oldest: datetime | None = row["updated_at"]
        return oldest

    async def outline(self, owner_id: str, conversation_id: UUID) -> dict[UUID, UUID | None]:
        """Return the messages' tree as message → parent, in the order in which they were written."""
        async with self.database.transaction(owner_id) as connection:
            return await _outline(connection, {"owner_id": owner_id, "conversation_id": conversation_id})

    async def read(self, owner_id: str, messages: Sequence[UUID]) -> list[Message]:
        """Return these messages in this order, without missing ones and without statements from deleted documents."""
        async with self.database.transaction(owner_id) as connection:
            await erase_gone(connection, owner_id, messages=messages)
            rows = await fetch(connection, QUERIES["read_messages"], {"owner_id": owner_id, "messages": [*messages]})
        found = {row["message_id"]: read_message(row) for row in rows}
        return [found[key] for key in messages if key in found]

    async def read_page(
        self, owner_id: str, messages: Sequence[UUID], *, limit: int, after: tuple[datetime, UUID] | None = None
    ) -> list[Message]:
        """Return at most `limit` of these messages, oldest first, after the (created_at, id) of `after`."""
        created_at, message_id = after or (None, None)
        values = {"owner_id": owner_id, "messages": [*messages], "created_at": created_at, "message_id": message_id}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["page_of_messages"], values | {"limit": limit})
        return await self.read(owner_id, [row["message_id"] for row in rows])

    async def find_message(self, owner_id: str, conversation_id: UUID, message_id: UUID) -> Message:
        await self.find(owner_id, conversation_id)
        found = await self.read(owner_id, [message_id])
        if not found or found[0].conversation_id != conversation_id:
            raise _no_message(message_id)
        return found[0]

    async def delete_message(self, owner_id: str, conversation_id: UUID, message_id: UUID) -> None:
        """Delete a message and all that follow it.

        The branch shown afterwards ends with the last answer that is left beside or before it.
        """
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(LOCK, {"owner_id": owner_id, "conversations": [conversation_id]})
            conversation = await _find(connection, key)
            outline = await _outline(connection, key)
            if message_id not in outline:
                raise _no_message(message_id)
            left = without(outline, message_id)
            leaf_id = conversation.leaf_id if conversation.leaf_id in left else _leaf(left, outline[message_id])
            await connection.execute(QUERIES["delete_message"], key | {"message_id": message_id})
            await connection.execute(QUERIES["show"], key | {"leaf_id": leaf_id})
            await forget_threads(connection, owner_id, [conversation_id])

    async def share(self, owner_id: str, conversation_id: UUID, message_id: UUID) -> str:
        """Return the token of a new link, which shows the conversation up to this message and nothing said later."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            await _find(connection, key)
            new = {"message_id": message_id, "hash": _hash(token)}
            if not await fetch(connection, QUERIES["share"], key | new):
                raise _no_message(message_id)
        return token

    async def unshare(self, owner_id: str, conversation_id: UUID) -> None:
        """Take back all links to the conversation."""
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            await _find(connection, key)
            await connection.execute(QUERIES["unshare"], key)

    async def read_shared(self, token: str) -> SharedConversation:
        """Read for anybody, as its owner sees it now. Raises ShareNotFound."""
        async with self.database.transaction("") as connection:  # nobody's, as yet
            rows = await fetch(connection, QUERIES["find_share"], {"hash": _hash(token)})
        if not rows:
            raise ShareNotFound("There is no such link.")
        owner_id, conversation_id, message_id = rows[0].values()
        try:
            conversation = await self.find(owner_id, conversation_id)
            shown = branch(await self.outline(owner_id, conversation_id), message_id)
        except (ConversationNotFound, KeyError) as exc:  # it was deleted just now
            raise ShareNotFound("There is no such link.") from exc
        messages = await self.read(owner_id, shown[: shown.index(message_id) + 1])
        return SharedConversation(conversation.title, messages)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _asked(collections: Sequence[str]) -> dict[str, Any]:
    return {"collection": next(iter(collections), None), "other_collections": [*collections[1:]]}


def _leaf(outline: Outline, parent_id: UUID | None) -> UUID | None:
    return last_answer(branch(outline, parent_id))


def _answer_row(owner_id: str, turn: Turn, answer: Message) -> dict[str, Any]:
    return {
        "owner_id": owner_id,
        "message_id": answer.id,
        "conversation_id": turn.conversation.id,
        "parent_id": turn.question.id,
        "content": without_nul(answer.content),
        "status": answer.status.value,
        "details": Jsonb(without_nul(answer.details)),
        "checkpoint_id": answer.checkpoint_id,
    }


async def _outline(connection: Connection, key: Mapping[str, Any]) -> dict[UUID, UUID | None]:
    return {row["message_id"]: row["parent_id"] for row in await fetch(connection, QUERIES["outline"], key)}


async def _find(connection: Connection, key: Mapping[str, Any]) -> Conversation:
    rows = await fetch(connection, QUERIES["find"], key)
    if not rows:
        raise _no_conversation(key["conversation_id"])
    if await _erase_titles(connection, key["owner_id"], rows):
        rows = await fetch(connection, QUERIES["find"], key)
    return read_conversation(rows[0])


async def _erase_titles(connection: Connection, owner_id: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Erase titles that a model made from answers with text of deleted documents."""
    titled = [row["conversation_id"] for row in rows if row["titled_by"] == "model"]
    return bool(titled) and await erase_gone(connection, owner_id, conversations=titled) > 0


async def _recent(connection: Connection, key: Mapping[str, Any], message_id: UUID | None) -> list[Message]:
    if message_id is None:
        return []
    values = {**key, "message_id": message_id, "most": MOST_EARLIER}
    return [read_message(row) for row in await fetch(connection, QUERIES["read_recent"], values)]


async def _read(
    connection: Connection, key: Mapping[str, Any], message_id: UUID, *, role: str | None = None
) -> Message:
    rows = await fetch(connection, QUERIES["read_recent"], {**key, "message_id": message_id, "most": 1})
    if not rows or (role and rows[0]["role"] != role):
        raise _no_message(message_id)
    return read_message(rows[0])


def _no_conversation(conversation_id: UUID) -> ConversationNotFound:
    return ConversationNotFound(f"There is no conversation {conversation_id}.", conversation=str(conversation_id))


def _no_message(message_id: UUID) -> MessageNotFound:
    return MessageNotFound(f"There is no such message {message_id} in this conversation.", message_id=str(message_id))

"""Conversations in PostgreSQL: a tree of messages each, in which nothing that was said is written over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import ForeignKeyViolation
from psycopg.types.json import Jsonb

from graphrag.conversation_models import Conversation, Message, MessageStatus, TitledBy, Turn
from graphrag.database import Connection, Database, queries
from graphrag.errors import ConversationNotFound, MessageNotFound
from graphrag.stores.queries import fetch

QUERIES = queries(Path(__file__).with_name("conversations.sql"))
MOST_EARLIER = 40  # messages that no checkpoint holds: more than any history shows a model


@dataclass(frozen=True, slots=True)
class Conversations:
    """Raises ConversationNotFound and MessageNotFound for another owner's, too, in the same words."""

    database: Database

    async def begin(self, owner_id: str, question: str, *, title: str, collection: str | None = None) -> Turn:
        """A conversation with its first question."""
        values = {"conversation_id": uuid4(), "message_id": uuid4(), "title": title, "collection": collection}
        async with self.database.transaction(owner_id) as connection:
            given = values | {"owner_id": owner_id, "content": question}
            (row,) = await fetch(connection, QUERIES["begin"], given)
        asked = read_message(row)
        made = Conversation(asked.conversation_id, title, collection, None, asked.created_at, asked.created_at)
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
        """For another answer to a question, named by itself or by an answer that it has."""
        async with self.database.transaction(owner_id) as connection:
            key = {"owner_id": owner_id, "conversation_id": conversation_id}
            conversation = await _find(connection, key)
            question = await _read(connection, key, message_id)
            if question.role == "assistant" and question.parent_id:
                question = await _read(connection, key, question.parent_id)
            return Turn(conversation, question, tuple(await _recent(connection, key, question.parent_id)))

    async def answer(self, owner_id: str, turn: Turn, answer: Message) -> None:
        """Keeps it, as what is shown from now on. Raises ConversationNotFound where it was deleted meanwhile."""
        values = {
            "owner_id": owner_id,
            "message_id": answer.id,
            "conversation_id": turn.conversation.id,
            "parent_id": turn.question.id,
            "content": answer.content.replace("\0", ""),  # which PostgreSQL holds in no text
            "status": answer.status.value,
            "details": Jsonb(_without_nul(answer.details)),
            "checkpoint_id": answer.checkpoint_id,
        }
        try:
            async with self.database.transaction(owner_id) as connection:
                await connection.execute(QUERIES["add_answer"], values)
        except ForeignKeyViolation as exc:
            raise _no_conversation(turn.conversation.id) from exc

    async def make(self, owner_id: str, *, title: str = "", collection: str | None = None) -> Conversation:
        """Without a message."""
        values = {"owner_id": owner_id, "conversation_id": uuid4(), "title": title, "collection": collection}
        async with self.database.transaction(owner_id) as connection:
            (row,) = await fetch(connection, QUERIES["make"], values)
        return read_conversation(row)

    async def find(self, owner_id: str, conversation_id: UUID) -> Conversation:
        async with self.database.transaction(owner_id) as connection:
            return await _find(connection, {"owner_id": owner_id, "conversation_id": conversation_id})

    async def list_all(self, owner_id: str, *, limit: int = 50, before: UUID | None = None) -> list[Conversation]:
        """The latest first; `before`: those that come after this one in the list."""
        values = {"owner_id": owner_id, "limit": limit, "before": before}
        async with self.database.transaction(owner_id) as connection:
            return [read_conversation(row) for row in await fetch(connection, QUERIES["list"], values)]

    async def rename(
        self, owner_id: str, conversation_id: UUID, title: str, *, titled_by: TitledBy = "person"
    ) -> Conversation:
        """A title that a person gave is changed by a person alone."""
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["rename"], key | {"title": title, "titled_by": titled_by})
            return read_conversation(rows[0]) if rows else await _find(connection, key)

    async def delete(self, owner_id: str, conversation_id: UUID) -> None:
        """With its messages, their feedback and the thread's checkpoints."""
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            if not (await connection.execute(QUERIES["delete"], key)).rowcount:
                raise _no_conversation(conversation_id)

    async def purge(self, owner_id: str, *, before: datetime) -> datetime | None:
        """Deletes those that nothing was said in since then; the time of the oldest that is left."""
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["purge"], {"owner_id": owner_id, "before": before})
            (row,) = await fetch(connection, QUERIES["oldest"], {"owner_id": owner_id})
        oldest: datetime | None = row["updated_at"]
        return oldest

    async def outline(self, owner_id: str, conversation_id: UUID) -> dict[UUID, UUID | None]:
        """What each message follows, in the order in which they were said."""
        key = {"owner_id": owner_id, "conversation_id": conversation_id}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["outline"], key)
        return {row["message_id"]: row["parent_id"] for row in rows}

    async def read(self, owner_id: str, messages: Sequence[UUID]) -> list[Message]:
        """In this order, those that there are."""
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["read_messages"], {"owner_id": owner_id, "messages": [*messages]})
        found = {row["message_id"]: read_message(row) for row in rows}
        return [found[key] for key in messages if key in found]


def read_conversation(row: Mapping[str, Any]) -> Conversation:
    return Conversation(
        row["conversation_id"], row["title"], row["collection"], row["leaf_id"], row["created_at"], row["updated_at"]
    )


def read_message(row: Mapping[str, Any]) -> Message:
    return Message(
        row["message_id"],
        row["conversation_id"],
        row["parent_id"],
        row["role"],
        row["content"],
        MessageStatus(row["status"]),
        row["created_at"],
        row["details"],
        row["checkpoint_id"],
    )


async def _find(connection: Connection, key: Mapping[str, Any]) -> Conversation:
    rows = await fetch(connection, QUERIES["find"], key)
    if not rows:
        raise _no_conversation(key["conversation_id"])
    return read_conversation(rows[0])


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


def _without_nul(value: Any) -> Any:
    """JSON in PostgreSQL holds none either."""
    match value:
        case str():
            return value.replace("\0", "")
        case list():
            return [_without_nul(part) for part in value]
        case dict():
            return {key: _without_nul(part) for key, part in value.items()}
    return value

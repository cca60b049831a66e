"""What people think of answers and of their citations, in PostgreSQL."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from graphrag.conversation_models import Feedback, RatedAnswer
from graphrag.database import Connection, Database
from graphrag.errors import MessageNotFound
from graphrag.stores.conversations import QUERIES
from graphrag.stores.erasure import erase_gone
from graphrag.stores.queries import fetch
from graphrag.stores.rated_answers import lock_answer, propose_rated

Place = tuple[datetime, UUID, int]  # in the list: updated_at, the answer, the citation


@dataclass(frozen=True, slots=True)
class FeedbackStore:
    database: Database

    async def rate(
        self,
        owner_id: str,
        conversation_id: UUID,
        message_id: UUID,
        *,
        citation: int = 0,
        rating: Literal[-1, 1],
        comment: str = "",
        default_collection: str = "",
    ) -> Feedback:
        """In place of what was thought before. A bad answer becomes a proposed golden case of the collection that was
        asked, the default one where the conversation names none.

        Raises MessageNotFound where there is no such answer or citation.
        """
        values = _key(owner_id, conversation_id, message_id, citation) | {"rating": rating, "comment": comment}
        async with self._changing(owner_id, conversation_id, message_id, default_collection) as connection:
            rows = await fetch(connection, QUERIES["rate"], values)
            if not rows:
                raise _not_found(message_id)
        return _read(rows[0])

    async def unrate(
        self,
        owner_id: str,
        conversation_id: UUID,
        message_id: UUID,
        *,
        citation: int = 0,
        default_collection: str = "",
    ) -> None:
        """Raises MessageNotFound where there was none."""
        values = _key(owner_id, conversation_id, message_id, citation)
        async with self._changing(owner_id, conversation_id, message_id, default_collection) as connection:
            if not (await connection.execute(QUERIES["unrate"], values)).rowcount:
                raise _not_found(message_id)

    @asynccontextmanager
    async def _changing(
        self, owner_id: str, conversation_id: UUID, message_id: UUID, default_collection: str
    ) -> AsyncIterator[Connection]:
        """A transaction in which nobody else rates the answer, and at whose end its proposal is as its ratings are."""
        async with self.database.transaction(owner_id) as connection:
            await lock_answer(connection, message_id)
            yield connection
            await propose_rated(
                connection, owner_id, conversation_id, message_id, default_collection=default_collection
            )

    async def of(self, owner_id: str, messages: Sequence[UUID]) -> list[Feedback]:
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["feedback_of"], {"owner_id": owner_id, "messages": [*messages]})
        return [_read(row) for row in rows]

    async def list_all(
        self,
        owner_id: str,
        *,
        rating: Literal[-1, 1] | None = None,
        conversation_id: UUID | None = None,
        collection: str | None = None,
        default_collection: str | None = None,
        limit: int = 100,
        after: Place | None = None,
    ) -> list[RatedAnswer]:
        """The latest first. `collection`: that the conversation asks; the default one is asked where it names none."""
        updated_at, message_id, citation = after or (None, None, None)
        values = {
            "owner_id": owner_id,
            "rating": rating,
            "conversation_id": conversation_id,
            "collection": collection,
            "default": default_collection,
            "updated_at": updated_at,
            "message_id": message_id,
            "citation": citation,
            "limit": limit,
        }
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["list_feedback"], values)
            if await erase_gone(connection, owner_id, messages=[row["message_id"] for row in rows]):
                rows = await fetch(connection, QUERIES["list_feedback"], values)  # without citations that are gone
        return [
            RatedAnswer(_read(row), row["conversation_id"], row["question"], row["answer"], row["cited"])
            for row in rows
        ]


def _key(owner_id: str, conversation_id: UUID, message_id: UUID, citation: int) -> dict[str, Any]:
    return {
        "owner_id": owner_id,
        "conversation_id": conversation_id,
        "message_id": message_id,
        "citation": citation,
    }


def _read(row: Mapping[str, Any]) -> Feedback:
    return Feedback(row["message_id"], row["citation"], row["rating"], row["comment"], row["updated_at"])


def _not_found(message_id: UUID) -> MessageNotFound:
    return MessageNotFound(f"There is no such answer {message_id}, or no such citation.", message_id=str(message_id))

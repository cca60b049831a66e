"""What people think of answers and of their citations, in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from graphrag.conversation_models import Feedback, RatedAnswer
from graphrag.database import Database
from graphrag.errors import MessageNotFound
from graphrag.stores.conversations import QUERIES
from graphrag.stores.queries import fetch


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
    ) -> Feedback:
        """In place of what was thought before. Raises MessageNotFound where there is no such answer or citation."""
        values = _key(owner_id, conversation_id, message_id, citation) | {"rating": rating, "comment": comment}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["rate"], values)
        if not rows:
            raise _not_found(message_id)
        return _read(rows[0])

    async def unrate(self, owner_id: str, conversation_id: UUID, message_id: UUID, *, citation: int = 0) -> None:
        """Raises MessageNotFound where there was none."""
        values = _key(owner_id, conversation_id, message_id, citation)
        async with self.database.transaction(owner_id) as connection:
            if not (await connection.execute(QUERIES["unrate"], values)).rowcount:
                raise _not_found(message_id)

    async def of(self, owner_id: str, messages: Sequence[UUID]) -> list[Feedback]:
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["feedback_of"], {"owner_id": owner_id, "messages": [*messages]})
        return [_read(row) for row in rows]

    async def list_all(
        self, owner_id: str, *, rating: Literal[-1, 1] | None = None, limit: int = 100
    ) -> list[RatedAnswer]:
        """The latest first."""
        values = {"owner_id": owner_id, "rating": rating, "limit": limit}
        async with self.database.transaction(owner_id) as connection:
            rows = await fetch(connection, QUERIES["list_feedback"], values)
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

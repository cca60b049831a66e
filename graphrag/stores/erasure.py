"""Takes the words of documents that are gone out of stored answers and what was made from these, in PostgreSQL."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from graphrag.causal_graph.model_extraction import RELATIONS
from graphrag.conversation_models import Message
from graphrag.database import Connection, Database, queries
from graphrag.erasure import Remainder, documents_of, erase
from graphrag.ingestion.contextualization import SITUATIONS
from graphrag.protocols import Cache
from graphrag.query_transformation.refinement import REFINEMENTS
from graphrag.stores.conversation_rows import read_message
from graphrag.stores.queries import fetch
from graphrag.stores.streams import StreamStore

QUERIES = queries(Path(__file__).with_name("erasure.sql"))
BATCH = 50  # answers in one transaction: about a quarter of a second


@dataclass(frozen=True, slots=True)
class Erasure:
    """Whoever reads answers erases first, so a document that is gone is in none of them. This does it for those that
    nobody reads.
    """

    database: Database
    cache: Cache

    async def erase(self, owner_id: str, *, most: int | None = None) -> int:
        """How many answers were rewritten."""
        await StreamStore(self.database).forget(owner_id)
        erased = 0
        while most is None or erased < most:
            async with self.database.transaction(owner_id) as connection:
                found = await erase_gone(connection, owner_id)
            erased += found
            if found < BATCH:
                break
        return erased

    async def forget(self, owner_id: str, files: str) -> None:
        """What models said of a document's or a collection's text, by the beginning of the files' keys."""
        for kind in (SITUATIONS, RELATIONS):
            await self.cache.forget(owner_id, f"{kind}{files}")
        await self.cache.forget(owner_id, REFINEMENTS)  # of questions, in conversations that named titles


async def erase_gone(
    connection: Connection,
    owner_id: str,
    *,
    conversations: Sequence[UUID] | None = None,
    messages: Sequence[UUID] | None = None,
) -> int:
    """Rewrites answers that hold words of documents which are gone: those of some conversations, or some messages, or
    any BATCH of the owner's. How many there were.
    """
    scope = {
        "conversations": None if conversations is None else [*conversations],
        "messages": None if messages is None else [*messages],
        "limit": BATCH if conversations is None and messages is None else None,
    }
    found = await fetch(connection, QUERIES["find_gone"], scope | {"owner_id": owner_id})
    gone = {row["message_id"]: row for row in found}
    if gone:
        touched = sorted({row["conversation_id"] for row in gone.values()})
        key = {"owner_id": owner_id, "conversations": touched}
        await connection.execute(QUERIES["lock_conversations"], key)
        rows = await fetch(connection, QUERIES["read_answers"], {"owner_id": owner_id, "messages": [*gone]})
        left = await asyncio.to_thread(
            lambda: [
                erase(read_message(row), {*gone[row["message_id"]]["documents"]}, question=row["question"] or "")
                for row in rows
            ]
        )
        for remainder in left:
            await _rewrite(connection, owner_id, remainder, gone[remainder.message.id]["documents"])
        await connection.execute(QUERIES["retitle"], key)
        await forget_threads(connection, owner_id, touched)
    return len(gone)


async def forget_threads(connection: Connection, owner_id: str, conversations: Sequence[UUID]) -> None:
    await connection.execute(QUERIES["forget_threads"], {"owner_id": owner_id, "conversations": [*conversations]})


async def find_missing(connection: Connection, answer: Message) -> set[UUID]:
    """Of the documents that an answer was made from."""
    return {row["document_id"] for row in await fetch(connection, QUERIES["find_missing"], document_row(answer))}


def document_row(answer: Message) -> dict[str, Any]:
    read = sorted(documents_of(answer.details))
    return {
        "message_id": answer.id,
        "documents": [document for document, _ in read],
        "hashes": [content_hash for _, content_hash in read],
    }


async def _rewrite(connection: Connection, owner_id: str, remainder: Remainder, gone: Sequence[UUID]) -> None:
    message = remainder.message
    key: Mapping[str, Any] = {"owner_id": owner_id, "message_id": message.id}
    new = {"content": message.content, "details": Jsonb(dict(message.details))}
    await connection.execute(QUERIES["rewrite_answer"], {**key, **new})
    await connection.execute(QUERIES["forget_documents"], {**key, "documents": [*gone]})
    await connection.execute(QUERIES["forget_ratings"], {**key, "left": [*remainder.citations]})
    for now, before in enumerate(remainder.citations, start=1):  # downwards, each to a number that is free by then
        if now != before:
            await connection.execute(QUERIES["renumber_rating"], {**key, "now": now, "before": before})

"""Ratings of answers and citations in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from graphrag.db.database import Connection, Database, fetch
from graphrag.errors import MessageNotFound
from graphrag.models import Intent, TransformedQuery
from graphrag.models.conversations import Feedback, RatedAnswer
from graphrag.models.evaluation import Category, query_key
from graphrag.query_transformation.follow_ups import MOST_EARLIER, Exchange
from graphrag.query_transformation.transformation import transform
from graphrag.stores.postgres.conversations import QUERIES
from graphrag.stores.postgres.erasure import erase_gone
from graphrag.stores.postgres.golden import lock_cases
from graphrag.stores.postgres.proposals import QUERIES as PROPOSAL_QUERIES

OF_INTENT: Mapping[Intent, Category] = {Intent.CAUSAL: "causal", Intent.TEMPORAL: "temporal"}
DIFFICULTY = "hard"  # of a question that was answered badly


async def lock_answer(connection: Connection, message_id: UUID) -> None:
    await connection.execute(PROPOSAL_QUERIES["lock_answer"], {"message_id": message_id})


async def propose_rated(
    connection: Connection, owner_id: str, conversation_id: UUID, message_id: UUID, *, default_collection: str
) -> None:
    """Propose a golden case from the ratings of the answer and its citations; replace an undecided proposal."""
    key = {"owner_id": owner_id, "conversation_id": conversation_id, "message_id": message_id}
    (turn,) = await fetch(connection, PROPOSAL_QUERIES["rated_turn"], key | {"most": 2 * MOST_EARLIER + 1})
    ratings = {rating["citation"]: rating for rating in turn["ratings"]}
    if ratings.get(0, {}).get("rating") != -1:
        await connection.execute(PROPOSAL_QUERIES["withdraw_rated"], key)
        return
    *earlier, question = turn["questions"]
    # Without the titles that were cited: a question holds the person's own words alone.
    query = await asyncio.to_thread(transform, question, [Exchange(text) for text in earlier])
    liked, candidates = _documents(turn["details"], ratings)
    values = {"owner_id": owner_id, "documents": [*liked, *candidates]}
    there = {
        row["document_id"]: row["collection_id"]
        for row in await fetch(connection, PROPOSAL_QUERIES["find_read"], values)
    }
    collection_id = next(iter(there.values()), None)
    if collection_id is None:
        name = turn["collection"] or default_collection
        rows = await fetch(connection, PROPOSAL_QUERIES["find_asked"], {"owner_id": owner_id, "name": name})
        if not rows:
            return
        collection_id = rows[0]["collection_id"]
    proposal = {
        "collection_id": collection_id,
        "proposal_id": uuid4(),
        "query": query.standalone,
        "query_key": query_key(query.standalone),
        "relevant_document_ids": _of(collection_id, liked, there),
        "candidate_document_ids": _of(collection_id, candidates, there),
        "category": _category(query),
        "difficulty": DIFFICULTY,
        "reason": ratings[0]["comment"],
    }
    if proposal["query_key"]:
        await lock_cases(connection, collection_id)
        await connection.execute(PROPOSAL_QUERIES["propose_rated"], key | proposal)


def _documents(details: Mapping[str, Any], ratings: Mapping[int, Mapping[str, Any]]) -> tuple[list[UUID], list[UUID]]:
    """Return the documents with praised citations, and the candidates among the others, cited ones first.

    Documents with faulted citations are no candidates. A bad answer's citations may be wrong, so a person chooses.
    """
    by_rating: dict[int, dict[UUID, None]] = {1: {}, 0: {}, -1: {}}
    for number, citation in enumerate(details.get("citations", ()), start=1):
        if document := citation.get("document_id"):  # none where no source stands behind the words
            by_rating[ratings.get(number, {"rating": 0})["rating"]][UUID(document)] = None
    found = dict.fromkeys(UUID(source["document_id"]) for source in details.get("sources", ()))
    doubtful = by_rating[-1].keys() | by_rating[1].keys()
    return [*by_rating[1]], [document for document in by_rating[0] | found if document not in doubtful]


def _of(collection_id: UUID, documents: Iterable[UUID], there: Mapping[UUID, UUID]) -> list[UUID]:
    return [document for document in documents if there.get(document) == collection_id]


def _category(query: TransformedQuery) -> Category:
    return "multi_part" if query.is_complex or query.is_multi_hop else OF_INTENT.get(query.intent, "factual")


FeedbackPosition = tuple[datetime, UUID, int]  # in the list: updated_at, the answer, the citation


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
        """Store a rating in place of an earlier one.

        A bad rating of an answer becomes a proposed golden case of the collection that was asked, or of the default one
        if the conversation names none. Raises MessageNotFound if there is no such answer or citation.
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
        after: FeedbackPosition | None = None,
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

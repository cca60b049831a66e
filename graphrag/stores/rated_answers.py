"""A thumbs-down becomes a proposed golden case, in the transaction of the feedback; what takes it back withdraws it."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID, uuid4

from graphrag.database import Connection
from graphrag.evaluation_models import Category, query_key
from graphrag.models import Intent, TransformedQuery
from graphrag.query_transformation.topic import MOST_EARLIER, Exchange
from graphrag.query_transformation.transformation import transform
from graphrag.stores.golden import lock_cases
from graphrag.stores.proposals import QUERIES as PROPOSAL_QUERIES
from graphrag.stores.queries import fetch

OF_INTENT: Mapping[Intent, Category] = {Intent.CAUSAL: "causal", Intent.TEMPORAL: "temporal"}
DIFFICULTY = "hard"  # of a question that was answered badly


async def lock_answer(connection: Connection, message_id: UUID) -> None:
    await connection.execute(PROPOSAL_QUERIES["lock_answer"], {"message_id": message_id})


async def propose_rated(
    connection: Connection, owner_id: str, conversation_id: UUID, message_id: UUID, *, default_collection: str
) -> None:
    """As the ratings of the answer and of its citations are now; whatever nobody has decided of is made anew."""
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
    there = {row["document_id"]: row["collection_id"] for row in await fetch(connection, PROPOSAL_QUERIES["find_read"], values)}
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
    """Those whose citations were praised; and, the cited ones first, the others that were found, but for those whose
    citations were faulted: what a bad answer cites may be wrong, so that a person chooses.
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

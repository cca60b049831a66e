"""The graph in PostgreSQL, read: one recursive query follows what caused what, another who and what is named where."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any
from uuid import UUID, uuid5

from graphrag.causal_graph.concepts import concept_words
from graphrag.causal_graph.linking import BESIDE, MOST_LINKS, MOST_NEAR, rank_starts, roots
from graphrag.database import Connection, Database
from graphrag.graph_models import (
    MOST_CHUNKS,
    TITLE_WEIGHT,
    CausalEdge,
    CausalNeighbourhood,
    Entity,
    EntityLink,
    MentionEdge,
    Polarity,
    RelationType,
)
from graphrag.language import ANSWER_LANGUAGES, fold
from graphrag.models import EVERYTHING, Collection, Direction, Filters, Hit
from graphrag.protocols import NOTHING
from graphrag.stores.filtering import Restriction, restrict
from graphrag.stores.graph_writing import QUERIES
from graphrag.stores.queries import fetch
from graphrag.stores.rows import read_chunk, read_document

FREQUENT = 1_000  # entities that share a root, of which no more are looked at
START_CANDIDATES = 100
EDGE_COLUMNS = ("confidence", "quote", "start_char", "end_char", "chunk_id", "chunk_index", "extractor")


class PostgresGraph:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_causal_neighbourhood(
        self,
        collection: Collection,
        words: Sequence[str],
        *,
        near: Mapping[UUID, float] = NOTHING,
        direction: Direction | None,
        depth: int = 3,
        width: int = 50,
        filters: Filters = EVERYTHING,
    ) -> CausalNeighbourhood:
        directions = [direction] if direction else ["causes", "effects"]
        async with self._database.transaction(collection.owner_id) as connection:
            restriction = await restrict(connection, collection, filters)
            await connection.execute(QUERIES["prepare_walk"])
            starts = await _find_starts(connection, collection, words, near, directions, restriction)
            if not starts:
                return CausalNeighbourhood()
            values = {
                **restriction.values,
                "collection_id": collection.id,
                "directions": directions,
                "starts": list(starts),
                "scores": list(starts.values()),
                "depth": depth,
                "width": width,
                "links": MOST_LINKS,
            }
            rows = await fetch(connection, _restricted("walk_causes", restriction), values)
            edges = [_read_edge(row) for row in rows]
            entities = {end.id for edge in edges for end in (edge.cause, edge.effect)} | set(starts)
            values = {"collection_id": collection.id, "ids": list(entities)}
            links = [EntityLink(**row) for row in await fetch(connection, QUERIES["find_links"], values)]
        return CausalNeighbourhood(tuple(edges), tuple(links), tuple(starts.items()))

    async def find_mention_neighbourhood(
        self,
        collection: Collection,
        chunks: Sequence[UUID],
        keys: Sequence[str],
        *,
        steps: int = 2,
        width: int = 500,
        filters: Filters = EVERYTHING,
    ) -> list[MentionEdge]:
        async with self._database.transaction(collection.owner_id) as connection:
            restriction = await restrict(connection, collection, filters)
            await connection.execute(QUERIES["prepare_joins"])
            values = {
                **restriction.values,
                "collection_id": collection.id,
                "chunks": list(chunks),
                "keys": list(keys),
                "steps": steps,
                "width": width,
                "most": MOST_CHUNKS,
            }
            rows = await fetch(connection, _restricted("walk_mentions", restriction), values)
        return [MentionEdge(**row) for row in rows]

    async def find_titles(
        self, collection: Collection, keys: Sequence[str], *, filters: Filters = EVERYTHING
    ) -> dict[str, list[UUID]]:
        values = {"collection_id": collection.id, "keys": list(keys), "title_weight": TITLE_WEIGHT}
        found: dict[str, list[UUID]] = {}
        async with self._database.transaction(collection.owner_id) as connection:
            restriction = await restrict(connection, collection, filters)
            for row in await fetch(
                connection, _restricted("find_titles", restriction), {**restriction.values, **values}
            ):
                found.setdefault(row["key"], []).append(row["chunk_id"])
        return found

    async def read_hits(
        self, collection: Collection, chunks: Sequence[UUID], *, filters: Filters = EVERYTHING
    ) -> list[Hit]:
        async with self._database.transaction(collection.owner_id) as connection:
            restriction = await restrict(connection, collection, filters)
            values = {**restriction.values, "collection_id": collection.id, "chunks": list(chunks)}
            rows = await fetch(connection, _restricted("read_hits", restriction), values)
        return [Hit(read_chunk(row), 0.0) for row in rows]

    async def list_causal_edges(
        self, collection: Collection, *, entity: str | None = None, limit: int = 200
    ) -> list[CausalEdge]:
        statement, values = "list_edges", {"collection_id": collection.id, "limit": limit}
        if entity is not None:
            statement, values = "list_edges_near", values | _variants(entity)
        async with self._database.transaction(collection.owner_id) as connection:
            return [_read_edge(row) for row in await fetch(connection, QUERIES[statement], values)]


def _restricted(statement: str, restriction: Restriction) -> str:
    return QUERIES[statement].replace("{filter}", restriction.condition)


async def _find_starts(
    connection: Connection,
    collection: Collection,
    words: Sequence[str],
    near: Mapping[UUID, float],
    directions: Sequence[str],
    restriction: Restriction,
) -> dict[UUID, float]:
    """The surest first."""
    scores = dict(await _find_meant(connection, collection, list(map(fold, words)), restriction)) if words else {}
    if near:
        values = {
            **restriction.values,
            "collection_id": collection.id,
            "directions": directions,
            "chunks": list(near),
            "scores": list(near.values()),
            "beside": BESIDE,
            "limit": MOST_NEAR,
        }
        for row in await fetch(connection, _restricted("find_starts_in_chunks", restriction), values):
            scores[row["entity_id"]] = max(scores.get(row["entity_id"], 0.0), row["score"])
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


async def _find_meant(
    connection: Connection, collection: Collection, words: Sequence[str], restriction: Restriction
) -> list[tuple[UUID, float]]:
    values = {"collection_id": collection.id, "roots": roots(words), "limit": FREQUENT}
    frequencies = {row["root"]: row["entities"] for row in await fetch(connection, QUERIES["count_entities"], values)}
    known = {name: count for name, count in frequencies.items() if count}
    values |= {
        "roots": list(known),
        "weights": [1 / (1 + log(count)) for count in known.values()],
        "most": FREQUENT,
        "limit": START_CANDIDATES,
        "exact": uuid5(collection.id, " ".join(words)),
    }
    rows = await fetch(connection, _restricted("find_start_candidates", restriction), {**restriction.values, **values})
    return rank_starts(words, {row["entity_id"]: row["key"].split(" ") for row in rows}, known)


def _variants(entity: str) -> dict[str, list[Any]]:
    """The roots of its words in each language, for nobody says which it is in."""
    variants = sorted({tuple(roots(map(fold, concept_words(entity, language)))) for language in ANSWER_LANGUAGES})
    numbered = [(number, name) for number, names in enumerate(variants, start=1) for name in names]
    return {
        "variants": [number for number, _ in numbered],
        "roots": [name for _, name in numbered],
        "sizes": [len(names) for names in variants],
    }


def _read_edge(row: Mapping[str, Any]) -> CausalEdge:
    return CausalEdge(
        id=row["edge_id"],
        cause=Entity(row["cause_id"], row["cause_key"], row["cause_name"]),
        effect=Entity(row["effect_id"], row["effect_key"], row["effect_name"]),
        type=RelationType(row["type"]),
        polarity=Polarity(row["polarity"]),
        document=read_document(row),
        **{name: row[name] for name in EDGE_COLUMNS},
    )

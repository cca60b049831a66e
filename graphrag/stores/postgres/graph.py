"""The graph in PostgreSQL."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from math import log
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from graphrag.causal_graph.concepts import (
    BESIDE,
    MOST_LINKS,
    MOST_NEAR,
    choose_links,
    concept_words,
    count_roots,
    rank_starts,
    roots,
)
from graphrag.causal_graph.document_graph import assemble_edges, assemble_mentions
from graphrag.causal_graph.link_scoring import COMMON
from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.linguistics.language import ANSWER_LANGUAGES, fold
from graphrag.models import EVERYTHING, Chunk, Collection, Direction, Filters, Hit
from graphrag.models.graph import (
    MOST_CHUNKS,
    TITLE_WEIGHT,
    CausalEdge,
    CausalNeighbourhood,
    Entity,
    EntityLink,
    Mention,
    MentionEdge,
    Polarity,
    RelationType,
)
from graphrag.models.ingestion import IndexedDocument
from graphrag.protocols import NOTHING
from graphrag.stores.postgres.rows import read_chunk, read_document, to_columns
from graphrag.stores.postgres.search import Restriction, restrict

QUERIES = queries(Path(__file__).with_name("graph.sql"))
MOST_CANDIDATES = 16  # that a new entity is compared with: twice as many as it is linked to
RARE = 50  # entities that share a root, at most, for which it alone makes two of them candidates
FREQUENT_ROOTS = 1_000  # of those that share a more frequent one, as many are looked at for a second root


async def find_touched_entities(connection: Connection, key: Mapping[str, Any]) -> list[UUID]:
    """Return the entities of the documents' edges."""
    return [row["entity_id"] for row in await fetch(connection, QUERIES["find_touched_entities"], key)]


async def delete_lone_entities(connection: Connection, key: Mapping[str, Any], entities: Sequence[UUID]) -> None:
    """Delete those of the entities that no edge has any more."""
    if entities:
        await connection.execute(QUERIES["delete_lone_entities"], {**key, "ids": entities})


async def insert_graph(connection: Connection, key: Mapping[str, Any], documents: Sequence[IndexedDocument]) -> None:
    """Only when it is the writer's turn: entities belong to all documents."""
    mentions = (pair for indexed in documents for pair in assemble_mentions(indexed))
    for rows in to_columns(map(_mention_row, mentions)):
        await connection.execute(QUERIES["insert_mentions"], {**key, **rows})
    edges = await asyncio.to_thread(_assemble, documents, key["collection_id"])
    if not edges:
        return
    entities: dict[UUID, Entity] = {}
    for edge in edges:
        entities.setdefault(edge.cause.id, edge.cause)
        entities.setdefault(edge.effect.id, edge.effect)
    new = await _insert_entities(connection, key, entities)
    for rows in to_columns(map(_edge_row, edges)):
        await connection.execute(QUERIES["insert_edges"], {**key, **rows})
    if new:
        await _link(connection, key, new)


def _assemble(documents: Sequence[IndexedDocument], collection_id: UUID) -> list[CausalEdge]:
    return [edge for indexed in documents for edge in assemble_edges(indexed, collection_id)]


async def _insert_entities(
    connection: Connection, key: Mapping[str, Any], entities: Mapping[UUID, Entity]
) -> list[Entity]:
    """Insert the entities that are missing, and return them."""
    values = {
        "ids": list(entities),
        "keys": [entity.key for entity in entities.values()],
        "names": [entity.name for entity in entities.values()],
    }
    rows = await fetch(connection, QUERIES["insert_entities"], {**key, **values})
    new = [entities[row["entity_id"]] for row in rows]
    made = [(root, entity.id, len(found)) for entity in new for found in [roots(_words(entity.key))] for root in found]
    columns = zip(("roots", "ids", "sizes"), map(list, zip(*made, strict=True)), strict=False)
    if made:
        await connection.execute(QUERIES["insert_roots"], {**key, **dict(columns)})
    return new


async def _link(connection: Connection, key: Mapping[str, Any], new: Sequence[Entity]) -> None:
    await connection.execute(QUERIES["prepare_joins"])
    values = {
        **key,
        "ids": [entity.id for entity in new],
        "rare": RARE,
        "frequent": FREQUENT_ROOTS,
        "limit": MOST_CANDIDATES,
    }
    candidates = {
        row["entity_id"]: row["others"] for row in await fetch(connection, QUERIES["find_link_candidates"], values)
    }
    others = list({other for found in candidates.values() for other in found})
    rows = await fetch(connection, QUERIES["find_keys"], {**key, "ids": others})
    words = {row["entity_id"]: _words(row["key"]) for row in rows}
    links = await asyncio.to_thread(_choose, new, candidates, words)
    if links:
        await connection.execute(QUERIES["insert_links"], {**key, **_link_columns(links)})


def _choose(
    new: Sequence[Entity], candidates: Mapping[UUID, Sequence[UUID]], words: Mapping[UUID, Sequence[str]]
) -> list[EntityLink]:
    return [
        link
        for entity in new
        for link in choose_links(
            entity.id, _words(entity.key), {other: words[other] for other in candidates.get(entity.id, [])}
        )
    ]


def _words(entity_key: str) -> list[str]:
    return entity_key.split(" ")


def _link_columns(links: Sequence[EntityLink]) -> dict[str, list[Any]]:
    return {
        "ids": [link.entity_id for link in links],
        "others": [link.other_id for link in links],
        "similarities": [link.similarity for link in links],
    }


def _mention_row(pair: tuple[Chunk, Mention]) -> dict[str, Any]:
    chunk, mention = pair
    return {
        "key": mention.key,
        "chunk_id": chunk.id,
        "document_id": chunk.document.id,
        "weight": mention.weight,
        "expires_at": chunk.document.expires_at,
    }


def _edge_row(edge: CausalEdge) -> dict[str, Any]:
    return {
        "edge_id": edge.id,
        "chunk_id": edge.chunk_id,
        "chunk_index": edge.chunk_index,
        "document_id": edge.document.id,
        "cause_id": edge.cause.id,
        "effect_id": edge.effect.id,
        "type": edge.type,
        "polarity": edge.polarity,
        "confidence": edge.confidence,
        "extractor": edge.extractor,
        "quote": edge.quote,
        "start_char": edge.start_char,
        "end_char": edge.end_char,
        "expires_at": edge.document.expires_at,
    }


MAX_LINKED_ENTITIES = 1_000  # entities that share a root, of which no more are looked at
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

        async def walk(connection: Connection) -> CausalNeighbourhood:
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
            held = count_roots(end for edge in edges for end in (edge.cause, edge.effect))
            shared = [name for name, count in held.items() if count > 1]
            frequencies = await _count_entities(connection, collection, shared, limit=COMMON)
            return CausalNeighbourhood(tuple(edges), tuple(links), tuple(starts.items()), tuple(frequencies.items()))

        return await self._database.read(collection, walk)

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
        async def walk(connection: Connection) -> list[MentionEdge]:
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

        return await self._database.read(collection, walk)

    async def find_titles(
        self, collection: Collection, keys: Sequence[str], *, filters: Filters = EVERYTHING
    ) -> dict[str, list[UUID]]:
        values = {"collection_id": collection.id, "keys": list(keys), "title_weight": TITLE_WEIGHT}

        async def find(connection: Connection) -> list[dict[str, Any]]:
            restriction = await restrict(connection, collection, filters)
            return await fetch(connection, _restricted("find_titles", restriction), {**restriction.values, **values})

        found: dict[str, list[UUID]] = {}
        for row in await self._database.read(collection, find):
            found.setdefault(row["key"], []).append(row["chunk_id"])
        return found

    async def read_hits(
        self, collection: Collection, chunks: Sequence[UUID], *, filters: Filters = EVERYTHING
    ) -> list[Hit]:
        async def find(connection: Connection) -> list[Hit]:
            restriction = await restrict(connection, collection, filters)
            values = {**restriction.values, "collection_id": collection.id, "chunks": list(chunks)}
            rows = await fetch(connection, _restricted("read_hits", restriction), values)
            return [Hit(read_chunk(row), 0.0) for row in rows]

        return await self._database.read(collection, find)

    async def list_causal_edges(
        self, collection: Collection, *, entity: str | None = None, limit: int = 200
    ) -> list[CausalEdge]:
        statement, values = "list_edges", {"collection_id": collection.id, "limit": limit}
        if entity is not None:
            statement, values = "list_edges_near", values | _variants(entity)
        rows = await self._database.read(collection, partial(fetch, statement=QUERIES[statement], values=values))
        return [_read_edge(row) for row in rows]


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
    known = await _count_entities(connection, collection, roots(words), limit=MAX_LINKED_ENTITIES)
    values = {
        "collection_id": collection.id,
        "roots": list(known),
        "weights": [1 / (1 + log(count)) for count in known.values()],
        "most": MAX_LINKED_ENTITIES,
        "limit": START_CANDIDATES,
        "exact": uuid5(collection.id, " ".join(words)),
    }
    rows = await fetch(connection, _restricted("find_start_candidates", restriction), {**restriction.values, **values})
    return rank_starts(words, {row["entity_id"]: row["key"].split(" ") for row in rows}, known)


async def _count_entities(
    connection: Connection, collection: Collection, held: Sequence[str], *, limit: int
) -> dict[str, int]:
    """Return how many entities hold each root, up to the limit; none for a root that no entity holds."""
    values = {"collection_id": collection.id, "roots": held, "limit": limit}
    rows = await fetch(connection, QUERIES["count_entities"], values) if held else []
    return {row["root"]: row["entities"] for row in rows if row["entities"]}


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

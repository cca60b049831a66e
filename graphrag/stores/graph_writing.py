"""The graph's way into PostgreSQL, within the transaction that stores its documents."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from graphrag.causal_graph.assembly import assemble_edges, assemble_mentions
from graphrag.causal_graph.linking import choose_links, roots
from graphrag.database import Connection, queries
from graphrag.graph_models import CausalEdge, Entity, EntityLink, Mention
from graphrag.ingestion_models import IndexedDocument
from graphrag.models import Chunk
from graphrag.stores.queries import fetch

QUERIES = queries(Path(__file__).with_name("graph.sql"))
MOST_CANDIDATES = 16  # that a new entity is compared with: twice as many as it is linked to
RARE = 50  # entities that share a root, at most, for which it alone makes two of them candidates
FREQUENT = 1_000  # of those that share a more frequent one, as many are looked at for a second root


async def find_touched_entities(connection: Connection, key: Mapping[str, Any]) -> list[UUID]:
    """Those of the documents' edges."""
    return [row["entity_id"] for row in await fetch(connection, QUERIES["find_touched_entities"], key)]


async def delete_lone_entities(connection: Connection, key: Mapping[str, Any], entities: Sequence[UUID]) -> None:
    """Those of them that no edge has any more."""
    if entities:
        await connection.execute(QUERIES["delete_lone_entities"], {**key, "ids": entities})


async def insert_graph(connection: Connection, key: Mapping[str, Any], documents: Sequence[IndexedDocument]) -> None:
    """Only when it is the writer's turn: entities belong to all documents."""
    mentions = [pair for indexed in documents for pair in assemble_mentions(indexed)]
    if mentions:
        await connection.execute(QUERIES["insert_mentions"], {**key, **_columns(map(_mention_row, mentions))})
    edges = await asyncio.to_thread(_assemble, documents, key["collection_id"])
    if not edges:
        return
    entities: dict[UUID, Entity] = {}
    for edge in edges:
        entities.setdefault(edge.cause.id, edge.cause)
        entities.setdefault(edge.effect.id, edge.effect)
    new = await _insert_entities(connection, key, entities)
    await connection.execute(QUERIES["insert_edges"], {**key, **_columns(map(_edge_row, edges))})
    if new:
        await _link(connection, key, new)


def _assemble(documents: Sequence[IndexedDocument], collection_id: UUID) -> list[CausalEdge]:
    return [edge for indexed in documents for edge in assemble_edges(indexed, collection_id)]


async def _insert_entities(
    connection: Connection, key: Mapping[str, Any], entities: Mapping[UUID, Entity]
) -> list[Entity]:
    """Those that were not there yet."""
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
    values = {**key, "ids": [entity.id for entity in new], "rare": RARE, "frequent": FREQUENT, "limit": MOST_CANDIDATES}
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


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    held = list(rows)
    return {name: [row[name] for row in held] for name in held[0]}
